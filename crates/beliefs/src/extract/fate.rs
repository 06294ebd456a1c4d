//! What becomes of a value: where it is tested, dereferenced, handed on or kept.

use program::{BlockId, Callee, InstId, Op, Operand, PathStep, Terminator, Ty};
use rustc_hash::FxHashSet;

use super::function::Fun;

/// Everything that happens to a value in its function.
#[derive(Clone, Debug, Default)]
pub struct Fate<'a> {
    /// Instructions that test it against a constant, or branches on it.
    pub tests: Vec<Test<'a>>,
    /// Loads, stores and copies through it.
    pub dereferences: Vec<InstId>,
    /// Calls it is an argument of, with the position.
    pub arguments: Vec<(InstId, u32)>,
    /// Returned.
    pub is_passed: bool,
    /// Stored where others see it.
    pub is_stored: bool,
    /// Part of a computation.
    pub is_computed_with: bool,
}

#[derive(Clone, Debug)]
pub struct Test<'a> {
    /// The comparison, or the call of a routine that tests it.
    pub inst: InstId,
    /// What is tested: the value, or a join it comes to.
    pub of: Operand,
    /// Where the answer decides: `while (n && (p = f()))` compares in one block and branches
    /// in another.
    pub block: BlockId,
    /// The routine or macro that was made for such tests.
    pub by: Option<&'a str>,
}

/// Values derived from one value by conversions, joins, offsets, and a trip through memory.
struct Search<'f, 'a> {
    fun: &'f Fun<'a>,
    fate: Fate<'a>,
    /// The value itself.
    same: Vec<InstId>,
    /// Addresses inside what it points to.
    inside: Vec<InstId>,
    seen: FxHashSet<InstId>,
}

/// Enough for any value a person keeps track of.
const MAX_ALIASES: usize = 200;

pub fn fate<'a>(fun: &Fun<'a>, of: InstId) -> Fate<'a> {
    let mut search = Search::new(fun);
    search.alias(of);
    search.run()
}

/// What becomes of a parameter.
pub fn fate_of_parameter<'a>(fun: &Fun<'a>, index: u32) -> Fate<'a> {
    let mut search = Search::new(fun);
    let parameter = Operand::Param(index);
    for (id, inst) in fun.body.insts.iter_enumerated() {
        let mut reads = false;
        inst.op.for_each_operand(|operand| reads |= operand == parameter);
        if reads {
            search.user(parameter, id);
        }
    }
    for block in &fun.body.blocks {
        if block.terminator == Terminator::Return(Some(parameter)) {
            search.fate.is_passed = true;
        }
    }
    search.run()
}

impl<'f, 'a> Search<'f, 'a> {
    fn new(fun: &'f Fun<'a>) -> Self {
        Self {
            fun,
            fate: Fate::default(),
            same: Vec::new(),
            inside: Vec::new(),
            seen: FxHashSet::default(),
        }
    }

