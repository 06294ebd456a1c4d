//! Hash-consed formulas in negation normal form: comparisons of a term with zero, joined
//! by `and` and `or`.

use crate::interval::Interval;
use crate::linear::{Linear, ceil_div};
use crate::term::{FormulaId, TermId, Terms};

/// How a term compares with zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    AtMostZero,
    Zero,
    NonZero,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    True,
    False,
    Atom(Relation, TermId),
    /// At least two, ascending, none of them a conjunction.
    And(Box<[FormulaId]>),
    /// At least two, ascending, none of them a disjunction.
    Or(Box<[FormulaId]>),
}

/// A comparison as the user of the crate writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    pub fn negated(self) -> Self {
        match self {
            Comparison::Eq => Comparison::Ne,
            Comparison::Ne => Comparison::Eq,
            Comparison::Lt => Comparison::Ge,
            Comparison::Ge => Comparison::Lt,
            Comparison::Gt => Comparison::Le,
            Comparison::Le => Comparison::Gt,
        }
    }

    /// The same with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Comparison::Lt => Comparison::Gt,
            Comparison::Gt => Comparison::Lt,
            Comparison::Le => Comparison::Ge,
            Comparison::Ge => Comparison::Le,
            same => same,
        }
    }

    pub fn is_ordering(self) -> bool {
        !matches!(self, Comparison::Eq | Comparison::Ne)
    }

    pub fn holds(self, a: i128, b: i128) -> bool {
        match self {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            Comparison::Ge => a >= b,
        }
    }
}

impl Terms {
    pub const TRUE: FormulaId = FormulaId(0);
    pub const FALSE: FormulaId = FormulaId(1);

    pub fn formula(&self, formula: FormulaId) -> &Formula {
        &self.formulas[formula]
    }

    pub fn compare(&mut self, comparison: Comparison, a: TermId, b: TermId) -> FormulaId {
        let (relation, difference) = match comparison {
            Comparison::Eq => (Relation::Zero, self.sub(a, b)),
            Comparison::Ne => (Relation::NonZero, self.sub(a, b)),
            Comparison::Le => (Relation::AtMostZero, self.sub(a, b)),
            Comparison::Ge => (Relation::AtMostZero, self.sub(b, a)),
            Comparison::Lt => {
                let difference = self.sub(a, b);
                (Relation::AtMostZero, self.add_constant(difference, 1))
            }
            Comparison::Gt => {
                let difference = self.sub(b, a);
                (Relation::AtMostZero, self.add_constant(difference, 1))
            }
        };
        self.atom(relation, difference)
    }

    /// `low <= term && term <= high`.
    pub fn within(&mut self, term: TermId, low: TermId, high: TermId) -> FormulaId {
        let above = self.compare(Comparison::Ge, term, low);
        let below = self.compare(Comparison::Le, term, high);
        self.and(&[above, below])
    }

    /// An atom, divided by the content of its term and folded where the domains of its
    /// symbols decide it.
    pub fn atom(&mut self, relation: Relation, term: TermId) -> FormulaId {
        if let Some(known) = decided(relation, self.range(term)) {
            return if known { Self::TRUE } else { Self::FALSE };
        }
        match normalised(relation, self.linear(term)) {
            Normalised::Unchanged => self.intern_formula(Formula::Atom(relation, term)),
            Normalised::Never => Self::FALSE,
            Normalised::Always => Self::TRUE,
            Normalised::Linear(linear) => {
                let term = self.intern(linear);
                self.intern_formula(Formula::Atom(relation, term))
            }
        }
    }

    pub fn and(&mut self, parts: &[FormulaId]) -> FormulaId {
        self.join(parts, Self::TRUE, Self::FALSE)
    }

    pub fn or(&mut self, parts: &[FormulaId]) -> FormulaId {
        self.join(parts, Self::FALSE, Self::TRUE)
    }

