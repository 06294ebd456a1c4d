//! Arithmetic and comparison of intervals. Sums are formed in 128 bits, so nothing here
//! can overflow; what does not fit the width wraps and loses its bounds.

use program::{BinaryOp, Predicate};

use super::domain::{Domain, Wrap};
use super::interval::Interval;

pub(super) fn binary(
    op: BinaryOp,
    bits: u32,
    wrap: Wrap,
    lhs: &Interval,
    rhs: &Interval,
) -> Interval {
    match op {
        BinaryOp::Add => both_views(bits, wrap, lhs, rhs, |a, b| a + b),
        BinaryOp::Sub => both_views(bits, wrap, lhs, rhs, |a, b| a - b),
        BinaryOp::Mul => both_views(bits, wrap, lhs, rhs, |a, b| a.saturating_mul(b)),
        BinaryOp::UnsignedDiv => unsigned_div(bits, lhs, rhs),
        BinaryOp::UnsignedRem => unsigned_rem(bits, lhs, rhs),
        BinaryOp::SignedDiv => signed_div(bits, lhs, rhs),
        BinaryOp::SignedRem => signed_rem(bits, lhs, rhs),
        BinaryOp::Shl => shift_left(bits, wrap, lhs, rhs),
        BinaryOp::LogicalShr | BinaryOp::ArithmeticShr => shift_right(op, bits, lhs, rhs),
        BinaryOp::And => and(bits, lhs, rhs),
        BinaryOp::Or | BinaryOp::Xor => or(op, bits, lhs, rhs),
        BinaryOp::FloatAdd
        | BinaryOp::FloatSub
        | BinaryOp::FloatMul
        | BinaryOp::FloatDiv
        | BinaryOp::FloatRem => Interval::all(bits),
    }
}

fn signed_view(range: &Interval) -> (i128, i128) {
    (range.signed_min.into(), range.signed_max.into())
}

fn unsigned_view(range: &Interval) -> (i128, i128) {
    (range.unsigned_min.into(), range.unsigned_max.into())
}

/// Least and greatest value of an operation that is monotone in each operand.
fn corners(a: (i128, i128), b: (i128, i128), f: impl Fn(i128, i128) -> i128) -> (i128, i128) {
    let values = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
    let low = values.into_iter().min().unwrap_or(i128::MIN);
    let high = values.into_iter().max().unwrap_or(i128::MAX);
    (low, high)
}

/// Addition and the like mean the same bits in both views. Where the source promises not
/// to wrap, results beyond the width are believed to be the outermost ones.
fn both_views(
    bits: u32,
    wrap: Wrap,
    lhs: &Interval,
    rhs: &Interval,
    f: impl Fn(i128, i128) -> i128 + Copy,
) -> Interval {
    let top = Interval::all(bits);
    let (low, high) = corners(signed_view(lhs), signed_view(rhs), f);
    let limits = (i128::from(top.signed_min), i128::from(top.signed_max));
    if wrap.no_signed && (low < limits.0 || high > limits.1) {
        // The other view would not agree on what did not happen.
        return Interval::signed(
            bits,
            low.clamp(limits.0, limits.1),
            high.clamp(limits.0, limits.1),
        );
    }
    let by_sign = Interval::signed(bits, low, high);
    let (mut low, mut high) = corners(unsigned_view(lhs), unsigned_view(rhs), f);
    if wrap.no_unsigned {
        low = low.clamp(0, top.unsigned_max.into());
        high = high.clamp(0, top.unsigned_max.into());
    }
    by_sign.meet(&Interval::unsigned(bits, low, high), bits)
}

fn unsigned_div(bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    let (a, b) = (unsigned_view(lhs), unsigned_view(rhs));
    if b.1 == 0 {
        return Interval::all(bits);
    }
    Interval::unsigned(bits, a.0 / b.1, a.1 / b.0.max(1))
}

fn unsigned_rem(bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    let (a, b) = (unsigned_view(lhs), unsigned_view(rhs));
    if b.1 == 0 {
        return Interval::all(bits);
    }
    if a.1 < b.0 {
        return *lhs;
    }
    Interval::unsigned(bits, 0, a.1.min(b.1 - 1))
}

/// The divisor's negative and positive parts, zero left out.
fn divisors(rhs: &Interval) -> impl Iterator<Item = (i128, i128)> {
    let (low, high) = signed_view(rhs);
    let negative = (low < 0).then_some((low, high.min(-1)));
    let positive = (high > 0).then_some((low.max(1), high));
    negative.into_iter().chain(positive)
}

fn signed_div(bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    let a = signed_view(lhs);
    let quotients = divisors(rhs).map(|b| corners(a, b, |a, b| a / b));
    match quotients.reduce(|p, q| (p.0.min(q.0), p.1.max(q.1))) {
        // The least value divided by -1 traps or wraps: no bounds then.
        Some((low, high)) => Interval::signed(bits, low, high),
        None => Interval::all(bits),
    }
}

/// The remainder is nearer to zero than the divisor, and has the dividend's sign.
fn signed_rem(bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    let a = signed_view(lhs);
    let largest = divisors(rhs).map(|b| b.0.abs().max(b.1.abs())).max();
    let Some(largest) = largest else { return Interval::all(bits) };
    let low = if a.0 < 0 { a.0.max(1 - largest) } else { 0 };
    let high = if a.1 > 0 { a.1.min(largest - 1) } else { 0 };
    Interval::signed(bits, low, high)
}

fn shift_left(bits: u32, wrap: Wrap, lhs: &Interval, rhs: &Interval) -> Interval {
    if rhs.unsigned_max >= u64::from(bits) {
        return Interval::all(bits);
    }
    both_views(bits, wrap, lhs, rhs, |a, b| a.saturating_mul(1 << b.clamp(0, 63)))
}

