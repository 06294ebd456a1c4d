//! A linear form over the solver's own dense variables, and what one row alone says.

use smallvec::SmallVec;

use crate::Relation;
use crate::linear::{Overflow, add_scaled_terms, ceil_div, gcd};

/// Dense index of a variable of one problem.
pub type Var = u32;
pub type Coefficients = SmallVec<[(Var, i128); 4]>;

/// `constant + sum(coefficient * variable)`, variables ascending, no coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub terms: Coefficients,
    pub constant: i128,
}

/// A row and how it compares with zero.
pub type Fact = (Relation, Row);

impl Row {
    pub fn constant(constant: i128) -> Self {
        Self { terms: SmallVec::new(), constant }
    }

    pub fn var(var: Var) -> Self {
        Self { terms: SmallVec::from_slice(&[(var, 1)]), constant: 0 }
    }

    pub fn coefficient(&self, var: Var) -> i128 {
        match self.terms.binary_search_by_key(&var, |(v, _)| *v) {
            Ok(index) => self.terms[index].1,
            Err(_) => 0,
        }
    }

    pub fn add_scaled(&self, factor: i128, other: &Row) -> Result<Row, Overflow> {
        let scaled = factor.checked_mul(other.constant).ok_or(Overflow)?;
        Ok(Row {
            constant: self.constant.checked_add(scaled).ok_or(Overflow)?,
            terms: add_scaled_terms(&self.terms, factor, &other.terms)?,
        })
    }

    pub fn scale(&self, factor: i128) -> Result<Row, Overflow> {
        if factor == 0 {
            return Ok(Row::default());
        }
        let times = |number: i128| number.checked_mul(factor).ok_or(Overflow);
        let terms = self.terms.iter().map(|(var, c)| Ok((*var, times(*c)?)));
        Ok(Row { constant: times(self.constant)?, terms: terms.collect::<Result<_, Overflow>>()? })
    }

    pub fn sub(&self, other: &Row) -> Result<Row, Overflow> {
        self.add_scaled(-1, other)
    }

    pub fn plus(mut self, constant: i128) -> Result<Row, Overflow> {
        self.constant = self.constant.checked_add(constant).ok_or(Overflow)?;
        Ok(self)
    }

    /// `self` with `definition` put for `var`.
    pub fn replace(&self, var: Var, definition: &Row) -> Result<Row, Overflow> {
        let factor = self.coefficient(var);
        let mut rest = self.clone();
        rest.terms.retain(|(v, _)| *v != var);
        rest.add_scaled(factor, definition)
    }

    pub fn evaluate(&self, values: &[i128]) -> Result<i128, Overflow> {
        self.terms.iter().try_fold(self.constant, |sum, (var, factor)| {
            let product = factor.checked_mul(values[*var as usize]).ok_or(Overflow)?;
            sum.checked_add(product).ok_or(Overflow)
        })
    }

    pub fn content(&self) -> i128 {
        self.terms.iter().fold(0, |g, (_, c)| gcd(g, *c))
    }

    /// Divides an inequality `self <= 0` by its content, rounding the constant up: every
    /// integer solution stays.
    pub fn tighten(&mut self) {
        let content = self.content();
        if content > 1 {
            self.terms.iter_mut().for_each(|(_, c)| *c /= content);
            self.constant = ceil_div(self.constant, content);
        }
    }
}

pub fn holds(fact: &Fact, values: &[i128]) -> Result<bool, Overflow> {
    let value = fact.1.evaluate(values)?;
    Ok(match fact.0 {
        Relation::AtMostZero => value <= 0,
        Relation::Zero => value == 0,
        Relation::NonZero => value != 0,
    })
}
