//! Hash-consed terms over mathematical integers.
//!
//! A term is a [`Linear`] combination of leaves. A leaf is a symbol the user of this
//! crate names, or an operation that is not linear. Builders fold as much as they can
//! into linear form: bit masks become quotients, `|` and `^` become sums with `&`, a
//! wrap that cannot change its argument disappears.

use base::{IdVec, define_id};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::formula::Formula;
use crate::interval::Interval;
use crate::linear::{Linear, Overflow};

define_id!(/// An unknown integer, named by the user of the crate.
    SymbolId);
define_id!(/// Something a linear combination is built from.
    LeafId);
define_id!(/// An interned linear combination.
    TermId);
define_id!(/// An interned formula.
    FormulaId);

/// Leaves nested deeper than this become [`Leaf::Unrepresentable`]: everything that walks
/// terms recurses, and no check on such a term is ever decided.
const MAX_DEPTH: u32 = 24;

/// The same for sums of more leaves than this, such as polynomials that were multiplied out.
const MAX_TERMS: usize = 32;

/// Shorter sums are added up as quickly as they are looked up.
const SHORT: usize = 3;

/// Numbers below this are small.
const N_SMALL: usize = 65;

/// How a division rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Towards zero, as C's `/`.
    Zero,
    /// Towards minus infinity, as an arithmetic shift to the right.
    Floor,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    Symbol(SymbolId),
    /// Of two terms that are single leaves, the smaller id first.
    Product(TermId, TermId),
    /// Where the divisor is a constant, it is positive. Division by zero has no value.
    Quotient {
        rounding: Rounding,
        dividend: TermId,
        divisor: TermId,
    },
    Min(TermId, TermId),
    /// `term` reduced to what an integer of this width and sign holds.
    Wrap {
        term: TermId,
        bits: u32,
        signed: bool,
    },
    Choice {
        condition: FormulaId,
        /// The negated condition, kept so that solvers need not build formulas.
        negation: FormulaId,
        then: TermId,
        otherwise: TermId,
    },
    /// Two's complement of unlimited width.
    BitAnd(TermId, TermId),
    PowerOfTwo(TermId),
    /// A number outside `i128` was needed: each is a value of its own, and unknown.
    Unrepresentable(u32),
}

/// The arena of terms and formulas. One per query or thread; ids depend only on the order
/// of calls, so equal work gives equal ids.
#[derive(Clone, Debug)]
pub struct Terms {
    pub(crate) domains: IdVec<SymbolId, Interval>,
    pub(crate) leaves: IdVec<LeafId, Leaf>,
    leaf_ranges: IdVec<LeafId, Interval>,
    /// How many leaves are nested in each.
    leaf_depths: IdVec<LeafId, u32>,
    leaf_ids: FxHashMap<Leaf, LeafId>,
    /// By the number of their term.
    linears: IndexSet<Linear, FxBuildHasher>,
    /// Of the long ones, which take long to add up.
    long_ranges: FxHashMap<TermId, Interval>,
    pub(crate) formulas: IdVec<FormulaId, Formula>,
    pub(crate) formula_ids: FxHashMap<Formula, FormulaId>,
    pub(crate) formula_depths: IdVec<FormulaId, u32>,
    n_unrepresentable: u32,
    /// Terms that are asked for all the time: small numbers, and symbols.
    small: [Option<TermId>; N_SMALL],
    symbol_terms: Vec<Option<TermId>>,
}

impl Default for Terms {
    fn default() -> Self {
        let mut terms = Self {
            domains: IdVec::new(),
            leaves: IdVec::new(),
            leaf_ranges: IdVec::new(),
            leaf_depths: IdVec::new(),
            leaf_ids: FxHashMap::default(),
            linears: IndexSet::default(),
            long_ranges: FxHashMap::default(),
            formulas: IdVec::new(),
            formula_ids: FxHashMap::default(),
            formula_depths: IdVec::new(),
            n_unrepresentable: 0,
            small: [None; N_SMALL],
            symbol_terms: Vec::new(),
        };
        terms.intern_formula(Formula::True);
        terms.intern_formula(Formula::False);
        terms
    }
}

impl Terms {
    pub fn new() -> Self {
        Self::default()
    }

