//! Standard input and output.

use super::format::Variable;
use super::reader::Reader;
use super::{Given, Known, as_int, int, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value};
use crate::world::Handle;

impl Machine<'_> {
    pub(crate) fn call_stdio(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "printf" | "__printf_chk" | "vprintf" | "fprintf" | "__fprintf_chk" | "vfprintf"
            | "dprintf" | "__vprintf_chk" | "__vfprintf_chk" | "vdprintf" => {
                self.print(name, given)
            }
            "sprintf" | "snprintf" | "vsprintf" | "vsnprintf" | "__sprintf_chk"
            | "__snprintf_chk" | "__vsnprintf_chk" | "__vsprintf_chk" => {
                self.print_to_memory(name, given)
            }
            "asprintf" | "vasprintf" | "__asprintf_chk" | "__vasprintf_chk" => {
                self.print_to_heap(name, given)
            }
            "puts" | "fputs" | "fputs_unlocked" => {
                let text = self.text(given, 0)?;
                let mut text = self.text_at(text, None)?;
                let handle = match name {
                    "puts" => self.standard(1)?,
                    _ => self.stream(given, 1)?,
                };
                text.extend((name == "puts").then_some(Bits::known(b'\n'.into())));
                let is_done = self.write(&text, handle)?;
                int(if is_done { 1 } else { -1 })
            }
            "putchar" | "putc" | "fputc" | "_IO_putc" | "putchar_unlocked" | "putc_unlocked"
            | "fputc_unlocked" => {
                let byte = given.bits(0)?;
                let byte = self.low(byte, 8);
                let handle = match name.starts_with("putchar") {
                    true => self.standard(1)?,
                    false => self.stream(given, 1)?,
                };
                let is_done = self.write(&[byte], handle)?;
                int(if is_done { byte.bits as i32 } else { -1 })
            }
            "getchar" | "getc" | "fgetc" | "_IO_getc" | "getchar_unlocked" | "getc_unlocked"
            | "fgetc_unlocked" => {
                let handle = match name.starts_with("getchar") {
                    true => self.standard(0)?,
                    false => self.stream(given, 0)?,
                };
                let byte = self.read_byte(handle)?;
                Ok(Some(Some(self.character(byte))))
            }
            "getw" | "putw" => Err(Stop::Unsupported(format!("a call of {name}"))),
            "fgets" | "fgets_unlocked" => self.fgets(given),
            "gets" => {
                let to = self.place(given, 0)?;
                self.memory.fence = given.member(0);
                let handle = self.standard(0)?;
                self.read_line(handle, to, u64::MAX, false)
            }
            _ if name.contains("scanf") => self.call_scan(name, given),
            _ => Ok(None),
        }
    }

    fn print(&mut self, name: &str, given: &Given) -> Known {
        let is_checked = name.contains("_chk");
        let to_stream = name.contains("fprintf") || name.ends_with("dprintf");
        let format = usize::from(to_stream) + usize::from(is_checked);
        let text = self.formatted(name, given, format, false)?;
        let handle = match name.ends_with("dprintf") {
            true => match self.open_descriptor(given, 0)? {
                Some(handle) => handle,
                None => return int(-1),
            },
            false if to_stream => self.stream(given, 0)?,
            false => self.standard(1)?,
        };
        let is_done = self.write(&text, handle)?;
        int(if is_done { text.len() as i32 } else { -1 })
    }

    pub(crate) fn formatted(
        &mut self,
        name: &str,
        given: &Given,
        at: usize,
        is_seen: bool,
    ) -> Result<Vec<Bits>, Stop> {
        let format = self.place(given, at)?;
        let takes_list = name.trim_start_matches('_').starts_with('v');
        let mut variable = if takes_list {
            Variable::List(self.place(given, at + 1)?)
        } else {
            Variable::Call(given, at + 1)
        };
        self.format(format, &mut variable, is_seen)
    }

    fn print_to_memory(&mut self, name: &str, given: &Given) -> Known {
        let is_limited = name.contains("snprintf");
        let is_checked = name.contains("_chk");
        let format = 1 + usize::from(is_limited) + 2 * usize::from(is_checked);
        let to = self.place(given, 0)?;
        let limit = if is_limited { self.place(given, 1)? } else { u64::MAX };
        let text = self.formatted(name, given, format, true)?;
        let kept = (text.len() as u64).min(limit.saturating_sub(1));
        self.memory.fence = given.member(0);
        for (at, byte) in (to..to.saturating_add(kept)).zip(&text) {
            self.spend()?;
            self.memory.store(at, 1, *byte)?;
        }
        if limit > 0 {
            self.memory.store(to.wrapping_add(kept), 1, Bits::known(0))?;
        }
        int(text.len() as i32)
    }

    fn print_to_heap(&mut self, name: &str, given: &Given) -> Known {
        let to = self.place(given, 0)?;
        let text = self.formatted(name, given, 1 + usize::from(name.contains("_chk")), true)?;
        if self.fails(Failure::Allocation) {
            return int(-1);
        }
        let address = self.memory.allocate(text.len() as u64 + 1, true)?;
        for (at, byte) in (address..).zip(text.iter().chain([&Bits::known(0)])) {
            self.memory.store(at, 1, *byte)?;
        }
        self.memory.store(to, 8, Bits::known(u128::from(address)))?;
        int(text.len() as i32)
    }

    fn call_scan(&mut self, name: &str, given: &Given) -> Known {
        let stem = name.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_");
        let (mut reader, at) = match stem {
            "scanf" | "vscanf" => (Reader::stream(self.standard(0)?), 0),
            "fscanf" | "vfscanf" => (Reader::stream(self.stream(given, 0)?), 1),
            "sscanf" | "vsscanf" => (Reader::text(self.place(given, 0)?), 1),
            _ => return Ok(None),
        };
        let format = self.place(given, at)?;
        let mut variable = match stem.starts_with('v') {
            true => Variable::List(self.place(given, at + 1)?),
            false => Variable::Call(given, at + 1),
        };
        self.scan(&mut reader, format, &mut variable)
    }

    /// What `getc` makes of a byte.
    pub(crate) fn character(&mut self, byte: Option<Bits>) -> Value {
        let Some(byte) = byte else { return Value::known(u32::MAX.into()) };
        let word = byte.word.map(|word| self.memory.words.resize(word, 32, false));
        byte.with_word(word).into()
    }

    fn fgets(&mut self, given: &Given) -> Known {
        self.memory.fence = given.member(0);
        let (room, limit) = (given.bits(0)?, given.bits(1)?);
        let wide = match limit.word {
            Some(word) => Some(self.memory.words.resize(word, 64, true)),
            None => None,
        };
        self.has_room(room, limit.with_word(wide));
        let to = self.place(given, 0)?;
        let handle = self.stream(given, 2)?;
        let limit = as_int(limit);
        if limit <= 0 {
            return pointer(0);
        }
        self.read_line(handle, to, limit as u64 - 1, true)
    }

    fn read_line(&mut self, handle: Handle, to: u64, limit: u64, keeps_end: bool) -> Known {
        let mut n_read = 0;
        let mut any = false;
        while n_read < limit {
            let Some(byte) = self.read_byte(handle)? else { break };
            any = true;
            let is_end = self.is_equal(byte, b'\n'.into());
            if !is_end || keeps_end {
                self.memory.store(to.wrapping_add(n_read), 1, byte)?;
                n_read += 1;
            }
            if is_end {
                break;
            }
        }
        if !any && limit > 0 {
            return pointer(0);
        }
        self.memory.store(to.wrapping_add(n_read), 1, Bits::known(0))?;
        pointer(to)
    }
}
