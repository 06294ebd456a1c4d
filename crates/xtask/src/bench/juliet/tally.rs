//! Outcomes counted, as a table and as a list to read.

use std::collections::BTreeMap;

use super::cases::Case;
use super::{Checked, Mode, Outcome};
use crate::bench::subject::Fault;
use crate::bench::table::Table;

/// CWEs that by default are only faults when the value matters.
const ONLY_STRICT: [u32; 3] = [190, 191, 197];

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    hits: f64,
    false_files: f64,
    failed: f64,
}

pub fn count_by_cwe(cases: &[Case]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for case in cases {
        *counts.entry(case.cwe).or_default() += 1;
    }
    counts
}

/// One row for each CWE and for all, the modes side by side.
pub fn table(checked: &[Checked], modes: &[Mode], in_suite: &BTreeMap<u32, usize>) -> Table {
    let mut header = vec!["CWE", "files", "in suite"];
    for mode in modes {
        header.extend(match mode {
            Mode::Default => ["hits", "%", "false", "%", "failed"],
            Mode::Strict => ["strict hits", "%", "false", "%", "failed"],
        });
    }
    let mut table = Table::new(&header);
    for cwe in in_suite.keys() {
        row(&mut table, &cwe.to_string(), checked, modes, in_suite, &|c| c == *cwe, false);
    }
    let without = |cwe| !ONLY_STRICT.contains(&cwe);
    row(&mut table, "all", checked, modes, in_suite, &|_| true, false);
    row(&mut table, "all but 190, 191, 197", checked, modes, in_suite, &without, false);
    let n_cases: usize = in_suite.values().sum();
    if n_cases != checked.len() {
        row(&mut table, "all, weighted", checked, modes, in_suite, &|_| true, true);
        let name = "all but 190, 191, 197, weighted";
        row(&mut table, name, checked, modes, in_suite, &without, true);
    }
    table
}

/// Percentages of the suite's cases that are hit and falsely reported by default, each CWE
/// weighted by its share of the suite; without the CWEs that are only faults to a strict reader.
pub fn weighted(checked: &[Checked], in_suite: &BTreeMap<u32, usize>) -> (f64, f64) {
    let counted = checked.iter().filter(|c| !ONLY_STRICT.contains(&c.case.cwe));
    let in_sample = |cwe: u32| checked.iter().filter(|c| c.case.cwe == cwe).count();
    let (mut tally, mut total) = (Tally::default(), 0.0);
    for Checked { case, outcomes, .. } in counted {
        let weight = in_suite[&case.cwe] as f64 / in_sample(case.cwe) as f64;
        total += weight;
        let of_mode = outcomes.iter().filter(|(mode, _)| *mode == Mode::Default);
        of_mode.for_each(|(_, outcome)| tally.add(outcome, weight));
    }
    (100.0 * tally.hits / total, 100.0 * tally.false_files / total)
}

fn row(
    table: &mut Table,
    name: &str,
    checked: &[Checked],
    modes: &[Mode],
    in_suite: &BTreeMap<u32, usize>,
    counts: &dyn Fn(u32) -> bool,
    weighted: bool,
) {
    let counted: Vec<&Checked> = checked.iter().filter(|c| counts(c.case.cwe)).collect();
    if counted.is_empty() {
        return;
    }
    let in_sample = |cwe: u32| checked.iter().filter(|c| c.case.cwe == cwe).count();
    let weight = |cwe: u32| {
        if weighted { in_suite[&cwe] as f64 / in_sample(cwe) as f64 } else { 1.0 }
    };
    let n_suite: usize = in_suite.iter().filter(|(cwe, _)| counts(**cwe)).map(|(_, n)| n).sum();
    let mut cells = vec![name.to_owned(), counted.len().to_string(), n_suite.to_string()];
    let total: f64 = counted.iter().map(|c| weight(c.case.cwe)).sum();
    for mode in modes {
        let mut tally = Tally::default();
        for checked in &counted {
            let of_mode = checked.outcomes.iter().filter(|(m, _)| m == mode);
            of_mode.for_each(|(_, outcome)| tally.add(outcome, weight(checked.case.cwe)));
        }
        let absolute = |n: f64| if weighted { "-".to_owned() } else { n.to_string() };
        let percent = |n: f64| format!("{:.1}", 100.0 * n / total);
        cells.extend([
            absolute(tally.hits),
            percent(tally.hits),
            absolute(tally.false_files),
            percent(tally.false_files),
            absolute(tally.failed),
        ]);
    }
    table.row(cells);
}

impl Tally {
    fn add(&mut self, outcome: &Outcome, weight: f64) {
        match outcome {
            Outcome::Checked { hit, false_faults } => {
                self.hits += if *hit { weight } else { 0.0 };
                self.false_files += if false_faults.is_empty() { 0.0 } else { weight };
            }
            Outcome::Failed(_) => self.failed += weight,
        }
    }
}

/// What went wrong, a line each: mode, CWE, what, where.
pub fn list(checked: &[Checked]) -> String {
    let mut lines = String::new();
    for Checked { case, outcomes, .. } in checked {
        for (mode, outcome) in outcomes {
            let start = format!("{mode:?} {}", case.cwe).to_lowercase();
            let file = case.file.display();
            match outcome {
                Outcome::Failed(why) => lines += &format!("{start} failed {file}: {why}\n"),
                Outcome::Checked { hit, false_faults } => {
                    if !hit {
                        lines += &format!("{start} missed {file}\n");
                    }
                    for fault in false_faults {
                        let Fault { line, function, rule, message, .. } = fault;
                        lines += &format!(
                            "{start} false {file}:{line}: {message} [{rule}] in {function}\n"
                        );
                    }
                }
            }
        }
    }
    lines
}
