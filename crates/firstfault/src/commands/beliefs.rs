//! `firstfault beliefs`: the rules the code follows, and the places that break them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use base::Cancel;
use beliefs::{Events, Known, Template};
use clap::Args;
use findings::{Deviation, Findings, Incomplete};
use program::Program;
use rayon::prelude::*;
use report::Options;
use report::output::Target;

use super::{Outcome, reporting};
use crate::args::{InputArgs, ListFormat, OutputArgs, RunArgs};
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
    /// Break so many places per template that follow their rule, one at a time, and say as JSON
    /// which of them are found
    #[arg(long, value_name = "N", hide = true)]
    plant: Option<usize>,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &BeliefsArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let templates = templates(args)?;
    let (inputs, root) = args.input.resolve()?;
    let mut imported = pipeline::import(&inputs, &root, &args.run, cancel)?;
    imported.findings.rules.extend(templates.iter().map(|template| template.id.clone()));
    let units = imported.take_units();
    let known = known(&imported, &units, &templates);
    let events = events(&mut imported, &units, &known);
    if let Some(n_plants) = args.plant {
        let plants = beliefs::plant::plant(&units, &known, &events, &templates, n_plants);
        imported.write_timings(&args.run)?;
        target.write((serde_json::to_string_pretty(&plants)? + "\n").as_bytes())?;
        return Ok(Outcome::of(&imported.findings));
    }
    let all: Vec<&Events> = events.iter().collect();
    let ranked = || beliefs::deviations(&all, &templates);
    let mut deviations = imported.timings.on_all_threads("ranking", ranked);
    drop_intended(&mut deviations, &root);
    imported.findings.count("events", events.iter().map(|unit| unit.rows.len() as u64).sum());
    imported.findings.count("deviations", deviations.len() as u64);
    if args.limit > 0 {
        deviations.truncate(args.limit);
    }
    imported.write_timings(&args.run)?;
    let mut findings = imported.findings;
    findings.programs.push(summary(&units));
    findings.deviations = deviations;
    findings.finish();
    if !cancel.is_cancelled() {
        let options = Options { brief: args.brief, ..Options::default() };
        reporting::write(&target, &findings, &root, args.format.into(), options)?;
    }
    Ok(Outcome::of(&findings))
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
