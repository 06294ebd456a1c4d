//! Numbers in strings of unknown bytes, followed as one value, so that a search need not try
//! every number of digits of every argument.

use std::collections::BTreeMap;

use logic::words::{UnknownId, Values, Word, WordId, WordOp, Words};

use crate::exec::Machine;
use crate::value::{Bits, mask, signed};
use crate::{Stop, Why};

/// A number that is written in unknown bytes, as an unknown of its own: where nothing else is
/// known of these bytes, a question is about the number, and its digits follow from the answer.
#[derive(Clone, Debug)]
pub struct Number {
    pub unknown: UnknownId,
    width: u32,
    /// The bytes it is written in; another one that ends it follows.
    pub bytes: Vec<UnknownId>,
    /// That it is what its bytes say.
    pub definition: WordId,
    /// What else had to hold of its bytes, and does where they are its digits.
    pub sides: Vec<WordId>,
    /// That it has digits enough.
    pub within: WordId,
    /// All its bytes are digits to this base, zeros before the others; 0 where it may be shorter
    /// and have a sign.
    base: u32,
    /// What else a number may be that is written there with more digits or a sign.
    pub elsewhere: Option<WordId>,
}

/// What is known of a number that was read digit by digit.
pub(crate) struct Digits {
    /// As wide as numbers of so many digits.
    value: WordId,
    room: u32,
    /// The largest number of so many digits.
    most: u128,
    bytes: Vec<WordId>,
}

/// By the word that says how a number follows from its bytes.
pub type Numbers = BTreeMap<WordId, Number>;

impl Number {
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Whether this byte of the number may be any digit as far as a bit says that is made of it
    /// alone.
    pub fn is_any_digit(&self, words: &Words, byte: UnknownId, bit: WordId) -> bool {
        let mut values = Values::default();
        self.base > 0
            && (0..self.base).all(|digit| {
                values.set(byte, character(digit).into());
                values.satisfy(words, &[bit])
            })
    }

    /// What stands in place of its bytes for the number to have this value; `None` where it fits
    /// into them.
    pub fn longer(&self, words: &Words, values: &Values) -> Option<Vec<u8>> {
        if values.satisfy(words, &[self.within]) {
            return None;
        }
        let value = signed(values.get(self.unknown), self.width);
        let mut left = value.unsigned_abs();
        let mut text = Vec::new();
        while left > 0 {
            text.push(character((left % u128::from(self.base)) as u32));
            left /= u128::from(self.base);
        }
        text.extend((value < 0).then_some(b'-'));
        text.reverse();
        Some(text)
    }

    /// Writes the number's value into its bytes.
    pub fn write(&self, values: &mut Values) {
        if self.base > 0 {
            let mut left = values.get(self.unknown);
            for byte in self.bytes.iter().rev() {
                values.set(*byte, character((left % u128::from(self.base)) as u32).into());
                left /= u128::from(self.base);
            }
            return;
        }
        let value = signed(values.get(self.unknown), self.width);
        let mut digits = value.to_string().into_bytes();
        digits.push(0);
        for (byte, digit) in self.bytes.iter().zip(digits) {
            values.set(*byte, digit.into());
        }
    }
}

/// A number read so far: of this run, and for all bytes.
struct Numeral {
    bits: u128,
    value: WordId,
    /// All bytes so far belong to the number.
    is_alive: bool,
    alive: WordId,
}

