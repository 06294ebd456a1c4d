//! Text that is read byte by byte: a string in memory, or the one stream that standard input
//! and all files are.

use logic::words::WordOp;

use crate::exec::Machine;
use crate::inputs::Input;
use crate::value::Bits;
use crate::{Stop, Why};

/// What the streams of a run remember.
#[derive(Default)]
pub(crate) struct Streams {
    /// Bytes given back, the next one last.
    pub pushed: Vec<Bits>,
    /// A read found nothing any more.
    pub has_ended: bool,
    /// Where the file that was opened last begins.
    pub start: u32,
    length: Option<Bits>,
}

impl Streams {
    /// Whether the run depends on how long the stream is.
    pub fn was_asked(&self) -> bool {
        self.length.is_some() || self.has_ended
    }
}

/// A place in a text.
pub(crate) struct Reader {
    /// Where a string begins; the stream has no address.
    start: Option<u64>,
    /// Bytes taken so far.
    pub n_taken: u64,
    /// The text seems to end after so many bytes.
    pub limit: u64,
}

impl Reader {
    pub fn stream() -> Self {
        Self { start: None, n_taken: 0, limit: u64::MAX }
    }

    pub fn text(start: u64) -> Self {
        Self { start: Some(start), n_taken: 0, limit: u64::MAX }
    }

    pub fn is_text(&self) -> bool {
        self.start.is_some()
    }

    /// A reader so many bytes ahead, of a string alone.
    pub fn ahead(&self, by: u64) -> Self {
        Self { n_taken: self.n_taken + by, ..*self }
    }

    /// The address of the next byte of a string.
    pub fn address(&self) -> u64 {
        self.start.unwrap_or(0).wrapping_add(self.n_taken)
    }
}

impl Machine<'_> {
    /// The next byte, which stays. The zero that ends a string is a byte like any other.
    pub(crate) fn peek(&mut self, reader: &Reader) -> Result<Option<Bits>, Stop> {
        if reader.n_taken >= reader.limit {
            return Ok(None);
        }
        match reader.start {
            Some(_) => self.byte(reader.address()).map(Some),
            None => self.peek_stream(),
        }
    }

    pub(crate) fn advance(&mut self, reader: &mut Reader) -> Result<(), Stop> {
        self.spend()?;
        reader.n_taken += 1;
        if reader.start.is_none() {
            self.advance_stream();
        }
        Ok(())
    }

    /// Takes the next byte where it is one of these.
    pub(crate) fn accept(&mut self, reader: &mut Reader, set: &[u8]) -> Result<Option<u8>, Stop> {
        let Some(byte) = self.peek(reader)? else { return Ok(None) };
        if !self.is_one_of(byte, set) {
            return Ok(None);
        }
        self.advance(reader)?;
        Ok(Some(self.pinned(byte) as u8))
    }

    pub(crate) fn is_over(&mut self, reader: &Reader) -> Result<bool, Stop> {
        Ok(match self.peek(reader)? {
            None => true,
            Some(byte) => reader.is_text() && self.is_equal(byte, 0),
        })
    }

    pub(crate) fn skip_blanks(&mut self, reader: &mut Reader, why: Why) -> Result<(), Stop> {
        while let Some(byte) = self.peek(reader)? {
            if !self.is_one_of_set(byte, b" \t\n\r\x0b\x0c", why) {
                break;
            }
            self.advance(reader)?;
        }
        Ok(())
    }

    /// The next byte of the stream.
    pub(crate) fn read_byte(&mut self) -> Result<Option<Bits>, Stop> {
        self.spend()?;
        let byte = self.peek_stream()?;
        if byte.is_some() {
            self.advance_stream();
        }
        Ok(byte)
    }

    fn peek_stream(&mut self) -> Result<Option<Bits>, Stop> {
        if let Some(byte) = self.streams.pushed.last() {
            return Ok(Some(*byte));
        }
        if self.stream_is_over() {
            self.streams.has_ended = true;
            return Ok(None);
        }
        let at = self.inputs.stdin_at;
        if let Some(stdin) = &self.inputs.stdin {
            let byte = stdin.get(at as usize).copied().unwrap_or(0);
            return Ok(Some(Bits::known(byte.into())));
        }
        Ok(Some(self.take_input(Input::Stdin(at), 8)))
    }

    fn advance_stream(&mut self) {
        if self.streams.pushed.pop().is_none() {
            self.inputs.stdin_at += 1;
        }
    }

    fn stream_is_over(&mut self) -> bool {
        let at = self.inputs.stdin_at;
        let length = self.stream_length();
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

    /// How many bytes the stream has.
    pub(crate) fn stream_length(&mut self) -> Bits {
        if let Some(stdin) = &self.inputs.stdin {
            return Bits::known(stdin.len() as u128);
        }
        if let Some(length) = self.streams.length {
            return length;
        }
        let limit = self.inputs.stdin_limit;
        let length = self.take_limited(Input::StdinLength, 32, limit);
        self.streams.length = Some(length);
        length
    }
}
