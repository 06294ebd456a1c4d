//! Conjunctions of linear equalities and inequalities over the integers.
//!
//! Equalities are solved and substituted (with the Omega test's modulus step where no
//! coefficient is one); inequalities are eliminated variable by variable in the manner of
//! Fourier and Motzkin, tightened to integers at each step. Where a variable can be
//! eliminated exactly the result is exact; where not, a model that falls into a gap
//! between integers is answered by a split, so neither answer is ever wrong.

use std::hash::Hasher;

use base::Budget;
use rustc_hash::FxHasher;

use super::row::{Row, Var};
use super::{Reason, equality};
use crate::linear::{Overflow, ceil_div, floor_div};

/// What became of a conjunction.
pub enum Solved {
    /// Values of all variables.
    Sat(Vec<i128>),
    Unsat,
    /// Any solution satisfies `row <= 0` or `1 - row <= 0`: to be tried one by one.
    Split(Row),
}

/// More rows than this are not worth combining.
const MAX_ROWS: usize = 256;

/// An eliminated variable with the rows that bounded it.
struct Eliminated {
    var: Var,
    rows: Vec<Row>,
}

pub fn solve(
    mut n_vars: u32,
    equalities: Vec<Row>,
    inequalities: Vec<Row>,
    budget: &mut Budget,
) -> Result<Solved, Reason> {
    let mut rows = inequalities;
    let mut equalities = equalities;
    let mut definitions = Vec::new();
    loop {
        if !equality::eliminate(
            &mut n_vars,
            std::mem::take(&mut equalities),
            &mut rows,
            &mut definitions,
            budget,
        )? {
            return Ok(Solved::Unsat);
        }
        match simplify(&mut rows) {
            Simplified::Unsat => return Ok(Solved::Unsat),
            Simplified::Done => break,
            Simplified::Equalities(found) => equalities = found,
        }
    }
    let mut eliminated = Vec::new();
    while let Some(choice) = cheapest(&rows) {
        let dropped = eliminate(&mut rows, choice.var, budget)?;
        eliminated.push(Eliminated { var: choice.var, rows: dropped });
        if matches!(simplify(&mut rows), Simplified::Unsat) {
            return Ok(Solved::Unsat);
        }
    }
    back_substitute(n_vars, &eliminated, &definitions).map_err(Reason::from)
}

/// A variable to eliminate next.
pub(super) struct Choice {
    pub var: Var,
    /// Whether every pair of bounds has a unit coefficient, so that no integer is lost.
    pub exact: bool,
}

/// The variable whose elimination makes the fewest rows, exact ones first.
fn cheapest(rows: &[Row]) -> Option<Choice> {
    cheapest_of(rows, |_| true)
}

pub(super) fn cheapest_of(rows: &[Row], wanted: impl Fn(Var) -> bool) -> Option<Choice> {
    #[derive(Clone)]
    struct Occurrences {
        lower: usize,
        upper: usize,
        lower_unit: bool,
        upper_unit: bool,
    }
    let n_vars = rows.iter().filter_map(|row| row.terms.last()).map(|(var, _)| var + 1).max()?;
    let none = Occurrences { lower: 0, upper: 0, lower_unit: true, upper_unit: true };
    let mut occurrences = vec![none; n_vars as usize];
    for (var, coefficient) in rows.iter().flat_map(|row| &row.terms) {
        let seen = &mut occurrences[*var as usize];
        if *coefficient > 0 {
            seen.upper += 1;
            seen.upper_unit &= *coefficient == 1;
        } else {
            seen.lower += 1;
            seen.lower_unit &= *coefficient == -1;
        }
    }
    (0..n_vars)
        .zip(occurrences)
        .filter(|(var, seen)| seen.lower + seen.upper > 0 && wanted(*var))
        .map(|(var, seen)| {
            let exact = seen.lower_unit || seen.upper_unit || seen.lower * seen.upper == 0;
            (!exact, seen.lower * seen.upper, var)
        })
        .min()
        .map(|(inexact, _, var)| Choice { var, exact: !inexact })
}

