//! `cargo xtask bench locate`: how high the faulty statement ranks, and what that costs, on a
//! collection of faulty programs with tests.
//!
//! The collection is the user's: a `versions.toml` with one `[[version]]` for each program,
//! paths relative to it. The measure is the paper's: the percentage of statements executed
//! by failing tests that need not be looked at before a faulty one, ties counted against us.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Limits};
use clap::Args;
use serde::Deserialize;

use super::table::Table;
use super::{parallel, subject};

#[derive(Args)]
pub struct Locate {
    /// The list of faulty programs, for example suite/versions.toml
    #[arg(long)]
    versions: PathBuf,
    /// Only programs of these names
    #[arg(long, value_delimiter = ',')]
    program: Vec<String>,
    /// The search, as for `firstfault locate`
    #[arg(long, default_value = "reduced")]
    search: String,
    /// Search by forks, even where memory snapshots would do
    #[arg(long)]
    fork: bool,
    /// Only run the tests: what instrumentation costs, without searching
    #[arg(long)]
    tests_only: bool,
    /// Also print a line for each version
    #[arg(long)]
    each: bool,
    /// Programs left out of the row without small ones, where no score can reach 99 %
    #[arg(long, value_delimiter = ',', default_value = "tcas")]
    small: Vec<String>,
    /// Threads of each firstfault
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
    /// Versions at once; with more than one, wall times say little
    #[arg(long, default_value_t = 1)]
    at_once: usize,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Collection {
    version: Vec<Version>,
}

#[derive(Clone, Deserialize)]
struct Version {
    /// What it is a faulty version of.
    program: String,
    name: String,
    files: Vec<PathBuf>,
    tests: PathBuf,
    #[serde(default)]
    flags: Vec<String>,
    /// Lines of the first file that hold the fault, or stand beside an omitted statement.
    faulty: BTreeSet<u32>,
    /// Further lines that count as finding it by the paper's rule: those that use a wrong
    /// constant, those that an omitted statement would influence or be influenced by.
    #[serde(default)]
    uses: BTreeSet<u32>,
    /// What is wrong: "constant", "omission" or anything else.
    #[serde(default)]
    kind: String,
}

/// The part of the report that matters here.
#[derive(Deserialize)]
struct Report {
    statements: Vec<Statement>,
}

#[derive(Clone, Deserialize)]
struct Statement {
    rank: u32,
    line: u32,
    #[serde(default)]
    measures: BTreeMap<String, f64>,
}

/// What `--timings` wrote.
#[derive(Default, Deserialize)]
struct Timings {
    replacements: u64,
    cpu_seconds: BTreeMap<String, f64>,
}

/// Ways to rank, each by measures in this order; firstfault's own ranks are in the report.
const RANKINGS: &[(&str, &[&str])] = &[
    ("tarantula", &["tarantula"]),
    ("ochiai", &["ochiai"]),
    ("dstar", &["dstar"]),
    ("op2", &["op2"]),
    ("paper", &["ivmp_tests", "tarantula"]),
    ("firstfault", &[]),
];

/// Rank and score of the best faulty line.
type Place = Option<(u32, f64)>;

/// What a run on one version gave.
#[derive(Clone, Default)]
struct Outcome {
    /// By ranking, with the paper's rule and without.
    places: Vec<(Place, Place)>,
    /// User and system time of everything, compilers and tests included.
    cpu: Duration,
    wall: Duration,
    replacements: u64,
    replaced_cpu: f64,
    /// Of the tests, as compiled at -O0 and instrumented.
    plain_cpu: f64,
    instrumented_cpu: f64,
}

pub fn run(root: &Path, options: &Locate) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let folder = options.versions.parent().unwrap_or(Path::new("."));
    let text = std::fs::read_to_string(&options.versions)
        .with_context(|| format!("cannot read {}", options.versions.display()))?;
    let collection: Collection = toml::from_str(&text)
        .with_context(|| format!("{} is not a list of versions", options.versions.display()))?;
    let wanted = |v: &Version| options.program.is_empty() || options.program.contains(&v.program);
    let versions: Vec<Version> = collection.version.into_iter().filter(wanted).collect();
    let measured = parallel::map(&versions, options.at_once, |version| -> Result<Outcome> {
        let outcome = locate(&firstfault, folder, version, options)?;
        if options.each {
            print_version(version, &outcome);
        }
        Ok(outcome)
    });
    let outcomes = measured.into_iter().collect::<Result<Vec<Outcome>>>()?;
    print_summary(&versions, &outcomes, options);
    Ok(())
}

