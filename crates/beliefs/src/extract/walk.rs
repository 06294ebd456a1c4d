//! Walks along the paths from a point of a function, leaving out those that contradict
//! themselves.
//!
//! A path knows which constants its joins chose and what its branches decided, so that
//! `if (err) goto out; ... out: if (err)` is one path and not two. Only what is tested again
//! is remembered; that keeps the number of different paths small. Walks are bounded, and say
//! so when the bound was reached.

use std::hash::{Hash, Hasher};

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator};
use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;

use super::function::Fun;
use super::values::Value;

/// Blocks one walk may enter.
const MAX_STEPS: u32 = 250;
/// Times one path may go back to the head of a loop.
const MAX_BACK_EDGES: u8 = 2;

/// What a path has found out about values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Env {
    /// What the joins passed stand for, newest last.
    joins: SmallVec<[(InstId, Operand); 4]>,
    facts: SmallVec<[(Value, Fact); 6]>,
}

/// A range of a signed number; pointers are 0 or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    lo: i64,
    hi: i64,
    not_zero: bool,
}

impl Fact {
    const ANY: Fact = Fact { lo: i64::MIN, hi: i64::MAX, not_zero: false };

    pub fn is_zero(self) -> bool {
        self.lo == 0 && self.hi == 0
    }

    pub fn is_negative(self) -> bool {
        self.hi < 0
    }

    pub fn is_not_zero(self) -> bool {
        self.not_zero || self.lo > 0 || self.hi < 0
    }

    fn number(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo)
    }
}

/// Whether the path goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    On,
    /// The path is of no more interest.
    Stop,
}

/// How a path ended.
pub enum End {
    Return(Option<Operand>),
    /// It went round a loop more often than is followed.
    Loop,
}

/// What a walk does on its way. `State` is what a path carries.
pub trait Visitor {
    type State: Clone + Hash + Eq;
    fn inst(&mut self, state: &mut Self::State, env: &Env, inst: InstId) -> Flow;
    /// Control goes over an edge on which the path's knowledge may have grown.
    fn edge(&mut self, _state: &mut Self::State, _env: &Env, _from: BlockId, _to: BlockId) -> Flow {
        Flow::On
    }
    fn end(&mut self, state: Self::State, env: &Env, block: BlockId, end: End);
}

struct Job<S> {
    block: BlockId,
    /// Instructions before this one are behind us.
    next: InstId,
    env: Env,
    state: S,
    n_back_edges: u8,
}

/// Which values a walk should remember facts about.
pub struct Interest {
    /// By value number.
    n_tests: Vec<u8>,
}

impl Interest {
    /// Values that several branches of the function test, joins included.
    pub fn new(fun: &Fun) -> Self {
        let mut n_tests = vec![0u8; fun.values.len()];
        for block in &fun.body.blocks {
            let Some(condition) = block.terminator.operand() else { continue };
            if matches!(block.terminator, Terminator::Indirect { .. }) {
                continue;
            }
            let is_return = matches!(block.terminator, Terminator::Return(_));
            let depth = if is_return { 1 } else { 4 };
            count_tests(fun, condition, &mut n_tests, &mut FxHashSet::default(), depth);
        }
        // Which object a join hands to a call matters too, and so do the joins that feed it.
        let mut joins: Vec<InstId> = Vec::new();
        for (id, inst) in fun.body.insts.iter_enumerated() {
            let is_call = |user: &InstId| matches!(fun.body.insts[*user].op, Op::Call(_));
            if inst.ty == program::Ty::Ptr
                && matches!(inst.op, Op::Phi(_))
                && fun.uses.of(id).iter().any(is_call)
            {
                joins.push(id);
            }
        }
        let mut seen: FxHashSet<InstId> = joins.iter().copied().collect();
        while let Some(id) = joins.pop() {
            let Op::Phi(edges) = &fun.body.insts[id].op else { continue };
            if let Some(value) = fun.value(Operand::Inst(id)) {
                n_tests[value as usize] = n_tests[value as usize].max(1);
            }
            let feeding = edges.iter().filter_map(|(_, operand)| match operand {
                Operand::Inst(from) if seen.insert(*from) => Some(*from),
                _ => None,
            });
            joins.extend(feeding);
        }
        Self { n_tests }
    }

    /// Whether what one branch says about the value matters to another.
    fn has(&self, value: Value) -> bool {
        self.n_tests.get(value as usize).is_some_and(|n| *n > 1)
    }

    /// Whether what a join stands for matters to a branch.
    fn has_join(&self, value: Value) -> bool {
        self.n_tests.get(value as usize).is_some_and(|n| *n > 0)
    }
}

