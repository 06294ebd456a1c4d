//! Results of a suite as a section of `bench/results/suites.md`, and as entries of the ledger.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Suite;
use super::castle::{Truth, Verdict};
use super::model::{Collected, Kind};
use super::running::{Done, Ended};
use super::scoring::{Score, Share};
use crate::bench::juliet;
use crate::bench::ledger::{Entry, Set};
use crate::bench::table::Table;

/// What a measured suite comes to.
pub struct Outcome {
    pub suite: Suite,
    pub section: String,
    /// What was counted, the figure, and the bar.
    pub figures: Vec<(String, String, String)>,
    /// Misses and false reports to read.
    pub notes: Vec<String>,
}

/// Where a section's figures come from.
pub struct Origin<'a> {
    pub commit: &'a str,
    pub date: &'a str,
    pub command: &'a str,
}

impl Origin<'_> {
    fn heading(&self, suite: Suite) -> String {
        format!("## {}\n\nCommit {}, {}.", suite.title(), self.commit, self.date)
    }

    pub fn entries(&self, outcome: &Outcome) -> Vec<Entry> {
        let entry = |(what, figure, bar): &(String, String, String)| Entry {
            part: "detection".to_owned(),
            set: Set::Suites,
            what: what.clone(),
            figure: figure.clone(),
            bar: bar.clone(),
            commit: self.commit.to_owned(),
            date: self.date.to_owned(),
            command: self.command.to_owned(),
            page: "suites.md".to_owned(),
        };
        outcome.figures.iter().map(entry).collect()
    }
}

fn figure(share: Share) -> String {
    format!("{} of {} ({} %)", share.n, share.of, share.percent())
}

/// The figure wanted for a kind in a suite.
fn bar(suite: Suite, kind: Kind) -> &'static str {
    match (suite, kind) {
        (Suite::Infer, Kind::Null | Kind::Leak) => "90 %",
        (Suite::Infer, Kind::UseAfterFree | Kind::Unset | Kind::Bounds) => "80 %",
        (Suite::Gcc, _) => "75 %",
        _ => "",
    }
}

/// A suite with places.
pub fn with_places(
    suite: Suite,
    origin: &Origin<'_>,
    collected: &Collected,
    done: &[Done],
    score: &Score,
) -> Outcome {
    let name = suite.title();
    let mut figures = Vec::new();
    let mut kinds = Table::new(&["expected places", "found", "of", "%", "bar"]);
    for (kind, share) in &score.kinds {
        let bar = bar(suite, *kind);
        kinds.row(row(kind.title(), *share, bar));
        figures.push((format!("{name}: {}", kind.title()), figure(*share), bar.to_owned()));
    }
    kinds.row(row("all", score.found(), ""));
    figures.push((format!("{name}: all kinds"), figure(score.found()), String::new()));
    let mut silent = Table::new(&["must be silent", "hit", "of", "%", "bar"]);
    let at_most = "at most 2 %";
    silent.row(row("marked places", score.silent, at_most));
    silent.row(row("functions without expectations", score.unmarked, ""));
    figures.push((format!("{name}: silent places hit"), figure(score.silent), at_most.to_owned()));
    let what = format!("{name}: functions without expectations hit");
    figures.push((what, figure(score.unmarked), String::new()));
    let mut rules = Table::new(&["reports of", "right", "silent", "nothing expected", "beside"]);
    for (rule, by) in &score.rules {
        let counts = [by.right, by.in_silent, by.in_unmarked, by.beside];
        let cells = std::iter::once(rule.clone()).chain(counts.map(|n| n.to_string()));
        rules.row(cells.collect());
    }
    let section = format!(
        "{}\n\n{kinds}\n{silent}\n{rules}\n{}\n{}\n",
        origin.heading(suite),
        files(collected, done),
        left_out(collected, score),
    );
    Outcome { suite, section, figures, notes: score.notes.clone() }
}

fn row(name: &str, share: Share, bar: &str) -> Vec<String> {
    let numbers = [share.n.to_string(), share.of.to_string(), share.percent()];
    let cells = std::iter::once(name.to_owned()).chain(numbers).chain([bar.to_owned()]);
    cells.collect()
}

fn files(collected: &Collected, done: &[Done]) -> String {
    let count = |is: fn(&Ended) -> bool| done.iter().filter(|done| is(&done.ended)).count();
    let mut text = format!(
        "{} files in {:.0} CPU seconds; {} do not compile, {} were stopped (what is expected \
         there counts as missed).",
        done.len(),
        done.iter().map(|done| done.cpu).sum::<f64>(),
        count(|ended| matches!(ended, Ended::Incomplete(_))),
        count(|ended| matches!(ended, Ended::Stopped(_))),
    );
    if !collected.skipped.is_empty() {
        text += &format!(" Not run: {}.", listed(&collected.skipped));
    }
    text
}

fn left_out(collected: &Collected, score: &Score) -> String {
    let mut text =
        format!("Left out: {} expectations that none of our rules is about", collected.not_ours);
    if !collected.left_out.is_empty() {
        text += &format!(", {}", listed(&collected.left_out));
    }
    text += &format!("; {} could not be read.", collected.malformed.len());
    format!("{text} {} reports stand beside what is expected.", score.beside)
}

fn listed(counts: &BTreeMap<&'static str, usize>) -> String {
    let parts: Vec<String> = counts.iter().map(|(what, n)| format!("{n} {what}")).collect();
    parts.join(", ")
}

