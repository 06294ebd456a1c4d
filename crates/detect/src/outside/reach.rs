//! Values that the program's own stores can put into a member, over any number of calls.
//!
//! This is evidence that a value occurs, not a bound on what may: a store nobody can follow
//! adds nothing. Counts and lengths are taken to reach half of what their type holds, which
//! takes that much memory or input; what is computed from them may reach more.

use std::collections::BTreeSet;

use logic::Interval;
use program::{
    BinaryOp, Body, CType, Callee, Const, ConversionKind, FunctionId, Inst, InstId, Op, Operand,
    Predicate, Program, Terminator, Ty, TypeId,
};
use rustc_hash::FxHashSet;

use super::c_position;
use crate::code::Code;
use crate::entry::Inputs;
use facts::members::{Member, Members, accessed_member};
use spec::text::is_signed_type;

/// Values that occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The outside fills the member: any value of its type.
    Anything,
    /// These constants.
    OneOf(BTreeSet<i128>),
    /// All from the first to the second.
    Range(i128, i128),
}

/// More constants than this are taken for a range.
const MAX_CONSTANTS: usize = 16;
/// Values looked at for one member.
const FUEL: u32 = 1000;
/// Lengths of what lies in memory, and counts of it.
pub const MAX_LENGTH: i128 = 1 << 30;
/// Numbers of 64 bits count no further than this.
const MAX_WIDE: i128 = 1 << 40;

/// What a member may hold when a function of the interface is called.
pub fn of_member(code: &Code, inputs: &Inputs, member: Member) -> Option<Reach> {
    if !code.members().makes(member.0) {
        return Some(Reach::Anything);
    }
    let mut evaluation = Evaluation {
        code,
        program: code.program,
        members: code.members(),
        inputs,
        busy: FxHashSet::default(),
        fuel: FUEL,
    };
    evaluation.member(member).reach
}

/// The member an operand was read from, seen through conversions.
pub fn loaded_member(body: &Body, operand: Operand) -> Option<Member> {
    let mut operand = operand;
    for _ in 0..8 {
        let Operand::Inst(inst) = operand else { return None };
        match &body.insts[inst].op {
            Op::Load(access) => return accessed_member(body, access),
            Op::Convert(conversion) => operand = conversion.value,
            _ => return None,
        }
    }
    None
}

/// What is known of a value.
#[derive(Clone, Debug, Default)]
struct Found {
    reach: Option<Reach>,
    /// It is a value whose own stores or loop are being looked at.
    is_self: bool,
    /// It is such a value made larger.
    grows: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Busy {
    Member(Member),
    Value(FunctionId, InstId),
    Param(FunctionId, u32),
    Result(FunctionId),
}

struct Evaluation<'a, 'p> {
    code: &'a Code<'p>,
    program: &'p Program,
    members: &'a Members,
    inputs: &'a Inputs,
    busy: FxHashSet<Busy>,
    fuel: u32,
}

impl Evaluation<'_, '_> {
    fn member(&mut self, member: Member) -> Found {
        if !self.busy.insert(Busy::Member(member)) {
            return Found { is_self: true, ..Found::default() };
        }
        let mut found = Found::default();
        for constant in self.members.constants(member) {
            found.join(Found::constant(*constant));
        }
        for (function, value) in self.members.stores(member) {
            let stored = self.value(*function, *value);
            found.join(stored);
        }
        self.busy.remove(&Busy::Member(member));
        let info = &self.program.records[member.0].members[member.1 as usize];
        let bits = info.size_bits as u32;
        let signed = is_signed_type(self.program, info.ctype);
        let is_number = is_number(self.program, info.ctype) && (1..=64).contains(&bits);
        if !is_number {
            return Found::default();
        }
        let bound = self.tested_bound(member);
        found.settle(bits, signed, bound)
    }

