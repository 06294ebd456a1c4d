//! `ctype.h` and numbers in strings.

use logic::words::WordOp;
use program::{BinaryOp, Ty};

use super::{Given, Known, as_int, pointer};
use crate::arithmetic::binary;
use crate::exec::Machine;
use crate::value::{Bits, Value, mask};
use crate::{Stop, Why};

/// A class of characters, and its bit.
type Class = (fn(u8) -> bool, u16);

/// Bits of glibc's table of classes.
const CLASSES: [Class; 11] = [
    (|c| c.is_ascii_uppercase(), 0x100),
    (|c| c.is_ascii_lowercase(), 0x200),
    (|c| c.is_ascii_alphabetic(), 0x400),
    (|c| c.is_ascii_digit(), 0x800),
    (|c| c.is_ascii_hexdigit(), 0x1000),
    (|c| matches!(c, b' ' | 9..=13), 0x2000),
    (|c| (32..127).contains(&c), 0x4000),
    (|c| c.is_ascii_graphic(), 0x8000),
    (|c| matches!(c, b' ' | b'\t'), 0x1),
    (|c| c.is_ascii_control(), 0x2),
    (|c| c.is_ascii_punctuation(), 0x4),
];

impl Machine<'_> {
    pub(crate) fn call_number(&mut self, name: &str, given: &Given) -> Known {
        let class = match name {
            "isupper" => 0x100,
            "islower" => 0x200,
            "isalpha" => 0x400,
            "isdigit" => 0x800,
            "isxdigit" => 0x1000,
            "isspace" => 0x2000,
            "isprint" => 0x4000,
            "isgraph" => 0x8000,
            "isblank" => 0x1,
            "iscntrl" => 0x2,
            "ispunct" => 0x4,
            "isalnum" => 0x400 | 0x800,
            _ => 0,
        };
        if class != 0 {
            let table = self.classes()?;
            let value = self.look_up(table, given.bits(0)?, 2)?;
            let (bits, word) = (value.bits & class, value.word);
            let word = word.map(|word| {
                let words = &mut self.memory.words;
                let class = words.constant(16, class);
                let masked = words.binary(WordOp::And, word, class);
                words.resize(masked, 32, false)
            });
            return Ok(Some(Some(Bits::known(bits).with_word(word).into())));
        }
        match name {
            "toupper" | "tolower" => {
                let table = self.cases(name == "toupper")?;
                let value = self.look_up(table, given.bits(0)?, 4)?;
                Ok(Some(Some(value.into())))
            }
            "__ctype_b_loc" => {
                let table = self.classes()?;
                self.table_pointer("classes pointer", table + 2 * 128)
            }
            "__ctype_toupper_loc" => {
                let table = self.cases(true)?;
                self.table_pointer("upper pointer", table + 4 * 128)
            }
            "__ctype_tolower_loc" => {
                let table = self.cases(false)?;
                self.table_pointer("lower pointer", table + 4 * 128)
            }
            "abs" | "labs" | "llabs" => self.absolute(given.bits(0)?, name == "abs"),
            "rand" | "random" => {
                let width = if name == "rand" { 32 } else { 64 };
                let value = self.outside(Ty::Int(width))?;
                Ok(Some(value.map(|value| self.not_negative(&value))))
            }
            "atoi" | "atol" | "atoll" => {
                let start = self.place(given, 0)?;
                let width = if name == "atoi" { 32 } else { 64 };
                if let Some(value) = self.whole_number(start, width)? {
                    return Ok(Some(Some(value.into())));
                }
                let (value, _) = self.read_number(start, 10, width)?;
                Ok(Some(Some(self.low(value, width).into())))
            }
            "strtol" | "strtoul" | "strtoll" | "strtoull" | "__isoc23_strtol"
            | "__isoc23_strtoul" | "__isoc23_strtoll" | "__isoc23_strtoull" => {
                let start = self.place(given, 0)?;
                let (end, base) = (self.place(given, 1)?, as_int(given.bits(2)?));
                let (value, read) = self.read_number(start, base as u32, 64)?;
                if end != 0 {
                    self.memory.store(end, 8, Bits::known(u128::from(start + read)))?;
                }
                Ok(Some(Some(value.into())))
            }
            "div" | "ldiv" => Err(Stop::Unsupported(format!("a call of {name}"))),
            _ => Ok(None),
        }
    }

    /// Results of `rand` have no sign.
    fn not_negative(&mut self, value: &Value) -> Value {
        let Value::Bits(bits) = value else { return value.clone() };
        let word = bits.word.map(|word| {
            let words = &mut self.memory.words;
            let width = words.width(word);
            let low = words.extract(word, 0, 31);
            words.resize(low, width, false)
        });
        Bits::known(bits.bits & mask(31)).with_word(word).into()
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

    /// An element of a table whose entry for character 0 is the 128th.
    fn look_up(&mut self, table: u64, character: Bits, size: u64) -> Result<Bits, Stop> {
        let index = crate::value::signed(character.bits, 32);
        let at = u128::from(table).wrapping_add(((index + 128) * i128::from(size)) as u128);
        let word = character.word.map(|word| {
            let words = &mut self.memory.words;
            let wide = words.resize(word, 64, true);
            let stride = words.constant(64, size.into());
            let scaled = words.binary(WordOp::Mul, wide, stride);
            let start = words.constant(64, u128::from(table + 128 * size));
            words.binary(WordOp::Add, start, scaled)
        });
        let value = self.load_bytes(Bits::known(at & mask(64)).with_word(word), size)?;
        Ok(value)
    }

    fn classes(&mut self) -> Result<u64, Stop> {
        let is_new = !self.library.contains_key("classes");
        let table = self.library_object("classes", 2 * 384)?;
        if is_new {
            for character in 0u8..128 {
                let held = CLASSES.iter().filter(|(is, _)| is(character));
                let mut bits = held.map(|(_, bit)| bit).fold(0, |all, bit| all | bit);
                if bits & (0x400 | 0x800) != 0 {
                    bits |= 0x8;
                }
                let at = table + 2 * (u64::from(character) + 128);
                self.memory.store(at, 2, Bits::known(bits.into()))?;
            }
        }
        Ok(table)
    }

    fn cases(&mut self, to_upper: bool) -> Result<u64, Stop> {
        let name = if to_upper { "upper" } else { "lower" };
        let is_new = !self.library.contains_key(name);
        let table = self.library_object(name, 4 * 384)?;
        if is_new {
            for character in -128i32..256 {
                let changed = match u8::try_from(character) {
                    Ok(byte) if to_upper => byte.to_ascii_uppercase().into(),
                    Ok(byte) => byte.to_ascii_lowercase().into(),
                    Err(_) => character,
                };
                let at = table + 4 * (character + 128) as u64;
                self.memory.store(at, 4, Bits::known(u128::from(changed as u32)))?;
            }
        }
        Ok(table)
    }

    fn table_pointer(&mut self, name: &'static str, target: u64) -> Known {
        let place = self.library_object(name, 8)?;
        self.memory.store(place, 8, Bits::known(u128::from(target)))?;
        pointer(place)
    }

    /// A number in a string, as `strtol` reads it, and how many bytes it took. What does not
    /// fit wraps, where C would say the largest number.
    pub(crate) fn read_number(
        &mut self,
        start: u64,
        base: u32,
        width: u32,
    ) -> Result<(Bits, u64), Stop> {
        let mut at = 0;
        loop {
            let byte = self.byte(start + at)?;
            if !self.is_one_of_set(byte, b" \t\n\r\x0b\x0c", Why::Limit) {
                break;
            }
            self.spend()?;
            at += 1;
        }
        let sign = self.byte(start + at)?;
        let is_negative = self.is_equal(sign, b'-'.into());
        if is_negative || self.is_one_of_set(sign, b"+", Why::Limit) {
            at += 1;
        }
        let (value, n_digits) = self.read_digits(start + at, base, width)?;
        if n_digits == 0 {
            return Ok((Bits::known(0), 0));
        }
        let mut result = value;
        if is_negative {
            let zero = Bits::known(0);
            let operands = (zero, value);
            let negated = binary(BinaryOp::Sub, Ty::Int(width), operands, false)?;
            result = self.shadow_binary(BinaryOp::Sub, Ty::Int(width), operands, false, negated);
        }
        Ok((result, at + n_digits))
    }

    fn read_digits(&mut self, start: u64, base: u32, width: u32) -> Result<(Bits, u64), Stop> {
        let mut base = base;
        let mut at = 0;
        if base == 0 || base == 16 {
            let first = self.byte(start)?;
            if self.is_equal(first, b'0'.into()) {
                let second = self.byte(start + 1)?;
                if self.is_one_of(second, b"xX") {
                    at = 2;
                    base = 16;
                } else if base == 0 {
                    base = 8;
                }
            }
            base = if base == 0 { 10 } else { base };
        }
        let mut value = Bits::known(0);
        let first = at;
        loop {
            self.spend()?;
            let byte = self.byte(start + at)?;
            let Some(digit) = self.digit(byte, base)? else { break };
            let ty = Ty::Int(width);
            let factor = Bits::known(base.into());
            let product = binary(BinaryOp::Mul, ty, (value, factor), false)?;
            let product = self.shadow_binary(BinaryOp::Mul, ty, (value, factor), false, product);
            let digit = self.low(digit, width);
            let sum = binary(BinaryOp::Add, ty, (product, digit), false)?;
            value = self.shadow_binary(BinaryOp::Add, ty, (product, digit), false, sum);
            at += 1;
        }
        Ok((value, if at == first { 0 } else { at }))
    }

    /// The digit a byte stands for, as a number of 64 bits.
    fn digit(&mut self, byte: Bits, base: u32) -> Result<Option<Bits>, Stop> {
        if base > 10 {
            let value = (self.pinned(byte) as u8 as char).to_digit(base.min(36));
            return Ok(value.map(|digit| Bits::known(digit.into())));
        }
        let is_digit = (byte.bits as u8 as char).is_digit(base);
        if let Some(word) = byte.word {
            let words = &mut self.memory.words;
            let zero = words.constant(8, b'0'.into());
            let distance = words.binary(WordOp::Sub, word, zero);
            let limit = words.constant(8, base.into());
            let within = words.binary(WordOp::UnsignedLt, distance, limit);
            let held = if is_digit { within } else { words.not(within) };
            self.holds(held, Why::Branch);
            let words = &mut self.memory.words;
            let wide = words.resize(distance, 64, false);
            // As wide as any number that is read; cut where it is added.
            let value = Bits::known(byte.bits.wrapping_sub(b'0'.into()) & 0xff);
            return Ok(is_digit.then_some(value.with_word(Some(wide))));
        }
        Ok(is_digit.then(|| Bits::known(byte.bits - u128::from(b'0'))))
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