    /// As new, in the memory that is there already. False where there is so much of it that
    /// a new arena is made sooner.
    pub fn reset(&mut self) -> bool {
        const MAX_KEPT: usize = 1 << 14;
        if self.linears.capacity() > MAX_KEPT {
            return false;
        }
        self.domains.clear();
        self.leaves.clear();
        self.leaf_ranges.clear();
        self.leaf_depths.clear();
        self.leaf_ids.clear();
        self.linears.clear();
        self.long_ranges.clear();
        self.formulas.clear();
        self.formula_ids.clear();
        self.formula_depths.clear();
        self.n_unrepresentable = 0;
        self.small = [None; N_SMALL];
        self.symbol_terms.clear();
        self.intern_formula(Formula::True);
        self.intern_formula(Formula::False);
        true
    }

    /// A new symbol that takes only values of `domain`.
    pub fn fresh_symbol(&mut self, domain: Interval) -> SymbolId {
        self.domains.push(domain)
    }

    pub fn domain(&self, symbol: SymbolId) -> Interval {
        self.domains[symbol]
    }

    pub fn n_symbols(&self) -> usize {
        self.domains.len()
    }

    pub fn linear(&self, term: TermId) -> &Linear {
        &self.linears[term.0 as usize]
    }

    pub fn leaf(&self, leaf: LeafId) -> &Leaf {
        &self.leaves[leaf]
    }

    /// Bounds that follow from the domains of the symbols alone.
    pub fn leaf_range(&self, leaf: LeafId) -> Interval {
        self.leaf_ranges[leaf]
    }

    pub fn range(&self, term: TermId) -> Interval {
        match self.linear(term) {
            short if short.terms.len() <= SHORT => self.range_of(short),
            _ => self.long_ranges[&term],
        }
    }

    /// Bounds of `a - b` from the domains of the symbols, without keeping the difference.
    pub fn range_of_difference(&self, a: TermId, b: TermId) -> Interval {
        let (a, b) = (self.linear(a), self.linear(b));
        if a.terms == b.terms {
            let difference = a.constant.checked_sub(b.constant);
            return difference.map_or(Interval::ALL, Interval::exactly);
        }
        if let Some(range) = self.difference_of_ranges(a, b) {
            return range;
        }
        a.add_scaled(-1, b).map_or(Interval::ALL, |difference| self.range_of(&difference))
    }

    /// The same where no quotient is left, of which the remainder would say more.
    fn difference_of_ranges(&self, a: &Linear, b: &Linear) -> Option<Interval> {
        let mut has_quotient = false;
        let range = merged(a, -1, b, |leaf, sum, factor| {
            has_quotient |= matches!(self.leaves[leaf], Leaf::Quotient { .. });
            sum.plus(self.leaf_ranges[leaf].scale(factor))
        })?;
        (!has_quotient).then_some(range)
    }

    pub(crate) fn range_of(&self, linear: &Linear) -> Interval {
        let range = self.sum_of_ranges(linear);
        let by_remainder =
            |(leaf, factor): &(LeafId, i128)| self.range_by_remainder(linear, *leaf, *factor);
        linear.terms.iter().filter_map(by_remainder).fold(range, Interval::meet)
    }

    fn sum_of_ranges(&self, linear: &Linear) -> Interval {
        linear.terms.iter().fold(Interval::exactly(linear.constant), |sum, (leaf, factor)| {
            sum.plus(self.leaf_ranges[*leaf].scale(*factor))
        })
    }

    /// The sum is `k * (a - d * (a / d)) + rest` for a quotient `a / d` in it: how far that
    /// remainder goes, and the rest. Neither summand says so by itself.
    fn range_by_remainder(
        &self,
        linear: &Linear,
        quotient: LeafId,
        factor: i128,
    ) -> Option<Interval> {
        let Leaf::Quotient { rounding, dividend, divisor } = self.leaves[quotient] else {
            return None;
        };
        let divisor = self.as_constant(divisor).filter(|divisor| *divisor > 0)?;
        if factor % divisor != 0 {
            return None;
        }
        let times = -(factor / divisor);
        let dividend = self.linear(dividend);
        let rest = merged(linear, -times, dividend, |leaf, sum, factor| match leaf == quotient {
            true => sum,
            false => sum.plus(self.leaf_ranges[leaf].scale(factor)),
        })?;
        let below_zero = rounding == Rounding::Zero
            && self.sum_of_ranges(dividend).low.is_none_or(|low| low < 0);
        let low = if below_zero { 1 - divisor } else { 0 };
        Some(Interval::new(low, divisor - 1).scale(times).plus(rest))
    }

