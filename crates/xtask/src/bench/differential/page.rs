//! `bench/results/differential.md` and the entries of the ledger.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::row::{Row, Seeded};
use crate::bench::ledger::{self, Entry, Set};
use crate::bench::table::Table;

const COMMAND: &str = "cargo xtask bench differential";

/// Counts of wrong variants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Recall {
    n_shown: u32,
    n_found: u32,
    n_static: u32,
    n_explore: u32,
    /// Missed, and the static engine says that it does not know.
    n_open: u32,
}

impl Recall {
    fn add(&mut self, seeded: &Seeded) {
        let is_found = seeded.by_static || seeded.by_explore;
        self.n_shown += 1;
        self.n_found += u32::from(is_found);
        self.n_static += u32::from(seeded.by_static);
        self.n_explore += u32::from(seeded.by_explore);
        self.n_open += u32::from(!is_found && seeded.is_open);
    }

    fn cells(self) -> Vec<String> {
        let silent = self.n_shown - self.n_found - self.n_open;
        let numbers =
            [self.n_shown, self.n_found, self.n_static, self.n_explore, self.n_open, silent];
        numbers.iter().map(u32::to_string).collect()
    }
}

/// Recall of what was shown natively, by some property of what was seeded.
fn recall(rows: &[Row], by: impl Fn(&Seeded) -> String) -> BTreeMap<String, Recall> {
    let mut recall: BTreeMap<String, Recall> = BTreeMap::new();
    for seeded in rows.iter().flat_map(|row| &row.seeded).filter(|seeded| seeded.is_shown) {
        recall.entry(by(seeded)).or_default().add(seeded);
    }
    recall
}

fn percent(part: u32, whole: u32) -> String {
    match whole {
        0 => format!("{part} of 0"),
        whole => format!("{part} of {whole} ({:.0} %)", 100.0 * f64::from(part) / f64::from(whole)),
    }
}

/// Contradictions of a kind, by engine, rule and idiom.
fn grouped(rows: &[Row], kind: &str) -> BTreeMap<(String, String, String), (u32, String)> {
    let mut groups = BTreeMap::new();
    for row in rows {
        for c in row.contradictions.iter().filter(|c| c.kind == kind) {
            let key = (c.engine.clone(), c.rule.clone(), c.about.clone());
            let first = || (0, format!("program {}, line {}: {}", row.seed, c.line, c.told));
            groups.entry(key).or_insert_with(first).0 += 1;
        }
    }
    groups
}

fn n_of(rows: &[Row], kind: &str) -> u32 {
    let all = rows.iter().flat_map(|row| &row.contradictions);
    all.filter(|c| c.kind == kind).count() as u32
}

/// Writes the page and records the figures.
pub fn write(
    root: &Path,
    rows: &[Row],
    before: Option<(&str, &[Row])>,
    commit: &str,
    seed: u64,
) -> Result<()> {
    let date = ledger::today(root);
    let mut text = page(rows, &format!("commit {commit}, {date}"), seed);
    if let Some((old, before)) = before {
        text += &compared((old, before), (commit, rows));
    }
    let path = root.join("bench/results/differential.md");
    std::fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    print!("{text}");
    ledger::record(root, entries(rows, commit, &date, seed))
}

fn entries(rows: &[Row], commit: &str, date: &str, seed: u64) -> Vec<Entry> {
    let entry = |what: &str, figure: String, bar: &str| Entry {
        part: "differential".to_owned(),
        set: Set::Fresh,
        what: what.to_owned(),
        figure,
        bar: bar.to_owned(),
        commit: commit.to_owned(),
        date: date.to_owned(),
        command: format!("{COMMAND} --seed {seed} --programs {}", rows.len()),
        page: "differential.md".to_owned(),
    };
    let proved = sum(rows, |row| row.proved[0]);
    let tried: u32 = proved + sum(rows, |row| row.proved[1] + row.proved[2]);
    let mut all = Recall::default();
    for seeded in rows.iter().flat_map(|row| &row.seeded).filter(|seeded| seeded.is_shown) {
        all.add(seeded);
    }
    let n_static = sum(rows, |row| row.n_static);
    let mut entries = vec![
        entry("programs examined", rows.len().to_string(), ""),
        entry("proved, and nothing natively", n_of(rows, "unshown").to_string(), "0"),
        entry("failed runs of the tool", n_of(rows, "failed").to_string(), "0"),
        entry("proved, shown natively", percent(proved, tried), "all"),
        entry("seeded faults found", percent(all.n_found, all.n_shown), ""),
        entry("seeded faults found by the static engine", percent(all.n_static, all.n_shown), ""),
        entry("seeded faults found by running", percent(all.n_explore, all.n_shown), ""),
        entry("static reports in right code", percent(n_of(rows, "false"), n_static), "0"),
    ];
    let n_settled = sum(rows, |row| row.n_settled);
    if n_settled > 0 {
        let figure = format!("{} of {n_settled}", n_of(rows, "settled"));
        entries.push(entry("settled as safe by facts, and shown natively", figure, "0"));
    }
    for (rule, recall) in recall(rows, |seeded| seeded.rule.clone()) {
        let figure = percent(recall.n_found, recall.n_shown);
        entries.push(entry(&format!("seeded faults found: {rule}"), figure, ""));
    }
    entries
}

