//! Descriptors: files without buffers, pipes, sockets, and waiting for them.

use super::files::plain;
use super::{EINVAL, Given, Known, as_int, int, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value, signed};
use crate::world::{Description, Handle, Node, errno, flags};

/// Requests of `ioctl` and `fcntl`.
const WINDOW_SIZE: u128 = 0x5413;
const BYTES_TO_READ: u128 = 0x541b;
const DUPLICATE: u128 = 0;
const DUPLICATE_CLOSED: u128 = 1030;
const GET_FLAGS: u128 = 3;
/// Events of `poll`: something to read, room to write.
const EVENTS: u128 = 0x5;

fn failed() -> Known {
    Ok(Some(Some(Value::known(u128::from(u64::MAX)))))
}

impl Machine<'_> {
    pub(crate) fn call_descriptor(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "open" | "open64" | "__open_2" | "__open64_2" => {
                let name = self.file_name(given, 0)?;
                let how = given.bits(1)?;
                let how = self.pinned(how) as u32;
                self.opened(&name, how)
            }
            "openat" | "openat64" => {
                let name = self.file_name_at(given, 0)?;
                let how = given.bits(2)?;
                let how = self.pinned(how) as u32;
                self.opened(&name, how)
            }
            "creat" | "creat64" => {
                let name = self.file_name(given, 0)?;
                self.opened(&name, flags::WRITE | flags::CREATE | flags::TRUNCATE)
            }
            "mkstemp" | "mkstemp64" | "mkostemp" => self.make_temporary(given),
            "close" => {
                let number = self.place(given, 0)? as u32;
                if self.world.table.remove(&number).is_none() {
                    self.set_errno(errno::EBADF)?;
                    return int(-1);
                }
                int(if self.fails(Failure::Close) { -1 } else { 0 })
            }
            "read" | "pread" | "pread64" | "recv" | "recvfrom" | "__read_chk" => {
                let Some(handle) = self.open_descriptor(given, 0)? else { return failed() };
                let (to, size) = (self.place(given, 1)?, self.place(given, 2)?);
                if name == "recvfrom" {
                    self.forget_address(given, 4)?;
                }
                let at = match name.starts_with("pread") {
                    true => Some(given.bits(3)?),
                    false => None,
                };
                self.read_once(handle, to, size, at)
            }
            "write" | "pwrite" | "pwrite64" | "send" | "sendto" => {
                let (from, size) = (self.place(given, 1)?, self.place(given, 2)?);
                let text = self.bytes_to_write(from, size)?;
                let Some(handle) = self.open_descriptor(given, 0)? else { return failed() };
                self.write_once(handle, text)
            }
            "readv" | "writev" => self.vectors(name, given),
            "lseek" | "lseek64" => {
                let Some(handle) = self.open_descriptor(given, 0)? else { return failed() };
                let (offset, whence) = (given.bits(1)?, given.bits(2)?);
                let offset = signed(self.pinned(offset), 64);
                match self.seek(handle, offset, as_int(whence))? {
                    Some(at) => pointer(at),
                    None => failed(),
                }
            }
            "dup" | "dup2" | "dup3" => self.duplicate(name, given),
            "fcntl" | "fcntl64" => self.control(given),
            "pipe" | "pipe2" => {
                let to = self.place(given, 0)?;
                let node = self.world.add(Node::Held(Vec::new()));
                let ends = [(true, false), (false, true)];
                self.pair(
                    to,
                    ends.map(|(can_read, can_write)| Description {
                        can_read,
                        can_write,
                        appends: can_write,
                        is_pipe: true,
                        ..plain(node)
                    }),
                )
            }
            "ftruncate" | "ftruncate64" => {
                let Some(handle) = self.open_descriptor(given, 0)? else { return int(-1) };
                let length = self.place(given, 1)?;
                let node = self.world.open[handle.description].node;
                self.truncate(node, length)?;
                int(0)
            }
            "fsync" | "fdatasync" | "flock" | "lockf" | "posix_fadvise" | "posix_fallocate"
            | "sync" => int(0),
            "isatty" => {
                let number = self.place(given, 0)?;
                let is_terminal = self.is_terminal(number)?;
                int(i32::from(is_terminal))
            }
            "ttyname" => pointer(0),
            "tcgetattr" => {
                let (number, to) = (self.place(given, 0)?, self.place(given, 1)?);
                if !self.is_terminal(number)? {
                    self.set_errno(errno::ENOTTY)?;
                    return int(-1);
                }
                self.memory.fill(to, 60, Bits::known(0))?;
                int(0)
            }
            "tcsetattr" | "tcflush" | "tcdrain" | "tcsendbreak" | "tcflow" => {
                let number = self.place(given, 0)?;
                let is_terminal = self.is_terminal(number)?;
                int(if is_terminal { 0 } else { -1 })
            }
            "cfmakeraw" => Ok(Some(None)),
            "ioctl" => self.request(given),
            "poll" | "ppoll" => self.poll(given),
            "select" | "pselect" => int(1),
            _ => self.call_socket(name, given),
        }
    }

    fn opened(&mut self, name: &crate::world::FileName, how: u32) -> Known {
        let number = self.open_name(name, how)?;
        int(number.map_or(-1, |number| number as i32))
    }

    /// The open file an argument is a descriptor of; where it is none, `errno` says so.
    pub(crate) fn open_descriptor(
        &mut self,
        given: &Given,
        index: usize,
    ) -> Result<Option<Handle>, Stop> {
        let number = given.bits(index)?;
        let number = self.pinned(number) as u32;
        let handle = self.descriptor(number.into());
        if handle.is_none() {
            self.set_errno(errno::EBADF)?;
        }
        Ok(handle)
    }

    fn make_temporary(&mut self, given: &Given) -> Known {
        let at = self.place(given, 0)?;
        let length = self.length(at, u64::MAX)?;
        let template = self.text_at(at, None)?;
        let is_template = template.len() >= 6
            && template[template.len() - 6..].iter().all(|byte| byte.bits == u128::from(b'X'));
        if !is_template {
            self.set_errno(EINVAL)?;
            return int(-1);
        }
        let name = self.new_name();
        let digits = name.bytes[name.bytes.len() - 6..].to_vec();
        for (at, digit) in (at + length - 6..).zip(digits) {
            self.memory.store(at, 1, Bits::known(digit.into()))?;
        }
        let name = self.file_name(given, 0)?;
        self.opened(&name, flags::READ_WRITE | flags::CREATE | flags::TRUNCATE)
    }

    fn read_once(&mut self, handle: Handle, to: u64, size: u64, at: Option<Bits>) -> Known {
        if self.fails(Failure::Read) {
            self.set_errno(errno::EIO)?;
            return failed();
        }
        let open = &self.world.open[handle.description];
        if !open.can_read {
            self.set_errno(errno::EBADF)?;
            return failed();
        }
        if matches!(self.world.nodes[open.node], Node::Folder(_)) {
            self.set_errno(errno::EISDIR)?;
            return failed();
        }
        let before = open.at;
        let mut limit = size;
        if size > 1 {
            let shortfall = self.shortfall(Failure::ShortRead);
            if shortfall > 0 {
                limit = u64::from(shortfall).min(size);
            }
        }
        let Some(at) = at else {
            let n_read = self.read_to(handle, to, limit)?;
            return pointer(n_read);
        };
        self.world.open[handle.description].at = self.pinned(at) as u64;
        let n_read = self.read_to(handle, to, limit);
        self.world.open[handle.description].at = before;
        pointer(n_read?)
    }

    fn write_once(&mut self, handle: Handle, mut text: Vec<Bits>) -> Known {
        let shortfall = match text.len() > 1 {
            true => self.shortfall(Failure::ShortWrite) as usize,
            false => 0,
        };
        if shortfall > 0 {
            text.truncate(shortfall);
        }
        match self.try_write(&text, handle)? {
            true => pointer(text.len() as u64),
            false => failed(),
        }
    }

    fn vectors(&mut self, name: &str, given: &Given) -> Known {
        let (list, count) = (self.place(given, 1)?, self.place(given, 2)?);
        let Some(handle) = self.open_descriptor(given, 0)? else { return failed() };
        let mut total = 0;
        for index in 0..count.min(1024) {
            let entry = list.wrapping_add(16 * index);
            let (at, size) = (self.number_at(entry, 8)?, self.number_at(entry + 8, 8)?);
            let n_done = match name {
                "readv" => self.read_to(handle, at, size)?,
                _ => {
                    let text = self.bytes_to_write(at, size)?;
                    if self.write(&text, handle)? { size } else { 0 }
                }
            };
            total += n_done;
            if n_done < size {
                break;
            }
        }
        pointer(total)
    }

    fn duplicate(&mut self, name: &str, given: &Given) -> Known {
        let Some(handle) = self.open_descriptor(given, 0)? else { return int(-1) };
        let number = match name {
            "dup" => match self.world.free_descriptor(0) {
                Some(number) if !self.fails(Failure::Resource) => number,
                _ => return int(-1),
            },
            _ => {
                let wanted = given.bits(1)?;
                self.pinned(wanted) as u32
            }
        };
        self.world.table.insert(number, handle.description);
        int(number as i32)
    }

    fn control(&mut self, given: &Given) -> Known {
        let Some(handle) = self.open_descriptor(given, 0)? else { return int(-1) };
        let request = given.bits(1)?;
        match self.pinned(request) {
            DUPLICATE | DUPLICATE_CLOSED => {
                let from = self.place(given, 2)? as u32;
                let Some(number) = self.world.free_descriptor(from) else { return int(-1) };
                self.world.table.insert(number, handle.description);
                int(number as i32)
            }
            GET_FLAGS => {
                let open = &self.world.open[handle.description];
                int(match (open.can_read, open.can_write) {
                    (true, true) => 2,
                    (_, true) => 1,
                    _ => 0,
                })
            }
            _ => int(0),
        }
    }

    /// Two descriptors in memory.
    fn pair(&mut self, to: u64, ends: [Description; 2]) -> Known {
        if self.fails(Failure::Resource) {
            return int(-1);
        }
        for (at, end) in (to..).step_by(4).zip(ends) {
            let Some(number) = self.world.describe(end) else { return int(-1) };
            self.memory.store(at, 4, Bits::known(number.into()))?;
        }
        int(0)
    }

    /// Whether a descriptor is a terminal: of the standard streams, that is as it may be.
    pub(crate) fn is_terminal(&mut self, number: u64) -> Result<bool, Stop> {
        let number = number as u32;
        let is_standard = self.world.table.get(&number).is_some_and(|open| *open < 3);
        if !is_standard {
            let known = self.world.table.contains_key(&number);
            self.set_errno(if known { errno::ENOTTY } else { errno::EBADF })?;
            return Ok(false);
        }
        if self.inputs.stdin.is_some() {
            return Ok(false);
        }
        if let Some(known) = self.world.terminals.get(&number) {
            return Ok(*known);
        }
        let answer = self.outside_below(1)?;
        let is_terminal = self.is_equal(answer, 1);
        self.world.terminals.insert(number, is_terminal);
        Ok(is_terminal)
    }

    fn request(&mut self, given: &Given) -> Known {
        let Some(handle) = self.open_descriptor(given, 0)? else { return int(-1) };
        let (number, request) = (self.place(given, 0)?, given.bits(1)?);
        match self.pinned(request) {
            WINDOW_SIZE if self.is_terminal(number)? => {
                let to = self.place(given, 2)?;
                self.memory.fill(to, 8, Bits::known(0))?;
                self.memory.store(to, 2, Bits::known(24))?;
                self.memory.store(to.wrapping_add(2), 2, Bits::known(80))?;
                int(0)
            }
            BYTES_TO_READ => {
                let to = self.place(given, 2)?;
                let open = &self.world.open[handle.description];
                let (node, at) = (open.node, open.at);
                let length = self.length_of(node);
                let left = (self.pinned(length) as u64).saturating_sub(at);
                self.memory.store(to, 4, Bits::known(left.into()))?;
                int(0)
            }
            _ => {
                self.set_errno(errno::ENOTTY)?;
                int(-1)
            }
        }
    }

    /// Whatever is waited for is ready.
    fn poll(&mut self, given: &Given) -> Known {
        let (list, count) = (self.place(given, 0)?, self.place(given, 1)?);
        let mut n_ready = 0;
        for index in 0..count.min(1024) {
            let entry = list.wrapping_add(8 * index);
            let number = self.number_at(entry, 4)?;
            let events = self.memory.load(entry + 4, 2)?;
            let events = self.pinned(events) & EVENTS;
            let is_open = self.world.table.contains_key(&(number as u32));
            let ready = if is_open { events } else { 0 };
            self.memory.store(entry + 6, 2, Bits::known(ready))?;
            n_ready += i32::from(ready != 0);
        }
        int(n_ready)
    }

    fn call_socket(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "socket" | "accept" | "accept4" => {
                if name != "socket" {
                    if self.open_descriptor(given, 0)?.is_none() {
                        return int(-1);
                    }
                    self.forget_address(given, 1)?;
                }
                if self.fails(Failure::Resource) {
                    self.set_errno(errno::EAGAIN)?;
                    return int(-1);
                }
                let node = self.outside_text()?;
                let node = self.world.add(node);
                let number = self.world.describe(connection(node));
                int(number.map_or(-1, |number| number as i32))
            }
            "socketpair" => {
                let to = self.place(given, 3)?;
                let nodes = [(); 2].map(|()| self.world.add(Node::Held(Vec::new())));
                self.pair(to, nodes.map(connection))
            }
            "bind" | "connect" | "listen" | "shutdown" => {
                if self.open_descriptor(given, 0)?.is_none() {
                    return int(-1);
                }
                int(if self.fails(Failure::Attempt) { -1 } else { 0 })
            }
            "setsockopt" => int(0),
            "htons" | "ntohs" => {
                let value = given.bits(0)?;
                let value = self.pinned(value) as u16;
                Ok(Some(Some(Value::known(value.swap_bytes().into()))))
            }
            "htonl" | "ntohl" => {
                let value = given.bits(0)?;
                let value = self.pinned(value) as u32;
                Ok(Some(Some(Value::known(value.swap_bytes().into()))))
            }
            _ => Ok(None),
        }
    }

    /// The address of the other side, which is handed out with its length: bytes from outside.
    fn forget_address(&mut self, given: &Given, index: usize) -> Result<(), Stop> {
        let (Some(to), Some(length)) = (given.known(index), given.known(index + 1)) else {
            return Ok(());
        };
        let (to, length) = (self.pinned(to) as u64, self.pinned(length) as u64);
        if to == 0 || length == 0 {
            return Ok(());
        }
        let size = self.number_at(length, 4)?.min(128);
        self.memory.fill(to, size, Bits::known(0))?;
        if size >= 2 {
            self.memory.store(to, 2, Bits::known(2))?;
        }
        Ok(())
    }
}

/// What is written is not what is read.
fn connection(node: usize) -> Description {
    Description { is_two_way: true, is_pipe: true, ..plain(node) }
}
