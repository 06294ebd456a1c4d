//! What is known where a block starts, from the branches that control has come through.
//!
//! `if (a || b) p = new();` is entered in two ways, and each knows something else; whatever
//! lies on the way between the decision and the block may change memory.

use program::{BlockId, Op, Terminator};
use smallvec::smallvec;

use super::env::Env;
use super::function::Fun;
use super::interest::{Interest, Ways};

/// Ways to one block that are told apart.
const MAX_WAYS: usize = 4;
/// Blocks between a block and its dominator that are looked at.
const MAX_BETWEEN: usize = 64;

/// By block.
pub fn starts(fun: &Fun, interest: &Interest) -> Vec<Ways> {
    let mut starts: Vec<Ways> = vec![smallvec![Env::default()]; fun.body.blocks.len()];
    for &block in fun.cfg.order() {
        if let Some(above) = fun.cfg.immediate_dominator(block) {
            let ways = by_condition(fun, interest, &starts, above, block)
                .unwrap_or_else(|| joined(fun, interest, &starts, above, block));
            starts[block.0 as usize] = ways;
        }
    }
    starts
}

/// The ways over edges of nothing but conditions, if those are all there are.
fn by_condition(
    fun: &Fun,
    interest: &Interest,
    starts: &[Ways],
    above: BlockId,
    block: BlockId,
) -> Option<Ways> {
    let mut ways = Ways::new();
    for &from in fun.cfg.predecessors(block) {
        if !is_decided_by_conditions(fun, above, from) {
            return None;
        }
        for start in &starts[from.0 as usize] {
            let mut env = start.clone();
            through(fun, interest, &mut env, from);
            if over_edge(fun, interest, &mut env, from, block) && !ways.contains(&env) {
                ways.push(env);
            }
        }
    }
    (1..=MAX_WAYS).contains(&ways.len()).then_some(ways)
}

/// Whether control comes from `above` to the end of `from` through conditions alone.
fn is_decided_by_conditions(fun: &Fun, above: BlockId, mut from: BlockId) -> bool {
    for _ in 0..MAX_WAYS {
        if from == above {
            return true;
        }
        let [before] = fun.cfg.predecessors(from) else { return false };
        let acts = |op: &Op| {
            matches!(
                op,
                Op::Store { .. }
                    | Op::Call(_)
                    | Op::MemCopy { .. }
                    | Op::MemSet { .. }
                    | Op::AtomicUpdate { .. }
                    | Op::CompareExchange { .. }
            )
        };
        if fun.body.blocks[from].inst_ids().any(|id| acts(&fun.body.insts[id].op)) {
            return false;
        }
        from = *before;
    }
    false
}

/// What the dominator knows, less what the blocks between may change.
fn joined(fun: &Fun, interest: &Interest, starts: &[Ways], above: BlockId, block: BlockId) -> Ways {
    let mut on_the_way = None;
    let mut ways = Ways::new();
    for start in &starts[above.0 as usize] {
        let mut env = start.clone();
        through(fun, interest, &mut env, above);
        if env.knows_memory(fun) {
            match on_the_way.get_or_insert_with(|| between(fun, above, block)) {
                Some(blocks) => {
                    let insts = blocks.iter().flat_map(|other| fun.body.blocks[*other].inst_ids());
                    insts.for_each(|id| env.after_perhaps(fun, id));
                }
                None => env.forget_memory(fun),
            }
        }
        if !ways.contains(&env) {
            ways.push(env);
        }
    }
    ways
}

/// The blocks that control may go through from `above` to `block`, unless there are too many.
fn between(fun: &Fun, above: BlockId, block: BlockId) -> Option<Vec<BlockId>> {
    let mut between: Vec<BlockId> = Vec::new();
    let mut work = vec![block];
    while let Some(at) = work.pop() {
        for &before in fun.cfg.predecessors(at) {
            if before != above && !between.contains(&before) {
                between.push(before);
                work.push(before);
            }
        }
        if between.len() > MAX_BETWEEN {
            return None;
        }
    }
    Some(between)
}

fn through(fun: &Fun, interest: &Interest, env: &mut Env, block: BlockId) {
    fun.body.blocks[block].inst_ids().for_each(|id| env.after(fun, interest, id));
}

/// False where the edge cannot be taken.
fn over_edge(fun: &Fun, interest: &Interest, env: &mut Env, from: BlockId, to: BlockId) -> bool {
    match fun.body.blocks[from].terminator {
        Terminator::Branch { condition, then, otherwise } if then != otherwise => {
            env.assume(fun, interest, condition, then == to) && !env.is_doubtful()
        }
        _ => true,
    }
}
