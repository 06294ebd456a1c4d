//! Building words, folded.

use super::eval::compute;
use super::{Word, WordId, WordOp, Words, mask, signed};

/// Choices below one another that bits are extracted through: a long loop makes long chains.
const MAX_CHOICES: u32 = 32;

impl Words {
    pub fn binary(&mut self, op: WordOp, a: WordId, b: WordId) -> WordId {
        let width = self.width(a);
        debug_assert_eq!(width, self.width(b), "operands of {op:?} have one width");
        let result_width = if op.is_comparison() { 1 } else { width };
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            let value = compute(op, width, x, y);
            return self.constant(result_width, value);
        }
        if let Some(folded) = self.identity(op, a, b) {
            return folded;
        }
        let is_symmetric = matches!(
            op,
            WordOp::Add
                | WordOp::Mul
                | WordOp::And
                | WordOp::Or
                | WordOp::Xor
                | WordOp::Eq
                | WordOp::SignedMulFits
        );
        // Constants to the right, so that sums of constants meet.
        let swap =
            is_symmetric && (self.as_const(a).is_some() || (b < a && self.as_const(b).is_none()));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        if let Some(folded) = self.reassociate(op, a, b) {
            return folded;
        }
        self.intern(Word::Binary(op, a, b), result_width)
    }

    /// What an operator does to a neutral or absorbing operand, or to equal ones.
    fn identity(&mut self, op: WordOp, a: WordId, b: WordId) -> Option<WordId> {
        use WordOp::*;
        let width = self.width(a);
        let (x, y) = (self.as_const(a), self.as_const(b));
        let ones = mask(width);
        match op {
            Add | Or | Xor if x == Some(0) => Some(b),
            Add | Sub | Or | Xor | Shl | LogicalShr | ArithmeticShr if y == Some(0) => Some(a),
            Mul if x == Some(1) => Some(b),
            Mul | UnsignedDiv | SignedDiv if y == Some(1) => Some(a),
            Mul | And if x == Some(0) || y == Some(0) => Some(self.constant(width, 0)),
            And if x == Some(ones) => Some(b),
            And if y == Some(ones) => Some(a),
            Or if x == Some(ones) || y == Some(ones) => Some(self.constant(width, ones)),
            And | Or if a == b => Some(a),
            Sub | Xor if a == b => Some(self.constant(width, 0)),
            Eq | UnsignedLe | SignedLe if a == b => Some(self.bit(true)),
            UnsignedLt | SignedLt if a == b => Some(self.bit(false)),
            UnsignedLt if y == Some(0) => Some(self.bit(false)),
            UnsignedLe if x == Some(0) || y == Some(ones) => Some(self.bit(true)),
            // One bit with a sign has no 1.
            SignedMulFits
                if width > 1 && (x.is_some_and(|x| x < 2) || y.is_some_and(|y| y < 2)) =>
            {
                Some(self.bit(true))
            }
            Eq if width == 1 && x == Some(1) => Some(b),
            Eq if width == 1 && y == Some(1) => Some(a),
            Eq => self.equality(a, b).or_else(|| self.equality(b, a)),
            And | Or if width == 1 => {
                let not_a = self.not_of(a);
                let not_b = self.not_of(b);
                (not_a == Some(b) || not_b == Some(a)).then(|| self.bit(op == Or))
            }
            _ => None,
        }
    }

    /// The word this bit is the negation of.
    fn not_of(&self, bit: WordId) -> Option<WordId> {
        match *self.word(bit) {
            Word::Binary(WordOp::Eq, a, b) if self.width(a) == 1 && self.as_const(b) == Some(0) => {
                Some(a)
            }
            _ => None,
        }
    }

    /// `a == b` where b is a constant and a tells more.
    fn equality(&mut self, a: WordId, b: WordId) -> Option<WordId> {
        let value = self.as_const(b)?;
        let width = self.width(a);
        match *self.word(a) {
            Word::Binary(WordOp::Eq, x, y) if width == 1 && value == 0 => {
                // Not (x == 0) of one bit is x.
                (self.width(x) == 1 && self.as_const(y) == Some(0)).then_some(x)
            }
            Word::ZeroExtend(inner) => {
                let inner_width = self.width(inner);
                if value > mask(inner_width) {
                    return Some(self.bit(false));
                }
                let value = self.constant(inner_width, value);
                Some(self.eq(inner, value))
            }
            Word::SignExtend(inner) => {
                let inner_width = self.width(inner);
                let low = value & mask(inner_width);
                if signed(low, inner_width) != signed(value, width) {
                    return Some(self.bit(false));
                }
                let low = self.constant(inner_width, low);
                Some(self.eq(inner, low))
            }
            Word::Binary(WordOp::Add, x, y) => {
                let addend = self.as_const(y)?;
                let rest = self.constant(width, value.wrapping_sub(addend));
                Some(self.eq(x, rest))
            }
            Word::Choice(condition, x, y) => {
                let (x, y) = (self.as_const(x)?, self.as_const(y)?);
                Some(match (x == value, y == value) {
                    (true, true) => self.bit(true),
                    (false, false) => self.bit(false),
                    (true, false) => condition,
                    (false, true) => self.not(condition),
                })
            }
            _ => None,
        }
    }

    /// Constants of nested sums meet; differences from constants become sums.
    fn reassociate(&mut self, op: WordOp, a: WordId, b: WordId) -> Option<WordId> {
        let width = self.width(a);
        let y = self.as_const(b)?;
        match op {
            WordOp::Sub => {
                let negated = self.constant(width, 0u128.wrapping_sub(y));
                Some(self.binary(WordOp::Add, a, negated))
            }
            WordOp::Add => {
                let Word::Binary(WordOp::Add, x, inner) = *self.word(a) else { return None };
                let inner = self.as_const(inner)?;
                let sum = self.constant(width, inner.wrapping_add(y));
                Some(self.binary(WordOp::Add, x, sum))
            }
            _ => None,
        }
    }

    pub fn choice(&mut self, condition: WordId, then: WordId, otherwise: WordId) -> WordId {
        match self.as_const(condition) {
            Some(0) => return otherwise,
            Some(_) => return then,
            None if then == otherwise => return then,
            None => {}
        }
        let width = self.width(then);
        debug_assert_eq!(width, self.width(otherwise), "both sides of a choice have one width");
        if width == 1 {
            match (self.as_const(then), self.as_const(otherwise)) {
                (Some(1), Some(0)) => return condition,
                (Some(0), Some(1)) => return self.not(condition),
                _ => {}
            }
        }
        self.intern(Word::Choice(condition, then, otherwise), width)
    }

    /// Bits `low..low + width`.
    pub fn extract(&mut self, word: WordId, low: u32, width: u32) -> WordId {
        self.extract_within(word, low, width, MAX_CHOICES)
    }

    /// The same through at most so many choices.
    fn extract_within(&mut self, word: WordId, low: u32, width: u32, depth: u32) -> WordId {
        let from = self.width(word);
        debug_assert!(low + width <= from, "extracted bits lie inside the word");
        if low == 0 && width == from {
            return word;
        }
        match *self.word(word) {
            Word::Const(value) => self.constant(width, value >> low),
            Word::Extract(inner, shift) => self.extract_within(inner, shift + low, width, depth),
            Word::Concat(high, lower) => {
                let split = self.width(lower);
                if low >= split {
                    self.extract_within(high, low - split, width, depth)
                } else if low + width <= split {
                    self.extract_within(lower, low, width, depth)
                } else {
                    self.intern(Word::Extract(word, low), width)
                }
            }
            Word::ZeroExtend(inner) => {
                let inner_width = self.width(inner);
                if low >= inner_width {
                    self.constant(width, 0)
                } else if low + width <= inner_width {
                    self.extract_within(inner, low, width, depth)
                } else {
                    let part = self.extract_within(inner, low, inner_width - low, depth);
                    self.zero_extend(part, width)
                }
            }
            Word::SignExtend(inner) if low + width <= self.width(inner) => {
                self.extract_within(inner, low, width, depth)
            }
            // The lowest bits of an address say how it is aligned. Bytes stay as they are, so
            // that they become one word again.
            Word::Binary(op @ (WordOp::Add | WordOp::Mul), a, b)
                if low == 0 && width <= 4 && depth > 0 && self.as_const(b).is_some() =>
            {
                let a = self.extract_within(a, 0, width, depth - 1);
                let b = self.extract(b, 0, width);
                self.binary(op, a, b)
            }
            Word::Choice(condition, then, otherwise)
                if depth > 0
                    && (self.as_const(then).is_some() || self.as_const(otherwise).is_some()) =>
            {
                let then = self.extract_within(then, low, width, depth - 1);
                let otherwise = self.extract_within(otherwise, low, width, depth - 1);
                self.choice(condition, then, otherwise)
            }
            _ => self.intern(Word::Extract(word, low), width),
        }
    }

    pub fn concat(&mut self, high: WordId, low: WordId) -> WordId {
        self.concat_within(high, low, MAX_CHOICES)
    }

    fn concat_within(&mut self, high: WordId, low: WordId, depth: u32) -> WordId {
        let (high_width, low_width) = (self.width(high), self.width(low));
        let width = high_width + low_width;
        if let (Some(x), Some(y)) = (self.as_const(high), self.as_const(low)) {
            return self.constant(width, x << low_width | y);
        }
        if self.as_const(high) == Some(0) {
            return self.zero_extend(low, width);
        }
        // Bytes of one word in order are that word again.
        if let (Word::Extract(x, at), Word::Extract(y, from)) = (self.word(high), self.word(low))
            && x == y
            && *at == from + low_width
        {
            let (word, from) = (*x, *from);
            return self.extract(word, from, width);
        }
        // So are bytes that were chosen by one condition, where extracting went through it.
        if let (&Word::Choice(c, a, b), &Word::Choice(d, x, y)) = (self.word(high), self.word(low))
            && c == d
            && depth > 0
            && [[a, x], [b, y]].iter().any(|pair| pair.iter().all(|w| self.as_const(*w).is_some()))
        {
            let then = self.concat_within(a, x, depth - 1);
            let otherwise = self.concat_within(b, y, depth - 1);
            return self.choice(c, then, otherwise);
        }
        self.intern(Word::Concat(high, low), width)
    }

    pub fn zero_extend(&mut self, word: WordId, width: u32) -> WordId {
        match *self.word(word) {
            _ if self.width(word) == width => word,
            Word::Const(value) => self.constant(width, value),
            Word::ZeroExtend(inner) => self.zero_extend(inner, width),
            _ => self.intern(Word::ZeroExtend(word), width),
        }
    }

    pub fn sign_extend(&mut self, word: WordId, width: u32) -> WordId {
        let from = self.width(word);
        match *self.word(word) {
            _ if from == width => word,
            Word::Const(value) => self.constant(width, signed(value, from) as u128),
            Word::SignExtend(inner) => self.sign_extend(inner, width),
            Word::ZeroExtend(inner) => self.zero_extend(inner, width),
            _ => self.intern(Word::SignExtend(word), width),
        }
    }
}
