//! What a statement computed in runs of a program, and which other values would have made a
//! failing run pass. Handed from what runs programs to what learns from them; no part of a
//! report.

use std::cmp::Ordering;

/// A value of the program under test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// Nothing where one is not a number.
    pub fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(&b)),
            (a, b) => a.as_float().partial_cmp(&b.as_float()),
        }
    }

    fn as_float(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Float(number) => number,
        }
    }
}

/// The values of one execution: what is defined first, then what is used. A replacement says
/// nothing of values it leaves alone.
pub type ValueSet = Vec<Option<Number>>;

/// A replacement that made a failing test pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Ivmp {
    pub original: ValueSet,
    pub alternate: ValueSet,
}

/// Everything known of one place in a statement where a value takes effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteValues {
    /// Whether what it defines is the outcome of a branch.
    pub is_branch: bool,
    pub ivmps: Vec<Ivmp>,
    /// Distinct sets of values in failing runs.
    pub failing: Vec<ValueSet>,
    /// Distinct sets of values in passing runs.
    pub passing: Vec<ValueSet>,
}
