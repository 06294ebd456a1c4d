//! What branches say about values: for each value, the conditions that hold in part of
//! the function.
//!
//! A condition holds in the blocks dominated by its side of the branch. That gives the
//! precision of a form with a new name for each value after each branch, without the
//! names.

use base::IdVec;
use program::{
    BlockId, Body, Const, ConstId, ConversionKind, InstId, Op, Operand, Predicate, Terminator, Ty,
};

use crate::cfg::Cfg;
use crate::csr::Csr;
use crate::loops::int_constant;

/// How the value compared is computed from the value the condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    Itself,
    /// It is the value sign- or zero-extended to so many bits.
    SignExtend(u32),
    ZeroExtend(u32),
}

/// `value <predicate> other`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    pub value: Operand,
    pub through: Through,
    pub predicate: Predicate,
    pub other: Operand,
}

/// A condition and the block from which on it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    pub from: BlockId,
    pub kind: FactKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactKind {
    Compared(Condition),
    /// The value, signed, is one of the cases of a switch in this range.
    Cases {
        low: i64,
        high: i64,
    },
}

/// All conditions of a function, by the value they are about.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Rows: instructions, then parameters.
    facts: Csr<Fact>,
    n_insts: usize,
}

impl Conditions {
    pub fn new(body: &Body, n_params: usize, cfg: &Cfg, constants: &IdVec<ConstId, Const>) -> Self {
        let n_insts = body.insts.len();
        let mut pairs: Vec<(u32, Fact)> = Vec::new();
        let row = |operand: Operand| match operand {
            Operand::Inst(inst) => Some(inst.0),
            Operand::Param(index) if (index as usize) < n_params => Some(n_insts as u32 + index),
            _ => None,
        };
        for &branch in cfg.order() {
            for &target in cfg.successors(branch) {
                // With another way in, the condition does not hold in the whole block.
                if cfg.predecessors(target).len() != 1 || target == Body::ENTRY {
                    continue;
                }
                for_edge(body, constants, branch, target, |value, kind| {
                    if let Some(row) = row(value) {
                        pairs.push((row, Fact { from: target, kind }));
                    }
                });
            }
        }
        Self { facts: Csr::from_pairs(n_insts + n_params, &pairs), n_insts }
    }

    /// What is known about a value in parts of the function.
    pub fn about(&self, operand: Operand) -> &[Fact] {
        match operand {
            Operand::Inst(inst) => self.facts.row(inst.0 as usize),
            Operand::Param(index) => match self.n_insts + index as usize {
                row if row < self.facts.len() => self.facts.row(row),
                _ => &[],
            },
            Operand::Const(_) => &[],
        }
    }

    /// Each value with what is known about it somewhere.
    pub fn all(&self) -> impl Iterator<Item = (Operand, &Fact)> {
        (0..self.facts.len()).flat_map(move |row| {
            let value = if row < self.n_insts {
                Operand::Inst(InstId(row as u32))
            } else {
                Operand::Param((row - self.n_insts) as u32)
            };
            self.facts.row(row).iter().map(move |fact| (value, fact))
        })
    }
}

/// Calls `note` with what taking the edge says about values.
pub fn for_edge(
    body: &Body,
    constants: &IdVec<ConstId, Const>,
    branch: BlockId,
    target: BlockId,
    mut note: impl FnMut(Operand, FactKind),
) {
    match &body.blocks[branch].terminator {
        Terminator::Branch { condition, then, otherwise } if then != otherwise => {
            let is_taken = target == *then;
            condition_facts(body, constants, *condition, is_taken, &mut note);
        }
        Terminator::Switch { value, cases, default } if target != *default => {
            let values = cases.iter().filter(|(_, to)| *to == target);
            let values = values.filter_map(|(id, _)| match constants.get(*id)? {
                Const::Int { value, .. } => i64::try_from(*value).ok(),
                Const::Zero(_) => Some(0),
                _ => None,
            });
            let bounds = values.fold(None, |bounds: Option<(i64, i64)>, value| {
                let (low, high) = bounds.unwrap_or((value, value));
                Some((low.min(value), high.max(value)))
            });
            let is_readable = cases.iter().all(|(id, _)| {
                matches!(constants.get(*id), Some(Const::Int { .. } | Const::Zero(_)))
            });
            if let Some((low, high)) = bounds.filter(|_| is_readable) {
                note(*value, FactKind::Cases { low, high });
            }
        }
        _ => {}
    }
}