/// Counts one test for everything the operand is made of.
fn count_tests(
    fun: &Fun,
    operand: Operand,
    n_tests: &mut [u8],
    seen: &mut FxHashSet<Operand>,
    depth: u32,
) {
    let operand = fun.unconverted(operand);
    if !seen.insert(operand) {
        return;
    }
    if let Some(value) = fun.value(operand) {
        let n = &mut n_tests[value as usize];
        *n = n.saturating_add(1);
    }
    let Some((_, inst)) = fun.inst(operand) else { return };
    if depth == 0 {
        return;
    }
    match &inst.op {
        Op::Compare { lhs, rhs, .. } => {
            count_tests(fun, *lhs, n_tests, seen, depth - 1);
            count_tests(fun, *rhs, n_tests, seen, depth - 1);
        }
        Op::Phi(edges) => {
            for (_, value) in edges {
                count_tests(fun, *value, n_tests, seen, depth - 1);
            }
        }
        Op::Binary { lhs, .. } => count_tests(fun, *lhs, n_tests, seen, depth - 1),
        _ => {}
    }
}

impl Env {
    /// What the branches on the way to a block have decided.
    pub fn before(fun: &Fun, interest: &Interest, block: BlockId) -> Self {
        let mut env = Env::default();
        let mut at = block;
        while let Some(above) = fun.cfg.immediate_dominator(at) {
            if let Terminator::Branch { condition, then, otherwise } =
                fun.body.blocks[above].terminator
            {
                let only_from = |to: BlockId| {
                    fun.cfg.predecessors(to) == [above] && fun.cfg.dominates(to, block)
                };
                if then != otherwise && only_from(then) {
                    env.assume(fun, interest, condition, true);
                } else if then != otherwise && only_from(otherwise) {
                    env.assume(fun, interest, condition, false);
                }
            }
            at = above;
        }
        // What was read from memory long ago may have changed since.
        env.forget_memory(fun);
        env
    }

    /// What an operand stands for on this path.
    pub fn resolve(&self, fun: &Fun, operand: Operand) -> Operand {
        let operand = fun.unconverted(operand);
        let Operand::Inst(id) = operand else { return operand };
        match self.joins.iter().rev().find(|(join, _)| *join == id) {
            Some((_, chosen)) => *chosen,
            None => operand,
        }
    }

    pub fn fact(&self, value: Value) -> Fact {
        let known = self.facts.iter().rev().find(|(known, _)| *known == value);
        known.map_or(Fact::ANY, |(_, fact)| *fact)
    }

    /// What is known of an operand.
    pub fn fact_of(&self, fun: &Fun, operand: Operand) -> Fact {
        let operand = self.resolve(fun, operand);
        if let Some(number) = fun.constant(operand) {
            return Fact { lo: number, hi: number, not_zero: number != 0 };
        }
        fun.value(operand).map_or(Fact::ANY, |value| self.fact(value))
    }

    /// Remembers from now on what branches say about the value.
    pub fn track(&mut self, value: Value) {
        if !self.facts.iter().any(|(known, _)| *known == value) {
            self.facts.push((value, Fact::ANY));
        }
    }

    pub fn assume_zero(&mut self, value: Value, is_zero: bool) {
        let fact = match is_zero {
            true => Fact { lo: 0, hi: 0, not_zero: false },
            false => Fact { not_zero: true, ..Fact::ANY },
        };
        self.set(value, fact);
    }

    fn set(&mut self, value: Value, fact: Fact) {
        match self.facts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) => *known = fact,
            None => self.facts.push((value, fact)),
        }
    }

    /// Takes a branch. False where what is known says that it cannot be taken.
    pub fn assume(
        &mut self,
        fun: &Fun,
        interest: &Interest,
        condition: Operand,
        taken: bool,
    ) -> bool {
        let condition = self.resolve(fun, condition);
        if let Some(number) = fun.constant(condition) {
            return (number != 0) == taken;
        }
        let Some((_, inst)) = fun.inst(condition) else { return true };
        match &inst.op {
            Op::Compare { predicate, lhs, rhs } => {
                let (mut lhs, mut rhs, mut predicate) =
                    (self.resolve(fun, *lhs), self.resolve(fun, *rhs), *predicate);
                if fun.constant(lhs).is_some() {
                    (lhs, rhs, predicate) = (rhs, lhs, mirrored(predicate));
                }
                let Some(number) = fun.constant(rhs) else { return true };
                let is_boolean = fun.inst(lhs).is_some_and(|(_, inst)| {
                    matches!(inst.op, Op::Compare { .. })
                        || matches!(inst.op, Op::Binary { op: program::BinaryOp::Xor, .. })
                });
                if number == 0 && is_boolean && matches!(predicate, Predicate::Eq | Predicate::Ne) {
                    return self.assume(fun, interest, lhs, (predicate == Predicate::Ne) == taken);
                }
                self.compare(fun, interest, lhs, predicate, number, taken)
            }
            Op::Binary { op: program::BinaryOp::Xor, lhs, rhs, .. }
                if matches!(fun.constant(*rhs), Some(1 | -1)) =>
            {
                self.assume(fun, interest, *lhs, !taken)
            }
            _ => self.compare(fun, interest, condition, Predicate::Ne, 0, taken),
        }
    }

    fn compare(
        &mut self,
        fun: &Fun,
        interest: &Interest,
        lhs: Operand,
        predicate: Predicate,
        number: i64,
        taken: bool,
    ) -> bool {
        let fact = self.fact_of(fun, lhs);
        let predicate = if taken { Some(predicate) } else { negated(predicate) };
        let Some(predicate) = predicate else { return true };
        let Some(narrowed) = narrow(fact, predicate, number) else { return false };
        if fun.constant(lhs).is_none()
            && let Some(value) = fun.value(lhs)
            && (interest.has(value) || self.facts.iter().any(|(known, _)| *known == value))
        {
            self.set(value, narrowed);
        }
        true
    }

    /// Forgets what is known about memory at this address.
    fn stored(&mut self, fun: &Fun, address: Value) {
        self.facts.retain(|(value, _)| !fun.values.depends_on_load(*value, address));
    }

    /// Forgets what is known about memory as a whole.
    pub fn forget_memory(&mut self, fun: &Fun) {
        self.facts.retain(|(value, _)| !fun.values.is_from_memory(*value));
    }
}

