//! Files and descriptors. What all of them hold is one stream of unknown bytes; what is written
//! is not kept.

use super::{Given, Known, as_int, int, pointer};
use crate::exec::Machine;
use crate::value::{Bits, Value, signed};
use crate::{FaultKind, Stop};

/// What `getline` allocates first.
const LINE_BYTES: u64 = 120;

impl Machine<'_> {
    pub(crate) fn call_file(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "fopen" | "fopen64" | "tmpfile" | "tmpfile64" | "fdopen" | "freopen" => {
                let has_name = !name.starts_with("tmpfile") && name != "fdopen";
                if !name.starts_with("tmpfile") {
                    self.check_text(given, 1)?;
                }
                let is_open = match has_name {
                    true => self.opens_named(name, given)?,
                    false => self.opens_file()?,
                };
                self.streams.start = self.inputs.stdin_at;
                pointer(if is_open { self.library_object("file", 216)? } else { 0 })
            }
            "open" | "open64" | "creat" => {
                let is_open = self.opens_named(name, given)?;
                self.streams.start = self.inputs.stdin_at;
                int(if is_open { 3 } else { -1 })
            }
            "fflush" | "fclose" | "close" | "setvbuf" => int(0),
            "setbuf" | "setlinebuf" | "flockfile" | "funlockfile" => Ok(Some(None)),
            "fread" | "fread_unlocked" => {
                let (to, size) = (self.place(given, 0)?, self.place(given, 1)?);
                let count = self.place(given, 2)?;
                let total = size.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                let n_read = self.read_bytes(to, total)?;
                pointer(n_read.checked_div(size).unwrap_or(0))
            }
            "fwrite" | "fwrite_unlocked" => {
                let (from, size) = (self.place(given, 0)?, self.place(given, 1)?);
                let count = self.place(given, 2)?;
                let total = size.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                let is_out = self.is_stdout(given, 3)?;
                self.write_bytes(from, total, is_out)?;
                pointer(if size == 0 { 0 } else { count })
            }
            "read" => {
                let (to, size) = (self.place(given, 1)?, self.place(given, 2)?);
                let n_read = self.read_bytes(to, size)?;
                pointer(n_read)
            }
            "write" => {
                let (from, size) = (self.place(given, 1)?, self.place(given, 2)?);
                let is_out = self.place(given, 0)? == 1;
                self.write_bytes(from, size, is_out)?;
                pointer(size)
            }
            "feof" | "feof_unlocked" => int(i32::from(self.streams.has_ended)),
            "ferror" | "ferror_unlocked" => int(0),
            "clearerr" => {
                self.streams.has_ended = false;
                Ok(Some(None))
            }
            "fileno" => {
                let number = match (self.is_stream(given, "stdin")?, self.is_stdout(given, 0)?) {
                    (true, _) => 0,
                    (_, true) => 1,
                    _ => {
                        if self.is_stream(given, "stderr")? {
                            2
                        } else {
                            3
                        }
                    }
                };
                int(number)
            }
            "rewind" | "fseek" | "fseeko" | "ftell" | "ftello" | "lseek" => self.seek(name, given),
            "getline" | "getdelim" | "__getdelim" => self.getline(name, given),
            _ => Ok(None),
        }
    }

    /// Whether the file that the first argument names can be opened. None has an empty name.
    fn opens_named(&mut self, function: &str, given: &Given) -> Result<bool, Stop> {
        let name = self.text(given, 0)?;
        let name = self.text_at(name, None)?;
        let is_open = !name.is_empty() && self.opens_file()?;
        let is_read = match function {
            "creat" => false,
            "open" | "open64" => given.bits(1)?.bits & 3 != 1,
            _ => {
                let mode = self.place(given, 1)?;
                self.byte(mode)?.bits == u128::from(b'r')
            }
        };
        if is_open && is_read {
            self.inputs.files.push(name.iter().map(|byte| byte.bits as u8).collect());
        }
        Ok(is_open)
    }

    fn read_bytes(&mut self, to: u64, limit: u64) -> Result<u64, Stop> {
        let mut n_read = 0;
        while n_read < limit {
            let Some(byte) = self.read_byte()? else { break };
            self.memory.store(to.wrapping_add(n_read), 1, byte)?;
            n_read += 1;
        }
        Ok(n_read)
    }

    /// Bytes nobody set may be written: records have holes.
    fn write_bytes(&mut self, from: u64, size: u64, is_out: bool) -> Result<(), Stop> {
        let mut text = Vec::new();
        for at in 0..size {
            self.spend()?;
            text.push(self.memory.load(from.wrapping_add(at), 1)?);
        }
        self.write(&text, is_out)
    }

    fn is_stream(&mut self, given: &Given, name: &str) -> Result<bool, Stop> {
        let stream = given.bits(0)?.bits;
        let mut globals = self.program.globals.iter_enumerated();
        let Some((id, _)) = globals.find(|(_, global)| &*global.name == name) else {
            return Ok(false);
        };
        let at = self.global(id);
        Ok(self.memory.load(at, 8)?.bits == stream)
    }

    /// Positions count from where the file that was opened last begins.
    fn seek(&mut self, name: &str, given: &Given) -> Known {
        let start = i128::from(self.streams.start);
        let here = i128::from(self.inputs.stdin_at) - self.streams.pushed.len() as i128;
        if name.starts_with("ftell") {
            return pointer((here - start).max(0) as u64);
        }
        let mut to = start;
        if name != "rewind" {
            let (offset, whence) = (given.bits(1)?, given.bits(2)?);
            let offset = signed(self.pinned(offset), 64);
            to = offset.saturating_add(match as_int(whence) {
                0 => start,
                1 => here,
                _ => {
                    let length = self.stream_length();
                    self.pinned(length) as i128
                }
            });
        }
        let Some(at) = u32::try_from(to).ok().filter(|at| i128::from(*at) >= start) else {
            return Ok(Some(Some(Value::known(u128::from(u64::MAX)))));
        };
        self.inputs.stdin_at = at;
        self.streams.pushed.clear();
        self.streams.has_ended = false;
        match name {
            "rewind" => Ok(Some(None)),
            "lseek" => pointer((to - start) as u64),
            _ => int(0),
        }
    }

    fn getline(&mut self, name: &str, given: &Given) -> Known {
        let (line, room) = (self.place(given, 0)?, self.place(given, 1)?);
        let mut end = Bits::known(b'\n'.into());
        if name != "getline" {
            let given_end = given.bits(2)?;
            end = self.low(given_end, 8);
        }
        let end = self.pinned(end);
        let mut buffer = self.number_at(line, 8)?;
        let mut size = if buffer == 0 { 0 } else { self.number_at(room, 8)? };
        let mut n_read = 0;
        loop {
            // Room for a byte and the zero behind the last.
            if n_read + 2 > size {
                let larger = (2 * size).max(LINE_BYTES);
                let new = self.memory.allocate(larger, true)?;
                self.memory.copy(new, buffer, n_read)?;
                self.memory.release(buffer)?;
                (buffer, size) = (new, larger);
                self.memory.store(line, 8, Bits::known(u128::from(buffer)))?;
                self.memory.store(room, 8, Bits::known(u128::from(size)))?;
            }
            let Some(byte) = self.read_byte()? else { break };
            self.memory.store(buffer.wrapping_add(n_read), 1, byte)?;
            n_read += 1;
            if self.is_equal(byte, end) {
                break;
            }
        }
        if n_read == 0 {
            return Ok(Some(Some(Value::known(u128::from(u64::MAX)))));
        }
        self.memory.store(buffer.wrapping_add(n_read), 1, Bits::known(0))?;
        pointer(n_read)
    }

    /// A number in memory on which the run depends.
    pub(crate) fn number_at(&mut self, address: u64, size: u64) -> Result<u64, Stop> {
        let value = self.memory.load(address, size)?;
        if !value.is_known() {
            return Err(Stop::Fault(FaultKind::Uninitialised));
        }
        Ok(self.pinned(value) as u64)
    }
}
