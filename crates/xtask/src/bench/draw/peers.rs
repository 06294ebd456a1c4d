//! Other analysers on the units the build compiled, and their diagnostics as findings.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Ending, Limits};
use serde::Deserialize;

use super::build::Unit;
use super::finding::{Finding, Step};
use crate::bench::{parallel, subject};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// `clang-19 --analyze` with its default checkers.
    Clang,
    /// `gcc -fanalyzer`.
    Gcc,
}

pub const ALL: [Peer; 2] = [Peer::Clang, Peer::Gcc];

impl Peer {
    pub fn name(self) -> &'static str {
        match self {
            Peer::Clang => "clang",
            Peer::Gcc => "gcc",
        }
    }
}

/// What a peer said of a package.
#[derive(Default)]
pub struct Said {
    pub findings: Vec<Finding>,
    pub cpu: Duration,
    /// Units that were stopped at the limit of time or memory, or that did not compile.
    pub n_failed: usize,
}

/// Address space a peer may use for one unit, so that one unit does not stall the machine.
const MAX_MEMORY: u64 = 6 << 30;

pub fn run(peer: Peer, units: &[Unit], tree: &Path, cpu: Duration, jobs: usize) -> Result<Said> {
    let limits = Limits { stdout_cap: 0, stderr_cap: 64 << 20, ..Limits::of_processor_time(cpu) };
    let outcomes =
        parallel::map(units, jobs, |unit| {
            let mut command = subject::limited(cpu, Some(MAX_MEMORY))?;
            match peer {
                Peer::Clang => command
                    .args(["clang-19", "--analyze", "-Xclang", "-analyzer-output=text", "-w"])
                    .args(["-o", "/dev/null"]),
                Peer::Gcc => command
                    .args(["gcc", "-fanalyzer", "-fdiagnostics-format=json"])
                    .args(["-S", "-o", "/dev/null"]),
            };
            command.args(&unit.flags).arg("-Wno-error");
            command.arg(&unit.source).current_dir(&unit.directory).env("LC_ALL", "C");
            child::run(command, b"", &limits, &Cancel::new())
                .with_context(|| format!("{} on {}", peer.name(), unit.source.display()))
        });
    let mut said = Said::default();
    let mut seen = BTreeSet::new();
    for (unit, outcome) in units.iter().zip(outcomes) {
        let finished = outcome?;
        said.cpu += finished.cpu;
        said.n_failed += usize::from(finished.ending != Ending::Exited(0));
        let text = String::from_utf8_lossy(&finished.stderr);
        let found = match peer {
            Peer::Clang => of_clang(&text),
            Peer::Gcc => of_gcc(&text),
        };
        for mut finding in found {
            finding.file = relative(&finding.file, &unit.directory, tree);
            for step in &mut finding.steps {
                step.file = relative(&step.file, &unit.directory, tree);
            }
            if seen.insert((finding.file.clone(), finding.line, finding.message.clone())) {
                said.findings.push(finding);
            }
        }
    }
    said.findings.sort();
    Ok(said)
}

/// A path as seen from the tree; absolute where it lies outside.
fn relative(file: &str, directory: &Path, tree: &Path) -> String {
    let path = directory.join(file);
    let path = path.canonicalize().unwrap_or(path);
    path.strip_prefix(tree).unwrap_or(&path).to_string_lossy().into_owned()
}

/// Reads `FILE:LINE:COLUMN: warning: MESSAGE [CHECKER]` and the notes that follow.
fn of_clang(text: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for line in text.lines() {
        let Some((file, number, kind, message)) = diagnostic(line) else { continue };
        match kind {
            "warning" => {
                let Some((message, rule)) = message.rsplit_once(" [") else { continue };
                findings.push(Finding {
                    file: file.to_owned(),
                    line: number,
                    rule: rule.trim_end_matches(']').to_owned(),
                    message: message.to_owned(),
                    ..Finding::default()
                });
            }
            "note" => {
                if let Some(finding) = findings.last_mut() {
                    let step = Step { file: file.into(), line: number, note: message.into() };
                    finding.steps.push(step);
                }
            }
            _ => {}
        }
    }
    findings
}

