//! Which values of a function are still read later, for telling when the last reference to an
//! object is gone.

use base::IdVec;
use program::{BlockId, Body, InstId, Op, Operand};

/// A set of instructions.
pub(crate) type LiveSet = Vec<u64>;

#[derive(Debug)]
pub struct Liveness {
    /// Values read at or behind the start of a block, those joined there left out.
    live_in: IdVec<BlockId, LiveSet>,
    live_out: IdVec<BlockId, LiveSet>,
    n_insts: usize,
}

impl Liveness {
    pub fn new(body: &Body) -> Self {
        let n_insts = body.insts.len();
        let empty = || vec![0u64; n_insts.div_ceil(64)];
        let mut live = Self {
            live_in: body.blocks.iter().map(|_| empty()).collect(),
            live_out: body.blocks.iter().map(|_| empty()).collect(),
            n_insts,
        };
        // Sets only grow, so this ends.
        loop {
            let mut has_changed = false;
            for block in body.blocks.ids().collect::<Vec<_>>().into_iter().rev() {
                let mut out = empty();
                for next in body.blocks[block].terminator.successors() {
                    union(&mut out, &live.live_in[next]);
                    for phi in body.blocks[next].inst_ids() {
                        let Op::Phi(edges) = &body.insts[phi].op else { break };
                        for (_, operand) in edges.iter().filter(|(from, _)| *from == block) {
                            add(&mut out, *operand);
                        }
                    }
                }
                let mut now = out.clone();
                let data = &body.blocks[block];
                if let Some(operand) = data.terminator.operand() {
                    add(&mut now, operand);
                }
                for inst in data.inst_ids().rev() {
                    step_back(body, inst, &mut now);
                }
                has_changed |= now != live.live_in[block] || out != live.live_out[block];
                live.live_in[block] = now;
                live.live_out[block] = out;
            }
            if !has_changed {
                return live;
            }
        }
    }

    /// Values that are read behind an instruction.
    pub fn behind(&self, body: &Body, inst: InstId) -> LiveSet {
        let block = body.insts[inst].block;
        let mut now = self.live_out[block].clone();
        if let Some(operand) = body.blocks[block].terminator.operand() {
            add(&mut now, operand);
        }
        for later in (inst.0 + 1..body.blocks[block].end.0).rev().map(InstId) {
            step_back(body, later, &mut now);
        }
        now
    }

    /// Values that are read once control has gone from one block to another.
    pub fn on_edge(&self, body: &Body, from: BlockId, to: BlockId) -> LiveSet {
        let mut now = self.live_in[to].clone();
        for phi in body.blocks[to].inst_ids() {
            let Op::Phi(edges) = &body.insts[phi].op else { break };
            for (_, operand) in edges.iter().filter(|(source, _)| *source == from) {
                add(&mut now, *operand);
            }
        }
        now
    }

    /// The members of a set.
    pub fn members(&self, set: &LiveSet) -> impl Iterator<Item = InstId> {
        let has = |index: &usize| set[index / 64] >> (index % 64) & 1 == 1;
        (0..self.n_insts).filter(has).map(|index| InstId(index as u32))
    }
}

fn step_back(body: &Body, inst: InstId, live: &mut LiveSet) {
    live[inst.0 as usize / 64] &= !(1 << (inst.0 % 64));
    match &body.insts[inst].op {
        // These read where control comes from; a name for a value does not keep it.
        Op::Phi(_) | Op::Bind { .. } => {}
        op => op.for_each_operand(|operand| add(live, operand)),
    }
}

fn add(set: &mut LiveSet, operand: Operand) {
    if let Operand::Inst(inst) = operand {
        set[inst.0 as usize / 64] |= 1 << (inst.0 % 64);
    }
}

fn union(set: &mut LiveSet, other: &LiveSet) {
    set.iter_mut().zip(other).for_each(|(word, more)| *word |= more);
}
