//! `cargo xtask bench locate-multiple`: programs with several faults at once, located and fixed
//! one after the other.
//!
//! The collection is the user's: a TOML file with one `[[multiple]]` for each program, paths
//! relative to it. Its faults are given with the lines that fix them, so that the loop that
//! asks a developer can be answered. The measure is the paper's score of each located fault.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::table::Table;
use super::{parallel, subject};

#[derive(Args)]
pub struct Multiple {
    /// The list of programs with several faults, for example suite/multiple.toml
    #[arg(long)]
    versions: PathBuf,
    /// Only programs of these names
    #[arg(long, value_delimiter = ',')]
    program: Vec<String>,
    /// Only the first so many versions of each program; 0 for all
    #[arg(long, default_value_t = 0)]
    first: usize,
    /// Similarities at which failing tests are grouped, each a way of its own
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.5,0.9")]
    similarity: Vec<String>,
    /// The search, as for `firstfault locate`
    #[arg(long, default_value = "full")]
    search: String,
    /// Threads of each firstfault
    #[arg(short = 'j', long, default_value_t = 1)]
    jobs: usize,
    /// Versions at once
    #[arg(long, default_value_t = 2)]
    at_once: usize,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Collection {
    multiple: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    program: String,
    name: String,
    /// With all faults in it; headers lie beside it.
    file: PathBuf,
    tests: PathBuf,
    fault: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    /// Lines that count as finding it.
    faulty: BTreeSet<u32>,
    /// What lines are once it is fixed: `12`, or `name.h:12` in a file beside.
    fixed: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Report {
    statements: Vec<Statement>,
    #[serde(default)]
    stats: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Statement {
    rank: u32,
    line: u32,
    #[serde(default)]
    evidence: Vec<String>,
}

/// The ways to locate that are compared, before those by similarity; the last three are
/// `--rounds`.
const WAYS: [&str; 4] = ["ideal", "full", "partial", "minimal"];

/// What one way to locate gave, on one version or several.
#[derive(Clone, Default)]
struct Found {
    /// Of each located fault.
    scores: Vec<f64>,
    /// Failing tests searched for IVMPs.
    n_searched: u64,
}

impl Found {
    fn add(&mut self, other: &Found) {
        self.scores.extend(&other.scores);
        self.n_searched += other.n_searched;
    }
}

pub fn run(root: &Path, options: &Multiple) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let folder = options.versions.parent().unwrap_or(Path::new("."));
    let text = fs::read_to_string(&options.versions)
        .with_context(|| format!("cannot read {}", options.versions.display()))?;
    let collection: Collection = toml::from_str(&text)
        .with_context(|| format!("{} is not a list of versions", options.versions.display()))?;
    let mut n_of_program: BTreeMap<&str, usize> = BTreeMap::new();
    let mut versions: Vec<&Version> = Vec::new();
    for version in &collection.multiple {
        let n = n_of_program.entry(version.program.as_str()).or_default();
        *n += 1;
        let is_wanted = options.program.is_empty() || options.program.contains(&version.program);
        if is_wanted && (options.first == 0 || *n <= options.first) {
            versions.push(version);
        }
    }
    let ways: Vec<String> = WAYS
        .iter()
        .map(|way| way.to_string())
        .chain(options.similarity.iter().map(|s| format!("clusters {s}")))
        .collect();
    let measured = parallel::map(&versions, options.at_once, |version| -> Result<Vec<Found>> {
        let found = Subject::new(&firstfault, folder, version, options)?.all_ways()?;
        let shown: Vec<String> = ways
            .iter()
            .zip(&found)
            .map(|(way, f)| format!("{way} {}", average(&f.scores)))
            .collect();
        println!("{} {}: {}", version.program, version.name, shown.join(", "));
        Ok(found)
    });
    let mut programs: BTreeMap<&str, Vec<Vec<Found>>> = BTreeMap::new();
    for (version, found) in versions.iter().zip(measured) {
        programs.entry(version.program.as_str()).or_default().push(found?);
    }
    print_tables(&ways, &programs);
    Ok(())
}

/// Scores, and failing tests searched in a version.
fn print_tables(ways: &[String], programs: &BTreeMap<&str, Vec<Vec<Found>>>) {
    let header: Vec<&str> = ["program", "versions", "faults"]
        .into_iter()
        .chain(ways.iter().map(String::as_str))
        .collect();
    let mut scores = Table::new(&header);
    let mut searched = Table::new(&[&["program"], &WAYS[..]].concat());
    let all: Vec<Vec<Found>> = programs.values().flatten().cloned().collect();
    for (name, versions) in programs.iter().map(|(n, v)| (*n, v)).chain([("all", &all)]) {
        let sums: Vec<Found> = (0..ways.len()).map(|way| sum(versions, way)).collect();
        let mut row = vec![name.to_string(), versions.len().to_string()];
        row.push(sums[1].scores.len().to_string());
        row.extend(sums.iter().map(|found| average(&found.scores)));
        scores.row(row);
        let mut row = vec![name.to_string()];
        let each = |found: &Found| found.n_searched as f64 / versions.len().max(1) as f64;
        row.extend(sums.iter().take(WAYS.len()).map(|found| format!("{:.1}", each(found))));
        searched.row(row);
    }
    println!("\n{scores}\nFailing tests searched in a version:\n\n{searched}");
}

fn sum(versions: &[Vec<Found>], way: usize) -> Found {
    let mut sum = Found::default();
    for found in versions.iter().filter_map(|ways| ways.get(way)) {
        sum.add(found);
    }
    sum
}

fn average(scores: &[f64]) -> String {
    match scores.len() {
        0 => "-".to_string(),
        n => format!("{:.1}", scores.iter().sum::<f64>() / n as f64),
    }
}

/// A copy of one version that can be edited.
struct Subject<'a> {
    firstfault: &'a Path,
    version: &'a Version,
    options: &'a Multiple,
    tests: PathBuf,
    copy: tempfile::TempDir,
    file: PathBuf,
    /// By name, with all faults in them.
    texts: BTreeMap<String, String>,
}

impl<'a> Subject<'a> {
    fn new(
        firstfault: &'a Path,
        folder: &Path,
        version: &'a Version,
        options: &'a Multiple,
    ) -> Result<Self> {
        let source = folder.join(&version.file);
        let copy = tempfile::tempdir()?;
        let beside = source.parent().unwrap_or(Path::new("."));
        let mut texts = BTreeMap::new();
        for entry in fs::read_dir(beside)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
                texts.insert(entry.file_name().to_string_lossy().into_owned(), text);
            }
        }
        let name = source.file_name().context("the version has no file")?;
        let file = copy.path().join(name);
        let tests = std::path::absolute(folder.join(&version.tests))?;
        Ok(Self { firstfault, version, options, tests, copy, file, texts })
    }

    fn all_ways(&self) -> Result<Vec<Found>> {
        let mut ways = vec![
            self.ideal()?,
            self.rounds("full")?,
            self.rounds("partial")?,
            self.rounds("minimal")?,
        ];
        for similarity in &self.options.similarity {
            ways.push(self.clusters(similarity)?);
        }
        Ok(ways)
    }

    /// Writes the program with these faults left.
    fn write(&self, left: &BTreeSet<usize>) -> Result<()> {
        let main = self.file.file_name().unwrap_or_default().to_string_lossy();
        let mut texts: BTreeMap<&str, Vec<&str>> =
            self.texts.iter().map(|(name, text)| (name.as_str(), text.lines().collect())).collect();
        for (index, fault) in self.version.fault.iter().enumerate() {
            if left.contains(&index) {
                continue;
            }
            for (place, text) in &fault.fixed {
                let (name, line) = place.rsplit_once(':').unwrap_or((&main, place));
                let line: usize = line.parse().with_context(|| format!("{place:?} is no line"))?;
                let lines = texts.get_mut(name);
                match lines.and_then(|lines| lines.get_mut(line.wrapping_sub(1))) {
                    Some(at) => *at = text,
                    None => bail!("{name} has no line {line}"),
                }
            }
        }
        for (name, lines) in texts {
            fs::write(self.copy.path().join(name), lines.join("\n") + "\n")?;
        }
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.firstfault);
        command.arg("locate").arg(&self.file).arg("--tests").arg(&self.tests);
        command.args(["--format", "json", "--top", "0", "--search"]);
        command.args([&self.options.search, "-j", &self.options.jobs.to_string()]);
        command.current_dir(self.copy.path()).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn all(&self) -> BTreeSet<usize> {
        (0..self.version.fault.len()).collect()
    }

    /// Each fault alone in the program; those that no test shows are left out.
    fn ideal(&self) -> Result<Found> {
        let mut found = Found::default();
        for fault in self.all() {
            self.write(&BTreeSet::from([fault]))?;
            let output = self.command().output()?;
            if let Ok(report) = serde_json::from_slice::<Report>(&output.stdout) {
                let faulty = &self.version.fault[fault].faulty;
                let statements: Vec<&Statement> = report.statements.iter().collect();
                found.scores.push(score(&statements, faulty));
                found.n_searched += n_searched(&report);
            }
        }
        Ok(found)
    }

    /// Answers as a developer who finds the best ranked fault of each list and fixes it.
    fn rounds(&self, how: &str) -> Result<Found> {
        let mut left = self.all();
        self.write(&left)?;
        let mut command = self.command();
        command.args(["--rounds", how]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot run firstfault")?;
        let mut answers = child.stdin.take().context("no pipe to firstfault")?;
        let output = BufReader::new(child.stdout.take().context("no pipe from firstfault")?);
        let mut found = Found::default();
        // The list ends with a sentence, which is no report.
        for report in serde_json::Deserializer::from_reader(output).into_iter::<Report>() {
            let Ok(report) = report else { break };
            let statements: Vec<&Statement> = report.statements.iter().collect();
            let Some((fault, score)) = self.best(&statements, &left) else { break };
            if found.scores.is_empty() || how != "minimal" {
                found.n_searched += n_searched(&report);
            }
            found.scores.push(score);
            left.remove(&fault);
            self.write(&left)?;
            let line = self.version.fault[fault].faulty.first().copied().unwrap_or(1);
            if writeln!(answers, "{}:{line}", self.file.display()).is_err() {
                break;
            }
        }
        drop(answers);
        child.wait()?;
        Ok(found)
    }

    /// The fault that is met first in the list, with its score.
    fn best(&self, list: &[&Statement], left: &BTreeSet<usize>) -> Option<(usize, f64)> {
        left.iter()
            .map(|fault| (*fault, score(list, &self.version.fault[*fault].faulty)))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    /// For each group of failing tests, the fault met first in its list.
    fn clusters(&self, threshold: &str) -> Result<Found> {
        self.write(&self.all())?;
        let output = self.command().args(["--clusters", threshold]).output()?;
        let Ok(report) = serde_json::from_slice::<Report>(&output.stdout) else {
            return Ok(Found::default());
        };
        let mut lists: BTreeMap<&str, Vec<&Statement>> = BTreeMap::new();
        for statement in &report.statements {
            let group = statement.evidence.first().map_or("", String::as_str);
            lists.entry(group).or_default().push(statement);
        }
        let all = self.all();
        let scores = lists.values().filter_map(|list| self.best(list, &all).map(|b| b.1)).collect();
        Ok(Found { scores, ..Found::default() })
    }
}

fn n_searched(report: &Report) -> u64 {
    report.stats.get("locate.searched_tests").copied().unwrap_or(0)
}

/// The paper's score; 0 where no faulty line is in the list.
fn score(list: &[&Statement], faulty: &BTreeSet<u32>) -> f64 {
    let ranks = list.iter().filter(|s| faulty.contains(&s.line)).map(|s| s.rank);
    let n = list.len() as f64;
    ranks.min().map_or(0.0, |rank| (n - f64::from(rank)) / n * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_outside_the_list_scores_nothing() {
        let statements =
            [(1, 10), (4, 11)].map(|(rank, line)| Statement { rank, line, evidence: Vec::new() });
        let list: Vec<&Statement> = statements.iter().collect();
        assert_eq!(score(&list, &BTreeSet::from([10])), 50.0);
        assert_eq!(score(&list, &BTreeSet::from([12])), 0.0);
    }
}
