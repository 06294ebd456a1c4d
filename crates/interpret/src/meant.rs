//! Numbers that are put right: what is computed from the number that was meant instead of the one
//! there is, and what is made of a number that is not the one meant.

use program::{BinaryOp, ConversionKind, ConversionOrigin, InstId, Op, Operand, Predicate, Ty};

use crate::course::Strayed;
use crate::exec::{Frame, Machine};
use crate::notes::Place;
use crate::strays::{MAX_STRAYS, Stray};
use crate::value::{Value, mask, signed};
use crate::{FaultKind, Stop};

impl<'p> Machine<'p> {
    /// Numbers of the run that were not the ones meant, by where they were computed first.
    pub fn strayed(&self) -> &[Strayed] {
        &self.notes.strays.seen
    }

    /// A conversion that nobody wrote and that changes a number, whatever rules say of it: what was
    /// meant.
    pub(crate) fn changes_number(
        &self,
        frame: &Frame<'p>,
        inst: InstId,
    ) -> Option<(i128, FaultKind)> {
        let Op::Convert(conversion) = &frame.body.insts[inst].op else { return None };
        let kind = match conversion.kind {
            ConversionKind::Truncate => FaultKind::Truncation,
            ConversionKind::SignChange => FaultKind::SignChange,
            _ => return None,
        };
        let Ty::Int(width) = self.ty(frame, conversion.value) else { return None };
        if conversion.origin == ConversionOrigin::Explicit || conversion.bit_field_width.is_some() {
            return None;
        }
        let bits = self.plain(frame, conversion.value)? as u128;
        let meant = match self.program.is_signed(conversion.from)? {
            true => signed(bits, width),
            false => bits as i128,
        };
        self.program.is_signed(conversion.to)?;
        (!self.is_number(frame, inst, meant)).then_some((meant, kind))
    }

    /// The number that is not the one meant, from which an instruction makes its address, its
    /// size or its operands.
    pub(crate) fn stray_behind(
        &self,
        frame: &Frame<'p>,
        inst: InstId,
    ) -> Option<(Place, FaultKind)> {
        let mut found = None;
        let mut look = |operand: Operand| {
            let known = self.stray(frame, operand).or_else(|| {
                let address = crate::access::address_at(frame, operand)?;
                address.terms.iter().find_map(|term| self.stray(frame, term.index))
            });
            let stray = known.map(|stray| self.notes.strays.all[stray as usize]);
            found = found.or(stray.filter(|s| !s.is_corrected).map(|s| (s.at, s.kind)));
        };
        match &frame.body.insts[inst].op {
            Op::Load(access) | Op::Store { access, .. } => look(access.ptr),
            op => op.for_each_operand(look),
        }
        found
    }

    pub(crate) fn has_corrected_strays(&self) -> bool {
        self.notes.strays.has_corrected
    }

    /// What was meant, where an operand is to be that.
    fn corrected(&self, frame: &Frame<'p>, operand: Operand) -> Option<i128> {
        let stray = self.notes.strays.all[self.stray(frame, operand)? as usize];
        stray.is_corrected.then_some(stray.meant)
    }

    /// The number of a type that is nearest to another.
    pub(crate) fn nearest_number(&self, frame: &Frame<'p>, inst: InstId, number: i128) -> Value {
        let (low, high, width) = self.range(frame, inst);
        Value::known(number.clamp(low, high) as u128 & mask(width))
    }

    /// The numbers that an instruction may yield, and its width.
    fn range(&self, frame: &Frame<'p>, inst: InstId) -> (i128, i128, u32) {
        let width = match frame.body.insts[inst].ty {
            Ty::Int(bits) => bits.min(120),
            _ => 64,
        };
        let inst = &frame.body.insts[inst];
        let ctype = match &inst.op {
            Op::Convert(conversion) => conversion.to,
            _ => inst.ctype,
        };
        match self.program.is_signed(ctype) {
            Some(true) => (-(1 << (width - 1)), (1 << (width - 1)) - 1, width),
            _ => (0, (1 << width) - 1, width),
        }
    }

