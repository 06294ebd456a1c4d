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

/// One run of preprocessed text: from `(line, column)` on, up to the next entry or the
/// end of the line. In a run of plain or argument tokens the source's columns advance
/// with the text's; a run from a macro's body stays at the macro's name.
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
    /// Which of `files` the preprocessor took from the system's directories.
    pub system_files: Vec<bool>,
    pub macros: Vec<String>,
    /// Sorted by `(line, column)`.
    pub entries: Vec<SourceMapEntry>,
}

impl SourceMap {
    /// The source position of the token that starts at a place in the preprocessed text.
    pub fn lookup(&self, line: u32, column: u32) -> Option<SourcePosition> {
        let after = self.entries.partition_point(|e| (e.line, e.column) <= (line, column.max(1)));
        let entry = self.entries[..after].last()?;
        if entry.line != line {
            return None;
        }
        let mut position = entry.position;
        if position.column != 0 && !matches!(position.origin, Origin::Body(_)) {
            position.column += column.max(1) - entry.column;
        }
        Some(position)
    }

    pub fn is_system(&self, file: u32) -> bool {
        self.system_files.get(file as usize).copied().unwrap_or(false)
    }

    pub fn file(&self, index: u32) -> &str {
        &self.files[index as usize]
    }

    pub fn macro_name(&self, index: u32) -> &str {
        &self.macros[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> SourceMap {
        let entry = |line, column, source_column, origin| SourceMapEntry {
            line,
            column,
            position: SourcePosition { file: 0, line: 7, column: source_column, origin },
        };
        SourceMap {
            files: vec!["a.c".into()],
            system_files: vec![false],
            macros: vec!["M".into()],
            entries: vec![
                entry(2, 1, 5, Origin::Plain),
                entry(2, 9, 20, Origin::Body(0)),
                entry(3, 1, 0, Origin::Plain),
            ],
        }
    }

    #[test]
    fn columns_advance_in_plain_runs_and_stay_in_macro_bodies() {
        let map = map();
        assert_eq!(map.lookup(2, 4).map(|p| p.column), Some(8));
        assert_eq!(map.lookup(2, 12).map(|p| p.column), Some(20));
    }

    #[test]
    fn a_line_without_entries_has_no_position_and_unknown_columns_stay_unknown() {
        let map = map();
        assert_eq!(map.lookup(1, 1), None);
        assert_eq!(map.lookup(4, 1), None);
        assert_eq!(map.lookup(3, 9).map(|p| p.column), Some(0));
    }
}
