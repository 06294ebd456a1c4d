//! Which reports show an injected fault: those of a right rule in or through the changed function
//! that were not there before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::draw::Injected;
use crate::bench::subject::Report;

/// A report with the files of the project, wherever it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The rule, or another tool's name for it.
    pub rule: String,
    pub place: (PathBuf, u32),
    /// The places its paths pass.
    pub steps: Vec<(PathBuf, u32)>,
    pub message: String,
}

/// Reports by what is the same before and after: lines do not move.
pub type Before = BTreeSet<(String, PathBuf, u32)>;

pub fn before(seen: &[Seen]) -> Before {
    seen.iter().map(Seen::key).collect()
}

impl Seen {
    fn key(&self) -> (String, PathBuf, u32) {
        (self.rule.clone(), self.place.0.clone(), self.place.1)
    }
}

/// The source that a file of a report is, made in a folder where some files stand for others.
fn original(file: &str, folder: &Path, changed: &BTreeMap<PathBuf, PathBuf>) -> PathBuf {
    let path = folder.join(file);
    let old = changed.iter().find(|(_, new)| **new == path).map(|(old, _)| old.clone());
    old.unwrap_or(path)
}

/// The questions of a report that stayed open; the message is the reason.
pub fn undecided(
    report: &Report,
    folder: &Path,
    changed: &BTreeMap<PathBuf, PathBuf>,
) -> Vec<Seen> {
    let open = report.dont_knows.iter().map(|open| Seen {
        rule: open.rule.clone(),
        place: (original(&open.file, folder, changed), open.line),
        steps: Vec::new(),
        message: open.reason.clone(),
    });
    open.collect()
}

/// Why questions of a right rule in the changed function stayed open, the most frequent reason
/// first, each with how often.
pub fn reasons(injected: &Injected, right: &[&str], undecided: &[Seen]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for open in undecided {
        if is_in(injected, &open.place) && right.contains(&open.rule.as_str()) {
            *counts.entry(&open.message).or_default() += 1;
        }
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(reason, n)| (std::cmp::Reverse(*n), *reason));
    counts.into_iter().map(|(reason, n)| format!("{n} x {reason}")).collect()
}

/// The faults of a report.
pub fn seen(report: &Report, folder: &Path, changed: &BTreeMap<PathBuf, PathBuf>) -> Vec<Seen> {
    let original = |file: &str| original(file, folder, changed);
    let of_faults = report.faults.iter().map(|fault| Seen {
        rule: fault.rule.clone(),
        place: (original(&fault.file), fault.line),
        steps: fault
            .segments
            .iter()
            .flat_map(|segment| &segment.steps)
            .map(|step| (original(&step.file), step.line))
            .collect(),
        message: fault.message.clone(),
    });
    of_faults.collect()
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The report that shows it.
    pub found: Option<Seen>,
    /// Whether that lies elsewhere and only its path passes the changed function.
    pub is_through: bool,
    /// New reports in or through the function by other rules.
    pub other: Vec<Seen>,
}

/// How an injection did. A report passes as right by its rule or, for other tools, by the start of
/// its name.
pub fn score(injected: &Injected, right: &[&str], seen: &[Seen], before: &Before) -> Score {
    let new = seen.iter().filter(|seen| is_new(seen, before));
    let touching = new.filter(|seen| touches(injected, seen));
    let (mut shown, other): (Vec<&Seen>, Vec<&Seen>) =
        touching.partition(|seen| right.iter().any(|rule| seen.rule.starts_with(rule)));
    shown.sort_by_key(|seen| !is_in(injected, &seen.place));
    let found = shown.first().map(|seen| (*seen).clone());
    let is_through = found.as_ref().is_some_and(|seen| !is_in(injected, &seen.place));
    Score { found, is_through, other: other.into_iter().cloned().collect() }
}

pub fn is_new(seen: &Seen, before: &Before) -> bool {
    !before.contains(&seen.key())
}

/// Whether a report lies in the changed function or passes it.
pub fn touches(injected: &Injected, seen: &Seen) -> bool {
    is_in(injected, &seen.place) || seen.steps.iter().any(|step| is_in(injected, step))
}

