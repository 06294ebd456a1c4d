//! Null consistency: what tests and dereferences of one pointer say about each other.
//!
//! A test says that the pointer may be null, a dereference that it is not. Beliefs stay in
//! the function, and what a macro tests is its own affair.

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator, Ty};
use rustc_hash::FxHashMap;

use super::env::Env;
use super::function::Fun;
use super::interest::Interest;
use super::sink::{Row, Sink};
use super::values::{Shape, Value};
use super::walk::{End, Flow, Visitor, walk};
use crate::event::{FAR, Kind, MACRO, Outcome, POINTER};

/// Lines between two places that still contradict each other; more is robust programming.
const MAX_DISTANCE: u32 = 10;

/// A branch on whether a pointer is null.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    pub value: Value,
    pub pointer: Operand,
    pub block: BlockId,
    pub inst: InstId,
    pub if_null: BlockId,
    pub otherwise: BlockId,
    pub in_macro: bool,
}

pub fn extract(fun: &Fun, interest: &Interest, sink: &mut Sink) {
    let tests = tests(fun);
    if tests.is_empty() {
        return;
    }
    for test in tests.iter().filter(|test| !test.in_macro) {
        // Later tests depend on earlier ones in ways that only whole paths tell.
        let is_earlier = |other: &Test| {
            other.value == test.value
                && fun.cfg.position(other.block) < fun.cfg.position(test.block)
        };
        if !tests.iter().any(is_earlier) {
            check_then_use(fun, interest, test, sink);
        }
    }
    Beliefs::new(fun, &tests).solve(sink);
}

/// Every branch on a null test, by block.
pub fn tests(fun: &Fun) -> Vec<Test> {
    let mut tests = Vec::new();
    for &block in fun.cfg.order() {
        let Terminator::Branch { condition, then, otherwise } = fun.body.blocks[block].terminator
        else {
            continue;
        };
        let Some((inst, compare)) = fun.inst(fun.unconverted(condition)) else { continue };
        let Op::Compare { predicate, lhs, rhs } = compare.op else { continue };
        let (pointer, zero) = if fun.constant(lhs) == Some(0) { (rhs, lhs) } else { (lhs, rhs) };
        if fun.constant(zero) != Some(0) || fun.ty(pointer) != Ty::Ptr {
            continue;
        }
        let (if_null, otherwise) = match predicate {
            Predicate::Eq => (then, otherwise),
            Predicate::Ne => (otherwise, then),
            _ => continue,
        };
        let Some(value) = fun.value(pointer) else { continue };
        // Elements of an array that a loop walks over are many pointers, not one.
        if fun.values.has_variable_index(value) {
            continue;
        }
        let in_macro = fun.macro_around(compare.loc).is_some()
            || fun.macro_body(fun.body.blocks[block].loc).is_some();
        if if_null != otherwise {
            let pointer = fun.unconverted(pointer);
            tests.push(Test { value, pointer, block, inst, if_null, otherwise, in_macro });
        }
    }
    tests
}

/// Whether the instruction dereferences this pointer.
pub fn dereferences(fun: &Fun, inst: &program::Inst, pointer: Value) -> bool {
    let through =
        |address: Operand| fun.value(address).is_some_and(|v| fun.values.base(v) == pointer);
    match &inst.op {
        Op::Load(access) | Op::Store { access, .. } | Op::AtomicUpdate { access, .. } => {
            through(access.ptr)
        }
        Op::MemCopy { to, from, .. } => through(*to) || through(*from),
        Op::MemSet { to, .. } => through(*to),
        _ => false,
    }
}

/// Whether the call hands the pointer to a function that dereferences it at once.
pub fn dereferenced_by_callee(fun: &Fun, inst: &program::Inst, pointer: Value) -> bool {
    let Op::Call(call) = &inst.op else { return false };
    let Some(callee) = fun.callee(call) else { return false };
    (0u32..).zip(&call.args).any(|(index, arg)| {
        fun.value(*arg) == Some(pointer) && fun.known.dereferences(callee, index)
    })
}

/// Follows the paths on which a pointer was found to be null.
struct NullPaths<'f, 'a> {
    fun: &'f Fun<'a>,
    value: Value,
    pointer: Operand,
    is_from_memory: bool,
    used: Option<InstId>,
}

impl Visitor for NullPaths<'_, '_> {
    /// Whether memory may have changed: then only the very value tested is still null, not
    /// what is read from the same place again.
    type State = bool;

