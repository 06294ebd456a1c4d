//! Which values of a function are still read later, for telling when the last reference to an
//! object is gone.

use std::cell::OnceCell;

use base::IdVec;
use program::{BlockId, Body, InstId, Op, Operand, Ty, VarId};
use rustc_hash::FxHashMap;

/// A set of instructions.
type Set = Vec<u64>;

#[derive(Debug)]
pub struct Liveness {
    /// Values read at or behind the start of a block, those joined there left out.
    live_in: IdVec<BlockId, Set>,
    live_out: IdVec<BlockId, Set>,
    /// What is read behind an instruction, computed when it is first asked for.
    behind: IdVec<InstId, OnceCell<Box<[InstId]>>>,
    /// Values that may be pointers.
    pointers: Vec<InstId>,
    used: Set,
    /// The values that a variable is ever bound to.
    bound: FxHashMap<VarId, Vec<InstId>>,
    /// By edges that start a loop again, the pointers that the loop computes.
    again: FxHashMap<(BlockId, BlockId), Vec<InstId>>,
    /// By the same edges, what is read behind them, of loops that have a way out.
    read_again: FxHashMap<(BlockId, BlockId), Vec<InstId>>,
}

impl Liveness {
    /// `descriptors` are numbers that are references, too.
    pub fn new(body: &Body, descriptors: &[InstId]) -> Self {
        let n_words = body.insts.len().div_ceil(64);
        let is_pointer = |inst: &InstId| {
            matches!(body.insts[*inst].ty, Ty::Ptr | Ty::Aggregate(_)) || descriptors.contains(inst)
        };
        let pointers: Vec<InstId> = body.insts.ids().filter(is_pointer).collect();
        let mut used = vec![0; n_words];
        let mut bound: FxHashMap<VarId, Vec<InstId>> = FxHashMap::default();
        for inst in &body.insts {
            match &inst.op {
                Op::Bind { variable, value: Operand::Inst(value) } => {
                    let values = bound.entry(*variable).or_default();
                    if is_pointer(value) && !values.contains(value) {
                        values.push(*value);
                    }
                    add(&mut used, Operand::Inst(*value));
                }
                op => op.for_each_operand(|operand| add(&mut used, operand)),
            }
        }
        for block in &body.blocks {
            block.terminator.operand().into_iter().for_each(|operand| add(&mut used, operand));
        }
        let (live_in, live_out) = flow(body, n_words);
        let again = starting_again(body, &pointers);
        let behind = body.insts.iter().map(|_| OnceCell::new()).collect();
        let read_again = FxHashMap::default();
        let mut live = Self { live_in, live_out, behind, pointers, used, bound, again, read_again };
        let ending = back_edges(body).into_iter().filter(|edge| has_exit(body, *edge));
        live.read_again =
            ending.map(|(from, to)| ((from, to), live.on_edge(body, from, to))).collect();
        live
    }

    /// Values that are read once a loop has started again, where that has a way out.
    pub fn read_again(&self, from: BlockId, to: BlockId) -> Option<&[InstId]> {
        self.read_again.get(&(from, to)).map(Vec::as_slice)
    }

    pub fn pointers(&self) -> &[InstId] {
        &self.pointers
    }

    pub fn is_used(&self, inst: InstId) -> bool {
        self.used[inst.0 as usize / 64] >> (inst.0 % 64) & 1 == 1
    }

