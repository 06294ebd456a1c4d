//! `cargo xtask bench locate`: how high the faulty statement ranks, and what that costs, on a
//! collection of faulty programs with tests.
//!
//! The collection is the user's: a `versions.toml` with one `[[version]]` for each program,
//! paths relative to it. The measure is the paper's: the percentage of statements executed
//! by failing tests that need not be looked at before a faulty one, ties counted against us.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Limits};
use clap::Args;
use serde::Deserialize;

use super::subject;
use super::table::Table;

#[derive(Args)]
pub struct Locate {
    /// The list of faulty programs, for example suite/versions.toml
    #[arg(long)]
    versions: PathBuf,
    /// Only programs of these names
    #[arg(long, value_delimiter = ',')]
    program: Vec<String>,
    /// The search, as for `firstfault locate`
    #[arg(long, default_value = "full")]
    search: String,
    /// Also print a line for each version
    #[arg(long)]
    each: bool,
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
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
    /// Further lines that count as finding it: those that use a wrong constant.
    #[serde(default)]
    uses: BTreeSet<u32>,
}

/// The part of the report that matters here.
#[derive(Deserialize)]
struct Report {
    statements: Vec<Statement>,
    stats: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Statement {
    rank: u32,
    line: u32,
}

/// The ways to rank that are compared, with their flags.
const RANKINGS: &[(&str, &[&str])] = &[
    ("tarantula", &["--formula", "tarantula"]),
    ("ochiai", &["--formula", "ochiai"]),
    ("paper", &["--paper-ranking"]),
    ("firstfault", &[]),
];

/// What one ranking did for one version.
#[derive(Clone, Copy, Default)]
struct Outcome {
    /// Rank and score of the best faulty line, with the lines that use a constant or without.
    with_uses: Option<(u32, f64)>,
    strict: Option<(u32, f64)>,
    cpu: Duration,
    replacements: u64,
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
    let mut outcomes = Vec::new();
    for version in &versions {
        let row = measure(&firstfault, folder, version, options)?;
        if options.each {
            print_version(version, &row);
        }
        outcomes.push(row);
    }
    print_summary(&versions, &outcomes);
    Ok(())
}

fn measure(
    firstfault: &Path,
    folder: &Path,
    version: &Version,
    options: &Locate,
) -> Result<Vec<Outcome>> {
    RANKINGS.iter().map(|(_, flags)| locate(firstfault, folder, version, options, flags)).collect()
}

fn locate(
    firstfault: &Path,
    folder: &Path,
    version: &Version,
    options: &Locate,
    flags: &[&str],
) -> Result<Outcome> {
    let mut command = child::command(firstfault)?;
    command.arg("locate").args(version.files.iter().map(|file| folder.join(file)));
    command.arg("--tests").arg(folder.join(&version.tests));
    command.args(["--format", "json", "--top", "0", "-j", &options.jobs.to_string()]);
    command.args(["--search", &options.search]).args(flags).arg("--").args(&version.flags);
    let limits = Limits { deadline: Duration::from_secs(1800), ..Limits::default() };
    let done = child::run(command, b"", &limits, &Cancel::new())?;
    let mut outcome = Outcome { cpu: done.cpu, ..Outcome::default() };
    let Ok(report) = serde_json::from_slice::<Report>(&done.stdout) else {
        // A version without a list counts as not found.
        eprintln!("{}: {}", version.name, String::from_utf8_lossy(&done.stderr).trim());
        return Ok(outcome);
    };
    let replacements = report.stats.get("locate.replacements").and_then(|n| n.as_u64());
    outcome.replacements = replacements.unwrap_or(0);
    outcome.strict = score(&report, &version.faulty);
    let with_uses = version.faulty.union(&version.uses).copied().collect();
    outcome.with_uses = score(&report, &with_uses);
    Ok(outcome)
}

fn score(report: &Report, lines: &BTreeSet<u32>) -> Option<(u32, f64)> {
    let of_lines = report.statements.iter().filter(|s| lines.contains(&s.line));
    let rank = of_lines.map(|s| s.rank).min()?;
    let total = report.statements.len() as f64;
    Some((rank, (total - f64::from(rank)) / total * 100.0))
}

fn print_version(version: &Version, row: &[Outcome]) {
    let cells = RANKINGS.iter().zip(row).map(|((name, _), outcome)| match outcome.with_uses {
        Some((rank, score)) => format!("{name} {rank} ({score:.1} %)"),
        None => format!("{name} -"),
    });
    println!("{}: {}", version.name, cells.collect::<Vec<_>>().join(", "));
}

fn print_summary(versions: &[Version], outcomes: &[Vec<Outcome>]) {
    let mut programs: Vec<&str> = versions.iter().map(|v| v.program.as_str()).collect();
    programs.dedup();
    let mut table = Table::new(&[
        "program",
        "ranking",
        "versions",
        "alone first",
        ">= 99 %",
        ">= 90 %",
        "average",
        "strict average",
        "CPU s",
        "replacements/CPU s",
    ]);
    for program in programs.into_iter().map(Some).chain([None]) {
        let chosen: Vec<&Vec<Outcome>> = versions
            .iter()
            .zip(outcomes)
            .filter(|(version, _)| program.is_none_or(|p| version.program == p))
            .map(|(_, row)| row)
            .collect();
        for (index, (ranking, _)) in RANKINGS.iter().enumerate() {
            let column: Vec<Outcome> = chosen.iter().map(|row| row[index]).collect();
            // What building and running the tests costs is what a formula costs.
            let base: Duration = chosen.iter().map(|row| row[0].cpu).sum();
            table.row(summary_row(program.unwrap_or("all"), ranking, &column, base));
        }
    }
    println!("{table}");
}

fn summary_row(program: &str, ranking: &str, column: &[Outcome], base: Duration) -> Vec<String> {
    let n = column.len().max(1) as f64;
    let share = |is: &dyn Fn((u32, f64)) -> bool| {
        let count = column.iter().filter(|o| o.with_uses.is_some_and(is)).count();
        format!("{count} ({:.0} %)", count as f64 / n * 100.0)
    };
    let average = |of: &dyn Fn(&Outcome) -> Option<(u32, f64)>| {
        let sum: f64 = column.iter().filter_map(|o| of(o).map(|(_, score)| score)).sum();
        format!("{:.1}", sum / n)
    };
    let cpu: Duration = column.iter().map(|o| o.cpu).sum();
    let replacements: u64 = column.iter().map(|o| o.replacements).sum();
    let searching = cpu.saturating_sub(base).as_secs_f64();
    let rate = match replacements {
        0 => "-".to_string(),
        _ => format!("{:.0}", replacements as f64 / searching.max(0.001)),
    };
    vec![
        program.to_string(),
        ranking.to_string(),
        column.len().to_string(),
        share(&|(rank, _)| rank == 1),
        share(&|(_, score)| score >= 99.0),
        share(&|(_, score)| score >= 90.0),
        average(&|o| o.with_uses),
        average(&|o| o.strict),
        format!("{:.1}", cpu.as_secs_f64()),
        rate,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_what_need_not_be_looked_at() {
        let statements = [(2, 10), (2, 11), (3, 12), (4, 13)]
            .map(|(rank, line)| Statement { rank, line })
            .into();
        let report = Report { statements, stats: serde_json::Map::new() };
        assert_eq!(score(&report, &BTreeSet::from([12])), Some((3, 25.0)));
        assert_eq!(score(&report, &BTreeSet::from([11, 13])), Some((2, 50.0)));
        assert_eq!(score(&report, &BTreeSet::from([99])), None);
    }
}
