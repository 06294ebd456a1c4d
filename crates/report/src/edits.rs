//! Where in a file the text lies that a change replaces.

use findings::Change;

use crate::sources::Sources;

/// Lines and byte columns from 1; the end is the first place after the old text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub start_line: u32,
    pub start_column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// The extent of a change's old text. Where the column is unknown, or the old text does not
/// begin there, it is looked for in the line; `None` where it is not there at all.
pub fn extent(change: &Change, sources: &mut Sources) -> Option<Extent> {
    let place = &change.place;
    if place.line == 0 || place.file.is_empty() {
        return None;
    }
    let old: Vec<&str> = change.old.split('\n').collect();
    let (first, last) = (old.first()?.as_bytes(), old.last()?.as_bytes());
    // Lines come without the carriage returns they end in.
    let first = if old.len() > 1 { first.strip_suffix(b"\r").unwrap_or(first) } else { first };
    let line = sources.raw_line(&place.file, place.line)?;
    let begins = |at: usize| line.get(at..).is_some_and(|rest| rest.starts_with(first));
    let start = match (place.column as usize).checked_sub(1) {
        Some(at) if begins(at) => at,
        None if change.old.is_empty() => 0,
        _ => (0..=line.len()).find(|at| begins(*at))?,
    };
    let length = u32::try_from(last.len()).ok()?;
    let start_column = u32::try_from(start).ok()? + 1;
    let end_line = place.line + u32::try_from(old.len()).ok()? - 1;
    let end_column = if old.len() == 1 { start_column + length } else { length + 1 };
    Some(Extent { start_line: place.line, start_column, end_line, end_column })
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Place;

    fn extent_of(line: u32, column: u32, old: &str) -> Option<(u32, u32, u32, u32)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "if (a <= b) {\n  a = b;\n}\n").unwrap();
        let place = Place { file: "a.c".to_owned(), line, column, ..Place::default() };
        let change = Change { place, old: old.to_owned(), new: "x".to_owned() };
        let found = extent(&change, &mut Sources::new(folder.path()))?;
        Some((found.start_line, found.start_column, found.end_line, found.end_column))
    }

    #[test]
    fn old_text_is_where_it_is_said_or_found_in_its_line() {
        assert_eq!(extent_of(1, 5, "a <= b"), Some((1, 5, 1, 11)));
        assert_eq!(extent_of(1, 0, "a <= b"), Some((1, 5, 1, 11)));
        assert_eq!(extent_of(1, 7, "a <= b"), Some((1, 5, 1, 11)));
        assert_eq!(extent_of(1, 13, "{\n  a = b;\n}"), Some((1, 13, 3, 2)));
        assert_eq!(extent_of(2, 3, ""), Some((2, 3, 2, 3)));
        assert_eq!(extent_of(2, 0, ""), Some((2, 1, 2, 1)));
        assert_eq!(extent_of(1, 1, "gone"), None);
        assert_eq!(extent_of(0, 0, "a"), None);
        assert_eq!(extent_of(9, 1, "a"), None);
    }
}
