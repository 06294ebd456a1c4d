//! Asking `firstfault`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Ending, Limits};
use findings::Findings;

use crate::native::SOURCE;

/// An executable, and how its engines are asked one by one.
#[derive(Clone, Debug)]
pub struct Tool {
    pub path: PathBuf,
    /// `check` has `--engine`; before it had, the search by running was part of `diagnose`,
    /// which ends with the first fault.
    has_engines: bool,
    /// Processor time an engine may use on one program: far more than it needs.
    pub cpu: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    Static,
    Explore,
}

impl Engine {
    pub fn name(self) -> &'static str {
        match self {
            Engine::Static => "static",
            Engine::Explore => "explore",
        }
    }
}

/// What an engine said of a program.
#[derive(Clone, Debug)]
pub struct Answer {
    /// `None` where there is no report.
    pub findings: Option<Findings>,
    /// Why the run counts as failed: a crash, a hang, an exit code it has no reason for.
    pub failed: Option<String>,
    pub cpu: Duration,
}

impl Tool {
    pub fn new(path: &Path, cpu: Duration) -> Result<Self> {
        let mut command = child::command(path).context("cannot run firstfault")?;
        command.args(["check", "--help"]);
        let finished = child::run(command, b"", &Limits::default(), &Cancel::new())?;
        let has_engines = String::from_utf8_lossy(&finished.stdout).contains("--engine");
        Ok(Self { path: path.to_owned(), has_engines, cpu })
    }

    /// The arguments an engine is asked with.
    pub fn arguments(&self, engine: Engine) -> Vec<&'static str> {
        match (engine, self.has_engines) {
            (Engine::Static, true) => vec!["check", "--engine", "static", "-j1"],
            (Engine::Explore, true) => vec!["check", "--engine", "explore", "-j1"],
            (Engine::Static, false) => vec!["check", "-j1"],
            (Engine::Explore, false) => vec!["diagnose", "--top", "1", "-j1"],
        }
    }

    /// Asks an engine about a text.
    pub fn ask(&self, engine: Engine, text: &str) -> Result<Answer> {
        let folder = tempfile::tempdir().context("cannot make a scratch folder")?;
        std::fs::write(folder.path().join(SOURCE), text)?;
        let mut command = child::command(&self.path).context("cannot run firstfault")?;
        command.args(self.arguments(engine)).args(["--format", "json", "-o", "report.json"]);
        command.args(["--state", "state", "--timings", "timings.json", SOURCE]);
        command.current_dir(folder.path());
        let finished =
            child::run(command, b"", &Limits::of_processor_time(self.cpu), &Cancel::new())?;
        let read = |name: &str| std::fs::read(folder.path().join(name)).ok();
        let findings = read("report.json").map(|bytes| serde_json::from_slice::<Findings>(&bytes));
        let (findings, unreadable) = match findings.transpose() {
            Ok(findings) => (findings, None),
            Err(error) => (None, Some(format!("the report cannot be read: {error}"))),
        };
        let n_panics = read("timings.json").map_or(0, |bytes| panics(&bytes));
        let stderr = String::from_utf8_lossy(&finished.stderr);
        // `diagnose` says so where it found nothing and has not run every path.
        let is_partial = !self.has_engines && engine == Engine::Explore;
        let ending = match finished.ending {
            Ending::Exited(3) if is_partial => Ending::Exited(0),
            ending => ending,
        };
        let failed = unreadable.or_else(|| failure(ending, n_panics, &stderr));
        Ok(Answer { findings, failed, cpu: finished.cpu })
    }
}

fn panics(timings: &[u8]) -> u64 {
    let timings: Option<serde_json::Value> = serde_json::from_slice(timings).ok();
    timings.and_then(|timings| timings.get("panics")?.as_u64()).unwrap_or(0)
}

/// The generated programs are whole and compile: exit codes 0 and 1 are all there is.
fn failure(ending: Ending, n_panics: u64, stderr: &str) -> Option<String> {
    let said = || stderr.lines().last().unwrap_or_default().to_owned();
    match ending {
        Ending::Exited(0 | 1) if n_panics == 0 && !stderr.contains("panicked at") => None,
        Ending::Exited(0 | 1) => Some(format!("a panic was caught: {}", said())),
        ending => Some(format!("{ending}: {}", said())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_analyses_are_no_failure() {
        assert_eq!(failure(Ending::Exited(0), 0, ""), None);
        assert_eq!(failure(Ending::Exited(1), 0, "a warning\n"), None);
        for ending in
            [Ending::Exited(2), Ending::Exited(3), Ending::TimedOut, Ending::Signalled(11)]
        {
            assert!(failure(ending, 0, "").is_some(), "{ending}");
        }
        assert!(failure(Ending::Exited(1), 1, "").is_some());
        assert!(failure(Ending::Exited(0), 0, "thread 'main' panicked at x.rs:1\n").is_some());
        assert_eq!(panics(b"{\"panics\": 2}"), 2);
        assert_eq!(panics(b"nonsense"), 0);
    }
}
