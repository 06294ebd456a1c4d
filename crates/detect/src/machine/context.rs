//! What all states of one search share: terms, symbols, and the prover.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use logic::{FormulaId, Interval, Leaf, Outcome, Solver, SymbolId, TermId, Terms};
use program::{GlobalId, LocId, Program, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

use super::mentions::{FormulaSymbols, SymbolSet};
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
    pub uninit_where: FxHashMap<TermId, FormulaId>,
    /// Globals that hold their initialiser when the outermost function starts.
    initialized: Arc<[bool]>,
    formula_symbols: FormulaSymbols,
    /// What was last found for a path, and formulas with these symbols.
    last_premises: Option<(Path, Rc<[SymbolId]>, Vec<FormulaId>)>,
    /// Pointers that callers may hand over spoilt.
    pub suspects: Arc<Suspects>,
    /// Made-up values that stand for what was left in memory before they were first read.
    pub left: FxHashMap<SymbolId, Left>,
    /// The smallest and largest number of tables, by how they are read.
    pub tables: FxHashMap<(GlobalId, Ty, bool, i128), Option<Interval>>,
    /// Results of calls that were handed something from outside.
    pub answers: FxHashSet<SymbolId>,
    /// What memory handed to the interface may hold.
    pub outside: View,
    /// What is about to be reported is worth the prover's time, so often.
    n_confirmations: u32,
    /// Sibling paths ask the same again and again.
    decided: FxHashMap<Box<[FormulaId]>, Feasible>,
}

thread_local! {
    /// What the last search of this thread needed: the next needs about as much.
    static SPARE: Cell<Option<Terms>> = const { Cell::new(None) };
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        let mut terms = std::mem::take(&mut self.terms);
        if terms.reset() {
            SPARE.set(Some(terms));
        }
    }
}

/// Reports of a search that the prover is asked about beyond its other limits.
const MAX_CONFIRMATIONS: u32 = 6;

