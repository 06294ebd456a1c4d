//! `FILE`s: how they are opened and closed, read and written in blocks, and moved about in.

use super::{EINVAL, Given, Known, as_int, int, pointer};
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value, signed};
use crate::world::{Description, FileName, Handle, Node, errno, flags};
use crate::{FaultKind, Stop};

/// What `getline` allocates first.
const LINE_BYTES: u64 = 120;

impl Machine<'_> {
    pub(crate) fn call_file(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "fopen" | "fopen64" => {
                let name = self.file_name(given, 0)?;
                let how = self.mode(given, 1)?;
                let opened = self.open_name(&name, how)?;
                self.wrapped(opened)
            }
            "freopen" | "freopen64" => self.reopen(given),
            "tmpfile" | "tmpfile64" => {
                let opened = self.temporary()?;
                self.wrapped(opened)
            }
            "fdopen" => {
                self.mode(given, 1)?;
                let number = self.place(given, 0)?;
                let known = self.descriptor(number).map(|_| number as u32);
                if known.is_none() {
                    self.set_errno(errno::EBADF)?;
                }
                self.wrapped(known)
            }
            "popen" => {
                self.check_text(given, 0)?;
                let how = self.mode(given, 1)?;
                self.command(how)
            }
            "fmemopen" => self.open_memory(given),
            "open_memstream" => self.write_memory(given),
            "fclose" => {
                let has_failed = self.fails(Failure::Close);
                let file = self.place(given, 0)?;
                self.close_file(file)?;
                int(if has_failed { -1 } else { 0 })
            }
            "pclose" => {
                let file = self.place(given, 0)?;
                self.close_file(file)?;
                Ok(Some(Some(self.outside_below(0xffff)?.into())))
            }
            "fcloseall" => int(0),
            "fflush" | "fflush_unlocked" => {
                let file = self.place(given, 0)?;
                if file != 0 {
                    let handle = self.file_at(file)?;
                    self.tell_memory(handle)?;
                }
                int(if self.fails(Failure::Write) { -1 } else { 0 })
            }
            "setvbuf" => {
                self.stream(given, 0)?;
                int(0)
            }
            "setbuf" | "setbuffer" | "setlinebuf" | "flockfile" | "funlockfile" => {
                self.stream(given, 0)?;
                Ok(Some(None))
            }
            "fread" | "fread_unlocked" => {
                let (to, size) = (self.place(given, 0)?, self.place(given, 1)?);
                let count = self.place(given, 2)?;
                let handle = self.stream(given, 3)?;
                let total = size.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                let n_read = self.read_some(handle, to, total)?;
                pointer(n_read.checked_div(size).unwrap_or(0))
            }
            "fwrite" | "fwrite_unlocked" => {
                let (from, size) = (self.place(given, 0)?, self.place(given, 1)?);
                let count = self.place(given, 2)?;
                let handle = self.stream(given, 3)?;
                let total = size.checked_mul(count).ok_or(Stop::OutOfSteps)?;
                let text = self.bytes_to_write(from, total)?;
                let is_done = self.try_write(&text, handle)?;
                pointer(if size == 0 || !is_done { 0 } else { count })
            }
            "feof" | "feof_unlocked" | "ferror" | "ferror_unlocked" | "__fpending"
            | "__freading" | "__fwriting" => {
                let handle = self.stream(given, 0)?;
                let file = self.buffered(handle);
                int(i32::from(match name {
                    "__fpending" | "__freading" | "__fwriting" => false,
                    _ if name.starts_with("feof") => file.is_some_and(|file| file.has_ended),
                    _ => file.is_some_and(|file| file.has_failed),
                }))
            }
            "clearerr" | "clearerr_unlocked" => {
                let handle = self.stream(given, 0)?;
                if let Some(file) = self.buffered(handle) {
                    (file.has_ended, file.has_failed) = (false, false);
                }
                Ok(Some(None))
            }
            "fileno" | "fileno_unlocked" => {
                let handle = self.stream(given, 0)?;
                int(self.buffered(handle).map_or(-1, |file| file.descriptor as i32))
            }
            "rewind" | "fseek" | "fseeko" | "fseeko64" | "ftell" | "ftello" | "ftello64"
            | "fgetpos" | "fsetpos" => self.seek_file(name, given),
            "getline" | "getdelim" | "__getdelim" => self.getline(name, given),
            "ungetc" => {
                let byte = given.bits(0)?;
                let handle = self.stream(given, 1)?;
                if as_int(byte) == -1 {
                    return int(-1);
                }
                let byte = self.low(byte, 8);
                if let Some(file) = self.buffered(handle) {
                    file.pushed.push(byte);
                    file.has_ended = false;
                }
                Ok(Some(Some(self.character(Some(byte)))))
            }
            _ => Ok(None),
        }
    }

    /// The `FILE` an argument points to.
    pub(crate) fn stream(&mut self, given: &Given, index: usize) -> Result<Handle, Stop> {
        let file = self.place(given, index)?;
        self.file_at(file)
    }

    /// A mode of `fopen` as `open` says it.
    fn mode(&mut self, given: &Given, index: usize) -> Result<u32, Stop> {
        let text = self.text(given, index)?;
        let text = self.text_at(text, None)?;
        let mode: Vec<u8> = text.into_iter().map(|byte| self.pinned(byte) as u8).collect();
        let is_both = mode.contains(&b'+');
        let access = match mode.first() {
            _ if is_both => flags::READ_WRITE,
            Some(b'r') => 0,
            _ => flags::WRITE,
        };
        let exclusive = if mode.contains(&b'x') { flags::EXCLUSIVE } else { 0 };
        Ok(access
            | match mode.first() {
                Some(b'w') => flags::CREATE | flags::TRUNCATE | exclusive,
                Some(b'a') => flags::CREATE | flags::APPEND | exclusive,
                _ => 0,
            })
    }

    /// A `FILE` around a descriptor, or null.
    fn wrapped(&mut self, descriptor: Option<u32>) -> Known {
        let file = descriptor.map(|number| self.new_file(number)).transpose()?;
        pointer(file.unwrap_or(0))
    }

    fn reopen(&mut self, given: &Given) -> Known {
        let file = self.place(given, 2)?;
        let handle = self.file_at(file)?;
        let how = self.mode(given, 1)?;
        let Some(number) = self.buffered(handle).map(|file| file.descriptor) else {
            return pointer(0);
        };
        if self.place(given, 0)? == 0 {
            return pointer(file);
        }
        let name = self.file_name(given, 0)?;
        self.world.table.remove(&number);
        let Some(opened) = self.open_name(&name, how)? else {
            return pointer(0);
        };
        if let Some(description) = self.world.table.remove(&opened) {
            self.world.table.insert(number, description);
        }
        if let Some(buffered) = self.buffered(handle) {
            buffered.pushed.clear();
            (buffered.has_ended, buffered.has_failed) = (false, false);
        }
        pointer(file)
    }

    /// A file that has no name.
    pub(crate) fn temporary(&mut self) -> Result<Option<u32>, Stop> {
        if self.fails(Failure::Create) {
            self.set_errno(errno::EACCES)?;
            return Ok(None);
        }
        let node = self.world.add(Node::Held(Vec::new()));
        Ok(self.world.describe(plain(node)))
    }

    /// What a command writes is a text from outside; what it reads is lost.
    fn command(&mut self, how: u32) -> Known {
        if self.fails(Failure::Resource) {
            self.set_errno(errno::EAGAIN)?;
            return pointer(0);
        }
        let node = match how & flags::ACCESS {
            0 => self.outside_text()?,
            _ => Node::Nothing,
        };
        let node = self.world.add(node);
        let opened = self.world.describe(Description { is_pipe: true, ..plain(node) });
        let file = opened.map(|number| self.new_file(number)).transpose()?.unwrap_or(0);
        if let Some(buffered) = self.world.files.get_mut(&file) {
            buffered.is_command = true;
        }
        pointer(file)
    }

    /// A text that comes from nowhere the run names. In a test there is none.
    pub(crate) fn outside_text(&mut self) -> Result<Node, Stop> {
        if self.inputs.stdin.is_some() {
            return Err(Stop::Unsupported("a connection opened in a test".to_owned()));
        }
        Ok(self.world.connection())
    }

    fn open_memory(&mut self, given: &Given) -> Known {
        let (from, size) = (self.place(given, 0)?, self.place(given, 1)?);
        let how = self.mode(given, 2)?;
        if how & flags::ACCESS != 0 {
            return Err(Stop::Unsupported("fmemopen to write".to_owned()));
        }
        let bytes = self.bytes_to_write(from, size)?;
        let node = self.world.add(Node::Held(bytes));
        let opened = self.world.describe(plain(node));
        self.wrapped(opened)
    }

    fn write_memory(&mut self, given: &Given) -> Known {
        let told_at = (self.place(given, 0)?, self.place(given, 1)?);
        let node = self.world.add(Node::Held(Vec::new()));
        let Some(number) = self.world.describe(plain(node)) else { return pointer(0) };
        self.memory.store(told_at.0, 8, Bits::known(0))?;
        self.memory.store(told_at.1, 8, Bits::known(0))?;
        let file = self.new_file(number)?;
        if let Some(buffered) = self.world.files.get_mut(&file) {
            buffered.told_at = Some(told_at);
        }
        pointer(file)
    }

    /// As many bytes as there are, where reading does not fail or stop early.
    pub(crate) fn read_some(&mut self, handle: Handle, to: u64, limit: u64) -> Result<u64, Stop> {
        if self.fails(Failure::Read) {
            self.mark_failed(handle)?;
            self.set_errno(errno::EIO)?;
            return Ok(0);
        }
        self.read_to(handle, to, limit)
    }

    /// Bytes that are not set may be written: records have holes.
    pub(crate) fn bytes_to_write(&mut self, from: u64, size: u64) -> Result<Vec<Bits>, Stop> {
        let mut text = Vec::new();
        for at in 0..size {
            self.spend()?;
            text.push(self.memory.load(from.wrapping_add(at), 1)?);
        }
        Ok(text)
    }

    fn seek_file(&mut self, name: &str, given: &Given) -> Known {
        let handle = self.stream(given, 0)?;
        let n_pushed = self.buffered(handle).map_or(0, |file| file.pushed.len());
        if name.starts_with("ftell") || name == "fgetpos" {
            let open = self.description(handle);
            let Some(at) = open.filter(|open| !open.is_pipe).map(|open| open.at) else {
                self.set_errno(errno::ESPIPE)?;
                return Ok(Some(Some(Value::known(u128::from(u64::MAX)))));
            };
            let at = at.saturating_sub(n_pushed as u64);
            if name == "fgetpos" {
                let to = self.place(given, 1)?;
                self.memory.store(to, 8, Bits::known(at.into()))?;
                return int(0);
            }
            return pointer(at);
        }
        let (offset, whence) = match name {
            "rewind" => (0, 0),
            "fsetpos" => {
                let from = self.place(given, 1)?;
                (i128::from(self.number_at(from, 8)?), 0)
            }
            _ => {
                let (offset, whence) = (given.bits(1)?, given.bits(2)?);
                (signed(self.pinned(offset), 64), as_int(whence))
            }
        };
        let offset = if whence == 1 { offset - n_pushed as i128 } else { offset };
        let is_done = self.seek(handle, offset, whence)?.is_some();
        if is_done && let Some(file) = self.buffered(handle) {
            file.pushed.clear();
            file.has_ended = false;
            file.has_failed &= name != "rewind";
        }
        if name == "rewind" { Ok(Some(None)) } else { int(if is_done { 0 } else { -1 }) }
    }

    /// Moves to another place; `None` with `errno` set where that is not possible.
    pub(crate) fn seek(
        &mut self,
        handle: Handle,
        offset: i128,
        whence: i128,
    ) -> Result<Option<u64>, Stop> {
        let Some(open) = self.world.open.get(handle.description) else {
            self.set_errno(errno::EBADF)?;
            return Ok(None);
        };
        if open.is_pipe {
            self.set_errno(errno::ESPIPE)?;
            return Ok(None);
        }
        let (node, here) = (open.node, open.at);
        let start = match whence {
            0 => 0,
            1 => here.into(),
            _ => {
                let length = self.length_of(node);
                self.pinned(length) as i128
            }
        };
        let to = u64::try_from(start.saturating_add(offset)).ok();
        let Some(to) = to.filter(|to| *to <= i64::MAX as u64) else {
            self.set_errno(EINVAL)?;
            return Ok(None);
        };
        if let Some(open) = self.description(handle) {
            open.at = to;
        }
        Ok(Some(to))
    }

    fn getline(&mut self, name: &str, given: &Given) -> Known {
        let (line, room) = (self.place(given, 0)?, self.place(given, 1)?);
        let mut end = Bits::known(b'\n'.into());
        if name != "getline" {
            let given_end = given.bits(2)?;
            end = self.low(given_end, 8);
        }
        let handle = self.stream(given, if name == "getline" { 2 } else { 3 })?;
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
            let Some(byte) = self.read_byte(handle)? else { break };
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

    /// A file of the run's own by a name that it makes up.
    pub(crate) fn new_name(&mut self) -> FileName {
        self.world.n_temporary += 1;
        FileName::known(format!("/tmp/{:06}", self.world.n_temporary).as_bytes())
    }
}

/// A file that can be read and written from its beginning on.
pub(crate) fn plain(node: usize) -> Description {
    Description {
        node,
        at: 0,
        can_read: true,
        can_write: true,
        appends: false,
        is_two_way: false,
        is_pipe: false,
        name: Vec::new(),
    }
}