/// Replaces the rows that mention `var` by all combinations of an upper with a lower bound
/// and returns them.
pub(super) fn eliminate(
    rows: &mut Vec<Row>,
    var: Var,
    budget: &mut Budget,
) -> Result<Vec<Row>, Reason> {
    let (mentioning, rest): (Vec<Row>, Vec<Row>) =
        rows.drain(..).partition(|row| row.coefficient(var) != 0);
    *rows = rest;
    let (upper, lower): (Vec<&Row>, Vec<&Row>) =
        mentioning.iter().partition(|row| row.coefficient(var) > 0);
    budget.spend((upper.len() * lower.len()) as u64).map_err(|_| Reason::StepLimit)?;
    for above in &upper {
        for below in &lower {
            let (a, b) = (above.coefficient(var), -below.coefficient(var));
            let g = crate::linear::gcd(a, b);
            let combined = above.scale(b / g)?.add_scaled(a / g, below)?;
            rows.push(combined);
        }
    }
    if rows.len() > MAX_ROWS {
        return Err(Reason::StepLimit);
    }
    Ok(mentioning)
}

pub(super) enum Simplified {
    Done,
    Unsat,
    /// Opposite inequalities that meet in one value.
    Equalities(Vec<Row>),
}

/// Tightens every row, keeps the strongest of rows with equal coefficients, and looks at
/// opposite ones.
pub(super) fn simplify(rows: &mut Vec<Row>) -> Simplified {
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    // Equal for rows with equal or opposite coefficients, and for few others.
    let mut marks: Vec<u64> = Vec::with_capacity(rows.len());
    for mut row in rows.drain(..) {
        if row.terms.is_empty() {
            if row.constant > 0 {
                return Simplified::Unsat;
            }
            continue;
        }
        row.tighten();
        let mark = mark(&row);
        let known = marked(&marks, mark).find(|index| kept[*index].terms == row.terms);
        match known {
            Some(index) => kept[index].constant = kept[index].constant.max(row.constant),
            None => {
                marks.push(mark);
                kept.push(row);
            }
        }
    }
    let mut equalities = Vec::new();
    for (row, mark) in kept.iter().zip(&marks) {
        let opposite = marked(&marks, *mark).find(|index| are_opposite(row, &kept[*index]));
        let Some(index) = opposite else { continue };
        // row + other <= 0 has lost all variables.
        match row.constant.checked_add(kept[index].constant) {
            Some(1..) => return Simplified::Unsat,
            Some(0) if row.terms[0].1 > 0 => equalities.push(row.clone()),
            _ => {}
        }
    }
    *rows = kept;
    if equalities.is_empty() { Simplified::Done } else { Simplified::Equalities(equalities) }
}

fn mark(row: &Row) -> u64 {
    let mut hasher = FxHasher::default();
    for (var, coefficient) in &row.terms {
        hasher.write_u32(*var);
        hasher.write_u128(coefficient.unsigned_abs());
    }
    hasher.finish()
}

/// The positions of a mark. There are few rows, and looking at numbers is quick.
fn marked(marks: &[u64], mark: u64) -> impl Iterator<Item = usize> + '_ {
    marks.iter().enumerate().filter(move |(_, other)| **other == mark).map(|(index, _)| index)
}

fn are_opposite(row: &Row, other: &Row) -> bool {
    let is_opposite = |((var, c), (other_var, d)): (&(Var, i128), &(Var, i128))| {
        var == other_var && c.checked_neg() == Some(*d)
    };
    row.terms.len() == other.terms.len() && row.terms.iter().zip(&other.terms).all(is_opposite)
}

/// Gives the eliminated variables values, last one first.
fn back_substitute(
    n_vars: u32,
    eliminated: &[Eliminated],
    definitions: &[(Var, Row)],
) -> Result<Solved, Overflow> {
    let mut values = vec![0i128; n_vars as usize];
    for step in eliminated.iter().rev() {
        let (mut low, mut high) = (None::<i128>, None::<i128>);
        for row in &step.rows {
            let coefficient = row.coefficient(step.var);
            values[step.var as usize] = 0;
            let rest = row.evaluate(&values)?;
            // coefficient * var <= -rest
            let negated = rest.checked_neg().ok_or(Overflow)?;
            if coefficient > 0 {
                let bound = floor_div(negated, coefficient);
                high = Some(high.map_or(bound, |high| high.min(bound)));
            } else {
                let bound = ceil_div(rest, -coefficient);
                low = Some(low.map_or(bound, |low| low.max(bound)));
            }
        }
        values[step.var as usize] = match (low, high) {
            (Some(low), Some(high)) if low > high => {
                let below = Row::var(step.var).plus(high.checked_neg().ok_or(Overflow)?)?;
                return Ok(Solved::Split(below));
            }
            (Some(low), _) if low > 0 => low,
            (_, Some(high)) if high < 0 => high,
            _ => 0,
        };
    }
    for (var, definition) in definitions.iter().rev() {
        values[*var as usize] = definition.evaluate(&values)?;
    }
    Ok(Solved::Sat(values))
}
