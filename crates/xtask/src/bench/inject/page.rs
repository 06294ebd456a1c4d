//! The tables of the result page, the list of misses and the entries of the ledger.

use std::collections::BTreeSet;

use super::kind::Kind;
use super::rows::{Before, Header, Row};
use crate::bench::ledger::{Entry, Set};
use crate::bench::table::Table;

/// Of all injections, to be found.
pub const BAR: &str = "60 %";

pub fn percent(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.0}", 100.0 * part as f64 / whole as f64),
    }
}

fn count(rows: &[&Row], is: impl Fn(&Row) -> bool) -> usize {
    rows.iter().filter(|row| is(row)).count()
}

/// A figure of those rows where the question was asked; a dash where it was not.
fn asked(rows: &[&Row], of: impl Fn(&Row) -> Option<bool>) -> String {
    let answers: Vec<bool> = rows.iter().filter_map(|row| of(row)).collect();
    match answers.len() {
        0 => "-".to_owned(),
        _ => answers.iter().filter(|answer| **answer).count().to_string(),
    }
}

pub fn by_kind(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "kind",
        "injections",
        "found",
        "recall %",
        "only through",
        "missed, other rule",
        "clang-19",
        "shown by tests",
        "of these found",
    ]);
    let mut add = |title: &str, rows: &[&Row]| {
        let found = count(rows, |row| row.found.is_some());
        let shown: Vec<&Row> = rows.iter().copied().filter(|row| row.tests == Some(true)).collect();
        table.row(vec![
            title.to_owned(),
            rows.len().to_string(),
            found.to_string(),
            percent(found, rows.len()),
            count(rows, |row| row.found.is_some() && row.is_through).to_string(),
            count(rows, |row| row.found.is_none() && !row.other.is_empty()).to_string(),
            asked(rows, |row| row.clang),
            asked(rows, |row| row.tests),
            asked(&shown, |row| Some(row.found.is_some())),
        ]);
    };
    for kind in Kind::ALL {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
        if !of_kind.is_empty() {
            add(kind.title(), &of_kind);
        }
    }
    add("all", &rows.iter().collect::<Vec<_>>());
    table
}

pub fn by_project(rows: &[Row]) -> Table {
    let mut table = Table::new(&["project", "injections", "found", "recall %", "CPU s"]);
    let projects: BTreeSet<&str> = rows.iter().map(|row| row.project.as_str()).collect();
    for project in projects {
        let of: Vec<&Row> = rows.iter().filter(|row| row.project == project).collect();
        let found = count(&of, |row| row.found.is_some());
        table.row(vec![
            project.to_owned(),
            of.len().to_string(),
            found.to_string(),
            percent(found, of.len()),
            format!("{:.0}", of.iter().map(|row| row.cpu).sum::<f64>()),
        ]);
    }
    table
}

/// What another commit found of the same faults, by kind, and what only one of both found.
fn compared(rows: &[Row], before: &Before, commit: &str) -> String {
    let was = |row: &Row| before.rows.get(&row.id).map(|old| old.found.is_some());
    let asked: Vec<&Row> = rows.iter().filter(|row| was(row).is_some()).collect();
    let mut table = Table::new(&["kind", "injections", &before.commit, commit, "won", "lost"]);
    let mut add = |title: &str, rows: &[&Row]| {
        let both = |old: bool, new: bool| {
            count(rows, |row| was(row) == Some(old) && row.found.is_some() == new)
        };
        table.row(vec![
            title.to_owned(),
            rows.len().to_string(),
            (both(true, true) + both(true, false)).to_string(),
            (both(true, true) + both(false, true)).to_string(),
            both(false, true).to_string(),
            both(true, false).to_string(),
        ]);
    };
    for kind in Kind::ALL {
        let of_kind: Vec<&Row> = asked.iter().copied().filter(|row| row.kind == kind).collect();
        if !of_kind.is_empty() {
            add(kind.title(), &of_kind);
        }
    }
    add("all", &asked);
    let cpu = |rows: &mut dyn Iterator<Item = &Row>| rows.map(|row| row.cpu).sum::<f64>();
    format!(
        "\n## Found by {} and by {commit}\n\nThe same faults; {:.0} and {:.0} CPU s.\n\n{table}",
        before.commit,
        cpu(&mut asked.iter().filter_map(|row| before.rows.get(&row.id))),
        cpu(&mut asked.iter().copied())
    )
}

/// Each miss with what was changed and what was reported there instead.
pub fn misses(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.found.is_none()) {
        text += &format!("{}\n", row.line());
        for other in &row.other {
            text += &format!("  reported instead: {other}\n");
        }
        if !row.undecided.is_empty() {
            text += &format!("  undecided there: {}\n", row.undecided.join("; "));
        }
        text += &format!("{}\n", row.diff);
    }
    text
}