impl Machine<'_> {
    /// The number at `start` as `atoi` reads it; `None` where no byte of it is unknown, where it
    /// is long, or where it does not start as people write numbers.
    pub(crate) fn whole_number(&mut self, start: u64, width: u32) -> Result<Option<Bits>, Stop> {
        let first = self.byte(start)?;
        if first.word.is_none() || b" \t\n\r\x0b\x0c+".contains(&(first.bits as u8)) {
            return Ok(None);
        }
        if !self.numeral_fits(start, width) || self.is_inside_line(first) {
            return Ok(None);
        }
        let max_digits = max_digits(width);
        let n_before = self.conditions.path.len();
        self.is_one_of_set(first, b" \t\n\r\x0b\x0c", Why::Limit);
        self.is_one_of_set(first, b"+", Why::Limit);
        let mut numeral = self.sign(first);
        let mut bytes = vec![first];
        let mut why = Why::Limit;
        for at in 1..=max_digits + 1 {
            let byte = match self.byte(start + at) {
                Ok(byte) => byte,
                Err(stop) if numeral.is_alive => {
                    self.holds(numeral.alive, Why::Branch);
                    return Err(stop);
                }
                // What lies behind the number of this run may end another one badly.
                Err(_) => {
                    why = Why::Branch;
                    break;
                }
            };
            self.spend()?;
            bytes.push(byte);
            self.add_digit(&mut numeral, byte);
            if at == max_digits {
                self.limit_digits(&numeral, first);
            }
            if self.memory.words.as_const(numeral.alive).is_some() {
                break;
            }
        }
        let ended = self.memory.words.not(numeral.alive);
        self.holds(ended, why);
        self.limit_value(&numeral, first, width);
        let value = self.signed_numeral(numeral, first, width);
        if why != Why::Limit {
            return Ok(Some(value));
        }
        let new = self.conditions.path[n_before..].iter();
        let sides = new.filter(|condition| condition.why == Why::Limit);
        let sides: Vec<WordId> = sides.map(|condition| condition.word).collect();
        Ok(Some(self.as_unknown(value, &bytes, sides, width)))
    }

    /// The number as an unknown of its own, where it is written in unknown bytes alone.
    fn as_unknown(&mut self, value: Bits, bytes: &[Bits], sides: Vec<WordId>, width: u32) -> Bits {
        let Some(defined) = value.word else { return value };
        let words = &mut self.memory.words;
        let Some(bytes) = unknown_bytes(words, bytes) else { return value };
        if words.as_const(defined).is_some() || bytes.len() < 2 {
            return value;
        }
        let number = self.inputs.numbers.entry(defined).or_insert_with(|| {
            let (unknown, word) = words.unknown(width);
            let definition = words.eq(word, defined);
            let within = words_within(words, word, bytes.len() as u32);
            Number {
                unknown,
                width,
                bytes,
                definition,
                sides: Vec::new(),
                within,
                base: 0,
                elsewhere: None,
            }
        });
        for side in sides {
            if !number.sides.contains(&side) {
                number.sides.push(side);
            }
        }
        let (definition, unknown) = (number.definition, number.unknown);
        let word = words.word_of(unknown);
        self.holds(definition, Why::Limit);
        value.with_word(Some(word))
    }

    /// Whether the number of this run fits its width and has no more digits than it needs.
    fn numeral_fits(&mut self, start: u64, width: u32) -> bool {
        let is_negative = self.byte(start).is_ok_and(|byte| byte.bits as u8 == b'-');
        let mut value: u128 = 0;
        let first = start + u64::from(is_negative);
        for at in first..=first + max_digits(width) {
            let byte = self.byte(at).map_or(0, |byte| byte.bits as u8);
            if !byte.is_ascii_digit() {
                return value <= mask(width - 1) + u128::from(is_negative);
            }
            value = value * 10 + u128::from(byte - b'0');
        }
        false
    }

    /// One byte more than there may be digits belongs to the number only after a sign.
    fn limit_digits(&mut self, numeral: &Numeral, first: Bits) {
        let is_minus = self.is_minus(first);
        let words = &mut self.memory.words;
        let ended = words.not(numeral.alive);
        let is_short = words.or(ended, is_minus);
        self.holds(is_short, Why::Limit);
    }

    /// The number fits its width: what a larger one is read as, C does not say.
    fn limit_value(&mut self, numeral: &Numeral, first: Bits, width: u32) {
        let is_minus = self.is_minus(first);
        let words = &mut self.memory.words;
        let room = words.width(numeral.value);
        if room < width {
            return;
        }
        let (most, least) =
            (words.constant(room, mask(width - 1)), words.constant(room, 1 << (width - 1)));
        let limit = words.choice(is_minus, least, most);
        let fits = words.binary(WordOp::UnsignedLe, numeral.value, limit);
        self.holds(fits, Why::Limit);
    }

    /// The first byte: a digit, or a sign, which counts as a zero.
    fn sign(&mut self, first: Bits) -> Numeral {
        let words = &mut self.memory.words;
        let (value, alive) = (words.constant(1, 0), words.bit(true));
        let mut numeral = Numeral { bits: 0, value, is_alive: true, alive };
        self.add_digit(&mut numeral, first);
        let is_minus = self.is_minus(first);
        let words = &mut self.memory.words;
        numeral.is_alive |= first.bits as u8 == b'-';
        numeral.alive = words.or(numeral.alive, is_minus);
        numeral
    }

    fn is_minus(&mut self, first: Bits) -> WordId {
        let word = self.word(first, 8);
        let words = &mut self.memory.words;
        let minus = words.constant(8, b'-'.into());
        words.eq(word, minus)
    }

    fn add_digit(&mut self, numeral: &mut Numeral, byte: Bits) {
        let word = self.word(byte, 8);
        let words = &mut self.memory.words;
        let (zero, ten) = (words.constant(8, b'0'.into()), words.constant(8, 10));
        let digit = words.binary(WordOp::Sub, word, zero);
        let is_digit = words.binary(WordOp::UnsignedLt, digit, ten);
        numeral.alive = words.and(numeral.alive, is_digit);
        // Four bits hold a digit, and 64 all digits there may be: what is narrow is easy to solve.
        let room = (words.width(numeral.value) + 4).min(64);
        let (digit, factor) = (words.resize(digit, room, false), words.constant(room, 10));
        let before = words.resize(numeral.value, room, false);
        let product = words.binary(WordOp::Mul, before, factor);
        let sum = words.binary(WordOp::Add, product, digit);
        numeral.value = words.choice(numeral.alive, sum, before);
        numeral.is_alive &= (byte.bits as u8).is_ascii_digit();
        if numeral.is_alive {
            numeral.bits = numeral.bits * 10 + byte.bits - u128::from(b'0');
        }
    }

    fn signed_numeral(&mut self, numeral: Numeral, first: Bits, width: u32) -> Bits {
        let is_minus = self.is_minus(first);
        let words = &mut self.memory.words;
        let (zero, value) = (words.constant(width, 0), words.resize(numeral.value, width, false));
        let negated = words.binary(WordOp::Sub, zero, value);
        let word = words.choice(is_minus, negated, value);
        let is_negative = first.bits as u8 == b'-';
        let bits = if is_negative { numeral.bits.wrapping_neg() } else { numeral.bits };
        Bits::known(bits & mask(width)).with_word(Some(word))
    }
}

