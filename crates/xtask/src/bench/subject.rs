//! Runs the real `firstfault`, release build, on a corpus and reads what it says about the
//! time it took.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
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

/// The parts of the JSON report the benchmark looks at.
#[derive(Deserialize)]
struct Report {
    incomplete: Vec<Incomplete>,
}

#[derive(Deserialize)]
struct Incomplete {
    what: String,
    reason: String,
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

/// One run with an empty cache.
pub fn measure(program: &Path, corpus: &Corpus, jobs: usize) -> Result<Measured> {
    let state = tempfile::tempdir()?;
    let timings = state.path().join("timings.json");
    let report = state.path().join("report.json");
    let mut command = child::command(program)?;
    command
        .args(["check", "--format", "json", "-j", &jobs.to_string(), "-p", "."])
        // A rule that is observed at few places: here only what comes before is measured.
        .args(["--rule", "write-after-close"])
        .arg("--state")
        .arg(state.path().join("state"))
        .arg("--timings")
        .arg(&timings)
        .arg("-o")
        .arg(&report)
        .current_dir(&corpus.folder);
    let limits = Limits { deadline: Duration::from_secs(3600), ..Limits::default() };
    let finished = child::run(command, b"", &limits, &Cancel::new())?;
    let log = String::from_utf8_lossy(&finished.stderr).into_owned();
    let read = |path: &Path| {
        std::fs::read(path).with_context(|| format!("firstfault {}\n{log}", finished.ending))
    };
    let report: Report = serde_json::from_slice(&read(&report)?)?;
    let failed = report.incomplete.iter().map(|i| format!("{}: {}", i.what, i.reason)).collect();
    Ok(Measured {
        timings: serde_json::from_slice(&read(&timings)?)?,
        peak_memory: finished.peak_memory,
        failed,
    })
}
