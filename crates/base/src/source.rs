//! Where a piece of code stands in the user's files, and which macro wrote it.
//!
//! Units are compiled from preprocessed text without line markers, so that every
//! token has a position of its own, macro bodies included. The [`SourceMap`] leads
//! from such a position back to the user's file.

use serde::{Deserialize, Serialize};

/// Whether a token was written at its place or came out of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Origin<Name> {
    /// Written where it stands.
    Plain,
    /// Written by the user as an argument of this macro (the outermost one).
    Argument(Name),
    /// Written in the body of this macro (the outermost one).
    Body(Name),
}

/// A position in the user's sources. `file` and the macro's name index the
/// string tables of the [`SourceMap`] it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePosition {
    pub file: u32,
    pub line: u32,
    /// Counted in bytes from 1; 0 where only the line is known.
    pub column: u32,
    pub origin: Origin<u32>,
}

/// One run of preprocessed text: from `(line, column)` on, up to the next entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMapEntry {
    pub line: u32,
    pub column: u32,
    pub position: SourcePosition,
}

/// Leads from positions in a unit's preprocessed text to the user's sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMap {
    /// Paths as the preprocessor named them, made relative to the project where possible.
    pub files: Vec<String>,
    pub macros: Vec<String>,
    /// Sorted by `(line, column)`.
    pub entries: Vec<SourceMapEntry>,
}

impl SourceMap {
    /// The source position of a place in the preprocessed text. A column inside a
    /// token maps to that token's start.
    pub fn lookup(&self, line: u32, column: u32) -> Option<SourcePosition> {
        let after = self.entries.partition_point(|e| (e.line, e.column) <= (line, column.max(1)));
        let entry = self.entries[..after].last()?;
        (entry.line == line).then_some(entry.position)
    }

    pub fn file(&self, index: u32) -> &str {
        &self.files[index as usize]
    }

    pub fn macro_name(&self, index: u32) -> &str {
        &self.macros[index as usize]
    }
}
