//! What an abstract domain must offer to be run over a function.
//!
//! The solver knows control flow, refinement by branches, widening and calls; a domain
//! knows values. Intervals are the one in use; others (congruences, symbolic bounds, the
//! projections of a relational domain) fit the same trait.

use program::{BinaryOp, ConversionKind, Predicate};

/// Sets of bit patterns of a given width, from 1 to 64 bits.
pub trait Domain: Clone + PartialEq + std::fmt::Debug + Send + Sync {
    /// No value: the point is never reached.
    fn bottom() -> Self;
    /// Every value.
    fn top(bits: u32) -> Self;
    /// One value, given sign-extended.
    fn constant(bits: u32, value: i128) -> Self;
    fn is_bottom(&self) -> bool;
    fn join(&self, other: &Self) -> Self;
    fn meet(&self, other: &Self, bits: u32) -> Self;
    /// At least `next`, and such that chains of widenings end. Bounds settle on one of the
    /// sorted `landmarks` where one lies beyond.
    fn widen(&self, next: &Self, bits: u32, landmarks: &[i64]) -> Self;
    fn binary(op: BinaryOp, bits: u32, wrap: Wrap, lhs: &Self, rhs: &Self) -> Self;
    /// `None` where the conversion's result is not an integer of up to 64 bits.
    fn convert(&self, kind: ConversionKind, from_bits: u32, to_bits: u32) -> Self;
    /// Whether a comparison is always true or always false.
    fn compare(predicate: Predicate, lhs: &Self, rhs: &Self) -> Option<bool>;
    /// The values of `self` for which the comparison with some value of `rhs` can hold.
    fn assume(&self, predicate: Predicate, rhs: &Self, bits: u32) -> Self;
}

/// What the source promises about an operation not wrapping around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Wrap {
    pub no_signed: bool,
    pub no_unsigned: bool,
}
