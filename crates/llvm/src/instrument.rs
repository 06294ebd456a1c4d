//! Instrumented bitcode for value replacement, and the tables that say what was hooked.
//!
//! A *site* is where a statement's computed value takes effect (a store, an argument, a
//! condition, an index); its *leaves* are the values the statement uses. A *segment* is a
//! stretch of code that runs as a whole, for coverage.

use std::ffi::c_void;

/// Why a value matters where it is hooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SiteKind {
    Assign,
    /// Of a call; the number counts from 0.
    Argument(u8),
    Return,
    Branch,
    Switch,
    Index,
    /// An arm of `?:`.
    Operand,
}

/// How to read the 64 bits a site reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueType {
    pub bits: u8,
    pub is_unsigned: bool,
    pub is_float: bool,
    pub is_character: bool,
    pub is_boolean: bool,
    /// False for numbers made from addresses.
    pub is_replaceable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A value the statement uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    pub ty: ValueType,
    pub at: Position,
    /// The variable or the called function; empty for anything else.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub kind: SiteKind,
    pub ty: ValueType,
    pub at: Position,
    pub function: String,
    /// The variable assigned to or the function called; empty for anything else.
    pub name: String,
    /// What sites share that hold values for the same purpose: the place assigned to, the
    /// function returned from, the parameter. Empty where that is not known.
    pub group: String,
    /// Whether the value is a constant of the source.
    pub is_constant: bool,
    /// Whether the value arises here: from an operator or a constant. A value that is only
    /// copied, converted or tested against zero was computed elsewhere.
    pub is_origin: bool,
    /// Whether something is computed between the leaves and the site's value. If not, the
    /// only leaf is the value itself.
    pub is_computed: bool,
    pub leaves: Vec<Leaf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub function: String,
    /// With repetitions, in the order of execution.
    pub positions: Vec<Position>,
}

/// One unit, hooked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    pub bitcode: Vec<u8>,
    /// The first has the number asked for, and so on.
    pub sites: Vec<Site>,
    pub segments: Vec<Segment>,
    /// Functions the unit defines.
    pub defined: Vec<String>,
    /// Functions it calls or names and does not define.
    pub needed: Vec<String>,
}

#[repr(C)]
struct RawInstrumented {
    data: *const u8,
    length: usize,
    owner: *mut c_void,
    failed: bool,
}

unsafe extern "C" {
    fn ff_instrument(
        bitcode: *const u8,
        length: usize,
        first_site: u32,
        first_segment: u32,
    ) -> RawInstrumented;
    fn ff_instrument_release(owner: *mut c_void);
}

/// Hooks every value site of a unit compiled at `-O0 -g`. Sites and segments are numbered
/// from the given ones on, so that the units of a program share one numbering.
pub fn instrument(
    bitcode: &[u8],
    first_site: u32,
    first_segment: u32,
) -> Result<Instrumented, String> {
    // SAFETY: the shim reads `length` bytes during the call and keeps no pointer to them.
    let raw = unsafe { ff_instrument(bitcode.as_ptr(), bitcode.len(), first_site, first_segment) };
    // SAFETY: the shim returns `length` initialised bytes that live until the release; the
    // pointer is that of a C++ string and never null.
    let bytes = unsafe { std::slice::from_raw_parts(raw.data, raw.length) }.to_vec();
    // SAFETY: `owner` came from this call, is released once, and `data` is not used after.
    unsafe { ff_instrument_release(raw.owner) };
    if raw.failed {
        return Err(String::from_utf8_lossy(&bytes).into_owned());
    }
    parse(&bytes).ok_or_else(|| "the instrumentation's table is cut short".to_string())
}

fn parse(bytes: &[u8]) -> Option<Instrumented> {
    let mut reader = Reader { bytes };
    let table_length = reader.u32()? as usize;
    let mut table = Reader { bytes: reader.take(table_length)? };
    let n_strings = table.u32()?;
    let strings: Vec<String> = (0..n_strings).map(|_| table.string()).collect::<Option<_>>()?;
    let n_sites = table.u32()?;
    let sites = (0..n_sites).map(|_| table.site(&strings)).collect::<Option<_>>()?;
    let n_segments = table.u32()?;
    let segments = (0..n_segments).map(|_| table.segment(&strings)).collect::<Option<_>>()?;
    let (mut defined, mut needed) = (Vec::new(), Vec::new());
    for _ in 0..table.u32()? {
        let name = table.name(&strings)?;
        if table.u8()? == 1 { defined.push(name) } else { needed.push(name) }
    }
    Some(Instrumented { bitcode: reader.bytes.to_vec(), sites, segments, defined, needed })
}

/// Reads what `Table` in shim/instrument_table.cpp wrote.
pub(crate) struct Reader<'a> {
    pub bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn u8(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn string(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    pub fn name(&mut self, strings: &[String]) -> Option<String> {
        strings.get(self.u32()? as usize).cloned()
    }

    pub fn position(&mut self, strings: &[String]) -> Option<Position> {
        Some(Position { file: self.name(strings)?, line: self.u32()?, column: self.u32()? })
    }

    fn value_type(&mut self) -> Option<ValueType> {
        let bits = self.u8()?;
        let flags = self.u8()?;
        Some(ValueType {
            bits,
            is_unsigned: flags & 1 != 0,
            is_float: flags & 2 != 0,
            is_character: flags & 4 != 0,
            is_boolean: flags & 8 != 0,
            is_replaceable: flags & 16 == 0,
        })
    }

    fn site(&mut self, strings: &[String]) -> Option<Site> {
        let kind = self.u8()?;
        let ty = self.value_type()?;
        let operand = self.u8()?;
        let kind = match kind {
            0 => SiteKind::Assign,
            1 => SiteKind::Argument(operand),
            2 => SiteKind::Return,
            3 => SiteKind::Branch,
            4 => SiteKind::Switch,
            5 => SiteKind::Index,
            6 => SiteKind::Operand,
            _ => return None,
        };
        let at = self.position(strings)?;
        let function = self.name(strings)?;
        let name = self.name(strings)?;
        let group = self.name(strings)?;
        let bits = self.u8()?;
        let (is_computed, is_constant) = (bits & 1 != 0, bits & 2 != 0);
        let is_origin = bits & 4 != 0;
        let n_leaves = self.u8()?;
        let leaves = (0..n_leaves)
            .map(|_| {
                Some(Leaf {
                    ty: self.value_type()?,
                    at: self.position(strings)?,
                    name: self.name(strings)?,
                })
            })
            .collect::<Option<_>>()?;
        Some(Site {
            kind,
            ty,
            at,
            function,
            name,
            group,
            is_constant,
            is_origin,
            is_computed,
            leaves,
        })
    }

    fn segment(&mut self, strings: &[String]) -> Option<Segment> {
        let function = self.name(strings)?;
        let n_positions = self.u32()?;
        let positions = (0..n_positions).map(|_| self.position(strings)).collect::<Option<_>>()?;
        Some(Segment { function, positions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_bitcode_are_an_error() {
        assert!(instrument(b"int main(void) { return 0; }", 0, 0).is_err());
        assert!(instrument(b"", 0, 0).is_err());
    }
}
