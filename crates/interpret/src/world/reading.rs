//! Bytes that are read, one after the other.

use logic::words::WordOp;

use super::{Handle, Node};
use crate::exec::Machine;
use crate::inputs::Input;
use crate::streams::Stream;
use crate::value::Bits;
use crate::{Stop, Why};

impl Machine<'_> {
    /// The next byte, which stays.
    pub(crate) fn peek_handle(&mut self, handle: Handle) -> Result<Option<Bits>, Stop> {
        if let Some(byte) = self.buffered(handle).and_then(|file| file.pushed.last()) {
            return Ok(Some(*byte));
        }
        let Some(open) = self.world.open.get(handle.description).filter(|open| open.can_read)
        else {
            self.mark_failed(handle)?;
            return Ok(None);
        };
        let (node, at) = (open.node, open.at);
        let byte = self.byte_at(node, at)?;
        if byte.is_none()
            && let Some(file) = self.buffered(handle)
        {
            file.has_ended = true;
        }
        Ok(byte)
    }

    pub(crate) fn advance_handle(&mut self, handle: Handle) {
        if let Some(file) = self.buffered(handle)
            && file.pushed.pop().is_some()
        {
            return;
        }
        if let Some(open) = self.description(handle) {
            open.at += 1;
        }
    }

    /// The next byte.
    pub(crate) fn read_byte(&mut self, handle: Handle) -> Result<Option<Bits>, Stop> {
        self.spend()?;
        let byte = self.peek_handle(handle)?;
        if byte.is_some() {
            self.advance_handle(handle);
        }
        Ok(byte)
    }

    /// Up to so many bytes go to memory. How many there were.
    pub(crate) fn read_to(&mut self, handle: Handle, to: u64, limit: u64) -> Result<u64, Stop> {
        let mut n_read = 0;
        while n_read < limit {
            let Some(byte) = self.read_byte(handle)? else { break };
            self.memory.store(to.wrapping_add(n_read), 1, byte)?;
            n_read += 1;
        }
        Ok(n_read)
    }

    /// A byte of something that is open; `None` behind its end.
    pub(crate) fn byte_at(&mut self, node: usize, at: u64) -> Result<Option<Bits>, Stop> {
        match &self.world.nodes[node] {
            Node::Given { stream, .. } => {
                let stream = *stream;
                self.world.has_read |= stream == Stream::Stdin;
                if self.is_behind(node, at) {
                    return Ok(None);
                }
                Ok(Some(self.take_input(stream.byte(at as u32), 8)))
            }
            Node::Held(bytes) => {
                self.world.has_read |= node == 0;
                Ok(usize::try_from(at).ok().and_then(|at| bytes.get(at)).copied())
            }
            Node::Endless { is_random: true } => {
                let input = self.next_outside()?;
                Ok(Some(self.take_limited(input, 8, 255)))
            }
            Node::Endless { .. } => Ok(Some(Bits::known(0))),
            Node::Folder(_) | Node::Output | Node::Nothing => Ok(None),
        }
    }

    fn is_behind(&mut self, node: usize, at: u64) -> bool {
        let length = self.length_of(node);
        let is_over = u128::from(at) >= length.bits;
        if let Some(word) = length.word {
            let words = &mut self.memory.words;
            let at = words.constant(32, at.into());
            let over = words.binary(WordOp::UnsignedLe, word, at);
            let held = if is_over { over } else { words.not(over) };
            self.holds(held, Why::Branch);
        }
        is_over
    }

    /// How many bytes there are, in 32 bits.
    pub(crate) fn length_of(&mut self, node: usize) -> Bits {
        match &self.world.nodes[node] {
            Node::Given { length: Some(length), .. } => *length,
            Node::Given { stream, length: None } => {
                let stream = *stream;
                let known = self.length_of_stream(stream);
                self.world.nodes[node] = Node::Given { stream, length: Some(known) };
                known
            }
            Node::Held(bytes) => Bits::known(bytes.len() as u128),
            Node::Folder(_) => Bits::known(4096),
            Node::Output | Node::Nothing | Node::Endless { .. } => Bits::known(0),
        }
    }

    fn length_of_stream(&mut self, stream: Stream) -> Bits {
        let limit = self.inputs.stdin_limit;
        let input = stream.length().unwrap_or(Input::StdinLength);
        self.take_limited(input, 32, limit)
    }

    /// A byte of a text from outside that is not open.
    pub(crate) fn byte_of_stream(&mut self, stream: Stream, at: u64) -> Result<Option<Bits>, Stop> {
        let length = self.length_of_stream(stream);
        let is_over = u128::from(at) >= length.bits;
        if let Some(word) = length.word {
            let words = &mut self.memory.words;
            let at = words.constant(32, at.into());
            let over = words.binary(WordOp::UnsignedLe, word, at);
            let held = if is_over { over } else { words.not(over) };
            self.holds(held, Why::Branch);
        }
        Ok((!is_over).then(|| self.take_input(stream.byte(at as u32), 8)))
    }
}
