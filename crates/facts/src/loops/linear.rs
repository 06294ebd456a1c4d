//! Values as sums: a constant plus multiples of other values.

use base::IdVec;
use program::{BinaryOp, Body, Const, ConstId, ConversionKind, Op, Operand};

use super::constant_value;

/// `constant + sum(coefficient * operand)`; operands are distinct, sorted, and no sums
/// themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    pub constant: i128,
    pub terms: Vec<(Operand, i128)>,
    /// The sum holds only while no step of the computation wraps or loses bits.
    pub assumes_no_wrap: bool,
    /// It holds anyway modulo two to the power of this many bits, the narrowest number on
    /// the way; none where nothing was computed.
    pub exact_bits: Option<u32>,
}

/// How deep expressions are unfolded, and how many terms a sum may have.
const MAX_DEPTH: u32 = 16;
const MAX_TERMS: usize = 8;

impl Linear {
    /// Unfolds `operand` down to values for which `is_leaf` holds or that are no sums.
    pub fn of(
        operand: Operand,
        body: &Body,
        constants: &IdVec<ConstId, Const>,
        is_leaf: &dyn Fn(Operand) -> bool,
    ) -> Linear {
        let unfold = Unfold { body, constants, is_leaf };
        unfold.visit(operand, MAX_DEPTH)
    }

    fn value(operand: Operand) -> Self {
        Self { terms: vec![(operand, 1)], ..Self::default() }
    }

    fn constant(constant: i128) -> Self {
        Self { constant, ..Self::default() }
    }

    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The coefficient of an operand; 0 where it does not occur.
    pub fn coefficient(&self, operand: Operand) -> i128 {
        self.terms.iter().find(|(term, _)| *term == operand).map_or(0, |(_, factor)| *factor)
    }

    /// The sum without one of its operands.
    pub fn without(&self, operand: Operand) -> Linear {
        let mut rest = self.clone();
        rest.terms.retain(|(term, _)| *term != operand);
        rest
    }

    /// `self + factor * other`; none where numbers leave the model.
    pub fn plus(mut self, other: &Linear, factor: i128) -> Option<Linear> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        self.assumes_no_wrap |= other.assumes_no_wrap;
        self.exact_bits = narrower(self.exact_bits, other.exact_bits);
        for &(operand, coefficient) in &other.terms {
            let added = coefficient.checked_mul(factor)?;
            match self.terms.binary_search_by_key(&operand, |(term, _)| *term) {
                Ok(at) => self.terms[at].1 = self.terms[at].1.checked_add(added)?,
                Err(at) => self.terms.insert(at, (operand, added)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        (self.terms.len() <= MAX_TERMS).then_some(self)
    }

    fn times(&self, factor: i128) -> Option<Linear> {
        Linear::default().plus(self, factor)
    }
}

fn narrower(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

struct Unfold<'a> {
    body: &'a Body,
    constants: &'a IdVec<ConstId, Const>,
    is_leaf: &'a dyn Fn(Operand) -> bool,
}

impl Unfold<'_> {
    fn visit(&self, operand: Operand, depth: u32) -> Linear {
        if let Some(value) = constant_value(operand, self.body, self.constants) {
            return Linear::constant(value);
        }
        if depth == 0 || (self.is_leaf)(operand) {
            return Linear::value(operand);
        }
        let Some(mut sum) = self.sum(operand, depth - 1) else { return Linear::value(operand) };
        if let Operand::Inst(inst) = operand {
            let bits = match self.body.insts[inst].ty {
                program::Ty::Int(bits) => bits,
                _ => 64,
            };
            sum.exact_bits = narrower(sum.exact_bits, Some(bits));
        }
        sum
    }

    fn sum(&self, operand: Operand, depth: u32) -> Option<Linear> {
        let Operand::Inst(inst) = operand else { return None };
        match &self.body.insts[inst].op {
            Op::Binary { op, lhs, rhs, .. } => {
                let mut sum = self.binary(*op, *lhs, *rhs, depth)?;
                sum.assumes_no_wrap = true;
                Some(sum)
            }
            Op::Convert(conversion) => {
                let mut value = self.visit(conversion.value, depth);
                match conversion.kind {
                    ConversionKind::SignExtend | ConversionKind::Bits => {}
                    ConversionKind::ZeroExtend
                    | ConversionKind::SignChange
                    | ConversionKind::Truncate
                    | ConversionKind::PointerToInt
                    | ConversionKind::IntToPointer => value.assumes_no_wrap = true,
                    _ => return None,
                }
                Some(value)
            }
            Op::Address(address) => {
                let offset = Linear::constant(i128::from(address.offset));
                let mut sum = self.visit(address.base, depth).plus(&offset, 1)?;
                for term in &address.terms {
                    let index = self.visit(term.index, depth);
                    sum = sum.plus(&index, i128::from(term.stride))?;
                }
                Some(sum)
            }
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, lhs: Operand, rhs: Operand, depth: u32) -> Option<Linear> {
        let right = self.visit(rhs, depth);
        match op {
            BinaryOp::Add => self.visit(lhs, depth).plus(&right, 1),
            BinaryOp::Sub => self.visit(lhs, depth).plus(&right, -1),
            BinaryOp::Mul if right.is_constant() => self.visit(lhs, depth).times(right.constant),
            BinaryOp::Mul => {
                let left = self.visit(lhs, depth);
                if left.is_constant() { right.times(left.constant) } else { None }
            }
            BinaryOp::Shl if right.is_constant() && (0..63).contains(&right.constant) => {
                self.visit(lhs, depth).times(1 << right.constant)
            }
            _ => None,
        }
    }
}
