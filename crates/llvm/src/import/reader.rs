//! Reads the shim's byte stream. Every step can fail and none can panic: a stream that
//! is cut or garbled is an error of one unit.

/// The stream does not follow its own grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt(pub &'static str);

pub type Read<T> = Result<T, Corrupt>;

pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.rest.split_first().ok_or(Corrupt("the stream ends early"))?;
        self.rest = rest;
        Ok(*first)
    }

    pub fn flag(&mut self) -> Read<bool> {
        Ok(self.byte()? != 0)
    }

    pub fn number(&mut self) -> Read<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Corrupt("a number is too long"))
    }

    pub fn small(&mut self) -> Read<u32> {
        u32::try_from(self.number()?).map_err(|_| Corrupt("a number is too large"))
    }

    pub fn signed(&mut self) -> Read<i64> {
        let zigzag = self.number()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// How many records follow. Each takes at least one byte, so a count beyond the rest
    /// of the stream is an error before anything is allocated for it.
    pub fn count(&mut self) -> Read<usize> {
        let count = self.number()?;
        if count > self.rest.len() as u64 {
            return Err(Corrupt("more records announced than the stream holds"));
        }
        Ok(count as usize)
    }

    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.count()?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(text)
    }

    pub fn text(&mut self) -> Read<Box<str>> {
        Ok(String::from_utf8_lossy(self.bytes()?).into())
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }
}
