//! Terms as bit-vectors, all of one width, wide enough that no term or leaf wraps: the
//! bit-vectors then mean the integers.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use z3::ast::{BV, Bool};

use super::signed_width;
use crate::decide::Reason;
use crate::formula::{Formula, Relation};
use crate::interval::Interval;
use crate::term::{FormulaId, Leaf, LeafId, Rounding, SymbolId, TermId, Terms};

const MAX_WIDTH: u32 = 128;

pub struct Encoder<'t> {
    terms: &'t Terms,
    width: u32,
    pub symbols: BTreeMap<SymbolId, BV>,
    leaves: FxHashMap<LeafId, BV>,
    sides: Vec<Bool>,
}

impl<'t> Encoder<'t> {
    /// Fails where some term has no bounds or too wide ones.
    pub fn new(terms: &'t Terms, formulas: &[FormulaId]) -> Result<Self, Reason> {
        let mut needed = Width { terms, width: 2, seen: FxHashMap::default() };
        for formula in formulas {
            needed.formula(*formula)?;
        }
        Ok(Self {
            terms,
            width: needed.width + 1,
            symbols: BTreeMap::new(),
            leaves: FxHashMap::default(),
            sides: Vec::new(),
        })
    }

    pub fn side_conditions(&self) -> Vec<Bool> {
        let domains = self.symbols.iter().flat_map(|(symbol, bits)| {
            let domain = self.terms.domain(*symbol);
            let low = domain.low.map(|low| bits.bvsge(self.constant(low)));
            let high = domain.high.map(|high| bits.bvsle(self.constant(high)));
            low.into_iter().chain(high)
        });
        self.sides.iter().cloned().chain(domains).collect()
    }

    fn constant(&self, value: i128) -> BV {
        let mask = if self.width >= 128 { u128::MAX } else { (1 << self.width) - 1 };
        let digits = (value as u128 & mask).to_string();
        BV::from_str(self.width, &digits).expect("decimal digits make a numeral")
    }

    pub fn formula(&mut self, formula: FormulaId) -> Bool {
        let terms = self.terms;
        match terms.formula(formula) {
            Formula::True => Bool::from_bool(true),
            Formula::False => Bool::from_bool(false),
            Formula::Atom(relation, term) => {
                let value = self.term(*term);
                let zero = self.constant(0);
                match relation {
                    Relation::AtMostZero => value.bvsle(&zero),
                    Relation::Zero => value.eq(&zero),
                    Relation::NonZero => value.eq(&zero).not(),
                }
            }
            Formula::And(parts) => {
                let parts: Vec<Bool> = parts.iter().map(|part| self.formula(*part)).collect();
                Bool::and(&parts)
            }
            Formula::Or(parts) => {
                let parts: Vec<Bool> = parts.iter().map(|part| self.formula(*part)).collect();
                Bool::or(&parts)
            }
        }
    }

    fn term(&mut self, term: TermId) -> BV {
        let terms = self.terms;
        let linear = terms.linear(term);
        let mut sum = self.constant(linear.constant);
        for (leaf, factor) in &linear.terms {
            let value = self.leaf(*leaf);
            sum = sum.bvadd(value.bvmul(self.constant(*factor)));
        }
        sum
    }

    fn leaf(&mut self, id: LeafId) -> BV {
        if let Some(done) = self.leaves.get(&id) {
            return done.clone();
        }
        let encoded = match *self.terms.leaf(id) {
            Leaf::Symbol(symbol) => {
                let constant = BV::new_const(format!("b{}", symbol.0), self.width);
                self.symbols.insert(symbol, constant.clone());
                constant
            }
            Leaf::Product(a, b) => self.term(a).bvmul(self.term(b)),
            Leaf::Quotient { rounding, dividend, divisor } => {
                let (a, b) = (self.term(dividend), self.term(divisor));
                self.quotient(rounding, &a, &b)
            }
            Leaf::Min(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                a.bvsle(&b).ite(&a, &b)
            }
            Leaf::Wrap { term, bits, signed } => {
                let low = self.term(term).extract(bits - 1, 0);
                let missing = self.width - bits;
                if signed { low.sign_ext(missing) } else { low.zero_ext(missing) }
            }
            Leaf::Choice { condition, then, otherwise, .. } => {
                let condition = self.formula(condition);
                let (then, otherwise) = (self.term(then), self.term(otherwise));
                condition.ite(&then, &otherwise)
            }
            Leaf::BitAnd(a, b) => self.term(a).bvand(self.term(b)),
            Leaf::PowerOfTwo(exponent) => {
                let by = self.term(exponent);
                self.constant(1).bvshl(&by)
            }
            Leaf::Unrepresentable(_) => BV::new_const(format!("leaf{}", id.0), self.width),
        };
        self.leaves.insert(id, encoded.clone());
        encoded
    }

    fn quotient(&self, rounding: Rounding, a: &BV, b: &BV) -> BV {
        let truncated = a.bvsdiv(b);
        match rounding {
            Rounding::Zero => truncated,
            Rounding::Floor => {
                let zero = self.constant(0);
                let exact = a.bvsrem(b).eq(&zero);
                let same_sign = a.bvslt(&zero).iff(b.bvslt(&zero));
                let lower = truncated.bvsub(self.constant(1));
                Bool::or(&[exact, same_sign]).ite(&truncated, &lower)
            }
        }
    }
}

/// Finds the width every part of some formulas fits into.
struct Width<'t> {
    terms: &'t Terms,
    width: u32,
    seen: FxHashMap<TermId, ()>,
}

impl Width<'_> {
    fn formula(&mut self, formula: FormulaId) -> Result<(), Reason> {
        match self.terms.formula(formula) {
            Formula::True | Formula::False => Ok(()),
            Formula::Atom(_, term) => self.term(*term),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().try_for_each(|part| self.formula(*part))
            }
        }
    }

    fn term(&mut self, term: TermId) -> Result<(), Reason> {
        if self.seen.insert(term, ()).is_some() {
            return Ok(());
        }
        self.fit(self.terms.range(term))?;
        for (leaf, _) in &self.terms.linear(term).terms {
            self.fit(self.terms.leaf_range(*leaf))?;
            self.leaf(*leaf)?;
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: LeafId) -> Result<(), Reason> {
        match *self.terms.leaf(leaf) {
            Leaf::Symbol(_) => Ok(()),
            Leaf::Product(a, b) | Leaf::Min(a, b) | Leaf::BitAnd(a, b) => {
                self.term(a)?;
                self.term(b)
            }
            Leaf::Quotient { dividend, divisor, .. } => {
                self.term(dividend)?;
                self.term(divisor)
            }
            Leaf::Wrap { term, bits, .. } => {
                self.width = self.width.max(bits + 1);
                self.term(term)
            }
            // Shifting past the width gives zero, where the integer would be huge.
            Leaf::PowerOfTwo(exponent) => {
                let range = self.terms.range(exponent);
                let Some(high @ 0..=126) = range.high else { return Err(Reason::Bits) };
                self.fit(Interval::exactly(1 << high))?;
                self.term(exponent)
            }
            Leaf::Choice { condition, then, otherwise, .. } => {
                self.formula(condition)?;
                self.term(then)?;
                self.term(otherwise)
            }
            Leaf::Unrepresentable(_) => Err(Reason::Overflow),
        }
    }

    fn fit(&mut self, range: Interval) -> Result<(), Reason> {
        match signed_width(range) {
            Some(width) if width < MAX_WIDTH => {
                self.width = self.width.max(width);
                Ok(())
            }
            _ => Err(Reason::Bits),
        }
    }
}
