//! Quotients and remainders of narrow numbers, which solvers find hard at full width.

use logic::words::{Word, WordId, WordOp};
use program::BinaryOp;

use crate::exec::Machine;

impl Machine<'_> {
    /// A signed quotient or remainder by a known positive number, computed on as many bits as
    /// the dividend has before its sign, where these are fewer.
    pub(crate) fn narrow_quotient(
        &mut self,
        op: BinaryOp,
        dividend: WordId,
        divisor: WordId,
    ) -> Option<WordId> {
        let operator = match op {
            BinaryOp::SignedDiv => WordOp::UnsignedDiv,
            BinaryOp::SignedRem => WordOp::UnsignedRem,
            _ => return None,
        };
        let words = &mut self.memory.words;
        let width = words.width(dividend);
        let divisor = words.as_const(divisor).filter(|d| *d > 0 && d >> (width - 1) == 0)?;
        let (sign, magnitude) = match *words.word(dividend) {
            Word::ZeroExtend(_) => (None, dividend),
            Word::Choice(sign, negated, plain) => match *words.word(negated) {
                Word::Binary(WordOp::Sub, zero, inner)
                    if words.as_const(zero) == Some(0) && inner == plain =>
                {
                    (Some(sign), plain)
                }
                _ => return None,
            },
            _ => return None,
        };
        let Word::ZeroExtend(narrow) = *words.word(magnitude) else { return None };
        let bits = words.width(narrow);
        let zero = words.constant(width, 0);
        let result = if divisor >> bits == 0 {
            let divisor = words.constant(bits, divisor);
            let result = words.binary(operator, narrow, divisor);
            words.resize(result, width, false)
        } else if operator == WordOp::UnsignedRem {
            magnitude
        } else {
            zero
        };
        let Some(sign) = sign else { return Some(result) };
        // C rounds towards zero.
        let negated = words.binary(WordOp::Sub, zero, result);
        Some(words.choice(sign, negated, result))
    }
}
