//! `string.h`: byte by byte, so that each read and write is checked like the program's own.

use std::ops::Range;

use logic::words::{WordId, WordOp};

use super::text::Text;
use super::{Given, Known, int, pointer};
use crate::exec::Machine;
use crate::memory::Memory;
use crate::streams::Failure;
use crate::value::{Bits, Value};
use crate::world::errno;
use crate::{Stop, Why};

/// Bytes that are compared as a whole.
const LONGEST_COMPARED: u64 = 64;

impl Machine<'_> {
    pub(crate) fn call_string(&mut self, name: &str, given: &Given) -> Known {
        let name = name.strip_prefix("__builtin_").unwrap_or(name);
        match name {
            "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" | "mempcpy" | "bcopy" => {
                if name == "bcopy" {
                    self.copy_bytes(given.bits(1)?, given.bits(0)?, given.bits(2)?)?;
                    return Ok(Some(None));
                }
                let (to, from, size) = (given.bits(0)?, given.bits(1)?, given.bits(2)?);
                self.copy_bytes(to, from, size)?;
                let end = if name == "mempcpy" { size.bits as u64 } else { 0 };
                pointer(to.bits as u64 + end)
            }
            "memset" | "__memset_chk" | "memset_explicit" => {
                let (to, byte, size) = (given.bits(0)?, given.bits(1)?, given.bits(2)?);
                self.fill_bytes(to, size, byte)?;
                pointer(to.bits as u64)
            }
            "bzero" | "explicit_bzero" => {
                let (to, size) = (given.bits(0)?, given.bits(1)?);
                self.fill_bytes(to, size, Bits::known(0))?;
                Ok(Some(None))
            }
            "strlen" | "strnlen" => {
                let start = self.text(given, 0)?;
                let limit = if name == "strnlen" { self.place(given, 1)? } else { u64::MAX };
                let length = self.length(start, limit)?;
                pointer(length)
            }
            "strcpy" | "__strcpy_chk" | "stpcpy" | "__stpcpy" | "__stpcpy_chk" => {
                let (to, from) = (self.place(given, 0)?, self.text(given, 1)?);
                self.memory.fence = given.member(0);
                let end = self.copy_string(to, from, u64::MAX)?;
                pointer(if name.contains("stpcpy") { end } else { to })
            }
            "strncpy" | "__strncpy_chk" | "stpncpy" => self.strncpy(name, given),
            "strcat" | "__strcat_chk" | "strncat" | "__strncat_chk" => {
                let (to, from) = (self.text(given, 0)?, self.text(given, 1)?);
                let is_limited = name.contains("strncat");
                let limit = if is_limited { self.place(given, 2)? } else { u64::MAX };
                let end = to.at + self.length(to, u64::MAX)?;
                self.memory.fence = given.member(0);
                self.copy_string(end, from, limit)?;
                pointer(to.at)
            }
            "strcmp" | "strncmp" | "memcmp" | "bcmp" | "strcasecmp" | "strncasecmp" | "strcoll" => {
                let is_text = name.starts_with("str");
                let (left, right) = match is_text {
                    true => (self.text(given, 0)?, self.text(given, 1)?),
                    false => (self.place(given, 0)?.into(), self.place(given, 1)?.into()),
                };
                let is_limited = !matches!(name, "strcmp" | "strcasecmp" | "strcoll");
                let limit = if is_limited { self.place(given, 2)? } else { u64::MAX };
                self.compare_bytes(left, right, limit, is_text, name.contains("case"))
            }
            "strchr" | "strrchr" | "memchr" | "index" | "rindex" => self.find_byte(name, given),
            "strstr" => self.strstr(given),
            "strspn" | "strcspn" | "strpbrk" => self.span(name, given),
            "strdup" | "strndup" | "__strdup" | "__strndup" => {
                let from = self.text(given, 0)?;
                let limit =
                    if name.ends_with("strndup") { self.place(given, 1)? } else { u64::MAX };
                let length = self.length(from, limit)?;
                if self.fails(Failure::Allocation) {
                    self.set_errno(errno::ENOMEM)?;
                    return pointer(0);
                }
                let to = self.memory.allocate(length + 1, true)?;
                self.memory.copy(to, from.at, length)?;
                self.memory.store(to + length, 1, Bits::known(0))?;
                pointer(to)
            }
            _ => Ok(None),
        }
    }

    /// An argument that is an address or a size, as it is on this run.
    pub(crate) fn place(&mut self, given: &Given, index: usize) -> Result<u64, Stop> {
        let bits = given.bits(index)?;
        Ok(self.pinned(bits) as u64)
    }

    /// Copies up to `limit` bytes of a string, then a zero. Where the zero went.
    fn copy_string(&mut self, to: u64, from: Text, limit: u64) -> Result<u64, Stop> {
        let mut at = 0;
        while at < limit {
            self.spend()?;
            let byte = self.byte_of(from, at)?;
            self.memory.store(to + at, 1, byte)?;
            if self.is_equal(byte, 0) {
                return Ok(to + at);
            }
            at += 1;
        }
        self.memory.store(to + at, 1, Bits::known(0))?;
        Ok(to + at)
    }

    fn strncpy(&mut self, name: &str, given: &Given) -> Known {
        let (room, limit) = (given.bits(0)?, given.bits(2)?);
        self.memory.fence = given.member(0);
        self.has_room(room, limit);
        let (to, from, limit) =
            (self.place(given, 0)?, self.text(given, 1)?, self.place(given, 2)?);
        let mut has_ended = false;
        let mut end = limit;
        for at in 0..limit {
            self.spend()?;
            let byte = if has_ended { Bits::known(0) } else { self.byte_of(from, at)? };
            self.memory.store(to + at, 1, byte)?;
            if !has_ended && self.is_equal(byte, 0) {
                (has_ended, end) = (true, at);
            }
        }
        pointer(if name == "stpncpy" { to.wrapping_add(end) } else { to })
    }

    fn compare_bytes(
        &mut self,
        left: Text,
        right: Text,
        size: u64,
        ends_at_zero: bool,
        ignores_case: bool,
    ) -> Known {
        for at in 0..size {
            self.spend()?;
            let (mut a, mut b) = (self.byte_of(left, at)?, self.byte_of(right, at)?);
            if ignores_case {
                a = Bits::known((self.pinned(a) as u8).to_ascii_lowercase().into());
                b = Bits::known((self.pinned(b) as u8).to_ascii_lowercase().into());
            }
            if a.bits != b.bits {
                if !ignores_case {
                    self.differ((left.at, right.at), at..size, ends_at_zero);
                }
                self.are_equal(a, b);
                if a.word.is_some() || b.word.is_some() {
                    self.is_below(a, b);
                }
                return int(a.bits as i32 - b.bits as i32);
            }
            self.are_equal(a, b);
            if ends_at_zero && self.is_equal(a, 0) {
                break;
            }
        }
        int(0)
    }

    /// Says of these bytes as a whole that they differ: so one question leads to all of them, not
    /// one for each.
    fn differ(&mut self, (left, right): (u64, u64), range: Range<u64>, ends_at_zero: bool) {
        if !self.inputs.are_unknown || self.record.is_some() {
            return;
        }
        // The run itself does not read so far.
        let fit = self.memory.fit;
        let other = self.difference((left, right), range, ends_at_zero);
        self.memory.fit = fit;
        if let Some(other) = other {
            self.holds(other, Why::Branch);
        }
    }

    fn difference(
        &mut self,
        (left, right): (u64, u64),
        range: Range<u64>,
        ends_at_zero: bool,
    ) -> Option<WordId> {
        let first = range.start;
        let mut all = self.memory.words.bit(true);
        for at in first..range.end.min(first + LONGEST_COMPARED) {
            let byte = |memory: &mut Memory, start: u64| {
                memory.load_set(start.wrapping_add(at), 1).ok().filter(|byte| byte.is_known())
            };
            let (a, b) = (byte(&mut self.memory, left)?, byte(&mut self.memory, right)?);
            let (x, y) = (self.word(a, 8), self.word(b, 8));
            let words = &mut self.memory.words;
            let equal = words.eq(x, y);
            all = words.and(all, equal);
            let is_end = |byte: Bits| byte.word.is_none() && byte.bits == 0;
            if at + 1 == range.end || ends_at_zero && (is_end(a) || is_end(b)) {
                return Some(self.memory.words.not(all));
            }
        }
        None
    }

    /// Whether two bytes are equal; the run depends on it.
    pub(crate) fn are_equal(&mut self, a: Bits, b: Bits) -> bool {
        let is_equal = a.bits == b.bits;
        if a.word.is_some() || b.word.is_some() {
            let (x, y) = (self.word(a, 8), self.word(b, 8));
            let words = &mut self.memory.words;
            let equal = words.eq(x, y);
            let held = if is_equal { equal } else { words.not(equal) };
            self.holds(held, crate::Why::Branch);
        }
        is_equal
    }

    /// Whether a byte is below another; the run depends on it.
    pub(crate) fn is_below(&mut self, a: Bits, b: Bits) -> bool {
        let is_below = a.bits < b.bits;
        if a.word.is_none() && b.word.is_none() {
            return is_below;
        }
        let (x, y) = (self.word(a, 8), self.word(b, 8));
        let words = &mut self.memory.words;
        let below = words.binary(WordOp::UnsignedLt, x, y);
        let held = if is_below { below } else { words.not(below) };
        self.holds(held, crate::Why::Branch);
        is_below
    }

    fn find_byte(&mut self, name: &str, given: &Given) -> Known {
        let start = match name {
            "memchr" => self.place(given, 0)?.into(),
            _ => self.text(given, 0)?,
        };
        let wanted = given.bits(1)?;
        let wanted = self.low(wanted, 8);
        let limit = if name == "memchr" { self.place(given, 2)? } else { u64::MAX };
        let is_last = matches!(name, "strrchr" | "rindex");
        let mut found = 0;
        for at in 0..limit {
            self.spend()?;
            let byte = self.byte_of(start, at)?;
            if self.are_equal(byte, wanted) {
                found = start.at.wrapping_add(at);
                if !is_last {
                    break;
                }
            }
            if name != "memchr" && self.is_equal(byte, 0) {
                break;
            }
        }
        pointer(found)
    }

    fn strstr(&mut self, given: &Given) -> Known {
        let (text, wanted) = (self.text(given, 0)?, self.text(given, 1)?);
        let (n_text, n_wanted) = (self.length(text, u64::MAX)?, self.length(wanted, u64::MAX)?);
        for at in 0..=n_text.saturating_sub(n_wanted) {
            let mut is_here = n_wanted <= n_text;
            for index in 0..n_wanted {
                self.spend()?;
                let (a, b) = (self.byte_of(text, at + index)?, self.byte_of(wanted, index)?);
                is_here = self.are_equal(a, b);
                if !is_here {
                    break;
                }
            }
            if is_here {
                return pointer(text.at + at);
            }
        }
        pointer(0)
    }

    fn span(&mut self, name: &str, given: &Given) -> Known {
        let (text, set) = (self.text(given, 0)?, self.text(given, 1)?);
        let n_set = self.length(set, u64::MAX)?;
        let mut at = 0;
        loop {
            let byte = self.byte_of(text, at)?;
            if self.is_equal(byte, 0) {
                break;
            }
            let mut is_member = false;
            for index in 0..n_set {
                self.spend()?;
                let member = self.byte_of(set, index)?;
                if self.are_equal(byte, member) {
                    is_member = true;
                    break;
                }
            }
            if is_member != (name == "strspn") {
                if name == "strpbrk" {
                    return pointer(text.at + at);
                }
                break;
            }
            at += 1;
        }
        Ok(Some(Some(Value::known(if name == "strpbrk" { 0 } else { at.into() }))))
    }
}
