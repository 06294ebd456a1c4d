//! When a report counts as a fault of a program with a corrected twin, as `score.py` of the
//! sets has it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::said::{At, Open, Reported, Said};
use super::truth::{Fault, Pair, Role};

/// Lines a report may be off.
const SLACK: u32 = 1;

/// Rules of one family count as each other: tools draw the borders between them differently.
pub fn family(rule: &str) -> &str {
    match rule {
        "buffer-overflow" | "buffer-underflow" | "buffer-overread" => "buffer",
        "integer-overflow" | "integer-truncation" | "integer-signedness" => "integer",
        "divide-by-zero" => "divide",
        "null-dereference" => "null",
        "use-after-free" | "double-free" => "free",
        "uninitialized-read" => "uninit",
        "infinite-loop" => "loop",
        other => other,
    }
}

/// How far a report is from a fault: lines, then whether the rule is another of its family.
/// `None` where it is not a report of this fault at any distance.
pub fn distance(report: &Reported, fault: &Fault) -> Option<(u32, bool)> {
    let is_other_rule = report.rule != fault.rule;
    let lines = lines_between(&report.rule, &report.places, fault)?;
    Some((lines, is_other_rule))
}

/// As [`distance`], for the rule and places of anything.
fn lines_between(rule: &str, places: &[At], fault: &Fault) -> Option<u32> {
    if family(rule) != family(&fault.rule) {
        return None;
    }
    let in_own_file = std::iter::once(&fault.line).chain(&fault.alt_lines);
    let own = in_own_file.map(|line| (fault.file.as_deref(), *line));
    let elsewhere = fault.alt_at.iter().map(|at| (Some(at.file.as_str()), at.line));
    let accepted: Vec<(Option<&str>, u32)> = own.chain(elsewhere).collect();
    let apart = |place: &At, (file, line): &(Option<&str>, u32)| {
        file.is_none_or(|file| file == place.file).then(|| place.line.abs_diff(*line))
    };
    places.iter().flat_map(|place| accepted.iter().filter_map(|a| apart(place, a))).min()
}

pub fn is_hit(report: &Reported, fault: &Fault) -> bool {
    distance(report, fault).is_some_and(|(lines, _)| lines <= SLACK)
}

/// How the questions at a missed fault ended.
pub fn endings(said: &Said, fault: &Fault) -> String {
    if let Some(why) = &said.failed {
        return format!("no answer: {why}");
    }
    let is_here = |open: &&Open| {
        let places = std::slice::from_ref(&open.at);
        lines_between(&open.rule, places, fault).is_some_and(|lines| lines <= SLACK)
    };
    let mut by_ending: BTreeMap<&str, (BTreeSet<&str>, BTreeSet<u32>)> = BTreeMap::new();
    for open in said.open.iter().filter(is_here) {
        let (rules, lines) = by_ending.entry(&open.ending).or_default();
        rules.insert(&open.rule);
        lines.insert(open.at.line);
    }
    let mut ended: Vec<String> = by_ending
        .into_iter()
        .map(|(ending, (rules, lines))| {
            let rules: Vec<&str> = rules.into_iter().collect();
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!("{} at line {}: {ending}", rules.join(", "), lines.join(", "))
        })
        .collect();
    if ended.is_empty() {
        ended.push("nothing asked/answered there".to_owned());
    }
    ended.extend(said.search());
    ended.join("; ")
}

/// A primary fault and whether it was found.
#[derive(Clone, Debug, Serialize)]
pub struct Wanted {
    pub rule: String,
    pub line: u32,
    pub found: bool,
    /// By a report of the very same rule.
    pub exact: bool,
    /// How the questions there ended, where it was missed.
    pub ending: String,
}

