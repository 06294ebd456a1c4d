//! How a run goes on behind a violation, and how one is put right.
//!
//! Where that is asked for, a violation does not end a run as long as it is said what the
//! machine does: numbers wrap, accesses meet what lies there, a block that was released holds
//! what it held. What happened is noted. A violation that is put right instead happens without
//! its effect: what is written outside is dropped, a number is the one that was meant. What a
//! run then does not violate, the violation had caused.

use program::{InstId, Op, Operand, Ty};

use crate::exec::{Frame, Machine};
use crate::notes::{Note, Place};
use crate::record::Point;
use crate::unset::UnsetBytes;
use crate::value::{Bits, Value};
use crate::{FaultKind, Stop};

/// A violation that is put right as it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrected {
    pub at: Place,
    pub kind: FaultKind,
    /// A number becomes the nearest that fits, instead of the one that was meant.
    pub is_nearest: bool,
}

/// A number that was not the one meant, where it was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strayed {
    pub at: Place,
    pub kind: FaultKind,
    pub n_recorded: usize,
    /// Steps the run had left then.
    pub steps_left: u64,
    /// A rule asks for it.
    pub is_ruled: bool,
}

#[derive(Default)]
pub(crate) struct Course {
    pub corrected: Vec<Corrected>,
    /// What an instruction meant that overflowed just now.
    pub overflowed: Option<i128>,
    /// Steps the run had left when it first depended on more than C and the layout of records.
    guessed_at: Option<u64>,
}

impl<'p> Machine<'p> {
    /// Puts these violations right.
    pub fn correct(&mut self, corrected: &[Corrected]) {
        self.course.corrected = corrected.to_vec();
    }

    pub(crate) fn go_on(&mut self) {
        let globals: Vec<u64> = self.program.globals.ids().map(|id| self.global(id)).collect();
        self.memory.go_on_outside(self.program, &globals);
    }

    /// Steps the run had left when it first depended on more than C and the layout of records
    /// say.
    pub fn guessed_at(&self) -> Option<u64> {
        self.course.guessed_at
    }

    pub(crate) fn correction(&self, at: Place, kind: FaultKind) -> Option<Corrected> {
        let mut corrected = self.course.corrected.iter();
        corrected.find(|one| one.at == at && one.kind == kind).copied()
    }

    /// Before an instruction: whether accesses of it that leave their objects are put right.
    pub(crate) fn begin_step(&mut self, frame: &Frame<'p>, inst: InstId) {
        if let Some(spill) = &mut self.memory.spill
            && !self.course.corrected.is_empty()
        {
            let at = (frame.id, Point::Inst(inst));
            let mut corrected = self.course.corrected.iter();
            spill.is_corrected =
                corrected.any(|one| one.at == at && one.kind == FaultKind::OutOfBounds);
        }
    }

    /// After an instruction: notes where it left objects.
    pub(crate) fn note_outside(&mut self, frame: &Frame<'p>, inst: InstId) {
        let Some(spill) = self.memory.spill.as_mut().filter(|spill| !spill.events.is_empty())
        else {
            return;
        };
        let mut kinds = std::mem::take(&mut spill.events);
        if spill.has_guessed {
            self.course.guessed_at.get_or_insert(self.steps);
        }
        kinds.dedup();
        let by = self.stray_behind(frame, inst);
        for kind in kinds {
            let at = (frame.id, Point::Inst(inst));
            let (allocated, released) = (None, None);
            self.note(Note { kind, at, allocated, released, n_recorded: 0, steps_left: 0, by });
        }
    }

    pub(crate) fn note_violated(&mut self, kind: FaultKind, at: Place) {
        let (allocated, released) = (None, None);
        self.note(Note { kind, at, allocated, released, n_recorded: 0, steps_left: 0, by: None });
    }

    /// Whether an instruction that was stopped is done once more, with what nobody has set being
    /// something.
    pub(crate) fn settles(&mut self, frame: &mut Frame<'p>, inst: InstId, stop: &Stop) -> bool {
        if !self.memory.goes_on() || *stop != Stop::Fault(FaultKind::Uninitialised) {
            return false;
        }
        let mut operands = Vec::new();
        frame.body.insts[inst].op.for_each_operand(|operand| operands.push(operand));
        let at = (frame.id, Point::Inst(inst));
        self.settle(frame, operands, at);
        true
    }

    pub(crate) fn settles_end(
        &mut self,
        frame: &mut Frame<'p>,
        block: program::BlockId,
        stop: &Stop,
    ) -> bool {
        if !self.memory.goes_on() || *stop != Stop::Fault(FaultKind::Uninitialised) {
            return false;
        }
        let operands = frame.body.blocks[block].terminator.operand().into_iter().collect();
        let at = (frame.id, Point::End(block));
        self.settle(frame, operands, at);
        true
    }

    fn settle(&mut self, frame: &mut Frame<'p>, operands: Vec<Operand>, at: Place) {
        self.note_violated(FaultKind::Uninitialised, at);
        self.course.guessed_at.get_or_insert(self.steps);
        for operand in operands {
            let value = match operand {
                Operand::Inst(inst) => Some(&mut frame.values[inst]),
                Operand::Param(index) => frame.arguments.get_mut(index as usize),
                Operand::Const(_) => None,
            };
            if let Some(Value::Bits(bits)) = value {
                *bits = Bits { unset: 0, ..*bits };
            }
        }
        // From here on, what nobody has set is zero.
        if self.memory.unset.is_none() {
            self.inputs.unset_is_input = true;
            self.memory.unset = Some(UnsetBytes::new(&self.inputs.values, false));
        }
    }

    /// The wrapped result of a sum that overflows, where the run goes on.
    pub(crate) fn wraps(&mut self, frame: &Frame<'p>, id: InstId, stop: &Stop) -> Option<Bits> {
        if !self.memory.goes_on() || *stop != Stop::Fault(FaultKind::SignedOverflow) {
            return None;
        }
        let inst = &frame.body.insts[id];
        let Op::Binary { op, lhs, rhs, .. } = &inst.op else { return None };
        let Ty::Int(width) = inst.ty else { return None };
        let operands = (self.bits(frame, *lhs).ok()?, self.bits(frame, *rhs).ok()?);
        let result = crate::arithmetic::binary(*op, inst.ty, operands, false).ok()?;
        let signed = |bits: Bits| crate::value::signed(bits.bits, width);
        let (a, b) = (signed(operands.0), signed(operands.1));
        self.course.overflowed = match op {
            program::BinaryOp::Add => a.checked_add(b),
            program::BinaryOp::Sub => a.checked_sub(b),
            program::BinaryOp::Mul => a.checked_mul(b),
            _ => None,
        };
        self.note_violated(FaultKind::SignedOverflow, (frame.id, Point::Inst(id)));
        Some(self.shadow_binary(*op, inst.ty, operands, false, result))
    }
}
