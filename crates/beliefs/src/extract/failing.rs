//! Whether a function fails where a result says so.
//!
//! Who tests for an error gives up, and says so to its caller; who asks a question goes on with
//! either answer. The difference tells a failure from a mere answer.

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator, Ty};
use smallvec::SmallVec;

use super::env::Env;
use super::exits::{Exit, Exits};
use super::fate::{Fate, Test};
use super::function::Fun;

/// Blocks between a test and the return that is its consequence.
const MAX_BLOCKS: usize = 16;

/// Whether a test of a call's result leads to failure on one side; nothing where the function has
/// no way to tell, or the test does not decide a branch of its own.
pub fn fails(fun: &Fun, exits: &Exits, call: InstId, fate: &Fate) -> Option<bool> {
    if !exits.has_convention() {
        return None;
    }
    let mut answer = None;
    for test in &fate.tests {
        match side(fun, test) {
            Some(sides) if sides.iter().any(|to| leads_to_failure(fun, exits, call, *to)) => {
                return Some(true);
            }
            Some(_) => answer = Some(false),
            None => {}
        }
    }
    answer
}

/// The edges that may be taken for a failure: for pointers the one for null.
fn side(fun: &Fun, test: &Test) -> Option<SmallVec<[(BlockId, BlockId); 2]>> {
    let block = test.block;
    let Terminator::Branch { then, otherwise, .. } = fun.body.blocks[block].terminator else {
        return None;
    };
    let mut sides = SmallVec::new();
    let is_pointer = fun.ty(test.of) == Ty::Ptr;
    match &fun.body.insts[test.inst].op {
        Op::Compare { predicate: Predicate::Eq, .. } if is_pointer => sides.push((block, then)),
        Op::Compare { predicate: Predicate::Ne, .. } if is_pointer => {
            sides.push((block, otherwise));
        }
        _ => sides.extend([(block, then), (block, otherwise)]),
    }
    Some(sides)
}

/// Whether control goes from this edge to a return with an error, by the shortest way through
/// whatever is cleaned up there.
fn leads_to_failure(fun: &Fun, exits: &Exits, call: InstId, edge: (BlockId, BlockId)) -> bool {
    let mut came: SmallVec<[(BlockId, BlockId); 16]> = SmallVec::from_slice(&[edge]);
    let mut at = edge.1;
    for _ in 0..MAX_BLOCKS {
        match &fun.body.blocks[at].terminator {
            Terminator::Return(Some(value)) => {
                let value = resolved(fun, &came, *value);
                return value == Operand::Inst(call)
                    || exits.classify(fun, &Env::default(), Some(value)) == Exit::Error
                        && fun.constant(value).is_some();
            }
            Terminator::Return(None) => return false,
            _ => {}
        }
        // Clean-up is skipped; what goes back is a loop that goes on.
        let next = fun.cfg.successors(at).iter().copied().filter(|to| !fun.is_back_edge(at, *to));
        let Some(next) = next.max_by_key(|to| fun.cfg.position(*to)) else { return false };
        came.push((at, next));
        at = next;
    }
    false
}

/// What an operand stands for after these edges.
fn resolved(fun: &Fun, came: &[(BlockId, BlockId)], operand: Operand) -> Operand {
    let mut operand = fun.unconverted(operand);
    for (from, to) in came.iter().rev() {
        if let Some((_, inst)) = fun.inst(operand)
            && inst.block == *to
            && let Op::Phi(edges) = &inst.op
            && let Some((_, chosen)) = edges.iter().find(|(above, _)| above == from)
        {
            operand = fun.unconverted(*chosen);
        }
    }
    operand
}
