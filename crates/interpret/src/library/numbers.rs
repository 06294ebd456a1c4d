//! Numbers in strings, and what `stdlib.h` computes with integers.

use logic::words::WordOp;
use program::{BinaryOp, Ty};

use super::reader::Reader;
use super::{EINVAL, ERANGE, Given, Known};
use crate::arithmetic::binary;
use crate::exec::Machine;
use crate::inputs::Input;
use crate::value::{Bits, Value, mask, signed};
use crate::{Stop, Why};

/// The largest result of `rand` and `random`.
const RAND_MAX: u32 = i32::MAX as u32;

/// What becomes of a number that does not fit.
#[derive(Clone, Copy)]
pub(crate) enum Fit {
    /// So many of its bits are kept.
    Wraps(u32),
    /// The nearest number of 64 bits takes its place.
    Saturates { is_signed: bool },
}

impl Fit {
    fn width(self) -> u32 {
        match self {
            Fit::Wraps(width) => width,
            Fit::Saturates { .. } => 64,
        }
    }

    /// The largest number that may stand behind the sign.
    fn limit(self, is_negative: bool) -> Option<u128> {
        match self {
            Fit::Wraps(_) => None,
            Fit::Saturates { is_signed: true } => Some(mask(63) + u128::from(is_negative)),
            Fit::Saturates { is_signed: false } => Some(mask(64)),
        }
    }
}

/// A number that was read.
pub(crate) struct Number {
    pub value: Bits,
    /// What it took; 0 where there is no number.
    pub n_bytes: u64,
    pub is_out_of_range: bool,
}

