//! `firstfault spec test`: the fixtures of rules, run as a user would run `check` on them.
//!
//! A rule's folder holds its specification, `fixtures/*.c` and `doc.md`; the annotations of
//! the C code, also of the document's examples, say what should be reported. Built-in rules
//! carry theirs in the binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use base::Scratch;
use findings::Findings;
use fixture::Fixture;
use rayon::prelude::*;
use spec::discover::{BuiltinFault, FAULTS};

use super::{nearest_rule, print};
use crate::commands::Outcome;
use crate::config;

/// The fixtures of one rule, and what `check` needs to know it.
struct Subject {
    /// The id of a built-in rule, or the folder of another.
    name: String,
    fixtures: Vec<Fixture>,
    /// Specifications to add to the built-in ones.
    specs: Vec<PathBuf>,
    /// Where `check` runs; the project's folder for rules of the project.
    folder: PathBuf,
}

pub fn run(paths: &[PathBuf]) -> Result<Outcome> {
    let scratch = Arc::new(Scratch::new().context("cannot make a folder for fixtures")?);
    let mut subjects = Vec::new();
    if paths.is_empty() {
        for fault in FAULTS {
            subjects.push(built_in(fault, &scratch)?);
        }
        for path in &config::load(Path::new("."))?.spec {
            subjects.extend(of_folder(path, &scratch)?);
        }
    }
    for path in paths {
        match FAULTS.iter().find(|fault| path == Path::new(fault.id)) {
            Some(fault) if !path.exists() => subjects.push(built_in(fault, &scratch)?),
            _ => subjects.extend(named(path, &scratch)?),
        }
    }
    let complaints: Vec<Vec<String>> =
        subjects.par_iter().map(|subject| complaints(subject, &scratch)).collect();
    report(&subjects, &complaints)
}

fn report(subjects: &[Subject], complaints: &[Vec<String>]) -> Result<Outcome> {
    let mut text = String::new();
    for (subject, complaints) in subjects.iter().zip(complaints) {
        let n_fixtures = subject.fixtures.len();
        let verdict = if complaints.is_empty() { "as annotated" } else { "NOT as annotated" };
        let n_fixtures = count(n_fixtures, "fixture");
        text += &format!("{:<20} {n_fixtures}, {verdict}\n", subject.name);
        for complaint in complaints {
            text += &format!("{complaint}\n");
        }
    }
    let n_failed = complaints.iter().filter(|complaints| !complaints.is_empty()).count();
    text += &match n_failed {
        0 => format!("as annotated: {}\n", count(subjects.len(), "rule")),
        n => format!("NOT as annotated: {n} of {}\n", count(subjects.len(), "rule")),
    };
    print(&text)?;
    Ok(if n_failed == 0 { Outcome::Clean } else { Outcome::Findings })
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn built_in(fault: &BuiltinFault, scratch: &Scratch) -> Result<Subject> {
    let folder = scratch.path().join("built-in").join(fault.id);
    let fixtures = folder.join("fixtures");
    for (name, text) in fault.fixtures {
        let path = fixtures.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&fixtures))?;
        std::fs::write(path, text)?;
    }
    let mut found = fixture::fixtures_below(&fixtures)?;
    found.extend(examples(fault.id, fault.doc, &folder)?);
    let folder = scratch.path().to_owned();
    Ok(Subject { name: fault.id.to_owned(), fixtures: found, specs: Vec::new(), folder })
}

fn named(path: &Path, scratch: &Scratch) -> Result<Vec<Subject>> {
    if !path.exists() {
        let name = path.display().to_string();
        bail!("{name} is neither a folder nor a rule{}", nearest_rule(&name));
    }
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
    let subjects = of_folder(folder, scratch)?;
    if subjects.is_empty() {
        bail!("{} has no rule with fixtures; see `firstfault spec new`", folder.display());
    }
    Ok(subjects)
}

/// The folder as a rule, or every folder in it that is one.
fn of_folder(folder: &Path, scratch: &Scratch) -> Result<Vec<Subject>> {
    let mut candidates = vec![folder.to_owned()];
    if folder.is_dir() {
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            candidates.push(entry?.path());
        }
    }
    candidates.sort();
    let mut subjects = Vec::new();
    for candidate in candidates {
        let fixtures = candidate.join("fixtures");
        if !fixtures.is_dir() {
            continue;
        }
        // All of the folder the user named: models of the project may lie beside the rule.
        let specs = vec![std::path::absolute(folder)?];
        let mut found = fixture::fixtures_below(&std::path::absolute(&fixtures)?)?;
        let doc = std::fs::read_to_string(candidate.join("doc.md")).unwrap_or_default();
        let id = rule_in(&candidate)?;
        let place = scratch.path().join("named").join(subjects.len().to_string()).join(&id);
        found.extend(examples(&id, &doc, &place)?);
        let name = candidate.display().to_string();
        subjects.push(Subject { name, fixtures: found, specs, folder: PathBuf::from(".") });
    }
    Ok(subjects)
}

/// The id of the rule that a folder specifies.
fn rule_in(folder: &Path) -> Result<String> {
    let loaded = spec::discover::load(&[folder.to_owned()])?;
    let fault = loaded.iter().find(|loaded| loaded.spec.kind == spec::ast::SpecKind::Fault);
    Ok(fault.map(|fault| fault.spec.id.clone()).unwrap_or_default())
}

/// The examples of a rule's document, for this rule alone unless they say otherwise.
fn examples(id: &str, doc: &str, folder: &Path) -> Result<Vec<Fixture>> {
    let mut fixtures = Vec::new();
    for (index, text) in fixture::examples(doc).into_iter().enumerate() {
        let folder = folder.join("doc").join(index.to_string());
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("doc.md.c");
        std::fs::write(&path, &text)?;
        let mut made = fixture::parse(&path, vec![fixture::Source { path: path.clone(), text }])?;
        if made.flags.is_empty() {
            made.flags = vec!["--rule".to_owned(), id.to_owned()];
        }
        fixtures.push(made);
    }
    Ok(fixtures)
}

fn complaints(subject: &Subject, scratch: &Scratch) -> Vec<String> {
    if subject.fixtures.is_empty() {
        return vec!["no fixtures".to_owned()];
    }
    let mut complaints = Vec::new();
    for fixture in &subject.fixtures {
        match analyse(subject, fixture, scratch) {
            Ok(findings) => {
                complaints.extend(fixture::check(fixture, &findings).iter().map(|m| m.to_string()));
            }
            Err(error) => complaints.push(format!("{}: {error:#}", fixture.path.display())),
        }
    }
    complaints
}

fn analyse(subject: &Subject, fixture: &Fixture, scratch: &Scratch) -> Result<Findings> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let is_c = |path: &&PathBuf| path.extension().is_some_and(|e| e == "c");
    let output = Command::new(own)
        .args(["check", "--format", "json", "-j", "1"])
        .args(fixture.sources.iter().map(|source| &source.path).filter(is_c))
        .args(subject.specs.iter().flat_map(|path| [Path::new("--spec"), path]))
        .args(&fixture.flags)
        .arg("--state")
        .arg(scratch.path().join("state"))
        .current_dir(&subject.folder)
        .output()
        .context("cannot run check")?;
    if !matches!(output.status.code(), Some(0 | 1)) {
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("check {}: {}", output.status, log.lines().next().unwrap_or("no message"));
    }
    serde_json::from_slice(&output.stdout).context("check printed no findings")
}
