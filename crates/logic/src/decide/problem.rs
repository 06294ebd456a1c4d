//! Formulas turned into rows: leaves become variables, and what a leaf means becomes rows,
//! alternatives, or (where it is not linear) bounds and a promise to check the model.

use rustc_hash::FxHashMap;

use super::bounds::{Propagated, propagate};
use super::row::{Fact, Row, Var};
use super::{Reason, nonlinear};
use crate::formula::{Formula, Relation};
use crate::interval::Interval;
use crate::linear::Overflow;
use crate::model::Model;
use crate::term::{FormulaId, Leaf, LeafId, Rounding, TermId, Terms};

/// One way to satisfy a disjunction.
#[derive(Clone, Default)]
pub struct Alternative {
    pub facts: Vec<Fact>,
    pub formula: Option<FormulaId>,
}

/// Ways of which at least one must hold.
pub type Disjunction = Vec<Alternative>;

/// A conjunction in solver form. Cloned where the search splits.
#[derive(Clone)]
pub struct Problem<'t> {
    pub terms: &'t Terms,
    vars: FxHashMap<LeafId, Var>,
    /// The leaf of each variable; quotients of a wrap have none.
    pub leaves: Vec<Option<LeafId>>,
    /// What each variable can be by its domain and by what the rows say of it.
    pub bounds: Vec<Interval>,
    pub equalities: Vec<Row>,
    pub inequalities: Vec<Row>,
    pub disequalities: Vec<Row>,
    pub pending: Vec<Disjunction>,
    /// Leaves whose rows say less than the leaf means.
    pub opaque: Vec<LeafId>,
    /// Leaves before this position of `leaves` are defined.
    n_defined: usize,
}

/// The conjunction has no solution; found while asserting.
pub struct Contradiction;

impl<'t> Problem<'t> {
    pub fn new(terms: &'t Terms) -> Self {
        Self {
            terms,
            vars: FxHashMap::default(),
            leaves: Vec::new(),
            bounds: Vec::new(),
            equalities: Vec::new(),
            inequalities: Vec::new(),
            disequalities: Vec::new(),
            pending: Vec::new(),
            opaque: Vec::new(),
            n_defined: 0,
        }
    }

