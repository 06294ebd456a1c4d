//! Standard input and output.

use logic::words::WordOp;

use super::format::Variable;
use super::{Given, Known, as_int, int, pointer};
use crate::exec::Machine;
use crate::inputs::Input;
use crate::value::{Bits, Value};
use crate::{FaultKind, Stop, Why};

/// More output than this ends the run.
const MAX_OUTPUT: usize = 1 << 22;

/// Which argument is the stream that is read or written.
fn stream_of(name: &str) -> Option<usize> {
    match name {
        "fprintf" | "__fprintf_chk" | "vfprintf" | "getc" | "fgetc" | "_IO_getc" | "fclose"
        | "feof" | "fscanf" | "__isoc99_fscanf" | "__isoc23_fscanf" => Some(0),
        "fputs" | "putc" | "fputc" | "_IO_putc" => Some(1),
        "fgets" => Some(2),
        "fread" => Some(3),
        _ => None,
    }
}

impl Machine<'_> {
    pub(crate) fn call_stdio(&mut self, name: &str, given: &Given) -> Known {
        if let Some(index) = stream_of(name)
            && given.bits(index)?.bits == 0
        {
            return Err(Stop::Fault(FaultKind::Null));
        }
        match name {
            "printf" | "__printf_chk" | "vprintf" | "fprintf" | "__fprintf_chk" | "vfprintf"
            | "dprintf" => self.print(name, given),
            "sprintf" | "snprintf" | "vsprintf" | "vsnprintf" | "__sprintf_chk"
            | "__snprintf_chk" | "__vsnprintf_chk" => self.print_to_memory(name, given),
            "puts" | "fputs" => {
                let text = self.place(given, 0)?;
                let text = self.text_at(text, None)?;
                let is_out = name == "puts" || self.is_stdout(given, 1)?;
                self.write(&text, is_out)?;
                if name == "puts" {
                    self.write(&[Bits::known(b'\n'.into())], true)?;
                }
                int(1)
            }
            "putchar" | "putc" | "fputc" | "_IO_putc" => {
                let byte = given.bits(0)?;
                let byte = self.low(byte, 8);
                let is_out = name == "putchar" || self.is_stdout(given, 1)?;
                self.write(&[byte], is_out)?;
                int(byte.bits as i32)
            }
            "fopen" => {
                let is_open = self.opens_file()?;
                pointer(if is_open { self.library_object("file", 216)? } else { 0 })
            }
            "perror" | "fflush" | "setbuf" | "setvbuf" | "fclose" => int(0),
            "getchar" | "getc" | "fgetc" | "_IO_getc" => {
                let byte = self.read_byte()?;
                Ok(Some(Some(match byte {
                    Some(byte) => {
                        let word = byte.word.map(|word| self.memory.words.resize(word, 32, false));
                        byte.with_word(word).into()
                    }
                    None => Value::known(u32::MAX.into()),
                })))
            }
            "fgets" => self.fgets(given),
            "gets" => {
                let to = self.place(given, 0)?;
                self.read_line(to, u64::MAX, false)
            }
            "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => self.scan(given, 0),
            "fscanf" | "__isoc99_fscanf" | "__isoc23_fscanf" => self.scan(given, 1),
            "fread" => {
                let (to, size) = (self.place(given, 0)?, self.place(given, 1)?);
                let count = self.place(given, 2)?;
                let total = size.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                let mut n_read = 0;
                while n_read < total {
                    let Some(byte) = self.read_byte()? else { break };
                    self.memory.store(to + n_read, 1, byte)?;
                    n_read += 1;
                }
                pointer(n_read.checked_div(size).unwrap_or(0))
            }
            "feof" => {
                let is_over = self.stdin_is_over()?;
                int(i32::from(is_over))
            }
            _ => Ok(None),
        }
    }

    fn print(&mut self, name: &str, given: &Given) -> Known {
        let is_checked = name.contains("_chk");
        let to_stream = name.contains("fprintf") || name == "dprintf";
        let format = usize::from(to_stream) + usize::from(is_checked);
        let text = self.formatted(name, given, format, false)?;
        let is_out = !to_stream || self.is_stdout(given, 0)?;
        self.write(&text, is_out)?;
        int(text.len() as i32)
    }

    fn formatted(
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
        for (at, byte) in (to..to + kept).zip(&text) {
            self.spend()?;
            self.memory.store(at, 1, *byte)?;
        }
        if limit > 0 {
            self.memory.store(to + kept, 1, Bits::known(0))?;
        }
        int(text.len() as i32)
    }

    fn write(&mut self, text: &[Bits], is_out: bool) -> Result<(), Stop> {
        if is_out {
            if self.stdout.len() + text.len() > MAX_OUTPUT {
                return Err(Stop::OutOfSteps);
            }
            self.stdout.extend(text.iter().map(|byte| byte.bits as u8));
        }
        Ok(())
    }

    /// Whether a stream argument is standard output rather than standard error.
    fn is_stdout(&mut self, given: &Given, index: usize) -> Result<bool, Stop> {
        let stream = given.bits(index)?.bits;
        let mut globals = self.program.globals.iter_enumerated();
        let Some((id, _)) = globals.find(|(_, global)| &*global.name == "stdout") else {
            return Ok(stream == 1);
        };
        let at = self.global(id);
        Ok(self.memory.load(at, 8)?.bits == stream)
    }

    /// The next byte of standard input.
    fn read_byte(&mut self) -> Result<Option<Bits>, Stop> {
        self.spend()?;
        let at = self.inputs.stdin_at;
        if self.stdin_is_over()? {
            return Ok(None);
        }
        self.inputs.stdin_at += 1;
        if let Some(stdin) = &self.inputs.stdin {
            let byte = stdin.get(at as usize).copied().unwrap_or(0);
            return Ok(Some(Bits::known(byte.into())));
        }
        if let Some((_, again)) = self.stdin_read.get(at as usize) {
            return Ok(Some(*again));
        }
        let byte = self.take_input(Input::Stdin(at), 8);
        self.stdin_read.push((at, byte));
        Ok(Some(byte))
    }

    fn stdin_is_over(&mut self) -> Result<bool, Stop> {
        let at = self.inputs.stdin_at;
        if let Some(stdin) = &self.inputs.stdin {
            return Ok(at as usize >= stdin.len());
        }
        let length = match self.stdin_length {
            Some(length) => length,
            None => {
                let limit = self.inputs.stdin_limit;
                let length = self.take_limited(Input::StdinLength, 32, limit);
                self.stdin_length = Some(length);
                length
            }
        };
        let is_over = u128::from(at) >= length.bits;
        if let Some(word) = length.word {
            let words = &mut self.memory.words;
            let at = words.constant(32, at.into());
            let over = words.binary(WordOp::UnsignedLe, word, at);
            let held = if is_over { over } else { words.not(over) };
            self.holds(held, Why::Branch);
        }
        Ok(is_over)
    }

    fn unread(&mut self) {
        self.inputs.stdin_at = self.inputs.stdin_at.saturating_sub(1);
    }

    fn fgets(&mut self, given: &Given) -> Known {
        let (room, limit) = (given.bits(0)?, given.bits(1)?);
        let wide = match limit.word {
            Some(word) => Some(self.memory.words.resize(word, 64, true)),
            None => None,
        };
        self.has_room(room, limit.with_word(wide));
        let to = self.place(given, 0)?;
        let limit = as_int(limit);
        if limit <= 0 {
            return pointer(0);
        }
        self.read_line(to, limit as u64 - 1, true)
    }

    fn read_line(&mut self, to: u64, limit: u64, keeps_end: bool) -> Known {
        let mut n_read = 0;
        let mut any = false;
        while n_read < limit {
            let Some(byte) = self.read_byte()? else { break };
            any = true;
            let is_end = self.is_equal(byte, b'\n'.into());
            if !is_end || keeps_end {
                self.memory.store(to + n_read, 1, byte)?;
                n_read += 1;
            }
            if is_end {
                break;
            }
        }
        if !any {
            return pointer(0);
        }
        self.memory.store(to + n_read, 1, Bits::known(0))?;
        pointer(to)
    }

    /// `scanf` with the directives small programs use: numbers, words, characters.
    fn scan(&mut self, given: &Given, format: usize) -> Known {
        let mut at = self.place(given, format)?;
        let mut next = format + 1;
        let mut n_read = 0;
        loop {
            let byte = self.byte(at)?;
            at += 1;
            match byte.bits as u8 {
                0 => return int(n_read),
                b' ' | b'\t' | b'\n' => self.skip_blanks()?,
                b'%' => {
                    let mut width = 0u64;
                    let mut size = 4;
                    let kind = loop {
                        let c = self.byte(at)?.bits as u8;
                        at += 1;
                        match c {
                            b'0'..=b'9' => width = width * 10 + u64::from(c - b'0'),
                            b'l' | b'z' | b'j' => size = 8,
                            b'h' => size /= 2,
                            _ => break c,
                        }
                    };
                    let to = given.bits(next)?;
                    next += 1;
                    let to = self.pinned(to) as u64;
                    if !self.scan_one(kind, to, size, width)? {
                        let nothing = n_read == 0 && self.stdin_is_over()?;
                        return int(if nothing { -1 } else { n_read });
                    }
                    n_read += 1;
                }
                wanted => {
                    let Some(byte) = self.read_byte()? else { return int(n_read) };
                    if !self.is_equal(byte, wanted.into()) {
                        self.unread();
                        return int(n_read);
                    }
                }
            }
        }
    }

    fn skip_blanks(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.read_byte()? {
            if !self.is_one_of(byte, b" \t\n\r\x0b\x0c") {
                self.unread();
                break;
            }
        }
        Ok(())
    }

    fn scan_one(&mut self, kind: u8, to: u64, size: u64, width: u64) -> Result<bool, Stop> {
        match kind {
            b'c' => {
                let Some(byte) = self.read_byte()? else { return Ok(false) };
                self.memory.store(to, 1, byte)?;
                Ok(true)
            }
            b's' => {
                self.skip_blanks()?;
                let limit = if width == 0 { u64::MAX } else { width };
                let word = self.read_word(limit)?;
                for (at, byte) in (to..).zip(&word) {
                    self.memory.store(at, 1, *byte)?;
                }
                if word.is_empty() {
                    return Ok(false);
                }
                self.memory.store(to + word.len() as u64, 1, Bits::known(0))?;
                Ok(true)
            }
            b'd' | b'i' | b'u' | b'x' => {
                self.skip_blanks()?;
                // Through memory, where numbers are read.
                let start = self.inputs.stdin_at;
                let word = self.read_word(32)?;
                let text = self.memory.allocate(word.len() as u64 + 1, false)?;
                for (at, byte) in (text..).zip(&word) {
                    self.memory.store(at, 1, *byte)?;
                }
                self.memory.store(text + word.len() as u64, 1, Bits::known(0))?;
                let base = if kind == b'x' { 16 } else { 10 };
                let (value, n_read) = self.read_number(text, base, 64)?;
                self.inputs.stdin_at = start + n_read as u32;
                if n_read == 0 {
                    return Ok(false);
                }
                let value = self.low(value, 8 * size as u32);
                self.memory.store(to, size, value)?;
                Ok(true)
            }
            _ => Err(Stop::Unsupported(format!("scanf with %{}", char::from(kind)))),
        }
    }

    fn read_word(&mut self, limit: u64) -> Result<Vec<Bits>, Stop> {
        let mut word = Vec::new();
        while (word.len() as u64) < limit {
            let Some(byte) = self.read_byte()? else { break };
            if self.is_one_of(byte, b" \t\n\r\x0b\x0c") {
                self.unread();
                break;
            }
            word.push(byte);
        }
        Ok(word)
    }
}
