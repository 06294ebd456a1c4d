//! The ledger: one table over all measurements, what each was measured on, and its bar.
//!
//! Each benchmark records its figures in `bench/results/ledger.toml`; `cargo xtask bench
//! ledger` writes `bench/results/README.md` from it. Figures from programs that were looked
//! at while working, open cases, public suites and fresh programs stand in separate columns.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::origin;

/// What kind of programs a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// Looked at while working: a regression test.
    Tuned,
    /// `bench/cases`, ours, worked with.
    Open,
    /// Public test suites of other tools.
    Suites,
    /// Never looked at before the measurement: the only kind that shows quality.
    Fresh,
}

impl Set {
    const ALL: [Set; 4] = [Set::Tuned, Set::Open, Set::Suites, Set::Fresh];

    fn title(self) -> &'static str {
        match self {
            Set::Tuned => "tuned on",
            Set::Open => "open cases",
            Set::Suites => "suites",
            Set::Fresh => "fresh",
        }
    }
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The part of the product: `detection`, `explore`, `correlation`, `beliefs`, `crash`, ...
    pub part: String,
    pub set: Set,
    /// What was counted: `static pairs found`; unique within part and set.
    pub what: String,
    /// As shown: `8 of 76 (11 %)`.
    pub figure: String,
    /// The figure that is wanted, empty where none is set.
    #[serde(default)]
    pub bar: String,
    /// The commit that was built and measured.
    pub commit: String,
    /// The day of the measurement, `2026-01-31`.
    pub date: String,
    /// The command that prints the figure.
    pub command: String,
    /// The result page below `bench/results`, or empty.
    #[serde(default)]
    pub page: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Ledger {
    /// The commit all others are compared with. Its figures stay beside newer ones.
    #[serde(default)]
    baseline: String,
    #[serde(default, rename = "entry")]
    entries: Vec<Entry>,
}

