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
}

/// By the word that says how a number follows from its bytes.
pub type Numbers = BTreeMap<WordId, Number>;

impl Number {
    /// Writes the number's value into its bytes.
    pub fn write(&self, values: &mut Values) {
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
        if !self.numeral_fits(start, width) {
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
            Number { unknown, width, bytes, definition, sides: Vec::new(), within }
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
