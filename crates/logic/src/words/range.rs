//! Intervals of words, which refute most questions of a search at a glance: whether a small
//! number overflows, whether a digit is a letter.
//!
//! An interval is circular: it starts somewhere, has a span and may go through the largest
//! number back to zero, so that numbers about zero need no case of their own.

use rustc_hash::FxHashMap;

use super::eval::parts;
use super::{Word, WordId, WordOp, Words, mask, signed};

/// `low`, `low + 1` and so on up to `low + span`, modulo the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub low: u128,
    pub span: u128,
    pub width: u32,
}

/// Rounds of telling parts of the conditions what the conditions say about them.
const ROUNDS: usize = 3;

impl Words {
    /// Whether intervals show that these bits cannot all hold.
    pub fn is_refuted(&self, bits: &[WordId]) -> bool {
        self.narrowed(bits).is_none()
    }

    /// Where words lie if these bits all hold; `None` where they cannot.
    pub(super) fn narrowed(&self, bits: &[WordId]) -> Option<FxHashMap<WordId, Range>> {
        let mut known: FxHashMap<WordId, Range> = FxHashMap::default();
        for _ in 0..ROUNDS {
            let before = known.clone();
            let computed = FxHashMap::default();
            let mut ranges = Ranges { words: self, known, computed, is_contradicted: false };
            for bit in bits {
                if ranges.of(*bit) == Range::exactly(0, 1)
                    || !ranges.assume(*bit, true)
                    || ranges.is_contradicted
                {
                    return None;
                }
            }
            known = ranges.known;
            if known == before {
                break;
            }
        }
        Some(known)
    }
}

impl Range {
    fn full(width: u32) -> Self {
        Self { low: 0, span: mask(width), width }
    }

    fn exactly(value: u128, width: u32) -> Self {
        Self { low: value & mask(width), span: 0, width }
    }

    /// The number so many steps from its start.
    pub fn at(self, step: u128) -> u64 {
        (self.low.wrapping_add(step) & mask(self.width)) as u64
    }

    fn of_bit(bit: Option<bool>) -> Self {
        bit.map_or(Self::full(1), |bit| Self::exactly(u128::from(bit), 1))
    }

    /// From the lowest to the highest number; everything where they do not fit.
    fn between(low: i128, high: i128, width: u32) -> Self {
        match high.checked_sub(low) {
            Some(span) if span >= 0 && width < 128 && (span as u128) < mask(width) => {
                Self { low: low as u128 & mask(width), span: span as u128, width }
            }
            _ => Self::full(width),
        }
    }

    /// As numbers without a sign.
    fn unsigned(self) -> (u128, u128) {
        match self.low.checked_add(self.span) {
            Some(high) if high <= mask(self.width) => (self.low, high),
            _ => (0, mask(self.width)),
        }
    }

    /// As numbers with a sign.
    fn signed(self) -> (i128, i128) {
        let high = self.low.wrapping_add(self.span) & mask(self.width);
        let (low, high) = (signed(self.low, self.width), signed(high, self.width));
        let half = (mask(self.width) >> 1) as i128;
        if low <= high && self.span < mask(self.width) { (low, high) } else { (-half - 1, half) }
    }

    /// The same as numbers that fit a computation, if there is one interval of them.
    fn numbers(self) -> Option<(i128, i128)> {
        (self.width <= 64).then(|| self.signed())
    }

    /// What both hold; `None` where nothing is.
    fn meet(self, other: Self) -> Option<Self> {
        let (a, b) = (self.unsigned(), other.unsigned());
        if a.0 > b.1 || b.0 > a.1 {
            return None;
        }
        let (x, y) = (self.signed(), other.signed());
        if x.0 > y.1 || y.0 > x.1 {
            return None;
        }
        let (low, high) = (a.0.max(b.0), a.1.min(b.1));
        let flat = Self { low, span: high - low, width: self.width };
        let around = Self::between(x.0.max(y.0), x.1.min(y.1), self.width);
        [self, other, flat, around].into_iter().min_by_key(|range| range.span)
    }

