//! `firstfault beliefs`: the rules the code follows, and the places that break them.

use std::path::PathBuf;

use anyhow::{Result, bail};
use base::Cancel;
use beliefs::{Events, Known, Template};
use clap::Args;
use findings::{Findings, Incomplete};
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
    let mut deviations =
        imported.timings.on_all_threads("ranking", || beliefs::deviations(&events, &templates));
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
