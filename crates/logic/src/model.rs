//! Assignments of integers to symbols, and the evaluator every `Sat` passes through.

use rustc_hash::FxHashMap;

use crate::formula::{Formula, Relation};
use crate::term::{FormulaId, Leaf, LeafId, SymbolId, TermId, Terms, divide, wrap};

/// Values of symbols. A symbol without an entry has the value of its domain nearest to zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Ascending. Models are small and often copied.
    values: Vec<(SymbolId, i128)>,
}

impl Model {
    pub fn set(&mut self, symbol: SymbolId, value: i128) {
        match self.place(symbol) {
            Ok(index) => self.values[index].1 = value,
            Err(index) => self.values.insert(index, (symbol, value)),
        }
    }

    pub fn get(&self, symbol: SymbolId) -> Option<i128> {
        self.place(symbol).ok().map(|index| self.values[index].1)
    }

    fn place(&self, symbol: SymbolId) -> Result<usize, usize> {
        self.values.binary_search_by_key(&symbol, |(symbol, _)| *symbol)
    }

    pub fn iter(&self) -> impl Iterator<Item = (SymbolId, i128)> + '_ {
        self.values.iter().copied()
    }

    /// The value of a term; `None` where it has none (division by zero) or it needs a
    /// number outside `i128`.
    pub fn evaluate(&self, terms: &Terms, term: TermId) -> Option<i128> {
        Evaluation::new(self, terms).term(term)
    }

    pub(crate) fn evaluate_leaf(&self, terms: &Terms, leaf: LeafId) -> Option<i128> {
        Evaluation::new(self, terms).leaf(leaf)
    }

    /// Whether the formula holds; `None` where that hangs on a term without a value.
    pub fn satisfies(&self, terms: &Terms, formula: FormulaId) -> Option<bool> {
        Evaluation::new(self, terms).formula(formula)
    }

    /// Whether all formulas surely hold. The last come first: they are the newest, and what
    /// a model of older checks most likely does not satisfy.
    pub fn satisfies_all(&self, terms: &Terms, formulas: &[FormulaId]) -> bool {
        let mut evaluation = Evaluation::new(self, terms);
        formulas.iter().rev().all(|formula| evaluation.formula(*formula) == Some(true))
    }
}

/// One evaluation; leaves that several terms share are evaluated once.
struct Evaluation<'a> {
    model: &'a Model,
    terms: &'a Terms,
    leaves: FxHashMap<LeafId, Option<i128>>,
}

impl<'a> Evaluation<'a> {
    fn new(model: &'a Model, terms: &'a Terms) -> Self {
        Self { model, terms, leaves: FxHashMap::default() }
    }

    fn term(&mut self, term: TermId) -> Option<i128> {
        let linear = self.terms.linear(term);
        let mut sum = linear.constant;
        for (leaf, factor) in &linear.terms {
            sum = sum.checked_add(self.leaf(*leaf)?.checked_mul(*factor)?)?;
        }
        Some(sum)
    }

    fn leaf(&mut self, id: LeafId) -> Option<i128> {
        if let Leaf::Symbol(symbol) = *self.terms.leaf(id) {
            let nearest = || self.terms.domain(symbol).nearest_to_zero();
            return Some(self.model.get(symbol).unwrap_or_else(nearest));
        }
        if let Some(known) = self.leaves.get(&id) {
            return *known;
        }
        let value = self.operation(id);
        self.leaves.insert(id, value);
        value
    }

    fn operation(&mut self, id: LeafId) -> Option<i128> {
        match *self.terms.leaf(id) {
            Leaf::Symbol(_) => self.leaf(id),
            Leaf::Product(a, b) => self.term(a)?.checked_mul(self.term(b)?),
            Leaf::Quotient { rounding, dividend, divisor } => {
                let (divisor, dividend) = (self.term(divisor)?, self.term(dividend)?);
                (divisor != 0 && dividend != i128::MIN).then(|| divide(rounding, dividend, divisor))
            }
            Leaf::Min(a, b) => Some(self.term(a)?.min(self.term(b)?)),
            Leaf::Wrap { term, bits, signed } => Some(wrap(self.term(term)?, bits, signed)),
            Leaf::Choice { condition, then, otherwise, .. } => {
                let chosen = if self.formula(condition)? { then } else { otherwise };
                self.term(chosen)
            }
            Leaf::BitAnd(a, b) => Some(self.term(a)? & self.term(b)?),
            Leaf::PowerOfTwo(exponent) => match self.term(exponent)? {
                exponent @ 0..=126 => Some(1 << exponent),
                _ => None,
            },
            Leaf::Unrepresentable(_) => None,
        }
    }

    fn formula(&mut self, formula: FormulaId) -> Option<bool> {
        match self.terms.formula(formula) {
            Formula::True => Some(true),
            Formula::False => Some(false),
            Formula::Atom(relation, term) => {
                let value = self.term(*term)?;
                Some(match relation {
                    Relation::AtMostZero => value <= 0,
                    Relation::Zero => value == 0,
                    Relation::NonZero => value != 0,
                })
            }
            Formula::And(parts) => self.connective(parts, false),
            Formula::Or(parts) => self.connective(parts, true),
        }
    }

    /// A single part with the `deciding` value decides; otherwise any unknown part spoils it.
    fn connective(&mut self, parts: &[FormulaId], deciding: bool) -> Option<bool> {
        let mut known = true;
        for part in parts {
            match self.formula(*part) {
                Some(value) if value == deciding => return Some(deciding),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(!deciding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Interval};

    /// Each level mentions the one below three times.
    #[test]
    fn shared_terms_are_evaluated_once() {
        let mut terms = Terms::new();
        let symbol = terms.fresh_symbol(Interval::new(0, 1000));
        let mut term = terms.symbol(symbol);
        for level in 0..20 {
            let limit = terms.constant(level);
            let above = terms.compare(Comparison::Gt, term, limit);
            let next = terms.add_constant(term, 1);
            let twice = terms.add_constant(term, 2);
            term = terms.choice(above, next, twice);
        }
        let mut model = Model::default();
        model.set(symbol, 500);
        assert_eq!(model.evaluate(&terms, term), Some(520));
    }

    #[test]
    fn endless_nesting_ends_in_an_unknown_value() {
        let mut terms = Terms::new();
        let symbol = terms.fresh_symbol(Interval::ALL);
        let mut term = terms.symbol(symbol);
        for level in 0..2_000 {
            let limit = terms.constant(level);
            term = terms.min(term, limit);
            term = terms.add_constant(term, 2);
        }
        assert_eq!(Model::default().evaluate(&terms, term), None);
    }
}
