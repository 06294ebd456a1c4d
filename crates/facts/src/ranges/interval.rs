//! Intervals with two views of the same bits: as a signed and as an unsigned number.
//!
//! Either view alone loses what C programs rely on (`unsigned` indices, `-1` results), and
//! each sharpens the other.

use program::{BinaryOp, ConversionKind, Predicate};

use super::arithmetic;
use super::domain::{Domain, Wrap};

/// A range of values of some width up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub signed_min: i64,
    pub signed_max: i64,
    pub unsigned_min: u64,
    pub unsigned_max: u64,
}

impl Interval {
    pub const EMPTY: Interval =
        Interval { signed_min: 1, signed_max: 0, unsigned_min: 1, unsigned_max: 0 };

    /// All values with a signed view in `low..=high`; everything where those do not fit.
    pub fn signed(bits: u32, low: i128, high: i128) -> Self {
        let top = Self::all(bits);
        if low > high {
            return Self::EMPTY;
        }
        if low < i128::from(top.signed_min) || high > i128::from(top.signed_max) {
            return top;
        }
        Self { signed_min: low as i64, signed_max: high as i64, ..top }.reduced(bits)
    }

    /// All values with an unsigned view in `low..=high`; everything where those do not fit.
    pub fn unsigned(bits: u32, low: i128, high: i128) -> Self {
        let top = Self::all(bits);
        if low > high {
            return Self::EMPTY;
        }
        if low < 0 || high > i128::from(top.unsigned_max) {
            return top;
        }
        Self { unsigned_min: low as u64, unsigned_max: high as u64, ..top }.reduced(bits)
    }

    pub fn all(bits: u32) -> Self {
        let bits = bits.clamp(1, 64);
        let unsigned_max = u64::MAX >> (64 - bits);
        let signed_max = (unsigned_max >> 1) as i64;
        Self { signed_min: -signed_max - 1, signed_max, unsigned_min: 0, unsigned_max }
    }

    /// The only value, as a signed number.
    pub fn as_constant(&self) -> Option<i64> {
        (self.signed_min == self.signed_max).then_some(self.signed_min)
    }

    pub fn contains_signed(&self, value: i64) -> bool {
        self.signed_min <= value && value <= self.signed_max
    }

    pub fn contains_unsigned(&self, value: u64) -> bool {
        self.unsigned_min <= value && value <= self.unsigned_max
    }

    /// Lets each view cut the other.
    pub(super) fn reduced(mut self, bits: u32) -> Self {
        let top = Self::all(bits);
        for _ in 0..2 {
            if self.signed_min > self.signed_max || self.unsigned_min > self.unsigned_max {
                return Self::EMPTY;
            }
            if self.signed_min >= 0 || self.signed_max < 0 {
                let low = self.signed_min as u64 & top.unsigned_max;
                let high = self.signed_max as u64 & top.unsigned_max;
                self.unsigned_min = self.unsigned_min.max(low);
                self.unsigned_max = self.unsigned_max.min(high);
            }
            let half = top.signed_max as u64;
            if self.unsigned_max <= half || self.unsigned_min > half {
                let sign = if self.unsigned_min > half { !top.unsigned_max } else { 0 };
                self.signed_min = self.signed_min.max((self.unsigned_min | sign) as i64);
                self.signed_max = self.signed_max.min((self.unsigned_max | sign) as i64);
            }
        }
        if self.signed_min > self.signed_max || self.unsigned_min > self.unsigned_max {
            return Self::EMPTY;
        }
        self
    }
}

impl Domain for Interval {
    fn bottom() -> Self {
        Self::EMPTY
    }

    fn top(bits: u32) -> Self {
        Self::all(bits)
    }

    fn constant(bits: u32, value: i128) -> Self {
        let top = Self::all(bits);
        let pattern = value as u64 & top.unsigned_max;
        let is_negative = pattern > top.signed_max as u64;
        let signed = (pattern | if is_negative { !top.unsigned_max } else { 0 }) as i64;
        Self {
            signed_min: signed,
            signed_max: signed,
            unsigned_min: pattern,
            unsigned_max: pattern,
        }
    }

    fn is_bottom(&self) -> bool {
        self.signed_min > self.signed_max
    }