    fn inst(&mut self, stale: &mut bool, _env: &Env, id: InstId) -> Flow {
        let (fun, inst) = (self.fun, &self.fun.body.insts[id]);
        if *fun.values.shape_of(self.value) == Shape::Inst(id) {
            return Flow::Stop;
        }
        let uses =
            dereferences(fun, inst, self.value) || dereferenced_by_callee(fun, inst, self.value);
        if uses && (!*stale || self.is_same(inst)) {
            let line = |id: InstId| fun.line(fun.body.insts[id].loc);
            if self.used.is_none_or(|used| line(id) < line(used)) {
                self.used = Some(id);
            }
            return Flow::Stop;
        }
        match &inst.op {
            Op::Store { access, .. } => {
                let ends = |address| fun.values.depends_on_load(self.value, address);
                *stale |= fun.value(access.ptr).is_some_and(ends);
            }
            Op::Call(call) if self.is_from_memory => {
                *stale |= !matches!(call.callee, program::Callee::Intrinsic(_));
            }
            _ => {}
        }
        Flow::On
    }

    fn edge(&mut self, _stale: &mut bool, env: &Env, from: BlockId, to: BlockId) -> Flow {
        let is_new = self.fun.is_back_edge(from, to)
            && (self.fun.is_recomputed(self.value, to) || self.is_read_in(to));
        if is_new || env.is_doubtful() { Flow::Stop } else { Flow::On }
    }

    fn end(&mut self, _stale: bool, _env: &Env, _block: BlockId, _end: End) {}
}

impl NullPaths<'_, '_> {
    /// Whether the loop with this head reads the pointer again each time round. The path
    /// forgets then what its own test said, so that nothing may be concluded from it.
    fn is_read_in(&self, head: BlockId) -> bool {
        let first = self.fun.values.example(self.value);
        first.is_some_and(|first| {
            let block = self.fun.body.insts[first].block;
            self.fun.cfg.position(block) >= self.fun.cfg.position(head)
        })
    }

    /// Whether the instruction goes through the tested value itself.
    fn is_same(&self, inst: &program::Inst) -> bool {
        let mut same = false;
        inst.op.for_each_operand(|operand| {
            same |= self.fun.base_operand(operand) == self.pointer;
        });
        same
    }
}

fn check_then_use(fun: &Fun, interest: &Interest, test: &Test, sink: &mut Sink) {
    let block = &fun.body.blocks[test.block];
    let Terminator::Branch { condition, then, .. } = block.terminator else { return };
    let mut starts = Vec::new();
    for mut env in Env::before(fun, interest, test.block, block.end) {
        env.track(test.value);
        let feasible = env.assume(fun, interest, condition, then == test.if_null);
        if feasible && !env.is_doubtful() {
            env.assume_zero(test.value, true);
            env.join(fun, interest, test.block, test.if_null);
            starts.push((env, false));
        }
    }
    if starts.is_empty() {
        return;
    }
    let is_from_memory = fun.values.is_from_memory(test.value);
    let mut paths =
        NullPaths { fun, value: test.value, pointer: test.pointer, is_from_memory, used: None };
    let start = (test.if_null, fun.body.blocks[test.if_null].first);
    walk(fun, interest, start, starts, &mut paths);
    let (outcome, at) = match paths.used {
        Some(used) => (Outcome::CheckThenUse, used),
        None => (Outcome::Consistent, test.inst),
    };
    add(fun, sink, test.value, outcome, at, test.inst);
}

fn add(fun: &Fun, sink: &mut Sink, value: Value, outcome: Outcome, at: InstId, other: InstId) {
    let name = fun.name(value);
    let inst = &fun.body.insts[at];
    let other_line = fun.line(fun.body.insts[other].loc);
    let line = fun.line(inst.loc);
    let distance = line.abs_diff(other_line);
    let mut flags = POINTER;
    if distance > MAX_DISTANCE || line == 0 || other_line == 0 {
        flags |= FAR;
    }
    if fun.macro_around(fun.body.insts[other].loc).is_some() || fun.macro_around(inst.loc).is_some()
    {
        flags |= MACRO;
    }
    let site = sink.site();
    let row = Row {
        detail: &name,
        flags,
        with: distance,
        other_line,
        ..Row::new(Kind::Null, outcome, &name)
    };
    sink.add(fun, inst.loc, site, row);
}