fn locate(
    firstfault: &Path,
    folder: &Path,
    version: &Version,
    options: &Locate,
) -> Result<Outcome> {
    let scratch = tempfile::tempdir()?;
    let timings = scratch.path().join("timings.json");
    let mut command = child::command(firstfault)?;
    command.arg("locate").args(version.files.iter().map(|file| folder.join(file)));
    command.arg("--tests").arg(folder.join(&version.tests));
    command.args(["--format", "json", "--top", "0", "-j", &options.jobs.to_string()]);
    command.arg("--timings").arg(&timings);
    if options.tests_only {
        command.args(["--formula", "tarantula"]);
    } else {
        command.args(["--search", &options.search]);
    }
    if options.fork {
        command.arg("--fork");
    }
    command.arg("--").args(&version.flags);
    let limits = Limits { deadline: Duration::from_secs(1800), ..Limits::default() };
    let start = Instant::now();
    let done = child::run(command, b"", &limits, &Cancel::new())?;
    let mut outcome = Outcome { cpu: done.cpu, wall: start.elapsed(), ..Outcome::default() };
    outcome.places = vec![(None, None); RANKINGS.len()];
    let Ok(report) = serde_json::from_slice::<Report>(&done.stdout) else {
        // A version without a list counts as not found.
        let said = String::from_utf8_lossy(&done.stderr);
        eprintln!("{} {}: {}", version.program, version.name, said.trim());
        return Ok(outcome);
    };
    let timings: Timings = std::fs::read(&timings)
        .ok()
        .and_then(|b| serde_json::from_slice(&b).ok())
        .unwrap_or_default();
    outcome.replacements = timings.replacements;
    let cpu = |what: &str| timings.cpu_seconds.get(what).copied().unwrap_or(0.0);
    outcome.replaced_cpu = cpu("replaced runs");
    outcome.plain_cpu = cpu("plain runs");
    outcome.instrumented_cpu = cpu("instrumented runs");
    let with_uses = version.faulty.union(&version.uses).copied().collect();
    for (place, (_, measures)) in outcome.places.iter_mut().zip(RANKINGS) {
        let list = reranked(&report.statements, measures);
        *place = (score(&list, &with_uses), score(&list, &version.faulty));
    }
    Ok(outcome)
}

/// Ranks by measures, larger first; tied statements share the last rank, since all of them
/// would have to be looked at. Without measures the ranks stay.
fn reranked(statements: &[Statement], measures: &[&str]) -> Vec<Statement> {
    let mut list = statements.to_vec();
    if measures.is_empty() {
        return list;
    }
    let key = |s: &Statement| -> Vec<f64> {
        measures.iter().map(|m| s.measures.get(*m).copied().unwrap_or(0.0)).collect()
    };
    list.sort_by(|a, b| key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal));
    let mut last = list.len();
    for index in (0..list.len()).rev() {
        if index + 1 < list.len() && key(&list[index]) != key(&list[index + 1]) {
            last = index + 1;
        }
        list[index].rank = last as u32;
    }
    list
}

/// The paper's score: the percentage of statements that need not be looked at.
fn score(statements: &[Statement], lines: &BTreeSet<u32>) -> Place {
    let of_lines = statements.iter().filter(|s| lines.contains(&s.line));
    let rank = of_lines.map(|s| s.rank).min()?;
    let total = statements.len() as f64;
    Some((rank, (total - f64::from(rank)) / total * 100.0))
}

fn print_version(version: &Version, outcome: &Outcome) {
    let cells = RANKINGS.iter().zip(&outcome.places).map(|((name, _), (place, _))| match place {
        Some((rank, score)) => format!("{name} {rank} ({score:.1} %)"),
        None => format!("{name} -"),
    });
    let cells = cells.collect::<Vec<_>>().join(", ");
    let cpu = outcome.cpu.as_secs_f64();
    println!("{} {}: {cells}; {cpu:.1} CPU s", version.program, version.name);
}

fn print_summary(versions: &[Version], outcomes: &[Outcome], options: &Locate) {
    let rows: Vec<(&Version, &Outcome)> = versions.iter().zip(outcomes).collect();
    let mut programs: Vec<&str> = versions.iter().map(|v| v.program.as_str()).collect();
    programs.dedup();
    let mut quality = Table::new(&QUALITY);
    let mut cost = Table::new(&COST);
    for program in &programs {
        let of_program: Vec<_> =
            rows.iter().copied().filter(|(v, _)| v.program == *program).collect();
        add_quality(&mut quality, program, &of_program);
        cost.row(cost_row(program, &of_program));
    }
    let large: Vec<_> =
        rows.iter().copied().filter(|(v, _)| !options.small.contains(&v.program)).collect();
    if large.len() < rows.len() {
        add_quality(&mut quality, &format!("without {}", options.small.join(", ")), &large);
    }
    add_quality(&mut quality, "all", &rows);
    cost.row(cost_row("all", &rows));
    for kind in ["constant", "omission"] {
        let of_kind: Vec<_> = rows.iter().copied().filter(|(v, _)| v.kind == kind).collect();
        add_quality(&mut quality, &format!("{kind} faults"), &of_kind);
    }
    println!("{quality}\n{cost}");
}

