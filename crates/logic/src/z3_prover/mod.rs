//! z3 behind the [`Prover`] trait: one solver per thread, resource limits, never time.
//!
//! The high-level crate keeps one z3 context per thread, so a `Z3Prover` must stay on the
//! thread that made it; it is not `Send`, which the compiler checks.

mod bits;
mod ints;

use std::collections::BTreeMap;

use z3::ast::Int;
use z3::{Params, SatResult};

use crate::decide::{Outcome, Reason};
use crate::interval::Interval;
use crate::model::Model;
use crate::prover::{Prover, Theory};
use crate::term::{FormulaId, SymbolId, Terms};

/// Runs `work` with a z3 of its own, so that what it proves within its limits does not depend
/// on what the thread proved before.
pub fn with_fresh_z3<R: Send + Sync>(work: impl FnOnce() -> R + Send + Sync) -> R {
    z3::with_z3_config(&z3::Config::new(), work)
}

pub struct Z3Prover {
    solver: z3::Solver,
    frames: Vec<Frame>,
}

/// What one push added.
struct Frame {
    formulas: Vec<FormulaId>,
    /// Integers whose values make the model, by symbol.
    symbols: BTreeMap<SymbolId, Int>,
    /// Set where the formulas could not be said in the theory asked for.
    unsupported: Option<Reason>,
}

impl Z3Prover {
    /// A prover that spends at most `resources` of z3's own units on a check.
    pub fn new(resources: u32) -> Self {
        let solver = z3::Solver::new();
        let mut params = Params::new();
        params.set_u32("rlimit", resources);
        params.set_u32("random_seed", 0);
        solver.set_params(&params);
        Self { solver, frames: Vec::new() }
    }

    fn read_model(&self, terms: &Terms) -> Outcome {
        let Some(found) = self.solver.get_model() else {
            return Outcome::Unknown(Reason::Prover("no model".to_string()));
        };
        let mut model = Model::default();
        for (symbol, constant) in self.frames.iter().flat_map(|frame| &frame.symbols) {
            match found.eval(constant, true).and_then(|value| value.as_i128()) {
                Some(value) => model.set(*symbol, value),
                None => return Outcome::Unknown(Reason::Overflow),
            }
        }
        // Leaves z3 knows only roughly may make its model wrong; ours is the last word.
        let formulas = self.frames.iter().flat_map(|frame| &frame.formulas);
        for formula in formulas {
            if model.satisfies(terms, *formula) != Some(true) {
                return Outcome::Unknown(Reason::Prover("inexact model".to_string()));
            }
        }
        Outcome::Sat(model)
    }

    fn reason_unknown(&self) -> Reason {
        Reason::Prover(self.solver.get_reason_unknown().unwrap_or_else(|| "unknown".to_string()))
    }
}

impl Prover for Z3Prover {
    fn push(&mut self, terms: &Terms, formulas: &[FormulaId], theory: Theory) {
        self.solver.push();
        let mut frame =
            Frame { formulas: formulas.to_vec(), symbols: BTreeMap::new(), unsupported: None };
        match theory {
            Theory::Integers => {
                let mut encoder = ints::Encoder::new(terms);
                for formula in formulas {
                    self.solver.assert(encoder.formula(*formula));
                }
                for side in encoder.side_conditions() {
                    self.solver.assert(side);
                }
                frame.symbols = encoder.symbols;
            }
            Theory::BitVectors => match bits::Encoder::new(terms, formulas) {
                Err(reason) => frame.unsupported = Some(reason),
                Ok(mut encoder) => {
                    for formula in formulas {
                        self.solver.assert(encoder.formula(*formula));
                    }
                    for side in encoder.side_conditions() {
                        self.solver.assert(side);
                    }
                    frame.symbols =
                        encoder.symbols.iter().map(|(s, bits)| (*s, bits.to_int(true))).collect();
                }
            },
        }
        self.frames.push(frame);
    }

    fn pop(&mut self) {
        if self.frames.pop().is_some() {
            self.solver.pop(1);
        }
    }

    fn check(&mut self, terms: &Terms) -> Outcome {
        if let Some(reason) = self.frames.iter().find_map(|frame| frame.unsupported.clone()) {
            return Outcome::Unknown(reason);
        }
        match self.solver.check() {
            SatResult::Unsat => Outcome::Unsat,
            SatResult::Unknown => Outcome::Unknown(self.reason_unknown()),
            SatResult::Sat => self.read_model(terms),
        }
    }
}

/// The bits a signed number needs to hold everything in `range`.
fn signed_width(range: Interval) -> Option<u32> {
    let (low, high) = (range.low?, range.high?);
    let bits = |value: i128| {
        let magnitude = if value < 0 { !value } else { value };
        129 - magnitude.leading_zeros()
    };
    Some(bits(low).max(bits(high)))
}