/// CASTLE: true and beside, by CWE.
pub fn castle(
    origin: &Origin<'_>,
    collected: &Collected,
    done: &[Done],
    truths: &BTreeMap<String, Truth>,
    verdicts: &BTreeMap<String, Verdict>,
    notes: Vec<String>,
) -> Outcome {
    let mut table = Table::new(&["CWE", "flawed", "true", "class and line", "beside", "in clean"]);
    let mut all = [0; 5];
    let mut by_cwe: BTreeMap<u32, [usize; 5]> = BTreeMap::new();
    for (name, truth) in truths {
        let verdict = verdicts.get(name).copied().unwrap_or_default();
        let beside = if truth.is_flawed { 3 } else { 4 };
        for counts in [&mut all, by_cwe.entry(truth.cwe).or_default()] {
            counts[0] += usize::from(truth.is_flawed);
            counts[1] += usize::from(verdict.is_found);
            counts[2] += usize::from(verdict.is_found_strictly);
            counts[beside] += verdict.n_beside;
        }
    }
    let cells = |name: String, counts: &[usize; 5]| {
        std::iter::once(name).chain(counts.iter().map(usize::to_string)).collect()
    };
    for (cwe, counts) in &by_cwe {
        table.row(cells(cwe.to_string(), counts));
    }
    table.row(cells("all".to_owned(), &all));
    let section = format!(
        "{}\n\nA flawed program is found when a report is on a flawed line or of its CWE (a \
         child or direct parent of it included), as CASTLE counts; *class and line* asks for \
         both. All other reports are beside. Bar: 75 true, at most 15 beside.\n\n{table}\n{}\n",
        origin.heading(Suite::Castle),
        files(collected, done),
    );
    let beside = all[3] + all[4];
    let figures = vec![
        ("CASTLE: true".to_owned(), format!("{} of {}", all[1], all[0]), "75".to_owned()),
        (
            "CASTLE: true, class and line".to_owned(),
            format!("{} of {}", all[2], all[0]),
            String::new(),
        ),
        ("CASTLE: reports beside".to_owned(), beside.to_string(), "at most 15".to_owned()),
    ];
    Outcome { suite: Suite::Castle, section, figures, notes }
}

/// Juliet, by its own bench.
pub fn juliet(origin: &Origin<'_>, summary: &juliet::Summary) -> Outcome {
    let section = format!(
        "{}\n\n`{}`, default mode; `juliet.md` explains the counts and has the whole.\n\n{}\n\
         {:.0} CPU seconds.\n",
        origin.heading(Suite::Juliet),
        summary.command,
        summary.table,
        Duration::as_secs_f64(&summary.cpu),
    );
    let of = format!("% of {} files, weighted, without CWE 190, 191, 197", summary.n_files);
    let figures = vec![
        ("Juliet: found".to_owned(), format!("{:.1} {of}", summary.hits), "90 %".to_owned()),
        (
            "Juliet: files with false reports".to_owned(),
            format!("{:.1} {of}", summary.false_files),
            "at most 0.5 %".to_owned(),
        ),
    ];
    Outcome { suite: Suite::Juliet, section, figures, notes: Vec::new() }
}

const INTRODUCTION: &str = "# Test suites of other tools\n\n\
`cargo xtask bench suites --from DIR`. Expectations are read from the suites' own marks and \
mapped to our rules. A place is a line and a kind; a report answers at most one place, on its \
line (for leaks, descriptors and endless loops in its function; for Infer also where its path \
goes through that line, since Infer gives the call). *Must be silent* are places with `dg-bogus`, \
`no-warning`, `expected-no-diagnostics`, or a name such as `_ok`; functions without any \
expectation are counted beside them, for the rules that the suite's own tool looks for. The \
suites are public and were looked at while working: this is no measure of quality on new code.\n";

/// Puts sections into the page; those of suites that were not run stay as they are.
pub fn write(root: &Path, outcomes: &[Outcome]) -> Result<()> {
    let path = root.join("bench/results/suites.md");
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    std::fs::write(&path, merged(&before, outcomes))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn merged(before: &str, outcomes: &[Outcome]) -> String {
    let old: Vec<&str> = before.split("\n## ").skip(1).collect();
    let mut text = INTRODUCTION.to_owned();
    for suite in Suite::ALL {
        let new = outcomes.iter().find(|outcome| outcome.suite == suite);
        let kept = || {
            let section = old.iter().find(|old| old.lines().next() == Some(suite.title()))?;
            Some(format!("## {}\n", section.trim_end()))
        };
        let section = new.map(|outcome| outcome.section.clone()).or_else(kept);
        text += &section.map_or(String::new(), |section| format!("\n{section}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(suite: Suite, text: &str) -> Outcome {
        let section = format!("## {}\n\n{text}\n", suite.title());
        Outcome { suite, section, figures: Vec::new(), notes: Vec::new() }
    }

    #[test]
    fn sections_of_suites_that_were_not_run_stay() {
        let first = merged("", &[outcome(Suite::Gcc, "1"), outcome(Suite::Infer, "2")]);
        let second = merged(&first, &[outcome(Suite::Gcc, "3")]);
        let expected = format!(
            "{INTRODUCTION}\n## {}\n\n2\n\n## {}\n\n3\n",
            Suite::Infer.title(),
            Suite::Gcc.title()
        );
        assert_eq!(second, expected);
        assert_eq!(merged(&second, &[]), second);
    }
}
