//! Null consistency: what tests and dereferences of one pointer say about each other.
//!
//! A test says that the pointer may be null, a dereference that it is not. Beliefs stay in
//! the function, and what a macro tests is its own affair.

mod beliefs;

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator, Ty};

use super::env::Env;
use super::function::Fun;
use super::interest::Interest;
use super::sink::{Row, Sink};
use super::values::{Shape, Value};
use super::walk::{End, Flow, Visitor, walk};
use crate::event::{CONDITIONAL, FAR, Kind, MACRO, Outcome, POINTER};
use beliefs::Beliefs;

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
    let beliefs = Beliefs::new(fun, &tests);
    let before = beliefs.solve();
    for test in tests.iter().filter(|test| !test.in_macro) {
        // Later tests depend on earlier ones in ways that only whole paths tell.
        let is_earlier = |other: &Test| {
            other.value == test.value
                && fun.cfg.position(other.block) < fun.cfg.position(test.block)
        };
        if !tests.iter().any(is_earlier) {
            let stale = beliefs.stale_at(test, before.as_deref());
            check_then_use(fun, interest, test, stale, sink);
        }
    }
    if let Some(before) = before {
        beliefs.tell(&before, sink);
    }
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
    /// Reads of the same place that are from before it was changed for the last time.
    stale: Vec<InstId>,
    used: Option<InstId>,
    /// A path came to its end without using the pointer, though it skipped no loop.
    is_conditional: bool,
}

/// What a path with a null pointer has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Passed {
    /// Memory may have changed: then only the very value tested is still null, not what is read
    /// from the same place again.
    is_stale: bool,
    /// Control went past a loop, which may run no iteration.
    has_left_loop: bool,
}

impl Visitor for NullPaths<'_, '_> {
    type State = Passed;

    fn inst(&mut self, passed: &mut Passed, _env: &Env, id: InstId) -> Flow {
        let (fun, inst) = (self.fun, &self.fun.body.insts[id]);
        if *fun.values.shape_of(self.value) == Shape::Inst(id) {
            return Flow::Stop;
        }
        let uses =
            dereferences(fun, inst, self.value) || dereferenced_by_callee(fun, inst, self.value);
        if uses && (!passed.is_stale || self.is_same(inst)) && !self.is_of_old(inst) {
            let line = |id: InstId| fun.line(fun.body.insts[id].loc);
            if self.used.is_none_or(|used| line(id) < line(used)) {
                self.used = Some(id);
            }
            return Flow::Stop;
        }
        match &inst.op {
            Op::Store { access, .. } => {
                let ends = |address| fun.values.depends_on_load(self.value, address);
                passed.is_stale |= fun.value(access.ptr).is_some_and(ends);
            }
            Op::Call(call) if self.is_from_memory => {
                passed.is_stale |= !matches!(call.callee, program::Callee::Intrinsic(_));
            }
            _ => {}
        }
        Flow::On
    }

    fn edge(&mut self, passed: &mut Passed, env: &Env, from: BlockId, to: BlockId) -> Flow {
        passed.has_left_loop |= is_loop_head(self.fun, from);
        // What another time round finds is decided by what has changed since.
        if self.fun.is_back_edge(from, to) || env.is_doubtful() { Flow::Stop } else { Flow::On }
    }

    fn end(&mut self, passed: Passed, _env: &Env, _block: BlockId, end: End) {
        self.is_conditional |= matches!(end, End::Return(_)) && !passed.has_left_loop;
    }
}

impl NullPaths<'_, '_> {
    /// Whether the instruction goes through what the place held before.
    fn is_of_old(&self, inst: &program::Inst) -> bool {
        let mut is_old = false;
        inst.op.for_each_operand(|operand| {
            is_old |= matches!(self.fun.base_operand(operand), Operand::Inst(id)
                if self.stale.contains(&id));
        });
        is_old
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

fn is_loop_head(fun: &Fun, block: BlockId) -> bool {
    fun.cfg.predecessors(block).iter().any(|above| fun.is_back_edge(*above, block))
}

fn check_then_use(
    fun: &Fun,
    interest: &Interest,
    test: &Test,
    stale: Vec<InstId>,
    sink: &mut Sink,
) {
    let block = &fun.body.blocks[test.block];
    let Terminator::Branch { condition, then, .. } = block.terminator else { return };
    let mut starts = Vec::new();
    for mut env in Env::before(fun, interest, test.block, block.end) {
        env.track(test.value);
        let feasible = env.assume(fun, interest, condition, then == test.if_null);
        if feasible && !env.is_doubtful() {
            env.assume_zero(test.value, true);
            env.join(fun, interest, test.block, test.if_null);
            starts.push((env, Passed::default()));
        }
    }
    if starts.is_empty() {
        return;
    }
    let is_from_memory = fun.values.is_from_memory(test.value);
    let mut paths = NullPaths {
        fun,
        value: test.value,
        pointer: test.pointer,
        is_from_memory,
        stale,
        used: None,
        is_conditional: false,
    };
    let start = (test.if_null, fun.body.blocks[test.if_null].first);
    let is_whole = walk(fun, interest, start, starts, &mut paths);
    let (outcome, at) = match paths.used {
        Some(used) => (Outcome::CheckThenUse, used),
        None => (Outcome::Consistent, test.inst),
    };
    // Another condition on the way may well go with the pointer, and a search that ends with
    // nothing may be one that cannot.
    let is_conditional = paths.is_conditional || !is_whole || is_loop_head(fun, test.block);
    let flags = if is_conditional { CONDITIONAL } else { 0 };
    add(fun, sink, test.value, outcome, at, (test.inst, flags));
}

fn add(
    fun: &Fun,
    sink: &mut Sink,
    value: Value,
    outcome: Outcome,
    at: InstId,
    (other, flags): (InstId, u32),
) {
    let name = fun.name(value);
    let inst = &fun.body.insts[at];
    let other_line = fun.line(fun.body.insts[other].loc);
    let line = fun.line(inst.loc);
    let distance = line.abs_diff(other_line);
    let mut flags = flags | POINTER;
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
