//! Octagons: conjunctions of `±x ±y <= c` over a few integer variables [Miné 2001].
//!
//! Intervals say `0 <= i` and `n <= 10`, octagons also `i <= n - 1`, which is what proofs of
//! array bounds need. [`proofs`] runs them forwards and backwards over a function.

mod matrix;
pub mod proofs;

pub use matrix::Octagon;
pub use proofs::{Edge, Proofs, Property, Side};

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

#[cfg(test)]
mod tests;
