//! Every operation against exhaustive evaluation on small widths: a range must contain
//! each result its operands can produce.

use program::{BinaryOp, ConversionKind, Predicate};

use super::domain::{Domain, Wrap};
use super::interval::Interval;

const BITS: u32 = 4;

fn signed(pattern: u64, bits: u32) -> i64 {
    ((pattern << (64 - bits)) as i64) >> (64 - bits)
}

/// Ranges made of signed bounds, of unsigned bounds, and of both.
fn samples() -> Vec<Interval> {
    let mut all = vec![];
    for low in -8i128..8 {
        for high in (low..8).step_by(3) {
            all.push(Interval::signed(BITS, low, high));
        }
    }
    for low in 0i128..16 {
        for high in (low..16).step_by(4) {
            all.push(Interval::unsigned(BITS, low, high));
        }
    }
    all
}

fn members(range: &Interval, bits: u32) -> impl Iterator<Item = u64> + use<> {
    let range = *range;
    (0..1u64 << bits).filter(move |&pattern| has(&range, pattern, bits))
}

fn has(range: &Interval, pattern: u64, bits: u32) -> bool {
    range.contains_unsigned(pattern) && range.contains_signed(signed(pattern, bits))
}

/// The result as C's machine gives it; none where it is undefined.
fn run(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    let mask = (1u64 << BITS) - 1;
    let (sa, sb) = (signed(a, BITS), signed(b, BITS));
    let result = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::UnsignedDiv => a.checked_div(b)?,
        BinaryOp::UnsignedRem => a.checked_rem(b)?,
        BinaryOp::SignedDiv => sa.checked_div(sb)? as u64,
        BinaryOp::SignedRem => sa.checked_rem(sb)? as u64,
        BinaryOp::Shl => (b < u64::from(BITS)).then(|| a << b)?,
        BinaryOp::LogicalShr => (b < u64::from(BITS)).then(|| a >> b)?,
        BinaryOp::ArithmeticShr => (b < u64::from(BITS)).then(|| (sa >> b) as u64)?,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        _ => return None,
    };
    Some(result & mask)
}

const OPS: [BinaryOp; 13] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::UnsignedDiv,
    BinaryOp::SignedDiv,
    BinaryOp::UnsignedRem,
    BinaryOp::SignedRem,
    BinaryOp::Shl,
    BinaryOp::LogicalShr,
    BinaryOp::ArithmeticShr,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
];

#[test]
fn arithmetic_contains_every_result() {
    let samples = samples();
    for op in OPS {
        for x in &samples {
            for y in &samples {
                let range = Interval::binary(op, BITS, Wrap::default(), x, y);
                for a in members(x, BITS) {
                    for b in members(y, BITS) {
                        if let Some(result) = run(op, a, b) {
                            assert!(has(&range, result, BITS), "{op:?} {x:?} {y:?}: {a} {b}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn promises_not_to_wrap_lose_only_results_that_wrap() {
    let samples = samples();
    let wrap = Wrap { no_signed: true, no_unsigned: false };
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul] {
        for x in &samples {
            for y in &samples {
                let range = Interval::binary(op, BITS, wrap, x, y);
                for a in members(x, BITS) {
                    for b in members(y, BITS) {
                        let (sa, sb) = (signed(a, BITS), signed(b, BITS));
                        let exact = match op {
                            BinaryOp::Add => sa + sb,
                            BinaryOp::Sub => sa - sb,
                            _ => sa * sb,
                        };
                        if (-8..8).contains(&exact) {
                            assert!(has(&range, exact as u64 & 15, BITS), "{op:?} {sa} {sb}");
                        }
                    }
                }
            }
        }
    }
}

const PREDICATES: [Predicate; 10] = [
    Predicate::Eq,
    Predicate::Ne,
    Predicate::SignedLt,
    Predicate::SignedLe,
    Predicate::SignedGt,
    Predicate::SignedGe,
    Predicate::UnsignedLt,
    Predicate::UnsignedLe,
    Predicate::UnsignedGt,
    Predicate::UnsignedGe,
];

fn holds(predicate: Predicate, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(a, BITS), signed(b, BITS));
    match predicate {
        Predicate::Eq => a == b,
        Predicate::Ne => a != b,
        Predicate::SignedLt => sa < sb,
        Predicate::SignedLe => sa <= sb,
        Predicate::SignedGt => sa > sb,
        Predicate::SignedGe => sa >= sb,
        Predicate::UnsignedLt => a < b,
        Predicate::UnsignedLe => a <= b,
        Predicate::UnsignedGt => a > b,
        _ => a >= b,
    }
}

#[test]
fn comparisons_and_assumptions_agree_with_every_pair() {
    let samples = samples();
    for predicate in PREDICATES {
        for x in &samples {
            for y in &samples {
                let decided = Interval::compare(predicate, x, y);
                let assumed = x.assume(predicate, y, BITS);
                for a in members(x, BITS) {
                    for b in members(y, BITS) {
                        let truth = holds(predicate, a, b);
                        assert!(decided.is_none_or(|d| d == truth), "{predicate:?} {x:?} {y:?}");
                        assert!(!truth || has(&assumed, a, BITS), "{predicate:?} {x:?} {y:?} {a}");
                    }
                }
            }
        }
    }
}

#[test]
fn conversions_joins_and_widening_keep_members() {
    let samples = samples();
    for x in &samples {
        for a in members(x, BITS) {
            let wider = x.convert(ConversionKind::SignExtend, BITS, 8);
            assert!(has(&wider, signed(a, BITS) as u64 & 255, 8));
            assert!(has(&x.convert(ConversionKind::ZeroExtend, BITS, 8), a, 8));
            assert!(has(&x.convert(ConversionKind::Truncate, BITS, 2), a & 3, 2), "{x:?} {a}");
            for y in &samples {
                assert!(has(&x.join(y), a, BITS) && has(&y.widen(x, BITS, &[-3, 0, 5]), a, BITS));
                assert_eq!(has(&x.meet(y, BITS), a, BITS), has(y, a, BITS), "{x:?} {y:?} {a}");
            }
        }
    }
}

#[test]
fn widening_ends() {
    let mut range = Interval::constant(32, 0);
    let mut n_changes = 0;
    for step in 1..1000 {
        let wide = range.widen(&Interval::constant(32, step), 32, &[10, 64]);
        n_changes += usize::from(wide != range);
        range = wide;
    }
    assert_eq!(n_changes, 3, "to 10, to 64, to the end");
    assert_eq!((range.signed_min, range.signed_max), (0, i64::from(i32::MAX)));
}