const QUALITY: [&str; 9] = [
    "program",
    "ranking",
    "versions",
    "alone first",
    ">= 99 %",
    ">= 90 %",
    "average",
    "strict alone first",
    "strict average",
];

fn add_quality(table: &mut Table, name: &str, rows: &[(&Version, &Outcome)]) {
    if rows.is_empty() {
        return;
    }
    let n = rows.len() as f64;
    for (index, (ranking, _)) in RANKINGS.iter().enumerate() {
        let share = |is: &dyn Fn(&(Place, Place)) -> bool| {
            let count = rows.iter().filter(|(_, o)| is(&o.places[index])).count();
            format!("{count} ({:.0} %)", count as f64 / n * 100.0)
        };
        let average = |of: &dyn Fn(&(Place, Place)) -> Place| {
            let scores = rows.iter().filter_map(|(_, o)| of(&o.places[index]).map(|p| p.1));
            format!("{:.1}", scores.sum::<f64>() / n)
        };
        table.row(vec![
            name.to_string(),
            ranking.to_string(),
            rows.len().to_string(),
            share(&|p| p.0.is_some_and(|(rank, _)| rank == 1)),
            share(&|p| p.0.is_some_and(|(_, score)| score >= 99.0)),
            share(&|p| p.0.is_some_and(|(_, score)| score >= 90.0)),
            average(&|p| p.0),
            share(&|p| p.1.is_some_and(|(rank, _)| rank == 1)),
            average(&|p| p.1),
        ]);
    }
}

const COST: [&str; 8] = [
    "program",
    "versions",
    "CPU s",
    "longest CPU s",
    "wall s",
    "replacements",
    "replacements/CPU s",
    "instrumented / plain",
];

fn cost_row(name: &str, rows: &[(&Version, &Outcome)]) -> Vec<String> {
    let cpu: Duration = rows.iter().map(|(_, o)| o.cpu).sum();
    let longest = rows.iter().map(|(_, o)| o.cpu).max().unwrap_or_default();
    let wall: Duration = rows.iter().map(|(_, o)| o.wall).sum();
    let replacements: u64 = rows.iter().map(|(_, o)| o.replacements).sum();
    let sum = |of: &dyn Fn(&Outcome) -> f64| rows.iter().map(|(_, o)| of(o)).sum::<f64>();
    let replaced = sum(&|o| o.replaced_cpu);
    vec![
        name.to_string(),
        rows.len().to_string(),
        format!("{:.1}", cpu.as_secs_f64()),
        format!("{:.1}", longest.as_secs_f64()),
        format!("{:.1}", wall.as_secs_f64()),
        replacements.to_string(),
        format!("{:.0}", replacements as f64 / replaced.max(0.001)),
        format!("{:.2}", sum(&|o| o.instrumented_cpu) / sum(&|o| o.plain_cpu).max(0.001)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(rank: u32, line: u32, tarantula: f64) -> Statement {
        Statement { rank, line, measures: BTreeMap::from([("tarantula".to_string(), tarantula)]) }
    }

    #[test]
    fn the_score_is_what_need_not_be_looked_at() {
        let list =
            [(2, 10), (2, 11), (3, 12), (4, 13)].map(|(rank, line)| statement(rank, line, 0.0));
        assert_eq!(score(&list, &BTreeSet::from([12])), Some((3, 25.0)));
        assert_eq!(score(&list, &BTreeSet::from([11, 13])), Some((2, 50.0)));
        assert_eq!(score(&list, &BTreeSet::from([99])), None);
    }

    #[test]
    fn another_measure_ranks_anew_and_ties_share_the_last_rank() {
        let list = [statement(1, 10, 0.1), statement(2, 11, 0.5), statement(3, 12, 0.5)];
        let ranks: BTreeMap<u32, u32> =
            reranked(&list, &["tarantula"]).iter().map(|s| (s.line, s.rank)).collect();
        assert_eq!(ranks, BTreeMap::from([(10, 3), (11, 2), (12, 2)]));
        assert_eq!(reranked(&list, &[])[0].rank, 1);
    }
}
