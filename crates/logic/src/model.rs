//! Assignments of integers to symbols, and the evaluator every `Sat` passes through.

use std::collections::BTreeMap;

use crate::formula::{Formula, Relation};
use crate::term::{FormulaId, Leaf, SymbolId, TermId, Terms, divide, wrap};

/// Values of symbols. A symbol without an entry has the value of its domain nearest to zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    values: BTreeMap<SymbolId, i128>,
}

impl Model {
    pub fn set(&mut self, symbol: SymbolId, value: i128) {
        self.values.insert(symbol, value);
    }

    pub fn get(&self, symbol: SymbolId) -> Option<i128> {
        self.values.get(&symbol).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, i128)> + '_ {
        self.values.iter().map(|(symbol, value)| (*symbol, *value))
    }

    /// The value of a term; `None` where it has none (division by zero) or it needs a
    /// number outside `i128`.
    pub fn evaluate(&self, terms: &Terms, term: TermId) -> Option<i128> {
        let linear = terms.linear(term);
        let mut sum = linear.constant;
        for (leaf, factor) in &linear.terms {
            let value = self.evaluate_leaf(terms, terms.leaf(*leaf))?;
            sum = sum.checked_add(value.checked_mul(*factor)?)?;
        }
        Some(sum)
    }

    pub(crate) fn evaluate_leaf(&self, terms: &Terms, leaf: &Leaf) -> Option<i128> {
        match *leaf {
            Leaf::Symbol(symbol) => {
                Some(self.get(symbol).unwrap_or_else(|| terms.domain(symbol).nearest_to_zero()))
            }
            Leaf::Product(a, b) => self.evaluate(terms, a)?.checked_mul(self.evaluate(terms, b)?),
            Leaf::Quotient { rounding, dividend, divisor } => {
                let divisor = self.evaluate(terms, divisor)?;
                let dividend = self.evaluate(terms, dividend)?;
                (divisor != 0 && dividend != i128::MIN).then(|| divide(rounding, dividend, divisor))
            }
            Leaf::Min(a, b) => Some(self.evaluate(terms, a)?.min(self.evaluate(terms, b)?)),
            Leaf::Wrap { term, bits, signed } => {
                Some(wrap(self.evaluate(terms, term)?, bits, signed))
            }
            Leaf::Choice { condition, then, otherwise, .. } => {
                let chosen = if self.satisfies(terms, condition)? { then } else { otherwise };
                self.evaluate(terms, chosen)
            }
            Leaf::BitAnd(a, b) => Some(self.evaluate(terms, a)? & self.evaluate(terms, b)?),
            Leaf::PowerOfTwo(exponent) => match self.evaluate(terms, exponent)? {
                exponent @ 0..=126 => Some(1 << exponent),
                _ => None,
            },
            Leaf::Unrepresentable(_) => None,
        }
    }

    /// Whether the formula holds; `None` where that hangs on a term without a value.
    pub fn satisfies(&self, terms: &Terms, formula: FormulaId) -> Option<bool> {
        match terms.formula(formula) {
            Formula::True => Some(true),
            Formula::False => Some(false),
            Formula::Atom(relation, term) => {
                let value = self.evaluate(terms, *term)?;
                Some(match relation {
                    Relation::AtMostZero => value <= 0,
                    Relation::Zero => value == 0,
                    Relation::NonZero => value != 0,
                })
            }
            Formula::And(parts) => self.connective(terms, parts, false),
            Formula::Or(parts) => self.connective(terms, parts, true),
        }
    }

    /// A single part with the `deciding` value decides; otherwise any unknown part spoils it.
    fn connective(&self, terms: &Terms, parts: &[FormulaId], deciding: bool) -> Option<bool> {
        let mut known = true;
        for part in parts {
            match self.satisfies(terms, *part) {
                Some(value) if value == deciding => return Some(deciding),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(!deciding)
    }
}
