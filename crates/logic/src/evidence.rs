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
        let usual = self.limits.steps;
        self.limits.steps = self.limits.evidence_steps;
        let evidence = self.weigh(terms, path_condition, violation, is_chosen);
        self.limits.steps = usual;
        evidence
    }

    fn weigh(
        &mut self,
        terms: &mut Terms,
        path_condition: &[FormulaId],
        violation: FormulaId,
        is_chosen: &dyn Fn(SymbolId) -> bool,
    ) -> Evidence {
        let mut both = path_condition.to_vec();
        both.push(violation);
        let example = self.check_here(terms, &both);
        // Where something escapes anyhow, the prover's word on the rest changes nothing.
        let free = |example| match example {
            Outcome::Sat(_) => Evidence::DependsOnUnknown,
            Outcome::Unsat => Evidence::Impossible,
            Outcome::Unknown(reason) => Evidence::Unknown(reason),
        };
        if example.is_unsat() || escapes_freely(terms, path_condition, violation, is_chosen) {
            return free(example);
        }
        let escape = terms.not(violation);
        let mut escaping = path_condition.to_vec();
        escaping.push(escape);
        let escapes = self.check_here(terms, &escaping);
        // Without a choice the escaping assignment is the answer.
        let has_choice = |terms: &Terms| {
            both.iter().any(|formula| terms.symbols_in(*formula).into_iter().any(is_chosen))
        };
        if escapes.is_sat() && !has_choice(terms) {
            return free(example);
        }
        let example = match self.settle(terms, &both, example) {
            Outcome::Sat(model) => model,
            decided => return free(decided),
        };
        match self.settle(terms, &escaping, escapes) {
            Outcome::Unsat => return Evidence::Violated(example),
            Outcome::Unknown(reason) => return Evidence::Unknown(reason),
            Outcome::Sat(_) if !has_choice(terms) => return Evidence::DependsOnUnknown,
            Outcome::Sat(_) => {}
        }
        if self.forces(terms, &example, &escaping, is_chosen) {
            return Evidence::Violated(example);
        }
        self.force(terms, &both, &escaping, is_chosen)
    }

    /// Whether nothing escapes once the choices are those of `example`.
    fn forces(
        &mut self,
        terms: &mut Terms,
        example: &Model,
        escaping: &[FormulaId],
        is_chosen: &dyn Fn(SymbolId) -> bool,
    ) -> bool {
        let mut fixed = Vec::with_capacity(escaping.len());
        for formula in escaping {
            fixed.push(terms.substitute_in(*formula, |terms, symbol| {
                let value = is_chosen(symbol).then(|| example.get(symbol))??;
                Some(terms.constant(value))
            }));
        }
        self.check_here(terms, &fixed).is_unsat()
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
        let projection = match project(terms, escaping, &keep, self.limits.steps / 8) {
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

/// Whether an unknown of the violation that no condition of the path speaks of has a value
/// with which the violation does not happen, whatever everything else is. This settles most
/// questions about values nothing is known of, without solving anything.
fn escapes_freely(
    terms: &mut Terms,
    path_condition: &[FormulaId],
    violation: FormulaId,
    is_chosen: &dyn Fn(SymbolId) -> bool,
) -> bool {
    let mut free = terms.symbols_in(violation);
    free.retain(|symbol| !is_chosen(*symbol));
    for formula in path_condition {
        if free.is_empty() {
            return false;
        }
        let mentioned = terms.symbols_in(*formula);
        free.retain(|symbol| mentioned.binary_search(symbol).is_err());
    }
    free.into_iter().any(|symbol| {
        let domain = terms.domain(symbol);
        [domain.low, domain.high].into_iter().flatten().any(|extreme| {
            let fixed = terms.substitute_in(violation, |terms, other| {
                (other == symbol).then(|| terms.constant(extreme))
            });
            fixed == Terms::FALSE
        })
    })
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