    /// The largest constant that the program compares a member with to limit it.
    fn tested_bound(&self, member: Member) -> Option<i128> {
        let mut bound = None;
        for function in &self.program.functions {
            let Some(body) = &function.body else { continue };
            for inst in &body.insts {
                let Op::Compare { predicate, lhs, rhs } = &inst.op else { continue };
                let constant = match (constant(self.program, *lhs), constant(self.program, *rhs)) {
                    (None, Some(c)) if loaded_member(body, *lhs) == Some(member) => c,
                    (Some(c), None) if loaded_member(body, *rhs) == Some(member) => c,
                    _ => continue,
                };
                if !matches!(predicate, Predicate::Eq | Predicate::Ne) && constant > 1 {
                    bound = bound.max(Some(constant + 1));
                }
            }
        }
        bound
    }

    fn value(&mut self, function: FunctionId, operand: Operand) -> Found {
        let Some(fuel) = self.fuel.checked_sub(1) else { return Found::default() };
        self.fuel = fuel;
        match operand {
            Operand::Const(_) => match constant(self.program, operand) {
                Some(number) => Found::constant(number),
                None => Found::default(),
            },
            Operand::Param(index) => self.parameter(function, index),
            Operand::Inst(inst) => self.instruction(function, inst),
        }
    }

    fn instruction(&mut self, function: FunctionId, id: InstId) -> Found {
        let Some(body) = &self.program.functions[function].body else { return Found::default() };
        let inst = &body.insts[id];
        match &inst.op {
            Op::Load(access) => match accessed_member(body, access) {
                Some(member) => self.member(member),
                // A byte of a buffer.
                None if inst.ty == Ty::Int(8) && is_dynamic(body, access.ptr) => {
                    let range = Interval::of_width(8, is_signed_type(self.program, access.ctype));
                    Found::range(range.low.unwrap_or(0), range.high.unwrap_or(0))
                }
                None => Found::default(),
            },
            Op::Convert(conversion) => {
                let found = self.value(function, conversion.value);
                let signed = match conversion.kind {
                    ConversionKind::ZeroExtend => false,
                    _ => is_signed_type(self.program, inst.ctype),
                };
                found.within(inst.ty, signed)
            }
            Op::Binary { op, lhs, rhs, .. } => self.binary(function, body, *op, *lhs, *rhs),
            Op::Select { then, otherwise, .. } => {
                let mut found = self.value(function, *then);
                found.join(self.value(function, *otherwise));
                found
            }
            Op::Phi(operands) => {
                if !self.busy.insert(Busy::Value(function, id)) {
                    return Found { is_self: true, ..Found::default() };
                }
                let mut found = Found::default();
                for (_, operand) in operands {
                    let value = self.value(function, *operand);
                    found.join(value);
                }
                self.busy.remove(&Busy::Value(function, id));
                self.settle_phi(function, id, inst, found)
            }
            Op::Call(call) => self.result(function, body, &call.callee),
            _ => Found::default(),
        }
    }

    /// A counter of a loop that runs a constant number of times counts no further.
    fn settle_phi(&self, function: FunctionId, id: InstId, inst: &Inst, found: Found) -> Found {
        let Ty::Int(bits) = inst.ty else { return Found::default() };
        let headed = self.code.shape(function).and_then(|shape| {
            let body = self.program.functions[function].body.as_ref()?;
            let loop_id = shape.cfg.loops.headed_by(body.insts[id].block)?;
            shape.loops.loops[loop_id].max_trips()
        });
        let bound = headed.map(|trips| i128::try_from(trips).unwrap_or(i128::MAX));
        found.settle(bits, is_signed_type(self.program, inst.ctype), bound)
    }

    fn binary(
        &mut self,
        function: FunctionId,
        body: &Body,
        op: BinaryOp,
        lhs: Operand,
        rhs: Operand,
    ) -> Found {
        if op == BinaryOp::Sub && is_address(body, lhs) && is_address(body, rhs) {
            return Found::range(0, MAX_LENGTH);
        }
        let (a, b) = (self.value(function, lhs), self.value(function, rhs));
        let grows = match op {
            BinaryOp::Add => (a.is_self && b.is_positive()) || (b.is_self && a.is_positive()),
            BinaryOp::Mul => a.is_self && b.low().is_some_and(|low| low > 1),
            BinaryOp::Shl => a.is_self && b.is_positive(),
            _ => false,
        };
        let kept = matches!(op, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl);
        let grows = grows || (kept && (a.grows || b.grows));
        let reach = match (a.bounds(), b.bounds()) {
            (Some(x), Some(y)) => combine(op, x, y),
            _ => None,
        };
        Found { reach: reach.map(|(low, high)| Reach::Range(low, high)), is_self: false, grows }
    }

