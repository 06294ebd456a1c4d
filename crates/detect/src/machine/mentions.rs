//! Which symbols formulas mention: asked of every condition of a path at every check.

use std::rc::Rc;

use logic::{FormulaId, SymbolId, Terms};

/// The symbols of formulas, by the number of the formula.
#[derive(Default)]
pub struct FormulaSymbols {
    known: Vec<Option<Rc<[SymbolId]>>>,
}

impl FormulaSymbols {
    pub fn learn(&mut self, terms: &Terms, formula: FormulaId) {
        let index = formula.0 as usize;
        if index >= self.known.len() {
            self.known.resize(index + 1, None);
        }
        if self.known[index].is_none() {
            self.known[index] = Some(terms.symbols_in(formula).into());
        }
    }

    /// Those of a formula that was learnt.
    pub fn known(&self, formula: FormulaId) -> &Rc<[SymbolId]> {
        self.known[formula.0 as usize].as_ref().expect("the formula was learnt")
    }
}

/// A set of symbols: they are numbered without gaps.
#[derive(Default)]
pub struct SymbolSet {
    words: Vec<u64>,
}

impl SymbolSet {
    pub fn add(&mut self, symbols: &[SymbolId]) {
        // They ascend.
        let Some(last) = symbols.last() else { return };
        let n_words = last.0 as usize / 64 + 1;
        if n_words > self.words.len() {
            self.words.resize(n_words, 0);
        }
        for symbol in symbols {
            self.words[symbol.0 as usize / 64] |= 1 << (symbol.0 % 64);
        }
    }

    pub fn meets(&self, symbols: &[SymbolId]) -> bool {
        symbols.iter().any(|symbol| {
            let word = self.words.get(symbol.0 as usize / 64);
            word.is_some_and(|word| word & (1 << (symbol.0 % 64)) != 0)
        })
    }
}
