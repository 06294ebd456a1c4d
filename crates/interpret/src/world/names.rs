//! Files by their names, and folders.

use super::{Description, Node, SeenFile, errno};
use crate::Stop;
use crate::exec::Machine;
use crate::inputs::Input;
use crate::library::Given;
use crate::streams::{Failure, FileId, Name, Stream};
use crate::value::Bits;

/// Bytes of a name in a folder, and of a path.
const LONGEST_ENTRY: usize = 255;
pub(crate) const LONGEST_NAME: usize = 4096;

/// How a file is opened, as `open` says it.
pub(crate) mod flags {
    pub const ACCESS: u32 = 3;
    pub const WRITE: u32 = 1;
    pub const READ_WRITE: u32 = 2;
    pub const CREATE: u32 = 0o100;
    pub const EXCLUSIVE: u32 = 0o200;
    pub const TRUNCATE: u32 = 0o1000;
    pub const APPEND: u32 = 0o2000;
    pub const FOLDER: u32 = 0o200000;
}

/// A name that the program looks a file up by.
pub(crate) struct FileName {
    pub bytes: Vec<u8>,
    /// It stands in the program.
    is_literal: bool,
}

/// A folder that is read entry by entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub node: usize,
    /// Bytes of the text that is the folder's content.
    pub at: u64,
    /// Entries given so far, `.` and `..` among them.
    pub n_given: u64,
    /// Where the entry that was given last is.
    pub entry: u64,
    /// The names of a folder whose files the run itself knows.
    pub known: Vec<Vec<u8>>,
}

impl FileName {
    pub fn known(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), is_literal: true }
    }
}

