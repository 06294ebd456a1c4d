//! Asking `firstfault`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
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
    /// `show` has a view of what facts settle.
    tells_settled: bool,
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

/// A question of a rule, and whether facts settle it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub line: u32,
    pub rule: String,
    /// Safe, or never reached: no path was asked.
    pub is_settled: bool,
}

impl Point {
    /// `FILE:LINE:COLUMN: RULE: ANSWER`
    fn read(line: &str) -> Option<Self> {
        let (place, said) = line.split_once(": ")?;
        let (rule, answer) = said.split_once(": ")?;
        let mut place = place.rsplitn(3, ':').skip(1);
        let (line, file) = (place.next()?.parse().ok()?, place.next()?);
        (file == SOURCE).then(|| Self { line, rule: rule.to_owned(), is_settled: answer != "open" })
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
        let says = |subcommand: &str, word: &str| -> Result<bool> {
            let mut command = child::command(path).context("cannot run firstfault")?;
            command.args([subcommand, "--help"]);
            let finished = child::run(command, b"", &Limits::default(), &Cancel::new())?;
            Ok(String::from_utf8_lossy(&finished.stdout).contains(word))
        };
        let (has_engines, tells_settled) = (says("check", "--engine")?, says("show", "settled")?);
        Ok(Self { path: path.to_owned(), has_engines, tells_settled, cpu })
    }

    /// What facts settle in a text; `None` where the tool does not tell.
    pub fn settled(&self, text: &str) -> Result<Option<Vec<Point>>> {
        if !self.tells_settled {
            return Ok(None);
        }
        let folder = tempfile::tempdir().context("cannot make a scratch folder")?;
        std::fs::write(folder.path().join(SOURCE), text)?;
        let mut command = child::command(&self.path).context("cannot run firstfault")?;
        command.args(["show", "settled", "-j1", "--state", "state", "-o", "settled", SOURCE]);
        command.current_dir(folder.path());
        let finished =
            child::run(command, b"", &Limits::of_processor_time(self.cpu), &Cancel::new())?;
        if !finished.ending.success() {
            bail!("show settled {}", finished.ending);
        }
        let told = std::fs::read_to_string(folder.path().join("settled"))?;
        Ok(Some(told.lines().filter_map(Point::read).collect()))
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
    fn settled_points_are_read() {
        let read = |text: &str| Point::read(text).map(|p| (p.line, p.rule, p.is_settled));
        assert_eq!(read("program.c:3:7: leak: safe"), Some((3, "leak".to_owned(), true)));
        assert!(read("program.c:3:7: leak: never reached").unwrap().2);
        assert!(!read("program.c:3:7: leak: open").unwrap().2);
        for other in
            ["/usr/include/x.h:3:7: leak: safe", "program.c: leak", "", "program.c:x:1: a: b"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

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
