//! What the programs of a set hold: `truth.json` with pairs and correlation programs, with
//! failing runs, or with code bases that break their own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// A `truth.json`; which of the lists it has says what kind of set it is.
#[derive(Debug, Deserialize)]
pub struct Truth {
    #[serde(default)]
    pub cases: Vec<Pair>,
    #[serde(default)]
    pub correlation_cases: Vec<Correlated>,
    #[serde(default)]
    pub programs: Vec<Run>,
    #[serde(default)]
    pub bases: Vec<Base>,
}

/// `NAME_bad.c` and its corrected twin `NAME_ok.c`.
#[derive(Clone, Debug, Deserialize)]
pub struct Pair {
    pub name: String,
    pub kind: String,
    pub bad_lines: Vec<Expected>,
    /// Further units of both programs.
    #[serde(default)]
    pub extra_files: Vec<String>,
    #[serde(default)]
    pub ok_is_path_correlated: bool,
    pub trigger: Option<Input>,
    pub normal: Option<Input>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Primary,
    /// Follows from the fault: neither wanted nor wrong.
    Consequence,
}

/// A fault of a program that has a corrected twin.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    pub role: Role,
    #[serde(flatten)]
    pub fault: Fault,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Fault {
    #[serde(default)]
    pub id: String,
    /// Any file of the program where absent.
    pub file: Option<String>,
    pub line: u32,
    pub rule: String,
    /// Other lines of the same file that are accepted.
    #[serde(default)]
    pub alt_lines: Vec<u32>,
    /// Accepted places in other files.
    #[serde(default)]
    pub alt_at: Vec<Place>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

/// What a program is run with; texts have one character for each byte.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Input {
    #[serde(default)]
    pub argv: Vec<String>,
    #[serde(default)]
    pub stdin: String,
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// A program with several faults, some of which cause others.
#[derive(Clone, Debug, Deserialize)]
pub struct Correlated {
    pub name: String,
    pub file: String,
    pub faults: Vec<Fault>,
    pub edges: Vec<Edge>,
    pub groups: Vec<Vec<String>>,
    #[serde(default)]
    pub triggers: Vec<Input>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub unique: bool,
}

/// A failing run: where memory is first corrupted, or which race does harm.
#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    pub id: String,
    pub dir: String,
    pub source: String,
    #[serde(default)]
    pub threads: bool,
    pub input: RunInput,
    pub failing_args: Option<Vec<String>>,
    pub outcome: Outcome,
    /// Absent where nothing is corrupted.
    pub first_corruption_line: Option<u32>,
    #[serde(default)]
    pub first_corruption_also_accept: Vec<u32>,
    pub expected_output: Option<String>,
    pub race: Option<Race>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Signal,
    WrongOutput,
    Silent,
    Hang,
    Pass,
}