pub fn document(
    rows: &[Row],
    before: Option<&Before>,
    header: &Header,
    command: &str,
    date: &str,
    drawn: &str,
) -> String {
    let compared = before.map(|before| compared(rows, before, &header.commit));
    let troubled = rows.iter().filter(|row| !row.trouble.is_empty()).count();
    format!(
        "# Faults put into real code\n\n`{command}`, commit {}, {date}.\n\n\
         Faults put into the source text by kind, evenly over the kinds as far as there are places, \
         drawn by seed {} from {}. Each changed unit compiles and its code differs from before. Found \
         is what a report of a right rule shows that lies in the changed function, or whose path \
         passes it, and that the unchanged program did not have (rule, file and line). `Only through`: \
         found, but reported elsewhere. `Missed, other rule`: a new report of another rule touches \
         the function. `clang-19`: its analyzer with default checkers on the changed unit alone, by \
         the same score. The last columns are about packages whose tests were run with sanitizers.\n\n\
         The whole program is checked with all default rules, as a user would: `--function` would \
         look harder in the changed function than `check` does, and so favour a hit. Up to {} \
         injections share a run; they are of different units and kinds, and no function of theirs \
         names another's. A new report that touches two of them is not counted; both are then \
         checked alone. Bar: {BAR} over all kinds.\n\n{}\n{}\n{drawn}{}{}",
        header.commit,
        header.seed,
        header.projects.join(", "),
        header.batch,
        by_kind(rows),
        by_project(rows),
        match troubled {
            0 => String::new(),
            n => format!("\n{n} injections had trouble: no report, or an incomplete one.\n"),
        },
        compared.unwrap_or_default()
    )
}

pub fn entries(rows: &[Row], header: &Header, command: &str, date: &str) -> Vec<Entry> {
    let entry = |what: String, rows: &[&Row], bar: &str| {
        let found = count(rows, |row| row.found.is_some());
        Entry {
            part: "detection".to_owned(),
            set: Set::Fresh,
            what,
            figure: format!("{found} of {} ({} %)", rows.len(), percent(found, rows.len())),
            bar: bar.to_owned(),
            commit: header.commit.clone(),
            date: date.to_owned(),
            command: command.to_owned(),
            page: "inject.md".to_owned(),
        }
    };
    let all: Vec<&Row> = rows.iter().collect();
    let mut entries = vec![entry("faults put into real code, found".to_owned(), &all, BAR)];
    for kind in Kind::ALL {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
        if !of_kind.is_empty() {
            let what = format!("faults put into real code: {}", kind.title());
            entries.push(entry(what, &of_kind, ""));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::row;
    use super::*;

    fn rows() -> Vec<Row> {
        let mut rows = vec![
            row("x-001", Kind::Bound, Some("buffer-overflow")),
            row("x-002", Kind::Bound, None),
            row("y-001", Kind::UseAfter, None),
        ];
        rows[0].tests = Some(true);
        rows[1].tests = Some(false);
        rows[1].clang = Some(true);
        rows[1].undecided.push("2 x budget".to_owned());
        rows[2].other.push("4:leak lost".to_owned());
        rows
    }

    #[test]
    fn recall_is_counted_by_kind_and_over_all() {
        let text = by_kind(&rows()).to_string();
        let cells = |start: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.contains(start)).unwrap();
            line.split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        assert_eq!(cells("`<` made")[2..], ["2", "1", "50", "0", "0", "1", "1", "1", ""]);
        assert_eq!(cells("| all")[2..], ["3", "1", "33", "0", "1", "1", "1", "1", ""]);
        assert!(
            by_project(&rows()).to_string().contains("| x       |          2 |     1 |       50 |")
        );
    }

    #[test]
    fn two_commits_are_compared_on_what_both_were_asked() {
        let old = |id: &str, found| (id.to_owned(), row(id, Kind::Bound, found));
        let before = Before {
            commit: "old".to_owned(),
            rows: [old("x-001", None), old("x-002", Some("leak"))].into(),
        };
        let text = compared(&rows(), &before, "new");
        let line = text.lines().find(|line| line.contains("| all")).unwrap();
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(cells[2..7], ["2", "1", "1", "1", "1"], "{text}");
        assert!(text.contains("## Found by old and by new"), "{text}");
    }

    #[test]
    fn misses_are_listed_with_their_diff_and_finds_are_not() {
        let text = misses(&rows());
        assert!(text.contains("x-002") && text.contains("-a\n+b\n"));
        assert!(text.contains("reported instead: 4:leak lost"));
        assert!(text.contains("undecided there: 2 x budget"));
        assert!(!text.contains("x-001"));
    }

    #[test]
    fn the_ledger_gets_the_whole_with_its_bar() {
        let header = Header {
            commit: "abc".to_owned(),
            seed: 1,
            count: 3,
            batch: 1,
            projects: Vec::new(),
            kinds: Vec::new(),
            options: Vec::new(),
        };
        let entries = entries(&rows(), &header, "c", "2026-01-31");
        assert_eq!(entries.len(), 3);
        assert_eq!((entries[0].figure.as_str(), entries[0].bar.as_str()), ("1 of 3 (33 %)", BAR));
    }
}
