//! `firstfault beliefs`: the rules the code follows, and the places that break them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::Cancel;
use beliefs::{Events, Known, Template};
use clap::Args;
use findings::{Deviation, Findings, Incomplete};
use program::Program;
use rayon::prelude::*;
use report::Options;
use report::output::Target;

use super::Outcome;
use super::reporting::Reporting;
use crate::args::{InputArgs, ListFormat, OutputArgs, RunArgs, SelectArgs};
use crate::pipeline::{self, Imported, guarded};

#[derive(Args)]
pub struct BeliefsArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    run: RunArgs,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// Only this template; may be given several times
    #[arg(long, value_name = "ID")]
    template: Vec<String>,
    /// A template of your own, or the folder it lies in; may be given several times
    #[arg(long, value_name = "PATH")]
    add_template: Vec<PathBuf>,
    /// Deviations to report, the most plausible first; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// One line for each deviation: no source lines, no places that follow the rule
    #[arg(long)]
    brief: bool,
    /// Also write the events of every unit to this folder, as Parquet files
    #[arg(long, value_name = "DIR")]
    events: Option<PathBuf>,
    /// Rank the events an earlier run wrote to this folder; no code is looked at
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "project", "rest", "events"])]
    from: Option<PathBuf>,
    /// Only rules that hold without exception in the events of an earlier version, and are
    /// broken now
    #[arg(long, value_name = "DIR")]
    previous: Option<PathBuf>,
    /// Break so many places per template that follow their rule, one at a time, and say as JSON
    /// which of them are found
    #[arg(long, value_name = "N", hide = true)]
    plant: Option<usize>,
    #[command(flatten)]
    select: SelectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &BeliefsArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let templates = templates(args)?;
    let previous = args.previous.as_deref().map(read_events).transpose()?;
    let (events, mut findings, root, files) = match &args.from {
        Some(folder) => {
            (read_events(folder)?, Findings::new(), PathBuf::from("."), BTreeSet::new())
        }
        None => {
            let (inputs, root) = args.input.resolve()?;
            let mut imported = pipeline::import(&inputs, &root, &args.run, cancel)?;
            let files = imported.files();
            let units = imported.take_units();
            let known = known(&imported, &units, &templates);
            let events = events(&mut imported, &units, &known);
            if let Some(n_plants) = args.plant {
                imported.write_timings(&args.run)?;
                let plants = beliefs::plant::plant(&units, &known, &events, &templates, n_plants);
                target.write((serde_json::to_string_pretty(&plants)? + "\n").as_bytes())?;
                return Ok(Outcome::of(&imported.findings));
            }
            imported.write_timings(&args.run)?;
            imported.findings.programs.push(summary(&units));
            (events, imported.findings, root, files)
        }
    };
    if let Some(folder) = &args.events {
        write_events(folder, &events)?;
    }
    let mut deviations = ranked(&events, previous.as_deref(), &templates);
    drop_intended(&mut deviations, &root);
    findings.rules.extend(templates.iter().map(|template| template.id.clone()));
    findings.count("events", events.iter().map(|unit| unit.rows.len() as u64).sum());
    findings.count("deviations", deviations.len() as u64);
    if args.limit > 0 {
        deviations.truncate(args.limit);
    }
    findings.deviations = deviations;
    findings.finish();
    let options = Options { brief: args.brief, ..Options::default() };
    let (format, state) = (args.format.into(), args.run.state.as_deref());
    let reporting = Reporting { target: &target, root: &root, format, options, state };
    reporting.finish(findings, &args.select, &files, cancel)
}

/// With an earlier version, both versions count as one body of examples, and only rules that
/// nothing in the earlier one breaks are of interest.
fn ranked(
    events: &[Events],
    previous: Option<&[Events]>,
    templates: &[Template],
) -> Vec<Deviation> {
    let new: Vec<&Events> = events.iter().collect();
    let Some(previous) = previous else { return beliefs::deviations(&new, templates) };
    let old: Vec<&Events> = previous.iter().collect();
    let rule = |deviation: &Deviation| (deviation.template.clone(), deviation.slots.clone());
    let broken: BTreeSet<_> = beliefs::deviations(&old, templates).iter().map(rule).collect();
    let both: Vec<&Events> = new.into_iter().chain(old).collect();
    let mut deviations = beliefs::deviations(&both, templates);
    deviations.retain(|deviation| !broken.contains(&rule(deviation)));
    deviations
}

