//! The search over alternatives: solve what is certain, look at what the model violates,
//! split there.

use base::Budget;

use super::core::{Solved, solve};
use super::problem::{Alternative, Problem};
use super::row::{Row, holds};
use super::{Outcome, Reason, nonlinear};
use crate::formula::Relation;
use crate::interval::Interval;
use crate::linear::Overflow;
use crate::model::Model;
use crate::term::{FormulaId, Leaf, LeafId, Terms};

/// Splits on one path of the search beyond this end in an unknown.
const MAX_DEPTH: u32 = 24;

pub struct Search<'t, 'f> {
    pub terms: &'t Terms,
    /// What a model must satisfy, as it was asked.
    pub formulas: &'f [FormulaId],
    pub budget: Budget,
}

impl<'t> Search<'t, '_> {
    pub fn run(&mut self) -> Result<Outcome, Reason> {
        let mut problem = Problem::new(self.terms);
        if problem.assert_each(self.formulas)?.is_err() {
            return Ok(Outcome::Unsat);
        }
        // The bounds of a variable are two rows, and those cost half a step: nothing comes of more
        // variables than this, and finding out takes long.
        if u64::from(problem.n_vars()) > 2 * self.budget.left() {
            return Err(Reason::StepLimit);
        }
        if problem.conclude()?.is_err() {
            return Ok(Outcome::Unsat);
        }
        // Most satisfiable conjunctions are satisfied by the values nearest to zero.
        let nearest: Vec<i128> = problem.bounds.iter().map(|b| b.nearest_to_zero()).collect();
        if let Some(model) = self.accept(&problem, &nearest) {
            return Ok(Outcome::Sat(model));
        }
        self.solve(problem, 0)
    }

    fn solve(&mut self, problem: Problem<'t>, depth: u32) -> Result<Outcome, Reason> {
        let n_inequalities = problem.n_inequalities() as u64;
        self.budget.spend(1 + n_inequalities / 4).map_err(|_| Reason::StepLimit)?;
        let inequalities = problem.all_inequalities()?;
        let equalities = problem.equalities.clone();
        let solved = solve(problem.n_vars(), equalities, inequalities, &mut self.budget)?;
        let values = match solved {
            Solved::Unsat => return Ok(Outcome::Unsat),
            Solved::Split(row) => {
                if row.terms.iter().any(|(var, _)| *var >= problem.n_vars()) {
                    return Err(Reason::Gap);
                }
                return self.split(&problem, two_sides(&row)?, None, depth);
            }
            Solved::Sat(values) => values,
        };
        if let Some(model) = self.accept(&problem, &values) {
            return Ok(Outcome::Sat(model));
        }
        for row in &problem.disequalities {
            if row.evaluate(&values)? == 0 {
                return self.split(&problem, two_sides_of_zero(row)?, None, depth);
            }
        }
        let model = problem.model(&values);
        for (index, disjunction) in problem.pending.iter().enumerate() {
            let mut satisfied = false;
            for alternative in disjunction {
                satisfied |= self.satisfied(alternative, &model, &values)?;
            }
            if !satisfied {
                return self.split(&problem, disjunction.clone(), Some(index), depth);
            }
        }
        self.pin_operands(problem, &values, &model, depth)
    }

    /// The model, where it really satisfies what was asked.
    fn accept(&self, problem: &Problem<'t>, values: &[i128]) -> Option<Model> {
        let model = problem.model(values);
        model.satisfies_all(self.terms, self.formulas).then_some(model)
    }

    fn satisfied(
        &self,
        alternative: &Alternative,
        model: &Model,
        values: &[i128],
    ) -> Result<bool, Overflow> {
        for fact in &alternative.facts {
            if !holds(fact, values)? {
                return Ok(false);
            }
        }
        Ok(alternative.formula.is_none_or(|f| model.satisfies(self.terms, f) == Some(true)))
    }

    /// Tries the alternatives in order. `chosen` is the disjunction they come from.
    fn split(
        &mut self,
        problem: &Problem<'t>,
        alternatives: Vec<Alternative>,
        chosen: Option<usize>,
        depth: u32,
    ) -> Result<Outcome, Reason> {
        if depth >= MAX_DEPTH {
            return Err(Reason::StepLimit);
        }
        let mut trouble = None;
        for alternative in alternatives {
            let mut case = problem.clone();
            if let Some(index) = chosen {
                case.pending.remove(index);
            }
            case.assert_facts(&alternative.facts);
            let formulas: Vec<FormulaId> = alternative.formula.into_iter().collect();
            let outcome = match case.assert_all(&formulas) {
                Ok(Ok(())) => self.solve(case, depth + 1),
                Ok(Err(_)) => Ok(Outcome::Unsat),
                Err(reason) => Err(reason),
            };
            match outcome {
                Ok(Outcome::Sat(model)) => return Ok(Outcome::Sat(model)),
                Ok(Outcome::Unsat) => {}
                Ok(Outcome::Unknown(reason)) | Err(reason) => trouble = Some(reason),
            }
        }
        trouble.map_or(Ok(Outcome::Unsat), Err)
    }

    /// The rows hold, the formulas do not: some leaf that is not linear has a wrong value.
    /// Fixing its operands may still find a model; failing to proves nothing.
    fn pin_operands(
        &mut self,
        mut problem: Problem<'t>,
        values: &[i128],
        model: &Model,
        depth: u32,
    ) -> Result<Outcome, Reason> {
        let wrong: Vec<LeafId> = problem
            .opaque
            .iter()
            .copied()
            .filter(|leaf| {
                let var = problem.var_of(*leaf).expect("an opaque leaf has a variable");
                model.evaluate_leaf(self.terms, *leaf) != Some(values[var as usize])
            })
            .collect();
        let reason = match wrong.first().map(|leaf| self.terms.leaf(*leaf)) {
            Some(Leaf::BitAnd(..) | Leaf::PowerOfTwo(_)) => Reason::Bits,
            Some(Leaf::Unrepresentable(_)) => Reason::Overflow,
            _ => Reason::NonLinear,
        };
        // A product is largest or smallest where its factors are.
        for side in [|b: &Interval| b.low, |b: &Interval| b.high] {
            let end = |bounds: &Interval| side(bounds).unwrap_or(bounds.nearest_to_zero());
            let ends: Vec<i128> = problem.bounds.iter().map(end).collect();
            if let Some(model) = self.accept(&problem, &ends) {
                return Ok(Outcome::Sat(model));
            }
        }
        if depth >= MAX_DEPTH {
            return Err(reason);
        }
        for leaf in wrong {
            let Some(facts) = nonlinear::pin(&mut problem, leaf, values)? else { continue };
            let mut pinned = problem.clone();
            pinned.assert_facts(&facts);
            pinned.opaque.retain(|other| *other != leaf);
            if pinned.assert_all(&[])?.is_ok()
                && let Ok(Outcome::Sat(model)) = self.solve(pinned, depth + 4)
            {
                return Ok(Outcome::Sat(model));
            }
        }
        Err(reason)
    }
}

/// `row <= 0` or `row >= 1`.
fn two_sides(row: &Row) -> Result<Vec<Alternative>, Overflow> {
    let above = row.scale(-1)?.plus(1)?;
    Ok(vec![single(row.clone()), single(above)])
}

/// `row <= -1` or `row >= 1`.
pub fn two_sides_of_zero(row: &Row) -> Result<Vec<Alternative>, Overflow> {
    let above = row.scale(-1)?.plus(1)?;
    Ok(vec![single(row.clone().plus(1)?), single(above)])
}

fn single(row: Row) -> Alternative {
    Alternative { facts: vec![(Relation::AtMostZero, row)], formula: None }
}