/// Adds figures; those of the same part, set and subject are replaced, except the baseline's.
pub fn record(root: &Path, new: Vec<Entry>) -> Result<()> {
    let path = root.join("bench/results/ledger.toml");
    let mut ledger = load(&path)?;
    add(&mut ledger, new);
    let text = format!(
        "# Figures of the benchmarks, written by them. `cargo xtask bench ledger` shows them.\n\n{}",
        toml::to_string(&ledger)?
    );
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn load(path: &Path) -> Result<Ledger> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            toml::from_str(&text).with_context(|| format!("{} is no ledger", path.display()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ledger::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn add(ledger: &mut Ledger, new: Vec<Entry>) {
    let is_base = |entry: &Entry| entry.commit == ledger.baseline;
    for entry in new {
        let key = |e: &Entry| (e.part.clone(), e.set, e.what.clone(), is_base(e));
        let wanted = key(&entry);
        ledger.entries.retain(|old| key(old) != wanted);
        ledger.entries.push(entry);
    }
    let key = |e: &Entry| (e.part.clone(), e.set, e.what.clone(), !is_base(e));
    ledger.entries.sort_by_cached_key(key);
}

/// Today, as entries have it.
pub fn today(root: &Path) -> String {
    origin::date(root)
}

/// `cargo xtask bench ledger`.
pub fn run(root: &Path) -> Result<()> {
    let ledger = load(&root.join("bench/results/ledger.toml"))?;
    let text = page(&ledger);
    print!("{text}");
    let path = root.join("bench/results/README.md");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn page(ledger: &Ledger) -> String {
    let mut rows: BTreeMap<(&str, &str), BTreeMap<Set, Vec<&Entry>>> = BTreeMap::new();
    for entry in &ledger.entries {
        let cells = rows.entry((&entry.part, &entry.what)).or_default();
        cells.entry(entry.set).or_default().push(entry);
    }
    let mut text = String::from(
        "# The ledger\n\n`cargo xtask bench ledger`. Each cell has the figure, the bar where one \
         is set, the commit that was built and the day. *Tuned on*: programs looked at while \
         working, a regression test. *Open cases*: `bench/cases`, worked with. *Suites*: test \
         suites of other tools. *Fresh*: never looked at before the measurement; only these \
         show quality.",
    );
    if !ledger.baseline.is_empty() {
        text += &format!(
            " Behind *was*: the baseline, commit {}, where a newer one was measured.",
            ledger.baseline
        );
    }
    text += "\n\n| part | what |";
    for set in Set::ALL {
        text += &format!(" {} |", set.title());
    }
    text += "\n|---|---|---|---|---|---|\n";
    for ((part, what), cells) in &rows {
        text += &format!("| {part} | {what} |");
        for set in Set::ALL {
            text += &format!(" {} |", cells.get(&set).map_or(String::new(), |of| cell(of)));
        }
        text += "\n";
    }
    text += "\nCommands:\n\n";
    let mut commands: Vec<&str> = ledger.entries.iter().map(|e| e.command.as_str()).collect();
    commands.sort_unstable();
    commands.dedup();
    for command in commands {
        text += &format!("- `{command}`\n");
    }
    text
}

/// The figure; before a newer one, the baseline's comes first in `entries` and last in the text.
fn cell(entries: &[&Entry]) -> String {
    let [before @ .., entry] = entries else { return String::new() };
    let bar = if entry.bar.is_empty() { String::new() } else { format!(", bar {}", entry.bar) };
    let figure = if entry.page.is_empty() {
        entry.figure.clone()
    } else {
        format!("[{}]({})", entry.figure, entry.page)
    };
    let before: String =
        before.iter().map(|e| format!("; was {} ({}, {})", e.figure, e.commit, e.date)).collect();
    format!("{figure}{bar} ({}, {}){before}", entry.commit, entry.date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(set: Set, figure: &str) -> Entry {
        Entry {
            part: "detection".to_owned(),
            set,
            what: "found".to_owned(),
            figure: figure.to_owned(),
            bar: "9 of 10".to_owned(),
            commit: "abc".to_owned(),
            date: "2026-01-31".to_owned(),
            command: "cargo xtask bench cases".to_owned(),
            page: "cases.md".to_owned(),
        }
    }

    #[test]
    fn a_new_figure_replaces_the_old_one_of_its_set_only() {
        let mut ledger = Ledger::default();
        add(&mut ledger, vec![entry(Set::Open, "1 of 10"), entry(Set::Fresh, "2 of 10")]);
        add(&mut ledger, vec![entry(Set::Open, "3 of 10")]);
        let figures: Vec<&str> = ledger.entries.iter().map(|e| e.figure.as_str()).collect();
        assert_eq!(figures, ["3 of 10", "2 of 10"]);
    }

    #[test]
    fn the_baseline_stays_beside_newer_figures() {
        let of = |commit: &str, figure: &str| Entry {
            commit: commit.to_owned(),
            ..entry(Set::Fresh, figure)
        };
        let mut ledger = Ledger { baseline: "base".to_owned(), ..Ledger::default() };
        add(&mut ledger, vec![of("new", "3 of 10")]);
        // The baseline can be measured later, too.
        add(&mut ledger, vec![of("base", "1 of 10")]);
        add(&mut ledger, vec![of("newer", "4 of 10")]);
        add(&mut ledger, vec![of("base", "2 of 10")]);
        let figures: Vec<&str> = ledger.entries.iter().map(|e| e.figure.as_str()).collect();
        assert_eq!(figures, ["2 of 10", "4 of 10"]);
        let text = page(&ledger);
        let cell = "| [4 of 10](cases.md), bar 9 of 10 (newer, 2026-01-31); was 2 of 10 (base, 2026-01-31) |";
        assert!(text.contains(cell), "{text}");
        assert!(text.contains("the baseline, commit base"), "{text}");
        let text = toml::to_string(&ledger).unwrap();
        assert_eq!(toml::from_str::<Ledger>(&text).unwrap().entries, ledger.entries);
    }

    #[test]
    fn each_set_has_its_own_column() {
        let mut ledger = Ledger::default();
        add(&mut ledger, vec![entry(Set::Fresh, "2 of 10")]);
        let text = page(&ledger);
        let row = text.lines().find(|line| line.starts_with("| detection")).unwrap();
        let expected =
            "| detection | found |  |  |  | [2 of 10](cases.md), bar 9 of 10 (abc, 2026-01-31) |";
        assert_eq!(row, expected);
        assert!(text.contains("- `cargo xtask bench cases`"));
    }
}
