//! Numbers that are not what they stand for: a sum that wrapped, a length that was negative.
//!
//! C defines what such a number is, and much code means it so. It is a fault where it does harm:
//! where it becomes a size, an index or the amount of an allocation, or where a comparison comes
//! out otherwise than it would for the number that was meant. So a number that strays carries
//! what was meant with it until then, or until the two are the same again.

use program::{
    BinaryOp, BlockId, ConversionKind, ConversionOrigin, InstId, Op, Operand, Predicate, Ty,
};
use rustc_hash::FxHashMap;

use crate::FaultKind;
use crate::course::Strayed;
use crate::exec::{Frame, Machine};
use crate::notes::{Note, Place};
use crate::record::Point;
use crate::value::{mask, signed};

/// Numbers of a run that are followed.
pub(crate) const MAX_STRAYS: usize = 20_000;
/// Places where numbers of a run strayed that are told.
const MAX_SEEN: usize = 24;

/// Numbers that stray in one call, by the instruction or the parameter.
#[derive(Default)]
pub(crate) struct StraysOfFrame {
    pub(crate) values: FxHashMap<InstId, u32>,
    pub(crate) parameters: FxHashMap<u32, u32>,
    /// Members that stray of records in registers, with where in the record they lie.
    pub(crate) parts: FxHashMap<InstId, Vec<(u64, u32)>>,
}

#[derive(Default)]
pub(crate) struct Strays {
    pub(crate) all: Vec<Stray>,
    /// By address.
    pub(crate) memory: FxHashMap<u64, u32>,
    /// Arguments of the call that begins.
    pub(crate) passed: FxHashMap<u32, u32>,
    pub(crate) returned: Option<u32>,
    pub(crate) returned_parts: Vec<(u64, u32)>,
    pub(crate) has_corrected: bool,
    /// The first of each place.
    pub(crate) seen: Vec<Strayed>,
}

#[derive(Clone, Copy)]
pub(crate) struct Stray {
    /// The number that was meant.
    pub(crate) meant: i128,
    pub(crate) kind: FaultKind,
    pub(crate) at: Place,
    /// What it was computed from.
    pub(crate) from: (Option<i128>, Option<i128>),
    /// A constant was added or taken off, as many idioms do.
    pub(crate) by_constant: bool,
    pub(crate) n_recorded: usize,
    pub(crate) steps_left: u64,
    /// It is put right: whatever can hold the number that was meant does.
    pub(crate) is_corrected: bool,
}

impl<'p> Machine<'p> {
    /// An instruction computed a number that is not the one `meant`.
    pub(crate) fn strays_at(
        &mut self,
        frame: &mut Frame<'p>,
        inst: InstId,
        meant: i128,
        (kind, is_ruled): (FaultKind, bool),
    ) {
        if self.notes.strays.all.len() >= MAX_STRAYS {
            return;
        }
        let constant = |operand: &Operand| matches!(operand, Operand::Const(_));
        let (from, by_constant) = match &frame.body.insts[inst].op {
            Op::Binary { lhs, rhs, .. } => {
                let sides = (self.plain(frame, *lhs), self.plain(frame, *rhs));
                (sides, constant(lhs) || constant(rhs))
            }
            _ => ((None, None), false),
        };
        let n_recorded = self.n_recorded() + 1;
        let at = (frame.id, Point::Inst(inst));
        let correction = self.correction(at, kind);
        if correction.is_some_and(|one| one.is_nearest) {
            frame.values[inst] = self.nearest_number(frame, inst, meant);
            return;
        }
        let is_corrected = correction.is_some();
        self.notes.strays.has_corrected |= is_corrected;
        let steps_left = self.steps;
        let strayed = Strayed { at, kind, n_recorded, steps_left, is_ruled };
        let seen = &mut self.notes.strays.seen;
        let is_known = |other: &Strayed| other.at == at && other.kind == kind;
        if !is_corrected && seen.len() < MAX_SEEN && !seen.iter().any(is_known) {
            seen.push(strayed);
        }
        let stray =
            Stray { meant, kind, at, from, by_constant, n_recorded, steps_left, is_corrected };
        self.notes.strays.all.push(stray);
        frame.strays.values.insert(inst, self.notes.strays.all.len() as u32 - 1);
    }

