//! `cargo xtask seed-knowledge`: learns the shipped knowledge base from the faults seeded into the
//! programs of `bench/bugfix`, written by hand or drawn by mutation, one `firstfault learn` for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use serde::Deserialize;

use crate::bench::parallel;
use crate::mutated::{Evenly, MUTANT, mutants};

/// `bench/bugfix/PROGRAM/faults.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Faults {
    fault: Vec<Fault>,
}

/// One statement made wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    name: String,
    /// What is right; stands once in the file.
    old: String,
    /// What is seeded.
    new: String,
}

/// A faulty version of a program.
pub struct Seeded {
    pub program: String,
    pub name: String,
    pub right: String,
    pub faulty: String,
    pub tests: PathBuf,
}

/// Seconds for a run of a test, which takes a thousandth of one.
const TIME_LIMIT: &str = "5";

/// Processor time for learning one fault.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs with faults that are learned.
pub const LEARNED: &str = "bench/bugfix";

/// Mutants that are learned of each program, besides the faults written by hand.
const N_MUTANTS: usize = 30;

/// Faults learned at a time.
pub const N_JOBS: usize = 2;

pub fn run(root: &Path, firstfault: Option<&Path>) -> Result<()> {
    let firstfault = match firstfault {
        Some(path) => std::path::absolute(path)?,
        None => crate::bench::firstfault(root)?,
    };
    let scratch = tempfile::tempdir()?;
    let knowledge = scratch.path().join("knowledge.db");
    let n = learn_all(&firstfault, &learned(root)?, &knowledge)?;
    let listed = listed(&firstfault, &knowledge)?;
    let shipped = root.join("crates/bugfix/knowledge/shipped.jsonl");
    fs::write(&shipped, listed).with_context(|| format!("cannot write {}", shipped.display()))?;
    println!("{n} scenarios in {}", shipped.display());
    Ok(())
}

/// All faulty versions of the programs in a folder, by program and in the order of the files.
pub fn seeded(folder: &Path) -> Result<Vec<Seeded>> {
    let mut programs: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    programs.sort();
    let mut found = Vec::new();
    for folder in programs.iter().filter(|path| path.is_dir()) {
        let program = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let right = fs::read_to_string(folder.join(format!("{program}.c")))
            .with_context(|| format!("no {program}.c in {}", folder.display()))?;
        let faults: Faults = toml::from_str(&fs::read_to_string(folder.join("faults.toml"))?)
            .with_context(|| format!("faults of {program}"))?;
        for fault in faults.fault {
            if right.matches(&fault.old).count() != 1 {
                bail!("{program}/{}: what is right does not stand once in the file", fault.name);
            }
            found.push(Seeded {
                program: program.clone(),
                name: fault.name,
                right: right.clone(),
                faulty: right.replace(&fault.old, &fault.new),
                tests: folder.join("tests.toml"),
            });
        }
    }
    Ok(found)
}

/// The faults that are learned: those written by hand, and as many mutants again and more, since
/// rules need situations that are alike.
pub fn learned(root: &Path) -> Result<Vec<Seeded>> {
    let mut faults = seeded(&root.join(LEARNED))?;
    let mutants = mutants(&faults, N_MUTANTS, Evenly::Kinds)?;
    faults.extend(mutants);
    Ok(faults)
}

/// Learns each fix into a knowledge base; how many were learned. A mutant that cannot be learned is
/// passed over, a fault written by hand must be.
pub fn learn_all(firstfault: &Path, seeded: &[Seeded], knowledge: &Path) -> Result<usize> {
    let outcomes = parallel::map(seeded, N_JOBS, |fault| {
        let origin = format!("{}/{}", fault.program, fault.name);
        let outcome = fault.learn(firstfault, knowledge, &origin);
        eprintln!(
            "{origin}: {}",
            outcome.as_ref().map_or_else(|e| format!("{e:#}"), |()| "learned".into())
        );
        outcome
    });
    let mut n_learned = 0;
    for (fault, outcome) in seeded.iter().zip(outcomes) {
        match outcome {
            Ok(()) => n_learned += 1,
            Err(_) if fault.name.starts_with(MUTANT) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(n_learned)
}

/// All scenarios of a knowledge base, one a line, in the order of their origins.
pub fn listed(firstfault: &Path, knowledge: &Path) -> Result<String> {
    let mut command = Command::new(firstfault);
    command.args(["learn", "--list", "--no-shipped", "--knowledge"]).arg(knowledge);
    let output = command.output()?;
    if !output.status.success() {
        bail!("cannot list: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    Ok(lines.join("\n") + "\n")
}

impl Seeded {
    /// Learns the fix into a knowledge base.
    pub fn learn(&self, firstfault: &Path, knowledge: &Path, origin: &str) -> Result<()> {
        let home = self.written()?;
        let file = format!("{}.c", self.program);
        let mut command = child::command(firstfault)?;
        command
            .args(["learn", &file, "--fixed-by", "fix.diff", "--origin", origin, "--no-shipped"])
            .args(["--limit-fails", "--time-limit", TIME_LIMIT, "--tests"])
            .arg(&self.tests)
            .arg("--knowledge")
            .arg(knowledge)
            .current_dir(home.path());
        let limits = Limits::of_processor_time(PATIENCE);
        let ran = child::run(command, b"", &limits, &Cancel::default())?;
        if !ran.ending.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            bail!("{origin}: {}: {}", ran.ending, said.trim());
        }
        Ok(())
    }

    /// A folder with the faulty program and the diff that fixes it.
    pub fn written(&self) -> Result<tempfile::TempDir> {
        let home = tempfile::tempdir()?;
        let file = format!("{}.c", self.program);
        fs::write(home.path().join(&file), &self.faulty)?;
        fs::write(home.path().join("fix.diff"), diff(&file, &self.faulty, &self.right))?;
        Ok(home)
    }
}

/// A diff of one hunk: what is equal at the front and at the back is left out.
fn diff(file: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let back = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let removed = &old_rest[..old_rest.len() - back];
    let added = &new_rest[..new_rest.len() - back];
    // Of no lines, the line before is named.
    let at = |lines: &[&str]| if lines.is_empty() { front } else { front + 1 };
    let mut text = format!("--- a/{file}\n+++ b/{file}\n");
    let (from, to) = (at(removed), at(added));
    text += &format!("@@ -{from},{} +{to},{} @@\n", removed.len(), added.len());
    removed.iter().for_each(|line| text += &format!("-{line}\n"));
    added.iter().for_each(|line| text += &format!("+{line}\n"));
    text
}