impl Machine<'_> {
    /// An argument that names a file.
    pub(crate) fn file_name(&mut self, given: &Given, index: usize) -> Result<FileName, Stop> {
        let text = self.text(given, index)?;
        let is_literal = self.memory.is_constant(text.at);
        let bytes = self.text_at(text, None)?;
        Ok(FileName { bytes: bytes.iter().map(|byte| byte.bits as u8).collect(), is_literal })
    }

    /// A name without what does not matter in it.
    pub(crate) fn full_name(&self, name: &[u8]) -> Vec<u8> {
        let is_absolute = name.first() == Some(&b'/');
        let folder = if is_absolute { &[][..] } else { &self.world.folder[..] };
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in folder.split(|c| *c == b'/').chain(name.split(|c| *c == b'/')) {
            match part {
                b"" | b"." => {}
                b".." if parts.last().is_some_and(|last| *last != b"..") => drop(parts.pop()),
                b".." if is_absolute || folder.first() == Some(&b'/') => {}
                part => parts.push(part),
            }
        }
        let is_absolute = is_absolute || folder.first() == Some(&b'/');
        let joined = parts.join(&b'/');
        match (is_absolute, joined.is_empty()) {
            (true, _) => [b"/", &joined[..]].concat(),
            (false, true) => b".".to_vec(),
            (false, false) => joined,
        }
    }

    /// The file of a name; `None` where there is none, with `errno` set.
    pub(crate) fn find_file(&mut self, name: &FileName) -> Result<Option<usize>, Stop> {
        let found = self.find_name(name, false)?;
        if found.is_none() {
            self.set_errno(errno::ENOENT)?;
        }
        Ok(found)
    }

    /// As [`find_file`](Self::find_file); what is found for the first time is a folder where the
    /// call only makes sense for one.
    pub(crate) fn find_name(
        &mut self,
        name: &FileName,
        is_folder: bool,
    ) -> Result<Option<usize>, Stop> {
        if name.bytes.is_empty() || name.bytes.len() >= LONGEST_NAME {
            return Ok(None);
        }
        let full = self.full_name(&name.bytes);
        if let Some(known) = self.world.names.get(&full) {
            return Ok(*known);
        }
        let node = match &full[..] {
            b"/dev/null" => Some(Node::Nothing),
            b"/dev/zero" => Some(Node::Endless { is_random: false }),
            b"/dev/urandom" | b"/dev/random" => Some(Node::Endless { is_random: true }),
            b"/dev/stdin" => return Ok(Some(0)),
            b"/dev/stdout" => return Ok(Some(1)),
            b"/dev/stderr" => return Ok(Some(2)),
            b"." | b"/" | b"/tmp" | b".." => Some(Node::Folder(None)),
            _ => None,
        };
        if let Some(node) = node {
            let node = self.world.add(node);
            self.world.names.insert(full, Some(node));
            return Ok(Some(node));
        }
        if let Some(world) = &self.inputs.given {
            let held = world.files.get(&full).map(|bytes| {
                Node::Held(bytes.iter().map(|byte| Bits::known((*byte).into())).collect())
            });
            let is_above = |file: &Vec<u8>| file.starts_with(&[&full[..], b"/"].concat());
            let folder = world.files.keys().any(is_above).then_some(Node::Folder(None));
            let node = held.or(folder).map(|node| self.world.add(node));
            self.world.names.insert(full, node);
            return Ok(node);
        }
        if self.inputs.stdin.is_some() {
            return Err(Stop::Unsupported("a file opened in a test".to_owned()));
        }
        let id = self.id_of(name);
        let is_absent = self.is_possible(Input::Absent(id));
        let stream = Stream::File(id);
        let node = self.world.add(match is_folder {
            true => Node::Folder(Some(stream)),
            false => Node::Given { stream, length: None },
        });
        let seen = SeenFile { name: full.clone(), id, exists: !is_absent, node };
        self.world.seen.push(seen);
        let found = (!is_absent).then_some(node);
        self.world.names.insert(full, found);
        Ok(found)
    }

    fn id_of(&mut self, name: &FileName) -> FileId {
        let named = |argument: &Vec<u8>| *argument == name.bytes;
        let arguments = self.inputs.arguments.iter().skip(1);
        if let Some((index, _)) = (1..).zip(arguments).find(|(_, argument)| named(argument)) {
            return FileId::Argument(index);
        }
        if name.is_literal {
            return FileId::Named(Name::of(&name.bytes));
        }
        self.world.n_composed += 1;
        FileId::Composed(self.world.n_composed - 1)
    }

    /// Whether a file is a folder; of one from outside that is asked.
    pub(crate) fn is_folder(&mut self, node: usize) -> bool {
        let Node::Given { stream, length: None } = self.world.nodes[node] else {
            return matches!(self.world.nodes[node], Node::Folder(_));
        };
        let Stream::File(id) = stream else { return false };
        if self.world.open.iter().any(|open| open.node == node) {
            return false;
        }
        let is_folder = self.is_possible(Input::IsFolder(id));
        if is_folder {
            self.world.nodes[node] = Node::Folder(Some(stream));
        }
        is_folder
    }

    /// `open`: a descriptor, or `None` with `errno` set.
    pub(crate) fn open_name(&mut self, name: &FileName, how: u32) -> Result<Option<u32>, Stop> {
        let can_write = matches!(how & flags::ACCESS, flags::WRITE | flags::READ_WRITE);
        let is_made = how & flags::CREATE != 0;
        // What is written anew need not be there, and what it held does not matter.
        let full = self.full_name(&name.bytes);
        let is_new = is_made && how & flags::TRUNCATE != 0 && !self.world.names.contains_key(&full);
        let is_special = full.starts_with(b"/dev/");
        let found = match is_new && !is_special && how & flags::EXCLUSIVE == 0 {
            true => None,
            false => self.find_name(name, how & flags::FOLDER != 0)?,
        };
        if name.bytes.is_empty() || (found.is_none() && !is_made) {
            self.set_errno(errno::ENOENT)?;
            return Ok(None);
        }
        if found.is_some() && is_made && how & flags::EXCLUSIVE != 0 {
            self.set_errno(errno::EEXIST)?;
            return Ok(None);
        }
        if found.is_some_and(|node| matches!(self.world.nodes[node], Node::Folder(_))) && can_write
        {
            self.set_errno(errno::EISDIR)?;
            return Ok(None);
        }
        let may_fail = if can_write { Failure::Create } else { Failure::Resource };
        if !is_special && self.fails(may_fail) {
            self.set_errno(errno::EACCES)?;
            return Ok(None);
        }
        let node = match found {
            Some(node) => node,
            None => {
                let node = self.world.add(Node::Held(Vec::new()));
                self.world.names.insert(full.clone(), Some(node));
                node
            }
        };
        if can_write && how & flags::TRUNCATE != 0 {
            self.truncate(node, 0)?;
        }
        let description = Description {
            node,
            at: 0,
            can_read: how & flags::ACCESS != flags::WRITE,
            can_write,
            appends: how & flags::APPEND != 0,
            is_two_way: false,
            is_pipe: matches!(self.world.nodes[node], Node::Output),
            name: full,
        };
        Ok(self.world.describe(description))
    }

    /// Takes a name away; whether it was there.
    pub(crate) fn remove_name(&mut self, name: &FileName) -> Result<bool, Stop> {
        let found = self.find_file(name)?;
        let full = self.full_name(&name.bytes);
        if found.is_some() && !self.fails(Failure::Attempt) {
            self.world.names.insert(full, None);
            return Ok(true);
        }
        if found.is_some() {
            self.set_errno(errno::EACCES)?;
        }
        Ok(false)
    }

    /// Begins to list a folder.
    pub(crate) fn list(&mut self, node: usize, name: &[u8]) -> Listing {
        let full = self.full_name(name);
        let begins = match &full[..] {
            b"." => Vec::new(),
            b"/" => b"/".to_vec(),
            full => [full, b"/"].concat(),
        };
        let there = self.world.names.iter().filter(|(_, node)| node.is_some());
        let there = there.map(|(name, _)| name.clone());
        let given = self.inputs.given.iter().flat_map(|world| world.files.keys().cloned());
        let gone: Vec<_> = self.world.names.iter().filter(|(_, node)| node.is_none()).collect();
        let given = given.filter(|name| !gone.iter().any(|(other, _)| *other == name));
        let mut known: Vec<Vec<u8>> = there
            .chain(given)
            .filter_map(|name| {
                let rest = name.strip_prefix(&begins[..])?;
                let first = rest.split(|c| *c == b'/').next()?;
                let is_entry = !first.is_empty() && !matches!(first, b"." | b"..");
                is_entry.then(|| first.to_vec())
            })
            .collect();
        known.sort();
        known.dedup();
        // What else is in a folder from outside, its text says.
        if matches!(self.world.nodes[node], Node::Folder(Some(_))) {
            known.clear();
        }
        Listing { node, known, ..Listing::default() }
    }

    /// The next name in a folder.
    pub(crate) fn next_entry(&mut self, listing: &mut Listing) -> Result<Option<Vec<Bits>>, Stop> {
        self.spend()?;
        let number = listing.n_given;
        listing.n_given += 1;
        let known = |name: &[u8]| name.iter().map(|byte| Bits::known((*byte).into())).collect();
        match number {
            0 => return Ok(Some(known(b"."))),
            1 => return Ok(Some(known(b".."))),
            _ => {}
        }
        if let Some(name) = listing.known.get(number as usize - 2) {
            return Ok(Some(known(name)));
        }
        let Node::Folder(Some(stream)) = self.world.nodes[listing.node] else { return Ok(None) };
        let mut name: Vec<Bits> = Vec::new();
        while let Some(byte) = self.byte_of_stream(stream, listing.at)? {
            listing.at += 1;
            let ends = self.is_one_of(byte, b"\n/\0");
            if !ends && name.len() < LONGEST_ENTRY {
                name.push(byte);
            }
            if ends && !name.is_empty() {
                break;
            }
        }
        Ok((!name.is_empty()).then_some(name))
    }
}