    fn join(self, other: Self) -> Self {
        let (a, b) = (self.unsigned(), other.unsigned());
        let (low, high) = (a.0.min(b.0), a.1.max(b.1));
        let flat = Self { low, span: high - low, width: self.width };
        let (x, y) = (self.signed(), other.signed());
        let around = Self::between(x.0.min(y.0), x.1.max(y.1), self.width);
        if flat.span <= around.span { flat } else { around }
    }

    fn add(self, other: Self) -> Self {
        match self.span.checked_add(other.span) {
            Some(span) if span < mask(self.width) => {
                let low = self.low.wrapping_add(other.low) & mask(self.width);
                Self { low, span, width: self.width }
            }
            _ => Self::full(self.width),
        }
    }

    fn negated(self) -> Self {
        let high = self.low.wrapping_add(self.span);
        Self { low: 0u128.wrapping_sub(high) & mask(self.width), ..self }
    }
}

struct Ranges<'a> {
    words: &'a Words,
    /// What the conditions say.
    known: FxHashMap<WordId, Range>,
    computed: FxHashMap<WordId, Range>,
    /// A word lies where the conditions say it does not.
    is_contradicted: bool,
}

impl Ranges<'_> {
    fn of(&mut self, word: WordId) -> Range {
        let mut stack = vec![word];
        while let Some(&top) = stack.last() {
            if self.computed.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let parts = parts(self.words.word(top));
            stack.extend(parts.iter().flatten().filter(|part| !self.computed.contains_key(part)));
            if stack.len() == before {
                let mut range = self.one(top);
                if let Some(known) = self.known.get(&top) {
                    let both = range.meet(*known);
                    self.is_contradicted |= both.is_none();
                    range = both.unwrap_or(*known);
                }
                self.computed.insert(top, range);
                stack.pop();
            }
        }
        self.computed[&word]
    }

    fn one(&self, id: WordId) -> Range {
        let width = self.words.width(id);
        let done = |id: WordId| self.computed[&id];
        match *self.words.word(id) {
            Word::Const(value) => Range::exactly(value, width),
            Word::Unknown(_) => Range::full(width),
            Word::Binary(op, a, b) if op.is_comparison() => {
                Range::of_bit(compare(op, done(a), done(b)))
            }
            Word::Binary(op, a, b) => binary(op, done(a), done(b)),
            Word::Choice(condition, a, b) => match done(condition) {
                Range { span: 0, low: 1, .. } => done(a),
                Range { span: 0, .. } => done(b),
                _ => done(a).join(done(b)),
            },
            Word::Extract(word, low) => extract(done(word), low, width),
            Word::Concat(high, low) => {
                let shift = self.words.width(low);
                let (x, y) = (done(high).unsigned(), done(low).unsigned());
                let least = x.0 << shift | y.0;
                Range { low: least, span: (x.1 << shift | y.1) - least, width }
            }
            Word::ZeroExtend(word) => {
                let (low, high) = done(word).unsigned();
                Range { low, span: high - low, width }
            }
            Word::SignExtend(word) => {
                let (low, high) = done(word).signed();
                Range::between(low, high, width)
            }
        }
    }

    /// Notes what follows from a bit; whether it can be so.
    fn assume(&mut self, bit: WordId, is_set: bool) -> bool {
        let range = Range::exactly(u128::from(is_set), 1);
        if !self.limit(bit, range) {
            return false;
        }
        match *self.words.word(bit) {
            Word::Binary(WordOp::And, a, b) if is_set => {
                self.assume(a, true) && self.assume(b, true)
            }
            Word::Binary(WordOp::Or, a, b) if !is_set => {
                self.assume(a, false) && self.assume(b, false)
            }
            Word::Binary(WordOp::Eq, a, b) if self.words.width(a) == 1 => {
                match self.words.as_const(b) {
                    Some(value) => self.assume(a, (value == 1) == is_set),
                    None => true,
                }
            }
            Word::Binary(WordOp::SignedMulFits, ..) => true,
            Word::Binary(op, a, b) if op.is_comparison() => self.compared(op, (a, b), is_set),
            _ => true,
        }
    }

    fn compared(&mut self, op: WordOp, (a, b): (WordId, WordId), is_set: bool) -> bool {
        use WordOp::*;
        // Not `a < b` is `b <= a`.
        let (op, a, b) = match (op, is_set) {
            (Eq, true) => {
                let (x, y) = (self.of(a), self.of(b));
                return self.limit(a, y) && self.limit(b, x);
            }
            (Eq, false) => return self.differs(a, b) && self.differs(b, a),
            (op, true) => (op, a, b),
            (UnsignedLt, false) => (UnsignedLe, b, a),
            (UnsignedLe, false) => (UnsignedLt, b, a),
            (SignedLt, false) => (SignedLe, b, a),
            (_, false) => (SignedLt, b, a),
        };
        let width = self.words.width(a);
        if width > 64 {
            return true;
        }
        let (x, y) = (self.of(a), self.of(b));
        let is_signed = matches!(op, SignedLt | SignedLe);
        let strict = i128::from(matches!(op, SignedLt | UnsignedLt));
        let as_numbers = |range: Range| match is_signed {
            true => range.signed(),
            false => (range.unsigned().0 as i128, range.unsigned().1 as i128),
        };
        let (least, most) = as_numbers(Range::full(width));
        let highest = as_numbers(y).1 - strict;
        let lowest = as_numbers(x).0 + strict;
        highest >= least
            && lowest <= most
            && self.limit(a, Range::between(least, highest, width))
            && self.limit(b, Range::between(lowest, most, width))
    }

    /// A word that is not one end of its range ends sooner.
    fn differs(&mut self, word: WordId, from: WordId) -> bool {
        let (range, other) = (self.of(word), self.of(from));
        if other.span > 0 || range.span == mask(range.width) {
            return true;
        }
        let last = range.low.wrapping_add(range.span) & mask(range.width);
        let (is_first, is_last) = (other.low == range.low, other.low == last);
        if range.span == 0 {
            return !is_first;
        }
        let next = range.low.wrapping_add(1) & mask(range.width);
        let shorter = Range { span: range.span - 1, ..range };
        match (is_first, is_last) {
            (true, _) => self.limit(word, Range { low: next, ..shorter }),
            (_, true) => self.limit(word, shorter),
            _ => true,
        }
    }

    /// Notes that a word lies in a range, and what that says of the word it is made of.
    fn limit(&mut self, word: WordId, range: Range) -> bool {
        let (mut word, mut range) = (word, range);
        loop {
            if self.words.as_const(word).is_none() {
                let now = self.known.get(&word).copied().unwrap_or(Range::full(range.width));
                match now.meet(range) {
                    Some(both) => drop(self.known.insert(word, both)),
                    None => return false,
                }
            }
            match *self.words.word(word) {
                Word::ZeroExtend(inner) => {
                    let width = self.words.width(inner);
                    let (low, high) = range.unsigned();
                    if low > mask(width) {
                        return false;
                    }
                    range = Range { low, span: high.min(mask(width)) - low, width };
                    word = inner;
                }
                Word::SignExtend(inner) => {
                    let width = self.words.width(inner);
                    let (low, high) = range.signed();
                    let (least, most) = Range::full(width).signed();
                    if low > most || high < least {
                        return false;
                    }
                    range = Range::between(low.max(least), high.min(most), width);
                    word = inner;
                }
                Word::Binary(WordOp::Add, inner, addend) => {
                    let Some(addend) = self.words.as_const(addend) else { return true };
                    range = range.add(Range::exactly(addend, range.width).negated());
                    word = inner;
                }
                Word::Binary(WordOp::Sub, from, inner) => {
                    let Some(from) = self.words.as_const(from) else { return true };
                    range = Range::exactly(from, range.width).add(range.negated());
                    word = inner;
                }
                _ => return true,
            }
        }
    }
}

