//! What operators do to bits.

use program::{BinaryOp, FloatPredicate, Predicate, Ty};

use crate::value::{Bits, mask, signed};
use crate::{FaultKind, Stop, float};

pub fn width(ty: Ty) -> Result<u32, Stop> {
    match ty {
        Ty::Int(bits) | Ty::Float(bits) if bits <= 128 => Ok(bits),
        Ty::Ptr => Ok(64),
        Ty::Vector(bytes) if bytes <= 16 => Ok(bytes as u32 * 8),
        _ => Err(Stop::Unsupported(format!("a value of type {ty:?}"))),
    }
}

/// A binary operator on operands of type `ty`.
pub fn binary(
    op: BinaryOp,
    ty: Ty,
    (left, right): (Bits, Bits),
    no_signed_wrap: bool,
) -> Result<Bits, Stop> {
    let width = width(ty)?;
    match (op, ty) {
        (BinaryOp::And, _) => return Ok(and(left, right)),
        (BinaryOp::Or, _) => return Ok(or(left, right)),
        (BinaryOp::Xor, _) => {
            let unset = left.unset | right.unset;
            return Ok(Bits { bits: (left.bits ^ right.bits) & !unset, unset, word: None });
        }
        (BinaryOp::Shl | BinaryOp::LogicalShr | BinaryOp::ArithmeticShr, _) => {
            return shift(op, width, left, right, no_signed_wrap);
        }
        (_, Ty::Vector(_)) => return Err(Stop::Unsupported("arithmetic on vectors".into())),
        _ => {}
    }
    if !left.is_known() || !right.is_known() {
        return Ok(Bits::unset(width));
    }
    if let Ty::Float(_) = ty {
        let numbers = float::decode(left.bits, width).zip(float::decode(right.bits, width));
        let result = numbers.and_then(|(left, right)| float::arithmetic(op, left, right));
        let bits = result.and_then(|result| float::encode(result, width));
        return bits.map(Bits::known).ok_or_else(|| Stop::Unsupported(format!("{op:?} on {ty:?}")));
    }
    integer(op, width, left.bits, right.bits, no_signed_wrap).map(Bits::known)
}

fn and(left: Bits, right: Bits) -> Bits {
    // A zero on either side decides.
    let zero = |side: Bits| !side.bits & !side.unset;
    let unset = (left.unset | right.unset) & !zero(left) & !zero(right);
    Bits { bits: left.bits & right.bits, unset, word: None }
}

fn or(left: Bits, right: Bits) -> Bits {
    let unset = (left.unset | right.unset) & !left.bits & !right.bits;
    Bits { bits: left.bits | right.bits, unset, word: None }
}

fn shift(
    op: BinaryOp,
    width: u32,
    left: Bits,
    right: Bits,
    no_signed_wrap: bool,
) -> Result<Bits, Stop> {
    if !right.is_known() {
        return Ok(Bits::unset(width));
    }
    let by = u32::try_from(right.bits).ok().filter(|by| *by < width);
    let by = by.ok_or(Stop::Fault(FaultKind::Shift))?;
    let result = match op {
        BinaryOp::Shl => left.shifted_left(by, width),
        BinaryOp::LogicalShr => left.shifted_right(by),
        _ => left.sign_extended(width, 128).shifted_right_signed(by).low(width),
    };
    if no_signed_wrap && signed(result.bits, width) >> by != signed(left.bits, width) {
        return Err(Stop::Fault(FaultKind::SignedOverflow));
    }
    Ok(result)
}

impl Bits {
    fn shifted_right_signed(self, by: u32) -> Self {
        let shift = |bits: u128| ((bits as i128) >> by) as u128;
        Self { bits: shift(self.bits), unset: shift(self.unset), word: None }
    }
}

fn integer(
    op: BinaryOp,
    width: u32,
    left: u128,
    right: u128,
    no_signed_wrap: bool,
) -> Result<u128, Stop> {
    let (a, b) = (signed(left, width), signed(right, width));
    let divides = matches!(
        op,
        BinaryOp::UnsignedDiv | BinaryOp::SignedDiv | BinaryOp::UnsignedRem | BinaryOp::SignedRem
    );
    if divides && right == 0 {
        return Err(Stop::Fault(FaultKind::DivideByZero));
    }
    let (wrapped, exact) = match op {
        BinaryOp::Add => (left.wrapping_add(right), a.checked_add(b)),
        BinaryOp::Sub => (left.wrapping_sub(right), a.checked_sub(b)),
        BinaryOp::Mul => (left.wrapping_mul(right), a.checked_mul(b)),
        BinaryOp::UnsignedDiv => (left / right, Some(0)),
        BinaryOp::UnsignedRem => (left % right, Some(0)),
        BinaryOp::SignedDiv => (a.wrapping_div(b) as u128, a.checked_div(b)),
        // The remainder is undefined where the quotient overflows.
        BinaryOp::SignedRem => (a.wrapping_rem(b) as u128, a.checked_div(b)),
        _ => return Err(Stop::Unsupported(format!("{op:?} on integers"))),
    };
    let may_not_overflow =
        no_signed_wrap || matches!(op, BinaryOp::SignedDiv | BinaryOp::SignedRem);
    let fits = exact.is_some_and(|exact| signed(exact as u128 & mask(width), width) == exact);
    if may_not_overflow && !fits {
        return Err(Stop::Fault(FaultKind::SignedOverflow));
    }
    Ok(wrapped & mask(width))
}

/// A comparison of operands of type `ty`; one bit.
pub fn compare(predicate: Predicate, ty: Ty, left: Bits, right: Bits) -> Result<Bits, Stop> {
    if !left.is_known() || !right.is_known() {
        return Ok(Bits::unset(1));
    }
    let width = width(ty)?;
    let (a, b) = (signed(left.bits, width), signed(right.bits, width));
    let holds = match predicate {
        Predicate::Eq => left.bits == right.bits,
        Predicate::Ne => left.bits != right.bits,
        Predicate::SignedLt => a < b,
        Predicate::SignedLe => a <= b,
        Predicate::SignedGt => a > b,
        Predicate::SignedGe => a >= b,
        Predicate::UnsignedLt => left.bits < right.bits,
        Predicate::UnsignedLe => left.bits <= right.bits,
        Predicate::UnsignedGt => left.bits > right.bits,
        Predicate::UnsignedGe => left.bits >= right.bits,
        Predicate::FloatOrdered(kind) | Predicate::FloatUnordered(kind) => {
            let number = |side: Bits| float::decode(side.bits, width);
            let numbers = number(left).zip(number(right));
            let (a, b) = numbers.ok_or_else(|| Stop::Unsupported(format!("a number {ty:?}")))?;
            match (a.is_nan() || b.is_nan(), predicate) {
                (true, Predicate::FloatOrdered(kind)) => kind == FloatPredicate::Always,
                (true, _) => true,
                // "Unordered" alone holds for no two numbers.
                (false, Predicate::FloatUnordered(FloatPredicate::NumbersOnly)) => false,
                (false, _) => float::compare(kind, a, b),
            }
        }
    };
    Ok(Bits::known(u128::from(holds)))
}
