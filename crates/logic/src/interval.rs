//! Ranges of integers, open on either side, used to fold atoms and to bound leaves.

/// All integers from `low` to `high`; `None` is no bound. Where `low > high` it is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    pub low: Option<i128>,
    pub high: Option<i128>,
}

impl Interval {
    pub const ALL: Interval = Interval { low: None, high: None };

    pub fn new(low: i128, high: i128) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    pub fn exactly(value: i128) -> Self {
        Self::new(value, value)
    }

    pub fn at_least(low: i128) -> Self {
        Self { low: Some(low), high: None }
    }

    /// What an integer of this width and sign can hold; everything where that exceeds `i128`.
    pub fn of_width(bits: u32, signed: bool) -> Self {
        match (bits, signed) {
            (0, _) => Self::exactly(0),
            (1..=126, true) => Self::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (1..=126, false) => Self::new(0, (1 << bits) - 1),
            (_, true) => Self::ALL,
            (_, false) => Self::at_least(0),
        }
    }

    pub fn is_empty(self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > high)
    }

    /// The only value, where there is exactly one.
    pub fn fixed(self) -> Option<i128> {
        self.low.filter(|low| self.high == Some(*low))
    }

    pub fn contains(self, value: i128) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }

    pub fn is_within(self, outer: Interval) -> bool {
        outer.low.is_none_or(|bound| self.low.is_some_and(|low| bound <= low))
            && outer.high.is_none_or(|bound| self.high.is_some_and(|high| high <= bound))
    }

    pub fn meet(self, other: Interval) -> Self {
        Self { low: max_known(self.low, other.low), high: min_known(self.high, other.high) }
    }

    pub fn join(self, other: Interval) -> Self {
        Self {
            low: self.low.zip(other.low).map(|(a, b)| a.min(b)),
            high: self.high.zip(other.high).map(|(a, b)| a.max(b)),
        }
    }

    pub fn plus(self, other: Interval) -> Self {
        let sum = |a: Option<i128>, b: Option<i128>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
        Self { low: sum(self.low, other.low), high: sum(self.high, other.high) }
    }

    pub fn scale(self, factor: i128) -> Self {
        let times = |bound: Option<i128>| bound.and_then(|bound| bound.checked_mul(factor));
        match factor {
            0 => Self::exactly(0),
            1.. => Self { low: times(self.low), high: times(self.high) },
            _ => Self { low: times(self.high), high: times(self.low) },
        }
    }

    pub fn times(self, other: Interval) -> Self {
        let corners = [
            (self.low, other.low),
            (self.low, other.high),
            (self.high, other.low),
            (self.high, other.high),
        ];
        let mut values = Vec::with_capacity(4);
        for corner in corners {
            match corner {
                (Some(a), Some(b)) => match a.checked_mul(b) {
                    Some(product) => values.push(product),
                    None => return Self::ALL,
                },
                _ => return self.mul_half_open(other),
            }
        }
        Self { low: values.iter().min().copied(), high: values.iter().max().copied() }
    }

    /// The product where a bound is missing: only the sign is kept.
    fn mul_half_open(self, other: Interval) -> Self {
        let at_least_one = |i: Interval| i.low.is_some_and(|low| low >= 0);
        match (at_least_one(self), at_least_one(other)) {
            (true, true) => Self {
                low: self.low.zip(other.low).and_then(|(a, b)| a.checked_mul(b)),
                high: None,
            },
            _ => Self::ALL,
        }
    }

    /// The member nearest to zero, or zero where there is none.
    pub fn nearest_to_zero(self) -> i128 {
        match (self.low, self.high) {
            (Some(low), _) if low > 0 => low,
            (_, Some(high)) if high < 0 => high,
            _ => 0,
        }
    }
}

fn max_known(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a.zip(b).map(|(a, b)| a.max(b)).or(a).or(b)
}

fn min_known(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a.zip(b).map(|(a, b)| a.min(b)).or(a).or(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_hold_their_extremes() {
        assert_eq!(Interval::of_width(8, true), Interval::new(-128, 127));
        assert_eq!(Interval::of_width(8, false), Interval::new(0, 255));
        assert_eq!(Interval::of_width(64, false).high, Some((1 << 64) - 1));
    }

    #[test]
    fn products_of_mixed_signs_take_the_extreme_corners() {
        assert_eq!(Interval::new(-3, 2).times(Interval::new(-5, 7)), Interval::new(-21, 15));
        let positive = Interval::at_least(2).times(Interval::at_least(3));
        assert_eq!(positive, Interval::at_least(6));
    }
}
