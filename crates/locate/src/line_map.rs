//! Which line of a changed source is which line of the old one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use findings::Place;

use crate::{StatementId, StatementTable};

/// The sources as they were.
pub(crate) struct LineMap {
    texts: BTreeMap<String, Vec<String>>,
}

impl LineMap {
    pub fn read(statements: &StatementTable) -> Self {
        let files: BTreeSet<&String> = statements.places.iter().map(|p| &p.file).collect();
        let texts = files.into_iter().map(|file| (file.clone(), lines(file))).collect();
        Self { texts }
    }

    /// Old statements to new ones, by the sources as they are now.
    pub fn to(
        &self,
        statements: &StatementTable,
        old_places: &[Place],
    ) -> BTreeMap<StatementId, StatementId> {
        let new: BTreeMap<(&str, u32), u32> = statements
            .places
            .iter()
            .enumerate()
            .map(|(index, place)| ((place.file.as_str(), place.line), index as u32))
            .collect();
        let texts: BTreeMap<&String, Vec<String>> =
            self.texts.keys().map(|file| (file, lines(file))).collect();
        let mut map = BTreeMap::new();
        for (index, place) in old_places.iter().enumerate() {
            let (Some(old), Some(now)) = (self.texts.get(&place.file), texts.get(&place.file))
            else {
                continue;
            };
            let line = moved(old, now, place.line);
            if let Some(number) = line.and_then(|line| new.get(&(place.file.as_str(), line))) {
                map.insert(StatementId(index as u32), StatementId(*number));
            }
        }
        map
    }
}

fn lines(file: &str) -> Vec<String> {
    let bytes = base::read::source(Path::new(file)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_string).collect()
}

/// Where a line went: what is equal from the front and from the back stays what it was, and
/// in a changed stretch of the same length lines are taken to be edited in place.
fn moved(old: &[String], new: &[String], line: u32) -> Option<u32> {
    let index = line.checked_sub(1)? as usize;
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let back = back.min(old.len().min(new.len()) - front);
    if index < front || old.len() == new.len() {
        return Some(line);
    }
    if index + back >= old.len() {
        return u32::try_from(index + new.len() - old.len() + 1).ok();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::moved;

    fn text(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn lines_after_an_insertion_move_down() {
        let old = text(&["a", "b", "c"]);
        let new = text(&["a", "x", "y", "b", "c"]);
        assert_eq!(moved(&old, &new, 1), Some(1));
        assert_eq!(moved(&old, &new, 2), Some(4));
        assert_eq!(moved(&old, &new, 3), Some(5));
    }

    #[test]
    fn an_edited_line_stays_and_a_deleted_one_is_gone() {
        let old = text(&["a", "b", "c"]);
        assert_eq!(moved(&old, &text(&["a", "B", "c"]), 2), Some(2));
        let shorter = text(&["a", "c"]);
        assert_eq!(moved(&old, &shorter, 2), None);
        assert_eq!(moved(&old, &shorter, 3), Some(2));
    }
}
