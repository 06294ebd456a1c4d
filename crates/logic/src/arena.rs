//! An arena whose symbols are named by keys of the user's choosing.

use std::hash::Hash;
use std::ops::{Deref, DerefMut};

use base::IdVec;
use rustc_hash::FxHashMap;

use crate::interval::Interval;
use crate::term::{FormulaId, SymbolId, TermId, Terms};

/// [`Terms`] plus the meaning of each symbol. Everything [`Terms`] can do works on it.
#[derive(Clone, Debug)]
pub struct Arena<K> {
    terms: Terms,
    keys: IdVec<SymbolId, K>,
    ids: FxHashMap<K, SymbolId>,
}

impl<K: Clone + Eq + Hash> Arena<K> {
    pub fn new() -> Self {
        Self { terms: Terms::new(), keys: IdVec::new(), ids: FxHashMap::default() }
    }

    /// The symbol of this key. Its domain is the one given at the first call.
    pub fn named(&mut self, key: K, domain: Interval) -> SymbolId {
        if let Some(symbol) = self.ids.get(&key) {
            return *symbol;
        }
        assert_eq!(
            self.terms.n_symbols(),
            self.keys.len(),
            "the symbols of an arena with keys all come from `named`"
        );
        let symbol = self.terms.fresh_symbol(domain);
        self.keys.push(key.clone());
        self.ids.insert(key, symbol);
        symbol
    }

    /// The term that is just the symbol of this key.
    pub fn named_term(&mut self, key: K, domain: Interval) -> TermId {
        let symbol = self.named(key, domain);
        self.terms.symbol(symbol)
    }

    pub fn find(&self, key: &K) -> Option<SymbolId> {
        self.ids.get(key).copied()
    }

    pub fn key(&self, symbol: SymbolId) -> &K {
        &self.keys[symbol]
    }

    /// Copies a formula of another arena here, symbols matched by key.
    pub fn adopt(&mut self, from: &Arena<K>, formula: FormulaId) -> FormulaId {
        let (keys, ids) = (&mut self.keys, &mut self.ids);
        self.terms.import(&from.terms, formula, |terms, symbol| {
            let key = from.key(symbol);
            let here = *ids.entry(key.clone()).or_insert_with(|| {
                keys.push(key.clone());
                terms.fresh_symbol(from.domain(symbol))
            });
            terms.symbol(here)
        })
    }
}

impl<K: Clone + Eq + Hash> Default for Arena<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Deref for Arena<K> {
    type Target = Terms;
    fn deref(&self) -> &Terms {
        &self.terms
    }
}

/// Symbols must come from [`Arena::named`]; one made by [`Terms::fresh_symbol`] would have no key.
impl<K> DerefMut for Arena<K> {
    fn deref_mut(&mut self) -> &mut Terms {
        &mut self.terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;

    #[test]
    fn substitution_turns_a_formula_into_the_one_before_an_assignment() {
        let mut arena = Arena::new();
        let x = arena.named("x", Interval::ALL);
        let (x_term, y_term) = (arena.symbol(x), arena.named_term("y", Interval::ALL));
        let (limit, by) = (arena.constant(10), arena.constant(3));
        let after = arena.compare(Comparison::Lt, x_term, limit);
        let sum = arena.add(y_term, by);
        let before = arena.substitute_in(after, |_, symbol| (symbol == x).then_some(sum));
        let names = |s: SymbolId| arena.key(s).to_string();
        assert_eq!(arena.show_formula(before, &names), "y <= 6");
        assert_eq!(arena.symbols_in(before), vec![arena.find(&"y").unwrap()]);
    }

    #[test]
    fn adopted_formulas_meet_the_symbols_of_the_same_key() {
        let mut from = Arena::new();
        let (a, b) = (from.named_term("a", Interval::ALL), from.named_term("b", Interval::ALL));
        let least = from.min(a, b);
        let formula = from.compare(Comparison::Eq, least, a);
        let mut to = Arena::new();
        to.named("b", Interval::ALL);
        let adopted = to.adopt(&from, formula);
        let (a, b) = (to.named_term("a", Interval::ALL), to.named_term("b", Interval::ALL));
        let least = to.min(a, b);
        assert_eq!(adopted, to.compare(Comparison::Eq, least, a));
    }
}
