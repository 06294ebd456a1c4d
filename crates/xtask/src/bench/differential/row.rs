//! What is kept of a program.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use differential::{Case, Examined, Kind};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub seed: u64,
    /// Idioms, with their variants where they are wrong.
    pub parts: Vec<String>,
    pub seeded: Vec<Seeded>,
    pub contradictions: Vec<Told>,
    pub n_static: u32,
    pub n_unclear: u32,
    /// Proved faults: confirmed, different, nothing, unseen rule, cannot be run.
    pub proved: [u32; 5],
    pub n_runs: u32,
    /// Questions asked, and those facts settle; 0 where the tool does not tell.
    #[serde(default)]
    pub n_asked: u32,
    #[serde(default)]
    pub n_settled: u32,
    /// CPU seconds natively, static, explore.
    pub cpu: [f64; 3],
    /// What right forms showed: defects of the idioms.
    pub broken: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seeded {
    pub idiom: String,
    pub variant: String,
    pub rule: String,
    pub is_shown: bool,
    pub by_static: bool,
    pub by_explore: bool,
    pub is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub kind: String,
    pub engine: String,
    pub rule: String,
    pub line: u32,
    pub about: String,
    pub told: String,
}

impl Told {
    pub fn is_defect(&self) -> bool {
        [Kind::Failed, Kind::Unshown, Kind::Settled].iter().any(|kind| kind.name() == self.kind)
    }
}

impl Row {
    pub fn new(seed: u64, case: &Case, examined: &Examined) -> Self {
        let seeded = examined.seeded.iter().map(|seeded| Seeded {
            idiom: seeded.idiom.clone(),
            variant: seeded.variant.clone(),
            rule: seeded.rule.clone(),
            is_shown: seeded.is_shown,
            by_static: seeded.by_static,
            by_explore: seeded.by_explore,
            is_open: seeded.is_open,
        });
        let contradictions = examined.contradictions.iter().map(|c| Told {
            kind: c.kind.name().to_owned(),
            engine: c.engine.map_or("both", differential::Engine::name).to_owned(),
            rule: c.rule.clone(),
            line: c.line,
            about: case.name(c.part),
            told: c.told.clone(),
        });
        let broken = examined.broken.iter().map(|shown| {
            format!("{}, line {}: {}", case.name(shown.part), shown.line(), shown.seen.message)
        });
        Self {
            seed,
            parts: (0..case.parts.len()).map(|part| case.name(Some(part))).collect(),
            seeded: seeded.collect(),
            contradictions: contradictions.collect(),
            n_static: examined.n_static,
            n_unclear: examined.n_unclear,
            proved: examined.proved,
            n_runs: examined.n_runs,
            n_asked: examined.n_asked,
            n_settled: examined.n_settled,
            cpu: examined.cpu.map(|cpu| cpu.as_secs_f64()),
            broken: broken.collect(),
        }
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [native, statically, explored] = self.cpu;
        let [confirmed, different, nothing, unseen, not_run] = self.proved;
        write!(
            f,
            "{}: {}; {} runs {native:.1} s, static {} reports {statically:.1} s, explore \
             {confirmed} confirmed {different} different {nothing} nothing {unseen} unseen \
             {not_run} not run {explored:.1} s",
            self.seed,
            self.parts.join(", "),
            self.n_runs,
            self.n_static
        )?;
        for c in &self.contradictions {
            write!(
                f,
                "\n  {} {} {} line {} {}: {}",
                c.kind, c.engine, c.rule, c.line, c.about, c.told
            )?;
        }
        for broken in &self.broken {
            write!(f, "\n  RIGHT FORM SHOWS {broken}")?;
        }
        Ok(())
    }
}

/// The rows of an earlier run; a last line that was cut off is dropped.
pub fn load(path: &Path) -> Result<Vec<Row>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut rows = Vec::new();
    let n_lines = text.lines().count();
    for (index, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(row) => rows.push(row),
            Err(_) if index + 1 == n_lines && !text.ends_with('\n') => {}
            Err(error) => {
                return Err(error)
                    .with_context(|| format!("{}, line {}", path.display(), index + 1));
            }
        }
    }
    Ok(rows)
}

/// The file of a commit's rows.
pub fn kept(folder: &Path, commit: &str) -> PathBuf {
    folder.join(format!("rows-{}.jsonl", commit.replace(' ', "-")))
}

pub fn append(path: &Path, row: &Row) -> Result<()> {
    let mut file = std::fs::File::options().create(true).append(true).open(path)?;
    let line = serde_json::to_string(row)? + "\n";
    file.write_all(line.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn row(seed: u64) -> Row {
        Row {
            seed,
            parts: vec!["ring (right)".to_owned()],
            seeded: Vec::new(),
            contradictions: Vec::new(),
            n_static: 0,
            n_unclear: 0,
            proved: [0; 5],
            n_runs: 1,
            n_asked: 0,
            n_settled: 0,
            cpu: [0.5, 0.25, 1.0],
            broken: Vec::new(),
        }
    }

    #[test]
    fn rows_come_back_and_a_cut_one_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        assert_eq!(load(&path).unwrap(), []);
        append(&path, &row(1)).unwrap();
        append(&path, &row(2)).unwrap();
        assert_eq!(load(&path).unwrap(), [row(1), row(2)]);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 5]).unwrap();
        assert_eq!(load(&path).unwrap(), [row(1)]);
        std::fs::write(&path, format!("nonsense\n{text}")).unwrap();
        assert!(load(&path).is_err());
    }
}