    /// A parameter is whatever the program's calls pass, or the outside where it says so.
    fn parameter(&mut self, function: FunctionId, index: u32) -> Found {
        let info = &self.program.functions[function];
        let Some(param) = info.params.get(index as usize) else { return Found::default() };
        let Ty::Int(bits) = param.ty else { return Found::default() };
        let position = c_position(info, index as usize);
        let mut declared = self.inputs.get(&function).into_iter().flatten();
        if declared.any(|input| input.position == position) {
            let range = Interval::of_width(bits, is_signed_type(self.program, param.ctype));
            return Found::range(range.low.unwrap_or(0), range.high.unwrap_or(0));
        }
        if !self.busy.insert(Busy::Param(function, index)) {
            return Found { is_self: true, ..Found::default() };
        }
        let mut found = Found::default();
        for caller in self.code.callers(function) {
            let Some(body) = &self.program.functions[*caller].body else { continue };
            for inst in &body.insts {
                if let Op::Call(call) = &inst.op
                    && call.callee == Callee::Function(function)
                    && let Some(argument) = call.args.get(index as usize)
                {
                    let passed = self.value(*caller, *argument);
                    found.join(passed);
                }
            }
        }
        self.busy.remove(&Busy::Param(function, index));
        found.settle(bits, is_signed_type(self.program, param.ctype), None)
    }

    fn result(&mut self, _caller: FunctionId, body: &Body, callee: &Callee) -> Found {
        let mut found = Found::default();
        for function in self.members.callees(body, callee) {
            if !self.busy.insert(Busy::Result(*function)) {
                return Found { is_self: true, ..Found::default() };
            }
            let blocks = self.program.functions[*function].body.iter().flat_map(|b| &b.blocks);
            for block in blocks {
                if let Terminator::Return(Some(value)) = block.terminator {
                    let returned = self.value(*function, value);
                    found.join(returned);
                }
            }
            self.busy.remove(&Busy::Result(*function));
        }
        found
    }
}

impl Found {
    fn constant(number: i128) -> Self {
        Self { reach: Some(Reach::OneOf(BTreeSet::from([number]))), ..Self::default() }
    }

    fn range(low: i128, high: i128) -> Self {
        Self { reach: Some(Reach::Range(low, high)), ..Self::default() }
    }

    fn bounds(&self) -> Option<(i128, i128)> {
        match self.reach.as_ref()? {
            Reach::Anything => None,
            Reach::OneOf(numbers) => Some((*numbers.first()?, *numbers.last()?)),
            Reach::Range(low, high) => Some((*low, *high)),
        }
    }

    fn low(&self) -> Option<i128> {
        self.bounds().map(|(low, _)| low)
    }

    fn is_positive(&self) -> bool {
        self.low().is_some_and(|low| low > 0)
    }

    fn join(&mut self, other: Self) {
        self.grows |= other.grows;
        self.reach = match (self.reach.take(), other.reach) {
            (Some(Reach::OneOf(mut mine)), Some(Reach::OneOf(more))) => {
                mine.extend(more);
                match (mine.first().copied(), mine.last().copied()) {
                    (Some(low), Some(high)) if mine.len() > MAX_CONSTANTS => {
                        Some(Reach::Range(low, high))
                    }
                    _ => Some(Reach::OneOf(mine)),
                }
            }
            (None, reach) | (reach, None) => reach,
            (Some(a), Some(b)) => {
                let bounds = |reach| Found { reach: Some(reach), ..Found::default() }.bounds();
                match (bounds(a), bounds(b)) {
                    (Some((a, b)), Some((c, d))) => Some(Reach::Range(a.min(c), b.max(d))),
                    _ => None,
                }
            }
        };
    }

