//! Projection: what a conjunction says about some leaves when everything else may be
//! anything, as cases of linear facts.

use base::Budget;

use super::Reason;
use super::core::{Simplified, cheapest_of, eliminate, simplify};
use super::problem::Problem;
use super::row::{Row, Var};
use super::search::two_sides_of_zero;
use crate::formula::Relation;
use crate::linear::Linear;
use crate::term::{FormulaId, LeafId, Terms};

/// More cases than this are not worth negating.
const MAX_CASES: usize = 32;

/// The cases together contain every value of the kept leaves that some value of the others
/// completes; `exact` where they contain nothing else.
pub struct Projection {
    pub cases: Vec<Vec<(Relation, Linear)>>,
    pub exact: bool,
}

pub fn project(
    terms: &Terms,
    formulas: &[FormulaId],
    keep: &dyn Fn(LeafId) -> bool,
    steps: u64,
) -> Result<Projection, Reason> {
    let mut projecting = Projecting {
        keep,
        budget: Budget::new(steps),
        result: Projection { cases: Vec::new(), exact: true },
    };
    let mut problem = Problem::new(terms);
    if problem.assert_all(formulas)?.is_ok() {
        projecting.expand(problem)?;
    }
    Ok(projecting.result)
}

struct Projecting<'k> {
    keep: &'k dyn Fn(LeafId) -> bool,
    budget: Budget,
    result: Projection,
}

impl Projecting<'_> {
    /// Splits until nothing is pending, then projects each conjunction.
    fn expand(&mut self, mut problem: Problem<'_>) -> Result<(), Reason> {
        let rows = problem.n_rows();
        self.budget.spend(1 + rows as u64 / 4).map_err(|_| Reason::StepLimit)?;
        let kept = problem.vars_where(self.keep);
        let alternatives = if let Some(disjunction) = problem.pending.pop() {
            disjunction
        } else if let Some(index) = problem
            .disequalities
            .iter()
            .position(|row| row.terms.iter().any(|(var, _)| !kept[*var as usize]))
        {
            let row = problem.disequalities.remove(index);
            two_sides_of_zero(&row)?
        } else {
            return self.project_conjunction(problem, &kept);
        };
        for alternative in alternatives {
            let mut case = problem.clone();
            case.assert_facts(&alternative.facts);
            let formulas: Vec<FormulaId> = alternative.formula.into_iter().collect();
            if case.assert_all(&formulas)?.is_ok() {
                self.expand(case)?;
            }
        }
        Ok(())
    }

    fn project_conjunction(&mut self, problem: Problem<'_>, kept: &[bool]) -> Result<(), Reason> {
        let goes = |var: Var| !kept[var as usize];
        if problem.opaque.iter().any(|leaf| problem.var_of(*leaf).is_some_and(goes)) {
            self.result.exact = false;
        }
        let mut rows = problem.all_inequalities()?;
        let kept_equalities = self.substitute_equalities(problem.equalities, &mut rows, &goes)?;
        loop {
            if matches!(simplify(&mut rows), Simplified::Unsat) {
                return Ok(());
            }
            let Some(choice) = cheapest_of(&rows, goes) else { break };
            self.result.exact &= choice.exact;
            eliminate(&mut rows, choice.var, &mut self.budget)?;
        }
        let linear = |row: &Row| Linear {
            constant: row.constant,
            terms: row
                .terms
                .iter()
                .map(|(var, c)| {
                    let leaf = problem.leaves[*var as usize];
                    (leaf.expect("a kept variable stands for a leaf"), *c)
                })
                .collect(),
        };
        let sorted = |row: &Row| {
            let mut linear = linear(row);
            linear.terms.sort_unstable();
            linear
        };
        let mut facts: Vec<(Relation, Linear)> = Vec::new();
        facts.extend(kept_equalities.iter().map(|row| (Relation::Zero, sorted(row))));
        facts.extend(rows.iter().map(|row| (Relation::AtMostZero, sorted(row))));
        facts.extend(problem.disequalities.iter().map(|row| (Relation::NonZero, sorted(row))));
        self.result.cases.push(facts);
        if self.result.cases.len() > MAX_CASES { Err(Reason::StepLimit) } else { Ok(()) }
    }

    /// Uses equalities to define variables that go; returns those about kept ones alone.
    fn substitute_equalities(
        &mut self,
        mut equalities: Vec<Row>,
        rows: &mut Vec<Row>,
        goes: &dyn Fn(Var) -> bool,
    ) -> Result<Vec<Row>, Reason> {
        let mut kept = Vec::new();
        while let Some(equality) = equalities.pop() {
            self.budget.spend(1).map_err(|_| Reason::StepLimit)?;
            let unit = equality.terms.iter().find(|(var, c)| goes(*var) && c.abs() == 1);
            if let Some((var, coefficient)) = unit.copied() {
                let mut rest = equality.clone();
                rest.terms.retain(|(v, _)| *v != var);
                let definition = rest.scale(-coefficient)?;
                for row in equalities.iter_mut().chain(rows.iter_mut()).chain(kept.iter_mut()) {
                    if row.coefficient(var) != 0 {
                        *row = row.replace(var, &definition)?;
                    }
                }
            } else if equality.terms.iter().any(|(var, _)| goes(*var)) {
                // What remains says something about divisibility, which rows cannot.
                self.result.exact = false;
                rows.push(equality.scale(-1)?);
                rows.push(equality);
            } else {
                kept.push(equality);
            }
        }
        Ok(kept)
    }
}
