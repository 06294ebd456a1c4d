//! Runs the real `firstfault`, release build, on a corpus and reads what it says about the
//! time it took.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Limits};
use serde::Deserialize;

use super::obtain::Corpus;

/// What `firstfault check --timings FILE` writes.
#[derive(Debug, Deserialize)]
pub struct Timings {
    pub imported: u64,
    pub functions: u64,
    /// CPU seconds, user and system, by phase; children apart.
    pub cpu_seconds: BTreeMap<String, f64>,
    /// Units and functions whose analysis panicked.
    pub panics: u64,
}

pub struct Measured {
    pub timings: Timings,
    /// The largest resident set, in bytes.
    pub peak_memory: u64,
    /// Units that could not be imported, with the reason.
    pub failed: Vec<String>,
}

/// How to run `firstfault check` on a corpus.
pub struct Run<'a> {
    pub jobs: usize,
    /// Only these rules; all where empty.
    pub rules: &'a [&'a str],
    /// Only questions in these functions; in all where empty.
    pub functions: &'a [String],
    /// Interface functions and their parameters, as for `--entry`.
    pub entries: &'a [String],
    /// Processor time after which it is stopped.
    pub cpu_limit: Duration,
}

/// What one run cost and brought, however it ended.
pub struct Ran {
    pub ending: Ending,
    /// User and system time, compilers included.
    pub cpu: Duration,
    /// The largest resident set, in bytes.
    pub peak_memory: u64,
    /// The last lines of the log.
    pub log: String,
    /// Timings and report, the latter also as it was written; `None` where the run did not
    /// come to its end.
    pub results: Option<(Timings, Report, Vec<u8>)>,
}

/// The parts of the JSON report the benchmarks look at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Report {
    pub incomplete: Vec<Incomplete>,
    pub faults: Vec<Fault>,
    pub dont_knows: Vec<DontKnow>,
    pub deviations: Vec<Deviation>,
    pub stats: BTreeMap<String, serde_json::Value>,
}

/// A question that stayed open.
#[derive(Debug, Deserialize)]
pub struct DontKnow {
    pub file: String,
    pub line: u32,
    pub rule: String,
    pub reason: String,
}

/// A place that breaks a rule the rest of the code follows.
#[derive(Debug, Deserialize)]
pub struct Deviation {
    pub template: String,
    pub file: String,
    pub line: u32,
    pub message: String,
}

#[derive(Debug, Deserialize)]
pub struct Incomplete {
    pub what: String,
    pub reason: String,
}

#[derive(Debug, Deserialize)]
pub struct Fault {
    pub rule: String,
    /// `proved`, `likely`, ...; empty where the report has no levels.
    #[serde(default)]
    pub level: String,
    #[serde(default)]
    pub file: String,
    pub line: u32,
    #[serde(default)]
    pub function: String,
    pub message: String,
    #[serde(default)]
    pub segments: Vec<Segment>,
}

#[derive(Debug, Deserialize)]
pub struct Segment {
    pub steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
pub struct Step {
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub line: u32,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub function: String,
    #[serde(default)]
    pub impact: bool,
}

impl Report {
    /// A counter of the statistics; 0 where the run has none of that name.
    pub fn stat(&self, name: &str) -> f64 {
        self.stats.get(name).and_then(serde_json::Value::as_f64).unwrap_or(0.0)
    }
}

/// Builds the release binary and says where it is.
pub fn build(root: &Path) -> Result<PathBuf> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--message-format=json-render-diagnostics"])
        .args(["-p", "firstfault", "-p", "firstfault-capture"])
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("firstfault does not build");
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == "firstfault")
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.context("cargo built no firstfault")
}

/// One run with an empty cache, which must come to its end.
pub fn measure(program: &Path, corpus: &Corpus, jobs: usize) -> Result<Measured> {
    // A rule that is observed at few places: here only what comes before is measured.
    let rules = &["write-after-close"];
    let ran = run(
        program,
        corpus,
        &Run { jobs, rules, functions: &[], entries: &[], cpu_limit: Duration::from_secs(3600) },
    )?;
    let Some((timings, report, _)) = ran.results else {
        bail!("firstfault {}\n{}", ran.ending, ran.log);
    };
    let failed = report.incomplete.iter().map(|i| format!("{}: {}", i.what, i.reason)).collect();
    Ok(Measured { timings, peak_memory: ran.peak_memory, failed })
}

/// Wall clock for each second of a limit in processor time, for busy machines and children.
pub const PATIENCE: u32 = 10;

/// The start of a command that may use so much processor time, and so much address space.
pub fn limited(cpu: Duration, memory: Option<u64>) -> Result<Command> {
    let mut command = child::command("prlimit").context("cannot run prlimit")?;
    command.arg(format!("--cpu={}", cpu.as_secs()));
    command.args(memory.map(|bytes| format!("--as={bytes}"))).arg("--");
    Ok(command)
}

/// One run with an empty cache.
pub fn run(program: &Path, corpus: &Corpus, run: &Run<'_>) -> Result<Ran> {
    let state = tempfile::tempdir()?;
    let timings = state.path().join("timings.json");
    let report = state.path().join("report.json");
    let mut command = limited(run.cpu_limit, None)?;
    command
        .arg(program)
        .args(["check", "--format", "json", "-j", &run.jobs.to_string(), "-p", "."])
        .args(run.rules.iter().flat_map(|rule| ["--rule", rule]))
        .args(run.functions.iter().flat_map(|name| ["--function", name]))
        .args(run.entries.iter().flat_map(|entry| ["--entry", entry]))
        .arg("--state")
        .arg(state.path().join("state"))
        .arg("--timings")
        .arg(&timings)
        .arg("-o")
        .arg(&report)
        .current_dir(&corpus.folder);
    let limits = Limits { deadline: PATIENCE * run.cpu_limit, ..Limits::default() };
    let finished = child::run(command, b"", &limits, &Cancel::new())?;
    let results = match (std::fs::read(&timings), std::fs::read(&report)) {
        (Ok(timings), Ok(report)) => {
            Some((serde_json::from_slice(&timings)?, serde_json::from_slice(&report)?, report))
        }
        _ => None,
    };
    let log = String::from_utf8_lossy(&finished.stderr);
    let last_lines: Vec<&str> = log.lines().rev().take(5).collect();
    Ok(Ran {
        ending: finished.ending,
        cpu: finished.cpu,
        peak_memory: finished.peak_memory,
        log: last_lines.into_iter().rev().collect::<Vec<_>>().join("\n"),
        results,
    })
}