    /// Only what a type can hold.
    fn within(mut self, ty: Ty, signed: bool) -> Self {
        let Ty::Int(bits) = ty else { return Self::default() };
        let range = Interval::of_width(bits, signed);
        let (Some(low), Some(high)) = (range.low, range.high) else { return self };
        self.reach = match self.reach {
            Some(Reach::OneOf(mut numbers)) => {
                numbers.retain(|number| (low..=high).contains(number));
                (!numbers.is_empty()).then_some(Reach::OneOf(numbers))
            }
            Some(Reach::Range(from, to)) => {
                let (from, to) = (from.max(low), to.min(high));
                (from <= to).then_some(Reach::Range(from, to))
            }
            other => other,
        };
        self
    }

    /// The value as a whole, once all that feeds it was seen.
    fn settle(self, bits: u32, signed: bool, bound: Option<i128>) -> Self {
        let limit = match bits {
            0..=16 => Interval::of_width(bits, signed).high.unwrap_or(0),
            17..=32 => 1 << (bits - 1 - u32::from(signed)),
            _ => MAX_WIDE,
        };
        let limit = bound.map_or(limit, |bound| limit.min(bound));
        let mut settled = Self { reach: self.reach.clone(), ..Self::default() };
        if self.grows {
            let low = self.low().unwrap_or(0);
            settled.join(Self::range(low.min(limit), limit));
        }
        settled.within(Ty::Int(bits), signed)
    }
}

/// The range of an operation on two ranges.
fn combine(op: BinaryOp, (a, b): (i128, i128), (c, d): (i128, i128)) -> Option<(i128, i128)> {
    let is_constant = c == d;
    match op {
        BinaryOp::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        // What is subtracted mostly belongs to what it is subtracted from.
        BinaryOp::Sub if is_constant => Some((a.checked_sub(c)?, b.checked_sub(c)?)),
        BinaryOp::Mul if a >= 0 && c >= 0 => Some((a.checked_mul(c)?, b.checked_mul(d)?)),
        BinaryOp::Shl if is_constant && a >= 0 && (0..64).contains(&c) => {
            Some((a.checked_mul(1 << c)?, b.checked_mul(1 << c)?))
        }
        BinaryOp::LogicalShr | BinaryOp::ArithmeticShr
            if is_constant && a >= 0 && (0..64).contains(&c) =>
        {
            Some((a >> c, b >> c))
        }
        BinaryOp::SignedDiv | BinaryOp::UnsignedDiv if is_constant && a >= 0 && c > 0 => {
            Some((a / c, b / c))
        }
        BinaryOp::And if a >= 0 && c >= 0 => Some((0, b.min(d))),
        BinaryOp::Or | BinaryOp::Xor if a >= 0 && c >= 0 => {
            let bits = 128 - b.max(d).leading_zeros();
            Some((a.min(c), 1i128.checked_shl(bits)?.checked_sub(1)?))
        }
        _ => None,
    }
}

fn constant(program: &Program, operand: Operand) -> Option<i128> {
    let Operand::Const(id) = operand else { return None };
    match &program.constants[id] {
        Const::Int { value, .. } => Some(*value),
        Const::Zero(Ty::Int(_)) => Some(0),
        _ => None,
    }
}

/// Whether an operand is a pointer turned into a number.
fn is_address(body: &Body, operand: Operand) -> bool {
    let Operand::Inst(inst) = operand else { return false };
    match &body.insts[inst].op {
        Op::Convert(conversion) => conversion.kind == ConversionKind::PointerToInt,
        _ => body.insts[inst].ty == Ty::Ptr,
    }
}

/// Whether a pointer walks through memory, and is not the place of a variable.
fn is_dynamic(body: &Body, ptr: Operand) -> bool {
    match ptr {
        Operand::Inst(inst) => !matches!(body.insts[inst].op, Op::Alloca { .. }),
        Operand::Param(_) => true,
        Operand::Const(_) => false,
    }
}

/// Whether a type holds whole numbers.
fn is_number(program: &Program, ctype: TypeId) -> bool {
    match &program.types[ctype] {
        CType::Int { .. } | CType::Enum { .. } | CType::Bool => true,
        CType::Typedef { target, .. }
        | CType::Const(target)
        | CType::Volatile(target)
        | CType::Atomic(target) => is_number(program, *target),
        _ => false,
    }
}