    pub fn n_vars(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// Adds formulas, then what their leaves mean, using the bounds all of them imply.
    pub fn assert_all(
        &mut self,
        formulas: &[FormulaId],
    ) -> Result<Result<(), Contradiction>, Reason> {
        match self.assert_each(formulas)? {
            Ok(()) => self.conclude(),
            contradiction => Ok(contradiction),
        }
    }

    /// Adds formulas, with variables for their leaves.
    pub fn assert_each(
        &mut self,
        formulas: &[FormulaId],
    ) -> Result<Result<(), Contradiction>, Reason> {
        for formula in formulas {
            if self.assert(*formula)?.is_err() {
                return Ok(Err(Contradiction));
            }
        }
        Ok(Ok(()))
    }

    /// Adds what the leaves mean, using the bounds that all formulas imply.
    pub fn conclude(&mut self) -> Result<Result<(), Contradiction>, Reason> {
        let propagated = propagate(self);
        if propagated == Propagated::Contradiction {
            return Ok(Err(Contradiction));
        }
        let mean_more = self.define_leaves()?;
        if propagated == Propagated::Done && !mean_more {
            return Ok(Ok(()));
        }
        let is_consistent = propagate(self) != Propagated::Contradiction;
        Ok(if is_consistent { Ok(()) } else { Err(Contradiction) })
    }

    pub fn assert_facts(&mut self, facts: &[Fact]) {
        for (relation, row) in facts {
            match relation {
                Relation::Zero => self.equalities.push(row.clone()),
                Relation::AtMostZero => self.inequalities.push(row.clone()),
                Relation::NonZero => self.disequalities.push(row.clone()),
            }
        }
    }

    fn assert(&mut self, formula: FormulaId) -> Result<Result<(), Contradiction>, Reason> {
        match self.terms.formula(formula) {
            Formula::True => {}
            Formula::False => return Ok(Err(Contradiction)),
            Formula::Atom(relation, term) => {
                let row = self.row(*term)?;
                self.assert_facts(&[(*relation, row)]);
            }
            Formula::And(parts) => {
                for part in parts {
                    if self.assert(*part)?.is_err() {
                        return Ok(Err(Contradiction));
                    }
                }
            }
            Formula::Or(parts) => {
                let alternative =
                    |part: &FormulaId| Alternative { facts: Vec::new(), formula: Some(*part) };
                self.pending.push(parts.iter().map(alternative).collect());
            }
        }
        Ok(Ok(()))
    }

    /// The row of a term; leaves not met before get variables, operands first.
    pub fn row(&mut self, term: TermId) -> Result<Row, Overflow> {
        let terms = self.terms;
        let linear = terms.linear(term);
        let mut row = Row::constant(linear.constant);
        for (leaf, factor) in &linear.terms {
            // Different leaves have different variables: nothing is to be added up.
            row.terms.push((self.var(*leaf)?, *factor));
        }
        row.terms.sort_unstable_by_key(|(var, _)| *var);
        Ok(row)
    }

    fn var(&mut self, leaf: LeafId) -> Result<Var, Overflow> {
        if let Some(var) = self.vars.get(&leaf) {
            return Ok(*var);
        }
        match *self.terms.leaf(leaf) {
            Leaf::Symbol(_) | Leaf::Unrepresentable(_) => {}
            Leaf::Product(a, b) | Leaf::Min(a, b) | Leaf::BitAnd(a, b) => {
                self.row(a)?;
                self.row(b)?;
            }
            Leaf::Quotient { dividend, divisor, .. } => {
                self.row(dividend)?;
                self.row(divisor)?;
            }
            Leaf::Wrap { term, .. } | Leaf::PowerOfTwo(term) => {
                self.row(term)?;
            }
            Leaf::Choice { then, otherwise, .. } => {
                self.row(then)?;
                self.row(otherwise)?;
            }
        }
        let var = self.fresh(Some(leaf), self.terms.leaf_range(leaf));
        self.vars.insert(leaf, var);
        Ok(var)
    }

    fn fresh(&mut self, leaf: Option<LeafId>, range: Interval) -> Var {
        let var = self.n_vars();
        self.leaves.push(leaf);
        self.bounds.push(range);
        var
    }

    /// How much there is to work with.
    pub fn n_rows(&self) -> usize {
        2 * self.bounds.len() + self.inequalities.len() + self.equalities.len()
    }

    /// How many [`Problem::all_inequalities`] are.
    pub fn n_inequalities(&self) -> usize {
        let of =
            |range: &Interval| usize::from(range.low.is_some()) + usize::from(range.high.is_some());
        self.bounds.iter().map(of).sum::<usize>() + self.inequalities.len()
    }

    /// The inequalities, and the bounds of the variables as such.
    pub fn all_inequalities(&self) -> Result<Vec<Row>, Overflow> {
        let mut rows = Vec::with_capacity(2 * self.bounds.len() + self.inequalities.len());
        for (var, range) in self.bounds.iter().enumerate() {
            let row = Row::var(var as Var);
            if let Some(high) = range.high {
                rows.push(row.clone().plus(high.checked_neg().ok_or(Overflow)?)?);
            }
            if let Some(low) = range.low {
                rows.push(row.scale(-1)?.plus(low)?);
            }
        }
        rows.extend_from_slice(&self.inequalities);
        Ok(rows)
    }

    pub fn row_bounds(&self, row: &Row) -> Interval {
        row.terms.iter().fold(Interval::exactly(row.constant), |sum, (var, factor)| {
            sum.plus(self.bounds[*var as usize].scale(*factor))
        })
    }

    /// Says what leaves mean that are new; whether any of them is more than a symbol.
    fn define_leaves(&mut self) -> Result<bool, Reason> {
        let mut mean_more = false;
        while self.n_defined < self.leaves.len() {
            let var = self.n_defined as Var;
            self.n_defined += 1;
            if let Some(leaf) = self.leaves[var as usize] {
                mean_more |= !matches!(self.terms.leaf(leaf), Leaf::Symbol(_));
                self.define(var, leaf)?;
            }
        }
        Ok(mean_more)
    }

    fn define(&mut self, var: Var, leaf: LeafId) -> Result<(), Reason> {
        let value = Row::var(var);
        match *self.terms.leaf(leaf) {
            Leaf::Symbol(_) => {}
            Leaf::Wrap { term, bits, signed } => self.define_wrap(&value, term, bits, signed)?,
            Leaf::Min(a, b) => {
                let (a, b) = (self.row(a)?, self.row(b)?);
                let (above_a, above_b) = (value.sub(&a)?, value.sub(&b)?);
                self.inequalities.extend([above_a.clone(), above_b.clone()]);
                let equal = |difference| Alternative {
                    facts: vec![(Relation::Zero, difference)],
                    formula: None,
                };
                self.pending.push(vec![equal(above_a), equal(above_b)]);
            }
            Leaf::Choice { condition, negation, then, otherwise } => {
                let (then, otherwise) = (self.row(then)?, self.row(otherwise)?);
                let case = |formula, difference| Alternative {
                    facts: vec![(Relation::Zero, difference)],
                    formula: Some(formula),
                };
                let cases = vec![
                    case(condition, value.sub(&then)?),
                    case(negation, value.sub(&otherwise)?),
                ];
                self.pending.push(cases);
            }
            Leaf::Quotient { rounding, dividend, divisor } => {
                let (dividend, divisor) = (self.row(dividend)?, self.row(divisor)?);
                match self.row_bounds(&divisor).fixed().filter(|divisor| *divisor > 0) {
                    Some(divisor) => {
                        self.define_quotient(&value, rounding, &dividend, divisor)?;
                    }
                    None => {
                        self.opaque.push(leaf);
                        nonlinear::bound_quotient(self, var, rounding, &dividend, &divisor)?;
                    }
                }
            }
            Leaf::Product(a, b) => {
                let (a, b) = (self.row(a)?, self.row(b)?);
                match (self.row_bounds(&a).fixed(), self.row_bounds(&b).fixed()) {
                    (Some(factor), _) => self.equalities.push(value.add_scaled(-factor, &b)?),
                    (_, Some(factor)) => self.equalities.push(value.add_scaled(-factor, &a)?),
                    _ => {
                        self.opaque.push(leaf);
                        nonlinear::bound_product(self, var, &a, &b)?;
                    }
                }
            }
            Leaf::BitAnd(a, b) => {
                self.opaque.push(leaf);
                let (a, b) = (self.row(a)?, self.row(b)?);
                nonlinear::bound_bit_and(self, var, &a, &b)?;
            }
            Leaf::PowerOfTwo(exponent) => {
                self.opaque.push(leaf);
                let exponent = self.row(exponent)?;
                nonlinear::bound_power(self, var, &exponent)?;
            }
            Leaf::Unrepresentable(_) => self.opaque.push(leaf),
        }
        Ok(())
    }

    /// `value = term - 2^bits * q` with `value` in the range of the width.
    fn define_wrap(
        &mut self,
        value: &Row,
        term: TermId,
        bits: u32,
        signed: bool,
    ) -> Result<(), Overflow> {
        let term = self.row(term)?;
        let range = self.row_bounds(&term);
        let target = Interval::of_width(bits, signed);
        let mut difference = value.sub(&term)?;
        if !range.is_within(target) {
            let modulus = 1i128 << bits;
            let low = target.low.unwrap_or(0);
            let turns = |bound: Option<i128>| {
                bound.and_then(|bound| bound.checked_sub(low)).map(|b| b.div_euclid(modulus))
            };
            let turns = Interval { low: turns(range.low), high: turns(range.high) };
            let q = self.fresh(None, turns);
            difference = difference.add_scaled(modulus, &Row::var(q))?;
        }
        self.equalities.push(difference);
        Ok(())
    }

    fn define_quotient(
        &mut self,
        value: &Row,
        rounding: Rounding,
        dividend: &Row,
        divisor: i128,
    ) -> Result<(), Overflow> {
        // floor: 0 <= dividend - divisor * value <= divisor - 1; towards zero the same for
        // a dividend that is not negative, mirrored for one that is.
        let below = value.scale(divisor)?.sub(dividend)?;
        let above = dividend.add_scaled(-divisor, value)?.plus(1 - divisor)?;
        let floor = vec![(Relation::AtMostZero, below), (Relation::AtMostZero, above)];
        let sign = self.row_bounds(dividend);
        if rounding == Rounding::Floor || sign.low.is_some_and(|low| low >= 0) {
            self.assert_facts(&floor);
            return Ok(());
        }
        let mirrored_below = dividend.add_scaled(-divisor, value)?;
        let mirrored_above = value.scale(divisor)?.sub(dividend)?.plus(1 - divisor)?;
        let negative =
            vec![(Relation::AtMostZero, mirrored_below), (Relation::AtMostZero, mirrored_above)];
        if sign.high.is_some_and(|high| high <= 0) {
            self.assert_facts(&negative);
            return Ok(());
        }
        let case = |sign_row: Row, mut facts: Vec<Fact>| {
            facts.push((Relation::AtMostZero, sign_row));
            Alternative { facts, formula: None }
        };
        let positive_case = case(dividend.scale(-1)?, floor);
        let negative_case = case(dividend.clone(), negative);
        self.pending.push(vec![positive_case, negative_case]);
        Ok(())
    }

    /// The symbols' part of an assignment to the variables.
    pub fn model(&self, values: &[i128]) -> Model {
        let mut model = Model::default();
        for (leaf, value) in self.leaves.iter().zip(values) {
            if let Some(leaf) = leaf
                && let Leaf::Symbol(symbol) = self.terms.leaf(*leaf)
            {
                model.set(*symbol, *value);
            }
        }
        model
    }

    pub fn var_of(&self, leaf: LeafId) -> Option<Var> {
        self.vars.get(&leaf).copied()
    }

    /// Variables that stand for a leaf for which `wanted` holds.
    pub fn vars_where(&self, wanted: impl Fn(LeafId) -> bool) -> Vec<bool> {
        self.leaves.iter().map(|leaf| leaf.is_some_and(&wanted)).collect()
    }
}
