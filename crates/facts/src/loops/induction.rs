//! Induction variables: phis that change by the same amount each time round.

use program::{BlockId, InstId, Op, Operand, Ty};

use super::LoopView;
use super::linear::Linear;

/// How much an induction variable changes each time round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Constant(i128),
    /// An amount that stays the same during the loop.
    Plus(Operand),
    Minus(Operand),
}

/// After `n` jumps back to the header, `phi = start + n * step`, modulo the phi's width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Induction {
    pub phi: InstId,
    /// None where the loop is entered with several values.
    pub start: Option<Operand>,
    pub step: Step,
    /// Steps of a pointer count bytes.
    pub is_pointer: bool,
}

impl Induction {
    pub fn constant_step(&self) -> Option<i128> {
        match self.step {
            Step::Constant(step) => Some(step),
            Step::Plus(_) | Step::Minus(_) => None,
        }
    }
}

pub(super) fn find(view: &LoopView) -> Vec<Induction> {
    let header = view.cfg.loops.loops[view.id].header;
    let phis = view.body.blocks[header].inst_ids();
    phis.filter_map(|phi| induction(view, phi)).collect()
}

fn induction(view: &LoopView, phi: InstId) -> Option<Induction> {
    let inst = &view.body.insts[phi];
    let Op::Phi(operands) = &inst.op else { return None };
    if !matches!(inst.ty, Ty::Int(1..=64) | Ty::Ptr) {
        return None;
    }
    let latches = &view.cfg.loops.loops[view.id].latches;
    let is_latch = |block: &BlockId| latches.contains(block);
    let comes_in = |block: &BlockId| !is_latch(block) && view.cfg.is_reachable(*block);
    let itself = Operand::Inst(phi);
    let mut step = None;
    for (_, operand) in operands.iter().filter(|(block, _)| is_latch(block)) {
        let this_step = step_of(view, itself, *operand)?;
        if *step.get_or_insert(this_step) != this_step {
            return None;
        }
    }
    Some(Induction {
        phi,
        start: single(operands.iter().filter(|(block, _)| comes_in(block)).map(|(_, op)| *op)),
        step: step?,
        is_pointer: inst.ty == Ty::Ptr,
    })
}

/// The step that leads from the phi to what the latch hands back.
fn step_of(view: &LoopView, phi: Operand, next: Operand) -> Option<Step> {
    let is_leaf = |operand: Operand| operand == phi || view.is_invariant(operand);
    let sum = Linear::of(next, view.body, view.constants, &is_leaf);
    // Cut to fewer bits on the way, the variable starts again before its own width ends.
    let is_exact = sum.exact_bits.is_none_or(|bits| bits >= bits_of(view, phi));
    if sum.coefficient(phi) != 1 || !is_exact {
        return None;
    }
    let rest = sum.without(phi);
    match rest.terms[..] {
        [] => Some(Step::Constant(rest.constant)),
        [(operand, 1)] if rest.constant == 0 && view.is_invariant(operand) => {
            Some(Step::Plus(operand))
        }
        [(operand, -1)] if rest.constant == 0 && view.is_invariant(operand) => {
            Some(Step::Minus(operand))
        }
        _ => None,
    }
}

fn bits_of(view: &LoopView, phi: Operand) -> u32 {
    match phi {
        Operand::Inst(inst) => match view.body.insts[inst].ty {
            Ty::Int(bits) => bits,
            _ => 64,
        },
        _ => 64,
    }
}

fn single(mut operands: impl Iterator<Item = Operand>) -> Option<Operand> {
    let first = operands.next()?;
    operands.all(|operand| operand == first).then_some(first)
}
