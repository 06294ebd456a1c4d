//! `firstfault beliefs`: the rules the code follows, and the places that break them.

mod folder;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use base::Cancel;
use beliefs::plant::Ground;
use beliefs::{Events, Known, Settings, Template, Units};
use clap::Args;
use findings::{Deviation, Findings};
use rayon::prelude::*;
use report::Options;
use report::output::Target;

use super::Outcome;
use super::reporting::Reporting;
use crate::args::{InputArgs, ListFormat, OutputArgs, RunArgs, SelectArgs};
use crate::pipeline::{self, Work, guarded};

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
    /// The share of places expected to follow a rule by chance, for all templates (most say 0.9)
    #[arg(long, value_name = "P")]
    p0: Option<f64>,
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
    if let Some(n_plants) = args.plant {
        return plant(args, n_plants, &target, cancel);
    }
    let previous = args.previous.as_deref().map(folder::open).transpose()?;
    let mut files = BTreeSet::new();
    let (events, mut findings, root, templates): (Box<dyn Units>, _, _, _) = match &args.from {
        Some(from) => {
            let events = folder::open(from)?;
            let mut findings = Findings::new();
            findings.count("events", events.n_events);
            let root = PathBuf::from(".");
            let templates = templates(args, &root)?;
            (Box::new(events), findings, root, templates)
        }
        None => {
            let (inputs, root) = args.input.resolve()?;
            args.select.check(&inputs)?;
            let templates = templates(args, &root)?;
            let (opened, clang) = pipeline::open(&inputs, &root, &args.run, cancel)?;
            let mut findings = pipeline::findings_about(&opened.project, &root);
            let mut events = units::observe(&opened, clang, &templates, &mut findings)?;
            files = std::mem::take(&mut events.files);
            if let Some(path) = &args.run.timings {
                let functions = events.summary.functions;
                opened.timings.write(path, Work { functions, ..events.work })?;
            }
            opened.close_cache(&mut findings);
            findings.count("events", events.n_events);
            findings.programs.push(events.summary.clone());
            (Box::new(events), findings, root, templates)
        }
    };
    if let Some(to) = &args.events {
        folder::write(to, &*events)?;
    }
    let mut deviations = ranked(&*events, previous.as_ref(), &templates);
    drop_intended(&mut deviations, &root);
    findings.rules.extend(templates.iter().map(|template| template.id.clone()));
    findings.count("deviations", deviations.len() as u64);
    if args.limit > 0 {
        findings.count("below_limit", deviations.len().saturating_sub(args.limit) as u64);
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
    new: &dyn Units,
    previous: Option<&folder::Folder>,
    templates: &[Template],
) -> Vec<Deviation> {
    let Some(old) = previous else { return beliefs::deviations_of(new, templates) };
    let rule = |deviation: &Deviation| (deviation.template.clone(), deviation.slots.clone());
    let broken: BTreeSet<_> = beliefs::deviations_of(old, templates).iter().map(rule).collect();
    let mut deviations = beliefs::deviations_of(&folder::Both(new, old), templates);
    deviations.retain(|deviation| !broken.contains(&rule(deviation)));
    deviations
}

/// Breaks places in every unit, which all have to be in memory for it.
fn plant(args: &BeliefsArgs, n_plants: usize, target: &Target, cancel: &Cancel) -> Result<Outcome> {
    let (inputs, root) = args.input.resolve()?;
    let templates = templates(args, &root)?;
    let mut imported = pipeline::import(&inputs, &root, &args.run, cancel)?;
    let units = imported.take_units();
    let known = imported.timings.on_all_threads("summaries", || {
        let summaries: Vec<_> =
            units.par_iter().map(|unit| guarded(|| beliefs::summarise(unit))).collect();
        Known::close(summaries.into_iter().flatten(), beliefs::settings(&templates))
    });
    let events: Vec<Events> = imported.timings.on_all_threads("extraction", || {
        let extract = |unit| guarded(|| beliefs::extract(unit, &known)).unwrap_or_default();
        units.par_iter().map(extract).collect()
    });
    imported.write_timings(&args.run)?;
    let ground = Ground { units: &units, known: &known, events: &events };
    let plants = beliefs::plant::plant(&ground, &templates, n_plants);
    target.write((serde_json::to_string_pretty(&plants)? + "\n").as_bytes())?;
    Ok(Outcome::of(&imported.findings))
}

/// A result that is cast to `void` is ignored on purpose: only the source still tells.
fn drop_intended(deviations: &mut Vec<Deviation>, root: &Path) {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    deviations.retain(|deviation| {
        let place = &deviation.place;
        let Some(callee) = deviation.slots.get("f").filter(|_| place.line > 0) else { return true };
        let text =
            files.entry(place.file.clone()).or_insert_with(|| text_of(&root.join(&place.file)));
        let line = text.lines().nth(place.line as usize - 1).unwrap_or_default();
        let before = line.get(..(place.column as usize).saturating_sub(1)).unwrap_or_default();
        let is_cast = before.trim_end().ends_with("(void)");
        !(is_cast && line.contains(beliefs::known::shown(callee)))
    });
    for (rank, deviation) in (1..).zip(deviations) {
        deviation.rank = rank;
    }
}

fn text_of(path: &Path) -> String {
    String::from_utf8_lossy(&base::read::source(path).unwrap_or_default()).into_owned()
}

/// The built-in templates and the user's, with what the project says about itself.
fn templates(args: &BeliefsArgs, root: &Path) -> Result<Vec<Template>> {
    let config = crate::config::load(root)?.beliefs;
    let mut templates = Template::builtin();
    for path in config.templates.iter().chain(&args.add_template) {
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
    let p0 = args.p0.or(config.p0);
    if let Some(p0) = p0.filter(|p0| !(*p0 > 0.0 && *p0 < 1.0)) {
        bail!("p0 is a probability, greater than 0 and less than 1, not {p0}");
    }
    let own = Settings {
        paranoid: config
            .paranoid
            .iter()
            .map(|text| beliefs::template::routine(text).map_err(anyhow::Error::msg))
            .collect::<Result<_>>()?,
        ignored: config.ignore,
        backdoors: config.backdoors,
    };
    for template in &mut templates {
        template.p0 = p0.unwrap_or(template.p0);
    }
    if let Some(first) = templates.first_mut() {
        first.settings.extend(own);
    }
    Ok(templates)
}
