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

use super::subject;
use super::table::Table;

#[derive(Args)]
pub struct Multiple {
    /// The list of programs with several faults, for example suite/multiple.toml
    #[arg(long)]
    versions: PathBuf,
    /// Only programs of these names
    #[arg(long, value_delimiter = ',')]
    program: Vec<String>,
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
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
    /// What these lines are once it is fixed.
    fixed: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Report {
    statements: Vec<Statement>,
}

#[derive(Deserialize)]
struct Statement {
    rank: u32,
    line: u32,
    #[serde(default)]
    evidence: Vec<String>,
}

/// The ways to locate that are compared; all but the first and the last are `--rounds`.
const WAYS: [&str; 5] = ["ideal", "full", "partial", "minimal", "clusters"];

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
    let mut scores: BTreeMap<&str, [Vec<f64>; WAYS.len()]> = BTreeMap::new();
    let wanted = |v: &&Version| options.program.is_empty() || options.program.contains(&v.program);
    for version in collection.multiple.iter().filter(wanted) {
        let bench = Subject::new(&firstfault, folder, version, options.jobs)?;
        let found = bench.all_ways()?;
        let shown: Vec<String> =
            WAYS.iter().zip(&found).map(|(way, s)| format!("{way} {}", average(s))).collect();
        println!("{} {}: {}", version.program, version.name, shown.join(", "));
        let of_program = scores.entry(version.program.as_str()).or_default();
        for (to, from) in of_program.iter_mut().zip(found) {
            to.extend(from);
        }
    }
    print_table(&scores);
    Ok(())
}

fn print_table(scores: &BTreeMap<&str, [Vec<f64>; WAYS.len()]>) {
    let mut header = vec!["program", "faults located"];
    header.extend(WAYS);
    let mut table = Table::new(&header);
    let mut all: [Vec<f64>; WAYS.len()] = Default::default();
    for (program, ways) in scores {
        add_row(&mut table, program, ways);
        for (to, from) in all.iter_mut().zip(ways) {
            to.extend(from);
        }
    }
    add_row(&mut table, "all", &all);
    println!("\n{table}");
}

fn add_row(table: &mut Table, name: &str, ways: &[Vec<f64>; WAYS.len()]) {
    let mut row = vec![name.to_string(), ways[1].len().to_string()];
    row.extend(ways.iter().map(|scores| average(scores)));
    table.row(row);
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
    tests: PathBuf,
    jobs: usize,
    copy: tempfile::TempDir,
    file: PathBuf,
    text: String,
}

impl<'a> Subject<'a> {
    fn new(firstfault: &'a Path, folder: &Path, version: &'a Version, jobs: usize) -> Result<Self> {
        let source = folder.join(&version.file);
        let copy = tempfile::tempdir()?;
        let beside = source.parent().unwrap_or(Path::new("."));
        for entry in fs::read_dir(beside)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), copy.path().join(entry.file_name()))?;
            }
        }
        let name = source.file_name().context("the version has no file")?;
        let file = copy.path().join(name);
        let text = String::from_utf8_lossy(&fs::read(&source)?).into_owned();
        let tests = std::path::absolute(folder.join(&version.tests))?;
        Ok(Self { firstfault, version, tests, jobs, copy, file, text })
    }

    fn all_ways(&self) -> Result<[Vec<f64>; WAYS.len()]> {
        Ok([
            self.ideal()?,
            self.rounds("full")?,
            self.rounds("partial")?,
            self.rounds("minimal")?,
            self.clusters("0.5")?,
        ])
    }

    /// Writes the program with these faults left.
    fn write(&self, left: &BTreeSet<usize>) -> Result<()> {
        let mut lines: Vec<&str> = self.text.lines().collect();
        for (index, fault) in self.version.fault.iter().enumerate() {
            if left.contains(&index) {
                continue;
            }
            for (line, text) in &fault.fixed {
                let line: usize = line.parse().with_context(|| format!("{line:?} is no line"))?;
                match lines.get_mut(line.wrapping_sub(1)) {
                    Some(at) => *at = text,
                    None => bail!("{} has no line {line}", self.file.display()),
                }
            }
        }
        Ok(fs::write(&self.file, lines.join("\n") + "\n")?)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.firstfault);
        command.arg("locate").arg(&self.file).arg("--tests").arg(&self.tests);
        command.args(["--format", "json", "--top", "0", "--search", "full"]);
        command.args(["-j", &self.jobs.to_string()]);
        command.current_dir(self.copy.path()).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn all(&self) -> BTreeSet<usize> {
        (0..self.version.fault.len()).collect()
    }

    /// Each fault alone in the program; those that no test shows are left out.
    fn ideal(&self) -> Result<Vec<f64>> {
        let mut scores = Vec::new();
        for fault in self.all() {
            self.write(&BTreeSet::from([fault]))?;
            let output = self.command().output()?;
            if let Ok(report) = serde_json::from_slice::<Report>(&output.stdout) {
                let faulty = &self.version.fault[fault].faulty;
                scores.push(score(&report.statements.iter().collect::<Vec<_>>(), faulty));
            }
        }
        Ok(scores)
    }

    /// Answers as a developer who finds the best ranked fault of each list and fixes it.
    fn rounds(&self, how: &str) -> Result<Vec<f64>> {
        let mut left = self.all();
        self.write(&left)?;
        let mut command = self.command();
        command.args(["--rounds", how]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot run firstfault")?;
        let mut answers = child.stdin.take().context("no pipe to firstfault")?;
        let output = BufReader::new(child.stdout.take().context("no pipe from firstfault")?);
        let mut scores = Vec::new();
        // The list ends with a sentence, which is no report.
        for report in serde_json::Deserializer::from_reader(output).into_iter::<Report>() {
            let Ok(report) = report else { break };
            let statements: Vec<&Statement> = report.statements.iter().collect();
            let Some((fault, score)) = self.best(&statements, &left) else { break };
            scores.push(score);
            left.remove(&fault);
            self.write(&left)?;
            let line = self.version.fault[fault].faulty.first().copied().unwrap_or(1);
            if writeln!(answers, "{}:{line}", self.file.display()).is_err() {
                break;
            }
        }
        drop(answers);
        child.wait()?;
        Ok(scores)
    }

    /// The fault that is met first in the list, with its score.
    fn best(&self, list: &[&Statement], left: &BTreeSet<usize>) -> Option<(usize, f64)> {
        left.iter()
            .map(|fault| (*fault, score(list, &self.version.fault[*fault].faulty)))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    /// For each group of failing tests, the fault met first in its list.
    fn clusters(&self, threshold: &str) -> Result<Vec<f64>> {
        self.write(&self.all())?;
        let output = self.command().args(["--clusters", threshold]).output()?;
        let Ok(report) = serde_json::from_slice::<Report>(&output.stdout) else {
            return Ok(Vec::new());
        };
        let mut lists: BTreeMap<&str, Vec<&Statement>> = BTreeMap::new();
        for statement in &report.statements {
            let group = statement.evidence.first().map_or("", String::as_str);
            lists.entry(group).or_default().push(statement);
        }
        let all = self.all();
        Ok(lists.values().filter_map(|list| self.best(list, &all).map(|b| b.1)).collect())
    }
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