fn compare(op: WordOp, a: Range, b: Range) -> Option<bool> {
    let decide = |less: bool, more: bool| match (less, more) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let (x, y) = (a.unsigned(), b.unsigned());
    let (s, t) = (a.signed(), b.signed());
    match op {
        WordOp::UnsignedLt => decide(x.1 < y.0, x.0 >= y.1),
        WordOp::UnsignedLe => decide(x.1 <= y.0, x.0 > y.1),
        WordOp::SignedLt => decide(s.1 < t.0, s.0 >= t.1),
        WordOp::SignedLe => decide(s.1 <= t.0, s.0 > t.1),
        WordOp::SignedMulFits => {
            let (low, high) = products(a.numbers()?, b.numbers()?);
            let (least, most) = Range::full(a.width).signed();
            decide(least <= low && high <= most, high < least || most < low)
        }
        _ => decide(a.span == 0 && a == b, a.meet(b).is_none()),
    }
}

fn binary(op: WordOp, a: Range, b: Range) -> Range {
    let width = a.width;
    match op {
        WordOp::Add => a.add(b),
        WordOp::Sub => a.add(b.negated()),
        WordOp::Mul => match (a.numbers(), b.numbers()) {
            (Some(x), Some(y)) => {
                let (low, high) = products(x, y);
                Range::between(low, high, width)
            }
            _ => Range::full(width),
        },
        WordOp::UnsignedDiv if b.unsigned().0 > 0 => {
            let (x, y) = (a.unsigned(), b.unsigned());
            let low = x.0 / y.1;
            Range { low, span: x.1 / y.0 - low, width }
        }
        WordOp::UnsignedRem if b.unsigned().0 > 0 => {
            let high = a.unsigned().1.min(b.unsigned().1 - 1);
            Range { low: 0, span: high, width }
        }
        WordOp::SignedDiv if b.signed().0 > 0 => {
            let (x, y) = (a.signed(), b.signed());
            let low = if x.0 < 0 { x.0 / y.0 } else { x.0 / y.1 };
            let high = if x.1 < 0 { x.1 / y.1 } else { x.1 / y.0 };
            Range::between(low, high, width)
        }
        WordOp::SignedRem if b.signed().0 > 0 => {
            let (x, most) = (a.signed(), b.signed().1 - 1);
            let low = if x.0 < 0 { (-most).max(x.0) } else { 0 };
            let high = if x.1 > 0 { most.min(x.1) } else { 0 };
            Range::between(low, high, width)
        }
        WordOp::And | WordOp::Or if width == 1 => {
            let (x, y) = (a.unsigned(), b.unsigned());
            let (low, high) = match op {
                WordOp::And => (x.0 & y.0, x.1 & y.1),
                _ => (x.0 | y.0, x.1 | y.1),
            };
            Range { low, span: high - low, width }
        }
        WordOp::And => Range { low: 0, span: a.unsigned().1.min(b.unsigned().1), width },
        WordOp::Or | WordOp::Xor => {
            let bits = 128 - (a.unsigned().1 | b.unsigned().1).leading_zeros();
            Range { low: 0, span: mask(bits), width }
        }
        WordOp::LogicalShr => Range { low: 0, span: a.unsigned().1, width },
        _ => Range::full(width),
    }
}

/// The least and the most of products of numbers between these.
fn products(x: (i128, i128), y: (i128, i128)) -> (i128, i128) {
    let ends = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
    let low = ends.iter().copied().min().unwrap_or(0);
    let high = ends.iter().copied().max().unwrap_or(0);
    (low, high)
}

fn extract(range: Range, low: u32, width: u32) -> Range {
    let (first, last) = range.unsigned();
    let (least, most) = (first >> low, last >> low);
    if most <= mask(width) {
        return Range { low: least, span: most - least, width };
    }
    if low == 0 && range.span < mask(width) {
        return Range { low: range.low & mask(width), span: range.span, width };
    }
    Range::full(width)
}
