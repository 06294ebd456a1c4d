//! Terms, constraints and their decision.
//!
//! Terms are hash-consed linear combinations over mathematical integers, with wrap-around
//! written out ([`Leaf::Wrap`]); formulas are comparisons with zero in negation normal form.
//! An [`Arena`] belongs to one query or thread. The [`Solver`] decides conjunctions with our
//! own procedure and asks z3 for the rest; answers depend on the input alone, never on time.

mod arena;
mod decide;
mod display;
mod evidence;
mod formula;
mod interval;
mod linear;
mod model;
mod prover;
mod substitute;
mod term;
pub mod words;
mod z3_prover;

pub use arena::Arena;
pub use decide::{Outcome, Reason, decide};
pub use evidence::Evidence;
pub use formula::{Comparison, Formula, Relation};
pub use interval::Interval;
pub use linear::Linear;
pub use model::Model;
pub use prover::{Counters, Limits, Prover, Solver, Theory};
pub use term::{FormulaId, Leaf, LeafId, Rounding, SymbolId, TermId, Terms};
pub use z3_prover::Z3Prover;