/// Why a pointer is believed to be null or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Because {
    Dereferenced(InstId),
    Tested(InstId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Belief {
    is_null: bool,
    because: Because,
}

/// What holds on every path to a point, for each tested pointer.
type State = Vec<Option<Belief>>;

struct Beliefs<'f, 'a> {
    fun: &'f Fun<'a>,
    tests: &'f [Test],
    /// Positions in a state.
    slots: FxHashMap<Value, usize>,
    values: Vec<Value>,
}

impl<'f, 'a> Beliefs<'f, 'a> {
    fn new(fun: &'f Fun<'a>, tests: &'f [Test]) -> Self {
        let mut slots = FxHashMap::default();
        let mut values = Vec::new();
        for test in tests.iter().filter(|test| !test.in_macro) {
            slots.entry(test.value).or_insert_with(|| {
                values.push(test.value);
                values.len() - 1
            });
        }
        Self { fun, tests, slots, values }
    }

    /// Meets over all paths; a state that does not exist yet agrees with everything.
    fn solve(&self, sink: &mut Sink) {
        if self.values.is_empty() {
            return;
        }
        let n_blocks = self.fun.body.blocks.len();
        let mut before: Vec<Option<State>> = vec![None; n_blocks];
        before[program::Body::ENTRY.0 as usize] = Some(vec![None; self.values.len()]);
        for _round in 0..8 {
            let mut changed = false;
            for &block in self.fun.cfg.order() {
                let Some(state) = before[block.0 as usize].clone() else { continue };
                let after = self.through(block, state);
                for &to in self.fun.cfg.successors(block) {
                    let state = self.over_edge(block, to, &after);
                    changed |= meet(&mut before[to.0 as usize], state);
                }
            }
            if !changed {
                return self.tell(&before, sink);
            }
        }
        // No fixed point within the rounds of any real loop nest: say nothing.
    }

    fn through(&self, block: BlockId, mut state: State) -> State {
        let fun = self.fun;
        for id in fun.body.blocks[block].inst_ids() {
            let inst = &fun.body.insts[id];
            match &inst.op {
                Op::Load(access) => self.dereferenced(&mut state, access.ptr, id),
                Op::Store { access, .. } => {
                    self.dereferenced(&mut state, access.ptr, id);
                    let Some(address) = fun.value(access.ptr) else { continue };
                    self.forget(&mut state, |value| fun.values.depends_on_load(value, address));
                }
                Op::Call(call) if !matches!(call.callee, program::Callee::Intrinsic(_)) => {
                    self.forget(&mut state, |value| fun.values.is_from_memory(value));
                }
                _ => {}
            }
            let computed = |value: Value| *fun.values.shape_of(value) == Shape::Inst(id);
            self.forget(&mut state, computed);
        }
        state
    }

    fn dereferenced(&self, state: &mut State, address: Operand, at: InstId) {
        let fun = self.fun;
        let Some(value) = fun.value(address) else { return };
        if let Some(&slot) = self.slots.get(&fun.values.base(value)) {
            state[slot] = Some(Belief { is_null: false, because: Because::Dereferenced(at) });
        }
    }

    fn forget(&self, state: &mut State, which: impl Fn(Value) -> bool) {
        for (belief, value) in state.iter_mut().zip(&self.values) {
            if belief.is_some() && which(*value) {
                *belief = None;
            }
        }
    }

    fn over_edge(&self, from: BlockId, to: BlockId, after: &State) -> State {
        let mut state = after.clone();
        for test in self.tests.iter().filter(|test| test.block == from) {
            let Some(&slot) = self.slots.get(&test.value) else { continue };
            // What a macro tests is not what its user believes.
            let because = Because::Tested(test.inst);
            state[slot] =
                (!test.in_macro).then_some(Belief { is_null: to == test.if_null, because });
        }
        state
    }

    fn tell(&self, before: &[Option<State>], sink: &mut Sink) {
        let fun = self.fun;
        for test in self.tests.iter().filter(|test| !test.in_macro) {
            let Some(state) = &before[test.block.0 as usize] else { continue };
            let state = self.through(test.block, state.clone());
            let Some(belief) = state[self.slots[&test.value]] else { continue };
            let (outcome, because) = match belief.because {
                Because::Dereferenced(at) => (Outcome::UseThenCheck, at),
                Because::Tested(at) => (Outcome::Redundant, at),
            };
            if because == test.inst {
                continue;
            }
            if outcome == Outcome::Redundant && self.guards_a_release(test) {
                continue;
            }
            add(fun, sink, test.value, outcome, test.inst, because);
        }
    }

    /// Clean-up code tests what it releases, whether it must or not.
    fn guards_a_release(&self, test: &Test) -> bool {
        let fun = self.fun;
        let block = &fun.body.blocks[test.otherwise];
        block.inst_ids().any(|id| match &fun.body.insts[id].op {
            Op::Call(call) => fun.callee(call).is_some_and(|callee| {
                (0u32..).zip(&call.args).any(|(index, arg)| {
                    fun.value(*arg) == Some(test.value)
                        && (fun.known.frees(callee, index)
                            || crate::latent::is_release(crate::known::shown(callee)))
                })
            }),
            _ => false,
        })
    }
}

/// Keeps what both agree on. Says whether anything changed.
fn meet(into: &mut Option<State>, state: State) -> bool {
    let Some(known) = into else {
        *into = Some(state);
        return true;
    };
    let mut changed = false;
    for (known, new) in known.iter_mut().zip(state) {
        let agree = match (*known, new) {
            (Some(a), Some(b)) if a == b => Some(a),
            (Some(a), Some(b)) if a.is_null == b.is_null => match (a.because, b.because) {
                (Because::Dereferenced(x), Because::Dereferenced(y)) => {
                    Some(Belief { because: Because::Dereferenced(x.min(y)), ..a })
                }
                (Because::Tested(x), Because::Tested(y)) => {
                    Some(Belief { because: Because::Tested(x.min(y)), ..a })
                }
                _ => None,
            },
            _ => None,
        };
        changed |= agree != *known;
        *known = agree;
    }
    changed
}