    /// An instruction on a number that is put right; `false` where it is as any other.
    pub(crate) fn corrected_step(
        &mut self,
        frame: &mut Frame<'p>,
        inst: InstId,
    ) -> Result<bool, Stop> {
        let mut operands = Vec::new();
        frame.body.insts[inst].op.for_each_operand(|operand| {
            operands.extend(self.corrected(frame, operand).map(|meant| (operand, meant)));
        });
        if operands.is_empty() {
            return Ok(false);
        }
        let side = |machine: &Self, operand: Operand, is_signed: bool| {
            if let Some(meant) = machine.corrected(frame, operand) {
                return Some(meant);
            }
            let Ty::Int(width) = machine.ty(frame, operand) else { return None };
            let bits = machine.plain(frame, operand)? as u128;
            let reads_sign = is_signed || matches!(operand, Operand::Const(_));
            Some(if reads_sign { signed(bits, width) } else { bits as i128 })
        };
        let meant = match &frame.body.insts[inst].op {
            Op::Compare { predicate, lhs, rhs } => {
                use Predicate::*;
                let is_signed = matches!(predicate, SignedLt | SignedLe | SignedGt | SignedGe);
                let sides = (side(self, *lhs, is_signed), side(self, *rhs, is_signed));
                let (Some(a), Some(b)) = sides else { return Ok(false) };
                let holds = match predicate {
                    Eq => a == b,
                    Ne => a != b,
                    SignedLt | UnsignedLt => a < b,
                    SignedLe | UnsignedLe => a <= b,
                    SignedGt | UnsignedGt => a > b,
                    SignedGe | UnsignedGe => a >= b,
                    _ => return Ok(false),
                };
                frame.values[inst] = Value::known(u128::from(holds));
                frame.strays.values.remove(&inst);
                return Ok(true);
            }
            Op::Binary { op, lhs, rhs, .. } => {
                let ctype = frame.body.insts[inst].ctype;
                let is_signed = self.program.is_signed(ctype) == Some(true);
                let sides = (side(self, *lhs, is_signed), side(self, *rhs, is_signed));
                let (Some(a), Some(b)) = sides else { return Ok(false) };
                let meant = match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::UnsignedDiv | BinaryOp::SignedDiv => a.checked_div(b),
                    BinaryOp::UnsignedRem | BinaryOp::SignedRem => a.checked_rem(b),
                    _ => None,
                };
                let Some(meant) = meant else { return Ok(false) };
                meant
            }
            Op::Convert(conversion) => match self.corrected(frame, conversion.value) {
                Some(meant) if !matches!(frame.body.insts[inst].ty, Ty::Float(_)) => meant,
                _ => return Ok(false),
            },
            // What the library and the machine do takes a number that there is.
            Op::Alloca { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => {
                return self.with_numbers(frame, inst, &operands);
            }
            Op::Call(call) => {
                let is_library = match &call.callee {
                    program::Callee::Function(id) => self.program.functions[*id].body.is_none(),
                    program::Callee::Intrinsic(_) => true,
                    program::Callee::Pointer(_) => false,
                };
                return match is_library {
                    true => self.with_numbers(frame, inst, &operands),
                    false => Ok(false),
                };
            }
            _ => return Ok(false),
        };
        self.steps = self.steps.checked_sub(1).ok_or(Stop::OutOfSteps)?;
        let (low, high, _) = self.range(frame, inst);
        let stray = operands.iter().find_map(|(operand, _)| self.stray(frame, *operand));
        frame.values[inst] = match (low..=high).contains(&meant) {
            true => self.nearest_number(frame, inst, meant),
            false => {
                let Ty::Int(width) = frame.body.insts[inst].ty else { return Ok(false) };
                Value::known(meant as u128 & mask(width))
            }
        };
        frame.strays.values.remove(&inst);
        if let Some(stray) = stray.filter(|_| !(low..=high).contains(&meant))
            && self.notes.strays.all.len() < MAX_STRAYS
        {
            let old = self.notes.strays.all[stray as usize];
            self.notes.strays.all.push(Stray { meant, ..old });
            frame.strays.values.insert(inst, self.notes.strays.all.len() as u32 - 1);
        }
        Ok(true)
    }

    /// The instruction with the nearest numbers that there are.
    fn with_numbers(
        &mut self,
        frame: &mut Frame<'p>,
        inst: InstId,
        operands: &[(Operand, i128)],
    ) -> Result<bool, Stop> {
        let mut before = Vec::new();
        for (operand, meant) in operands {
            let Ty::Int(width) = self.ty(frame, *operand) else { continue };
            let number = (*meant).clamp(0, (1 << width.min(120)) - 1) as u128;
            let place = match operand {
                Operand::Inst(inst) => Some(&mut frame.values[*inst]),
                Operand::Param(index) => frame.arguments.get_mut(*index as usize),
                Operand::Const(_) => None,
            };
            if let Some(place) = place {
                before.push((*operand, std::mem::replace(place, Value::known(number))));
            }
        }
        let result = self.step(frame, inst);
        for (operand, value) in before {
            match operand {
                Operand::Inst(inst) => frame.values[inst] = value,
                Operand::Param(index) => frame.arguments[index as usize] = value,
                Operand::Const(_) => {}
            }
        }
        result.map(|()| true)
    }
}