    fn join(&self, other: &Self) -> Self {
        if self.is_bottom() {
            return *other;
        }
        if other.is_bottom() {
            return *self;
        }
        Self {
            signed_min: self.signed_min.min(other.signed_min),
            signed_max: self.signed_max.max(other.signed_max),
            unsigned_min: self.unsigned_min.min(other.unsigned_min),
            unsigned_max: self.unsigned_max.max(other.unsigned_max),
        }
    }

    fn meet(&self, other: &Self, bits: u32) -> Self {
        if self.is_bottom() || other.is_bottom() {
            return Self::EMPTY;
        }
        Self {
            signed_min: self.signed_min.max(other.signed_min),
            signed_max: self.signed_max.min(other.signed_max),
            unsigned_min: self.unsigned_min.max(other.unsigned_min),
            unsigned_max: self.unsigned_max.min(other.unsigned_max),
        }
        .reduced(bits)
    }

    fn widen(&self, next: &Self, bits: u32, landmarks: &[i64]) -> Self {
        if self.is_bottom() {
            return *next;
        }
        let top = Self::all(bits);
        let joined = self.join(next);
        let below = |bound: i64| {
            let at = landmarks.partition_point(|&mark| mark <= bound);
            landmarks[..at].last().copied().filter(|&mark| mark >= top.signed_min)
        };
        let above = |bound: i64| {
            let at = landmarks.partition_point(|&mark| mark < bound);
            landmarks.get(at).copied().filter(|&mark| mark <= top.signed_max)
        };
        let mut wide = joined;
        if joined.signed_min < self.signed_min {
            wide.signed_min = below(joined.signed_min).unwrap_or(top.signed_min);
        }
        if joined.signed_max > self.signed_max {
            wide.signed_max = above(joined.signed_max).unwrap_or(top.signed_max);
        }
        if joined.unsigned_min < self.unsigned_min {
            wide.unsigned_min = 0;
        }
        if joined.unsigned_max > self.unsigned_max {
            let bound = i64::try_from(joined.unsigned_max).ok().and_then(above);
            wide.unsigned_max =
                bound.and_then(|mark| u64::try_from(mark).ok()).unwrap_or(top.unsigned_max);
        }
        // No reduction: it could undo the widening and keep the chain going.
        wide
    }

    fn binary(op: BinaryOp, bits: u32, wrap: Wrap, lhs: &Self, rhs: &Self) -> Self {
        if lhs.is_bottom() || rhs.is_bottom() {
            return Self::EMPTY;
        }
        arithmetic::binary(op, bits, wrap, lhs, rhs)
    }

    fn convert(&self, kind: ConversionKind, from_bits: u32, to_bits: u32) -> Self {
        if self.is_bottom() {
            return Self::EMPTY;
        }
        match kind {
            ConversionKind::SignExtend => {
                Self::signed(to_bits, self.signed_min.into(), self.signed_max.into())
            }
            ConversionKind::ZeroExtend => {
                Self::unsigned(to_bits, self.unsigned_min.into(), self.unsigned_max.into())
            }
            ConversionKind::Truncate => {
                let by_sign = Self::signed(to_bits, self.signed_min.into(), self.signed_max.into());
                let by_bits =
                    Self::unsigned(to_bits, self.unsigned_min.into(), self.unsigned_max.into());
                by_sign.meet(&by_bits, to_bits)
            }
            ConversionKind::SignChange
            | ConversionKind::PointerToInt
            | ConversionKind::IntToPointer
            | ConversionKind::Bits
                if from_bits == to_bits =>
            {
                *self
            }
            ConversionKind::PointerToInt | ConversionKind::IntToPointer => {
                if to_bits < from_bits {
                    self.convert(ConversionKind::Truncate, from_bits, to_bits)
                } else {
                    self.convert(ConversionKind::ZeroExtend, from_bits, to_bits)
                }
            }
            _ => Self::all(to_bits),
        }
    }

    fn compare(predicate: Predicate, lhs: &Self, rhs: &Self) -> Option<bool> {
        if lhs.is_bottom() || rhs.is_bottom() {
            return None;
        }
        arithmetic::compare(predicate, lhs, rhs)
    }

    fn assume(&self, predicate: Predicate, rhs: &Self, bits: u32) -> Self {
        if self.is_bottom() || rhs.is_bottom() {
            return Self::EMPTY;
        }
        arithmetic::assume(self, predicate, rhs, bits)
    }
}