fn condition_facts(
    body: &Body,
    constants: &IdVec<ConstId, Const>,
    condition: Operand,
    is_taken: bool,
    note: &mut impl FnMut(Operand, FactKind),
) {
    let Some((predicate, lhs, rhs)) = comparison(body, constants, condition, is_taken) else {
        return;
    };
    let mut about = |value: Operand, predicate: Predicate, other: Operand| {
        let mut add = |value, through| {
            let condition = Condition { value, through, predicate, other };
            note(value, FactKind::Compared(condition));
        };
        add(value, Through::Itself);
        if let Operand::Inst(inst) = value
            && let Op::Convert(conversion) = &body.insts[inst].op
            && let Ty::Int(bits) = body.insts[inst].ty
            && bits <= 64
        {
            match conversion.kind {
                ConversionKind::SignExtend => add(conversion.value, Through::SignExtend(bits)),
                ConversionKind::ZeroExtend => add(conversion.value, Through::ZeroExtend(bits)),
                ConversionKind::SignChange => add(conversion.value, Through::Itself),
                _ => {}
            }
        }
    };
    about(lhs, predicate, rhs);
    about(rhs, swapped(predicate), lhs);
}

/// The comparison a condition stands for, through `!= 0` of a widened truth value.
pub fn comparison(
    body: &Body,
    constants: &IdVec<ConstId, Const>,
    condition: Operand,
    is_taken: bool,
) -> Option<(Predicate, Operand, Operand)> {
    let Operand::Inst(mut inst) = condition else { return None };
    let mut is_taken = is_taken;
    for _ in 0..16 {
        let Op::Compare { predicate, lhs, rhs } = &body.insts[inst].op else { return None };
        let inner = truth_value(body, *lhs).filter(|_| int_constant(*rhs, constants) == Some(0));
        match (inner, predicate) {
            (Some(inner), Predicate::Ne) => inst = inner,
            (Some(inner), Predicate::Eq) => {
                is_taken = !is_taken;
                inst = inner;
            }
            _ => {
                let predicate = if is_taken { *predicate } else { negated(*predicate)? };
                return Some((predicate, *lhs, *rhs));
            }
        }
    }
    None
}

/// The comparison an integer is the widened outcome of.
fn truth_value(body: &Body, operand: Operand) -> Option<InstId> {
    let Operand::Inst(mut inst) = operand else { return None };
    for _ in 0..4 {
        match &body.insts[inst].op {
            Op::Compare { .. } => return Some(inst),
            Op::Convert(conversion) if conversion.kind == ConversionKind::ZeroExtend => {
                let Operand::Inst(inner) = conversion.value else { return None };
                inst = inner;
            }
            _ => return None,
        }
    }
    None
}

pub fn swapped(predicate: Predicate) -> Predicate {
    use Predicate as P;
    match predicate {
        P::SignedLt => P::SignedGt,
        P::SignedLe => P::SignedGe,
        P::SignedGt => P::SignedLt,
        P::SignedGe => P::SignedLe,
        P::UnsignedLt => P::UnsignedGt,
        P::UnsignedLe => P::UnsignedGe,
        P::UnsignedGt => P::UnsignedLt,
        P::UnsignedGe => P::UnsignedLe,
        other => other,
    }
}

pub fn negated(predicate: Predicate) -> Option<Predicate> {
    use Predicate as P;
    Some(match predicate {
        P::Eq => P::Ne,
        P::Ne => P::Eq,
        P::SignedLt => P::SignedGe,
        P::SignedLe => P::SignedGt,
        P::SignedGt => P::SignedLe,
        P::SignedGe => P::SignedLt,
        P::UnsignedLt => P::UnsignedGe,
        P::UnsignedLe => P::UnsignedGt,
        P::UnsignedGt => P::UnsignedLe,
        P::UnsignedGe => P::UnsignedLt,
        P::FloatOrdered(_) | P::FloatUnordered(_) => return None,
    })
}