fn sum(rows: &[Row], of: impl Fn(&Row) -> u32) -> u32 {
    rows.iter().map(of).sum()
}

fn page(rows: &[Row], origin: &str, seed: u64) -> String {
    let mut text = format!(
        "# Generated programs: sanitizers, search by running and static answers\n\n\
         {origin}, {} programs from seed {seed}, `{COMMAND}`. Each is made of idioms of real C, \
         right or wrong in a known way; half have nothing wrong. It is run natively under \
         AddressSanitizer, UndefinedBehaviorSanitizer, LeakSanitizer and MemorySanitizer, \
         searched by running, and analysed statically.\n\n",
        rows.len()
    );
    let [confirmed, different, nothing, unseen, not_run] =
        [0, 1, 2, 3, 4].map(|at| sum(rows, |row| row.proved[at]));
    let cpu = |at: usize| rows.iter().map(|row| row.cpu[at]).sum::<f64>();
    let n_seeded = rows.iter().map(|row| row.seeded.len()).sum::<usize>();
    let n_right = rows.iter().filter(|row| row.seeded.is_empty()).count();
    let n_shown = sum(rows, |row| row.seeded.iter().filter(|s| s.is_shown).count() as u32);
    let lines = [
        format!(
            "programs without a fault: {n_right}; seeded faults: {n_seeded}, shown natively: {n_shown}"
        ),
        format!(
            "native runs: {} in {:.0} CPU s; static engine {:.0} CPU s, search {:.0} CPU s",
            sum(rows, |row| row.n_runs),
            cpu(0),
            cpu(1),
            cpu(2)
        ),
        format!(
            "proved faults run on their witness: {confirmed} confirmed, {different} show something else, **{nothing} show nothing**; {unseen} of rules no sanitizer sees, {not_run} that no command line gives"
        ),
        format!("**failed runs of the tool: {}**", n_of(rows, "failed")),
        match sum(rows, |row| row.n_asked) {
            0 => "what facts settle is not told by this build".to_owned(),
            n_asked => format!(
                "questions of the static engine: {n_asked}, settled by facts: {}, **of these shown natively: {}**",
                sum(rows, |row| row.n_settled),
                n_of(rows, "settled")
            ),
        },
        format!(
            "static reports: {}, in right code {}, in wrong parts under other rules (not judged) {}",
            sum(rows, |row| row.n_static),
            n_of(rows, "false"),
            sum(rows, |row| row.n_unclear)
        ),
        format!(
            "right forms that showed something natively (defects of the idioms): {}",
            sum(rows, |row| row.broken.len() as u32)
        ),
    ];
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
    text += "\nWhat searches took for safe is not listed. *Silent* is a miss where the static \
             engine says neither that it does not know nor what it asks of callers; it counts as \
             recall only.\n";
    let header = ["shown", "found", "static", "explore", "don't know", "silent"];
    type By = fn(&Seeded) -> String;
    let tables: [(&str, By); 3] = [
        ("rule", |seeded| seeded.rule.clone()),
        ("idiom", |seeded| seeded.idiom.clone()),
        ("variant", |seeded| format!("{}/{}", seeded.idiom, seeded.variant)),
    ];
    for (name, by) in tables {
        let mut table = Table::new(&[&[name], &header[..]].concat());
        for (key, recall) in recall(rows, by) {
            table.row([vec![key], recall.cells()].concat());
        }
        let _ = write!(text, "\n## Seeded faults that were shown, by {name}\n\n{table}");
    }
    for (kind, title) in [
        ("failed", "Failed runs"),
        ("unshown", "Proved, and nothing natively"),
        ("settled", "Settled as safe, and shown natively"),
        ("false", "Reported in right code"),
    ] {
        let groups = grouped(rows, kind);
        if groups.is_empty() {
            continue;
        }
        let mut table = Table::new(&["rule", "idiom", "engine", "times", "first"]);
        for ((engine, rule, about), (times, first)) in groups {
            table.row(vec![rule, about, engine, times.to_string(), first.replace('|', "\\|")]);
        }
        let _ = write!(text, "\n## {title}\n\n{table}");
    }
    text
}

