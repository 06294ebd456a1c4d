//! Runs `firstfault check` on each case, and keeps what it reported in a journal below the
//! scratch folder, so that a run that was stopped can go on.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Ending, Limits};
use serde::{Deserialize, Serialize};

use super::model::Case;
use crate::bench::subject;

/// Processor time for one case.
pub const CPU_LIMIT: Duration = Duration::from_secs(60);

/// A step of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct At {
    pub file: String,
    pub line: u32,
    pub function: String,
}

/// A reported fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reported {
    pub rule: String,
    pub cwe: Vec<u32>,
    pub level: String,
    pub file: String,
    pub line: u32,
    pub function: String,
    pub message: String,
    pub steps: Vec<At>,
}

/// How the analysis of a case ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    Analysed,
    /// It, or a part of it, could not be read.
    Incomplete(String),
    /// Stopped at the limit of time, or crashed.
    Stopped(String),
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub name: String,
    pub ended: Ended,
    /// User and system time in seconds.
    pub cpu: f64,
    pub reported: Vec<Reported>,
}

/// The parts of the report that are kept.
#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    incomplete: Vec<subject::Incomplete>,
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(flatten)]
    reported: Reported,
    #[serde(default)]
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    steps: Vec<At>,
}

/// What is run on every case.
pub struct Command<'a> {
    pub program: &'a Path,
    /// Further options of `check`.
    pub options: &'a [String],
}

pub fn check(command: &Command<'_>, case: &Case) -> Result<Done> {
    let state = tempfile::tempdir()?;
    let mut process = subject::limited(CPU_LIMIT, None)?;
    process.arg(command.program).arg("check").args(&case.files).args(command.options);
    process.args(["--format", "json", "-j", "1", "--state"]).arg(state.path());
    process.current_dir(&case.folder);
    if !case.flags.is_empty() {
        process.arg("--").args(&case.flags);
    }
    let limits = Limits { deadline: subject::PATIENCE * CPU_LIMIT, ..Limits::default() };
    let finished = child::run(process, b"", &limits, &Cancel::new())
        .with_context(|| format!("check of {}", case.name))?;
    let cpu = finished.cpu.as_secs_f64();
    let (ended, reported) = match serde_json::from_slice::<Report>(&finished.stdout) {
        Ok(report) => read(report),
        Err(_) => {
            let log = String::from_utf8_lossy(&finished.stderr).into_owned();
            let last = log.lines().last().unwrap_or("no message");
            (without_report(finished.ending, last), Vec::new())
        }
    };
    Ok(Done { name: case.name.clone(), ended, cpu, reported })
}

/// Status 2 says that the program as a whole could not be read; anything else is a crash or
/// the limit of time.
fn without_report(ending: Ending, last: &str) -> Ended {
    match ending {
        Ending::Exited(2) => Ended::Incomplete(last.to_owned()),
        ending => Ended::Stopped(format!("firstfault {ending}: {last}")),
    }
}

fn read(report: Report) -> (Ended, Vec<Reported>) {
    let ended = report.incomplete.first().map_or(Ended::Analysed, |missing| {
        Ended::Incomplete(format!("{}: {}", missing.what, missing.reason))
    });
    let reported = report
        .faults
        .into_iter()
        .map(|fault| Reported {
            steps: fault.segments.into_iter().flat_map(|segment| segment.steps).collect(),
            ..fault.reported
        })
        .collect();
    (ended, reported)
}

/// What was done so far with one tool, one case a line behind a line that names the tool.
pub struct Journal {
    done: BTreeMap<String, Done>,
    file: Mutex<File>,
}

impl Journal {
    /// Starts anew, or keeps what the same tool did before.
    pub fn open(path: &Path, tool: &str, keep: bool) -> Result<Self> {
        let before = if keep { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
        let done = parse(&String::from_utf8_lossy(&before), tool);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let journal = Self { done, file: Mutex::new(file) };
        journal.write(&serde_json::to_string(tool)?)?;
        for done in journal.done.values() {
            journal.write(&serde_json::to_string(done)?)?;
        }
        Ok(journal)
    }

    pub fn before(&self, name: &str) -> Option<&Done> {
        self.done.get(name)
    }

    pub fn add(&self, done: &Done) -> Result<()> {
        self.write(&serde_json::to_string(done)?)
    }

    fn write(&self, line: &str) -> Result<()> {
        let mut file = self.file.lock().expect("writing does not panic");
        file.write_all(format!("{line}\n").as_bytes()).context("cannot write the journal")
    }
}

/// A line that was cut off is done again; a journal of another tool counts for nothing.
fn parse(text: &str, tool: &str) -> BTreeMap<String, Done> {
    let mut lines = text.lines();
    let named = lines.next().and_then(|line| serde_json::from_str::<String>(line).ok());
    if named.as_deref() != Some(tool) {
        return BTreeMap::new();
    }
    lines
        .filter_map(|line| serde_json::from_str::<Done>(line).ok())
        .map(|done| (done.name.clone(), done))
        .collect()
}

/// Where the journal of a suite is.
pub fn journal_path(scratch: &Path, suite: &str) -> PathBuf {
    scratch.join("journal").join(format!("{suite}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(name: &str) -> Done {
        Done { name: name.to_owned(), ended: Ended::Analysed, cpu: 0.5, reported: Vec::new() }
    }

    #[test]
    fn a_journal_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal/x.jsonl");
        let journal = Journal::open(&path, "tool 1", false).unwrap();
        journal.add(&done("a.c")).unwrap();
        journal.write("{\"name\": \"b.c\", \"ended\"").unwrap();
        let again = Journal::open(&path, "tool 1", true).unwrap();
        assert_eq!(again.before("a.c"), Some(&done("a.c")));
        assert_eq!(again.before("b.c"), None);
        // What was kept is kept once more.
        assert!(Journal::open(&path, "tool 1", true).unwrap().before("a.c").is_some());
        assert!(Journal::open(&path, "tool 2", true).unwrap().before("a.c").is_none());
        assert!(Journal::open(&path, "tool 2", false).unwrap().before("a.c").is_none());
    }

    #[test]
    fn what_does_not_compile_is_told_from_what_crashes() {
        assert_eq!(without_report(Ending::Exited(2), "no"), Ended::Incomplete("no".to_owned()));
        assert!(matches!(without_report(Ending::Exited(101), "panic"), Ended::Stopped(_)));
        assert!(matches!(without_report(Ending::TimedOut, ""), Ended::Stopped(_)));
    }

    #[test]
    fn reports_are_read_with_their_paths() {
        let text = r#"{"incomplete": [], "faults": [{"id": "F1", "rule": "leak", "cwe": [401],
            "file": "a.c", "line": 3, "function": "f", "message": "m", "segments": [
            {"steps": [{"file": "a.c", "line": 2, "function": "g", "note": "n"}]}]}]}"#;
        let (ended, reported) = read(serde_json::from_str(text).unwrap());
        assert_eq!(ended, Ended::Analysed);
        assert_eq!((reported[0].rule.as_str(), &reported[0].cwe[..]), ("leak", &[401][..]));
        assert_eq!((reported[0].steps[0].line, reported[0].steps[0].function.as_str()), (2, "g"));
        let missing = r#"{"incomplete": [{"what": "a.c", "reason": "no"}], "faults": []}"#;
        let (ended, _) = read(serde_json::from_str(missing).unwrap());
        assert_eq!(ended, Ended::Incomplete("a.c: no".to_owned()));
        assert!(serde_json::from_str::<Report>("{}").is_err());
    }
}
