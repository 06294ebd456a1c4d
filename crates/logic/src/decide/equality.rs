//! Solving linear equalities over the integers by substitution.

use base::Budget;

use super::Reason;
use super::row::{Row, Var};
use crate::linear::{Overflow, floor_div};

/// Substitutes all equalities away. Definitions are to be evaluated from last to first;
/// new variables may appear. False where an equality has no integer solution.
pub fn eliminate(
    n_vars: &mut u32,
    mut equalities: Vec<Row>,
    rows: &mut [Row],
    definitions: &mut Vec<(Var, Row)>,
    budget: &mut Budget,
) -> Result<bool, Reason> {
    while let Some(mut equality) = equalities.pop() {
        budget.spend(1 + equalities.len() as u64).map_err(|_| Reason::StepLimit)?;
        if equality.terms.is_empty() {
            if equality.constant != 0 {
                return Ok(false);
            }
            continue;
        }
        let content = equality.content();
        if equality.constant % content != 0 {
            return Ok(false);
        }
        equality.constant /= content;
        equality.terms.iter_mut().for_each(|(_, c)| *c /= content);

        let (var, definition) = match unit_definition(&equality)? {
            Some(solved) => solved,
            None => {
                let solved = modulus_step(&equality, *n_vars)?;
                *n_vars += 1;
                // The equality itself stays, with smaller coefficients.
                equalities.push(equality);
                solved
            }
        };
        for row in equalities.iter_mut().chain(rows.iter_mut()) {
            if row.coefficient(var) != 0 {
                *row = row.replace(var, &definition)?;
            }
        }
        definitions.push((var, definition));
    }
    Ok(true)
}

/// `var = rest` for the last variable with coefficient one.
fn unit_definition(equality: &Row) -> Result<Option<(Var, Row)>, Overflow> {
    let unit = equality.terms.iter().rev().find(|(_, c)| c.abs() == 1);
    let Some((var, coefficient)) = unit.copied() else { return Ok(None) };
    let mut rest = equality.clone();
    rest.terms.retain(|(v, _)| *v != var);
    Ok(Some((var, rest.scale(-coefficient)?)))
}

/// Pugh's step: with the smallest coefficient a of x and m = |a| + 1, a new variable s gives
/// x = -sign(a) m s + sum(sign(a) mod(a_i, m) x_i) + sign(a) mod(c, m), and the equality's
/// coefficients shrink.
fn modulus_step(equality: &Row, fresh: Var) -> Result<(Var, Row), Overflow> {
    let (var, coefficient) = *equality
        .terms
        .iter()
        .min_by_key(|(_, c)| c.unsigned_abs())
        .expect("an equality without variables was handled before");
    let sign = coefficient.signum();
    let modulus = coefficient.checked_abs().and_then(|a| a.checked_add(1)).ok_or(Overflow)?;
    let mut definition = Row::constant(sign * centred_mod(equality.constant, modulus)?);
    for (other, c) in equality.terms.iter().filter(|(other, _)| *other != var) {
        let reduced = sign * centred_mod(*c, modulus)?;
        if reduced != 0 {
            definition.terms.push((*other, reduced));
        }
    }
    definition.terms.push((fresh, -sign * modulus));
    Ok((var, definition))
}

/// The residue of least absolute value.
fn centred_mod(value: i128, modulus: i128) -> Result<i128, Overflow> {
    let doubled = value.checked_mul(2).and_then(|v| v.checked_add(modulus)).ok_or(Overflow)?;
    let quotient = floor_div(doubled, modulus.checked_mul(2).ok_or(Overflow)?);
    value.checked_sub(modulus.checked_mul(quotient).ok_or(Overflow)?).ok_or(Overflow)
}