#[derive(Clone, Debug, Deserialize)]
pub struct RunInput {
    #[serde(default)]
    pub args: Vec<String>,
    pub stdin: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Race {
    pub harmful: bool,
    pub accesses: Vec<Access>,
    /// Further lines that a tool may name for the same race.
    #[serde(default)]
    pub secondary_lines: Vec<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Access {
    pub line: u32,
}

/// A code base with planted deviations and correct code that looks like one.
#[derive(Clone, Debug, Deserialize)]
pub struct Base {
    pub base: String,
    pub files: Vec<String>,
    pub deviations: Vec<Deviation>,
    #[serde(default)]
    pub decoys: Vec<Deviation>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Deviation {
    pub id: String,
    pub file: String,
    pub line: u32,
    pub template: String,
    #[serde(default)]
    pub template_also_accept: Vec<String>,
    #[serde(default)]
    pub also_accept: Vec<Place>,
}

/// Reads and checks the truth of a folder.
pub fn load(folder: &Path) -> Result<Truth> {
    let path = folder.join("truth.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let truth = parse(&text).with_context(|| format!("{} is no truth file", path.display()))?;
    for file in truth.sources() {
        let file = folder.join(file);
        ensure!(
            file.is_file(),
            "{} tells of {}, which is not there",
            path.display(),
            file.display()
        );
    }
    Ok(truth)
}

pub fn parse(text: &str) -> Result<Truth> {
    let truth: Truth = serde_json::from_str(text)?;
    truth.check()?;
    Ok(truth)
}

impl Truth {
    fn check(&self) -> Result<()> {
        if self.cases.is_empty()
            && self.correlation_cases.is_empty()
            && self.programs.is_empty()
            && self.bases.is_empty()
        {
            bail!("it has none of: cases, correlation_cases, programs, bases");
        }
        let mut names = BTreeSet::new();
        let all = self.cases.iter().map(|case| &case.name);
        let all = all.chain(self.correlation_cases.iter().map(|case| &case.name));
        let all = all.chain(self.programs.iter().map(|run| &run.id));
        for name in all.chain(self.bases.iter().map(|base| &base.base)) {
            ensure!(names.insert(name), "the name {name} is given twice");
        }
        for case in &self.cases {
            let has_primary = case.bad_lines.iter().any(|line| line.role == Role::Primary);
            ensure!(has_primary, "{} has no primary fault", case.name);
        }
        for case in &self.correlation_cases {
            let is_known = |id: &String| case.faults.iter().any(|fault| fault.id == *id);
            let edges = case.edges.iter().flat_map(|edge| [&edge.from, &edge.to]);
            for id in edges.chain(case.groups.iter().flatten()) {
                ensure!(is_known(id), "{}: no fault is named {id}", case.name);
            }
        }
        for run in &self.programs {
            ensure!(!run.threads || run.race.is_some(), "{} has threads, but no race", run.id);
            ensure!(
                run.threads || run.first_corruption_line.is_some(),
                "{} has no first_corruption_line",
                run.id
            );
        }
        for file in self.sources() {
            let is_inside = !file.starts_with('/') && !file.split('/').any(|part| part == "..");
            ensure!(is_inside, "{file} lies outside the set");
        }
        Ok(())
    }

    /// Every file of the set that is analysed or run, relative to its folder.
    fn sources(&self) -> Vec<String> {
        let mut files = Vec::new();
        for case in &self.cases {
            files.extend([format!("{}_bad.c", case.name), format!("{}_ok.c", case.name)]);
            files.extend(case.extra_files.iter().cloned());
        }
        files.extend(self.correlation_cases.iter().map(|case| case.file.clone()));
        for run in &self.programs {
            let also = run.input.stdin.iter().chain(&run.expected_output);
            let own = std::iter::once(&run.source).chain(also);
            files.extend(own.map(|file| format!("{}/{file}", run.dir)));
        }
        for base in &self.bases {
            files.extend(base.files.iter().map(|file| format!("{}/{file}", base.base)));
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        format!("{:#}", parse(text).unwrap_err())
    }

    #[test]
    fn what_is_wrong_with_a_truth_file_is_said() {
        assert!(error("{").contains("line 1"));
        assert!(error("{}").contains("none of: cases"));
        let no_line = r#"{"cases": [{"name": "a", "kind": "k",
            "bad_lines": [{"role": "primary", "rule": "leak"}]}]}"#;
        assert!(error(no_line).contains("missing field `line`"), "{}", error(no_line));
        let role = r#"{"cases": [{"name": "a", "kind": "k",
            "bad_lines": [{"role": "main", "line": 1, "rule": "leak"}]}]}"#;
        assert!(error(role).contains("unknown variant `main`"), "{}", error(role));
        let no_primary = r#"{"cases": [{"name": "a", "kind": "k",
            "bad_lines": [{"role": "consequence", "line": 1, "rule": "leak"}]}]}"#;
        assert!(error(no_primary).contains("a has no primary fault"));
        let edge = r#"{"correlation_cases": [{"name": "c", "file": "c.c", "groups": [],
            "faults": [{"id": "f1", "line": 3, "rule": "leak"}],
            "edges": [{"from": "f1", "to": "f9", "unique": true}]}]}"#;
        assert!(error(edge).contains("c: no fault is named f9"));
        let outside = r#"{"correlation_cases": [{"name": "c", "file": "../c.c", "groups": [],
            "faults": [], "edges": []}]}"#;
        assert!(error(outside).contains("outside the set"));
        let run = r#"{"programs": [{"id": "x", "dir": "d", "source": "p.c", "outcome": "hang",
            "input": {"args": []}}]}"#;
        assert!(error(run).contains("x has no first_corruption_line"));
    }

    #[test]
    fn a_name_may_be_given_once_only() {
        let base = r#"{"base": "b", "files": [], "deviations": []}"#;
        assert!(error(&format!(r#"{{"bases": [{base}, {base}]}}"#)).contains("b is given twice"));
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(format!("{:#}", load(folder.path()).unwrap_err()).contains("cannot read"));
        let text = r#"{"bases": [{"base": "b", "files": ["x.c"], "deviations": []}]}"#;
        std::fs::write(folder.path().join("truth.json"), text).unwrap();
        let error = load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("b/x.c, which is not there"), "{error}");
    }
}
