//! Changes as people read them: unified diffs.

use std::collections::BTreeMap;
use std::fmt::Write;

use findings::Change;

use crate::edits::{Extent, extent};
use crate::sources::{Sources, one_line};

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;

/// Some lines of a file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub file: String,
    /// The first line shown; 0 where the change was not found in the file.
    pub line: u32,
    /// Each with ' ', '-' or '+'.
    pub lines: Vec<(char, String)>,
}

/// What the changes do to the files they are about.
pub fn hunks(changes: &[Change], sources: &mut Sources) -> Vec<Hunk> {
    let mut found: BTreeMap<&str, Vec<(Extent, &Change)>> = BTreeMap::new();
    let mut hunks = Vec::new();
    for change in changes {
        match extent(change, sources) {
            Some(extent) => found.entry(&change.place.file).or_default().push((extent, change)),
            None => hunks.push(not_found(change)),
        }
    }
    for (file, mut edits) in found {
        edits.sort_by_key(|(extent, _)| (extent.start_line, extent.start_column));
        let mut rest = edits.as_slice();
        while let Some((first, _)) = rest.first() {
            let mut last = first.end_line;
            let together = rest.iter().take_while(|(extent, _)| {
                let is_near = extent.start_line <= last + 2 * CONTEXT;
                last = last.max(extent.end_line);
                is_near
            });
            let n = together.count();
            hunks.extend(hunk(file, &rest[..n], sources));
            rest = &rest[n..];
        }
    }
    hunks
}

/// As `diff -u` writes it.
pub fn unified(changes: &[Change], sources: &mut Sources) -> String {
    let mut text = String::new();
    let mut file = None;
    for hunk in hunks(changes, sources) {
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a string");
        if file.as_ref() != Some(&hunk.file) {
            let shown = one_line(&hunk.file);
            line(&format!("--- a/{shown}\n+++ b/{shown}"));
            file = Some(hunk.file.clone());
        }
        let count = |left_out: char| hunk.lines.iter().filter(|(m, _)| *m != left_out).count();
        let (old, new) = (count('+'), count('-'));
        line(&format!("@@ -{0},{old} +{0},{new} @@", hunk.line));
        for (mark, content) in &hunk.lines {
            line(&format!("{mark}{}", one_line(content)));
        }
    }
    text
}

fn not_found(change: &Change) -> Hunk {
    let mark = |mark, text: &str| -> Vec<(char, String)> {
        text.lines().map(|line| (mark, line.to_owned())).collect()
    };
    let mut lines = mark('-', &change.old);
    lines.extend(mark('+', &change.new));
    Hunk { file: change.place.file.clone(), line: change.place.line, lines }
}

fn hunk(file: &str, edits: &[(Extent, &Change)], sources: &mut Sources) -> Option<Hunk> {
    let first = edits.first()?.0.start_line;
    let last = edits.iter().map(|(extent, _)| extent.end_line).max()?;
    let mut line = |number: u32| -> Option<String> {
        let bytes = sources.raw_line(file, number)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let old: Vec<String> = (first..=last).map_while(&mut line).collect();
    let mut new = old.join("\n");
    // From the end, so that places before it stay where they are.
    for (extent, change) in edits.iter().rev() {
        let offset = |row: u32, column: u32| -> Option<usize> {
            let before: usize =
                old.get(..(row - first) as usize)?.iter().map(|l| l.len() + 1).sum();
            Some(before + column as usize - 1)
        };
        let start = offset(extent.start_line, extent.start_column)?;
        // Old text that ends with the last line of a file ends where the text does.
        let end = offset(extent.end_line, extent.end_column)?.min(new.len());
        if !new.is_char_boundary(start) || !new.is_char_boundary(end) || start > end {
            return None;
        }
        new.replace_range(start..end, &change.new);
    }
    let new: Vec<String> = new.split('\n').map(str::to_owned).collect();
    let begin = first.saturating_sub(CONTEXT).max(1);
    let mut context = |range: std::ops::Range<u32>| -> Vec<(char, String)> {
        range.map_while(&mut line).map(|text| (' ', text)).collect()
    };
    let mut lines = context(begin..first);
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        lines.extend(op.iter_changes(&old, &new).map(|change| {
            let mark = change.tag().to_string().chars().next().unwrap_or(' ');
            (mark, change.value())
        }));
    }
    let mut after = context(last + 1..last + CONTEXT + 1);
    // What follows the last end of a line is no line: a diff that has one does not apply.
    let next = last + 1 + u32::try_from(after.len()).unwrap_or(0);
    if after.last().is_some_and(|(_, text)| text.is_empty()) && line(next).is_none() {
        after.pop();
    }
    lines.extend(after);
    Some(Hunk { file: file.to_owned(), line: begin, lines })
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Place;

    fn change(line: u32, column: u32, old: &str, new: &str) -> Change {
        let place = Place { file: "a.c".to_owned(), line, column, ..Place::default() };
        Change { place, old: old.to_owned(), new: new.to_owned() }
    }

    fn diff(changes: &[Change]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let text: String = (1..=30).map(|n| format!("line {n}\n")).collect();
        std::fs::write(folder.path().join("a.c"), text).unwrap();
        unified(changes, &mut Sources::new(folder.path()))
    }

    #[test]
    fn a_change_is_shown_between_its_neighbours() {
        assert_eq!(
            diff(&[change(2, 6, "2", "two")]),
            "--- a/a.c\n+++ b/a.c\n@@ -1,5 +1,5 @@\n line 1\n-line 2\n+line two\n line 3\n line 4\n \
             line 5\n"
        );
    }

    #[test]
    fn lines_come_and_go() {
        let text = diff(&[change(10, 1, "line 10\n", ""), change(12, 1, "", "new\n")]);
        assert!(text.contains("@@ -7,9 +7,9 @@\n"), "{text}");
        assert!(text.contains("\n-line 10\n"), "{text}");
        assert!(text.contains("\n line 11\n+new\n line 12\n"), "{text}");
        assert_eq!(text.matches("@@ ").count(), 1, "{text}");
        let apart = diff(&[change(3, 1, "line", "x"), change(20, 1, "line", "x")]);
        assert_eq!(apart.matches("@@ -").count(), 2, "{apart}");
    }

    #[test]
    fn what_is_not_in_the_file_is_shown_nonetheless() {
        let text = diff(&[change(2, 1, "gone", "here")]);
        assert!(text.ends_with("@@ -2,1 +2,1 @@\n-gone\n+here\n"), "{text}");
    }
}
