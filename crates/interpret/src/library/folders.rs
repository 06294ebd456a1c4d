//! Files by name: what is known of them, making, moving and removing them, and folders.

use logic::words::WordOp;

use super::{EINVAL, Given, Known, as_int, int, pointer};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::{Bits, Value};
use crate::world::{FileName, LONGEST_NAME, Listing, Node, errno};

/// Bytes of `struct stat`, of `struct dirent` and where the name lies in that.
const STAT_BYTES: u64 = 144;
const ENTRY_BYTES: u64 = 280;
const ENTRY_NAME: u64 = 19;
/// `AT_FDCWD`.
const HERE: i128 = -100;
/// Kinds of files in `st_mode`, with what may be done to them.
const REGULAR: u32 = 0o100_644;
const FOLDER: u32 = 0o040_755;
const PIPE: u32 = 0o010_600;
const DEVICE: u32 = 0o020_666;
/// The most entries `scandir` collects.
const MAX_ENTRIES: usize = 4096;

impl Machine<'_> {
    pub(crate) fn call_folder(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "stat" | "stat64" | "lstat" | "lstat64" => {
                let name = self.file_name(given, 0)?;
                let to = self.place(given, 1)?;
                self.stat_name(&name, to)
            }
            "__xstat" | "__lxstat" | "__xstat64" | "__lxstat64" => {
                let name = self.file_name(given, 1)?;
                let to = self.place(given, 2)?;
                self.stat_name(&name, to)
            }
            "fstatat" | "fstatat64" => {
                let name = self.file_name_at(given, 0)?;
                let to = self.place(given, 2)?;
                self.stat_name(&name, to)
            }
            "fstat" | "fstat64" => {
                let Some(handle) = self.open_descriptor(given, 0)? else { return int(-1) };
                let to = self.place(given, 1)?;
                let node = self.world.open[handle.description].node;
                self.fill_stat(node, to)?;
                int(0)
            }
            "access" | "euidaccess" | "faccessat" | "eaccess" => {
                let name = match name {
                    "faccessat" => self.file_name_at(given, 0)?,
                    _ => self.file_name(given, 0)?,
                };
                int(if self.find_file(&name)?.is_some() { 0 } else { -1 })
            }
            "chmod" | "truncate" | "truncate64" | "fchmodat" => {
                let at = name == "fchmodat";
                let file =
                    if at { self.file_name_at(given, 0)? } else { self.file_name(given, 0)? };
                let Some(node) = self.find_file(&file)? else { return int(-1) };
                if self.fails(Failure::Attempt) {
                    self.set_errno(errno::EACCES)?;
                    return int(-1);
                }
                if name.starts_with("truncate") {
                    let length = self.place(given, 1)?;
                    self.truncate(node, length)?;
                }
                int(0)
            }
            "unlink" | "remove" | "rmdir" => {
                let name = self.file_name(given, 0)?;
                int(if self.remove_name(&name)? { 0 } else { -1 })
            }
            "unlinkat" => {
                let name = self.file_name_at(given, 0)?;
                given.bits(2)?;
                int(if self.remove_name(&name)? { 0 } else { -1 })
            }
            "mkdir" | "mkdirat" | "mkfifo" | "mknod" => {
                let is_at = name == "mkdirat";
                let file =
                    if is_at { self.file_name_at(given, 0)? } else { self.file_name(given, 0)? };
                let is_folder = name.starts_with("mkdir");
                let node = if is_folder { Node::Folder(None) } else { Node::Held(Vec::new()) };
                self.make(&file, node)
            }
            "mkdtemp" => {
                let at = self.place(given, 0)?;
                let file = self.file_name(given, 0)?;
                let is_made = self.make(&file, Node::Folder(None))?;
                let is_made = is_made == Some(Some(Value::known(0)));
                pointer(if is_made { at } else { 0 })
            }
            "rename" | "link" | "symlink" | "renameat" | "linkat" => self.rename(name, given),
            "chdir" => self.change_folder(given),
            "fchdir" => int(0),
            "realpath" | "canonicalize_file_name" => self.real_path(name, given),
            "opendir" | "fdopendir" => self.open_folder(name, given),
            "readdir" | "readdir64" => self.read_folder(given),
            "closedir" | "rewinddir" | "dirfd" | "telldir" | "seekdir" => self.listing(name, given),
            "scandir" | "scandir64" => self.scan_folder(given),
            "alphasort" | "alphasort64" | "versionsort" => {
                let (a, b) = (self.place(given, 0)?, self.place(given, 1)?);
                let (a, b) = (self.number_at(a, 8)?, self.number_at(b, 8)?);
                let (a, b) = (self.entry_name(a)?, self.entry_name(b)?);
                int(a.cmp(&b) as i32)
            }
            "glob" | "glob64" => {
                self.check_text(given, 0)?;
                let to = self.place(given, 3)?;
                self.memory.fill(to, 24, Bits::known(0))?;
                // No file matches.
                int(3)
            }
            "globfree" | "globfree64" => Ok(Some(None)),
            "basename" | "__xpg_basename" | "dirname" => self.path_part(name, given),
            "mmap" | "mmap64" => self.map_memory(given),
            "munmap" => {
                let at = self.place(given, 0)?;
                self.memory.end(at);
                int(0)
            }
            _ => Ok(None),
        }
    }

    /// A name that is relative to an open folder.
    pub(crate) fn file_name_at(&mut self, given: &Given, index: usize) -> Result<FileName, Stop> {
        let folder = given.bits(index)?;
        let mut name = self.file_name(given, index + 1)?;
        let number = as_int(folder);
        if number != HERE && name.bytes.first() != Some(&b'/') {
            let number = self.pinned(folder) as u32;
            let handle = self.descriptor(number.into());
            let folder = handle.map(|handle| self.world.open[handle.description].name.clone());
            if let Some(folder) = folder {
                name.bytes = [&folder[..], b"/", &name.bytes[..]].concat();
            }
        }
        Ok(name)
    }

    fn stat_name(&mut self, name: &FileName, to: u64) -> Known {
        let Some(node) = self.find_file(name)? else { return int(-1) };
        self.fill_stat(node, to)?;
        int(0)
    }

    fn fill_stat(&mut self, node: usize, to: u64) -> Result<(), Stop> {
        let is_folder = self.is_folder(node);
        let mode = match &self.world.nodes[node] {
            _ if is_folder => FOLDER,
            Node::Given { .. } if node == 0 => PIPE,
            Node::Given { .. } | Node::Held(_) => REGULAR,
            Node::Folder(_) => FOLDER,
            Node::Output => PIPE,
            Node::Nothing | Node::Endless { .. } => DEVICE,
        };
        self.memory.fill(to, STAT_BYTES, Bits::known(0))?;
        self.memory.store(to, 8, Bits::known(1))?;
        self.memory.store(to + 8, 8, Bits::known(node as u128 + 1))?;
        self.memory.store(to + 16, 8, Bits::known(1))?;
        self.memory.store(to + 24, 4, Bits::known(mode.into()))?;
        self.memory.store(to + 56, 8, Bits::known(4096))?;
        if mode == PIPE || mode == DEVICE {
            return Ok(());
        }
        let size = self.length_of(node);
        let word = size.word.map(|word| self.memory.words.resize(word, 64, false));
        self.memory.store(to + 48, 8, size.with_word(word))?;
        let blocks = word.map(|word| {
            let words = &mut self.memory.words;
            let (more, unit) = (words.constant(64, 511), words.constant(64, 9));
            let sum = words.binary(WordOp::Add, word, more);
            words.binary(WordOp::LogicalShr, sum, unit)
        });
        let n_blocks = Bits::known(size.bits.div_ceil(512)).with_word(blocks);
        self.memory.store(to + 64, 8, n_blocks)
    }

    /// Makes a file; it must not be there.
    fn make(&mut self, name: &FileName, node: Node) -> Known {
        let full = self.full_name(&name.bytes);
        let is_known = self.world.names.get(&full).is_some_and(Option::is_some);
        if is_known || name.bytes.is_empty() || name.bytes.len() >= LONGEST_NAME {
            self.set_errno(if is_known { errno::EEXIST } else { errno::ENOENT })?;
            return int(-1);
        }
        if self.fails(Failure::Attempt) {
            self.set_errno(errno::EEXIST)?;
            return int(-1);
        }
        let node = self.world.add(node);
        self.world.names.insert(full, Some(node));
        int(0)
    }

    fn rename(&mut self, name: &str, given: &Given) -> Known {
        let (from, to) = match name {
            "renameat" | "linkat" => (self.file_name_at(given, 0)?, self.file_name_at(given, 2)?),
            _ => (self.file_name(given, 0)?, self.file_name(given, 1)?),
        };
        let Some(node) = self.find_file(&from)? else { return int(-1) };
        if to.bytes.is_empty() || to.bytes.len() >= LONGEST_NAME {
            self.set_errno(errno::ENOENT)?;
            return int(-1);
        }
        if self.fails(Failure::Attempt) {
            self.set_errno(errno::EACCES)?;
            return int(-1);
        }
        let (from, to) = (self.full_name(&from.bytes), self.full_name(&to.bytes));
        if name.starts_with("rename") {
            self.world.names.insert(from, None);
        }
        self.world.names.insert(to, Some(node));
        int(0)
    }

    fn change_folder(&mut self, given: &Given) -> Known {
        let name = self.file_name(given, 0)?;
        let Some(node) = self.find_name(&name, true)? else {
            self.set_errno(errno::ENOENT)?;
            return int(-1);
        };
        if !self.is_folder(node) {
            self.set_errno(errno::ENOTDIR)?;
            return int(-1);
        }
        let full = self.full_name(&name.bytes);
        self.world.folder = if full == b"." { Vec::new() } else { full };
        int(0)
    }

    fn real_path(&mut self, function: &str, given: &Given) -> Known {
        let name = self.file_name(given, 0)?;
        let to = if function == "realpath" { self.place(given, 1)? } else { 0 };
        if self.find_file(&name)?.is_none() {
            return pointer(0);
        }
        let mut full = self.full_name(&name.bytes);
        if full.first() != Some(&b'/') {
            full = [b"/srv/", &full[..]].concat();
        }
        if full.len() >= LONGEST_NAME {
            return pointer(0);
        }
        let to = match to {
            0 => self.memory.allocate(full.len() as u64 + 1, true)?,
            to => to,
        };
        for (at, byte) in (to..).zip(full.iter().chain([&0])) {
            self.memory.store(at, 1, Bits::known((*byte).into()))?;
        }
        pointer(to)
    }

    fn open_folder(&mut self, name: &str, given: &Given) -> Known {
        let (node, name) = match name {
            "fdopendir" => {
                let Some(handle) = self.open_descriptor(given, 0)? else { return pointer(0) };
                let open = &self.world.open[handle.description];
                (open.node, open.name.clone())
            }
            _ => {
                let name = self.file_name(given, 0)?;
                let Some(node) = self.find_name(&name, true)? else {
                    self.set_errno(errno::ENOENT)?;
                    return pointer(0);
                };
                (node, name.bytes)
            }
        };
        if !self.is_folder(node) {
            self.set_errno(errno::ENOTDIR)?;
            return pointer(0);
        }
        if self.fails(Failure::Resource) {
            return pointer(0);
        }
        let listing = self.list(node, &name);
        let folder = self.memory.allocate(64, false)?;
        let entry = self.memory.allocate(ENTRY_BYTES, false)?;
        self.world.folders.insert(folder, Listing { entry, ..listing });
        pointer(folder)
    }

    fn read_folder(&mut self, given: &Given) -> Known {
        let folder = self.place(given, 0)?;
        let Some(mut listing) = self.world.folders.get(&folder).cloned() else {
            return self.no_folder(folder);
        };
        let entry = listing.entry;
        let name = self.next_entry(&mut listing)?;
        let number = listing.n_given;
        self.world.folders.insert(folder, listing);
        let Some(name) = name else { return pointer(0) };
        self.write_entry(entry, number, &name)?;
        pointer(entry)
    }

    fn no_folder(&mut self, folder: u64) -> Known {
        if folder == 0 {
            return Err(Stop::Fault(crate::FaultKind::Null));
        }
        self.memory.load_set(folder, 1)?;
        Err(Stop::Unsupported("a folder of unknown origin".to_owned()))
    }

    fn write_entry(&mut self, entry: u64, number: u64, name: &[Bits]) -> Result<(), Stop> {
        self.memory.fill(entry, ENTRY_BYTES, Bits::known(0))?;
        self.memory.store(entry, 8, Bits::known(u128::from(number)))?;
        self.memory.store(entry + 16, 2, Bits::known(u128::from(ENTRY_BYTES)))?;
        // No system has longer ones, though the run may have made up a file with one.
        let name = name.iter().take((ENTRY_BYTES - ENTRY_NAME - 1) as usize);
        for (at, byte) in (entry + ENTRY_NAME..).zip(name) {
            self.memory.store(at, 1, *byte)?;
        }
        Ok(())
    }

    fn entry_name(&mut self, entry: u64) -> Result<Vec<u8>, Stop> {
        let name = self.text_at(entry.wrapping_add(ENTRY_NAME), None)?;
        Ok(name.into_iter().map(|byte| self.pinned(byte) as u8).collect())
    }

    fn listing(&mut self, name: &str, given: &Given) -> Known {
        let folder = self.place(given, 0)?;
        let Some(listing) = self.world.folders.get_mut(&folder) else {
            return self.no_folder(folder);
        };
        match name {
            "closedir" => {
                let entry = listing.entry;
                self.world.folders.remove(&folder);
                self.memory.end(folder);
                self.memory.end(entry);
                int(0)
            }
            "rewinddir" => {
                (listing.at, listing.n_given) = (0, 0);
                Ok(Some(None))
            }
            "telldir" => pointer(listing.n_given),
            "seekdir" => Ok(Some(None)),
            _ => {
                let node = listing.node;
                let open = self.world.describe(super::files::plain(node));
                int(open.map_or(-1, |number| number as i32))
            }
        }
    }

    fn scan_folder(&mut self, given: &Given) -> Known {
        let name = self.file_name(given, 0)?;
        let (to, filter, order) =
            (self.place(given, 1)?, self.place(given, 2)?, self.place(given, 3)?);
        let node = self.find_name(&name, true)?.filter(|node| self.is_folder(*node));
        let Some(node) = node else {
            self.set_errno(errno::ENOENT)?;
            return int(-1);
        };
        let mut listing = self.list(node, &name.bytes);
        let mut entries = Vec::new();
        while let Some(name) = self.next_entry(&mut listing)? {
            if entries.len() >= MAX_ENTRIES {
                return Err(Stop::OutOfSteps);
            }
            let entry = self.memory.allocate(ENTRY_BYTES, true)?;
            self.write_entry(entry, listing.n_given, &name)?;
            let mut is_kept = true;
            if filter != 0 {
                let kept = self.call_back(filter, vec![Value::known(entry.into())])?;
                let kept = kept.as_ref().and_then(Value::bits).unwrap_or(Bits::known(0));
                is_kept = !self.is_equal(kept, 0);
            }
            match is_kept {
                true => entries.push(entry),
                false => self.memory.release(entry)?,
            }
        }
        let list = self.memory.allocate(8 * entries.len() as u64, true)?;
        for (at, entry) in (list..).step_by(8).zip(&entries) {
            self.memory.store(at, 8, Bits::known((*entry).into()))?;
        }
        if order != 0 {
            self.sort_pointers(list, entries.len() as u64, order)?;
        }
        self.memory.store(to, 8, Bits::known(list.into()))?;
        int(entries.len() as i32)
    }

    /// The last part of a path, or the rest; POSIX lets both change the path.
    fn path_part(&mut self, name: &str, given: &Given) -> Known {
        let at = self.place(given, 0)?;
        let dot = |machine: &mut Self| {
            let text = machine.new_text(".")?;
            pointer(text)
        };
        if at == 0 {
            return dot(self);
        }
        let text = self.text_at(at, None)?;
        let bytes: Vec<u8> = text.iter().map(|byte| byte.bits as u8).collect();
        for byte in &text {
            self.is_equal(*byte, b'/'.into());
        }
        let last = bytes.iter().rposition(|byte| *byte == b'/');
        if name == "basename" {
            return pointer(last.map_or(at, |last| at + last as u64 + 1));
        }
        let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        if end == 0 {
            if bytes.is_empty() {
                return dot(self);
            }
            let text = self.new_text("/")?;
            return pointer(text);
        }
        let last = bytes[..end].iter().rposition(|byte| *byte == b'/');
        if name == "__xpg_basename" {
            if end < bytes.len() {
                self.memory.store(at + end as u64, 1, Bits::known(0))?;
            }
            return pointer(last.map_or(at, |last| at + last as u64 + 1));
        }
        let Some(last) = last else { return dot(self) };
        match bytes[..last].iter().rposition(|byte| *byte != b'/') {
            Some(end) => {
                self.memory.store(at + end as u64 + 1, 1, Bits::known(0))?;
                pointer(at)
            }
            None => {
                let text = self.new_text("/")?;
                pointer(text)
            }
        }
    }

    /// Memory of its own, in whole pages: zeros, or what a file holds.
    fn map_memory(&mut self, given: &Given) -> Known {
        let failed = Ok(Some(Some(Value::known(u128::from(u64::MAX)))));
        let length = self.place(given, 1)?;
        let (how, number) = (given.bits(3)?, given.bits(4)?);
        if length == 0 || self.fails(Failure::Allocation) {
            self.set_errno(if length == 0 { EINVAL } else { errno::ENOMEM })?;
            return failed;
        }
        let is_anonymous = self.pinned(how) & 0x20 != 0;
        let file = if is_anonymous {
            None
        } else {
            let number = self.pinned(number) as u32;
            let Some(handle) = self.descriptor(number.into()) else {
                self.set_errno(errno::EBADF)?;
                return failed;
            };
            Some(self.world.open[handle.description].node)
        };
        let size = length.checked_next_multiple_of(4096).ok_or(Stop::OutOfSteps)?;
        let address = self.memory.allocate(size, false)?;
        self.memory.fill(address, size, Bits::known(0))?;
        if let Some(node) = file {
            let start = self.place(given, 5)?;
            for at in 0..length {
                self.spend()?;
                let Some(byte) = self.byte_at(node, start.wrapping_add(at))? else { break };
                self.memory.store(address + at, 1, byte)?;
            }
        }
        pointer(address)
    }
}