fn narrow(fact: Fact, predicate: Predicate, number: i64) -> Option<Fact> {
    let mut new = fact;
    match predicate {
        Predicate::Eq => {
            (new.lo, new.hi) = (fact.lo.max(number), fact.hi.min(number));
            if number == 0 && fact.is_not_zero() {
                return None;
            }
        }
        Predicate::Ne => {
            if fact.number() == Some(number) {
                return None;
            }
            new.not_zero |= number == 0;
            if number == new.lo {
                new.lo = new.lo.saturating_add(1);
            }
            if number == new.hi {
                new.hi = new.hi.saturating_sub(1);
            }
        }
        Predicate::SignedLt => new.hi = new.hi.min(number.checked_sub(1)?),
        Predicate::SignedLe => new.hi = new.hi.min(number),
        Predicate::SignedGt => new.lo = new.lo.max(number.checked_add(1)?),
        Predicate::SignedGe => new.lo = new.lo.max(number),
        Predicate::UnsignedLt if number == 0 => return None,
        Predicate::UnsignedLt if fact.lo >= 0 && number > 0 => {
            new.hi = new.hi.min(number - 1);
        }
        Predicate::UnsignedLe if fact.lo >= 0 && number >= 0 => new.hi = new.hi.min(number),
        Predicate::UnsignedGt if fact.lo >= 0 && number >= 0 => {
            new.lo = new.lo.max(number.checked_add(1)?);
        }
        Predicate::UnsignedGe if fact.lo >= 0 && number >= 0 => new.lo = new.lo.max(number),
        _ => return Some(fact),
    }
    (new.lo <= new.hi && !(new.is_zero() && new.not_zero)).then_some(new)
}

pub fn mirrored(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::SignedLt => Predicate::SignedGt,
        Predicate::SignedLe => Predicate::SignedGe,
        Predicate::SignedGt => Predicate::SignedLt,
        Predicate::SignedGe => Predicate::SignedLe,
        Predicate::UnsignedLt => Predicate::UnsignedGt,
        Predicate::UnsignedLe => Predicate::UnsignedGe,
        Predicate::UnsignedGt => Predicate::UnsignedLt,
        Predicate::UnsignedGe => Predicate::UnsignedLe,
        other => other,
    }
}

fn negated(predicate: Predicate) -> Option<Predicate> {
    Some(match predicate {
        Predicate::Eq => Predicate::Ne,
        Predicate::Ne => Predicate::Eq,
        Predicate::SignedLt => Predicate::SignedGe,
        Predicate::SignedLe => Predicate::SignedGt,
        Predicate::SignedGt => Predicate::SignedLe,
        Predicate::SignedGe => Predicate::SignedLt,
        Predicate::UnsignedLt => Predicate::UnsignedGe,
        Predicate::UnsignedLe => Predicate::UnsignedGt,
        Predicate::UnsignedGt => Predicate::UnsignedLe,
        Predicate::UnsignedGe => Predicate::UnsignedLt,
        _ => return None,
    })
}

/// Walks every path from after `start` on. Says whether all of them were walked to the end.
pub fn walk<V: Visitor>(
    fun: &Fun,
    interest: &Interest,
    (block, next): (BlockId, InstId),
    env: Env,
    state: V::State,
    visitor: &mut V,
) -> bool {
    let mut seen = FxHashSet::default();
    let mut jobs = vec![Job { block, next, env, state, n_back_edges: 0 }];
    let mut steps = 0;
    while let Some(mut job) = jobs.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return false;
        }
        if go_through(fun, &mut job, visitor) == Flow::Stop {
            continue;
        }
        leave(fun, interest, job, visitor, &mut jobs, &mut seen);
    }
    true
}

