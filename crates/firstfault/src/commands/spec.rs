//! `firstfault spec check|show|test|new`, `rules` and `explain`: specifications as text.

mod testing;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use findings::Severity;
use report::output::Target;
use report::rules::Rule;
use spec::diagnostic::suggest;
use spec::discover::{self, FAULTS};
use spec::{Loaded, scaffold, show};

use super::{Outcome, catalogue};
use crate::args::{ExplainArgs, SpecAction, SpecArgs};

pub fn run(args: &SpecArgs) -> Result<Outcome> {
    match &args.action {
        SpecAction::Check { paths } if paths.is_empty() => check(&discover::builtin()),
        SpecAction::Check { paths } => check(&discover::load(paths)?),
        SpecAction::Show { what } => shown(what),
        SpecAction::Test { paths } => testing::run(paths),
        SpecAction::New { id, folder } => new(id, folder),
    }
}

/// All rules and templates, one line each: the built-in ones and the project's.
pub fn rules() -> Result<Outcome> {
    let line = |rule: &Rule| {
        let severity = match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        format!("{:<24} {severity:<8} {}\n", rule.id, rule.title)
    };
    let faults = catalogue::faults(Path::new("."))?;
    let faults: String = faults.iter().map(line).collect();
    let templates: String = catalogue::templates().iter().map(line).collect();
    print(&format!("faults (check):\n{faults}\nbeliefs (beliefs):\n{templates}"))?;
    Ok(Outcome::Clean)
}

pub fn explain(args: &ExplainArgs) -> Result<Outcome> {
    let rules = catalogue::rules(Path::new("."))?;
    let Some(rule) = rules.iter().find(|rule| rule.id == args.rule) else {
        let near = suggest(&args.rule, rules.iter().map(|rule| rule.id.as_str()));
        let near = near.map_or("; `firstfault rules` lists them".to_owned(), |near| {
            format!("; do you mean {near}?")
        });
        bail!("no rule is named {}{near}", args.rule);
    };
    if rule.doc.is_empty() {
        bail!("rule {} has no document: write a doc.md beside its specification", rule.id);
    }
    print(&rule.doc)?;
    Ok(Outcome::Clean)
}

fn check(loaded: &[Loaded]) -> Result<Outcome> {
    let mut text: String = loaded.iter().map(Loaded::render).collect();
    let n_mistaken = loaded.iter().filter(|loaded| loaded.has_errors()).count();
    text += &match n_mistaken {
        0 => format!("{} specifications are correct\n", loaded.len()),
        n => format!("{n} of {} specifications have errors\n", loaded.len()),
    };
    print(&text)?;
    Ok(if n_mistaken == 0 { Outcome::Clean } else { Outcome::Findings })
}

fn shown(what: &Path) -> Result<Outcome> {
    let builtin = FAULTS.iter().find(|fault| what == Path::new(fault.id));
    let loaded = match builtin {
        Some(fault) => {
            let path = Path::new(fault.path);
            discover::builtin().into_iter().filter(|l| Path::new(&l.path) == path).collect()
        }
        None if !what.exists() => {
            let name = what.display().to_string();
            bail!("{name} is neither a file nor a rule{}", nearest_rule(&name));
        }
        None => discover::load(&[what.to_owned()])?,
    };
    let mut text = String::new();
    for loaded in &loaded {
        if loaded.has_errors() {
            return check(std::slice::from_ref(loaded));
        }
        text += &show::show(&loaded.spec);
    }
    print(&text)?;
    Ok(Outcome::Clean)
}

fn new(id: &str, folder: &Path) -> Result<Outcome> {
    let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(kebab) || id.starts_with('-') {
        bail!("`{id}` is no rule id; use lowercase words joined by dashes, as in use-after-free");
    }
    let folder = folder.join(id);
    if folder.exists() {
        bail!("{} exists already; choose another id or --folder", folder.display());
    }
    for file in scaffold::new_fault(id) {
        let path = folder.join(file.path);
        let parent = path.parent().unwrap_or(&folder);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(parent)?;
            fs::write(&path, &file.text)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(&format!("wrote {}\n", folder.display()))?;
    Ok(Outcome::Clean)
}

fn nearest_rule(name: &str) -> String {
    match suggest(name, FAULTS.iter().map(|fault| fault.id)) {
        Some(near) => format!("; do you mean {near}?"),
        None => "; `firstfault rules` lists them".to_string(),
    }
}

fn print(text: &str) -> Result<()> {
    Ok(Target::new(None).write(text.as_bytes())?)
}