    /// Follows everything there is to follow.
    fn run(mut self) -> Fate<'a> {
        while self.seen.len() < MAX_ALIASES {
            if let Some(value) = self.same.pop() {
                self.users_of(value);
            } else if let Some(address) = self.inside.pop() {
                self.users_of_address(address);
            } else {
                break;
            }
        }
        self.fate
    }

    fn alias(&mut self, id: InstId) {
        if self.seen.insert(id) {
            self.same.push(id);
        }
    }

    fn users_of(&mut self, value: InstId) {
        let fun = self.fun;
        for &user in fun.uses.of(value) {
            self.user(Operand::Inst(value), user);
        }
        for &block in fun.uses.in_terminators(value) {
            match fun.body.blocks[block].terminator {
                Terminator::Return(_) => self.fate.is_passed = true,
                Terminator::Branch { .. } | Terminator::Switch { .. } => {
                    let of = Operand::Inst(value);
                    let test = Test { inst: value, of, block, by: None };
                    self.fate.tests.push(test);
                }
                _ => {}
            }
        }
    }

    fn user(&mut self, value: Operand, user: InstId) {
        let inst = &self.fun.body.insts[user];
        if !self.fun.cfg.is_reachable(inst.block) {
            return;
        }
        match &inst.op {
            Op::Bind { .. } => {}
            Op::Convert(_) => self.alias(user),
            Op::Phi(edges) => {
                let comes_in = |(from, edge): &&(BlockId, Operand)| {
                    *edge == value
                        && self.fun.cfg.is_reachable(*from)
                        && !self.is_tested_before(value, *from, inst.block)
                };
                // A join that the value gets to only after a test needs no other.
                if edges.iter().any(|edge| comes_in(&edge)) {
                    self.alias(user);
                }
            }
            Op::Select { condition, .. } if *condition == value => self.test(value, user),
            Op::Select { .. } => self.alias(user),
            Op::Compare { .. } => self.test(value, user),
            Op::Address(address) if address.base == value => {
                if self.seen.insert(user) {
                    self.inside.push(user);
                }
            }
            Op::Load(access) if access.ptr == value => self.fate.dereferences.push(user),
            Op::Store { access, value: stored } => {
                if access.ptr == value {
                    self.fate.dereferences.push(user);
                }
                if *stored == value {
                    let of_union = |step: &PathStep| matches!(step, PathStep::UnionMembers { .. });
                    // Members of unions are not followed: whoever reads them may test them.
                    self.fate.is_passed |= access.path.iter().any(of_union);
                    self.stored(user, access.ptr);
                }
            }
            Op::MemCopy { to, from, .. } => {
                if *to == value || *from == value {
                    self.fate.dereferences.push(user);
                }
            }
            Op::MemSet { to, .. } if *to == value => self.fate.dereferences.push(user),
            Op::Call(call) => self.argument(value, user, call),
            _ => self.fate.is_computed_with = true,
        }
    }

    /// Whether a test of the value decides before control goes over this edge.
    fn is_tested_before(&self, value: Operand, from: BlockId, to: BlockId) -> bool {
        let Operand::Inst(id) = value else { return false };
        let fun = self.fun;
        let mut tests = fun
            .uses
            .of(id)
            .iter()
            .filter(|user| matches!(fun.body.insts[**user].op, Op::Compare { .. }));
        tests.any(|test| {
            let block = fun.body.insts[*test].block;
            match fun.body.blocks[block].terminator {
                Terminator::Branch { then, otherwise, condition } if block == from => {
                    // The edge itself is one answer, if only one leads there.
                    condition == Operand::Inst(*test) && (then == to) != (otherwise == to)
                }
                _ => block != from && fun.cfg.dominates(block, from),
            }
        })
    }

    fn test(&mut self, of: Operand, inst: InstId) {
        let by = self.fun.macro_body(self.fun.body.insts[inst].loc);
        let block = self.decides_in(inst);
        self.fate.tests.push(Test { inst, of, block, by });
    }

    fn decides_in(&self, test: InstId) -> BlockId {
        let fun = self.fun;
        let joins = fun.uses.of(test).iter().filter(|user| {
            matches!(fun.body.insts[**user].op, Op::Phi(_))
                && fun.body.insts[**user].ty == Ty::Int(1)
        });
        let mut blocks = joins.flat_map(|join| fun.uses.in_terminators(*join));
        blocks.next().copied().unwrap_or(fun.body.insts[test].block)
    }

    /// A value that goes to memory and is read back from the same place is the same value.
    fn stored(&mut self, store: InstId, address: Operand) {
        let fun = self.fun;
        let Some(address) = fun.value(address) else { return };
        if fun.is_alloca(address) {
            self.fate.is_computed_with = true;
        } else {
            self.fate.is_stored = true;
        }
        let Some(load) = fun.values.load_of(address) else { return };
        for (id, inst) in fun.body.insts.iter_enumerated() {
            let is_same = matches!(inst.op, Op::Load(_))
                && fun.value(Operand::Inst(id)) == Some(load)
                && !self.is_stored_between(store, id, address);
            if is_same && fun.cfg.inst_dominates(fun.body, store, id) {
                self.alias(id);
            } else if is_same {
                self.read_after_join(store, id);
            }
        }
    }

    /// `if (!s->p) s->p = f();` is tested or returned after the join, if at all.
    fn read_after_join(&mut self, store: InstId, load: InstId) {
        let fun = self.fun;
        let block = |id: InstId| fun.cfg.position(fun.body.insts[id].block);
        if block(load) <= block(store) {
            return;
        }
        for &user in fun.uses.of(load) {
            if matches!(fun.body.insts[user].op, Op::Compare { .. }) {
                self.test(Operand::Inst(load), user);
            }
        }
        self.fate.is_passed |= is_returned(fun, load);
    }

    /// Whether another store to the same place lies between the two.
    fn is_stored_between(&self, store: InstId, load: InstId, address: u32) -> bool {
        let fun = self.fun;
        fun.body.insts.iter_enumerated().any(|(id, inst)| match &inst.op {
            Op::Store { access, .. } => {
                id != store
                    && fun.value(access.ptr) == Some(address)
                    && fun.cfg.inst_dominates(fun.body, store, id)
                    && fun.cfg.inst_dominates(fun.body, id, load)
            }
            _ => false,
        })
    }

    fn argument(&mut self, value: Operand, user: InstId, call: &'a program::Call) {
        let fun = self.fun;
        if matches!(call.callee, Callee::Intrinsic(_)) {
            self.fate.is_computed_with = true;
            return;
        }
        for (index, arg) in (0u32..).zip(&call.args) {
            if *arg == value {
                self.fate.arguments.push((user, index));
            }
        }
        // A routine with nothing but the value, whose answer decides a branch, tests it.
        let is_predicate = call.args.len() == 1 && matches!(fun.body.insts[user].ty, Ty::Int(_));
        if is_predicate
            && is_branched_on(fun, user)
            && let Some(callee) = fun.callee(call)
        {
            let by = Some(crate::known::shown(callee));
            let block = self.fun.body.insts[user].block;
            self.fate.tests.push(Test { inst: user, of: value, block, by });
        }
    }

    fn users_of_address(&mut self, address: InstId) {
        let fun = self.fun;
        let value = Operand::Inst(address);
        for &user in fun.uses.of(address) {
            match &fun.body.insts[user].op {
                Op::Load(access) if access.ptr == value => self.fate.dereferences.push(user),
                Op::Store { access, .. } if access.ptr == value => {
                    self.fate.dereferences.push(user);
                }
                Op::MemCopy { .. } | Op::MemSet { .. } => self.fate.dereferences.push(user),
                Op::Address(inner) if inner.base == value => {
                    if self.seen.insert(user) {
                        self.inside.push(user);
                    }
                }
                Op::Bind { .. } => {}
                _ => self.fate.is_computed_with = true,
            }
        }
    }
}