impl Machine<'_> {
    /// The input that is the next random number; `None` behind those that a search may choose.
    fn chosen_number(&mut self) -> Option<Input> {
        self.next_outside().ok()
    }

    /// A random number like any other, the same in every run.
    fn any_number(&mut self, name: &str, given: &Given) -> Result<u128, Stop> {
        self.n_random += 1;
        let mixed = self.n_random.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = mixed >> 33;
        Ok(match name {
            "arc4random_uniform" => {
                let limit = self.place(given, 0)? as u32;
                u128::from(number) % u128::from(limit.max(1))
            }
            _ => u128::from(number) & u128::from(RAND_MAX),
        })
    }

    pub(crate) fn call_number(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "abs" | "labs" | "llabs" => self.absolute(given.bits(0)?, name == "abs"),
            "srand" | "srandom" | "srand48" => Ok(Some(None)),
            "rand" | "random" | "rand_r" | "lrand48" | "arc4random" | "arc4random_uniform" => {
                let width = if matches!(name, "random" | "lrand48") { 64 } else { 32 };
                let Some(input) = self.chosen_number() else {
                    return Ok(Some(Some(Value::known(self.any_number(name, given)?))));
                };
                if name.starts_with("arc4") {
                    let most = match name {
                        "arc4random" => u32::MAX,
                        _ => (self.place(given, 0)? as u32).saturating_sub(1),
                    };
                    return Ok(Some(Some(self.take_limited(input, 32, most).into())));
                }
                Ok(Some(Some(self.take_limited(input, width, RAND_MAX).into())))
            }
            "atoi" | "atol" | "atoll" => {
                let start = self.place(given, 0)?;
                let width = if name == "atoi" { 32 } else { 64 };
                if let Some(value) = self.whole_number(start, width)? {
                    return Ok(Some(Some(value.into())));
                }
                let mut reader = Reader::text(start);
                let number = self.read_number(&mut reader, 10, Fit::Wraps(width))?;
                Ok(Some(Some(self.low(number.value, width).into())))
            }
            "strtol" | "strtoul" | "strtoll" | "strtoull" | "__isoc23_strtol"
            | "__isoc23_strtoul" | "__isoc23_strtoll" | "__isoc23_strtoull" | "strtoimax"
            | "strtoumax" => self.string_to_number(name, given),
            "div" | "ldiv" | "lldiv" | "imaxdiv" => self.divide(given, name == "div"),
            "ffs" | "ffsl" | "ffsll" => {
                let width = if name == "ffs" { 32 } else { 64 };
                Ok(Some(Some(self.first_set(given.bits(0)?, width).into())))
            }
            _ => Ok(None),
        }
    }

    /// `div` yields both numbers in one register, the wider ones in two.
    fn divide(&mut self, given: &Given, is_int: bool) -> Known {
        let width = if is_int { 32 } else { 64 };
        let operands = (given.bits(0)?, given.bits(1)?);
        let mut results = Vec::new();
        for op in [BinaryOp::SignedDiv, BinaryOp::SignedRem] {
            let result = binary(op, Ty::Int(width), operands, false)?;
            results.push(self.shadow_binary(op, Ty::Int(width), operands, false, result));
        }
        if !is_int {
            return Ok(Some(Some(Value::Parts(results.into_iter().map(Value::from).collect()))));
        }
        let bits = results[0].bits | results[1].bits << 32;
        let has_word = results.iter().any(|result| result.word.is_some());
        let word = has_word.then(|| {
            let (quotient, remainder) = (self.word(results[0], 32), self.word(results[1], 32));
            self.memory.words.concat(remainder, quotient)
        });
        Ok(Some(Some(Bits::known(bits).with_word(word).into())))
    }

    /// The number of the lowest bit that is one, counted from 1.
    fn first_set(&mut self, value: Bits, width: u32) -> Bits {
        let found = if value.bits == 0 { 0 } else { value.bits.trailing_zeros() + 1 };
        let word = value.word.map(|word| {
            let words = &mut self.memory.words;
            let mut first = words.constant(32, 0);
            for at in (0..width).rev() {
                let (bit, number) =
                    (words.extract(word, at, 1), words.constant(32, (at + 1).into()));
                first = words.choice(bit, number, first);
            }
            first
        });
        Bits::known(found.into()).with_word(word)
    }

    fn absolute(&mut self, value: Bits, is_int: bool) -> Known {
        let width = if is_int { 32 } else { 64 };
        let is_negative = value.bits >> (width - 1) & 1 == 1;
        let word = value.word.map(|word| {
            let words = &mut self.memory.words;
            let zero = words.constant(width, 0);
            let negative = words.binary(WordOp::SignedLt, word, zero);
            let negated = words.binary(WordOp::Sub, zero, word);
            words.choice(negative, negated, word)
        });
        let bits =
            if is_negative { 0u128.wrapping_sub(value.bits) & mask(width) } else { value.bits };
        Ok(Some(Some(Bits::known(bits).with_word(word).into())))
    }

    /// `strtol` and its kin.
    fn string_to_number(&mut self, name: &str, given: &Given) -> Known {
        let start = self.place(given, 0)?;
        let (end, base) = (self.place(given, 1)?, given.bits(2)?);
        let base = signed(self.pinned(base), 32);
        let (mut value, mut read) = (Bits::known(0), 0);
        if base == 0 || (2..=36).contains(&base) {
            let is_signed = !name.contains("strtou");
            let mut reader = Reader::text(start);
            let number =
                self.read_number(&mut reader, base as u32, Fit::Saturates { is_signed })?;
            if number.is_out_of_range {
                self.set_errno(ERANGE)?;
            }
            (value, read) = (number.value, number.n_bytes);
        } else {
            self.set_errno(EINVAL)?;
        }
        if end != 0 {
            self.memory.store(end, 8, Bits::known(u128::from(start.wrapping_add(read))))?;
        }
        Ok(Some(Some(value.into())))
    }

    /// A number in a text, as `strtol` reads it; the base is 0 or from 2 to 36.
    pub(crate) fn read_number(
        &mut self,
        reader: &mut Reader,
        base: u32,
        fit: Fit,
    ) -> Result<Number, Stop> {
        while let Some(byte) = self.peek(reader)? {
            if !self.is_one_of_set(byte, b" \t\n\r\x0b\x0c", Why::Limit) {
                break;
            }
            self.advance(reader)?;
        }
        let sign = self.peek(reader)?;
        let is_negative = sign.is_some_and(|sign| self.is_equal(sign, b'-'.into()));
        if is_negative || sign.is_some_and(|sign| self.is_one_of_set(sign, b"+", Why::Limit)) {
            self.advance(reader)?;
        }
        let (base, has_zero) = self.read_prefix(reader, base)?;
        let (value, n_digits, has_room) = self.read_digits(reader, base, is_negative, fit)?;
        let n_digits = n_digits + u64::from(has_zero);
        let n_bytes = if n_digits == 0 { 0 } else { reader.n_taken };
        let mut result = value;
        match fit {
            _ if n_digits == 0 => result = Bits::known(0),
            Fit::Saturates { is_signed } if !has_room => {
                result = Bits::known(match (is_signed, is_negative) {
                    (true, true) => 1 << 63,
                    (true, false) => mask(63),
                    _ => mask(64),
                });
            }
            _ if is_negative => {
                let (ty, operands) = (Ty::Int(fit.width()), (Bits::known(0), value));
                let negated = binary(BinaryOp::Sub, ty, operands, false)?;
                result = self.shadow_binary(BinaryOp::Sub, ty, operands, false, negated);
            }
            _ => {}
        }
        Ok(Number { value: result, n_bytes, is_out_of_range: !has_room })
    }

    /// `0x` before hexadecimal digits, and what a base of 0 means. Whether a zero was taken that
    /// is a digit of the number.
    fn read_prefix(&mut self, reader: &mut Reader, base: u32) -> Result<(u32, bool), Stop> {
        if base != 0 && base != 16 {
            return Ok((base, false));
        }
        let first = self.peek(reader)?;
        if !first.is_some_and(|first| self.is_equal(first, b'0'.into())) {
            return Ok((if base == 0 { 10 } else { 16 }, false));
        }
        if !reader.is_text() {
            self.advance(reader)?;
            let is_hexadecimal = self.accept(reader, b"xX")?.is_some();
            return Ok((if base == 0 && !is_hexadecimal { 8 } else { 16 }, true));
        }
        let second = self.peek(&reader.ahead(1))?;
        if !second.is_some_and(|second| self.is_one_of(second, b"xX")) {
            return Ok((if base == 0 { 8 } else { 16 }, false));
        }
        // Of "0xg" only the zero is a number.
        if let Some(third) = self.peek(&reader.ahead(2))?
            && self.digit(third, 16)?.is_some()
        {
            self.advance(reader)?;
            self.advance(reader)?;
        }
        Ok((16, false))
    }

    /// The digits' value, how many there are, and whether it fits.
    fn read_digits(
        &mut self,
        reader: &mut Reader,
        base: u32,
        is_negative: bool,
        fit: Fit,
    ) -> Result<(Bits, u64, bool), Stop> {
        let (mut value, mut n_digits, mut has_room) = (0u128, 0u32, true);
        let (mut bytes, mut has_words) = (Vec::new(), false);
        let mut digits = Some(self.no_digits());
        while let Some(byte) = self.peek(reader)? {
            let Some(digit) = self.digit(byte, base)? else { break };
            self.advance(reader)?;
            n_digits += 1;
            bytes.push(byte);
            has_words |= byte.word.is_some();
            let limit = fit.limit(is_negative).unwrap_or(u128::MAX);
            if u128::from(base).checked_pow(n_digits).is_none_or(|power| power > limit) {
                self.keep_bytes(&mut bytes);
                digits = None;
                has_room = has_room && value * u128::from(base) + digit <= limit;
            }
            value = value.wrapping_mul(base.into()).wrapping_add(digit) & mask(fit.width());
            digits = self.more_digits(digits, byte, base);
        }
        let word = digits.filter(|_| has_words);
        let word = word.map(|digits| {
            let is_negative = (reader.limit == u64::MAX).then_some(is_negative);
            self.word_of_digits(&digits, base, fit.width(), is_negative)
        });
        let value = Bits::known(value).with_word(word);
        Ok((value, n_digits.into(), has_room))
    }

    /// The run goes on with these bytes: whether so long a number fits is hard to solve.
    fn keep_bytes(&mut self, bytes: &mut Vec<Bits>) {
        for byte in bytes.drain(..) {
            let Some(word) = byte.word else { continue };
            self.lose("a number of many digits");
            let words = &mut self.memory.words;
            let same = words.constant(8, byte.bits);
            let equal = words.eq(word, same);
            self.holds(equal, Why::Limit);
        }
    }

    /// The digit a byte stands for; the run depends on it being one.
    fn digit(&mut self, byte: Bits, base: u32) -> Result<Option<u128>, Stop> {
        let digit = (byte.bits as u8 as char).to_digit(base.min(36)).map(u128::from);
        let Some(word) = byte.word else { return Ok(digit) };
        let words = &mut self.memory.words;
        let zero = words.constant(8, b'0'.into());
        let distance = words.binary(WordOp::Sub, word, zero);
        let limit = words.constant(8, base.min(10).into());
        let mut within = words.binary(WordOp::UnsignedLt, distance, limit);
        if base > 10 {
            let (case, first) = (words.constant(8, 0x20), words.constant(8, b'a'.into()));
            let small = words.binary(WordOp::Or, word, case);
            let distance = words.binary(WordOp::Sub, small, first);
            let limit = words.constant(8, u128::from(base) - 10);
            let is_letter = words.binary(WordOp::UnsignedLt, distance, limit);
            within = words.or(within, is_letter);
        }
        let held = if digit.is_some() { within } else { words.not(within) };
        self.holds(held, Why::Branch);
        Ok(digit)
    }

    /// Whether a byte is one of these; the run depends on it.
    pub(crate) fn is_one_of(&mut self, byte: Bits, set: &[u8]) -> bool {
        self.is_one_of_set(byte, set, Why::Branch)
    }

    /// The same; a search looks the other way only at branches. Numbers are searched as
    /// people write them, without blanks and plus signs before them.
    pub(crate) fn is_one_of_set(&mut self, byte: Bits, set: &[u8], why: Why) -> bool {
        let is_member = set.contains(&(byte.bits as u8));
        if let Some(word) = byte.word {
            let words = &mut self.memory.words;
            let mut any = words.bit(false);
            for member in set {
                let member = words.constant(8, (*member).into());
                let equal = words.eq(word, member);
                any = words.or(any, equal);
            }
            let held = if is_member { any } else { words.not(any) };
            self.holds(held, why);
        }
        is_member
    }
}
