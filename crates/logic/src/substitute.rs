//! Replacing symbols by terms: how a backward analysis applies a transition.

use rustc_hash::FxHashMap;

use crate::formula::Formula;
use crate::interval::Interval;
use crate::linear::Linear;
use crate::term::{FormulaId, Leaf, LeafId, SymbolId, TermId, Terms};

/// One substitution at work, with the results so far, so that shared parts are rewritten once.
/// With a source arena of its own, it also carries terms from one arena to another.
struct Rewriting<'a, F> {
    /// Where the originals live; `None` where they live in the arena written to.
    from: Option<&'a Terms>,
    replace: F,
    leaves: FxHashMap<LeafId, TermId>,
    formulas: FxHashMap<FormulaId, FormulaId>,
}

impl Terms {
    /// `term` with each symbol that `replace` answers for replaced.
    pub fn substitute(
        &mut self,
        term: TermId,
        replace: impl FnMut(&mut Terms, SymbolId) -> Option<TermId>,
    ) -> TermId {
        Rewriting::new(None, replace).term(self, term)
    }

    pub fn substitute_in(
        &mut self,
        formula: FormulaId,
        replace: impl FnMut(&mut Terms, SymbolId) -> Option<TermId>,
    ) -> FormulaId {
        Rewriting::new(None, replace).formula(self, formula)
    }

    /// Copies a formula from another arena; `translate` says what each of its symbols is here.
    pub fn import(
        &mut self,
        from: &Terms,
        formula: FormulaId,
        mut translate: impl FnMut(&mut Terms, SymbolId) -> TermId,
    ) -> FormulaId {
        let replace = |terms: &mut Terms, symbol| Some(translate(terms, symbol));
        Rewriting::new(Some(from), replace).formula(self, formula)
    }

    pub fn import_term(
        &mut self,
        from: &Terms,
        term: TermId,
        mut translate: impl FnMut(&mut Terms, SymbolId) -> TermId,
    ) -> TermId {
        let replace = |terms: &mut Terms, symbol| Some(translate(terms, symbol));
        Rewriting::new(Some(from), replace).term(self, term)
    }

    /// The symbols of a formula, ascending.
    pub fn symbols_in(&self, formula: FormulaId) -> Vec<SymbolId> {
        let mut symbols = Symbols::default();
        symbols.visit_formula(self, formula);
        symbols.sorted()
    }

    /// The terms of a formula that are reduced to so many bits, each with what it is reduced to.
    pub fn wraps_in(&self, formula: FormulaId, bits: u32) -> Vec<(TermId, Interval)> {
        let mut symbols = Symbols::default();
        symbols.visit_formula(self, formula);
        let mut leaves: Vec<LeafId> = symbols.leaves.into_iter().collect();
        leaves.sort_unstable();
        let wrapped = leaves.into_iter().filter_map(|leaf| match *self.leaf(leaf) {
            Leaf::Wrap { term, bits: width, signed } if width == bits => {
                Some((term, Interval::of_width(bits, signed)))
            }
            _ => None,
        });
        wrapped.collect()
    }

    /// The symbols of a term, ascending.
    pub fn symbols(&self, term: TermId) -> Vec<SymbolId> {
        let mut symbols = Symbols::default();
        symbols.visit_term(self, term);
        symbols.sorted()
    }

    pub(crate) fn symbols_of_leaf(&self, leaf: LeafId) -> Vec<SymbolId> {
        let mut symbols = Symbols::default();
        symbols.visit_leaf(self, leaf);
        symbols.sorted()
    }
}

impl<'a, F: FnMut(&mut Terms, SymbolId) -> Option<TermId>> Rewriting<'a, F> {
    fn new(from: Option<&'a Terms>, replace: F) -> Self {
        Self { from, replace, leaves: FxHashMap::default(), formulas: FxHashMap::default() }
    }

    fn term(&mut self, to: &mut Terms, term: TermId) -> TermId {
        let linear = self.from.unwrap_or(to).linear(term).clone();
        let mut result = to.constant(linear.constant);
        for (leaf, factor) in linear.terms {
            let leaf = self.leaf(to, leaf);
            result = to.add_scaled(result, factor, leaf);
        }
        result
    }

