//! The figures of one corpus, and the tables they make.

use std::collections::{BTreeMap, BTreeSet};

use super::peers::{Peer, Spent};
use crate::bench::subject::{Ran, Report};
use crate::bench::table::Table;

pub struct Row {
    pub name: String,
    pub kloc: f64,
    pub ran: Ran,
    pub peers: Vec<(Peer, Spent)>,
}

impl Row {
    pub fn new(name: &str, kloc: f64, ran: Ran) -> Self {
        Self { name: name.to_owned(), kloc, ran, peers: Vec::new() }
    }

    pub fn cpu(&self) -> f64 {
        self.ran.cpu.as_secs_f64()
    }

    pub fn n_findings(&self) -> usize {
        self.report().map_or(0, |report| report.faults.len())
    }

    pub fn per_5_kloc(&self) -> f64 {
        self.n_findings() as f64 * 5.0 / self.kloc
    }

    /// Our share of the CPU time of clang's analyzer, where that was measured.
    pub fn of_clang(&self) -> Option<f64> {
        self.peer(Peer::Clang).map(|spent| self.cpu() / spent.cpu.as_secs_f64())
    }

    fn peer(&self, wanted: Peer) -> Option<&Spent> {
        self.peers.iter().find(|(peer, _)| *peer == wanted).map(|(_, spent)| spent)
    }

    fn report(&self) -> Option<&Report> {
        self.ran.results.as_ref().map(|(_, report, _)| report)
    }

    fn phase(&self, phase: &str) -> f64 {
        let timings = self.ran.results.as_ref().map(|(timings, ..)| timings);
        timings.and_then(|t| t.cpu_seconds.get(phase).copied()).unwrap_or(0.0)
    }

    /// What correlation takes beside detection.
    pub fn correlation_share(&self) -> Option<f64> {
        let detect = self.phase("detect");
        (detect > 0.0).then(|| self.phase("correlate") / detect)
    }

    /// A figure of the report; a dash where there is none.
    fn figure(&self, of: impl Fn(&Report) -> String) -> String {
        self.report().map_or("-".to_owned(), of)
    }
}

pub fn costs(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "corpus",
        "KLOC",
        "CPU s",
        "clang analyzer CPU s",
        "of clang",
        "gcc analyzer CPU s",
        "cppcheck CPU s",
        "memory MiB",
        "findings",
        "per 5 KLOC",
    ]);
    for row in rows {
        let stopped = if row.ran.results.is_some() { "" } else { ">" };
        let peer = |peer| row.peer(peer).map_or("-".to_owned(), spent);
        table.row(vec![
            row.name.clone(),
            format!("{:.1}", row.kloc),
            format!("{stopped}{:.1}", row.cpu()),
            peer(Peer::Clang),
            row.of_clang().map_or("-".to_owned(), |share| format!("{stopped}{share:.2}")),
            peer(Peer::Gcc),
            peer(Peer::Cppcheck),
            (row.ran.peak_memory >> 20).to_string(),
            row.figure(|report| report.faults.len().to_string()),
            row.figure(|_| format!("{:.2}", row.per_5_kloc())),
        ]);
    }
    table
}

fn spent(spent: &Spent) -> String {
    let seconds = spent.cpu.as_secs_f64();
    match spent.n_stopped {
        0 => format!("{seconds:.1}"),
        n_stopped => format!(">{seconds:.1} ({n_stopped})"),
    }
}

pub fn phases(rows: &[Row]) -> Table {
    let phases: BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| row.ran.results.as_ref())
        .flat_map(|(timings, ..)| timings.cpu_seconds.keys().map(String::as_str))
        .collect();
    let mut header = vec!["corpus"];
    header.extend(&phases);
    header.push("correlate of detect %");
    let mut table = Table::new(&header);
    for row in rows.iter().filter(|row| row.ran.results.is_some()) {
        let mut cells = vec![row.name.clone()];
        cells.extend(phases.iter().map(|phase| format!("{:.2}", row.phase(phase))));
        cells.push(percent(row.phase("correlate"), row.phase("detect")));
        table.row(cells);
    }
    table
}

