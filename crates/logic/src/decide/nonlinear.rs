//! Linear facts about operations that are not linear, and exact rows for them once an
//! operand is pinned to a value.

use super::Reason;
use super::problem::Problem;
use super::row::{Fact, Row, Var};
use crate::formula::Relation;
use crate::interval::Interval;
use crate::linear::Overflow;
use crate::term::{Leaf, LeafId, Rounding, bit_and_range, power_range, quotient_range};

/// Bounds of a product, and McCormick's inequalities for the bounds its factors have.
pub fn bound_product(
    problem: &mut Problem<'_>,
    var: Var,
    a: &Row,
    b: &Row,
) -> Result<(), Overflow> {
    let (range_a, range_b) = (problem.row_bounds(a), problem.row_bounds(b));
    set_range(problem, var, range_a.times(range_b));
    // (a - p)(b - q) has a known sign for a bound p of a and a bound q of b:
    // a*b >= q*a + p*b - p*q where the bounds are on the same side, <= otherwise.
    let bounds = [(range_a.low, 1), (range_a.high, -1)];
    let others = [(range_b.low, 1), (range_b.high, -1)];
    for (p, side_a) in bounds {
        for (q, side_b) in others {
            let (Some(p), Some(q)) = (p, q) else { continue };
            // A bound that is only the type's says nothing a solver can use cheaply.
            let small = |bound: i128| bound.unsigned_abs() < 1 << 31;
            if !small(p) || !small(q) {
                continue;
            }
            let plane = a.scale(q)?.add_scaled(p, b)?.plus(-(p * q))?;
            let below = plane.sub(&Row::var(var))?;
            problem.inequalities.push(if side_a == side_b { below } else { below.scale(-1)? });
        }
    }
    Ok(())
}

pub fn bound_quotient(
    problem: &mut Problem<'_>,
    var: Var,
    rounding: Rounding,
    dividend: &Row,
    divisor: &Row,
) -> Result<(), Overflow> {
    let range = quotient_range(rounding, problem.row_bounds(dividend), problem.row_bounds(divisor));
    set_range(problem, var, range);
    let positive = |range: Interval, least: i128| range.low.is_some_and(|low| low >= least);
    if positive(problem.row_bounds(divisor), 1) && positive(problem.row_bounds(dividend), 0) {
        problem.inequalities.push(Row::var(var).sub(dividend)?);
    }
    Ok(())
}

pub fn bound_bit_and(
    problem: &mut Problem<'_>,
    var: Var,
    a: &Row,
    b: &Row,
) -> Result<(), Overflow> {
    let range = bit_and_range(problem.row_bounds(a), problem.row_bounds(b));
    set_range(problem, var, range);
    for operand in [a, b] {
        if problem.row_bounds(operand).low.is_some_and(|low| low >= 0) {
            problem.inequalities.push(Row::var(var).sub(operand)?);
        }
    }
    Ok(())
}

pub fn bound_power(problem: &mut Problem<'_>, var: Var, exponent: &Row) -> Result<(), Overflow> {
    let range = power_range(problem.row_bounds(exponent));
    // Nothing is said about the exponent: the leaf may stand in a branch not taken.
    set_range(problem, var, range);
    Ok(())
}

fn set_range(problem: &mut Problem<'_>, var: Var, range: Interval) {
    let met = problem.bounds[var as usize].meet(range);
    problem.bounds[var as usize] = met;
}

/// Pins operands of the leaf to the values they have now and returns the facts that define
/// it exactly under that. `None` where no pinning helps.
pub fn pin(
    problem: &mut Problem<'_>,
    leaf: LeafId,
    values: &[i128],
) -> Result<Option<Vec<Fact>>, Reason> {
    let Some(var) = problem.var_of(leaf) else { return Ok(None) };
    let value = Row::var(var);
    let facts = match *problem.terms.leaf(leaf) {
        Leaf::Product(a, b) => {
            let (a, b) = (problem.row(a)?, problem.row(b)?);
            let factor = a.evaluate(values)?;
            vec![equal(&a, factor)?, (Relation::Zero, value.add_scaled(-factor, &b)?)]
        }
        Leaf::Quotient { rounding, dividend, divisor } => {
            let (dividend, divisor) = (problem.row(dividend)?, problem.row(divisor)?);
            let (n, d) = (dividend.evaluate(values)?, divisor.evaluate(values)?);
            if d == 0 || n == i128::MIN {
                return Ok(None);
            }
            let quotient = crate::term::divide(rounding, n, d);
            vec![equal(&dividend, n)?, equal(&divisor, d)?, equal(&value, quotient)?]
        }
        Leaf::BitAnd(a, b) => {
            let (a, b) = (problem.row(a)?, problem.row(b)?);
            let (x, y) = (a.evaluate(values)?, b.evaluate(values)?);
            vec![equal(&a, x)?, equal(&b, y)?, equal(&value, x & y)?]
        }
        Leaf::PowerOfTwo(exponent) => {
            let exponent = problem.row(exponent)?;
            match exponent.evaluate(values)? {
                by @ 0..=126 => vec![equal(&exponent, by)?, equal(&value, 1 << by)?],
                _ => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(facts))
}

fn equal(row: &Row, value: i128) -> Result<Fact, Overflow> {
    Ok((Relation::Zero, row.clone().plus(value.checked_neg().ok_or(Overflow)?)?))
}
