//! The texts a run takes from outside, and the calls that may fail, as inputs of a run.

use crate::inputs::{Input, Inputs};

/// A name from outside, by which an input is the same in every run that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

impl Name {
    pub fn of(bytes: &[u8]) -> Self {
        // FNV-1a: two names that meet share what they hold, which harms no run.
        let mixed = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        Self(bytes.iter().fold(0x811c_9dc5, mixed))
    }
}

/// Which file of a run. What it holds stays when the argument that names it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileId {
    /// The one this command-line argument names.
    Argument(u32),
    /// One that the program names itself.
    Named(Name),
    /// The n-th of those whose names the program makes as it runs.
    Composed(u32),
}

/// A text from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    Argument(u32),
    Stdin,
    File(FileId),
    Environment(Name),
    /// What the n-th connection or command gives.
    Connection(u32),
}

impl Stream {
    /// The input that says how long it is; arguments and variables end at a zero.
    pub fn length(self) -> Option<Input> {
        match self {
            Stream::Argument(_) | Stream::Environment(_) => None,
            Stream::Stdin => Some(Input::StdinLength),
            Stream::File(_) | Stream::Connection(_) => Some(Input::Length(self)),
        }
    }

    pub fn byte(self, byte: u32) -> Input {
        match self {
            Stream::Argument(index) => Input::Argument { index, byte },
            Stream::Stdin => Input::Stdin(byte),
            Stream::Environment(variable) => Input::Environment { variable, byte },
            Stream::File(_) | Stream::Connection(_) => Input::Byte { stream: self, byte },
        }
    }
}

/// What may go wrong in a call, though it seldom does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// No memory.
    Allocation,
    /// A file cannot be made or written to.
    Create,
    /// There is no descriptor, process, thread or connection to be had.
    Resource,
    Read,
    /// Fewer bytes are read than were asked for: so many.
    ShortRead,
    Write,
    ShortWrite,
    Close,
    /// What only succeeds or fails: `rename`, `mkdir`.
    Attempt,
    /// A time that has no date.
    Time,
    /// Which process goes on behind `fork`: 1 where there is no new one, 2 for the new one.
    Fork,
    /// A user, group, host or device that is not known.
    Lookup,
}

impl Failure {
    /// Whether programs expect it, so that every search tries it. The others are tried where a
    /// search asks for them by [`Input::Fails`].
    pub(crate) fn is_expected(self) -> bool {
        matches!(self, Failure::Create | Failure::Attempt | Failure::Lookup)
    }
}

impl Input {
    /// The text it belongs to, and which byte of it; `None` for the byte where it is the length.
    pub fn stream(self) -> Option<(Stream, Option<u32>)> {
        Some(match self {
            Input::Argument { index, byte } => (Stream::Argument(index), Some(byte)),
            Input::StdinLength => (Stream::Stdin, None),
            Input::Stdin(byte) => (Stream::Stdin, Some(byte)),
            Input::Environment { variable, byte } => (Stream::Environment(variable), Some(byte)),
            Input::IsSet(variable) => (Stream::Environment(variable), None),
            Input::Absent(file) | Input::IsFolder(file) => (Stream::File(file), None),
            Input::Length(stream) => (stream, None),
            Input::Byte { stream, byte } => (stream, Some(byte)),
            _ => return None,
        })
    }
}

impl Inputs {
    /// The texts that something is said about, in order.
    pub fn streams(&self) -> Vec<Stream> {
        let mut streams: Vec<Stream> =
            self.0.keys().filter_map(|input| input.stream().map(|(stream, _)| stream)).collect();
        streams.sort();
        streams.dedup();
        streams
    }

    /// What a text holds.
    pub fn bytes_of(&self, stream: Stream) -> Vec<u8> {
        match stream.length() {
            Some(length) => {
                (0..self.get(length) as u32).map(|at| self.get(stream.byte(at)) as u8).collect()
            }
            None => {
                let bytes = (0..).map(|at| self.get(stream.byte(at)) as u8);
                bytes.take_while(|byte| *byte != 0).collect()
            }
        }
    }

    /// Lets a text be this. A file exists from here on, and a variable is set.
    pub fn set_bytes(&mut self, stream: Stream, bytes: &[u8]) {
        let is_byte_of =
            |input: &Input| matches!(input.stream(), Some((found, Some(_))) if found == stream);
        self.0.retain(|input, _| !is_byte_of(input));
        for (at, byte) in (0..).zip(bytes) {
            self.set(stream.byte(at), u128::from(*byte));
        }
        if let Some(length) = stream.length() {
            self.set(length, bytes.len() as u128);
        }
        match stream {
            Stream::File(file) => drop(self.0.remove(&Input::Absent(file))),
            Stream::Environment(variable) => self.set(Input::IsSet(variable), 1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_what_was_set() {
        let file = Stream::File(FileId::Named(Name::of(b"list")));
        let variable = Stream::Environment(Name::of(b"HOME"));
        let mut inputs = Inputs::default();
        for stream in [Stream::Stdin, Stream::Argument(2), file, variable, Stream::Connection(0)] {
            inputs.set_bytes(stream, b"longer than the next");
            inputs.set_bytes(stream, b"short");
            assert_eq!(inputs.bytes_of(stream), b"short", "{stream:?}");
            assert!(inputs.streams().contains(&stream), "{stream:?}");
        }
        assert_eq!(inputs.streams().len(), 5);
        assert_eq!(inputs.get(Input::IsSet(Name::of(b"HOME"))), 1);
    }

    #[test]
    fn a_file_that_is_written_exists() {
        let id = FileId::Argument(1);
        let mut inputs = Inputs::default();
        inputs.set(Input::Absent(id), 1);
        inputs.set_bytes(Stream::File(id), b"a\0b");
        assert_eq!(inputs.get(Input::Absent(id)), 0);
        assert_eq!(inputs.bytes_of(Stream::File(id)), b"a\0b");
    }
}
