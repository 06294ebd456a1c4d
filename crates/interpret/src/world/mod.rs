//! The world outside a run: files by their names, what is open, and where each open file is.
//!
//! What a file holds from before the run is an input; once the run writes to it, it is kept in
//! memory, and what was written can be read again.

mod names;
mod reading;
mod writing;

use std::collections::BTreeMap;

use crate::exec::Machine;
use crate::inputs::Input;
use crate::streams::{Failure, FileId, Stream};
use crate::value::Bits;
use crate::{FaultKind, Stop};

pub(crate) use names::{FileName, LONGEST_NAME, Listing, flags};

/// Numbers `errno` may have.
pub(crate) mod errno {
    pub const ENOENT: u32 = 2;
    pub const EIO: u32 = 5;
    pub const EBADF: u32 = 9;
    pub const ECHILD: u32 = 10;
    pub const EAGAIN: u32 = 11;
    pub const ENOMEM: u32 = 12;
    pub const EACCES: u32 = 13;
    pub const EEXIST: u32 = 17;
    pub const ENOTDIR: u32 = 20;
    pub const EISDIR: u32 = 21;
    pub const ENOTTY: u32 = 25;
    pub const ESPIPE: u32 = 29;
}

/// Bytes of a `FILE`.
pub(crate) const FILE_BYTES: u64 = 216;

/// Something that can be open.
pub(crate) enum Node {
    /// A text from outside that the run has not changed.
    Given {
        stream: Stream,
        length: Option<Bits>,
    },
    /// What a file holds.
    Held(Vec<Bits>),
    /// The names in it are the lines of a text from outside; `None` for a folder the run made.
    Folder(Option<Stream>),
    Output,
    /// What is written goes nowhere that counts, and there is nothing to read.
    Nothing,
    /// Any number of bytes: zeros, or unknown ones.
    Endless {
        is_random: bool,
    },
}

/// An open file: descriptors that were duplicated share one.
pub(crate) struct Description {
    pub node: usize,
    pub at: u64,
    pub can_read: bool,
    pub can_write: bool,
    pub appends: bool,
    /// What is written is not what is read: connections.
    pub is_two_way: bool,
    /// It has no position: pipes, connections, terminals.
    pub is_pipe: bool,
    /// What it was opened as.
    pub name: Vec<u8>,
}

/// A `FILE`.
#[derive(Default)]
pub(crate) struct Buffered {
    pub descriptor: u32,
    /// Bytes given back, the next one last.
    pub pushed: Vec<Bits>,
    pub has_ended: bool,
    pub has_failed: bool,
    pub is_command: bool,
    /// Where the address and size of what is written go, for `open_memstream`.
    pub told_at: Option<(u64, u64)>,
}

/// What is read from or written to: an open file, and the `FILE` around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle {
    pub description: usize,
    pub file: Option<u64>,
}

/// A file of before the run that the run looked for.
#[derive(Clone, Debug)]
pub(crate) struct SeenFile {
    pub name: Vec<u8>,
    pub id: FileId,
    pub exists: bool,
    pub node: usize,
}

pub(crate) struct World {
    pub nodes: Vec<Node>,
    /// By name, `None` where no file has it.
    pub names: BTreeMap<Vec<u8>, Option<usize>>,
    pub open: Vec<Description>,
    pub table: BTreeMap<u32, usize>,
    /// By address; those of the standard streams by their descriptors.
    pub files: BTreeMap<u64, Buffered>,
    /// The addresses of the standard streams.
    pub standard: [u64; 3],
    pub seen: Vec<SeenFile>,
    pub n_composed: u32,
    pub n_connections: u32,
    pub n_temporary: u32,
    /// Where relative names begin, as far as the run moved.
    pub folder: Vec<u8>,
    /// Standard input was read, if only to its end.
    pub has_read: bool,
    /// Which descriptors are terminals, where that was asked.
    pub terminals: BTreeMap<u32, bool>,
    /// What is left to read of a folder, by the `DIR`.
    pub folders: BTreeMap<u64, Listing>,
}

/// The most descriptors a process may have.
const MAX_DESCRIPTORS: u32 = 1024;

impl Default for World {
    fn default() -> Self {
        let stdin = Node::Given { stream: Stream::Stdin, length: None };
        let open = |node, is_read, is_pipe| Description {
            node,
            at: 0,
            can_read: is_read,
            can_write: !is_read,
            appends: false,
            is_two_way: false,
            is_pipe,
            name: Vec::new(),
        };
        let files = (0..3).map(|descriptor| {
            let key = u64::from(descriptor);
            (key, Buffered { descriptor, ..Buffered::default() })
        });
        Self {
            nodes: vec![stdin, Node::Output, Node::Nothing],
            names: BTreeMap::new(),
            open: vec![open(0, true, false), open(1, false, true), open(2, false, true)],
            table: (0..3).map(|number| (number, number as usize)).collect(),
            files: files.collect(),
            standard: [0; 3],
            seen: Vec::new(),
            n_composed: 0,
            n_connections: 0,
            n_temporary: 0,
            folder: Vec::new(),
            has_read: false,
            terminals: BTreeMap::new(),
            folders: BTreeMap::new(),
        }
    }
}

