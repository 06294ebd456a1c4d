//! Whether another iteration of a loop could end differently from this one.
//!
//! A loop repeats itself for ever when an iteration jumps back with everything unchanged that
//! its branches depend on. Here only what is certain counts: values of the loop's own
//! variables. Memory, calls and volatile accesses may always change something.

use std::collections::BTreeSet;

use facts::cfg::LoopId;
use program::{BlockId, Body, Callee, FunctionId, InstId, Op, Operand, Terminator};

use crate::code::Code;

impl Code<'_> {
    /// Whether the loop whose iteration ends in `latch` can still come to an exit. True for
    /// loops without exits, which are meant to go on.
    pub fn can_exit(&self, function: FunctionId, latch: BlockId) -> bool {
        let (Some(body), Some(shape)) =
            (self.program.functions[function].body.as_ref(), self.shape(function))
        else {
            return true;
        };
        let Terminator::Jump(header) = body.blocks[latch].terminator else { return true };
        let nest = &shape.cfg.loops;
        let Some(id) = nest.headed_by(header).filter(|id| nest.contains(*id, latch)) else {
            return true;
        };
        if nest.loops[id].exits.is_empty() {
            return true;
        }
        let blocks = nest.blocks(id);
        Repeating { code: self, body, function, id, header, latch }.can_change(&blocks)
    }
}

/// One back edge of one loop.
struct Repeating<'a, 'p> {
    code: &'a Code<'p>,
    body: &'a Body,
    function: FunctionId,
    id: LoopId,
    header: BlockId,
    latch: BlockId,
}

impl Repeating<'_, '_> {
    /// Whether something a branch of the loop depends on can differ in the next iteration.
    fn can_change(&self, blocks: &[BlockId]) -> bool {
        let mut waiting: Vec<Operand> = Vec::new();
        for block in blocks {
            let block = &self.body.blocks[*block];
            if block.inst_ids().any(|inst| acts(&self.body.insts[inst].op)) {
                return true;
            }
            match &block.terminator {
                Terminator::Branch { condition, .. } => waiting.push(*condition),
                Terminator::Switch { value, .. } => waiting.push(*value),
                Terminator::Indirect { .. } => return true,
                Terminator::Jump(_) | Terminator::Return(_) | Terminator::Unreachable => {}
            }
        }
        let mut seen: BTreeSet<InstId> = BTreeSet::new();
        while let Some(operand) = waiting.pop() {
            let Operand::Inst(inst) = operand else { continue };
            if !self.is_inside(inst) || !seen.insert(inst) {
                continue;
            }
            match &self.body.insts[inst].op {
                Op::Phi(incoming) if self.body.insts[inst].block == self.header => {
                    let next = incoming.iter().find(|(from, _)| *from == self.latch);
                    if next.is_none_or(|(_, next)| *next != Operand::Inst(inst)) {
                        return true;
                    }
                }
                op @ (Op::Address(_)
                | Op::Binary { .. }
                | Op::Negate(_)
                | Op::Compare { .. }
                | Op::Convert(_)
                | Op::Select { .. }
                | Op::Phi(_)) => op.for_each_operand(|operand| waiting.push(operand)),
                _ => return true,
            }
        }
        false
    }

    fn is_inside(&self, inst: InstId) -> bool {
        let shape = self.code.shape(self.function);
        shape.is_some_and(|shape| shape.cfg.loops.contains(self.id, self.body.insts[inst].block))
    }
}

/// Whether an operation may end the program, or change what nobody here can see.
fn acts(op: &Op) -> bool {
    match op {
        Op::Call(call) => !matches!(call.callee, Callee::Intrinsic(_)),
        Op::Load(access) => access.is_volatile,
        Op::Store { access, .. } => access.is_volatile,
        Op::AtomicUpdate { .. } | Op::CompareExchange { .. } | Op::Fence | Op::Asm { .. } => true,
        _ => false,
    }
}
