//! The lines of the preprocessor's output that are not C: markers, definitions, pragmas.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One line of the preprocessor's output.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Marker(Marker),
    /// What follows `#define `.
    Define(&'a [u8]),
    /// What follows `#undef `.
    Undefine(&'a [u8]),
    /// A directive the compiler is to see, such as `#pragma pack`.
    Directive,
    Blank,
    Code,
}

/// `# 12 "file" flags`: the next line is line 12 of `file`.
#[derive(Debug, PartialEq, Eq)]
pub struct Marker {
    pub line: u32,
    pub path: PathBuf,
    pub moves: Move,
    pub is_system: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Enters,
    Returns,
    Stays,
}

pub fn classify(line: &[u8]) -> Line<'_> {
    let Some(rest) = line.strip_prefix(b"#") else {
        let is_blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        return if is_blank { Line::Blank } else { Line::Code };
    };
    if let Some(marker) = rest.strip_prefix(b" ").and_then(parse_marker) {
        Line::Marker(marker)
    } else if let Some(definition) = rest.strip_prefix(b"define ") {
        Line::Define(definition)
    } else if let Some(name) = rest.strip_prefix(b"undef ") {
        Line::Undefine(name)
    } else {
        Line::Directive
    }
}

fn parse_marker(rest: &[u8]) -> Option<Marker> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let line = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let rest = &rest[digits..];
    let path = quoted_path(rest)?;
    let after = memchr::memrchr(b'"', rest).map_or(rest.len(), |quote| quote + 1);
    let mut moves = Move::Stays;
    let mut is_system = false;
    for flag in rest[after..].split(|byte| *byte == b' ') {
        match flag {
            b"1" => moves = Move::Enters,
            b"2" => moves = Move::Returns,
            b"3" => is_system = true,
            _ => {}
        }
    }
    Some(Marker { line, path, moves, is_system })
}

/// The path in quotes that `text` begins with, escapes undone.
pub fn quoted_path(text: &[u8]) -> Option<PathBuf> {
    let mut bytes = text.trim_ascii_start().strip_prefix(b"\"")?.iter().copied();
    let mut path = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return Some(PathBuf::from(OsString::from_vec(path))),
            b'\\' => match bytes.next()? {
                b'n' => path.push(b'\n'),
                byte => path.push(byte),
            },
            b'\n' => return None,
            byte => path.push(byte),
        }
    }
}