/// Who left something in memory: the call in progress, by number, and where.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    pub frame: u32,
    pub loc: LocId,
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
            terms: SPARE.take().unwrap_or_default(),
            symbols: Symbols::default(),
            solver,
            exact: FxHashSet::default(),
            initialized,
            uninit_where: FxHashMap::default(),
            formula_symbols: FormulaSymbols::default(),
            last_premises: None,
            suspects: Arc::default(),
            left: FxHashMap::default(),
            tables: FxHashMap::default(),
            answers: FxHashSet::default(),
            outside: View::default(),
            n_confirmations: MAX_CONFIRMATIONS,
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
    pub fn symbol_of(&mut self, value: Value) -> Option<SymbolId> {
        let name = self.name_of(value)?;
        self.terms.as_symbol(name)
    }

    /// The term that stands for a value which is not constant.
    pub fn name_of(&mut self, value: Value) -> Option<TermId> {
        match value {
            Value::Int(term) => self.terms.as_constant(term).is_none().then_some(term),
            Value::Float(float) if float.known.is_none() => {
                let symbol = self.symbols_in(float.is_zero).first().copied()?;
                Some(self.terms.symbol(symbol))
            }
            _ => None,
        }
    }

    /// Where a value came from: the call that left it in memory, or where it came about.
    pub fn source(&self, symbol: SymbolId) -> LocId {
        self.left.get(&symbol).map_or(self.symbols.get(symbol).loc, |left| left.loc)
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

    /// The same with the conditions that are [`Context::premises`] about the formula at hand.
    pub fn follows(&mut self, path: &Path, premises: &[FormulaId], formula: FormulaId) -> bool {
        if formula == Terms::TRUE || formula == Terms::FALSE || path.is_dead {
            return formula == Terms::TRUE || path.is_dead;
        }
        let negation = self.terms.not(formula);
        if negation == Terms::FALSE || negation == Terms::TRUE {
            return negation == Terms::FALSE;
        }
        let mut formulas = premises.to_vec();
        if let Err(place) = formulas.binary_search(&negation) {
            formulas.insert(place, negation);
        }
        self.decide(&formulas) == Feasible::No
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

    /// Whether all conditions of the path, and what it survived, can hold together with
    /// `extra`. Asked of what is
    /// about to be reported, so it may cost more than a branch.
    pub fn confirm(&mut self, path: &Path, extra: FormulaId) -> Feasible {
        const STEPS: u64 = 2_000;
        if path.is_dead || extra == Terms::FALSE {
            return Feasible::No;
        }
        let mut formulas = path.all_formulas();
        formulas.push(extra);
        let mut confirmed = Feasible::Yes;
        for group in self.apart(formulas) {
            let feasible = match self.decide(&group) {
                Feasible::Undecided => {
                    let limits = self.solver.limits;
                    self.solver.limits.steps = STEPS;
                    self.solver.limits.prover_checks += u32::from(self.n_confirmations > 0);
                    self.n_confirmations = self.n_confirmations.saturating_sub(1);
                    let outcome = self.solver.check(&self.terms, &group);
                    self.solver.limits = limits;
                    feasibility(&outcome)
                }
                decided => decided,
            };
            match feasible {
                Feasible::Yes => {}
                Feasible::No => return Feasible::No,
                Feasible::Undecided => confirmed = Feasible::Undecided,
            }
        }
        confirmed
    }

    /// Formulas in groups that share no symbol with each other.
    fn apart(&mut self, mut formulas: Vec<FormulaId>) -> Vec<Vec<FormulaId>> {
        formulas.sort_unstable();
        formulas.dedup();
        formulas.retain(|formula| *formula != Terms::TRUE);
        let mut groups = Vec::new();
        while let Some(first) = formulas.pop() {
            let mut group = vec![first];
            let mut reached: FxHashSet<SymbolId> = self.symbols_in(first).iter().copied().collect();
            let mut n_before = 0;
            while n_before != group.len() {
                n_before = group.len();
                formulas.retain(|formula| {
                    let symbols = self.symbols_in(*formula);
                    let joins = symbols.iter().any(|symbol| reached.contains(symbol));
                    if joins {
                        reached.extend(symbols.iter().copied());
                        group.push(*formula);
                    }
                    !joins
                });
            }
            group.sort_unstable();
            groups.push(group);
        }
        groups
    }

    /// Our own procedure alone: it runs at every branch.
    fn decide(&mut self, formulas: &[FormulaId]) -> Feasible {
        if let Some(known) = self.decided.get(formulas) {
            return *known;
        }
        let feasible = feasibility(&self.solver.check_here(&self.terms, formulas));
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
        let mut formulas = self.premises(path, extra);
        formulas.extend_from_slice(extra);
        formulas.sort_unstable();
        formulas.dedup();
        formulas
    }

    /// The path's conditions that share symbols with `about`, directly or not, ascending.
    pub fn premises(&mut self, path: &Path, about: &[FormulaId]) -> Vec<FormulaId> {
        for formula in about {
            self.formula_symbols.learn(&self.terms, *formula);
        }
        let [formula] = about else { return self.find_premises(path, about) };
        // A branch asks about a formula and its opposite, which speak of the same.
        let symbols = self.formula_symbols.known(*formula);
        if let Some((known_path, known_symbols, premises)) = &self.last_premises
            && known_path.is_same(path)
            && known_symbols == symbols
        {
            return premises.clone();
        }
        let symbols = symbols.clone();
        let premises = self.find_premises(path, about);
        self.last_premises = Some((path.clone(), symbols, premises.clone()));
        premises
    }

    fn find_premises(&mut self, path: &Path, about: &[FormulaId]) -> Vec<FormulaId> {
        let mut waiting: Vec<FormulaId> = path.formulas();
        for formula in &waiting {
            self.formula_symbols.learn(&self.terms, *formula);
        }
        let mut reached = SymbolSet::default();
        for formula in about {
            reached.add(self.formula_symbols.known(*formula));
        }
        let mut formulas = Vec::new();
        loop {
            let before = waiting.len();
            waiting.retain(|formula| {
                let symbols = self.formula_symbols.known(*formula);
                let connected = reached.meets(symbols);
                if connected {
                    formulas.push(*formula);
                    reached.add(symbols);
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
        self.formula_symbols.learn(&self.terms, formula);
        self.formula_symbols.known(formula).clone()
    }
}

fn feasibility(outcome: &Outcome) -> Feasible {
    match outcome {
        Outcome::Sat(_) => Feasible::Yes,
        Outcome::Unsat => Feasible::No,
        Outcome::Unknown(_) => Feasible::Undecided,
    }
}
