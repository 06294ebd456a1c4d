//! `ctype.h`, by tables that the program can look into itself.

use logic::words::WordOp;

use super::{Given, Known, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::value::{Bits, mask};

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
    pub(crate) fn call_character(&mut self, name: &str, given: &Given) -> Known {
        let narrow = match name.split_at_checked(3) {
            Some(("isw", class)) => format!("is{class}"),
            Some(("tow", case)) => format!("to{case}"),
            _ => return self.call_narrow(name, given),
        };
        let is_ascii = |bits: Bits| bits.bits < 128 || bits.bits == u128::from(u32::MAX);
        match given.known(0) {
            // Of wide characters the first are those of ASCII.
            Some(bits) if is_ascii(bits) => {
                self.pinned(bits);
                self.call_narrow(&narrow, given)
            }
            _ => Ok(None),
        }
    }

    fn call_narrow(&mut self, name: &str, given: &Given) -> Known {
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
            _ => Ok(None),
        }
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
}