/// Two commits on the programs both have examined.
fn compared((old, before): (&str, &[Row]), (new, now): (&str, &[Row])) -> String {
    let common = |rows: &[Row], others: &[Row]| -> Vec<Row> {
        let is_common = |row: &&Row| others.iter().any(|other| other.seed == row.seed);
        rows.iter().filter(is_common).cloned().collect()
    };
    let (before, now) = (common(before, now), common(now, before));
    let mut table = Table::new(&["on the same programs", old, new]);
    let figures = |rows: &[Row]| -> Vec<(String, String)> {
        let entries = entries(rows, "", "", 0).into_iter();
        let mut figures: Vec<_> = entries.map(|entry| (entry.what, entry.figure)).collect();
        for (at, engine) in [(1, "static engine"), (2, "search")] {
            let cpu = rows.iter().map(|row| row.cpu[at]).sum::<f64>();
            figures.push((format!("{engine}, CPU s"), format!("{cpu:.0}")));
        }
        figures
    };
    let was: BTreeMap<String, String> = figures(&before).into_iter().collect();
    for (what, figure) in figures(&now) {
        let old = was.get(&what).cloned().unwrap_or_default();
        table.row(vec![what, old, figure]);
    }
    format!("\n## {old} and {new}\n\n{table}")
}

#[cfg(test)]
mod tests {
    use super::super::row::Told;
    use super::super::row::tests::row;
    use super::*;

    fn seeded(by_static: bool, by_explore: bool, is_open: bool) -> Seeded {
        Seeded {
            idiom: "ring".to_owned(),
            variant: "late".to_owned(),
            rule: "leak".to_owned(),
            is_shown: true,
            by_static,
            by_explore,
            is_open,
        }
    }

    fn rows() -> Vec<Row> {
        let told = |kind: &str| Told {
            kind: kind.to_owned(),
            engine: "static".to_owned(),
            rule: "leak".to_owned(),
            line: 3,
            about: "ring".to_owned(),
            told: "x | y".to_owned(),
        };
        let hidden = Seeded { is_shown: false, ..seeded(true, true, false) };
        vec![
            Row {
                seeded: vec![seeded(true, false, false), seeded(false, false, true), hidden],
                contradictions: vec![told("false"), told("unshown"), told("false")],
                n_static: 4,
                proved: [3, 1, 1, 0, 0],
                ..row(1)
            },
            Row { seeded: vec![seeded(false, false, false)], ..row(2) },
        ]
    }

    #[test]
    fn only_what_was_shown_counts_as_missed() {
        let recall = &recall(&rows(), |seeded| seeded.rule.clone())["leak"];
        let expected = Recall { n_shown: 3, n_found: 1, n_static: 1, n_explore: 0, n_open: 1 };
        assert_eq!(*recall, expected);
        assert_eq!(recall.cells().last().unwrap(), "1", "one is silent");
    }

    #[test]
    fn the_ledger_has_what_the_page_has() {
        let entries = entries(&rows(), "abc", "2026-01-31", 5);
        let figure = |what: &str| entries.iter().find(|e| e.what == what).unwrap().figure.clone();
        assert_eq!(figure("proved, and nothing natively"), "1");
        assert_eq!(figure("proved, shown natively"), "3 of 5 (60 %)");
        assert_eq!(figure("seeded faults found"), "1 of 3 (33 %)");
        assert_eq!(figure("static reports in right code"), "2 of 4 (50 %)");
        assert_eq!(figure("seeded faults found: leak"), "1 of 3 (33 %)");
        assert!(entries.iter().all(|e| !e.what.contains("settled")), "it was not told");
        let mut told = rows();
        (told[0].n_asked, told[0].n_settled) = (9, 7);
        told[0].contradictions[0].kind = "settled".to_owned();
        let told = super::entries(&told, "abc", "2026-01-31", 5);
        assert_eq!(told.iter().find(|e| e.what.contains("settled")).unwrap().figure, "1 of 7");
        let page = page(&rows(), "commit abc", 5);
        assert!(page.contains("**1 show nothing**"), "{page}");
        assert!(page.contains("x \\| y"), "{page}");
    }

    #[test]
    fn commits_are_compared_on_the_programs_both_have() {
        let mut before = rows();
        before.push(row(7));
        let mut now = rows();
        now[0].seeded[1].by_explore = true;
        now.push(row(8));
        let text = compared(("old", &before), ("new", &now));
        let of = |what: &str| {
            let line = text.lines().find(|line| line.contains(&format!("| {what} ")));
            let cells = line.unwrap_or_else(|| panic!("no {what} in {text}")).split('|');
            cells.map(|cell| cell.trim().to_owned()).skip(2).take(2).collect::<Vec<_>>()
        };
        assert_eq!(of("programs examined"), ["2", "2"]);
        assert_eq!(of("seeded faults found"), ["1 of 3 (33 %)", "2 of 3 (67 %)"]);
    }

    #[test]
    fn nothing_of_nothing_is_no_percentage() {
        assert_eq!(percent(0, 0), "0 of 0");
    }
}
