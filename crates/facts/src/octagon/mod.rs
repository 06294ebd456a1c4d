//! Octagons: conjunctions of `±x ±y <= c` over a few integer variables [Miné 2001].
//!
//! Intervals say `0 <= i` and `n <= 10`, octagons also `i <= n - 1`, which is what proofs of
//! array bounds need. [`proofs`] runs them forwards and backwards over a function,
//! [`disjunctions`] forwards and several at once.

mod disjunctions;
mod matrix;
pub mod proofs;
mod transfer;

pub use disjunctions::Disjunctions;
pub use matrix::Octagon;
pub use proofs::Proofs;
pub use transfer::Edge;

use crate::checks::{Check, CheckKind};
use transfer::Transfer;

/// `x + constant`, or a constant alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Linear {
    pub variable: Option<usize>,
    pub constant: i64,
}

impl Linear {
    pub fn constant(constant: i64) -> Self {
        Self { variable: None, constant }
    }

    pub fn variable(variable: usize) -> Self {
        Self { variable: Some(variable), constant: 0 }
    }

    pub fn plus(self, constant: i64) -> Self {
        Self { constant: self.constant.saturating_add(constant), ..self }
    }
}

/// What violates a check: `a <= b` for each of these. `None` for what octagons say nothing of.
fn violated(transfer: &Transfer, check: &Check) -> Option<Vec<(Linear, Linear)>> {
    let zero = Linear::constant(0);
    match check.kind {
        CheckKind::Lower { index } => Some(vec![(transfer.linear(index)?.plus(1), zero)]),
        CheckKind::Upper { index, last } => {
            Some(vec![(Linear::constant(last).plus(1), transfer.linear(index)?)])
        }
        CheckKind::NotZero { divisor } => {
            let divisor = transfer.linear(divisor)?;
            Some(vec![(divisor, zero), (zero, divisor)])
        }
        CheckKind::Unreached => Some(Vec::new()),
        CheckKind::NotNull { .. } | CheckKind::Fits => None,
    }
}

/// Whether no point of a state violates a check.
fn holds_in(transfer: &Transfer, state: &Octagon, check: &Check) -> bool {
    let Some(violated) = violated(transfer, check) else { return false };
    let mut violating = state.clone();
    violated.into_iter().for_each(|(a, b)| violating.assume_le(a, b));
    violating.is_empty()
}

#[cfg(test)]
mod tests;