    pub fn as_constant(&self, term: TermId) -> Option<i128> {
        self.linear(term).as_constant()
    }

    /// The symbol this term is, where it is nothing else.
    pub fn as_symbol(&self, term: TermId) -> Option<SymbolId> {
        match self.leaves[self.linear(term).as_leaf()?] {
            Leaf::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    pub fn constant(&mut self, value: i128) -> TermId {
        let small = usize::try_from(value).ok().filter(|value| *value < N_SMALL);
        if let Some(known) = small.and_then(|value| self.small[value]) {
            return known;
        }
        let term = self.intern(Linear::constant(value));
        if let Some(value) = small {
            self.small[value] = Some(term);
        }
        term
    }

    pub fn symbol(&mut self, symbol: SymbolId) -> TermId {
        let index = symbol.0 as usize;
        if let Some(Some(known)) = self.symbol_terms.get(index) {
            return *known;
        }
        let term = self.leaf_term(Leaf::Symbol(symbol));
        if index >= self.symbol_terms.len() {
            self.symbol_terms.resize(index + 1, None);
        }
        self.symbol_terms[index] = Some(term);
        term
    }

    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.add_scaled(a, 1, b)
    }

    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.add_scaled(a, -1, b)
    }

    pub fn negate(&mut self, a: TermId) -> TermId {
        self.scale(-1, a)
    }

    pub fn scale(&mut self, factor: i128, a: TermId) -> TermId {
        let scaled = self.linear(a).scale(factor);
        self.intern_checked(scaled)
    }

    pub fn add_constant(&mut self, a: TermId, constant: i128) -> TermId {
        let sum = self.linear(a).add_scaled(1, &Linear::constant(constant));
        self.intern_checked(sum)
    }

