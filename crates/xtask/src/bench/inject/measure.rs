//! Runs `firstfault check` on a project with faults in it. One folder for the cache serves all runs
//! on a project, so only changed units are imported again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};

use super::draw::{Injected, write};
use super::project::Project;
use super::score::{self, Before, Seen};
use crate::bench::subject::{self, Report};

pub struct Measure<'a> {
    pub project: &'a Project,
    pub program: &'a Path,
    /// Options given to `check`.
    pub options: &'a [String],
    pub cpu_limit: Duration,
    /// For the cache and the changed units of this project.
    pub scratch: PathBuf,
    /// Where reports and changed units are kept.
    pub keep: Option<PathBuf>,
}

/// One run.
pub struct Checked {
    pub seen: Vec<Seen>,
    undecided: Vec<Seen>,
    pub cpu: Duration,
    /// Why there is no report, or what of the program is missing in it.
    pub trouble: String,
}

/// How one injection did.
pub struct Outcome {
    pub score: score::Score,
    /// Why questions of a right rule in the function stayed open.
    pub undecided: Vec<String>,
    /// Its share of the run.
    pub cpu: Duration,
    pub trouble: String,
}

impl Measure<'_> {
    /// The unchanged project.
    pub fn unchanged(&self) -> Result<(Before, Checked)> {
        let checked = self.check(&BTreeMap::new(), "before")?;
        if checked.seen.is_empty() && !checked.trouble.is_empty() {
            bail!("{} unchanged: {}", self.project.name, checked.trouble);
        }
        Ok((score::before(&checked.seen), checked))
    }

    /// A batch. A report that touches several of its functions could be of each: these are checked
    /// again alone, as are all where the run brings no report. An error if the unchanged project
    /// brings none any more, either: what is gone from the machine is no miss.
    pub fn batch(&self, batch: &[&Injected], before: &Before) -> Result<Vec<Outcome>> {
        let checked = self.inject(batch)?;
        let share = checked.cpu / batch.len().max(1) as u32;
        let mut outcomes = Vec::new();
        for injected in batch {
            let is_unclear = batch.len() > 1
                && checked.seen.iter().any(|seen| {
                    let touched = batch.iter().filter(|other| score::touches(other, seen));
                    score::is_new(seen, before)
                        && score::touches(injected, seen)
                        && touched.count() > 1
                });
            let alone = match is_unclear || (batch.len() > 1 && !checked.trouble.is_empty()) {
                true => Some(self.inject(&[injected])?),
                false => None,
            };
            let cpu = share + alone.as_ref().map_or(Duration::ZERO, |alone| alone.cpu);
            let checked = alone.as_ref().unwrap_or(&checked);
            let score = score::score(injected, injected.kind.rules(), &checked.seen, before);
            let rules = injected.kind.rules();
            let undecided = score::reasons(injected, rules, &checked.undecided);
            outcomes.push(Outcome { score, undecided, cpu, trouble: checked.trouble.clone() });
        }
        if outcomes.iter().any(|outcome| !outcome.trouble.is_empty()) {
            self.unchanged().context("go on with --resume once it can be checked again")?;
        }
        Ok(outcomes)
    }

    fn inject(&self, batch: &[&Injected]) -> Result<Checked> {
        let mut changed = BTreeMap::new();
        for (index, injected) in batch.iter().enumerate() {
            let folder = self.run_folder().join(index.to_string());
            std::fs::create_dir_all(&folder)?;
            let name = injected.source.file_name().context("a source without a name")?;
            write(&folder.join(name), &injected.text)?;
            changed.insert(injected.source.clone(), folder.join(name));
            if let Some(keep) = &self.keep {
                let name = format!("{}-{}", injected.id, name.to_string_lossy());
                write(&keep.join(name), &injected.text)?;
            }
        }
        let names: Vec<&str> = batch.iter().map(|injected| injected.id.as_str()).collect();
        self.check(&changed, &names.join("+"))
    }

    fn run_folder(&self) -> PathBuf {
        self.scratch.join("run")
    }

    fn check(&self, changed: &BTreeMap<PathBuf, PathBuf>, name: &str) -> Result<Checked> {
        let folder = self.run_folder();
        std::fs::create_dir_all(&folder)?;
        write(&folder.join("compile_commands.json"), &self.project.database(changed)?)?;
        let path = self.scratch.join("report.json");
        if path.exists() {
            std::fs::remove_file(&path)?;
        }
        let mut command = subject::limited(self.cpu_limit, None)?;
        command
            .arg(self.program)
            .args(["check", "--format", "json", "-p", "."])
            .args(self.options)
            .arg("--state")
            .arg(self.scratch.join("state"))
            .arg("-o")
            .arg(&path)
            .current_dir(&folder);
        let limits = Limits { deadline: subject::PATIENCE * self.cpu_limit, ..Limits::default() };
        let finished = child::run(command, b"", &limits, &Cancel::new())?;
        let Ok(bytes) = std::fs::read(&path) else {
            let log = String::from_utf8_lossy(&finished.stderr).into_owned();
            let last = log.lines().last().unwrap_or_default();
            let trouble = format!("{}: {last}", finished.ending);
            return Ok(Checked {
                seen: Vec::new(),
                undecided: Vec::new(),
                cpu: finished.cpu,
                trouble,
            });
        };
        if let Some(keep) = &self.keep {
            std::fs::write(keep.join(format!("{}-{name}.json", self.project.name)), &bytes)?;
        }
        let report: Report = serde_json::from_slice(&bytes).context("the report is no JSON")?;
        let missing = report.incomplete.iter().map(|i| format!("{}: {}", i.what, i.reason));
        let trouble = missing.collect::<Vec<_>>().join("; ");
        Ok(Checked {
            seen: score::seen(&report, &folder, changed),
            undecided: score::undecided(&report, &folder, changed),
            cpu: finished.cpu,
            trouble,
        })
    }
}