/// Whether the function returns the value, maybe through a join.
fn is_returned(fun: &Fun, value: InstId) -> bool {
    let returns =
        |block: &BlockId| matches!(fun.body.blocks[*block].terminator, Terminator::Return(_));
    let is_value = |id: InstId| fun.uses.in_terminators(id).iter().any(returns);
    is_value(value)
        || fun.uses.of(value).iter().any(|user| {
            matches!(fun.body.insts[*user].op, Op::Convert(_) | Op::Phi(_)) && is_value(*user)
        })
}

/// Whether a branch depends on the value directly, or on a comparison of it.
pub fn is_branched_on(fun: &Fun, value: InstId) -> bool {
    let mut work = vec![value];
    for _ in 0..16 {
        let Some(value) = work.pop() else { return false };
        let branches = |block: &program::BlockId| {
            !matches!(fun.body.blocks[*block].terminator, Terminator::Return(_))
        };
        if fun.uses.in_terminators(value).iter().any(branches) {
            return true;
        }
        let users = fun.uses.of(value).iter();
        work.extend(users.filter(|user| {
            let op = &fun.body.insts[**user].op;
            matches!(op, Op::Compare { .. } | Op::Convert(_) | Op::Binary { .. } | Op::Phi(_))
        }));
    }
    false
}