impl Machine<'_> {
    /// The word of a digit, of which its byte says that it is one to this base.
    pub(crate) fn digit_word(&mut self, byte: WordId, base: u32) -> WordId {
        let words = &mut self.memory.words;
        let zero = words.constant(8, b'0'.into());
        let number = words.binary(WordOp::Sub, byte, zero);
        if base <= 10 {
            return number;
        }
        let (nine, case) = (words.constant(8, b'9'.into()), words.constant(8, 0x20));
        let is_number = words.binary(WordOp::UnsignedLe, byte, nine);
        let (small, first) = (words.binary(WordOp::Or, byte, case), words.constant(8, 0x57));
        let letter = words.binary(WordOp::Sub, small, first);
        words.choice(is_number, number, letter)
    }

    /// One more digit of a number; `None` where no more of its bytes are followed.
    pub(crate) fn more_digits(
        &mut self,
        before: Option<Digits>,
        byte: Bits,
        base: u32,
    ) -> Option<Digits> {
        let byte = self.word(byte, 8);
        let mut digits = before?;
        digits.most = digits.most.checked_mul(base.into())?.checked_add(u128::from(base) - 1)?;
        let room = (128 - digits.most.leading_zeros()).max(8);
        let digit = self.digit_word(byte, base);
        let words = &mut self.memory.words;
        // What is narrow is easy to solve.
        let (digit, factor) = (words.resize(digit, room, false), words.constant(room, base.into()));
        let before = words.resize(digits.value, room, false);
        let product = words.binary(WordOp::Mul, before, factor);
        digits.value = words.binary(WordOp::Add, product, digit);
        digits.room = room;
        digits.bytes.push(byte);
        Some(digits)
    }

    pub(crate) fn no_digits(&mut self) -> Digits {
        let value = self.memory.words.constant(8, 0);
        Digits { value, room: 8, most: 0, bytes: Vec::new() }
    }

    /// The word of a number in so many bits, an unknown of its own where all its bytes are; with
    /// whether a minus stands before it where there is room for more digits.
    pub(crate) fn word_of_digits(
        &mut self,
        digits: &Digits,
        base: u32,
        width: u32,
        is_negative: Option<bool>,
    ) -> WordId {
        let words = &mut self.memory.words;
        let defined = words.resize(digits.value, width, false);
        let unknown = |word: &WordId| match words.word(*word) {
            Word::Unknown(unknown) => Some(*unknown),
            _ => None,
        };
        let bytes: Option<Vec<UnknownId>> = digits.bytes.iter().map(unknown).collect();
        let Some(bytes) = bytes.filter(|_| digits.room < width) else {
            return defined;
        };
        let number = self.inputs.numbers.entry(defined).or_insert_with(|| {
            let (unknown, word) = words.unknown(width);
            let definition = words.eq(word, defined);
            let most = words.constant(width, digits.most);
            let within = words.binary(WordOp::UnsignedLe, word, most);
            // Behind a sign there is no other.
            let elsewhere = is_negative.map(|is_negative| {
                let zero = words.constant(width, 0);
                let is_positive = words.binary(WordOp::SignedLe, zero, word);
                if is_negative { is_positive } else { words.bit(true) }
            });
            Number { unknown, width, bytes, definition, sides: Vec::new(), within, base, elsewhere }
        });
        let (definition, unknown) = (number.definition, number.unknown);
        let word = words.word_of(unknown);
        self.holds(definition, Why::Limit);
        word
    }

    /// Whether a byte cannot end the line it stands in, so that the number it begins cannot end
    /// before it either.
    fn is_inside_line(&mut self, byte: Bits) -> bool {
        let Some(word) = byte.word else { return false };
        let words = &mut self.memory.words;
        let end = words.constant(8, b'\n'.into());
        let is_end = words.eq(word, end);
        let is_other = words.not(is_end);
        self.is_known_to_hold(is_other)
    }
}