    pub fn bound(&self, variable: VarId) -> &[InstId] {
        self.bound.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// The pointers that a loop computes which an edge starts again.
    pub fn started_again(&self, from: BlockId, to: BlockId) -> Option<&[InstId]> {
        self.again.get(&(from, to)).map(Vec::as_slice)
    }

    /// Values that are read behind an instruction.
    pub fn behind(&self, body: &Body, inst: InstId) -> &[InstId] {
        self.behind[inst].get_or_init(|| {
            let block = body.insts[inst].block;
            let mut now = self.live_out[block].clone();
            if let Some(operand) = body.blocks[block].terminator.operand() {
                add(&mut now, operand);
            }
            for later in (inst.0 + 1..body.blocks[block].end.0).rev().map(InstId) {
                step_back(body, later, &mut now);
            }
            members(&now).into()
        })
    }

    /// Values that are read once control has gone from one block to another.
    pub fn on_edge(&self, body: &Body, from: BlockId, to: BlockId) -> Vec<InstId> {
        let mut now = self.live_in[to].clone();
        for phi in body.blocks[to].inst_ids() {
            let Op::Phi(edges) = &body.insts[phi].op else { break };
            for (_, operand) in edges.iter().filter(|(source, _)| *source == from) {
                add(&mut now, *operand);
            }
        }
        members(&now)
    }
}

/// What is read at the start and at the end of each block.
fn flow(body: &Body, n_words: usize) -> (IdVec<BlockId, Set>, IdVec<BlockId, Set>) {
    let empty = || body.blocks.iter().map(|_| vec![0u64; n_words]).collect::<IdVec<BlockId, _>>();
    let (mut live_in, mut live_out) = (empty(), empty());
    let blocks: Vec<BlockId> = body.blocks.ids().collect();
    // Sets only grow, so this ends.
    loop {
        let mut has_changed = false;
        for block in blocks.iter().rev().copied() {
            let mut out = vec![0u64; n_words];
            for next in body.blocks[block].terminator.successors() {
                let mut entering = live_in[next].clone();
                for phi in body.blocks[next].inst_ids() {
                    let Op::Phi(edges) = &body.insts[phi].op else { break };
                    for (_, operand) in edges.iter().filter(|(from, _)| *from == block) {
                        add(&mut entering, *operand);
                    }
                }
                out.iter_mut().zip(&entering).for_each(|(word, more)| *word |= more);
            }
            let mut now = out.clone();
            let data = &body.blocks[block];
            data.terminator.operand().into_iter().for_each(|operand| add(&mut now, operand));
            for inst in data.inst_ids().rev() {
                step_back(body, inst, &mut now);
            }
            has_changed |= now != live_in[block] || out != live_out[block];
            live_in[block] = now;
            live_out[block] = out;
        }
        if !has_changed {
            return (live_in, live_out);
        }
    }
}

/// Edges that lead back to where control came from, and the pointers computed between.
fn starting_again(body: &Body, pointers: &[InstId]) -> FxHashMap<(BlockId, BlockId), Vec<InstId>> {
    let inside = |(from, to): (BlockId, BlockId)| {
        let inside = between(body, from, to);
        let is_inside = |inst: &&InstId| inside[body.insts[**inst].block.0 as usize];
        ((from, to), pointers.iter().filter(is_inside).copied().collect())
    };
    back_edges(body).into_iter().map(inside).collect()
}

/// By block, whether control may go from there back to where it came from.
pub(crate) fn blocks_that_start_again(body: &Body) -> Vec<bool> {
    let mut starts = vec![false; body.blocks.len()];
    back_edges(body).into_iter().for_each(|(from, _)| starts[from.0 as usize] = true);
    starts
}

fn back_edges(body: &Body) -> Vec<(BlockId, BlockId)> {
    let mut again = Vec::new();
    let n_blocks = body.blocks.len();
    // Depth first; a block is open while those behind it are visited.
    let (mut is_seen, mut is_open) = (vec![false; n_blocks], vec![false; n_blocks]);
    let mut path = vec![(Body::ENTRY, 0)];
    if n_blocks > 0 {
        (is_seen[0], is_open[0]) = (true, true);
    }
    while let Some((block, at)) = path.pop() {
        let successors = body.blocks[block].terminator.successors();
        let Some(next) = successors.get(at) else {
            is_open[block.0 as usize] = false;
            continue;
        };
        path.push((block, at + 1));
        let index = next.0 as usize;
        if is_open[index] {
            again.push((block, *next));
        } else if !is_seen[index] {
            (is_seen[index], is_open[index]) = (true, true);
            path.push((*next, 0));
        }
    }
    again
}

/// Whether control may leave a loop.
fn has_exit(body: &Body, (last, header): (BlockId, BlockId)) -> bool {
    let inside = between(body, last, header);
    let leaves = |block: BlockId| {
        let next = body.blocks[block].terminator.successors();
        inside[block.0 as usize] && next.iter().any(|next| !inside[next.0 as usize])
    };
    body.blocks.ids().any(leaves)
}

/// Blocks of a loop that `last` starts again at `header`.
fn between(body: &Body, last: BlockId, header: BlockId) -> Vec<bool> {
    let mut inside = vec![false; body.blocks.len()];
    inside[header.0 as usize] = true;
    let mut waiting = vec![last];
    while let Some(block) = waiting.pop() {
        if !std::mem::replace(&mut inside[block.0 as usize], true) {
            waiting.extend(&body.blocks[block].predecessors);
        }
    }
    inside
}

fn step_back(body: &Body, inst: InstId, live: &mut Set) {
    live[inst.0 as usize / 64] &= !(1 << (inst.0 % 64));
    match &body.insts[inst].op {
        // These read where control comes from; a name for a value does not keep it.
        Op::Phi(_) | Op::Bind { .. } => {}
        op => op.for_each_operand(|operand| add(live, operand)),
    }
}

fn add(set: &mut Set, operand: Operand) {
    if let Operand::Inst(inst) = operand {
        set[inst.0 as usize / 64] |= 1 << (inst.0 % 64);
    }
}

fn members(set: &Set) -> Vec<InstId> {
    let has = |index: &usize| set[index / 64] >> (index % 64) & 1 == 1;
    (0..64 * set.len()).filter(has).map(|index| InstId(index as u32)).collect()
}