    /// `a + factor * b`.
    pub fn add_scaled(&mut self, a: TermId, factor: i128, b: TermId) -> TermId {
        let sum = self.linear(a).add_scaled(factor, self.linear(b));
        self.intern_checked(sum)
    }

    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(factor), _) => self.scale(factor, b),
            (_, Some(factor)) => self.scale(factor, a),
            _ => {
                let product = self.distribute(a, b);
                self.intern_checked(product)
            }
        }
    }

    /// Multiplies out, so that equal polynomials become equal terms.
    fn distribute(&mut self, a: TermId, b: TermId) -> Result<Linear, Overflow> {
        let (left, right) = (self.linear(a).clone(), self.linear(b).clone());
        let mut sum = right.scale(left.constant)?;
        let left_leaves = Linear { constant: 0, terms: left.terms };
        sum = sum.add_scaled(right.constant, &left_leaves)?;
        for (x, x_factor) in &left_leaves.terms {
            for (y, y_factor) in &right.terms {
                let factor = x_factor.checked_mul(*y_factor).ok_or(Overflow)?;
                let (x, y) = (self.intern(Linear::leaf(*x)), self.intern(Linear::leaf(*y)));
                let product = self.intern_leaf(Leaf::Product(x.min(y), x.max(y)));
                sum = sum.add_scaled(factor, &Linear::leaf(product))?;
            }
        }
        Ok(sum)
    }

    /// C's `/` on the mathematical values, or a shift's division with [`Rounding::Floor`].
    pub fn divide(&mut self, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        if let Some(divisor) = self.as_constant(b) {
            if divisor == 1 {
                return a;
            }
            if divisor < 0 && divisor != i128::MIN {
                // Rounding to zero commutes with the sign; a floor divides the negation.
                let positive = self.constant(-divisor);
                return match rounding {
                    Rounding::Zero => {
                        let quotient = self.divide(rounding, a, positive);
                        self.negate(quotient)
                    }
                    Rounding::Floor => {
                        let negated = self.negate(a);
                        self.divide(rounding, negated, positive)
                    }
                };
            }
            if let Some(dividend) = self.as_constant(a)
                && divisor > 0
            {
                return self.constant(divide(rounding, dividend, divisor));
            }
        }
        let non_negative = |range: Interval| range.low.is_some_and(|low| low >= 0);
        let floors = non_negative(self.range(a)) && non_negative(self.range(b));
        let rounding = if floors { Rounding::Floor } else { rounding };
        self.leaf_term(Leaf::Quotient { rounding, dividend: a, divisor: b })
    }

    /// `a - b * (a / b)`.
    pub fn remainder(&mut self, rounding: Rounding, a: TermId, b: TermId) -> TermId {
        let quotient = self.divide(rounding, a, b);
        let multiple = self.mul(quotient, b);
        self.sub(a, multiple)
    }

    pub fn min(&mut self, a: TermId, b: TermId) -> TermId {
        let difference = self.sub(a, b);
        match self.range(difference) {
            Interval { high: Some(high), .. } if high <= 0 => a,
            Interval { low: Some(low), .. } if low >= 0 => b,
            _ => self.leaf_term(Leaf::Min(a.min(b), a.max(b))),
        }
    }

    pub fn max(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = (self.negate(a), self.negate(b));
        let least = self.min(a, b);
        self.negate(least)
    }

    pub fn wrap(&mut self, term: TermId, bits: u32, signed: bool) -> TermId {
        let target = Interval::of_width(bits, signed);
        if self.range(term).is_within(target) || bits > 126 {
            return term;
        }
        if let Some(value) = self.as_constant(term) {
            return self.constant(wrap(value, bits, signed));
        }
        self.leaf_term(Leaf::Wrap { term, bits, signed })
    }

    pub fn choice(&mut self, condition: FormulaId, then: TermId, otherwise: TermId) -> TermId {
        match self.formulas[condition] {
            Formula::True => then,
            Formula::False => otherwise,
            _ if then == otherwise => then,
            _ => {
                let negation = self.not(condition);
                self.leaf_term(Leaf::Choice { condition, negation, then, otherwise })
            }
        }
    }

    pub fn bit_not(&mut self, a: TermId) -> TermId {
        let negated = self.negate(a);
        self.add_constant(negated, -1)
    }

    pub fn bit_and(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => self.constant(x & y),
            (Some(mask), None) => self.mask(b, mask),
            (None, Some(mask)) => self.mask(a, mask),
            (None, None) if a == b => a,
            (None, None) => self.leaf_term(Leaf::BitAnd(a.min(b), a.max(b))),
        }
    }

    /// `a | b`, which is `a + b - (a & b)`.
    pub fn bit_or(&mut self, a: TermId, b: TermId) -> TermId {
        let (common, sum) = (self.bit_and(a, b), self.add(a, b));
        self.sub(sum, common)
    }

    /// `a ^ b`, which is `a + b - 2 (a & b)`.
    pub fn bit_xor(&mut self, a: TermId, b: TermId) -> TermId {
        let (common, sum) = (self.bit_and(a, b), self.add(a, b));
        self.add_scaled(sum, -2, common)
    }

    pub fn shift_left(&mut self, a: TermId, by: TermId) -> TermId {
        let factor = self.power_of_two(by);
        self.mul(a, factor)
    }

    pub fn shift_right(&mut self, a: TermId, by: TermId) -> TermId {
        let divisor = self.power_of_two(by);
        self.divide(Rounding::Floor, a, divisor)
    }

    pub fn power_of_two(&mut self, exponent: TermId) -> TermId {
        match self.as_constant(exponent) {
            Some(exponent @ 0..=126) => self.constant(1 << exponent),
            Some(_) => self.unrepresentable(),
            None => self.leaf_term(Leaf::PowerOfTwo(exponent)),
        }
    }

    /// `a & mask`: each run of ones in the mask is a difference of two quotients.
    fn mask(&mut self, a: TermId, mask: i128) -> TermId {
        const MAX_RUNS: usize = 4;
        if mask < 0 {
            let cleared = self.mask(a, !mask);
            return self.sub(a, cleared);
        }
        let mut runs = Vec::new();
        let mut rest = mask;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let length = (rest >> low).trailing_ones();
            runs.push((low, low + length));
            rest &= !(((1i128 << length) - 1) << low);
        }
        if runs.len() > MAX_RUNS || runs.iter().any(|(_, end)| *end > 126) {
            let mask = self.constant(mask);
            return self.leaf_term(Leaf::BitAnd(a.min(mask), a.max(mask)));
        }
        let mut sum = self.constant(0);
        for (low, end) in runs {
            // Bits low..end of a: 2^low (a >> low) - 2^end (a >> end).
            let (low_term, end_term) = (self.constant(low.into()), self.constant(end.into()));
            let from_low = self.shift_right(a, low_term);
            let above = self.shift_right(a, end_term);
            sum = self.add_scaled(sum, 1 << low, from_low);
            sum = self.add_scaled(sum, -(1 << end), above);
        }
        sum
    }

    pub fn unrepresentable(&mut self) -> TermId {
        self.n_unrepresentable += 1;
        self.leaf_term(Leaf::Unrepresentable(self.n_unrepresentable))
    }

    pub(crate) fn leaf_term(&mut self, leaf: Leaf) -> TermId {
        let leaf = self.intern_leaf(leaf);
        self.intern(Linear::leaf(leaf))
    }

    pub(crate) fn intern_leaf(&mut self, leaf: Leaf) -> LeafId {
        if let Some(id) = self.leaf_ids.get(&leaf) {
            return *id;
        }
        let depth = self.depth_of_leaf(&leaf);
        if depth > MAX_DEPTH {
            self.n_unrepresentable += 1;
            return self.intern_leaf(Leaf::Unrepresentable(self.n_unrepresentable));
        }
        let range = self.range_of_leaf(&leaf);
        self.leaf_depths.push(depth);
        let id = self.leaves.push(leaf.clone());
        self.leaf_ranges.push(range);
        self.leaf_ids.insert(leaf, id);
        id
    }

    /// How deep operations that are not linear are nested in each other.
    pub fn depth(&self, term: TermId) -> u32 {
        let leaves = self.linear(term).terms.iter();
        leaves.map(|(leaf, _)| self.leaf_depths[*leaf]).max().unwrap_or(0)
    }

    fn depth_of_leaf(&self, leaf: &Leaf) -> u32 {
        1 + match *leaf {
            Leaf::Symbol(_) | Leaf::Unrepresentable(_) => 0,
            Leaf::Product(a, b) | Leaf::Min(a, b) | Leaf::BitAnd(a, b) => {
                self.depth(a).max(self.depth(b))
            }
            Leaf::Quotient { dividend, divisor, .. } => {
                self.depth(dividend).max(self.depth(divisor))
            }
            Leaf::Wrap { term, .. } | Leaf::PowerOfTwo(term) => self.depth(term),
            Leaf::Choice { condition, then, otherwise, .. } => {
                let values = self.depth(then).max(self.depth(otherwise));
                self.formula_depths[condition].max(values)
            }
        }
    }

    fn range_of_leaf(&self, leaf: &Leaf) -> Interval {
        match *leaf {
            Leaf::Symbol(symbol) => self.domains[symbol],
            Leaf::Product(a, b) if a == b => square(self.range(a)),
            Leaf::Product(a, b) => self.range(a).times(self.range(b)),
            Leaf::Quotient { rounding, dividend, divisor } => {
                quotient_range(rounding, self.range(dividend), self.range(divisor))
            }
            Leaf::Min(a, b) => {
                let (a, b) = (self.range(a), self.range(b));
                Interval { high: a.meet(b).high, ..a.join(b) }
            }
            Leaf::Wrap { bits, signed, .. } => Interval::of_width(bits, signed),
            Leaf::Choice { then, otherwise, .. } => self.range(then).join(self.range(otherwise)),
            Leaf::BitAnd(a, b) => bit_and_range(self.range(a), self.range(b)),
            Leaf::PowerOfTwo(exponent) => power_range(self.range(exponent)),
            Leaf::Unrepresentable(_) => Interval::ALL,
        }
    }

    fn intern_checked(&mut self, linear: Result<Linear, Overflow>) -> TermId {
        match linear {
            Ok(linear) if linear.terms.len() <= MAX_TERMS => self.intern(linear),
            Ok(_) => self.unrepresentable(),
            Err(Overflow) => self.unrepresentable(),
        }
    }

    pub(crate) fn intern(&mut self, linear: Linear) -> TermId {
        let is_long = linear.terms.len() > SHORT;
        let (index, is_new) = self.linears.insert_full(linear);
        let id = TermId(index as u32);
        if is_long && is_new {
            let range = self.range_of(self.linear(id));
            self.long_ranges.insert(id, range);
        }
        id
    }
}

