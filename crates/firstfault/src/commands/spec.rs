//! `firstfault spec check|show|test|new`, `rules` and `explain`: specifications as text.

mod testing;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use report::output::Target;
use spec::ast::SpecKind;
use spec::diagnostic::suggest;
use spec::discover::{self, FAULTS};
use spec::{Loaded, scaffold, show};

use super::Outcome;
use crate::args::{ExplainArgs, SpecAction, SpecArgs};
use crate::config;

pub fn run(args: &SpecArgs) -> Result<Outcome> {
    match &args.action {
        SpecAction::Check { paths } if paths.is_empty() => check(&discover::builtin()),
        SpecAction::Check { paths } => check(&discover::load(paths)?),
        SpecAction::Show { what } => shown(what),
        SpecAction::Test { paths } => testing::run(paths),
        SpecAction::New { id, folder } => new(id, folder),
    }
}

/// All rules, one line each: the built-in ones and the project's.
pub fn rules() -> Result<Outcome> {
    let mut all = discover::builtin();
    all.extend(discover::load(&config::load(Path::new("."))?.spec)?);
    let lines: String = all
        .iter()
        .filter(|loaded| loaded.spec.kind == SpecKind::Fault)
        .map(|Loaded { spec, .. }| {
            let title = spec.title.as_deref().unwrap_or_default();
            format!("{:<20} {:<8} {title}\n", spec.id, spec.severity.name())
        })
        .collect();
    print(&lines)?;
    Ok(Outcome::Clean)
}

pub fn explain(args: &ExplainArgs) -> Result<Outcome> {
    if let Some(text) = discover::documentation(&args.rule) {
        print(text)?;
        return Ok(Outcome::Clean);
    }
    let own = discover::load(&config::load(Path::new("."))?.spec)?;
    let Some(rule) = own.iter().find(|loaded| loaded.spec.id == args.rule) else {
        bail!("no rule is named {}{}", args.rule, nearest_rule(&args.rule));
    };
    let doc = Path::new(&rule.path).with_file_name("doc.md");
    let text = fs::read_to_string(&doc).with_context(|| {
        format!("rule {} has no document: cannot read {}", args.rule, doc.display())
    })?;
    print(&text)?;
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