/// A pair as one tool has it.
#[derive(Clone, Debug, Serialize)]
pub struct PairScore {
    pub name: String,
    pub kind: String,
    pub wanted: Vec<Wanted>,
    pub n_consequences: usize,
    pub n_consequences_found: usize,
    /// Rules of reports on the flawed program that match no listed fault.
    pub extra: Vec<String>,
    /// Rule, and whether a run shows it, of each report on the corrected twin.
    pub on_twin: Vec<(String, bool)>,
    pub is_path_correlated: bool,
    /// One of the two programs has no answer.
    pub failed: bool,
}

impl PairScore {
    pub fn found(&self) -> bool {
        self.wanted.iter().all(|wanted| wanted.found)
    }

    pub fn twin_hit(&self) -> bool {
        !self.on_twin.is_empty()
    }

    /// The twin was hit by a report that claims to have been seen in a run.
    pub fn twin_shown(&self) -> bool {
        self.on_twin.iter().any(|(_, is_shown)| *is_shown)
    }

    pub fn right(&self) -> bool {
        self.found() && !self.twin_hit()
    }
}

/// What was said of the flawed program and of its twin, against the truth.
pub fn pair(pair: &Pair, bad: &Said, ok: &Said) -> PairScore {
    let flawed = of_program(bad, &format!("{}_bad.c", pair.name), &pair.extra_files);
    let twin = of_program(ok, &format!("{}_ok.c", pair.name), &pair.extra_files);
    let mut score = PairScore {
        name: pair.name.clone(),
        kind: pair.kind.clone(),
        wanted: Vec::new(),
        n_consequences: 0,
        n_consequences_found: 0,
        extra: Vec::new(),
        on_twin: twin.iter().map(|r| (r.rule.clone(), r.is_shown())).collect(),
        is_path_correlated: pair.ok_is_path_correlated,
        failed: bad.failed.is_some() || ok.failed.is_some(),
    };
    let mut is_matched = vec![false; flawed.len()];
    for expected in &pair.bad_lines {
        let fault = &expected.fault;
        let (mut found, mut exact) = (false, false);
        for (report, is_matched) in flawed.iter().zip(&mut is_matched) {
            if is_hit(report, fault) {
                *is_matched = true;
                found = true;
                exact |= report.rule == fault.rule;
            }
        }
        if expected.role == Role::Consequence {
            score.n_consequences += 1;
            score.n_consequences_found += usize::from(found);
            continue;
        }
        let ending = if found { String::new() } else { endings(bad, fault) };
        let (rule, line) = (fault.rule.clone(), fault.line);
        score.wanted.push(Wanted { rule, line, found, exact, ending });
    }
    let unmatched = flawed.iter().zip(&is_matched).filter(|(_, is_matched)| !**is_matched);
    score.extra = unmatched.map(|(report, _)| report.rule.clone()).collect();
    score
}

