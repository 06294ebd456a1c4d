//! The linear normal form of a term: a constant plus leaves with coefficients.

use smallvec::SmallVec;

use crate::LeafId;

/// `constant + sum(coefficient * leaf)`, leaves ascending, no coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    pub constant: i128,
    pub terms: SmallVec<[(LeafId, i128); 2]>,
}

/// A coefficient or constant left the range of `i128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

impl Linear {
    pub fn constant(constant: i128) -> Self {
        Self { constant, terms: SmallVec::new() }
    }

    pub fn leaf(leaf: LeafId) -> Self {
        Self { constant: 0, terms: SmallVec::from_slice(&[(leaf, 1)]) }
    }

    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The leaf this is, where it is nothing but that leaf.
    pub fn as_leaf(&self) -> Option<LeafId> {
        match self.terms.as_slice() {
            [(leaf, 1)] if self.constant == 0 => Some(*leaf),
            _ => None,
        }
    }

    /// `self + factor * other`.
    pub fn add_scaled(&self, factor: i128, other: &Linear) -> Result<Linear, Overflow> {
        let scaled = factor.checked_mul(other.constant).ok_or(Overflow)?;
        let constant = self.constant.checked_add(scaled).ok_or(Overflow)?;
        let terms = add_scaled_terms(&self.terms, factor, &other.terms)?;
        Ok(Linear { constant, terms })
    }

    pub fn scale(&self, factor: i128) -> Result<Linear, Overflow> {
        Linear::default().add_scaled(factor, self)
    }

    /// The greatest common divisor of the coefficients; 0 for a constant.
    pub fn content(&self) -> i128 {
        self.terms.iter().fold(0, |g, (_, c)| gcd(g, *c))
    }
}

/// `a + factor * b` of two ascending coefficient lists.
pub(crate) fn add_scaled_terms<V: Copy + Ord, const N: usize>(
    a: &[(V, i128)],
    factor: i128,
    b: &[(V, i128)],
) -> Result<SmallVec<[(V, i128); N]>, Overflow>
where
    [(V, i128); N]: smallvec::Array<Item = (V, i128)>,
{
    // Short sums often come out shorter still, and then need no memory of their own.
    let n_most = a.len() + b.len();
    let mut sum = SmallVec::with_capacity(if n_most > 2 * N { n_most } else { 0 });
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let from_a = j >= b.len() || (i < a.len() && a[i].0 <= b[j].0);
        let from_b = i >= a.len() || (j < b.len() && b[j].0 <= a[i].0);
        let variable = if from_a { a[i].0 } else { b[j].0 };
        let mut coefficient = 0i128;
        if from_a {
            coefficient = a[i].1;
            i += 1;
        }
        if from_b {
            let scaled = factor.checked_mul(b[j].1).ok_or(Overflow)?;
            coefficient = coefficient.checked_add(scaled).ok_or(Overflow)?;
            j += 1;
        }
        if coefficient != 0 {
            sum.push((variable, coefficient));
        }
    }
    Ok(sum)
}

/// The non-negative greatest common divisor.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    if a == 1 || b == 1 {
        return 1;
    }
    while b != 0 {
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            (Ok(a), Ok(b)) => (u128::from(b), u128::from(a % b)),
            _ => (b, a % b),
        };
    }
    i128::try_from(a).unwrap_or(1)
}

/// Division rounding towards minus infinity; `divisor` is positive.
pub(crate) fn floor_div(dividend: i128, divisor: i128) -> i128 {
    div_rem_floor(dividend, divisor).0
}

/// Division rounding towards plus infinity; `divisor` is positive.
pub(crate) fn ceil_div(dividend: i128, divisor: i128) -> i128 {
    let (quotient, rest) = div_rem_floor(dividend, divisor);
    quotient + i128::from(rest != 0)
}

/// Quotient and rest. Most divisors are one and most numbers small, and dividing 128 bits is
/// slow.
fn div_rem_floor(dividend: i128, divisor: i128) -> (i128, i128) {
    if divisor == 1 {
        return (dividend, 0);
    }
    match (i64::try_from(dividend), i64::try_from(divisor)) {
        (Ok(a), Ok(b)) => (a.div_euclid(b).into(), a.rem_euclid(b).into()),
        _ => (dividend.div_euclid(divisor), dividend.rem_euclid(divisor)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_cancels_and_keeps_the_order() {
        let x = Linear::leaf(LeafId(0));
        let y = Linear::leaf(LeafId(1));
        let sum = y.add_scaled(3, &x).unwrap();
        assert_eq!(sum.terms.as_slice(), &[(LeafId(0), 3), (LeafId(1), 1)]);
        assert_eq!(sum.add_scaled(-1, &y).unwrap().terms.as_slice(), &[(LeafId(0), 3)]);
        assert_eq!(
            Linear::constant(i128::MAX).add_scaled(2, &sum),
            Ok(Linear {
                constant: i128::MAX,
                terms: SmallVec::from_slice(&[(LeafId(0), 6), (LeafId(1), 2)]),
            })
        );
        assert_eq!(Linear::constant(i128::MAX).scale(2), Err(Overflow));
    }

    #[test]
    fn rounding_is_towards_the_infinities() {
        assert_eq!((floor_div(-7, 2), ceil_div(-7, 2), ceil_div(7, 2)), (-4, -3, 4));
    }
}