fn shift_right(op: BinaryOp, bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    if rhs.unsigned_max >= u64::from(bits) {
        return Interval::all(bits);
    }
    let by = unsigned_view(rhs);
    if op == BinaryOp::ArithmeticShr {
        let (low, high) = corners(signed_view(lhs), by, |a, b| a >> b);
        Interval::signed(bits, low, high)
    } else {
        let (low, high) = corners(unsigned_view(lhs), by, |a, b| a >> b);
        Interval::unsigned(bits, low, high)
    }
}

fn and(bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    let (a, b) = (unsigned_view(lhs), unsigned_view(rhs));
    let by_bits = Interval::unsigned(bits, 0, a.1.min(b.1));
    if lhs.signed_max < 0 && rhs.signed_max < 0 {
        // The sign stays, and clearing bits of a negative number only lowers it.
        let top = Interval::all(bits);
        let high = lhs.signed_max.min(rhs.signed_max);
        return by_bits.meet(&Interval::signed(bits, top.signed_min.into(), high.into()), bits);
    }
    by_bits
}

fn or(op: BinaryOp, bits: u32, lhs: &Interval, rhs: &Interval) -> Interval {
    let (a, b) = (unsigned_view(lhs), unsigned_view(rhs));
    let reach = (a.1 | b.1) as u64;
    let all_ones = if reach == 0 { 0 } else { u64::MAX >> reach.leading_zeros() };
    let low = if op == BinaryOp::Or { a.0.max(b.0) } else { 0 };
    Interval::unsigned(bits, low, all_ones.into())
}

pub(super) fn compare(predicate: Predicate, lhs: &Interval, rhs: &Interval) -> Option<bool> {
    use Predicate as P;
    let decided = |holds: bool, fails: bool| match (holds, fails) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    match predicate {
        P::Eq | P::Ne => {
            let same = lhs.as_constant().is_some() && lhs.as_constant() == rhs.as_constant();
            let apart = lhs.signed_max < rhs.signed_min
                || rhs.signed_max < lhs.signed_min
                || lhs.unsigned_max < rhs.unsigned_min
                || rhs.unsigned_max < lhs.unsigned_min;
            if predicate == P::Eq { decided(same, apart) } else { decided(apart, same) }
        }
        P::SignedLt => decided(lhs.signed_max < rhs.signed_min, lhs.signed_min >= rhs.signed_max),
        P::SignedLe => decided(lhs.signed_max <= rhs.signed_min, lhs.signed_min > rhs.signed_max),
        P::UnsignedLt => {
            decided(lhs.unsigned_max < rhs.unsigned_min, lhs.unsigned_min >= rhs.unsigned_max)
        }
        P::UnsignedLe => {
            decided(lhs.unsigned_max <= rhs.unsigned_min, lhs.unsigned_min > rhs.unsigned_max)
        }
        P::SignedGt => compare(P::SignedLt, rhs, lhs),
        P::SignedGe => compare(P::SignedLe, rhs, lhs),
        P::UnsignedGt => compare(P::UnsignedLt, rhs, lhs),
        P::UnsignedGe => compare(P::UnsignedLe, rhs, lhs),
        P::FloatOrdered(_) | P::FloatUnordered(_) => None,
    }
}

pub(super) fn assume(
    range: &Interval,
    predicate: Predicate,
    rhs: &Interval,
    bits: u32,
) -> Interval {
    use Predicate as P;
    let mut cut = *range;
    match predicate {
        P::Eq => return range.meet(rhs, bits),
        P::Ne => {
            // Only a bound that is the excluded value can move.
            if let Some(value) = rhs.as_constant() {
                let top = Interval::all(bits);
                let pattern = value as u64 & top.unsigned_max;
                cut.signed_min = cut.signed_min.saturating_add((cut.signed_min == value).into());
                cut.signed_max = cut.signed_max.saturating_sub((cut.signed_max == value).into());
                if cut.unsigned_min == pattern {
                    cut.unsigned_min = cut.unsigned_min.saturating_add(1);
                }
                if cut.unsigned_max == pattern {
                    cut.unsigned_max = cut.unsigned_max.saturating_sub(1);
                }
                if range.as_constant() == Some(value) {
                    return Interval::EMPTY;
                }
            }
        }
        P::SignedLt => {
            let Some(below) = rhs.signed_max.checked_sub(1) else { return Interval::EMPTY };
            cut.signed_max = cut.signed_max.min(below);
        }
        P::SignedLe => cut.signed_max = cut.signed_max.min(rhs.signed_max),
        P::SignedGt => {
            let Some(above) = rhs.signed_min.checked_add(1) else { return Interval::EMPTY };
            cut.signed_min = cut.signed_min.max(above);
        }
        P::SignedGe => cut.signed_min = cut.signed_min.max(rhs.signed_min),
        P::UnsignedLt => {
            let Some(below) = rhs.unsigned_max.checked_sub(1) else { return Interval::EMPTY };
            cut.unsigned_max = cut.unsigned_max.min(below);
        }
        P::UnsignedLe => cut.unsigned_max = cut.unsigned_max.min(rhs.unsigned_max),
        P::UnsignedGt => {
            let Some(above) = rhs.unsigned_min.checked_add(1) else { return Interval::EMPTY };
            cut.unsigned_min = cut.unsigned_min.max(above);
        }
        P::UnsignedGe => cut.unsigned_min = cut.unsigned_min.max(rhs.unsigned_min),
        P::FloatOrdered(_) | P::FloatUnordered(_) => return cut,
    }
    cut.reduced(bits)
}
