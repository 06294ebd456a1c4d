//! Which branches of a loop decide whether it goes on.
//!
//! `while (a && b)` compiles to a test of `a`, a test of `b`, and one exit that only looks at
//! what came of them: the tests decide as much as the exit does.

use std::collections::BTreeSet;

use facts::cfg::{Cfg, LoopId};
use program::{BlockId, Body, Op, Operand, Terminator};

/// Whether the branch at the end of `block` decides if the loop goes on.
pub fn decides(body: &Body, cfg: &Cfg, id: LoopId, block: BlockId) -> bool {
    let exits = &cfg.loops.loops[id].exits;
    exits.iter().any(|(from, _)| {
        *from == block || (is_joined(body, *from) && leads_to(cfg, id, block, *from))
    }) || leads_past_exits(cfg, id, block)
}

/// Whether one side of a branch leads to a way out of the loop that the other does not come to
/// before the next iteration.
fn leads_past_exits(cfg: &Cfg, id: LoopId, block: BlockId) -> bool {
    let mut sides = cfg.successors(block).iter().map(|side| exits_from(cfg, id, *side));
    let first = sides.next();
    sides.any(|side| Some(&side) != first.as_ref())
}

/// Blocks that control leaves the loop from, as far as it comes there from `start` within an
/// iteration.
fn exits_from(cfg: &Cfg, id: LoopId, start: BlockId) -> BTreeSet<BlockId> {
    let header = cfg.loops.loops[id].header;
    let mut seen = BTreeSet::from([start]);
    let mut waiting = vec![start];
    let mut exits = BTreeSet::new();
    while let Some(block) = waiting.pop() {
        if block == header {
            continue;
        }
        if !cfg.loops.contains(id, block) {
            exits.insert(block);
            continue;
        }
        waiting.extend(cfg.successors(block).iter().filter(|next| seen.insert(**next)));
    }
    exits
}

/// Whether `block` holds a test the loop makes before anything else.
pub fn tests_at_top(body: &Body, cfg: &Cfg, id: LoopId, block: BlockId) -> bool {
    block == cfg.loops.loops[id].header || is_joined(body, block)
}

/// Whether a block branches on the outcome of tests made before it.
fn is_joined(body: &Body, block: BlockId) -> bool {
    match body.blocks[block].terminator {
        Terminator::Branch { condition: Operand::Inst(condition), .. } => {
            let condition = &body.insts[condition];
            condition.block == block && matches!(condition.op, Op::Phi(_))
        }
        _ => false,
    }
}

/// Whether control comes from one block of a loop to another within an iteration.
fn leads_to(cfg: &Cfg, id: LoopId, from: BlockId, to: BlockId) -> bool {
    let header = cfg.loops.loops[id].header;
    let mut seen = BTreeSet::from([from]);
    let mut waiting = vec![from];
    while let Some(block) = waiting.pop() {
        for next in cfg.successors(block) {
            if *next == to {
                return true;
            }
            if *next != header && cfg.loops.contains(id, *next) && seen.insert(*next) {
                waiting.push(*next);
            }
        }
    }
    false
}
