//! Instrumented bitcode for execution suppression, and the tables that say what is where.
//!
//! Every value has a label beside it. A *definition* is an event with a site of its own: an
//! assignment of something computed, a store through an address, a call of something
//! outside. Definitions are numbered as they happen, the same in both kinds of code.

use std::ffi::{CString, c_char, c_void};

use crate::instrument::{Position, Reader};

/// What happens at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SiteKind {
    /// A variable known by name is assigned.
    Assign,
    /// A store through an address that is computed.
    Store,
    Argument,
    Return,
    /// A call; the name is the function's.
    Call,
    /// A read through an address that is computed.
    Load,
    /// The end of a function, where its return address is looked at.
    Leave,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub kind: SiteKind,
    pub at: Position,
    pub function: String,
    /// What is assigned, read or called, as far as that can be told.
    pub name: String,
}

/// A local variable that lives in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub size: u32,
    pub align: u32,
    pub is_buffer: bool,
    /// A pointer, or a number that may index.
    pub is_address: bool,
}

/// Variables of a function in the order of declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub variables: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// As the linker knows it.
    pub name: String,
    pub is_buffer: bool,
    pub is_address: bool,
    pub is_static: bool,
}

/// One unit, instrumented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressible {
    pub bitcode: Vec<u8>,
    pub sites: Vec<Site>,
    pub frames: Vec<Frame>,
    pub globals: Vec<Global>,
}

/// What the units of a program share.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// Labels say which event defined a value, not only whether it is corrupt.
    pub is_tracking: bool,
    /// The program starts threads: accesses to memory they may share are counted, too.
    pub is_threaded: bool,
    pub first_site: u32,
    pub first_frame: u32,
    /// Functions that some unit of the program defines.
    pub defined: &'a [String],
    /// Library functions the runtime stands in for.
    pub modelled: &'a [&'a str],
}

#[repr(C)]
struct Raw {
    data: *const u8,
    length: usize,
    owner: *mut c_void,
    failed: bool,
}

unsafe extern "C" {
    fn ff_suppress(
        bitcode: *const u8,
        length: usize,
        is_tracking: bool,
        is_threaded: bool,
        first_site: u32,
        first_frame: u32,
        defined: *const c_char,
        modelled: *const c_char,
    ) -> Raw;
    fn ff_defined(bitcode: *const u8, length: usize) -> Raw;
    fn ff_suppress_release(owner: *mut c_void);
}

/// Copies what the shim made and gives it back.
fn taken(raw: Raw) -> Result<Vec<u8>, String> {
    // SAFETY: the shim returns `length` initialised bytes that live until the release; the
    // pointer is that of a C++ string and never null.
    let bytes = unsafe { std::slice::from_raw_parts(raw.data, raw.length) }.to_vec();
    // SAFETY: `owner` came from the shim, is released once, and `data` is not used after.
    unsafe { ff_suppress_release(raw.owner) };
    if raw.failed { Err(String::from_utf8_lossy(&bytes).into_owned()) } else { Ok(bytes) }
}

fn lines<'a>(names: impl Iterator<Item = &'a str>) -> CString {
    let text: String = names.flat_map(|name| [name, "\n"]).collect();
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// What is to be known of a unit before any is instrumented.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The functions it defines, static ones included.
    pub defined: Vec<String>,
    pub starts_threads: bool,
}

/// The functions a unit defines, and whether it starts threads.
pub fn defined(bitcode: &[u8]) -> Result<Names, String> {
    // SAFETY: the shim reads `length` bytes during the call and keeps no pointer to them.
    let bytes = taken(unsafe { ff_defined(bitcode.as_ptr(), bitcode.len()) })?;
    let text = String::from_utf8_lossy(&bytes);
    let (starts, defined): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|name| name.starts_with('+'));
    let defined = defined.into_iter().map(str::to_string).collect();
    Ok(Names { defined, starts_threads: !starts.is_empty() })
}

/// Instruments a unit compiled at `-O0 -g`.
pub fn suppress(bitcode: &[u8], options: &Options<'_>) -> Result<Suppressible, String> {
    let defined = lines(options.defined.iter().map(String::as_str));
    let modelled = lines(options.modelled.iter().copied());
    // SAFETY: the shim reads `length` bytes and two strings that end in zeros, all of which
    // live until the call returns, and keeps no pointer to them.
    let raw = unsafe {
        ff_suppress(
            bitcode.as_ptr(),
            bitcode.len(),
            options.is_tracking,
            options.is_threaded,
            options.first_site,
            options.first_frame,
            defined.as_ptr(),
            modelled.as_ptr(),
        )
    };
    parse(&taken(raw)?).ok_or_else(|| "the instrumentation's table is cut short".to_string())
}

fn parse(bytes: &[u8]) -> Option<Suppressible> {
    let mut reader = Reader { bytes };
    let length = reader.u32()? as usize;
    let mut table = Reader { bytes: reader.take(length)? };
    let strings: Vec<String> = (0..table.u32()?).map(|_| table.string()).collect::<Option<_>>()?;
    let sites = (0..table.u32()?).map(|_| site(&mut table, &strings)).collect::<Option<_>>()?;
    let frames = (0..table.u32()?).map(|_| frame(&mut table, &strings)).collect::<Option<_>>()?;
    let globals = (0..table.u32()?).map(|_| global(&mut table, &strings)).collect::<Option<_>>()?;
    Some(Suppressible { bitcode: reader.bytes.to_vec(), sites, frames, globals })
}

fn site(table: &mut Reader<'_>, strings: &[String]) -> Option<Site> {
    let kind = match table.u8()? {
        0 => SiteKind::Assign,
        1 => SiteKind::Store,
        2 => SiteKind::Argument,
        3 => SiteKind::Return,
        4 => SiteKind::Call,
        5 => SiteKind::Load,
        6 => SiteKind::Leave,
        _ => return None,
    };
    let at = table.position(strings)?;
    Some(Site { kind, at, function: table.name(strings)?, name: table.name(strings)? })
}

fn frame(table: &mut Reader<'_>, strings: &[String]) -> Option<Frame> {
    let function = table.name(strings)?;
    let n_variables = table.u32()?;
    let mut variables = Vec::new();
    for _ in 0..n_variables {
        let name = table.name(strings)?;
        let (size, align, flags) = (table.u32()?, table.u32()?, table.u8()?);
        let (is_buffer, is_address) = (flags & 1 != 0, flags & 2 != 0);
        variables.push(Variable { name, size, align, is_buffer, is_address });
    }
    Some(Frame { function, variables })
}

fn global(table: &mut Reader<'_>, strings: &[String]) -> Option<Global> {
    let name = table.name(strings)?;
    let (flags, is_static) = (table.u8()?, table.u8()? != 0);
    Some(Global { name, is_buffer: flags & 1 != 0, is_address: flags & 2 != 0, is_static })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_bitcode_are_an_error() {
        assert!(suppress(b"int main(void) { return 0; }", &Options::default()).is_err());
        assert!(defined(b"").is_err());
    }
}
