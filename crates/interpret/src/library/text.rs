//! Strings that functions of the library are given: read byte by byte up to their zero, and not
//! past the member array that the call names.

use super::Given;
use crate::exec::Machine;
use crate::memory::Reach;
use crate::value::Bits;
use crate::{FaultKind, Stop};

/// A string, and the array it lies in where the call names a member.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub at: u64,
    pub within: Option<Reach>,
}

impl From<u64> for Text {
    fn from(at: u64) -> Self {
        Self { at, within: None }
    }
}

impl Machine<'_> {
    /// An argument that is a string.
    pub(crate) fn text(&mut self, given: &Given, index: usize) -> Result<Text, Stop> {
        Ok(Text { at: self.place(given, index)?, within: given.member(index) })
    }

    pub(crate) fn byte_of(&mut self, text: Text, offset: u64) -> Result<Bits, Stop> {
        let at = text.at.wrapping_add(offset);
        if text.within.is_some_and(|array| array.is_left(at, 1)) {
            if !self.memory.goes_on() {
                return Err(Stop::Fault(FaultKind::OutOfBounds));
            }
            if !self.memory.leaves_array(at, 1, false) {
                return Ok(Bits::known(0));
            }
        }
        self.byte(at)
    }

    pub(crate) fn length(&mut self, text: impl Into<Text>, limit: u64) -> Result<u64, Stop> {
        let text = text.into();
        let mut length = 0;
        while length < limit {
            self.spend()?;
            let byte = self.byte_of(text, length)?;
            if self.is_equal(byte, 0) {
                break;
            }
            length += 1;
        }
        Ok(length)
    }

    /// The bytes of a string, up to a precision.
    pub(crate) fn text_at(
        &mut self,
        text: impl Into<Text>,
        limit: Option<usize>,
    ) -> Result<Vec<Bits>, Stop> {
        let text = text.into();
        let mut bytes = Vec::new();
        while limit.is_none_or(|limit| bytes.len() < limit) {
            self.spend()?;
            let byte = self.byte_of(text, bytes.len() as u64)?;
            if self.is_equal(byte, 0) {
                break;
            }
            bytes.push(byte);
        }
        Ok(bytes)
    }

    /// The argument is a string; nobody wants to know which.
    pub(crate) fn check_text(&mut self, given: &Given, index: usize) -> Result<(), Stop> {
        let text = self.text(given, index)?;
        self.length(text, u64::MAX)?;
        Ok(())
    }
}
