//! Strings taken apart, and the rarer relatives of `string.h`.

use super::{Given, Known, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::value::{Bits, Value};

impl Machine<'_> {
    pub(crate) fn call_token(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "strtok" => {
                let state = self.library_object("strtok", 8)?;
                let delimiters = self.place(given, 1)?;
                self.token(given, delimiters, state)
            }
            "strtok_r" | "__strtok_r" => {
                let (delimiters, state) = (self.place(given, 1)?, self.place(given, 2)?);
                self.token(given, delimiters, state)
            }
            "strsep" => self.separate(given),
            "strlcpy" | "strlcat" => self.copy_limited(name, given),
            "memmem" | "strcasestr" => self.find_text(name, given),
            "memrchr" => self.find_last(given),
            "strchrnul" | "rawmemchr" => {
                let (start, wanted) = (self.place(given, 0)?, given.bits(1)?);
                let wanted = self.low(wanted, 8);
                let mut at = start;
                loop {
                    self.spend()?;
                    let byte = self.byte(at)?;
                    let is_end = name == "strchrnul" && self.is_equal(byte, 0);
                    if is_end || self.are_equal(byte, wanted) {
                        return pointer(at);
                    }
                    at = at.wrapping_add(1);
                }
            }
            "memccpy" => {
                let (to, from) = (self.place(given, 0)?, self.place(given, 1)?);
                let (wanted, limit) = (given.bits(2)?, self.place(given, 3)?);
                let wanted = self.low(wanted, 8);
                for at in 0..limit {
                    self.spend()?;
                    let byte = self.byte(from.wrapping_add(at))?;
                    self.memory.store(to.wrapping_add(at), 1, byte)?;
                    if self.are_equal(byte, wanted) {
                        return pointer(to.wrapping_add(at + 1));
                    }
                }
                pointer(0)
            }
            _ => Ok(None),
        }
    }

    /// The bytes of a set, as they are on this run.
    fn set_at(&mut self, address: u64) -> Result<Vec<u8>, Stop> {
        let bytes = self.text_at(address, None)?;
        Ok(bytes.into_iter().map(|byte| self.pinned(byte) as u8).collect())
    }

    /// `strtok_r`; where it goes on is kept at `state`.
    fn token(&mut self, given: &Given, delimiters: u64, state: u64) -> Known {
        let mut start = self.place(given, 0)?;
        let set = self.set_at(delimiters)?;
        if start == 0 {
            start = self.number_at(state, 8)?;
        }
        loop {
            self.spend()?;
            let byte = self.byte(start)?;
            if self.is_equal(byte, 0) {
                self.memory.store(state, 8, Bits::known(u128::from(start)))?;
                return pointer(0);
            }
            if !self.is_one_of(byte, &set) {
                break;
            }
            start = start.wrapping_add(1);
        }
        let next = self.cut(start, &set)?.unwrap_or_else(|end| end);
        self.memory.store(state, 8, Bits::known(u128::from(next)))?;
        pointer(start)
    }

    /// Ends a string at the first byte of a set. Where the rest begins; the string's own end
    /// where it has none.
    fn cut(&mut self, start: u64, set: &[u8]) -> Result<Result<u64, u64>, Stop> {
        let mut at = start;
        loop {
            self.spend()?;
            let byte = self.byte(at)?;
            if self.is_equal(byte, 0) {
                return Ok(Err(at));
            }
            if self.is_one_of(byte, set) {
                self.memory.store(at, 1, Bits::known(0))?;
                return Ok(Ok(at.wrapping_add(1)));
            }
            at = at.wrapping_add(1);
        }
    }

    fn separate(&mut self, given: &Given) -> Known {
        let state = self.place(given, 0)?;
        let delimiters = self.place(given, 1)?;
        let start = self.number_at(state, 8)?;
        if start == 0 {
            return pointer(0);
        }
        let set = self.set_at(delimiters)?;
        let next = self.cut(start, &set)?.unwrap_or(0);
        self.memory.store(state, 8, Bits::known(u128::from(next)))?;
        pointer(start)
    }

    /// `strlcpy` and `strlcat`: what fits, with a zero, and how long it would have become.
    fn copy_limited(&mut self, name: &str, given: &Given) -> Known {
        let (to, from) = (self.place(given, 0)?, self.text(given, 1)?);
        let limit = self.place(given, 2)?;
        let text = self.text_at(from, None)?;
        let before = if name == "strlcat" { self.length(to, limit)? } else { 0 };
        let room = (limit - before).saturating_sub(1);
        self.memory.fence = given.member(0);
        let kept = room.min(text.len() as u64);
        for (at, byte) in (before..before + kept).zip(&text) {
            self.memory.store(to.wrapping_add(at), 1, *byte)?;
        }
        if limit > before {
            self.memory.store(to.wrapping_add(before + kept), 1, Bits::known(0))?;
        }
        pointer(before + text.len() as u64)
    }

    fn find_last(&mut self, given: &Given) -> Known {
        let (start, wanted) = (self.place(given, 0)?, given.bits(1)?);
        let (wanted, size) = (self.low(wanted, 8), self.place(given, 2)?);
        for at in (0..size).rev() {
            self.spend()?;
            let byte = self.byte(start.wrapping_add(at))?;
            if self.are_equal(byte, wanted) {
                return pointer(start.wrapping_add(at));
            }
        }
        pointer(0)
    }

    /// `memmem`, and `strcasestr`, which goes on with the letters of this run.
    fn find_text(&mut self, name: &str, given: &Given) -> Known {
        let start = self.place(given, 0)?;
        let (text, wanted) = if name == "memmem" {
            let (size, other) = (self.place(given, 1)?, self.place(given, 2)?);
            let wanted = self.place(given, 3)?;
            (self.bytes_at(start, size)?, self.bytes_at(other, wanted)?)
        } else {
            let other = self.place(given, 1)?;
            (self.lower_at(start)?, self.lower_at(other)?)
        };
        let last = text.len().checked_sub(wanted.len());
        for at in 0..last.map_or(0, |last| last + 1) {
            let mut is_here = true;
            for (a, b) in text[at..].iter().zip(&wanted) {
                self.spend()?;
                is_here = is_here && self.are_equal(*a, *b);
            }
            if is_here {
                return pointer(start.wrapping_add(at as u64));
            }
        }
        Ok(Some(Some(Value::known(0))))
    }

    fn bytes_at(&mut self, start: u64, size: u64) -> Result<Vec<Bits>, Stop> {
        let mut bytes = Vec::new();
        for at in 0..size {
            self.spend()?;
            bytes.push(self.byte(start.wrapping_add(at))?);
        }
        Ok(bytes)
    }

    fn lower_at(&mut self, start: u64) -> Result<Vec<Bits>, Stop> {
        let text = self.set_at(start)?;
        Ok(text.into_iter().map(|c| Bits::known(c.to_ascii_lowercase().into())).collect())
    }
}