    fn join(&mut self, parts: &[FormulaId], neutral: FormulaId, absorbing: FormulaId) -> FormulaId {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match &self.formulas[*part] {
                Formula::And(inner) if neutral == Self::TRUE => flat.extend_from_slice(inner),
                Formula::Or(inner) if neutral == Self::FALSE => flat.extend_from_slice(inner),
                _ if *part == neutral => {}
                _ if *part == absorbing => return absorbing,
                _ => flat.push(*part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => neutral,
            [only] => *only,
            _ if neutral == Self::TRUE => self.intern_formula(Formula::And(flat.into())),
            _ => self.intern_formula(Formula::Or(flat.into())),
        }
    }

    pub fn not(&mut self, formula: FormulaId) -> FormulaId {
        match self.formulas[formula].clone() {
            Formula::True => Self::FALSE,
            Formula::False => Self::TRUE,
            Formula::Atom(Relation::Zero, term) => self.atom(Relation::NonZero, term),
            Formula::Atom(Relation::NonZero, term) => self.atom(Relation::Zero, term),
            Formula::Atom(Relation::AtMostZero, term) => {
                let negated = self.negate(term);
                let above = self.add_constant(negated, 1);
                self.atom(Relation::AtMostZero, above)
            }
            Formula::And(parts) => {
                let negated: Vec<_> = parts.iter().map(|part| self.not(*part)).collect();
                self.or(&negated)
            }
            Formula::Or(parts) => {
                let negated: Vec<_> = parts.iter().map(|part| self.not(*part)).collect();
                self.and(&negated)
            }
        }
    }

    pub fn implies(&mut self, premise: FormulaId, conclusion: FormulaId) -> FormulaId {
        let negated = self.not(premise);
        self.or(&[negated, conclusion])
    }

    /// The parts of a conjunction; the formula itself where it is none.
    pub fn conjuncts(&self, formula: FormulaId) -> Vec<FormulaId> {
        match &self.formulas[formula] {
            Formula::True => Vec::new(),
            Formula::And(parts) => parts.to_vec(),
            _ => vec![formula],
        }
    }

    pub(crate) fn intern_formula(&mut self, formula: Formula) -> FormulaId {
        if let Some(id) = self.formula_ids.get(&formula) {
            return *id;
        }
        let depth = match &formula {
            Formula::True | Formula::False => 0,
            Formula::Atom(_, term) => self.depth(*term),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().map(|part| self.formula_depths[*part]).max().unwrap_or(0) + 1
            }
        };
        self.formula_depths.push(depth);
        let id = self.formulas.push(formula.clone());
        self.formula_ids.insert(formula, id);
        id
    }
}

fn decided(relation: Relation, range: Interval) -> Option<bool> {
    let below = range.high.is_some_and(|high| high <= 0);
    let above = range.low.is_some_and(|low| low > 0);
    match relation {
        Relation::AtMostZero if below => Some(true),
        Relation::AtMostZero if above => Some(false),
        Relation::AtMostZero => None,
        Relation::Zero | Relation::NonZero => {
            let equal = match range.fixed() {
                Some(value) => value == 0,
                None if range.contains(0) => return None,
                None => false,
            };
            Some(equal == (relation == Relation::Zero))
        }
    }
}

enum Normalised {
    Unchanged,
    Always,
    Never,
    Linear(Linear),
}

fn normalised(relation: Relation, linear: &Linear) -> Normalised {
    let content = linear.content();
    let flip =
        relation != Relation::AtMostZero && linear.terms.first().is_some_and(|(_, c)| *c < 0);
    if content <= 1 && !flip {
        return Normalised::Unchanged;
    }
    let divides = linear.constant % content == 0;
    match relation {
        Relation::Zero if !divides => return Normalised::Never,
        Relation::NonZero if !divides => return Normalised::Always,
        _ => {}
    }
    let divisor = if flip { -content } else { content };
    let constant = match relation {
        Relation::AtMostZero => ceil_div(linear.constant, content),
        _ => linear.constant / divisor,
    };
    let terms = linear.terms.iter().map(|(leaf, c)| (*leaf, c / divisor)).collect();
    Normalised::Linear(Linear { constant, terms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_fold_by_domain_and_divide_by_content() {
        let mut terms = Terms::new();
        let n = terms.fresh_symbol(Interval::of_width(8, false));
        let n = terms.symbol(n);
        let (zero, seven) = (terms.constant(0), terms.constant(7));
        assert_eq!(terms.compare(Comparison::Ge, n, zero), Terms::TRUE);
        assert_eq!(terms.compare(Comparison::Lt, n, zero), Terms::FALSE);
        let twice = terms.scale(2, n);
        assert_eq!(terms.compare(Comparison::Eq, twice, seven), Terms::FALSE);
        let (three, at_most) = (terms.constant(3), terms.compare(Comparison::Le, twice, seven));
        assert_eq!(at_most, terms.compare(Comparison::Le, n, three));
    }

    #[test]
    fn double_negation_is_the_formula_itself() {
        let mut terms = Terms::new();
        let (x, y) = (terms.fresh_symbol(Interval::ALL), terms.fresh_symbol(Interval::ALL));
        let (x, y) = (terms.symbol(x), terms.symbol(y));
        let (less, equal) =
            (terms.compare(Comparison::Lt, x, y), terms.compare(Comparison::Eq, x, y));
        let both = terms.or(&[less, equal]);
        let negated = terms.not(both);
        assert_eq!(terms.not(negated), both);
    }
}
