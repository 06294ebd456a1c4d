//! What paths of a function should remember: the values that several branches test.

use std::cell::OnceCell;

use program::{InstId, Op, Operand, Terminator};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::env::Env;
use super::function::Fun;
use super::starts;
use super::values::Value;

/// Which values a walk should remember facts about.
pub struct Interest {
    /// By value number.
    n_tests: Vec<u8>,
    /// By instruction, for loads.
    n_read_tests: Vec<u8>,
    /// What is known where a block starts, by the way there. Made when first asked for.
    starts: OnceCell<Vec<Ways>>,
}

/// One environment for each way to a block that matters.
pub type Ways = SmallVec<[Env; 1]>;

impl Interest {
    /// Values that several branches of the function test, joins included.
    pub fn new(fun: &Fun) -> Self {
        let mut tests = Tests {
            by_value: vec![0u8; fun.values.len()],
            by_read: vec![0u8; fun.body.insts.len()],
        };
        for block in &fun.body.blocks {
            let Some(condition) = block.terminator.operand() else { continue };
            if matches!(block.terminator, Terminator::Indirect { .. }) {
                continue;
            }
            let is_return = matches!(block.terminator, Terminator::Return(_));
            let depth = if is_return { 1 } else { 4 };
            count_tests(fun, condition, &mut tests, &mut FxHashSet::default(), depth);
        }
        let Tests { by_value: mut n_tests, by_read: n_read_tests } = tests;
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
        Self { n_tests, n_read_tests, starts: OnceCell::new() }
    }

    /// Whether what one branch says about the value matters to another.
    pub fn has(&self, value: Value) -> bool {
        self.n_tests.get(value as usize).is_some_and(|n| *n > 1)
    }

    /// As [`has`](Self::has), for what one load has read.
    pub fn has_read(&self, load: InstId) -> bool {
        self.n_read_tests[load.0 as usize] > 1
    }

    /// What is known where each block starts, by the way there.
    pub fn starts(&self, fun: &Fun) -> &[Ways] {
        self.starts.get_or_init(|| starts::starts(fun, self))
    }

    /// Whether what a join stands for matters to a branch.
    pub fn has_join(&self, value: Value) -> bool {
        self.n_tests.get(value as usize).is_some_and(|n| *n > 0)
    }
}

/// How many branches test what.
struct Tests {
    by_value: Vec<u8>,
    by_read: Vec<u8>,
}

/// Counts one test for everything the operand is made of.
fn count_tests(
    fun: &Fun,
    operand: Operand,
    tests: &mut Tests,
    seen: &mut FxHashSet<Operand>,
    depth: u32,
) {
    let operand = fun.unconverted(operand);
    if !seen.insert(operand) {
        return;
    }
    if let Some(value) = fun.value(operand) {
        let n = &mut tests.by_value[value as usize];
        *n = n.saturating_add(1);
    }
    let Some((id, inst)) = fun.inst(operand) else { return };
    if matches!(inst.op, Op::Load(_)) {
        let n = &mut tests.by_read[id.0 as usize];
        *n = n.saturating_add(1);
    }
    if depth == 0 {
        return;
    }
    match &inst.op {
        Op::Compare { lhs, rhs, .. } => {
            count_tests(fun, *lhs, tests, seen, depth - 1);
            count_tests(fun, *rhs, tests, seen, depth - 1);
        }
        Op::Phi(edges) => {
            for (_, value) in edges {
                count_tests(fun, *value, tests, seen, depth - 1);
            }
        }
        Op::Binary { lhs, .. } => count_tests(fun, *lhs, tests, seen, depth - 1),
        _ => {}
    }
}
