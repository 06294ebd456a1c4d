//! Which violated property the command line means.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use base::Cancel;
use diagnose::{Line, Target};
use findings::{Fault, Findings, Place};

use super::{DiagnoseArgs, sources};
use crate::commands::explored;

/// What to diagnose.
#[derive(Default)]
pub struct Meant {
    pub target: Target,
    /// The fault of `check` that was asked for.
    pub id: Option<String>,
    /// How that was understood.
    pub notes: Vec<String>,
}

pub fn meant(args: &DiagnoseArgs, program: &program::Program, root: &Path) -> Result<Meant> {
    let mut meant = match &args.fault {
        Some(id) => checked(id, program, root)?,
        None => {
            let places = line(args, program, root)?.into_iter().collect();
            Meant { target: Target { places, rule: None }, ..Meant::default() }
        }
    };
    if let Some(rule) = &args.rule {
        meant.target.rule = Some(rule.clone());
    }
    Ok(meant)
}

/// A fault that `check` finds, by its id or its line, together with those of its group.
fn checked(named: &str, program: &program::Program, root: &Path) -> Result<Meant> {
    let rules = spec::discover::rules(&[])?;
    let settings = detect::Settings::default();
    let facts = settings.facts(program);
    let mut found = Findings::new();
    let foreign = correlate::Imported::default();
    let phase = |_: &str, work: &mut dyn FnMut()| work();
    correlate::check_with((program, &facts), &rules, &settings, &foreign, &mut found, &phase);
    let wanted = explored::Wanted { root: root.to_owned(), ..explored::Wanted::default() };
    explored::add(program, &rules, &wanted, &mut found, &Cancel::new());
    found.finish();
    let by_line =
        named.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
    let is_named = |fault: &&Fault| match by_line {
        Some((file, line)) => {
            fault.place.line == line && diagnose::is_meant(&fault.place.file, file)
        }
        None => fault.id == named,
    };
    let Some(fault) = found.faults.iter().find(is_named) else {
        let told = |fault: &Fault| {
            let Place { file, line, .. } = &fault.place;
            format!("{} ({file}:{line}, {})", fault.id, fault.rule)
        };
        let known: Vec<String> = found.faults.iter().map(told).collect();
        match known.is_empty() {
            true => bail!("check finds no fault {named}: it finds none at all"),
            false => bail!("check finds no fault {named}; it finds {}", known.join(", ")),
        }
    };
    let is_meant = |other: &&Fault| {
        other.id == fault.id || other.group.is_some() && other.group == fault.group
    };
    let mut group: Vec<&Fault> = vec![fault];
    group.extend(found.faults.iter().filter(is_meant).filter(|other| other.id != fault.id));
    let place = |fault: &&Fault| {
        let Place { file, line, .. } = &fault.place;
        Line { file: Some(file.clone()), line: *line }
    };
    let mut places: Vec<Line> = group.iter().map(place).collect();
    let mut known = BTreeSet::new();
    places.retain(|place| known.insert(place.clone()));
    let mut notes = Vec::new();
    if group.len() > 1 {
        let ids: Vec<&str> = group.iter().map(|fault| fault.id.as_str()).collect();
        notes.push(format!(
            "{} are one group and diagnosed together: only changes that mend all of them are shown",
            ids.join(", ")
        ));
    }
    let rule = rule_of(&fault.rule);
    if rule.is_none() {
        notes.push(format!(
            "diagnose knows no violation of the rule {}: any in line {} is taken for {}",
            fault.rule, fault.place.line, fault.id
        ));
    }
    let is_same = group.iter().all(|other| rule_of(&other.rule) == rule);
    let rule = rule.filter(|_| is_same).map(str::to_owned);
    let id = Some(fault.id.clone());
    Ok(Meant { target: Target { places, rule }, id, notes })
}

/// What diagnose reports a fault of this rule of `check` under.
fn rule_of(rule: &str) -> Option<&str> {
    match rule {
        "buffer-overread" | "buffer-underflow" => Some("buffer-overflow"),
        _ => Some(rule).filter(|rule| diagnose::RULES.contains(rule)),
    }
}

fn line(args: &DiagnoseArgs, program: &program::Program, root: &Path) -> Result<Option<Line>> {
    let Some(text) = &args.line else { return Ok(None) };
    let (file, line) = match text.rsplit_once(':') {
        Some((file, line)) => (Some(file.to_owned()), line),
        None => (None, text.as_str()),
    };
    let line: u32 = line.parse().with_context(|| format!("`--line {text}`: expected a number"))?;
    let known = program.files.iter().map(|known| known.path.clone());
    let meant: Vec<String> = match &file {
        Some(file) => known.filter(|known| diagnose::is_meant(known, file)).collect(),
        None => {
            sources(args, &args.files, program)?.into_iter().map(|source| source.path).collect()
        }
    };
    if let (Some(file), true) = (&file, meant.is_empty()) {
        bail!("`--line {text}`: {file} is no file of this program");
    }
    let n_lines = |path: &String| {
        let text = base::read::source(&root.join(path)).unwrap_or_default();
        text.split(|byte| *byte == b'\n').filter(|_| !text.is_empty()).count()
    };
    let longest = meant.iter().map(n_lines).max().unwrap_or(0);
    if line == 0 || line as usize > longest.max(1) {
        let file = meant.join(" and ");
        bail!("`--line {text}`: there is no such line in {file}");
    }
    Ok(Some(Line { file, line }))
}
