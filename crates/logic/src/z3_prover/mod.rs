//! z3 behind the [`Prover`] trait: resource limits, never time.
//!
//! Every check has a z3 context of its own, so that what is proved within the limits does not
//! depend on what the thread proved before. Checks that need z3 are rare; contexts are dear.

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

/// A prover that spends at most so many of z3's own units on a check.
pub struct Z3Prover {
    pub resources: u32,
}

impl Prover for Z3Prover {
    fn check(&mut self, terms: &Terms, formulas: &[FormulaId], theory: Theory) -> Outcome {
        let resources = self.resources;
        z3::with_z3_config(&z3::Config::new(), || {
            Check::new(resources).run(terms, formulas, theory)
        })
    }
}

struct Check {
    solver: z3::Solver,
}

impl Check {
    fn new(resources: u32) -> Self {
        let solver = z3::Solver::new();
        let mut params = Params::new();
        params.set_u32("rlimit", resources);
        params.set_u32("random_seed", 0);
        solver.set_params(&params);
        Self { solver }
    }

    fn run(&self, terms: &Terms, formulas: &[FormulaId], theory: Theory) -> Outcome {
        let symbols = match self.assert(terms, formulas, theory) {
            Ok(symbols) => symbols,
            Err(reason) => return Outcome::Unknown(reason),
        };
        match self.solver.check() {
            SatResult::Unsat => Outcome::Unsat,
            SatResult::Unknown => {
                let why = self.solver.get_reason_unknown();
                Outcome::Unknown(Reason::Prover(why.unwrap_or_else(|| "unknown".to_string())))
            }
            SatResult::Sat => self.read_model(terms, formulas, &symbols),
        }
    }

    /// Says the formulas in the theory; returns the integers whose values make a model.
    fn assert(
        &self,
        terms: &Terms,
        formulas: &[FormulaId],
        theory: Theory,
    ) -> Result<BTreeMap<SymbolId, Int>, Reason> {
        match theory {
            Theory::Integers => {
                let mut encoder = ints::Encoder::new(terms);
                for formula in formulas {
                    self.solver.assert(encoder.formula(*formula));
                }
                for side in encoder.side_conditions() {
                    self.solver.assert(side);
                }
                Ok(encoder.symbols)
            }
            Theory::BitVectors => {
                let mut encoder = bits::Encoder::new(terms, formulas)?;
                for formula in formulas {
                    self.solver.assert(encoder.formula(*formula));
                }
                for side in encoder.side_conditions() {
                    self.solver.assert(side);
                }
                Ok(encoder.symbols.iter().map(|(s, bits)| (*s, bits.to_int(true))).collect())
            }
        }
    }

    fn read_model(
        &self,
        terms: &Terms,
        formulas: &[FormulaId],
        symbols: &BTreeMap<SymbolId, Int>,
    ) -> Outcome {
        let Some(found) = self.solver.get_model() else {
            return Outcome::Unknown(Reason::Prover("no model".to_string()));
        };
        let mut model = Model::default();
        for (symbol, constant) in symbols {
            match found.eval(constant, true).and_then(|value| value.as_i128()) {
                Some(value) => model.set(*symbol, value),
                None => return Outcome::Unknown(Reason::Overflow),
            }
        }
        // Leaves z3 knows only roughly may make its model wrong; ours is the last word.
        if model.satisfies_all(terms, formulas) {
            Outcome::Sat(model)
        } else {
            Outcome::Unknown(Reason::Prover("inexact model".to_string()))
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
