//! Our own decision procedure: conjunctions of linear integer atoms with small case splits,
//! which is what nearly every check is. It never guesses: a `Sat` has passed the evaluator,
//! an `Unsat` follows from the rows, and everything else is an `Unknown` with its reason.

mod bounds;
mod core;
mod equality;
mod nonlinear;
mod problem;
mod project;
mod row;
mod search;
mod single;

use base::Budget;

use crate::linear::Overflow;
use crate::model::Model;
use crate::term::{FormulaId, Terms};

pub(crate) use project::{Projection, project};
pub(crate) use single::{MIN_STEPS, Single};

/// Why a check was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A product or quotient of two unknowns decides.
    NonLinear,
    /// A bit operation decides.
    Bits,
    /// A number left the range of 128 bits.
    Overflow,
    /// More steps than allowed.
    StepLimit,
    /// Rational but perhaps no integer solutions.
    Gap,
    /// The shape is outside what is decided with quantified unknowns.
    Quantified,
    /// z3's own words.
    Prover(String),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::NonLinear => write!(f, "a product or quotient of two unknown values"),
            Reason::Bits => write!(f, "a bit operation on unknown values"),
            Reason::Overflow => write!(f, "a number of more than 128 bits"),
            Reason::StepLimit => write!(f, "the step limit of the solver"),
            Reason::Gap => write!(f, "a gap between integers"),
            Reason::Quantified => write!(f, "unknown values under a quantifier"),
            Reason::Prover(why) => write!(f, "the prover gave up ({why})"),
        }
    }
}

impl From<Overflow> for Reason {
    fn from(_: Overflow) -> Self {
        Reason::Overflow
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Sat(Model),
    Unsat,
    Unknown(Reason),
}

impl Outcome {
    pub fn is_sat(&self) -> bool {
        matches!(self, Outcome::Sat(_))
    }

    pub fn is_unsat(&self) -> bool {
        matches!(self, Outcome::Unsat)
    }
}

/// Decides the conjunction of `formulas` within `steps`.
pub fn decide(terms: &Terms, formulas: &[FormulaId], steps: u64) -> Outcome {
    let mut search = search::Search { terms, formulas, budget: Budget::new(steps) };
    search.run().unwrap_or_else(Outcome::Unknown)
}
