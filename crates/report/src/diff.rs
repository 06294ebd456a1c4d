//! Changes as people read them and `patch` applies them: unified diffs.

use std::collections::BTreeMap;
use std::fmt::Write;

use findings::Change;

use crate::edits::{Extent, extent};
use crate::sources::{Sources, is_plain};

/// Unchanged lines shown around a change.
const CONTEXT: u32 = 3;

/// Some lines of a file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub file: String,
    /// The first line shown; 0 where the change was not found in the file.
    pub line: u32,
    /// Each with ' ', '-' or '+'. A carriage return before the end of a line is part of it.
    pub lines: Vec<(char, String)>,
    /// The last line shown ends the file without ending itself.
    pub is_open: bool,
    /// Every byte of the lines is shown.
    pub is_exact: bool,
}

/// What the changes do to the files they are about.
pub fn hunks(changes: &[Change], sources: &mut Sources) -> Vec<Hunk> {
    let mut found: BTreeMap<&str, Vec<(Extent, &Change)>> = BTreeMap::new();
    let mut hunks = Vec::new();
    // What is only named stays as it is.
    for change in changes.iter().filter(|change| change.old != change.new) {
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

/// As `diff -u` writes it. `None` where the changed lines hold what a terminal must not see, or
/// no UTF-8: a diff without it would not apply.
pub fn unified(changes: &[Change], sources: &mut Sources) -> Option<String> {
    let mut text = String::new();
    let mut file = None;
    // How many lines the hunks before have added to the file.
    let mut shift = 0i64;
    for hunk in hunks(changes, sources) {
        let is_shown = hunk.is_exact && hunk.lines.iter().all(|(_, line)| is_line(line));
        if !is_shown || !is_plain(&hunk.file) {
            return None;
        }
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a string");
        if file.as_ref() != Some(&hunk.file) {
            let name = name(&hunk.file);
            line(&format!("--- a/{name}\n+++ b/{name}"));
            file = Some(hunk.file.clone());
            shift = 0;
        }
        let count = |left_out: char| hunk.lines.iter().filter(|(m, _)| *m != left_out).count();
        let (old, new) = (count('+'), count('-'));
        let start = i64::from(hunk.line) + shift;
        line(&format!("@@ -{},{old} +{start},{new} @@", hunk.line));
        shift += new as i64 - old as i64;
        let last = |left_out: char| hunk.lines.iter().rposition(|(mark, _)| *mark != left_out);
        let open = [last('+'), last('-')];
        for (at, (mark, content)) in hunk.lines.iter().enumerate() {
            line(&format!("{mark}{content}"));
            if hunk.is_open && open.contains(&Some(at)) {
                line("\\ No newline at end of file");
            }
        }
    }
    Some(text)
}

/// A file as `patch -p1` wants it: from the root of all files where it lies elsewhere. A blank
/// does not end a name that a tab follows.
fn name(file: &str) -> String {
    let inside = file.trim_start_matches('/');
    if inside.contains(' ') { format!("{inside}\t") } else { inside.to_owned() }
}

/// Whether a line can be shown as it is.
fn is_line(line: &str) -> bool {
    is_plain(&line.strip_suffix('\r').unwrap_or(line).replace('\t', " "))
}

fn not_found(change: &Change) -> Hunk {
    let mark = |mark, text: &str| -> Vec<(char, String)> {
        text.lines().map(|line| (mark, line.to_owned())).collect()
    };
    let mut lines = mark('-', &change.old);
    lines.extend(mark('+', &change.new));
    let (file, line) = (change.place.file.clone(), change.place.line);
    Hunk { file, line, lines, is_open: false, is_exact: true }
}

fn hunk(file: &str, edits: &[(Extent, &Change)], sources: &mut Sources) -> Option<Hunk> {
    let first = edits.first()?.0.start_line;
    // Old text that goes on to the end of a file ends with its last line.
    let last = edits.iter().map(|(extent, _)| extent.end_line).max()?.min(n_lines(file, sources));
    let old: Vec<String> = (first..=last).map_while(|n| line(file, n, sources)).collect();
    let is_exact = (first..=last).all(|n| is_utf8(file, n, sources));
    let new = changed(&old, first, edits)?;
    let n_context = n_context(file, first..=last, sources);
    let begin = first.saturating_sub(n_context).max(1);
    let mut context = |range: std::ops::Range<u32>| -> Vec<(char, String)> {
        range.map_while(|n| line(file, n, sources)).map(|text| (' ', text)).collect()
    };
    let mut lines = context(begin..first);
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new) {
        lines.extend(op.iter_changes(&old, &new).map(|change| {
            let mark = change.tag().to_string().chars().next().unwrap_or(' ');
            (mark, change.value())
        }));
    }
    let after = context(last + 1..last + n_context + 1);
    let end = last + u32::try_from(after.len()).unwrap_or(0);
    lines.extend(after);
    let is_open = sources.whole_line(file, end).is_some_and(|(_, is_ended)| !is_ended);
    Some(Hunk { file: file.to_owned(), line: begin, lines, is_open, is_exact })
}

/// The lines from `first` on after the changes.
fn changed(old: &[String], first: u32, edits: &[(Extent, &Change)]) -> Option<Vec<String>> {
    let mut new = old.join("\n");
    // What is added ends its lines as the file does.
    let has_returns = old.first().is_some_and(|line| line.ends_with('\r'));
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
        let text = match has_returns {
            true => change.new.replace("\r\n", "\n").replace('\n', "\r\n"),
            false => change.new.clone(),
        };
        new.replace_range(start..end, &text);
    }
    if new.is_empty() {
        return Some(Vec::new());
    }
    Some(new.split('\n').map(str::to_owned).collect())
}

/// As many unchanged lines as can be shown on both sides alike: `patch` takes a side with fewer
/// for the beginning or the end of the file.
fn n_context(file: &str, lines: std::ops::RangeInclusive<u32>, sources: &mut Sources) -> u32 {
    let mut is_shown = |number: u32| match line(file, number, sources) {
        Some(text) => is_line(&text) && is_utf8(file, number, sources),
        None => true,
    };
    let both = |n: &u32| (lines.start().saturating_sub(*n), lines.end() + n);
    let shown = (1..=CONTEXT)
        .map(|n| both(&n))
        .take_while(|(before, after)| (*before == 0 || is_shown(*before)) && is_shown(*after));
    u32::try_from(shown.count()).unwrap_or(0)
}

fn line(file: &str, number: u32, sources: &mut Sources) -> Option<String> {
    let (bytes, _) = sources.whole_line(file, number)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

fn is_utf8(file: &str, number: u32, sources: &mut Sources) -> bool {
    let line = sources.whole_line(file, number);
    line.is_none_or(|(bytes, _)| std::str::from_utf8(bytes).is_ok())
}

fn n_lines(file: &str, sources: &mut Sources) -> u32 {
    let text = sources.content(file).unwrap_or_default();
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(ends + usize::from(!text.ends_with(b"\n"))).unwrap_or(u32::MAX)
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
        unified(changes, &mut Sources::new(folder.path())).unwrap()
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