/// Adds up `a + factor * b` leaf by leaf, without the sum itself; `None` where it overflows.
fn merged(
    a: &Linear,
    factor: i128,
    b: &Linear,
    mut add: impl FnMut(LeafId, Interval, i128) -> Interval,
) -> Option<Interval> {
    let constant = factor.checked_mul(b.constant)?.checked_add(a.constant)?;
    let mut sum = Interval::exactly(constant);
    let (mut left, mut right) = (a.terms.as_slice(), b.terms.as_slice());
    loop {
        let (leaf, coefficient) = match (left, right) {
            ([], []) => return Some(sum),
            ([(x, c), rest @ ..], [(y, d), others @ ..]) if x == y => {
                (left, right) = (rest, others);
                (*x, factor.checked_mul(*d)?.checked_add(*c)?)
            }
            (_, [(y, d), others @ ..]) if left.first().is_none_or(|(x, _)| y < x) => {
                right = others;
                (*y, factor.checked_mul(*d)?)
            }
            ([(x, c), rest @ ..], _) => {
                left = rest;
                (*x, *c)
            }
            ([], _) => return None,
        };
        if coefficient != 0 {
            sum = add(leaf, sum, coefficient);
        }
    }
}

/// Division of constants; the divisor is not zero.
pub(crate) fn divide(rounding: Rounding, dividend: i128, divisor: i128) -> i128 {
    let truncated = dividend.wrapping_div(divisor);
    let inexact = dividend.wrapping_rem(divisor) != 0;
    match rounding {
        Rounding::Floor if inexact && (dividend < 0) != (divisor < 0) => truncated - 1,
        _ => truncated,
    }
}