/// Injections that share a run: of different units, and none of their functions calls another or is
/// called by the same name.
pub fn batches(injected: &[Injected], size: usize) -> Vec<Vec<&Injected>> {
    let mut batches: Vec<Vec<&Injected>> = Vec::new();
    for one in injected {
        let is_distant = |other: &&Injected| {
            one.source != other.source
                && one.function != other.function
                && !one.names.contains(&other.function)
                && !other.names.contains(&one.function)
        };
        // Of one kind only one, so that a report can be told apart by its rule as well.
        let fits = |batch: &&mut Vec<&Injected>| {
            let kinds: BTreeSet<_> = batch.iter().map(|other| other.kind).collect();
            batch.len() < size && !kinds.contains(&one.kind) && batch.iter().all(is_distant)
        };
        match batches.iter_mut().find(fits) {
            Some(batch) => batch.push(one),
            None => batches.push(vec![one]),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::inject::kind::Kind;
    use crate::bench::inject::score::tests::injected;

    #[test]
    fn only_distant_functions_share_a_run() {
        let mut all = vec![
            injected("/p/a.c", 1..=2),
            injected("/p/b.c", 1..=2),
            injected("/p/a.c", 3..=4),
            injected("/p/c.c", 1..=2),
        ];
        for (index, one) in all.iter_mut().enumerate() {
            one.function = format!("f{index}");
            one.kind = Kind::ALL[index];
        }
        all[3].names.insert("f0".to_owned());
        let of = |size| {
            let batches = batches(&all, size);
            batches
                .iter()
                .map(|b| b.iter().map(|one| one.function.clone()).collect())
                .collect::<Vec<Vec<_>>>()
        };
        assert_eq!(of(3), [vec!["f0", "f1"], vec!["f2", "f3"]]);
        assert_eq!(of(1).len(), 4);
        all[1].kind = all[0].kind;
        assert_eq!(batches(&all, 3)[0].len(), 1);
    }

    /// `sh check ...` in the folder of the runs: a report in the first changed unit whose path
    /// passes the second; nothing for the unchanged project.
    const TOOL: &str = r#"
        while [ "$1" != -o ]; do shift; done
        step=""
        grep -q run/1/ compile_commands.json && step='{"file": "1/b.c", "line": 1}'
        fault='{"rule": "null-dereference", "file": "0/a.c", "line": 1, "message": "m",
                "segments": [{"steps": ['"$step"']}]}'
        grep -q run/0/ compile_commands.json || fault=""
        echo '{"faults": ['"$fault"']}' > "$2"
    "#;

    fn project(folder: &Path) -> Project {
        let units = ["a.c", "b.c"].map(|file| {
            std::fs::write(folder.join(file), "int f(void);\n").unwrap();
            serde_json::json!({"directory": ".", "file": file, "command": format!("cc -c {file}")})
        });
        let text = serde_json::to_string(&units).unwrap();
        std::fs::write(folder.join("compile_commands.json"), text).unwrap();
        Project::load("x", folder).unwrap()
    }

    #[test]
    fn a_report_that_could_be_of_two_is_asked_for_again_alone() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let project = project(folder.path());
        let scratch = scratch.path().canonicalize().unwrap();
        std::fs::create_dir(scratch.join("run")).unwrap();
        let measure = Measure {
            project: &project,
            program: Path::new("/bin/sh"),
            options: &[],
            cpu_limit: Duration::from_secs(60),
            scratch,
            keep: None,
        };
        let tool = measure.run_folder().join("check");
        std::fs::write(&tool, TOOL).unwrap();
        let (before, _) = measure.unchanged().unwrap();
        assert!(before.is_empty());
        let mut all: Vec<Injected> = project
            .units
            .iter()
            .map(|unit| injected(&unit.source.to_string_lossy(), 1..=1))
            .collect();
        let batch: Vec<&Injected> = all.iter().collect();
        let found = |outcomes: &[Outcome]| -> Vec<bool> {
            outcomes.iter().map(|outcome| outcome.score.found.is_some()).collect()
        };
        // Alone, `b.c` is the first changed unit, and what is reported is not in it.
        assert_eq!(found(&measure.batch(&batch, &before).unwrap()), [true, false]);
        all[0].kind = Kind::ReleaseDropped;
        assert_eq!(found(&measure.batch(&[&all[0]], &before).unwrap()), [false]);
        let breaks = format!(
            "grep -q run/0/ compile_commands.json && {{ echo broken >&2; exit 2; }}\n{TOOL}"
        );
        std::fs::write(&tool, breaks).unwrap();
        let outcome = &measure.batch(&[&all[0]], &before).unwrap()[0];
        assert!(outcome.trouble.contains("broken") && outcome.score.found.is_none());
        std::fs::write(&tool, "echo broken >&2; exit 2").unwrap();
        assert!(measure.batch(&[&all[0]], &before).is_err(), "it is not the fault");
        assert!(measure.unchanged().is_err());
    }
}