/// One file for each unit, numbered in the order of the units.
fn write_events(folder: &Path, events: &[Events]) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for (number, unit) in events.iter().enumerate() {
        let path = folder.join(format!("{number:06}.parquet"));
        let bytes = beliefs::columns::encode(unit)?;
        Target::new(Some(path)).write(&bytes)?;
    }
    Ok(())
}

fn read_events(folder: &Path) -> Result<Vec<Events>> {
    let about = || format!("cannot read events from {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(about)? {
        let path = entry.with_context(about)?.path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        bail!("{} holds no events; --events DIR writes them", folder.display());
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let about = || path.display().to_string();
        let bytes = std::fs::read(path).with_context(about)?;
        // A damaged file of others may do anything to its reader.
        guarded(|| beliefs::columns::decode(bytes))
            .map_err(anyhow::Error::msg)
            .and_then(|events| Ok(events?))
            .with_context(about)
    };
    paths.iter().map(read).collect()
}

/// A result that is cast to `void` is ignored on purpose: only the source still tells.
fn drop_intended(deviations: &mut Vec<Deviation>, root: &Path) {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    deviations.retain(|deviation| {
        let place = &deviation.place;
        let Some(callee) = deviation.slots.get("f").filter(|_| place.line > 0) else { return true };
        let text = files
            .entry(place.file.clone())
            .or_insert_with(|| std::fs::read_to_string(root.join(&place.file)).unwrap_or_default());
        let line = text.lines().nth(place.line as usize - 1).unwrap_or_default();
        let before = line.get(..(place.column as usize).saturating_sub(1)).unwrap_or_default();
        let is_cast = before.trim_end().ends_with("(void)");
        !(is_cast && line.contains(beliefs::known::shown(callee)))
    });
    for (rank, deviation) in (1..).zip(deviations) {
        deviation.rank = rank;
    }
}

fn templates(args: &BeliefsArgs) -> Result<Vec<Template>> {
    let mut templates = Template::builtin();
    for path in &args.add_template {
        let own = Template::read(path)?;
        templates.retain(|template| template.id != own.id);
        templates.push(own);
    }
    if let Some(unknown) = args.template.iter().find(|id| !templates.iter().any(|t| t.id == **id)) {
        let known: Vec<&str> = templates.iter().map(|template| template.id.as_str()).collect();
        bail!("no template is called {unknown}; there are {}", known.join(", "));
    }
    if !args.template.is_empty() {
        templates.retain(|template| args.template.contains(&template.id));
    }
    Ok(templates)
}

/// What is known about functions over all units. One that cannot be summarised is unknown.
fn known(imported: &Imported, units: &[Program], templates: &[Template]) -> Known {
    imported.timings.on_all_threads("summaries", || {
        let summaries: Vec<_> =
            units.par_iter().map(|unit| guarded(|| beliefs::summarise(unit))).collect();
        Known::close(summaries.into_iter().flatten(), beliefs::settings(templates))
    })
}

fn events(imported: &mut Imported, units: &[Program], known: &Known) -> Vec<Events> {
    let extracted: Vec<_> = imported.timings.on_all_threads("extraction", || {
        units.par_iter().map(|unit| guarded(|| beliefs::extract(unit, known))).collect()
    });
    let mut events = Vec::new();
    for (unit, result) in units.iter().zip(extracted) {
        match result {
            Ok(unit) => events.push(unit),
            Err(reason) => lost(&mut imported.findings, unit, reason),
        }
    }
    events
}

fn lost(findings: &mut Findings, unit: &Program, reason: String) {
    let what = unit.units.iter().next().map(|unit| unit.path.clone()).unwrap_or_default();
    let missing = Incomplete { what, reason, details: Vec::new() };
    crate::log::incomplete(&missing);
    findings.incomplete.push(missing);
}

fn summary(units: &[Program]) -> findings::Program {
    let bodies = || units.iter().flat_map(|unit| &unit.functions).filter_map(|f| f.body.as_ref());
    let is_call = |inst: &&program::Inst| matches!(inst.op, program::Op::Call(_));
    findings::Program {
        name: "all units".to_owned(),
        units: units.len() as u64,
        functions: bodies().count() as u64,
        calls: bodies().map(|body| body.insts.iter().filter(is_call).count() as u64).sum(),
    }
}
