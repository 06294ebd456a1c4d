//! Text that is read byte by byte: a string in memory, or an open file.

use crate::exec::Machine;
use crate::value::Bits;
use crate::world::Handle;
use crate::{Stop, Why};

/// A place in a text.
pub(crate) struct Reader {
    source: Source,
    /// Bytes taken so far.
    pub n_taken: u64,
    /// The text seems to end after so many bytes.
    pub limit: u64,
}

#[derive(Clone, Copy)]
enum Source {
    /// Where a string begins.
    Text(u64),
    Stream(Handle),
}

impl Reader {
    pub fn stream(handle: Handle) -> Self {
        Self { source: Source::Stream(handle), n_taken: 0, limit: u64::MAX }
    }

    pub fn text(start: u64) -> Self {
        Self { source: Source::Text(start), n_taken: 0, limit: u64::MAX }
    }

    pub fn is_text(&self) -> bool {
        matches!(self.source, Source::Text(_))
    }

    /// A reader so many bytes ahead, of a string alone.
    pub fn ahead(&self, by: u64) -> Self {
        Self { n_taken: self.n_taken + by, ..*self }
    }

    /// The address of the next byte of a string.
    pub fn address(&self) -> u64 {
        match self.source {
            Source::Text(start) => start.wrapping_add(self.n_taken),
            Source::Stream(_) => 0,
        }
    }
}

impl Machine<'_> {
    /// The next byte, which stays. The zero that ends a string is a byte like any other.
    pub(crate) fn peek(&mut self, reader: &Reader) -> Result<Option<Bits>, Stop> {
        if reader.n_taken >= reader.limit {
            return Ok(None);
        }
        match reader.source {
            Source::Text(_) => self.byte(reader.address()).map(Some),
            Source::Stream(handle) => self.peek_handle(handle),
        }
    }

    pub(crate) fn advance(&mut self, reader: &mut Reader) -> Result<(), Stop> {
        self.spend()?;
        reader.n_taken += 1;
        if let Source::Stream(handle) = reader.source {
            self.advance_handle(handle);
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
}