fn diagnostic(line: &str) -> Option<(&str, u32, &str, &str)> {
    let (place, kind, message) = ["warning", "note", "error"].iter().find_map(|kind| {
        let (place, message) = line.split_once(&format!(": {kind}: "))?;
        Some((place, *kind, message))
    })?;
    let (place, _column) = place.rsplit_once(':')?;
    let (file, number) = place.rsplit_once(':')?;
    Some((file, number.parse().ok()?, kind, message))
}

#[derive(Deserialize)]
struct Diagnostic {
    #[serde(default)]
    option: String,
    message: String,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    path: Vec<Event>,
}

#[derive(Deserialize)]
struct Location {
    caret: Place,
}

#[derive(Deserialize)]
struct Place {
    file: String,
    line: u32,
}

#[derive(Deserialize)]
struct Event {
    location: Option<Place>,
    description: String,
    #[serde(default)]
    function: String,
}

/// Reads the arrays of `-fdiagnostics-format=json`, one to a line.
fn of_gcc(text: &str) -> Vec<Finding> {
    let arrays = text.lines().filter_map(|line| serde_json::from_str::<Vec<Diagnostic>>(line).ok());
    let analysed = arrays.flatten().filter(|d| d.option.starts_with("-Wanalyzer"));
    analysed.filter_map(finding_of_gcc).collect()
}

fn finding_of_gcc(diagnostic: Diagnostic) -> Option<Finding> {
    let place = diagnostic.locations.into_iter().next()?.caret;
    let function = diagnostic.path.last().map(|event| event.function.clone()).unwrap_or_default();
    let steps = diagnostic.path.into_iter().filter_map(|event| {
        let place = event.location?;
        Some(Step { file: place.file, line: place.line, note: event.description })
    });
    Some(Finding {
        steps: steps.collect(),
        file: place.file,
        line: place.line,
        rule: diagnostic.option.trim_start_matches("-W").to_owned(),
        message: diagnostic.message,
        level: String::new(),
        function,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_is_read() {
        let text = "a.c:7:3: warning: Dereference of null [core.NullDereference]\n    7 |   *p;\n\
                    ../b.h:2:1: note: Assuming 'p' is null\na.c:x:3: warning: no line [core.X]\n\
                    1 warning generated.\na.c:9:1: error: unknown\na.c:9:2: warning: no checker\n";
        let found = of_clang(text);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].rule.as_str()), (7, "core.NullDereference"));
        assert_eq!(found[0].message, "Dereference of null");
        let step = Step { file: "../b.h".into(), line: 2, note: "Assuming 'p' is null".into() };
        assert_eq!(found[0].steps, [step]);
    }

    #[test]
    fn gcc_is_read() {
        let place = r#"{"file": "a.c", "line": 3, "column": 1}"#;
        let text = format!(
            "cc1: note: something\n[{{\"kind\": \"warning\", \"message\": \"leak of 'p'\", \
             \"option\": \"-Wanalyzer-malloc-leak\", \"locations\": [{{\"caret\": {place}}}], \
             \"path\": [{{\"location\": {place}, \"description\": \"allocated here\", \
             \"function\": \"f\", \"depth\": 1}}]}}, {{\"message\": \"other\", \
             \"option\": \"-Wall\"}}]\n[{{\"broken\"\n"
        );
        let found = of_gcc(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rule, "analyzer-malloc-leak");
        assert_eq!((found[0].line, found[0].function.as_str()), (3, "f"));
        assert_eq!(found[0].steps[0].note, "allocated here");
    }

    #[test]
    fn paths_are_seen_from_the_tree() {
        let tree = Path::new("/nowhere/tree");
        assert_eq!(relative("a.c", &tree.join("src"), tree), "src/a.c");
        assert_eq!(relative("/usr/x.h", tree, tree), "/usr/x.h");
    }
}