/// The reports on the program's own files.
pub fn of_program<'a>(said: &'a Said, file: &str, extra: &[String]) -> Vec<&'a Reported> {
    let is_own = |at: &At| at.file == file || extra.contains(&at.file);
    said.reports.iter().filter(|report| report.places.iter().any(is_own)).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::bench::cases::truth;

    pub fn report(rule: &str, file: &str, line: u32) -> Reported {
        Reported {
            rule: rule.to_owned(),
            level: "likely".to_owned(),
            places: vec![At::new(file, line)],
            ..Reported::default()
        }
    }

    fn said(reports: Vec<Reported>) -> Said {
        Said { reports, ..Said::default() }
    }

    fn a_pair() -> Pair {
        let text = r#"{"cases": [{"name": "a", "kind": "buffer", "extra_files": ["a_util.c"],
            "bad_lines": [
                {"file": "a_bad.c", "line": 20, "rule": "buffer-overflow", "role": "primary",
                 "alt_lines": [40], "alt_at": [{"file": "a_util.c", "line": 7}]},
                {"file": "a_bad.c", "line": 60, "rule": "leak", "role": "consequence"}]}]}"#;
        truth::parse(text).unwrap().cases.remove(0)
    }

    fn bad(reports: Vec<Reported>) -> PairScore {
        pair(&a_pair(), &said(reports), &Said::default())
    }

    #[test]
    fn a_report_counts_at_its_line_and_one_beside_it() {
        for line in [19, 20, 21] {
            assert!(bad(vec![report("buffer-overflow", "a_bad.c", line)]).found(), "{line}");
        }
        for line in [18, 22] {
            let score = bad(vec![report("buffer-overflow", "a_bad.c", line)]);
            assert!(!score.found(), "{line}");
            assert_eq!(score.extra, ["buffer-overflow"]);
        }
    }

    #[test]
    fn a_rule_of_the_family_counts_and_any_other_does_not() {
        let score = bad(vec![report("buffer-overread", "a_bad.c", 20)]);
        assert!(score.found() && !score.wanted[0].exact);
        assert!(bad(vec![report("buffer-overflow", "a_bad.c", 20)]).wanted[0].exact);
        let score = bad(vec![report("null-dereference", "a_bad.c", 20)]);
        assert!(!score.found());
        assert_eq!(score.extra, ["null-dereference"]);
    }

    #[test]
    fn the_right_line_of_the_wrong_file_does_not_count() {
        assert!(!bad(vec![report("buffer-overflow", "a_util.c", 20)]).found());
        let score = bad(vec![report("buffer-overflow", "stdio.h", 20)]);
        assert!(!score.found() && score.extra.is_empty(), "no file of the program");
    }

    #[test]
    fn other_lines_and_places_are_accepted() {
        assert!(bad(vec![report("buffer-overflow", "a_bad.c", 41)]).found());
        assert!(bad(vec![report("buffer-overflow", "a_util.c", 7)]).found());
        assert!(!bad(vec![report("buffer-overflow", "a_bad.c", 7)]).found());
    }

    #[test]
    fn a_consequence_is_neither_found_nor_extra() {
        let score = bad(vec![report("leak", "a_bad.c", 60)]);
        assert!(!score.found() && score.extra.is_empty());
        assert_eq!((score.n_consequences, score.n_consequences_found), (1, 1));
    }

    #[test]
    fn any_report_on_the_twin_spoils_the_pair() {
        let found = said(vec![report("buffer-overflow", "a_bad.c", 20)]);
        assert!(pair(&a_pair(), &found, &Said::default()).right());
        let mut hit = report("leak", "a_ok.c", 3);
        let score = pair(&a_pair(), &found, &said(vec![hit.clone()]));
        assert!(score.found() && score.twin_hit() && !score.right() && !score.twin_shown());
        hit.level = "proved".to_owned();
        assert!(pair(&a_pair(), &found, &said(vec![hit])).twin_shown());
        let elsewhere = said(vec![report("leak", "string.h", 3)]);
        assert!(pair(&a_pair(), &found, &elsewhere).right());
    }

    #[test]
    fn a_pair_is_found_when_all_its_primary_faults_are() {
        let mut case = a_pair();
        case.bad_lines[1].role = Role::Primary;
        let one = said(vec![report("buffer-overflow", "a_bad.c", 20)]);
        let score = pair(&case, &one, &Said::default());
        assert!(score.wanted[0].found && !score.wanted[1].found && !score.found());
    }

    #[test]
    fn a_miss_tells_how_its_questions_ended() {
        let open = |rule: &str, line| Open {
            at: At::new("a_bad.c", line),
            rule: rule.to_owned(),
            ending: "don't know: the step budget".to_owned(),
        };
        let open_questions = vec![open("leak", 20), open("buffer-overflow", 30)];
        let mut bad = Said { open: open_questions, ..Said::default() };
        let score = pair(&a_pair(), &bad, &Said::default());
        assert_eq!(score.wanted[0].ending, "nothing asked/answered there");
        bad.open.push(open("buffer-overread", 21));
        bad.stats.insert("explore_runs".to_owned(), 7.0);
        let score = pair(&a_pair(), &bad, &Said::default());
        assert_eq!(
            score.wanted[0].ending,
            "buffer-overread at line 21: don't know: the step budget; \
             search by running: 7 runs, 0 of 0 blocks"
        );
    }
}