impl World {
    pub fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The lowest descriptor from one on that is free.
    pub fn free_descriptor(&self, from: u32) -> Option<u32> {
        (from..MAX_DESCRIPTORS).find(|number| !self.table.contains_key(number))
    }

    /// A new descriptor; `None` where all are taken.
    pub fn describe(&mut self, description: Description) -> Option<u32> {
        let number = self.free_descriptor(0)?;
        self.open.push(description);
        self.table.insert(number, self.open.len() - 1);
        Some(number)
    }

    /// The next text from outside that has no name.
    pub fn connection(&mut self) -> Node {
        let stream = Stream::Connection(self.n_connections);
        self.n_connections += 1;
        Node::Given { stream, length: None }
    }

    fn key(&self, file: u64) -> u64 {
        let standard = self.standard.iter().position(|at| *at == file && file != 0);
        standard.map_or(file, |number| number as u64)
    }
}

impl Machine<'_> {
    /// An open `FILE`, by its address.
    pub(crate) fn file_at(&mut self, address: u64) -> Result<Handle, Stop> {
        if address == 0 {
            return Err(Stop::Fault(FaultKind::Null));
        }
        self.keyed_file(self.world.key(address))
    }

    /// Standard input, output or error, by number.
    pub(crate) fn standard(&mut self, number: u64) -> Result<Handle, Stop> {
        self.keyed_file(number)
    }

    fn keyed_file(&mut self, key: u64) -> Result<Handle, Stop> {
        if !self.world.files.contains_key(&key) {
            self.adopt_stream(key);
        }
        let Some(file) = self.world.files.get(&key) else {
            // A stream that was closed, or memory that never was one.
            self.memory.load_set(key, 1)?;
            return Err(Stop::Unsupported("a stream of unknown origin".to_owned()));
        };
        let description = self.world.table.get(&file.descriptor).copied();
        Ok(Handle { description: description.unwrap_or(usize::MAX), file: Some(key) })
    }

    /// An open file, by its descriptor.
    pub(crate) fn descriptor(&self, number: u64) -> Option<Handle> {
        let description = self.world.table.get(&u32::try_from(number).ok()?)?;
        Some(Handle { description: *description, file: None })
    }

    pub(crate) fn buffered(&mut self, handle: Handle) -> Option<&mut Buffered> {
        self.world.files.get_mut(&handle.file?)
    }

    pub(crate) fn description(&mut self, handle: Handle) -> Option<&mut Description> {
        self.world.open.get_mut(handle.description)
    }

    /// A new `FILE` around a descriptor.
    pub(crate) fn new_file(&mut self, descriptor: u32) -> Result<u64, Stop> {
        let address = self.memory.allocate(FILE_BYTES, false)?;
        self.memory.fill(address, FILE_BYTES, Bits::known(0))?;
        self.world.files.insert(address, Buffered { descriptor, ..Buffered::default() });
        Ok(address)
    }

    /// Closes a `FILE` and what is below it.
    pub(crate) fn close_file(&mut self, address: u64) -> Result<(), Stop> {
        let handle = self.file_at(address)?;
        self.tell_memory(handle)?;
        let key = self.world.key(address);
        if let Some(file) = self.world.files.remove(&key) {
            self.world.table.remove(&file.descriptor);
        }
        self.memory.end(address);
        Ok(())
    }

    /// Whether this call fails where it may. Searches try what programs expect; the rest where
    /// they are asked to.
    pub(crate) fn fails(&mut self, what: Failure) -> bool {
        self.shortfall(what) != 0
    }

    /// As [`fails`](Self::fails), with the input's value.
    pub(crate) fn shortfall(&mut self, what: Failure) -> u32 {
        let always_succeeds = what == Failure::Allocation && self.inputs.allocations_succeed;
        if self.inputs.stdin.is_some() || always_succeeds {
            return 0;
        }
        let count = self.inputs.n_failures.entry(what).or_default();
        let input = Input::Fails { what, nth: *count };
        *count += 1;
        let called = self.inputs.called;
        let at = self.at;
        self.inputs.failures.extend(called.map(|function| (input, function, at)));
        match what.is_expected() {
            true => u32::from(self.is_possible(input)),
            false => self.inputs.values.get(input) as u32,
        }
    }
}
