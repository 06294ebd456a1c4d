//! How values follow from inputs: words computed beside the bits.

use logic::words::{WordId, WordOp};
use program::{BinaryOp, Conversion, ConversionKind, Predicate, Ty};

use crate::FaultKind;
use crate::arithmetic::width;
use crate::exec::Machine;
use crate::path::Why;
use crate::value::{Bits, Value};

impl Machine<'_> {
    /// The word of a value, a constant where it follows from nothing.
    pub(crate) fn word(&mut self, bits: Bits, width: u32) -> WordId {
        let words = &mut self.memory.words;
        match bits.word {
            Some(word) => words.resize(word, width, false),
            None => words.constant(width, bits.bits),
        }
    }

    /// The lowest bits, with their word.
    pub(crate) fn low(&mut self, bits: Bits, width: u32) -> Bits {
        let word = bits.word.map(|word| {
            let words = &mut self.memory.words;
            if words.width(word) > width { words.extract(word, 0, width) } else { word }
        });
        bits.low(width).with_word(word)
    }

    fn finish(&self, result: Bits, word: WordId) -> Bits {
        let is_news = self.memory.words.as_const(word).is_none() && result.is_known();
        result.with_word(is_news.then_some(word))
    }

    pub(crate) fn shadow_binary(
        &mut self,
        op: BinaryOp,
        ty: Ty,
        (left, right): (Bits, Bits),
        no_signed_wrap: bool,
        result: Bits,
    ) -> Bits {
        if left.word.is_none() && right.word.is_none() || !result.is_known() {
            return result;
        }
        let (Some(operator), Ok(width)) = (operator(op), width(ty)) else {
            self.lose("a floating-point number");
            return result;
        };
        let (a, b) = (self.word(left, width), self.word(right, width));
        self.check_operation(op, (a, b), width, no_signed_wrap);
        let word = match self.narrow_quotient(op, a, b) {
            Some(narrow) => narrow,
            None => self.memory.words.binary(operator, a, b),
        };
        self.finish(result, word)
    }

    /// Records that the operation is defined on this run.
    fn check_operation(&mut self, op: BinaryOp, (a, b): (WordId, WordId), width: u32, nsw: bool) {
        use BinaryOp::*;
        let words = &mut self.memory.words;
        match op {
            UnsignedDiv | SignedDiv | UnsignedRem | SignedRem => {
                let zero = words.constant(width, 0);
                let is_zero = words.eq(b, zero);
                let defined = words.not(is_zero);
                self.holds(defined, Why::Check(FaultKind::DivideByZero));
                if matches!(op, SignedDiv | SignedRem) {
                    self.check_quotient((a, b), width);
                }
            }
            Shl | LogicalShr | ArithmeticShr => {
                let limit = words.constant(width, width.into());
                let defined = words.binary(WordOp::UnsignedLt, b, limit);
                self.holds(defined, Why::Check(FaultKind::Shift));
            }
            Add | Sub if nsw && width < 64 => self.check_wide_sum(op, (a, b), width),
            Add | Sub if nsw => {
                // Overflow shows in the signs of the operands and the result.
                let Some(operator) = operator(op) else { return };
                let result = words.binary(operator, a, b);
                let changed = words.binary(WordOp::Xor, a, result);
                let other = if op == Add { result } else { a };
                let differs = words.binary(WordOp::Xor, b, other);
                let both = words.binary(WordOp::And, changed, differs);
                let zero = words.constant(width, 0);
                let fits = words.binary(WordOp::SignedLe, zero, both);
                self.holds(fits, Why::Check(FaultKind::SignedOverflow));
            }
            Mul if nsw => self.check_product((a, b), width),
            _ => {}
        }
    }

    /// A sum with one bit more has room for every result: intervals see at once that small ones
    /// fit.
    fn check_wide_sum(&mut self, op: BinaryOp, (a, b): (WordId, WordId), width: u32) {
        let Some(operator) = operator(op) else { return };
        let words = &mut self.memory.words;
        let (a, b) = (words.sign_extend(a, width + 1), words.sign_extend(b, width + 1));
        let sum = words.binary(operator, a, b);
        let most = (1u128 << (width - 1)) - 1;
        let (high, low) = (words.constant(width + 1, most), words.constant(width + 1, !most));
        let below = words.binary(WordOp::SignedLe, sum, high);
        let above = words.binary(WordOp::SignedLe, low, sum);
        let fits = words.and(below, above);
        self.holds(fits, Why::Check(FaultKind::SignedOverflow));
    }

    /// The least number has no opposite: its quotient by -1 overflows, and the remainder is
    /// undefined with it.
    fn check_quotient(&mut self, (dividend, divisor): (WordId, WordId), width: u32) {
        let words = &mut self.memory.words;
        let (least, minus_one) =
            (words.constant(width, 1 << (width - 1)), words.constant(width, u128::MAX));
        let (is_least, is_opposite) = (words.eq(dividend, least), words.eq(divisor, minus_one));
        let overflows = words.and(is_least, is_opposite);
        let fits = words.not(overflows);
        self.holds(fits, Why::Check(FaultKind::SignedOverflow));
    }

    /// A product with a constant overflows outside a range, of which intervals know at once.
    fn check_product(&mut self, (a, b): (WordId, WordId), width: u32) {
        let words = &mut self.memory.words;
        let (factor, other) = match (words.as_const(a), words.as_const(b)) {
            (Some(factor), None) if width <= 64 => (factor, b),
            (None, Some(factor)) if width <= 64 => (factor, a),
            _ => {
                let fits = words.binary(WordOp::SignedMulFits, a, b);
                self.holds(fits, Why::Check(FaultKind::SignedOverflow));
                return;
            }
        };
        let factor = crate::value::signed(factor, width);
        if factor == 0 || factor == 1 {
            return;
        }
        let limit = (1i128 << (width - 1)) - 1;
        let ends = (limit / factor, -(limit + 1) / factor);
        // A negative factor turns the range around; -1 alone has an end that does not fit.
        let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1).min(limit));
        let (low, high) = (words.constant(width, low as u128), words.constant(width, high as u128));
        let below = words.binary(WordOp::SignedLe, other, high);
        let above = words.binary(WordOp::SignedLe, low, other);
        let fits = words.and(below, above);
        self.holds(fits, Why::Check(FaultKind::SignedOverflow));
    }

    pub(crate) fn shadow_compare(
        &mut self,
        predicate: Predicate,
        ty: Ty,
        (left, right): (Bits, Bits),
        result: Bits,
    ) -> Bits {
        if left.word.is_none() && right.word.is_none() || !result.is_known() {
            return result;
        }
        let (op, swapped, negated) = match predicate {
            Predicate::Eq => (WordOp::Eq, false, false),
            Predicate::Ne => (WordOp::Eq, false, true),
            Predicate::SignedLt => (WordOp::SignedLt, false, false),
            Predicate::SignedLe => (WordOp::SignedLe, false, false),
            Predicate::SignedGt => (WordOp::SignedLt, true, false),
            Predicate::SignedGe => (WordOp::SignedLe, true, false),
            Predicate::UnsignedLt => (WordOp::UnsignedLt, false, false),
            Predicate::UnsignedLe => (WordOp::UnsignedLe, false, false),
            Predicate::UnsignedGt => (WordOp::UnsignedLt, true, false),
            Predicate::UnsignedGe => (WordOp::UnsignedLe, true, false),
            Predicate::FloatOrdered(_) | Predicate::FloatUnordered(_) => {
                self.lose("a floating-point number");
                return result;
            }
        };
        let Ok(width) = width(ty) else { return result };
        let (a, b) = (self.word(left, width), self.word(right, width));
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let words = &mut self.memory.words;
        let word = words.binary(op, a, b);
        let word = if negated { words.not(word) } else { word };
        self.finish(result, word)
    }

    pub(crate) fn shadow_convert(
        &mut self,
        c: &Conversion,
        to: u32,
        value: Bits,
        result: Bits,
    ) -> Bits {
        use ConversionKind::*;
        let Some(word) = value.word.filter(|_| result.is_known()) else { return result };
        let is_signed = self.program.is_signed(c.to) == Some(true);
        let words = &mut self.memory.words;
        let word = match c.kind {
            _ if c.bit_field_width.is_some() => {
                let kept = c.bit_field_width.unwrap_or(to).min(words.width(word));
                let low = words.extract(word, 0, kept);
                words.resize(low, to, is_signed)
            }
            SignExtend => words.resize(word, to, true),
            SignChange | Bits | ZeroExtend | Truncate | PointerToInt | IntToPointer => {
                words.resize(word, to, false)
            }
            _ => {
                self.lose("a floating-point number");
                return result;
            }
        };
        self.finish(result, word)
    }

    /// A choice between values; between addresses the run decides.
    pub(crate) fn select(&mut self, condition: Bits, sides: (Value, Value), ty: Ty) -> Value {
        if condition.word.is_some()
            && ty != Ty::Ptr
            && let (Value::Bits(then), Value::Bits(otherwise), Ok(width)) =
                (&sides.0, &sides.1, width(ty))
            && then.is_known()
            && otherwise.is_known()
        {
            let (a, b) = (self.word(*then, width), self.word(*otherwise, width));
            let bit = self.word(condition, 1);
            let word = self.memory.words.choice(bit, a, b);
            let chosen = if condition.bits & 1 == 1 { *then } else { *otherwise };
            return self.finish(chosen, word).into();
        }
        if self.is_true(condition) { sides.0 } else { sides.1 }
    }
}

/// The word operator of an integer operator.
fn operator(op: BinaryOp) -> Option<WordOp> {
    Some(match op {
        BinaryOp::Add => WordOp::Add,
        BinaryOp::Sub => WordOp::Sub,
        BinaryOp::Mul => WordOp::Mul,
        BinaryOp::UnsignedDiv => WordOp::UnsignedDiv,
        BinaryOp::SignedDiv => WordOp::SignedDiv,
        BinaryOp::UnsignedRem => WordOp::UnsignedRem,
        BinaryOp::SignedRem => WordOp::SignedRem,
        BinaryOp::Shl => WordOp::Shl,
        BinaryOp::LogicalShr => WordOp::LogicalShr,
        BinaryOp::ArithmeticShr => WordOp::ArithmeticShr,
        BinaryOp::And => WordOp::And,
        BinaryOp::Or => WordOp::Or,
        BinaryOp::Xor => WordOp::Xor,
        _ => return None,
    })
}
