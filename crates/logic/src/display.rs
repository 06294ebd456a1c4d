//! Formulas as text, symbols named by the caller.

use std::fmt::Write;

use crate::formula::{Formula, Relation};
use crate::linear::Linear;
use crate::term::{FormulaId, Leaf, Rounding, SymbolId, TermId, Terms};

impl Terms {
    /// `term` in C-like notation.
    pub fn show(&self, term: TermId, name: &dyn Fn(SymbolId) -> String) -> String {
        self.show_linear(self.linear(term), name)
    }

    /// `formula` in C-like notation, with positive terms on both sides of comparisons.
    pub fn show_formula(&self, formula: FormulaId, name: &dyn Fn(SymbolId) -> String) -> String {
        let join = |parts: &[FormulaId], separator: &str| {
            let shown: Vec<String> = parts
                .iter()
                .map(|part| match self.formula(*part) {
                    Formula::Or(_) | Formula::And(_) => {
                        format!("({})", self.show_formula(*part, name))
                    }
                    _ => self.show_formula(*part, name),
                })
                .collect();
            shown.join(separator)
        };
        match self.formula(formula) {
            Formula::True => "true".to_string(),
            Formula::False => "false".to_string(),
            Formula::Atom(relation, term) => self.show_atom(*relation, self.linear(*term), name),
            Formula::And(parts) => join(parts, " && "),
            Formula::Or(parts) => join(parts, " || "),
        }
    }

    fn show_atom(
        &self,
        relation: Relation,
        linear: &Linear,
        name: &dyn Fn(SymbolId) -> String,
    ) -> String {
        let side = |positive: bool| Linear {
            constant: 0,
            terms: linear
                .terms
                .iter()
                .filter(|(_, c)| (*c > 0) == positive)
                .map(|(leaf, c)| (*leaf, c.saturating_abs()))
                .collect(),
        };
        let (mut left, mut right) = (side(true), side(false));
        let mut sign = match relation {
            Relation::AtMostZero => "<=",
            Relation::Zero => "==",
            Relation::NonZero => "!=",
        };
        right.constant = linear.constant.saturating_neg();
        if left.terms.is_empty() {
            // c <= x reads better as x >= c.
            std::mem::swap(&mut left, &mut right);
            right.constant = linear.constant;
            left.constant = 0;
            if relation == Relation::AtMostZero {
                sign = ">=";
            }
        }
        format!("{} {sign} {}", self.show_linear(&left, name), self.show_linear(&right, name))
    }

    fn show_linear(&self, linear: &Linear, name: &dyn Fn(SymbolId) -> String) -> String {
        let mut text = String::new();
        for (leaf, factor) in &linear.terms {
            let leaf = self.show_leaf(self.leaf(*leaf), name);
            let magnitude = factor.unsigned_abs();
            let sign = match (text.is_empty(), *factor < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let times = if magnitude == 1 { String::new() } else { format!("{magnitude} * ") };
            // Writing to a string cannot fail.
            let _ = write!(text, "{sign}{times}{leaf}");
        }
        match (linear.constant, text.is_empty()) {
            (constant, true) => constant.to_string(),
            (0, false) => text,
            (constant, false) if constant < 0 => format!("{text} - {}", constant.unsigned_abs()),
            (constant, false) => format!("{text} + {constant}"),
        }
    }

    fn show_leaf(&self, leaf: &Leaf, name: &dyn Fn(SymbolId) -> String) -> String {
        let show = |term: TermId| self.show(term, name);
        match leaf {
            Leaf::Symbol(symbol) => name(*symbol),
            Leaf::Product(a, b) => format!("{} * {}", show(*a), show(*b)),
            Leaf::Quotient { rounding: Rounding::Zero, dividend, divisor } => {
                format!("({}) / ({})", show(*dividend), show(*divisor))
            }
            Leaf::Quotient { rounding: Rounding::Floor, dividend, divisor } => {
                format!("floor(({}) / ({}))", show(*dividend), show(*divisor))
            }
            Leaf::Min(a, b) => format!("min({}, {})", show(*a), show(*b)),
            Leaf::Wrap { term, bits, signed } => {
                format!("{}{bits}({})", if *signed { "int" } else { "uint" }, show(*term))
            }
            Leaf::Choice { condition, then, otherwise, .. } => format!(
                "({} ? {} : {})",
                self.show_formula(*condition, name),
                show(*then),
                show(*otherwise)
            ),
            Leaf::BitAnd(a, b) => format!("({}) & ({})", show(*a), show(*b)),
            Leaf::PowerOfTwo(exponent) => format!("2^({})", show(*exponent)),
            Leaf::Unrepresentable(n) => format!("huge#{n}"),
        }
    }
}
