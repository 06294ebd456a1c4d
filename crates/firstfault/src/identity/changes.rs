//! `--changed-since`: findings whose path goes through what was edited since a commit.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::Result;
use base::Cancel;
use findings::{Deviation, Fault, Findings, Place};
use report::sources::Sources;

use super::git;
use super::outline::Outline;

/// Lines that were edited, by file below the root.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<String, Lines>,
}

#[derive(Debug, PartialEq, Eq)]
enum Lines {
    /// The file is new.
    All,
    Some(Vec<RangeInclusive<u32>>),
}

/// What differs from a commit, files git does not know yet included.
pub fn since(commit: &str, root: &Path, cancel: &Cancel) -> Result<Changes> {
    let commit = git::commit(root, commit, cancel)?;
    let diff = ["diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--relative"];
    let diff = [&diff[..], &["--src-prefix=a/", "--dst-prefix=b/", &commit]].concat();
    let mut changes = parse(&String::from_utf8_lossy(&git::git(root, &diff, cancel)?));
    let new = ["ls-files", "--others", "--exclude-standard", "-z"];
    let new = git::git(root, &new, cancel)?;
    for file in new.split(|byte| *byte == 0).filter(|file| !file.is_empty()) {
        changes.files.insert(String::from_utf8_lossy(file).into_owned(), Lines::All);
    }
    Ok(changes)
}

/// Leaves out findings that nothing changed about.
pub fn keep_changed(findings: &mut Findings, changes: &Changes, sources: &mut Sources) {
    let mut outlines = BTreeMap::new();
    let mut touches = |place: &Place| changes.touch(place, &mut outlines, sources);
    let before = findings.faults.len() + findings.deviations.len();
    findings.retain_faults(|fault| places(fault).any(&mut touches));
    findings.retain_deviations(|deviation: &Deviation| touches(&deviation.place));
    let n_left_out = before - findings.faults.len() - findings.deviations.len();
    findings.count("unchanged", n_left_out as u64);
}

fn places(fault: &Fault) -> impl Iterator<Item = &Place> {
    let steps = fault.segments.iter().flat_map(|segment| &segment.steps);
    std::iter::once(&fault.place).chain(steps.map(|step| &step.place))
}

impl Changes {
    /// Whether the line was edited, or the function it lies in.
    fn touch(
        &self,
        place: &Place,
        outlines: &mut BTreeMap<String, Outline>,
        sources: &mut Sources,
    ) -> bool {
        let Some(lines) = self.files.get(&place.file) else { return false };
        let Lines::Some(ranges) = lines else { return true };
        let outline = outlines
            .entry(place.file.clone())
            .or_insert_with(|| sources.content(&place.file).map(Outline::new).unwrap_or_default());
        let (first, last) = match outline.function_at(place.line) {
            Some(function) => (function.first, function.last),
            None => (place.line, place.line),
        };
        ranges.iter().any(|range| *range.start() <= last && first <= *range.end())
    }
}

/// Reads `+++ b/file` and `@@ -old +new @@` lines.
fn parse(diff: &str) -> Changes {
    let mut changes = Changes::default();
    let mut file = None;
    for line in diff.lines() {
        if let Some(name) = line.strip_prefix("+++ ") {
            // Git quotes names it finds odd; such a file is left as it is.
            file = name.trim_end_matches('\t').strip_prefix("b/").map(str::to_owned);
        } else if let Some(range) = line.strip_prefix("@@ ").and_then(new_range)
            && let Some(file) = &file
            && let Lines::Some(ranges) =
                changes.files.entry(file.clone()).or_insert_with(|| Lines::Some(Vec::new()))
        {
            ranges.push(range);
        }
    }
    changes
}

/// The lines after the edit; where lines only went, those beside the gap.
fn new_range(hunk: &str) -> Option<RangeInclusive<u32>> {
    let new = hunk.split_whitespace().nth(1)?.strip_prefix('+')?;
    let (start, count) = match new.split_once(',') {
        Some((start, count)) => (start.parse::<u32>().ok()?, count.parse::<u32>().ok()?),
        None => (new.parse().ok()?, 1),
    };
    let last = if count == 0 { start.saturating_add(1) } else { start.checked_add(count - 1)? };
    Some(start..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_read_as_lines_of_the_new_file() {
        let diff = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +3 @@ f\n-x\n\
                    @@ -9,2 +8,0 @@\n@@ -20,0 +21,4 @@\ndiff --git a/b.c b/b.c\n--- a/b.c\n\
                    +++ /dev/null\n@@ -1,3 +0,0 @@\n";
        let changes = parse(diff);
        assert_eq!(changes.files.len(), 1);
        assert_eq!(changes.files["a.c"], Lines::Some(vec![3..=3, 8..=9, 21..=24]));
    }
}
