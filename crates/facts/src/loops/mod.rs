//! How loops count: induction variables in closed form and trip counts.

mod induction;
mod linear;
mod trip;

pub use induction::{Induction, Step};
pub use linear::Linear;
pub use trip::TripCount;

use base::IdVec;
use program::{Body, Const, ConstId, ConversionKind, InstId, Op, Operand};

use crate::cfg::{Cfg, LoopId};

/// What is known about one loop beyond its shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopFacts {
    pub inductions: Vec<Induction>,
    /// One for each exit test that bounds the loop.
    pub trip_counts: Vec<TripCount>,
}

impl LoopFacts {
    /// How often the loop jumps back at most, where an exit test says so for every run.
    pub fn max_trips(&self) -> Option<u128> {
        self.trip_counts.iter().filter_map(|count| count.constant).min()
    }

    pub fn induction(&self, phi: InstId) -> Option<&Induction> {
        self.inductions.iter().find(|induction| induction.phi == phi)
    }
}

/// The loops of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionLoops {
    pub loops: IdVec<LoopId, LoopFacts>,
}

impl FunctionLoops {
    pub fn new(body: &Body, cfg: &Cfg, constants: &IdVec<ConstId, Const>) -> Self {
        let loops = cfg.loops.loops.ids().map(|id| {
            let view = LoopView { body, cfg, constants, id };
            let inductions = induction::find(&view);
            let trip_counts = trip::find(&view, &inductions);
            LoopFacts { inductions, trip_counts }
        });
        Self { loops: loops.collect() }
    }

    /// The induction variable a phi is, in whatever loop it heads.
    pub fn induction(&self, body: &Body, cfg: &Cfg, phi: InstId) -> Option<&Induction> {
        let id = cfg.loops.headed_by(body.insts[phi].block)?;
        self.loops[id].induction(phi)
    }
}

/// A loop with what its analysis reads.
pub(crate) struct LoopView<'a> {
    pub body: &'a Body,
    pub cfg: &'a Cfg,
    pub constants: &'a IdVec<ConstId, Const>,
    pub id: LoopId,
}

impl LoopView<'_> {
    /// Whether the operand has one value during a run of the loop.
    pub fn is_invariant(&self, operand: Operand) -> bool {
        self.is_invariant_to(operand, 8)
    }

    fn is_invariant_to(&self, operand: Operand, depth: u32) -> bool {
        let Operand::Inst(inst) = operand else { return true };
        let inst = &self.body.insts[inst];
        if !self.cfg.loops.contains(self.id, inst.block) {
            return true;
        }
        let still = |operand: Operand| depth > 0 && self.is_invariant_to(operand, depth - 1);
        match &inst.op {
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                still(*lhs) && still(*rhs)
            }
            Op::Convert(conversion) => still(conversion.value),
            Op::Address(address) => {
                still(address.base) && address.terms.iter().all(|term| still(term.index))
            }
            Op::Select { condition, then, otherwise } => {
                still(*condition) && still(*then) && still(*otherwise)
            }
            _ => false,
        }
    }

    pub fn constant(&self, operand: Operand) -> Option<i128> {
        constant_value(operand, self.body, self.constants)
    }
}

/// The value of a constant, converted as the body says: the language turns the `0` of an
/// unsigned variable into one of its type by an instruction.
pub(crate) fn constant_value(
    operand: Operand,
    body: &Body,
    constants: &IdVec<ConstId, Const>,
) -> Option<i128> {
    let mut conversions = Vec::new();
    let mut operand = operand;
    while let Operand::Inst(id) = operand {
        let inst = &body.insts[id];
        let Op::Convert(conversion) = &inst.op else { return None };
        if conversions.len() >= 4 || conversion.bit_field_width.is_some() {
            return None;
        }
        conversions.push((conversion.kind, inst.ty));
        operand = conversion.value;
    }
    let mut value = int_constant(operand, constants)?;
    let mut bits = match operand {
        Operand::Const(id) => constants.get(id)?.ty().size() as u32 * 8,
        _ => return None,
    };
    for (kind, ty) in conversions.into_iter().rev() {
        let program::Ty::Int(to @ 1..=64) = ty else { return None };
        value = match kind {
            ConversionKind::SignExtend | ConversionKind::SignChange | ConversionKind::Truncate => {
                sign_extended(value, to)
            }
            ConversionKind::ZeroExtend => value.rem_euclid(1 << bits.min(64)),
            _ => return None,
        };
        bits = to;
    }
    Some(value)
}

/// The low bits of a number, as a signed number.
pub(crate) fn sign_extended(value: i128, bits: u32) -> i128 {
    let pattern = value.rem_euclid(1 << bits);
    if pattern >> (bits - 1) == 1 { pattern - (1 << bits) } else { pattern }
}

/// The value of an integer (or null) constant.
pub(crate) fn int_constant(operand: Operand, constants: &IdVec<ConstId, Const>) -> Option<i128> {
    let Operand::Const(id) = operand else { return None };
    match constants.get(id)? {
        Const::Int { value, .. } => Some(*value),
        Const::Null => Some(0),
        Const::Zero(program::Ty::Int(_) | program::Ty::Ptr) => Some(0),
        _ => None,
    }
}