/// The columns of the paper's tables 3, 4 and 5.
pub fn correlations(rows: &[Row]) -> Table {
    const FIGURES: [(&str, &str); 11] = [
        ("faults", "faults_detected"),
        ("correlated", "faults_correlated"),
        ("by correlation", "faults_by_correlation"),
        ("correlations", "correlations"),
        ("unique", "correlations_unique"),
        ("not", "correlations_not_unique"),
        ("direct", "correlations_direct"),
        ("indirect", "correlations_by_feasibility"),
        ("within procedures", "correlations_within_procedures"),
        ("across", "correlations_across_procedures"),
        ("groups", "correlation_groups"),
    ];
    let mut header = vec!["corpus"];
    header.extend(FIGURES.iter().map(|(title, _)| title));
    header.push("pairs");
    let mut table = Table::new(&header);
    for row in rows {
        let mut cells = vec![row.name.clone()];
        let stat = |name: &str| row.figure(|report| format!("{}", report.stat(name)));
        cells.extend(FIGURES.iter().map(|(_, name)| stat(name)));
        cells.push(row.figure(|report| {
            let pairs = report.stats.iter().filter_map(|(name, n)| {
                Some(format!("{} {n}", name.strip_prefix("correlations ")?))
            });
            pairs.collect::<Vec<_>>().join(", ")
        }));
        table.row(cells);
    }
    table
}

pub fn engine(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "corpus",
        "queries",
        "safe",
        "infeasible",
        "unsafe",
        "contract",
        "don't know",
        "procedures visited %",
        "blocks visited %",
        "segment length",
        "procedures (max)",
        "impacts",
        "without z3 %",
    ]);
    for row in rows {
        let stat = |name: &str| row.figure(|report| format!("{}", report.stat(name)));
        let share = |part: &str, whole: &str| {
            row.figure(|report| percent(report.stat(part), report.stat(whole)))
        };
        table.row(vec![
            row.name.clone(),
            stat("queries"),
            stat("queries_safe"),
            stat("queries_infeasible"),
            stat("queries_unsafe"),
            stat("queries_contract"),
            stat("queries_dont_know"),
            share("procedures_visited", "procedures"),
            share("blocks_visited", "blocks"),
            row.figure(|report| mean_over_segments(report, |_| true)),
            row.figure(procedures_crossed),
            row.figure(|report| mean_over_segments(report, |is_impact| is_impact)),
            share("checks_decided_here", "checks"),
        ]);
    }
    table
}

/// How many steps of this kind a segment has on average.
fn mean_over_segments(report: &Report, counts: impl Fn(bool) -> bool) -> String {
    let segments: Vec<_> = report.faults.iter().flat_map(|fault| &fault.segments).collect();
    let steps = segments.iter().flat_map(|segment| &segment.steps);
    let n_steps = steps.filter(|step| counts(step.impact)).count();
    match segments.len() {
        0 => "-".to_owned(),
        n_segments => format!("{:.1}", n_steps as f64 / n_segments as f64),
    }
}

/// How many procedures a segment crosses on average, and at most.
fn procedures_crossed(report: &Report) -> String {
    let crossed: Vec<usize> = report
        .faults
        .iter()
        .flat_map(|fault| &fault.segments)
        .map(|segment| segment.steps.iter().map(|step| &step.function).collect::<BTreeSet<_>>())
        .map(|procedures| procedures.len())
        .collect();
    let Some(most) = crossed.iter().max() else { return "-".to_owned() };
    let mean = crossed.iter().sum::<usize>() as f64 / crossed.len() as f64;
    format!("{mean:.1} ({most})")
}

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1}", 100.0 * part / whole) } else { "-".to_owned() }
}

pub fn rules(rows: &[Row]) -> Table {
    let count = |row: &Row| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for fault in row.report().map_or(&[][..], |report| &report.faults) {
            *counts.entry(fault.rule.clone()).or_default() += 1;
        }
        counts
    };
    let counts: Vec<(&Row, BTreeMap<String, usize>)> =
        rows.iter().map(|row| (row, count(row))).collect();
    let rules: BTreeSet<&str> =
        counts.iter().flat_map(|(_, counts)| counts.keys().map(String::as_str)).collect();
    let mut header = vec!["corpus"];
    header.extend(&rules);
    let mut table = Table::new(&header);
    for (row, counts) in &counts {
        let mut cells = vec![row.name.clone()];
        cells.extend(rules.iter().map(|rule| counts.get(*rule).unwrap_or(&0).to_string()));
        table.row(cells);
    }
    table
}
