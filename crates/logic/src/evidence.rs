//! Whether outside choices can force a violation whatever the unknown values are.

use crate::decide::{Outcome, Projection, Reason, project};
use crate::model::Model;
use crate::prover::Solver;
use crate::term::{FormulaId, LeafId, SymbolId, Terms};

/// What a path condition and a violation say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// With the model's choices the path can be taken, and whenever it is, the violation
    /// happens. The model also gives one example of the unknowns.
    Violated(Model),
    /// No values at all take the path and violate.
    Impossible,
    /// Some values violate, but no choice rules out unknowns that do not.
    DependsOnUnknown,
    Unknown(Reason),
}

impl Solver {
    /// Is there a choice of the symbols `is_chosen` accepts, such that the path condition is
    /// satisfiable and all other symbols that satisfy it also satisfy the violation?
    pub fn check_evidence(
        &mut self,
        terms: &mut Terms,
        path_condition: &[FormulaId],
        violation: FormulaId,
        is_chosen: &dyn Fn(SymbolId) -> bool,
    ) -> Evidence {
        let mut both = path_condition.to_vec();
        both.push(violation);
        let example = match self.check(terms, &both) {
            Outcome::Sat(model) => model,
            Outcome::Unsat => return Evidence::Impossible,
            Outcome::Unknown(reason) => return Evidence::Unknown(reason),
        };
        let escape = terms.not(violation);
        let mut escaping = path_condition.to_vec();
        escaping.push(escape);
        match self.check(terms, &escaping) {
            Outcome::Unsat => return Evidence::Violated(example),
            Outcome::Unknown(reason) => return Evidence::Unknown(reason),
            Outcome::Sat(_) => {}
        }
        match self.force(terms, &both, &escaping, is_chosen) {
            Evidence::Unknown(reason) => {
                self.prove_evidence(terms, path_condition, violation, is_chosen, reason)
            }
            decided => decided,
        }
    }

    /// Looks for choices outside the projection of the escaping assignments.
    fn force(
        &mut self,
        terms: &mut Terms,
        both: &[FormulaId],
        escaping: &[FormulaId],
        is_chosen: &dyn Fn(SymbolId) -> bool,
    ) -> Evidence {
        let keep = |leaf: LeafId| terms.symbols_of_leaf(leaf).iter().all(|s| is_chosen(*s));
        let projection = match project(terms, escaping, &keep, self.limits.steps) {
            Ok(projection) => projection,
            Err(reason) => return Evidence::Unknown(reason),
        };
        let exact = projection.exact;
        let mut forced = both.to_vec();
        forced.push(outside(terms, projection));
        match self.check(terms, &forced) {
            Outcome::Sat(model) => Evidence::Violated(model),
            Outcome::Unsat if exact => Evidence::DependsOnUnknown,
            Outcome::Unsat => Evidence::Unknown(Reason::Quantified),
            Outcome::Unknown(reason) => Evidence::Unknown(reason),
        }
    }
}

/// The formula that no case of the projection holds.
fn outside(terms: &mut Terms, projection: Projection) -> FormulaId {
    let mut cases = Vec::new();
    for facts in projection.cases {
        let mut negated = Vec::new();
        for (relation, linear) in facts {
            let term = terms.intern(linear);
            let fact = terms.atom(relation, term);
            negated.push(terms.not(fact));
        }
        cases.push(terms.or(&negated));
    }
    terms.and(&cases)
}
