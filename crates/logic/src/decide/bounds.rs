//! Interval propagation: what each row says about each of its variables, a few rounds of it.

use super::problem::Problem;
use super::row::Row;
use crate::interval::Interval;
use crate::linear::{ceil_div, floor_div};

/// Rounds beyond this rarely help and may creep by one each time.
const MAX_ROUNDS: usize = 4;

/// Narrows the bounds of all variables. False where a variable has no value left.
pub fn propagate(problem: &mut Problem<'_>) -> bool {
    let mut bounds = std::mem::take(&mut problem.bounds);
    let mut consistent = !bounds.iter().any(|range| range.is_empty());
    let opposites: Vec<Option<Row>> =
        problem.equalities.iter().map(|row| row.scale(-1).ok()).collect();
    'rounds: for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for row in &problem.inequalities {
            match narrow(row, &mut bounds) {
                Some(narrowed) => changed |= narrowed,
                None => {
                    consistent = false;
                    break 'rounds;
                }
            }
        }
        for (row, opposite) in problem.equalities.iter().zip(&opposites) {
            let Some(opposite) = opposite else { continue };
            match (narrow(row, &mut bounds), narrow(opposite, &mut bounds)) {
                (Some(a), Some(b)) => changed |= a | b,
                _ => {
                    consistent = false;
                    break 'rounds;
                }
            }
        }
        if !changed {
            break;
        }
    }
    problem.bounds = bounds;
    consistent
}

/// Applies `row <= 0`: whether a bound moved, or `None` on a contradiction.
fn narrow(row: &Row, bounds: &mut [Interval]) -> Option<bool> {
    // The least value of the whole row, and how many summands have no least value.
    let mut least = row.constant;
    let mut unbounded = 0;
    for (var, factor) in &row.terms {
        match least_of(bounds[*var as usize], *factor).map(|low| least.checked_add(low)) {
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
    for (var, factor) in &row.terms {
        let range = bounds[*var as usize];
        let own = least_of(range, *factor);
        // The row without this variable, at its least.
        let rest = match (unbounded, own) {
            (0, Some(own)) => least.checked_sub(own),
            (1, None) => Some(least),
            _ => None,
        };
        let Some(limit) = rest.and_then(i128::checked_neg) else { continue };
        // factor * var <= limit
        let allowed = if *factor > 0 {
            Interval { low: None, high: Some(floor_div(limit, *factor)) }
        } else if *factor == i128::MIN || limit == i128::MIN {
            continue;
        } else {
            Interval { low: Some(ceil_div(-limit, -*factor)), high: None }
        };
        let met = range.meet(allowed);
        if met != range {
            if met.is_empty() {
                return None;
            }
            bounds[*var as usize] = met;
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
