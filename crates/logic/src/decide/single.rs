//! Conjunctions about a single symbol, which most checks at branches are.
//!
//! The answer and the model are those of the general procedure, found without its rows. Whatever
//! that might not come to an end with is left to it.

use super::Outcome;
use crate::formula::{Formula, Relation};
use crate::interval::Interval;
use crate::model::Model;
use crate::term::{FormulaId, Leaf, SymbolId, Terms};

/// The general procedure decides so many atoms, so many of them disequalities, within these steps.
const MAX_ATOMS: usize = 16;
const MAX_EXCLUDED: usize = 4;
pub const MIN_STEPS: u64 = 50;

/// Numbers beyond this may overflow in rows.
const MAX_NUMBER: i128 = 1 << 100;

/// What the atoms say of the symbol.
pub struct Single {
    symbol: Option<SymbolId>,
    bounds: Interval,
    /// Values it does not have, in the order of their atoms, and whether smaller ones are tried
    /// before larger ones.
    excluded: Vec<(i128, bool)>,
    n_atoms: usize,
}

impl Single {
    /// The conjunction, where it is about one symbol and simple.
    pub fn new(terms: &Terms, formulas: &[FormulaId]) -> Option<Self> {
        let mut single =
            Single { symbol: None, bounds: Interval::ALL, excluded: Vec::new(), n_atoms: 0 };
        for formula in formulas {
            single.add(terms, *formula)?;
        }
        (single.symbol.is_some() && is_small(single.bounds)).then_some(single)
    }

    /// Whether a model satisfies it.
    pub fn holds_in(&self, terms: &Terms, model: &Model) -> bool {
        let Some(symbol) = self.symbol else { return true };
        let nearest = || terms.domain(symbol).nearest_to_zero();
        let value = model.get(symbol).unwrap_or_else(nearest);
        self.bounds.contains(value) && !self.excluded.iter().any(|(other, _)| *other == value)
    }

    pub fn decide(&self) -> Outcome {
        match (self.symbol, first_allowed(self.bounds, &self.excluded)) {
            (Some(symbol), Some(value)) => {
                let mut model = Model::default();
                model.set(symbol, value);
                Outcome::Sat(model)
            }
            _ => Outcome::Unsat,
        }
    }

    /// Takes in a formula; `None` where it is not simple.
    fn add(&mut self, terms: &Terms, formula: FormulaId) -> Option<()> {
        match terms.formula(formula) {
            Formula::True => Some(()),
            Formula::Atom(relation, term) => {
                let linear = terms.linear(*term);
                let [(leaf, factor)] = linear.terms.as_slice() else { return None };
                let Leaf::Symbol(symbol) = *terms.leaf(*leaf) else { return None };
                if *self.symbol.get_or_insert(symbol) != symbol {
                    return None;
                }
                if self.n_atoms == 0 {
                    self.bounds = terms.leaf_range(*leaf);
                }
                self.add_atom(*relation, *factor, linear.constant)
            }
            Formula::And(parts) => parts.iter().try_for_each(|part| self.add(terms, *part)),
            Formula::False | Formula::Or(_) => None,
        }
    }

    /// `factor * symbol + constant` compares with zero.
    fn add_atom(&mut self, relation: Relation, factor: i128, constant: i128) -> Option<()> {
        self.n_atoms += 1;
        if self.n_atoms > MAX_ATOMS || factor.abs() != 1 || constant.abs() > MAX_NUMBER {
            return None;
        }
        let zero_at = -constant * factor;
        match relation {
            Relation::AtMostZero if factor > 0 => {
                self.bounds = self.bounds.meet(Interval { low: None, high: Some(zero_at) });
            }
            Relation::AtMostZero => self.bounds = self.bounds.meet(Interval::at_least(zero_at)),
            Relation::Zero => self.bounds = self.bounds.meet(Interval::exactly(zero_at)),
            Relation::NonZero => self.excluded.push((zero_at, factor > 0)),
        }
        (self.excluded.len() <= MAX_EXCLUDED).then_some(())
    }
}

fn is_small(bounds: Interval) -> bool {
    [bounds.low, bounds.high].into_iter().flatten().all(|bound| bound.abs() <= MAX_NUMBER)
}

/// The value nearest to zero where it is allowed; otherwise the first of what lies on one side of
/// it, then on the other.
fn first_allowed(bounds: Interval, excluded: &[(i128, bool)]) -> Option<i128> {
    if bounds.is_empty() {
        return None;
    }
    let value = bounds.nearest_to_zero();
    let Some((_, smaller_first)) = excluded.iter().find(|(other, _)| *other == value) else {
        return Some(value);
    };
    let smaller = bounds.meet(Interval { low: None, high: Some(value - 1) });
    let larger = bounds.meet(Interval::at_least(value + 1));
    let sides = if *smaller_first { [smaller, larger] } else { [larger, smaller] };
    sides.into_iter().find_map(|side| first_allowed(side, excluded))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decide;
    use super::*;

    proptest! {
        #[test]
        fn answers_and_models_are_those_of_the_general_procedure(
            (low, high) in (-6i128..6, -6i128..6),
            atoms in proptest::collection::vec((0..3u8, any::<bool>(), -6i128..6), 1..12),
        ) {
            let mut terms = Terms::new();
            let symbol = terms.fresh_symbol(Interval::new(low.min(high), low.max(high)));
            let symbol = terms.symbol(symbol);
            let formulas: Vec<FormulaId> = atoms.into_iter().map(|(relation, is_negated, number)| {
                let relation =
                    [Relation::AtMostZero, Relation::Zero, Relation::NonZero][relation as usize];
                let term = terms.scale(if is_negated { -1 } else { 1 }, symbol);
                let term = terms.add_constant(term, number);
                terms.atom(relation, term)
            }).collect();
            if let Some(single) = Single::new(&terms, &formulas) {
                prop_assert_eq!(single.decide(), decide(&terms, &formulas, MIN_STEPS));
            }
        }
    }
}