/// `value` reduced to `bits` (at most 126) bits.
pub(crate) fn wrap(value: i128, bits: u32, signed: bool) -> i128 {
    let modulus = 1i128 << bits;
    let reduced = value.rem_euclid(modulus);
    if signed && reduced >= modulus / 2 { reduced - modulus } else { reduced }
}

fn square(range: Interval) -> Interval {
    let product = range.times(range);
    Interval { low: Some(product.low.unwrap_or(0).max(0)), ..product }
}

pub(crate) fn quotient_range(
    rounding: Rounding,
    dividend: Interval,
    divisor: Interval,
) -> Interval {
    if let Some(divisor) = divisor.fixed().filter(|divisor| *divisor > 0) {
        let part = |bound: Option<i128>| bound.map(|bound| divide(rounding, bound, divisor));
        return Interval { low: part(dividend.low), high: part(dividend.high) };
    }
    if divisor.low.is_some_and(|low| low >= 1) {
        // Dividing by something positive never leads away from zero.
        let zero = Interval::exactly(if dividend.low.is_some_and(|low| low > 0) { 0 } else { -1 });
        return dividend.join(zero).join(Interval::exactly(0));
    }
    // Nothing is divided by zero, and by everything else it comes no further from zero, but
    // for the sign.
    match (dividend.low, dividend.high) {
        (Some(low), Some(high)) if low > i128::MIN / 2 && high < i128::MAX / 2 => {
            let most = low.abs().max(high.abs());
            let floored = i128::from(rounding == Rounding::Floor);
            Interval::new(-most - floored, most)
        }
        _ => Interval::ALL,
    }
}

/// The powers of two with exponents in `range`; a negative exponent has none.
pub(crate) fn power_range(range: Interval) -> Interval {
    let power = |bound: Option<i128>| match bound {
        Some(bound @ 0..=126) => Some(1i128 << bound),
        _ => None,
    };
    Interval { low: Some(power(range.low).unwrap_or(1)), high: power(range.high) }
}

pub(crate) fn bit_and_range(a: Interval, b: Interval) -> Interval {
    let non_negative = |range: Interval| range.low.is_some_and(|low| low >= 0);
    match (non_negative(a), non_negative(b)) {
        (true, true) => Interval { low: Some(0), high: a.meet(b).high },
        (true, false) => Interval { low: Some(0), high: a.high },
        (false, true) => Interval { low: Some(0), high: b.high },
        (false, false) => Interval::ALL,
    }
}