    /// Whether an operand strays already: what is meant follows from that.
    pub(crate) fn computes_with_strays(&self, frame: &Frame<'p>, inst: InstId) -> bool {
        let mut found = false;
        if self.has_strays() {
            frame.body.insts[inst].op.for_each_operand(|operand| {
                found |= self.stray(frame, operand).is_some();
            });
        }
        found
    }

    pub(crate) fn has_strays(&self) -> bool {
        !self.notes.strays.all.is_empty()
    }

    pub(crate) fn stray(&self, frame: &Frame<'p>, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Inst(inst) => frame.strays.values.get(&inst).copied(),
            Operand::Param(index) => frame.strays.parameters.get(&index).copied(),
            Operand::Const(_) => None,
        }
    }

    /// A number as it is, without a sign.
    pub(crate) fn plain(&self, frame: &Frame<'p>, operand: Operand) -> Option<i128> {
        let bits = self.bits(frame, operand).ok().filter(|bits| bits.is_known())?;
        i128::try_from(bits.bits).ok()
    }

    /// Before an instruction: whether it makes a size or an index of a number that strays.
    pub(crate) fn strays_before(&mut self, frame: &Frame<'p>, inst: InstId) {
        match &frame.body.insts[inst].op {
            Op::Address(address) => {
                for term in &address.terms {
                    self.harms(frame, term.index);
                }
            }
            Op::Alloca { count: Some(count), .. } => self.harms(frame, *count),
            Op::MemCopy { size, .. } | Op::MemSet { size, .. } => self.harms(frame, *size),
            Op::Call(call) => {
                if let Some(watch) = self.notes.watch {
                    for size in watch.sizes(frame.id, inst) {
                        self.harms(frame, *size);
                    }
                }
                let passed = (0..).zip(&call.args);
                let passed = passed.filter_map(|(at, arg)| Some((at, self.stray(frame, *arg)?)));
                self.notes.strays.passed = passed.collect();
            }
            Op::Compare { predicate, lhs, rhs } => self.compares(frame, *predicate, *lhs, *rhs),
            _ => {}
        }
    }

    fn harms(&mut self, frame: &Frame<'p>, operand: Operand) {
        if let Some(stray) = self.stray(frame, operand) {
            self.note_stray(stray);
        }
    }

    fn note_stray(&mut self, stray: u32) {
        let Stray { kind, at, n_recorded, is_corrected, steps_left, .. } =
            self.notes.strays.all[stray as usize];
        if is_corrected {
            return;
        }
        let note =
            Note { kind, at, allocated: None, released: None, n_recorded, steps_left, by: None };
        self.note(note);
    }

    /// A comparison that comes out otherwise than it would for the number that was meant. Tests
    /// for just that compare with what it was computed from, or use a constant.
    fn compares(&mut self, frame: &Frame<'p>, predicate: Predicate, lhs: Operand, rhs: Operand) {
        use Predicate::*;
        let sides = (self.stray(frame, lhs), self.stray(frame, rhs));
        let (stray, other) = match sides {
            (Some(stray), None) => (stray, rhs),
            (None, Some(stray)) => (stray, lhs),
            _ => return,
        };
        let data = self.notes.strays.all[stray as usize];
        if data.by_constant || matches!(other, Operand::Const(_)) {
            return;
        }
        let is_signed = matches!(predicate, SignedLt | SignedLe | SignedGt | SignedGe);
        let width = match self.ty(frame, other) {
            Ty::Int(bits) => bits,
            _ => return,
        };
        let number = |bits: i128| match is_signed {
            true => signed(bits as u128, width),
            false => (bits as u128 & mask(width)) as i128,
        };
        let (Some(a), Some(b)) = (self.plain(frame, lhs), self.plain(frame, rhs)) else { return };
        let (a, b) = (number(a), number(b));
        let other_value = if sides.0.is_some() { b } else { a };
        if [data.from.0, data.from.1].contains(&Some(other_value)) {
            return;
        }
        let meant = if sides.0.is_some() { (data.meant, b) } else { (a, data.meant) };
        let holds = |(a, b): (i128, i128)| match predicate {
            SignedLt | UnsignedLt => Some(a < b),
            SignedLe | UnsignedLe => Some(a <= b),
            SignedGt | UnsignedGt => Some(a > b),
            SignedGe | UnsignedGe => Some(a >= b),
            _ => None,
        };
        if holds((a, b)) != holds(meant) {
            self.note_stray(stray);
        }
    }

    /// After an instruction: what it computed from numbers that stray.
    pub(crate) fn strays_after(&mut self, frame: &mut Frame<'p>, inst: InstId) {
        let stray = match &frame.body.insts[inst].op {
            Op::Binary { op, lhs, rhs, .. } => self.computed_stray(frame, inst, *op, (*lhs, *rhs)),
            Op::Convert(conversion) => {
                let means_it = conversion.kind == ConversionKind::Truncate
                    && conversion.origin == ConversionOrigin::Explicit;
                let stray = self.stray(frame, conversion.value).filter(|_| !means_it);
                stray.filter(|stray| {
                    let meant = self.notes.strays.all[*stray as usize].meant;
                    !self.is_number(frame, inst, meant)
                })
            }
            Op::Load(access) => {
                let address = self.plain(frame, access.ptr);
                if access.size >= 8 && !self.notes.strays.memory.is_empty() {
                    let parts = address.map(|at| self.strays_in(at as u64, access.size));
                    match parts.filter(|parts| !parts.is_empty()) {
                        Some(parts) => drop(frame.strays.parts.insert(inst, parts)),
                        None => drop(frame.strays.parts.remove(&inst)),
                    }
                }
                address.and_then(|at| self.notes.strays.memory.get(&(at as u64)).copied())
            }
            Op::Store { access, value } => {
                let stray = self.stray(frame, *value);
                if let Some(address) = self.plain(frame, access.ptr) {
                    if let Operand::Inst(value) = value
                        && let Some(parts) = frame.strays.parts.get(value)
                    {
                        let parts = parts.iter().map(|(at, s)| (address as u64 + at, *s));
                        self.notes.strays.memory.extend(parts);
                        return;
                    }
                    match stray {
                        Some(stray) => self.notes.strays.memory.insert(address as u64, stray),
                        None => self.notes.strays.memory.remove(&(address as u64)),
                    };
                }
                return;
            }
            Op::MemCopy { to, from, size, .. } => {
                let (to, from) = (self.plain(frame, *to), self.plain(frame, *from));
                if let (Some(to), Some(from), Some(size)) = (to, from, self.plain(frame, *size)) {
                    self.copy_strays(to as u64, from as u64, size as u64);
                }
                return;
            }
            Op::Select { condition, then, otherwise } => {
                let is_true = self.plain(frame, *condition).is_some_and(|bit| bit & 1 == 1);
                self.stray(frame, if is_true { *then } else { *otherwise })
            }
            Op::Call(_) => {
                self.notes.strays.passed.clear();
                let parts = std::mem::take(&mut self.notes.strays.returned_parts);
                if !parts.is_empty() {
                    frame.strays.parts.insert(inst, parts);
                }
                self.notes.strays.returned.take()
            }
            // Joins take theirs on entry.
            Op::Phi(_) => return,
            _ => None,
        };
        match stray {
            Some(stray) => drop(frame.strays.values.insert(inst, stray)),
            None if frame.strays.values.is_empty() => {}
            None => drop(frame.strays.values.remove(&inst)),
        }
    }

    /// The strays in so many bytes, and where.
    fn strays_in(&self, address: u64, size: u64) -> Vec<(u64, u32)> {
        let inside = |at: &u64| (address..address.saturating_add(size)).contains(at);
        let found = self.notes.strays.memory.iter().filter(|(at, _)| inside(at));
        let mut found: Vec<_> = found.map(|(at, stray)| (at - address, *stray)).collect();
        found.sort_unstable();
        found
    }

    fn copy_strays(&mut self, to: u64, from: u64, size: u64) {
        let memory = &mut self.notes.strays.memory;
        if memory.is_empty() {
            return;
        }
        let inside = |at: &u64, start: u64| (start..start.saturating_add(size)).contains(at);
        let copied: Vec<(u64, u32)> = memory
            .iter()
            .filter(|(at, _)| inside(at, from))
            .map(|(at, stray)| (at - from + to, *stray))
            .collect();
        memory.retain(|at, _| !inside(at, to));
        memory.extend(copied);
    }

    /// Whether the number an instruction computed is this one, as its type reads it.
    pub(crate) fn is_number(&self, frame: &Frame<'p>, inst: InstId, number: i128) -> bool {
        let Some(is) = self.plain(frame, Operand::Inst(inst)) else { return true };
        let width = match frame.body.insts[inst].ty {
            Ty::Int(bits) => bits,
            _ => return true,
        };
        let inst = &frame.body.insts[inst];
        let ctype = match &inst.op {
            Op::Convert(conversion) => conversion.to,
            _ => inst.ctype,
        };
        match self.program.is_signed(ctype) {
            Some(true) => signed(is as u128, width) == number,
            Some(false) => is == number,
            None => is == number || signed(is as u128, width) == number,
        }
    }

    fn computed_stray(
        &mut self,
        frame: &Frame<'p>,
        inst: InstId,
        op: BinaryOp,
        (lhs, rhs): (Operand, Operand),
    ) -> Option<u32> {
        let strays = (self.stray(frame, lhs), self.stray(frame, rhs));
        let stray = strays.0.or(strays.1)?;
        let width = match frame.body.insts[inst].ty {
            Ty::Int(bits) => bits,
            _ => return None,
        };
        let is_signed = self.program.is_signed(frame.body.insts[inst].ctype) == Some(true);
        // What C writes as `y - 1` may be compiled to adding the largest number there is.
        let side = |machine: &Self, stray: Option<u32>, operand: Operand| match stray {
            Some(stray) => Some(machine.notes.strays.all[stray as usize].meant),
            None if is_signed || matches!(operand, Operand::Const(_)) => {
                Some(signed(machine.plain(frame, operand)? as u128, width))
            }
            None => machine.plain(frame, operand),
        };
        let (a, b) = (side(self, strays.0, lhs)?, side(self, strays.1, rhs)?);
        let meant = match op {
            BinaryOp::Add => a.saturating_add(b),
            BinaryOp::Sub => a.saturating_sub(b),
            BinaryOp::Mul => a.saturating_mul(b),
            BinaryOp::UnsignedDiv | BinaryOp::SignedDiv => a.checked_div(b)?,
            // Of a remainder, bits or a shift only that part is wanted.
            _ => return None,
        };
        if self.is_number(frame, inst, meant) || self.notes.strays.all.len() >= MAX_STRAYS {
            return None;
        }
        let old = self.notes.strays.all[stray as usize];
        self.notes.strays.all.push(Stray { meant, ..old });
        Some(self.notes.strays.all.len() as u32 - 1)
    }

    /// What joins take on the way from one block to another.
    pub(crate) fn strays_join(&self, frame: &mut Frame<'p>, from: BlockId, to: BlockId) {
        if frame.strays.values.is_empty() && frame.strays.parameters.is_empty() {
            return;
        }
        let mut taken = Vec::new();
        for inst in frame.body.blocks[to].inst_ids() {
            let Op::Phi(edges) = &frame.body.insts[inst].op else { break };
            let edge = edges.iter().find(|(source, _)| *source == from);
            taken.push((inst, edge.and_then(|(_, operand)| self.stray(frame, *operand))));
        }
        for (inst, stray) in taken {
            match stray {
                Some(stray) => frame.strays.values.insert(inst, stray),
                None => frame.strays.values.remove(&inst),
            };
        }
    }

    /// What the call that begins was passed.
    pub(crate) fn strays_passed(&mut self) -> StraysOfFrame {
        let parameters = std::mem::take(&mut self.notes.strays.passed);
        StraysOfFrame { parameters, ..StraysOfFrame::default() }
    }

    pub(crate) fn strays_returned(&mut self, frame: &Frame<'p>, value: Option<Operand>) {
        self.notes.strays.returned = value.and_then(|value| self.stray(frame, value));
        self.notes.strays.returned_parts = match value {
            Some(Operand::Inst(inst)) => frame.strays.parts.get(&inst).cloned().unwrap_or_default(),
            _ => Vec::new(),
        };
    }
}
