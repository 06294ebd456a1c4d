//! Pointers that are a parameter plus something: what a function does through them is
//! told to its callers relative to the argument, so that one caller's objects are not
//! charged to another.

use program::{Body, ConversionKind, InstId, Op, Operand, Param, Program, Ty};

use crate::cfg::Cfg;
use crate::pointsto::{Shift, shift_of};

/// Where a pointer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Not yet looked at, or only itself.
    Undecided,
    Param {
        index: u32,
        shift: Shift,
    },
    /// Anything else: its points-to set says more.
    Elsewhere,
}

/// The origin of each instruction's value.
pub struct Origins {
    of: Vec<Origin>,
    is_pointer_param: Vec<bool>,
}

impl Origins {
    pub fn new(program: &Program, body: &Body, params: &[Param], cfg: &Cfg) -> Self {
        let is_pointer_param =
            params.iter().map(|p| p.ty == Ty::Ptr && p.by_value.is_none()).collect();
        let mut origins = Self { of: vec![Origin::Undecided; body.insts.len()], is_pointer_param };
        loop {
            let mut changed = false;
            for &block in cfg.order() {
                for id in body.blocks[block].inst_ids() {
                    changed |= origins.update(program, body, id);
                }
            }
            if !changed {
                return origins;
            }
        }
    }

    fn update(&mut self, program: &Program, body: &Body, id: InstId) -> bool {
        let inst = &body.insts[id];
        if inst.ty != Ty::Ptr || self.of[id.0 as usize] == Origin::Elsewhere {
            return false;
        }
        let new = match &inst.op {
            Op::Address(address) => match self.of(address.base) {
                Origin::Param { index, shift } => plus(index, shift, &shift_of(program, address)),
                other => other,
            },
            Op::Convert(conversion) if conversion.kind == ConversionKind::Bits => {
                self.of(conversion.value)
            }
            Op::Phi(operands) => operands
                .iter()
                .map(|(_, operand)| self.of(*operand))
                .fold(self.of[id.0 as usize].clone(), join),
            Op::Select { then, otherwise, .. } => join(self.of(*then), self.of(*otherwise)),
            _ => Origin::Elsewhere,
        };
        let changed = new != self.of[id.0 as usize];
        self.of[id.0 as usize] = new;
        changed
    }

    pub fn of(&self, operand: Operand) -> Origin {
        match operand {
            Operand::Inst(inst) => self.of[inst.0 as usize].clone(),
            Operand::Param(index) => match self.is_pointer_param.get(index as usize) {
                Some(true) => Origin::Param { index, shift: Shift::default() },
                _ => Origin::Elsewhere,
            },
            // Null joins with anything: nothing is accessed through it.
            Operand::Const(_) => Origin::Elsewhere,
        }
    }
}

/// A walk over more than this many different strides is not worth following.
const MAX_STRIDES: usize = 3;

pub(super) fn plus(index: u32, first: Shift, second: &Shift) -> Origin {
    let Some(offset) = first.offset.checked_add(second.offset) else { return Origin::Elsewhere };
    let is_base = first.offset == 0 && first.strides.is_empty();
    let is_bytewise = second.is_bytewise && (first.is_bytewise || first == Shift::default())
        || first.is_bytewise && *second == Shift::default();
    // A step back in bytes may leave a member or stay in an array: only alone it is told.
    let steps_back = |shift: &Shift| shift.is_bytewise && shift.offset < 0;
    if !is_bytewise && (steps_back(&first) || steps_back(second)) {
        return Origin::Elsewhere;
    }
    let record = first.record.or(second.record.filter(|_| is_base));
    let mut shift = Shift { offset, strides: first.strides, is_bytewise, record };
    for &stride in &second.strides {
        if !shift.strides.contains(&stride) {
            shift.strides.push(stride);
        }
    }
    shift.strides.sort_unstable();
    let fits = shift.strides.len() <= MAX_STRIDES && shift.offset.unsigned_abs() < 1 << 20;
    if fits { Origin::Param { index, shift } } else { Origin::Elsewhere }
}

fn join(a: Origin, b: Origin) -> Origin {
    match (a, b) {
        (Origin::Undecided, other) | (other, Origin::Undecided) => other,
        (Origin::Param { index, shift }, Origin::Param { index: other, shift: other_shift })
            if index == other =>
        {
            // Two offsets apart are one offset and a walk between them.
            let distance = other_shift.offset.saturating_sub(shift.offset).saturating_abs();
            let step = Shift {
                offset: shift.offset.min(other_shift.offset) - shift.offset,
                strides: other_shift
                    .strides
                    .iter()
                    .copied()
                    .chain((distance != 0).then_some(distance))
                    .collect(),
                is_bytewise: other_shift.is_bytewise && distance == 0,
                record: None,
            };
            plus(index, shift, &step)
        }
        _ => Origin::Elsewhere,
    }
}
