//! Trying a change of the source without touching it.
//!
//! Analyses that propose edits only know text; building and running is the command line's
//! work. This is where the two meet.

use std::path::PathBuf;

use crate::Cancel;

/// `old` at this place becomes `new`. An empty `old` inserts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// As the user named it.
    pub file: PathBuf,
    /// Counted from 1.
    pub line: u32,
    /// Counted in bytes from 1.
    pub column: u32,
    pub old: String,
    pub new: String,
}

/// What became of a changed copy of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The edits do not fit the files, or the copy does not build: why, in one line.
    Unbuildable(String),
    /// The tests ran: names in the order of the suite.
    Tested { passed: Vec<String>, failed: Vec<String> },
    /// There was no time left, or the user interrupted.
    Abandoned(String),
}

/// Applies edits to a scratch copy, builds it and runs the tests. The user's files stay as
/// they are, and nothing of the copy is left.
pub trait TryEdit: Sync {
    fn try_edit(&self, edits: &[Edit], cancel: &Cancel) -> Trial;
}

impl Trial {
    pub fn passes_all(&self) -> bool {
        matches!(self, Trial::Tested { passed, failed } if failed.is_empty() && !passed.is_empty())
    }
}

/// Why edits do not fit a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The text has no such line or column.
    Nowhere { line: u32, column: u32 },
    /// Something else stands there.
    Different { line: u32, column: u32 },
    /// Two edits change the same bytes.
    Overlap { line: u32 },
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Misfit::Nowhere { line, column } => write!(f, "there is no line {line}:{column}"),
            Misfit::Different { line, column } => {
                write!(f, "line {line}:{column} holds something else")
            }
            Misfit::Overlap { line } => write!(f, "two edits overlap in line {line}"),
        }
    }
}

/// The text with all edits applied, whatever order they are in. Which file they name does not
/// matter here.
pub fn apply(text: &[u8], edits: &[Edit]) -> Result<Vec<u8>, Misfit> {
    let mut placed = Vec::with_capacity(edits.len());
    for edit in edits {
        let (line, column) = (edit.line, edit.column);
        let start = offset(text, line, column).ok_or(Misfit::Nowhere { line, column })?;
        if !text[start..].starts_with(edit.old.as_bytes()) {
            return Err(Misfit::Different { line, column });
        }
        placed.push((start, edit));
    }
    // Insertions at one place keep the order they were given in.
    placed.sort_by_key(|(start, _)| *start);
    let mut changed = Vec::with_capacity(text.len());
    let mut copied = 0;
    for (start, edit) in placed {
        if start < copied {
            return Err(Misfit::Overlap { line: edit.line });
        }
        changed.extend_from_slice(&text[copied..start]);
        changed.extend_from_slice(edit.new.as_bytes());
        copied = start + edit.old.len();
    }
    changed.extend_from_slice(&text[copied..]);
    Ok(changed)
}

/// The byte at a line and column; one past the end of a line is a place, too.
fn offset(text: &[u8], line: u32, column: u32) -> Option<usize> {
    let before = usize::try_from(line.checked_sub(1)?).ok()?;
    let start = if before == 0 {
        0
    } else {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        ends.map(|(at, _)| at + 1).nth(before - 1)?
    };
    let length = text[start..].iter().position(|byte| *byte == b'\n');
    let length = length.unwrap_or(text.len() - start);
    let column = usize::try_from(column.checked_sub(1)?).ok()?;
    (column <= length).then_some(start + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(line: u32, column: u32, old: &str, new: &str) -> Edit {
        let (old, new) = (old.to_owned(), new.to_owned());
        Edit { file: PathBuf::from("a.c"), line, column, old, new }
    }

    #[test]
    fn edits_are_applied_at_their_places() {
        let text = b"a <= b;\nc = 1;\n";
        let edits = [edit(2, 5, "1", "2"), edit(1, 3, "<=", "<"), edit(2, 7, "", " d();")];
        assert_eq!(apply(text, &edits).unwrap(), b"a < b;\nc = 2; d();\n");
    }

    #[test]
    fn edits_that_do_not_fit_are_refused() {
        let text = b"a <= b;";
        assert_eq!(
            apply(text, &[edit(1, 3, "<", "="), edit(1, 3, "<=", "<")]),
            Err(Misfit::Overlap { line: 1 })
        );
        let nowhere = |line, column| Err(Misfit::Nowhere { line, column });
        assert_eq!(apply(text, &[edit(2, 1, "", "x")]), nowhere(2, 1));
        assert_eq!(apply(text, &[edit(1, 9, "", "x")]), nowhere(1, 9));
        assert_eq!(apply(text, &[edit(0, 0, "", "x")]), nowhere(0, 0));
        let different = Err(Misfit::Different { line: 1, column: 3 });
        assert_eq!(apply(text, &[edit(1, 3, ">", "x")]), different);
    }
}
