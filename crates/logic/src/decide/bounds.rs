//! Interval propagation: what each row says about each of its variables, a few rounds of it.

use super::problem::Problem;
use super::row::Row;
use crate::interval::Interval;
use crate::linear::{ceil_div, floor_div};

/// Rounds beyond this rarely help and may creep by one each time.
const MAX_ROUNDS: usize = 4;

/// How far the bounds of all variables were narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagated {
    /// As far as the rows do.
    Done,
    /// As far as the rounds go.
    Enough,
    /// A variable has no value left.
    Contradiction,
}

/// Narrows the bounds of all variables.
pub fn propagate(problem: &mut Problem<'_>) -> Propagated {
    let Problem { bounds, equalities, inequalities, .. } = problem;
    if bounds.iter().any(|range| range.is_empty()) {
        return Propagated::Contradiction;
    }
    for _ in 0..MAX_ROUNDS {
        match narrow_all(inequalities, equalities, bounds) {
            Some(true) => {}
            Some(false) => return Propagated::Done,
            None => return Propagated::Contradiction,
        }
    }
    Propagated::Enough
}

/// One round: whether a bound moved, or `None` on a contradiction.
fn narrow_all(inequalities: &[Row], equalities: &[Row], bounds: &mut [Interval]) -> Option<bool> {
    let mut changed = false;
    for row in inequalities {
        changed |= narrow(row, false, bounds)?;
    }
    for row in equalities.iter().filter(|row| has_opposite(row)) {
        changed |= narrow(row, false, bounds)?;
        changed |= narrow(row, true, bounds)?;
    }
    Some(changed)
}

fn has_opposite(row: &Row) -> bool {
    row.constant != i128::MIN && row.terms.iter().all(|(_, factor)| *factor != i128::MIN)
}

/// Applies `row <= 0`, or its opposite: whether a bound moved, or `None` on a contradiction.
fn narrow(row: &Row, is_opposite: bool, bounds: &mut [Interval]) -> Option<bool> {
    let signed = |number: i128| if is_opposite { -number } else { number };
    let terms = || row.terms.iter().map(|(var, factor)| (*var as usize, signed(*factor)));
    // The least value of the whole row, and how many summands have no least value.
    let mut least = signed(row.constant);
    let mut unbounded = 0;
    for (var, factor) in terms() {
        match least_of(bounds[var], factor).map(|low| least.checked_add(low)) {
            Some(Some(sum)) => least = sum,
            _ => unbounded += 1,
        }
    }
    if unbounded == 0 && least > 0 {
        return None;
    }
    if unbounded > 1 {
        return Some(false);
    }
    let mut changed = false;
    for (var, factor) in terms() {
        let range = bounds[var];
        let own = least_of(range, factor);
        // The row without this variable, at its least.
        let rest = match (unbounded, own) {
            (0, Some(own)) => least.checked_sub(own),
            (1, None) => Some(least),
            _ => None,
        };
        let Some(limit) = rest.and_then(i128::checked_neg) else { continue };
        // factor * var <= limit
        let allowed = if factor > 0 {
            Interval { low: None, high: Some(floor_div(limit, factor)) }
        } else if factor == i128::MIN || limit == i128::MIN {
            continue;
        } else {
            Interval { low: Some(ceil_div(-limit, -factor)), high: None }
        };
        let met = range.meet(allowed);
        if met != range {
            if met.is_empty() {
                return None;
            }
            bounds[var] = met;
            changed = true;
            // Later variables of this row keep using the older, weaker minimum: sound.
        }
    }
    Some(changed)
}

/// The least of `factor` times a number of the range; most factors are one.
fn least_of(range: Interval, factor: i128) -> Option<i128> {
    match factor {
        1 => range.low,
        -1 => range.high?.checked_neg(),
        0 => Some(0),
        2.. => range.low?.checked_mul(factor),
        _ => range.high?.checked_mul(factor),
    }
}
