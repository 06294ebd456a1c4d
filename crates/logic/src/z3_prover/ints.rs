//! Terms as z3 integers. Operations z3 has no good integer form for become free integers
//! within their range: an `Unsat` stays right, a model is checked.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use z3::ast::{Bool, Int};

use crate::formula::{Formula, Relation};
use crate::interval::Interval;
use crate::term::{FormulaId, Leaf, LeafId, Rounding, SymbolId, TermId, Terms};

pub struct Encoder<'t> {
    terms: &'t Terms,
    pub symbols: BTreeMap<SymbolId, Int>,
    leaves: FxHashMap<LeafId, Int>,
    sides: Vec<Bool>,
}

impl<'t> Encoder<'t> {
    pub fn new(terms: &'t Terms) -> Self {
        Self { terms, symbols: BTreeMap::new(), leaves: FxHashMap::default(), sides: Vec::new() }
    }

    /// Ranges of symbols and free leaves met so far.
    pub fn side_conditions(&self) -> Vec<Bool> {
        let domains = self.symbols.iter().flat_map(|(s, c)| range(c, self.terms.domain(*s)));
        self.sides.iter().cloned().chain(domains).collect()
    }

    pub fn formula(&mut self, formula: FormulaId) -> Bool {
        let terms = self.terms;
        match terms.formula(formula) {
            Formula::True => Bool::from_bool(true),
            Formula::False => Bool::from_bool(false),
            Formula::Atom(relation, term) => {
                let value = self.term(*term);
                let zero = Int::from_i64(0);
                match relation {
                    Relation::AtMostZero => value.le(&zero),
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

    fn term(&mut self, term: TermId) -> Int {
        let terms = self.terms;
        let linear = terms.linear(term);
        let mut summands = vec![Int::from_i128(linear.constant)];
        for (leaf, factor) in &linear.terms {
            let value = self.leaf(*leaf);
            summands.push(Int::mul(&[Int::from_i128(*factor), value]));
        }
        Int::add(&summands)
    }

    fn leaf(&mut self, id: LeafId) -> Int {
        if let Some(done) = self.leaves.get(&id) {
            return done.clone();
        }
        let encoded = match *self.terms.leaf(id) {
            Leaf::Symbol(symbol) => {
                let constant = Int::new_const(format!("s{}", symbol.0));
                self.symbols.insert(symbol, constant.clone());
                constant
            }
            Leaf::Product(a, b) => Int::mul(&[self.term(a), self.term(b)]),
            Leaf::Quotient { rounding, dividend, divisor } => {
                let (a, b) = (self.term(dividend), self.term(divisor));
                quotient(rounding, &a, &b)
            }
            Leaf::Min(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                a.le(&b).ite(&a, &b)
            }
            Leaf::Wrap { term, bits, signed } => {
                let reduced = self.term(term).modulo(Int::from_i128(1 << bits));
                if signed {
                    let half = Int::from_i128(1 << (bits - 1));
                    let below = Int::sub(&[reduced.clone(), Int::from_i128(1 << bits)]);
                    reduced.lt(&half).ite(&reduced, &below)
                } else {
                    reduced
                }
            }
            Leaf::Choice { condition, then, otherwise, .. } => {
                let condition = self.formula(condition);
                let (then, otherwise) = (self.term(then), self.term(otherwise));
                condition.ite(&then, &otherwise)
            }
            Leaf::BitAnd(..) | Leaf::PowerOfTwo(_) | Leaf::Unrepresentable(_) => {
                let constant = Int::new_const(format!("leaf{}", id.0));
                self.sides.extend(range(&constant, self.terms.leaf_range(id)));
                constant
            }
        };
        self.leaves.insert(id, encoded.clone());
        encoded
    }
}

/// z3 divides so that the remainder is never negative.
fn quotient(rounding: Rounding, a: &Int, b: &Int) -> Int {
    let zero = Int::from_i64(0);
    match rounding {
        Rounding::Zero => {
            let mirrored = a.unary_minus().div(b).unary_minus();
            a.ge(&zero).ite(&a.div(b), &mirrored)
        }
        Rounding::Floor => {
            let mirrored = a.unary_minus().div(b.unary_minus());
            b.gt(&zero).ite(&a.div(b), &mirrored)
        }
    }
}

pub fn range(value: &Int, range: Interval) -> Vec<Bool> {
    let low = range.low.map(|low| value.ge(Int::from_i128(low)));
    let high = range.high.map(|high| value.le(Int::from_i128(high)));
    low.into_iter().chain(high).collect()
}