fn is_in(injected: &Injected, (file, line): &(PathBuf, u32)) -> bool {
    *file == injected.source && injected.lines.contains(line)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::bench::inject::kind::Kind;

    pub fn injected(file: &str, lines: std::ops::RangeInclusive<u32>) -> Injected {
        Injected {
            id: "x-001".to_owned(),
            unit: 0,
            source: PathBuf::from(file),
            kind: Kind::NullTest,
            function: "f".to_owned(),
            line: *lines.start(),
            lines,
            text: String::new(),
            diff: String::new(),
            names: BTreeSet::new(),
        }
    }

    fn report(rule: &str, at: (&str, u32), steps: &[(&str, u32)]) -> Seen {
        let place = |(file, line): (&str, u32)| (PathBuf::from(file), line);
        Seen {
            rule: rule.to_owned(),
            place: place(at),
            steps: steps.iter().map(|step| place(*step)).collect(),
            message: String::new(),
        }
    }

    const RULE: &str = "null-dereference";

    fn scored(seen: &[Seen], old: &[Seen]) -> Score {
        score(&injected("/p/a.c", 10..=20), &[RULE], seen, &before(old))
    }

    #[test]
    fn the_right_rule_in_the_changed_function_is_found() {
        let score = scored(&[report(RULE, ("/p/a.c", 20), &[])], &[]);
        assert!(score.found.is_some() && !score.is_through);
    }

    #[test]
    fn a_step_in_the_changed_function_is_enough() {
        let elsewhere = report(RULE, ("/p/b.c", 3), &[("/p/b.c", 1), ("/p/a.c", 12)]);
        let score = scored(std::slice::from_ref(&elsewhere), &[]);
        assert!(score.found.is_some() && score.is_through);
        let both = [elsewhere, report(RULE, ("/p/a.c", 11), &[])];
        assert!(!scored(&both, &[]).is_through);
    }

    #[test]
    fn a_wrong_rule_is_no_hit_but_is_told() {
        let score = scored(&[report("leak", ("/p/a.c", 12), &[])], &[]);
        assert_eq!((score.found.is_none(), score.other.len()), (true, 1));
    }

    #[test]
    fn another_function_or_file_is_no_hit() {
        let seen =
            [report(RULE, ("/p/a.c", 21), &[("/p/a.c", 9)]), report(RULE, ("/p/b.c", 12), &[])];
        assert_eq!(scored(&seen, &[]), Score::default());
    }

    #[test]
    fn what_was_there_before_is_no_hit() {
        let old = report(RULE, ("/p/a.c", 12), &[]);
        let now = report(RULE, ("/p/a.c", 12), &[("/p/a.c", 11)]);
        assert_eq!(
            scored(std::slice::from_ref(&now), std::slice::from_ref(&old)),
            Score::default()
        );
        let other_line = report(RULE, ("/p/a.c", 13), &[]);
        assert!(scored(&[now, other_line], &[old]).found.is_some());
    }

    #[test]
    fn open_questions_of_the_right_rule_in_the_function_say_why() {
        let open = |rule: &str, line: u32, reason: &str| {
            format!(
                r#"{{"rule": "{rule}", "file": "0/a.c", "line": {line}, "reason": "{reason}"}}"#
            )
        };
        let all = [
            open(RULE, 12, "x"),
            open(RULE, 13, "budget"),
            open(RULE, 14, "budget"),
            open(RULE, 9, "y"),
            open("leak", 12, "z"),
        ];
        let text = format!(r#"{{"dont_knows": [{}]}}"#, all.join(","));
        let report: Report = serde_json::from_str(&text).unwrap();
        let changed = BTreeMap::from([(PathBuf::from("/p/a.c"), PathBuf::from("/run/0/a.c"))]);
        let open = undecided(&report, Path::new("/run"), &changed);
        assert_eq!(reasons(&injected("/p/a.c", 10..=20), &[RULE], &open), ["2 x budget", "1 x x"]);
    }

    #[test]
    fn files_in_scratch_stand_for_those_of_the_project() {
        let text = r#"{"faults": [{"rule": "leak", "file": "0/a.c", "line": 4, "message": "m",
            "segments": [{"steps": [{"file": "/p/b.c", "line": 2}]}]}]}"#;
        let report: Report = serde_json::from_str(text).unwrap();
        let changed = BTreeMap::from([(PathBuf::from("/p/a.c"), PathBuf::from("/run/0/a.c"))]);
        let seen = seen(&report, Path::new("/run"), &changed);
        assert_eq!(seen[0].place, (PathBuf::from("/p/a.c"), 4));
        assert_eq!(seen[0].steps, [(PathBuf::from("/p/b.c"), 2)]);
    }
}
