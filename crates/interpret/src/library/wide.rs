//! Wide characters, locales, translation and patterns. The locale is `C`, where a character is
//! a byte below 128.

use super::{Given, Known, as_int, int, pointer};
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value};
use crate::{FaultKind, Stop};

/// `EILSEQ`: bytes that are no character.
const EILSEQ: u32 = 84;
const NO_CHARACTER: u64 = u64::MAX;

impl Machine<'_> {
    pub(crate) fn call_wide(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "__ctype_get_mb_cur_max" => pointer(1),
            "mbsinit" => int(1),
            "mblen" | "mbrlen" | "mbtowc" | "mbrtowc" => self.decode_bytes(name, given),
            "wctomb" | "wcrtomb" => self.encode_bytes(given),
            "mbstowcs" | "wcstombs" => self.convert_text(name, given),
            "wcwidth" => {
                let character = given.bits(0)?;
                int(match self.pinned(character) {
                    0 => 0,
                    32..=126 => 1,
                    _ => -1,
                })
            }
            "wcswidth" | "wcslen" | "wcsnlen" => {
                let at = self.place(given, 0)?;
                let limit = if name == "wcslen" { u64::MAX } else { self.place(given, 1)? };
                let length = self.wide_length(at, limit)?;
                if name == "wcswidth" { int(length as i32) } else { pointer(length) }
            }
            "wcscpy" | "wcsncpy" | "wcscat" | "wmemcpy" | "wmemset" | "wcsdup" => {
                self.copy_wide(name, given)
            }
            "wcscmp" | "wcsncmp" => {
                let (a, b) = (self.place(given, 0)?, self.place(given, 1)?);
                let limit = if name == "wcscmp" { u64::MAX } else { self.place(given, 2)? };
                for at in 0..limit {
                    let (x, y) = (self.wide_at(a, at)?, self.wide_at(b, at)?);
                    if x != y || x == 0 {
                        return int((x as i32).cmp(&(y as i32)) as i32);
                    }
                }
                int(0)
            }
            "wcschr" | "wcsrchr" => {
                let (at, wanted) = (self.place(given, 0)?, given.bits(1)?);
                let wanted = self.pinned(wanted) as u64;
                let length = self.wide_length(at, u64::MAX)?;
                let mut found = 0;
                for index in 0..=length {
                    if self.wide_at(at, index)? == wanted {
                        found = at + 4 * index;
                        if name == "wcschr" {
                            break;
                        }
                    }
                }
                pointer(found)
            }
            "putwchar" | "fputwc" | "putwc" => {
                let character = given.bits(0)?;
                let byte = self.low(character, 8);
                let handle = match name {
                    "putwchar" => self.standard(1)?,
                    _ => self.stream(given, 1)?,
                };
                self.write(&[byte], handle)?;
                Ok(Some(Some(character.into())))
            }
            "getwchar" | "fgetwc" | "getwc" => {
                let handle = match name {
                    "getwchar" => self.standard(0)?,
                    _ => self.stream(given, 0)?,
                };
                let byte = self.read_byte(handle)?;
                Ok(Some(Some(self.character(byte))))
            }
            "btowc" | "wctob" => {
                let character = given.bits(0)?;
                match as_int(character) {
                    0..=127 => Ok(Some(Some(character.into()))),
                    _ => int(-1),
                }
            }
            "gettext" | "dgettext" | "dcgettext" | "__dcgettext" | "catgets" => {
                let at = match name {
                    "gettext" => 0,
                    "catgets" => 3,
                    _ => 1,
                };
                let text = self.place(given, at)?;
                pointer(text)
            }
            "ngettext" | "dngettext" | "dcngettext" => {
                let first = usize::from(name != "ngettext");
                let count = given.bits(first + 2)?;
                let is_one = self.is_equal(count, 1);
                let text = self.place(given, if is_one { first } else { first + 1 })?;
                pointer(text)
            }
            "textdomain" | "bindtextdomain" | "bind_textdomain_codeset" => {
                let text = self.new_text("messages")?;
                pointer(text)
            }
            "nl_langinfo" => {
                let text = self.new_text("ANSI_X3.4-1968")?;
                pointer(text)
            }
            "localeconv" => {
                let record = self.library_object("lconv", 96)?;
                let (point, none) = (self.new_text(".")?, self.new_text("")?);
                for index in 0..10 {
                    let text = if index == 0 { point } else { none };
                    self.memory.store(record + 8 * index, 8, Bits::known(text.into()))?;
                }
                self.memory.fill(record + 80, 14, Bits::known(127))?;
                pointer(record)
            }
            "strxfrm" => {
                let (to, from) = (self.place(given, 0)?, self.text(given, 1)?);
                let limit = self.place(given, 2)?;
                let text = self.text_at(from, None)?;
                if (text.len() as u64) < limit {
                    for (at, byte) in (to..).zip(text.iter().chain([&Bits::known(0)])) {
                        self.memory.store(at, 1, *byte)?;
                    }
                }
                pointer(text.len() as u64)
            }
            _ => self.call_pattern(name, given),
        }
    }

    /// Whether a text matches a pattern is not computed: both are tried.
    fn call_pattern(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "fnmatch" => {
                self.check_text(given, 0)?;
                self.check_text(given, 1)?;
                Ok(Some(Some(self.one_of_many(1)?)))
            }
            "regcomp" => {
                let to = self.place(given, 0)?;
                self.check_text(given, 1)?;
                self.memory.fill(to, 64, Bits::known(0))?;
                int(i32::from(self.fails(Failure::Lookup)))
            }
            "regexec" => {
                let text = self.text(given, 1)?;
                let length = self.length(text, u64::MAX)?;
                let (count, to) = (self.place(given, 2)?, self.place(given, 3)?);
                let result = self.one_of_many(1)?;
                let is_found = result.bits().is_some_and(|result| self.is_equal(result, 0));
                for index in 0..if is_found { count.min(64) } else { 0 } {
                    let (start, end) = match index {
                        0 => (0, length as u32),
                        _ => (u32::MAX, u32::MAX),
                    };
                    let at = to.wrapping_add(8 * index);
                    self.memory.store(at, 4, Bits::known(start.into()))?;
                    self.memory.store(at + 4, 4, Bits::known(end.into()))?;
                }
                Ok(Some(Some(result)))
            }
            "regfree" => Ok(Some(None)),
            "regerror" => {
                let (to, size) = (self.place(given, 2)?, self.place(given, 3)?);
                if size > 0 {
                    self.memory.store(to, 1, Bits::known(0))?;
                }
                pointer(1)
            }
            "iconv_open" => {
                let failed = self.fails(Failure::Lookup);
                let handle = self.library_object("iconv", 1)?;
                pointer(if failed { u64::MAX } else { handle })
            }
            "iconv_close" => int(0),
            _ => Ok(None),
        }
    }

    fn wide_at(&mut self, at: u64, index: u64) -> Result<u64, Stop> {
        self.spend()?;
        self.number_at(at.wrapping_add(4 * index), 4)
    }

    fn wide_length(&mut self, at: u64, limit: u64) -> Result<u64, Stop> {
        let mut length = 0;
        while length < limit && self.wide_at(at, length)? != 0 {
            length += 1;
        }
        Ok(length)
    }

    fn decode_bytes(&mut self, name: &str, given: &Given) -> Known {
        let is_length = name.ends_with("len");
        let first = usize::from(!is_length);
        let (from, limit) = (self.place(given, first)?, self.place(given, first + 1)?);
        let to = if is_length { 0 } else { self.place(given, 0)? };
        if from == 0 {
            return pointer(0);
        }
        if limit == 0 {
            return match name {
                "mbrtowc" | "mbrlen" => pointer(u64::MAX - 1),
                _ => int(-1),
            };
        }
        let byte = self.byte(from)?;
        let is_character = self.is_below(byte, Bits::known(128));
        if !is_character {
            self.set_errno(EILSEQ)?;
            return pointer(NO_CHARACTER);
        }
        if to != 0 {
            let word = byte.word.map(|word| self.memory.words.resize(word, 32, false));
            self.memory.store(to, 4, byte.with_word(word))?;
        }
        let is_end = self.is_equal(byte, 0);
        pointer(u64::from(!is_end))
    }

    fn encode_bytes(&mut self, given: &Given) -> Known {
        let to = self.place(given, 0)?;
        let character = given.bits(1)?;
        if to == 0 {
            return pointer(1);
        }
        if self.pinned(character) > 127 {
            self.set_errno(EILSEQ)?;
            return pointer(NO_CHARACTER);
        }
        self.memory.store(to, 1, Bits::known(character.bits))?;
        pointer(1)
    }

    fn convert_text(&mut self, name: &str, given: &Given) -> Known {
        let (to, from, limit) =
            (self.place(given, 0)?, self.place(given, 1)?, self.place(given, 2)?);
        let (size_from, size_to) = if name == "mbstowcs" { (1, 4) } else { (4, 1) };
        let mut n_done = 0;
        while to == 0 || n_done < limit {
            self.spend()?;
            let at = from.wrapping_add(n_done * size_from);
            let value = self.memory.load(at, size_from)?;
            if !value.is_known() {
                return Err(Stop::Fault(FaultKind::Uninitialised));
            }
            if self.pinned(value) > 127 {
                self.set_errno(EILSEQ)?;
                return pointer(NO_CHARACTER);
            }
            if to != 0 {
                let place = to.wrapping_add(n_done * size_to);
                self.memory.store(place, size_to, Bits::known(value.bits))?;
            }
            if value.bits == 0 {
                break;
            }
            n_done += 1;
        }
        pointer(n_done)
    }

    fn copy_wide(&mut self, name: &str, given: &Given) -> Known {
        if name == "wmemset" {
            let (to, value, count) = (self.place(given, 0)?, given.bits(1)?, self.place(given, 2)?);
            for index in 0..count {
                self.spend()?;
                self.memory.store(to.wrapping_add(4 * index), 4, value)?;
            }
            return pointer(to);
        }
        if name == "wcsdup" {
            let from = self.place(given, 0)?;
            let length = self.wide_length(from, u64::MAX)?;
            if self.fails(Failure::Allocation) {
                return pointer(0);
            }
            let to = self.memory.allocate(4 * (length + 1), true)?;
            self.memory.copy(to, from, 4 * (length + 1))?;
            return pointer(to);
        }
        let (to, from) = (self.place(given, 0)?, self.place(given, 1)?);
        let start = match name {
            "wcscat" => to + 4 * self.wide_length(to, u64::MAX)?,
            _ => to,
        };
        let limit = match name {
            "wcsncpy" | "wmemcpy" => self.place(given, 2)?,
            _ => u64::MAX,
        };
        let mut has_ended = false;
        for index in 0..limit {
            let value = if has_ended { 0 } else { self.wide_at(from, index)? };
            let place = start.wrapping_add(4 * index);
            self.memory.store(place, 4, Bits::known(value.into()))?;
            has_ended |= value == 0 && name != "wmemcpy";
            if has_ended && limit == u64::MAX {
                break;
            }
        }
        Ok(Some(Some(Value::known(to.into()))))
    }
}