fn go_through<V: Visitor>(fun: &Fun, job: &mut Job<V::State>, visitor: &mut V) -> Flow {
    let end = fun.body.blocks[job.block].end;
    let stop = fun.cfg.stop(job.block);
    for id in (job.next.0..end.0).map(InstId) {
        if visitor.inst(&mut job.state, &job.env, id) == Flow::Stop || stop == Some(id) {
            return Flow::Stop;
        }
        match &fun.body.insts[id].op {
            Op::Store { access, .. } => {
                if let Some(address) = fun.value(access.ptr) {
                    job.env.stored(fun, address);
                }
            }
            Op::Call(call) if !matches!(call.callee, program::Callee::Intrinsic(_)) => {
                job.env.forget_memory(fun);
            }
            _ => {}
        }
    }
    Flow::On
}

fn leave<V: Visitor>(
    fun: &Fun,
    interest: &Interest,
    job: Job<V::State>,
    visitor: &mut V,
    jobs: &mut Vec<Job<V::State>>,
    seen: &mut FxHashSet<u64>,
) {
    let terminator = &fun.body.blocks[job.block].terminator;
    if let Terminator::Return(value) = terminator {
        let value = value.map(|value| job.env.resolve(fun, value));
        return visitor.end(job.state, &job.env, job.block, End::Return(value));
    }
    let successors = terminator.successors();
    // The last successor is pushed first, so that paths come in the order of the source.
    for (index, &to) in successors.iter().enumerate().rev() {
        let mut env = job.env.clone();
        let feasible = match terminator {
            Terminator::Branch { condition, then, otherwise } if then != otherwise => {
                env.assume(fun, interest, *condition, index == 0)
            }
            Terminator::Switch { value, cases, .. } => switch(fun, &mut env, *value, cases, index),
            _ => true,
        };
        let mut state = job.state.clone();
        if !feasible || visitor.edge(&mut state, &env, job.block, to) == Flow::Stop {
            continue;
        }
        let is_back = fun.cfg.position(to) <= fun.cfg.position(job.block);
        let n_back_edges = job.n_back_edges + u8::from(is_back);
        if n_back_edges > MAX_BACK_EDGES {
            visitor.end(state, &env, job.block, End::Loop);
            continue;
        }
        enter(fun, interest, &mut env, job.block, to, is_back);
        let mut hasher = FxHasher::default();
        (to, &env, &state, n_back_edges).hash(&mut hasher);
        if seen.insert(hasher.finish()) {
            let next = fun.body.blocks[to].first;
            jobs.push(Job { block: to, next, env, state, n_back_edges });
        }
    }
}

/// Whether this case of a switch can be taken.
fn switch(
    fun: &Fun,
    env: &mut Env,
    value: Operand,
    cases: &[(program::ConstId, BlockId)],
    index: usize,
) -> bool {
    let Some(number) = env.fact_of(fun, value).number() else { return true };
    let case = |id: program::ConstId| fun.constant(Operand::Const(id)) == Some(number);
    match cases.get(index) {
        Some((id, _)) => case(*id),
        None => !cases.iter().any(|(id, _)| case(*id)),
    }
}

/// Chooses what the joins of a block stand for.
pub fn enter(
    fun: &Fun,
    interest: &Interest,
    env: &mut Env,
    from: BlockId,
    to: BlockId,
    is_back: bool,
) {
    if is_back {
        // What the loop computes, it computes anew.
        let head = fun.cfg.position(to);
        env.joins.retain(|(join, _)| fun.cfg.position(fun.body.insts[*join].block) < head);
        env.facts.retain(|(value, _)| match fun.values.example(*value) {
            Some(inst) => fun.cfg.position(fun.body.insts[inst].block) < head,
            None => true,
        });
    }
    let mut chosen: SmallVec<[(InstId, Operand); 4]> = SmallVec::new();
    for id in fun.body.blocks[to].inst_ids() {
        let edges = match &fun.body.insts[id].op {
            Op::Phi(edges) => edges,
            Op::Bind { .. } => continue,
            _ => break,
        };
        let is_of_interest =
            fun.value(Operand::Inst(id)).is_some_and(|value| interest.has_join(value))
                || !fun.uses.in_terminators(id).is_empty();
        if !is_of_interest {
            continue;
        }
        if let Some((_, operand)) = edges.iter().find(|(pred, _)| *pred == from) {
            chosen.push((id, env.resolve(fun, *operand)));
        }
    }
    for (id, operand) in chosen {
        env.joins.retain(|(join, _)| *join != id);
        env.joins.push((id, operand));
    }
}