/// How a digit is written.
fn character(digit: u32) -> u8 {
    char::from_digit(digit, 36).map_or(b'0', |digit| digit as u8)
}

/// Digits of the largest number of a width. Longer numbers are read digit by digit.
fn max_digits(width: u32) -> u64 {
    if width <= 32 { 10 } else { 19 }
}

/// The unknowns these bytes are, up to a known one that is no digit; `None` where some are
/// neither.
fn unknown_bytes(words: &Words, bytes: &[Bits]) -> Option<Vec<UnknownId>> {
    let mut found = Vec::new();
    for byte in bytes {
        match byte.word.map(|word| words.word(word)) {
            Some(Word::Unknown(unknown)) => found.push(*unknown),
            Some(_) => return None,
            None if (byte.bits as u8).is_ascii_digit() => return None,
            None => break,
        }
    }
    Some(found)
}

/// That a number can be written in so many bytes.
fn words_within(words: &mut Words, number: WordId, n_bytes: u32) -> WordId {
    let width = words.width(number);
    let of_digits = |n_digits: u32| 10u128.pow(n_digits.min(max_digits(width) as u32)) - 1;
    let most = of_digits(n_bytes).min(mask(width - 1));
    let least = of_digits(n_bytes - 1).min(1 << (width - 1));
    let (most, least) = (words.constant(width, most), words.constant(width, least.wrapping_neg()));
    let below = words.binary(WordOp::SignedLe, number, most);
    let above = words.binary(WordOp::SignedLe, least, number);
    words.and(above, below)
}