    fn leaf(&mut self, to: &mut Terms, id: LeafId) -> TermId {
        if let Some(done) = self.leaves.get(&id) {
            return *done;
        }
        let original = self.from.unwrap_or(to).leaf(id).clone();
        let result = match original {
            Leaf::Symbol(symbol) => (self.replace)(to, symbol).unwrap_or_else(|| to.symbol(symbol)),
            Leaf::Product(a, b) => {
                let (a, b) = (self.term(to, a), self.term(to, b));
                to.mul(a, b)
            }
            Leaf::Quotient { rounding, dividend, divisor } => {
                let (a, b) = (self.term(to, dividend), self.term(to, divisor));
                to.divide(rounding, a, b)
            }
            Leaf::Min(a, b) => {
                let (a, b) = (self.term(to, a), self.term(to, b));
                to.min(a, b)
            }
            Leaf::Wrap { term, bits, signed } => {
                let term = self.term(to, term);
                to.wrap(term, bits, signed)
            }
            Leaf::Choice { condition, then, otherwise, .. } => {
                let condition = self.formula(to, condition);
                let (then, otherwise) = (self.term(to, then), self.term(to, otherwise));
                to.choice(condition, then, otherwise)
            }
            Leaf::BitAnd(a, b) => {
                let (a, b) = (self.term(to, a), self.term(to, b));
                to.bit_and(a, b)
            }
            Leaf::PowerOfTwo(exponent) => {
                let exponent = self.term(to, exponent);
                to.power_of_two(exponent)
            }
            Leaf::Unrepresentable(_) if self.from.is_some() => to.unrepresentable(),
            Leaf::Unrepresentable(_) => to.intern(Linear::leaf(id)),
        };
        self.leaves.insert(id, result);
        result
    }

    fn formula(&mut self, to: &mut Terms, id: FormulaId) -> FormulaId {
        if let Some(done) = self.formulas.get(&id) {
            return *done;
        }
        let original = self.from.unwrap_or(to).formula(id).clone();
        let result = match original {
            Formula::True | Formula::False => id,
            Formula::Atom(relation, term) => {
                let term = self.term(to, term);
                to.atom(relation, term)
            }
            Formula::And(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.formula(to, *part)).collect();
                to.and(&parts)
            }
            Formula::Or(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.formula(to, *part)).collect();
                to.or(&parts)
            }
        };
        self.formulas.insert(id, result);
        result
    }
}

/// Collects symbols; what is more than a symbol or a single atom is visited once.
#[derive(Default)]
struct Symbols {
    found: Vec<SymbolId>,
    leaves: rustc_hash::FxHashSet<LeafId>,
    formulas: rustc_hash::FxHashSet<FormulaId>,
}

impl Symbols {
    fn sorted(mut self) -> Vec<SymbolId> {
        self.found.sort_unstable();
        self.found.dedup();
        self.found
    }

    fn visit_term(&mut self, terms: &Terms, term: TermId) {
        for (leaf, _) in &terms.linear(term).terms {
            self.visit_leaf(terms, *leaf);
        }
    }

    fn visit_leaf(&mut self, terms: &Terms, leaf: LeafId) {
        if let Leaf::Symbol(symbol) = *terms.leaf(leaf) {
            self.found.push(symbol);
            return;
        }
        if !self.leaves.insert(leaf) {
            return;
        }
        match *terms.leaf(leaf) {
            Leaf::Product(a, b) | Leaf::Min(a, b) | Leaf::BitAnd(a, b) => {
                self.visit_term(terms, a);
                self.visit_term(terms, b);
            }
            Leaf::Quotient { dividend, divisor, .. } => {
                self.visit_term(terms, dividend);
                self.visit_term(terms, divisor);
            }
            Leaf::Wrap { term, .. } | Leaf::PowerOfTwo(term) => self.visit_term(terms, term),
            Leaf::Choice { condition, then, otherwise, .. } => {
                self.visit_formula(terms, condition);
                self.visit_term(terms, then);
                self.visit_term(terms, otherwise);
            }
            Leaf::Symbol(_) | Leaf::Unrepresentable(_) => {}
        }
    }

    fn visit_formula(&mut self, terms: &Terms, formula: FormulaId) {
        match terms.formula(formula) {
            Formula::True | Formula::False => {}
            Formula::Atom(_, term) => self.visit_term(terms, *term),
            Formula::And(parts) | Formula::Or(parts) if self.formulas.insert(formula) => {
                for part in parts {
                    self.visit_formula(terms, *part);
                }
            }
            Formula::And(_) | Formula::Or(_) => {}
        }
    }
}
