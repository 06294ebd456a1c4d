//! What all states of one search share: terms, symbols, and the prover.

use std::rc::Rc;
use std::sync::Arc;

use logic::{FormulaId, Interval, Leaf, Outcome, Solver, SymbolId, TermId, Terms};
use program::{GlobalId, LocId, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::path::Path;
use super::symbols::{SymbolInfo, SymbolKind, Symbols};
use super::value::Value;
use crate::outside::View;
use crate::suspects::Suspects;

pub struct Context<'p> {
    pub program: &'p Program,
    pub terms: Terms,
    pub symbols: Symbols,
    pub solver: Solver,
    /// Terms that count as signed numbers of this width because the program would be
    /// undefined if they were not.
    exact: FxHashSet<(TermId, u32)>,
    /// Made-up values that are not initialised where the formula holds.
    pub uninit_where: FxHashMap<SymbolId, FormulaId>,
    /// Globals that hold their initialiser when the outermost function starts.
    initialized: Arc<[bool]>,
    formula_symbols: FxHashMap<FormulaId, Rc<[SymbolId]>>,
    /// Pointers that callers may hand over spoilt.
    pub suspects: Arc<Suspects>,
    /// Results of calls that were handed something from outside.
    pub answers: FxHashSet<SymbolId>,
    /// What memory handed to the interface may hold.
    pub outside: View,
    /// Sibling paths ask the same again and again.
    decided: FxHashMap<Box<[FormulaId]>, Feasible>,
}

/// Whether a path can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feasible {
    Yes,
    No,
    Undecided,
}

impl<'p> Context<'p> {
    pub fn new(program: &'p Program, solver: Solver, initialized: Arc<[bool]>) -> Self {
        Self {
            program,
            terms: Terms::new(),
            symbols: Symbols::default(),
            solver,
            exact: FxHashSet::default(),
            initialized,
            uninit_where: FxHashMap::default(),
            formula_symbols: FxHashMap::default(),
            suspects: Arc::default(),
            answers: FxHashSet::default(),
            outside: View::default(),
            decided: FxHashMap::default(),
        }
    }

    pub fn fresh(
        &mut self,
        domain: Interval,
        kind: SymbolKind,
        name: impl Into<Box<str>>,
        loc: LocId,
    ) -> TermId {
        let symbol = self.terms.fresh_symbol(domain);
        let same = self.symbols.push(SymbolInfo { kind, name: name.into(), loc });
        assert_eq!(symbol, same, "every symbol of a search has its info");
        self.terms.symbol(symbol)
    }

    /// A truth value of its own.
    pub fn fresh_bool(
        &mut self,
        kind: SymbolKind,
        name: impl Into<Box<str>>,
        loc: LocId,
    ) -> FormulaId {
        let bit = self.fresh(Interval::new(0, 1), kind, name, loc);
        let one = self.terms.constant(1);
        self.terms.compare(logic::Comparison::Eq, bit, one)
    }

    /// The symbol that stands for a made-up value.
    pub fn name_of(&mut self, value: Value) -> Option<SymbolId> {
        match value {
            Value::Int(term) => self.terms.as_symbol(term),
            Value::Float(float) if float.known.is_none() => {
                self.symbols_in(float.is_zero).first().copied()
            }
            _ => None,
        }
    }

    pub fn keeps_initializer(&self, global: GlobalId) -> bool {
        self.initialized.get(global.0 as usize).copied().unwrap_or(false)
    }

    pub fn constant(&mut self, value: i128) -> TermId {
        self.terms.constant(value)
    }

    /// Whether the path's conditions imply `formula`. False where that is not known.
    pub fn prove(&mut self, path: &Path, formula: FormulaId) -> bool {
        if formula == Terms::TRUE {
            return true;
        }
        if formula == Terms::FALSE {
            return path.is_dead;
        }
        let negation = self.terms.not(formula);
        self.feasible(path, &[negation]) == Feasible::No
    }

    /// Whether the path can be taken with `extra` holding too. The path without `extra`
    /// must be feasible: only conditions connected with `extra` are looked at.
    pub fn feasible(&mut self, path: &Path, extra: &[FormulaId]) -> Feasible {
        if path.is_dead || extra.contains(&Terms::FALSE) {
            return Feasible::No;
        }
        if extra.iter().all(|formula| *formula == Terms::TRUE) {
            return Feasible::Yes;
        }
        let formulas = self.connected(path, extra);
        self.decide(&formulas)
    }

    /// Whether all conditions of the path can hold together.
    pub fn is_feasible(&mut self, path: &Path) -> Feasible {
        if path.is_dead {
            return Feasible::No;
        }
        self.decide(&path.formulas())
    }

    /// Our own procedure alone: it runs at every branch.
    fn decide(&mut self, formulas: &[FormulaId]) -> Feasible {
        if let Some(known) = self.decided.get(formulas) {
            return *known;
        }
        let feasible = match self.solver.check_here(&self.terms, formulas) {
            Outcome::Sat(_) => Feasible::Yes,
            Outcome::Unsat => Feasible::No,
            Outcome::Unknown(_) => Feasible::Undecided,
        };
        self.decided.insert(formulas.into(), feasible);
        feasible
    }

    /// From now on `term` counts as a signed number of this width.
    pub fn declare_exact(&mut self, term: TermId, bits: u32) {
        self.exact.insert((term, bits));
    }

    /// Reduces to a width, first forgetting wraps inside that cannot matter.
    pub fn wrap(&mut self, mut term: TermId, bits: u32, signed: bool) -> TermId {
        let target = Interval::of_width(bits, signed);
        while !self.terms.range(term).is_within(target) {
            if signed && self.exact.contains(&(term, bits)) {
                return term;
            }
            let leaf = self.terms.linear(term).as_leaf();
            match leaf.map(|leaf| self.terms.leaf(leaf)) {
                Some(Leaf::Wrap { term: inner, bits: inner_bits, .. }) if *inner_bits >= bits => {
                    term = *inner;
                }
                _ => break,
            }
        }
        self.terms.wrap(term, bits, signed)
    }

    /// `extra` and the path's conditions that share symbols with it, directly or not.
    pub fn connected(&mut self, path: &Path, extra: &[FormulaId]) -> Vec<FormulaId> {
        let mut reached: FxHashSet<SymbolId> = FxHashSet::default();
        for formula in extra {
            reached.extend(self.symbols_in(*formula).iter().copied());
        }
        let mut waiting: Vec<(FormulaId, Rc<[SymbolId]>)> = path
            .formulas()
            .into_iter()
            .map(|formula| (formula, self.symbols_in(formula)))
            .collect();
        let mut formulas = extra.to_vec();
        loop {
            let before = waiting.len();
            waiting.retain(|(formula, symbols)| {
                let connected = symbols.iter().any(|symbol| reached.contains(symbol));
                if connected {
                    formulas.push(*formula);
                    reached.extend(symbols.iter().copied());
                }
                !connected
            });
            if waiting.len() == before {
                formulas.sort_unstable();
                formulas.dedup();
                return formulas;
            }
        }
    }

    pub fn symbols_in(&mut self, formula: FormulaId) -> Rc<[SymbolId]> {
        if let Some(symbols) = self.formula_symbols.get(&formula) {
            return symbols.clone();
        }
        let symbols: Rc<[SymbolId]> = self.terms.symbols_in(formula).into();
        self.formula_symbols.insert(formula, symbols.clone());
        symbols
    }
}
