//! `firstfault check`: analyses every program of the input and writes the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use base::Cancel;
use capture::Inputs;
use correlate::Imported;
use facts::Facts;
use findings::{Findings, Incomplete, Notice, Place};
use program::{LocId, Op, Program};
use report::Options;
use report::output::Target;
use spec::rules::Rules;

use super::reporting::Reporting;
use super::{Outcome, confirmed, explored, last, project, replay};
use crate::args::{CheckArgs, EngineArg};
use crate::config::{self, Config};
use crate::pipeline::{self, Timings, guarded};
use crate::replay::Replayer;

pub fn run(args: &CheckArgs, cancel: &Cancel) -> Result<Outcome> {
    run_with(args, &Imported::default(), cancel)
}

/// As [`run`], together with what other tools reported.
pub fn run_with(args: &CheckArgs, foreign: &Imported, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let (inputs, root) = args.input.resolve()?;
    args.select.check(&inputs)?;
    let (rules, settings) = detection(args, config::load(&root)?)?;
    let mut imported = pipeline::import(&inputs, &root, &args.run, cancel)?;
    let applied = rules.faults.iter().filter(|fault| settings.wants(&fault.id));
    imported.findings.rules.extend(applied.map(|fault| fault.id.clone()));
    let files = imported.files();
    let mut missing = BTreeSet::new();
    let mut placed = BTreeSet::new();
    let what = What { args, root: &root, rules: &rules, settings: &settings, foreign, cancel };
    for index in 0..imported.plans.len() {
        if cancel.is_cancelled() {
            break;
        }
        placed.extend(analyse_program(&mut imported, index, &what, &mut missing));
    }
    for entry in missing {
        crate::log::warning(&format!("entry: {entry} in any program"));
    }
    imported.write_timings(&args.run)?;
    let mut findings = imported.findings;
    findings.notices.extend(super::correlate::unplaced(foreign, &placed));
    if args.replay {
        replay_all(args, &inputs, &mut findings, cancel)?;
    }
    let wanted = args.level.into();
    findings.retain_faults(|fault| fault.level >= wanted);
    findings.finish();
    last::keep_input(&root, args.run.state.as_deref(), &inputs);
    let CheckArgs { brief, dont_knows, contracts, graph, .. } = *args;
    let options = Options { brief, dont_knows, contracts, graph, ..Options::default() };
    let (format, state) = (args.format.into(), args.run.state.as_deref());
    let reporting = Reporting { target: &target, root: &root, format, options, state };
    reporting.finish(findings, &args.select, &files, cancel)
}

/// Runs the compiled program on the witnesses.
fn replay_all(
    args: &CheckArgs,
    inputs: &Inputs,
    findings: &mut Findings,
    cancel: &Cancel,
) -> Result<()> {
    if findings.faults.iter().all(|fault| fault.witness.is_none()) {
        return Ok(());
    }
    let options = match inputs {
        Inputs::Files { files, flags } => replay::build_of_files(files, flags),
        Inputs::Folder(folder) => project::build_options(folder, None, &args.run, cancel)?,
        Inputs::Build(_) => project::build_options(Path::new("."), None, &args.run, cancel)?,
    };
    let mut replayer = Replayer::new(options, replay::TIME_LIMIT, args.sandbox.is_on(), cancel)?;
    replay::replay_all(findings, &mut replayer)
}

/// What is looked for in every program, and how.
struct What<'a> {
    args: &'a CheckArgs,
    root: &'a Path,
    rules: &'a Rules,
    settings: &'a detect::Settings,
    foreign: &'a Imported,
    cancel: &'a Cancel,
}

/// One program after the other: only one is in memory in its linked form.
fn analyse_program(
    imported: &mut pipeline::Imported,
    index: usize,
    what: &What<'_>,
    missing_everywhere: &mut BTreeSet<String>,
) -> BTreeSet<usize> {
    let program = imported.link(index);
    let name = imported.plans[index].name.clone();
    let missing = missing_entries(what.settings, &program);
    if index == 0 {
        *missing_everywhere = missing;
    } else {
        missing_everywhere.retain(|entry| missing.contains(entry));
    }
    let findings = &mut imported.findings;
    findings.programs.push(summary(&name, &program));
    findings.notices.extend(unknown_code(&program));
    let n_before = findings.faults.len();
    let timings = &imported.timings;
    let analysed = guarded(|| {
        let mut placed = BTreeSet::new();
        if what.args.engine != EngineArg::Explore {
            let facts = timings.on_all_threads("facts", || what.settings.facts(&program));
            placed = analyse(&program, &facts, what, timings, findings);
        }
        if what.args.engine != EngineArg::Static && !what.foreign.alone {
            timings.on_all_threads("explore", || {
                let wanted = explored::Wanted::by(what.args, what.root);
                explored::add(&program, what.rules, &wanted, findings, what.cancel);
            });
        }
        if what.args.engine == EngineArg::All {
            timings.on_all_threads("confirm", || {
                confirmed::weigh(&program, what.rules, n_before, findings, what.cancel);
            });
        }
        placed
    });
    analysed.unwrap_or_else(|reason| {
        let missing = Incomplete { what: name, reason, details: Vec::new() };
        crate::log::incomplete(&missing);
        findings.incomplete.push(missing);
        BTreeSet::new()
    })
}

/// Where analyses of a whole program add what they find. Returns the positions of foreign
/// faults that are about this program.
fn analyse(
    program: &Program,
    facts: &Facts,
    what: &What<'_>,
    timings: &Timings,
    findings: &mut Findings,
) -> BTreeSet<usize> {
    let phase = |name, work: &mut dyn FnMut()| timings.on_all_threads(name, work);
    // Finding the questions is part of answering them.
    timings.on_all_threads_besides("detect", || {
        let What { rules, settings, foreign, .. } = what;
        correlate::check_with((program, facts), rules, settings, foreign, findings, &phase)
    })
}

/// What to look for, from the command line and the project's settings.
fn detection(args: &CheckArgs, config: Config) -> Result<(Rules, detect::Settings)> {
    let specs: Vec<PathBuf> = config.spec.into_iter().chain(args.spec.iter().cloned()).collect();
    let mut rules = spec::discover::rules(&specs)?;
    if args.assume_alloc_succeeds || config.assume_alloc_succeeds {
        rules.assume_alloc_succeeds();
    }
    if let Some(unknown) = args.rule.iter().find(|rule| rules.find_fault(rule).is_none()) {
        bail!("no rule is called {unknown} (`firstfault rules` lists them)");
    }
    let mut settings = detect::Settings {
        strict: args.strict,
        rules: args.rule.clone(),
        functions: args.function.clone(),
        ..detect::Settings::default()
    };
    for entry in config.entry {
        let function = entry.function;
        let parameters: Result<_, String> = entry.input.iter().map(|p| p.parse()).collect();
        let parameters = parameters.map_err(|why| anyhow!("entry {function}: {why}"))?;
        settings.entries.push(detect::Entry { function, parameters });
    }
    for entry in &args.entry {
        let parsed = entry.parse().map_err(|why| anyhow!("`--entry {entry}`: {why}"))?;
        settings.entries.push(parsed);
    }
    Ok((rules, settings))
}

/// An entry that names nothing is most likely a spelling mistake, and would change nothing.
fn missing_entries(settings: &detect::Settings, program: &Program) -> BTreeSet<String> {
    let mut missing = BTreeSet::new();
    for name in &settings.functions {
        let is_body = |f: &program::Function| *f.name == **name && f.body.is_some();
        if !program.functions.iter().any(is_body) {
            missing.insert(format!("no function {name} with a body"));
        }
    }
    for entry in &settings.entries {
        let name = &entry.function;
        let mut bodies = program
            .functions
            .iter()
            .filter(|function| *function.name == **name)
            .filter_map(|function| function.body.as_ref())
            .peekable();
        if bodies.peek().is_none() {
            missing.insert(format!("no function {name} with a body"));
            continue;
        }
        let named: Vec<&str> = bodies
            .flat_map(|body| body.variables.iter().filter(|v| v.parameter.is_some()))
            .map(|variable| &*variable.name)
            .collect();
        for parameter in entry.names().filter(|name| !named.contains(name)) {
            missing.insert(format!("{name} has no parameter {parameter}"));
        }
    }
    missing
}

fn summary(name: &str, program: &Program) -> findings::Program {
    let bodies = || program.functions.iter().filter_map(|function| function.body.as_ref());
    let is_call = |op: &Op| matches!(op, Op::Call(_));
    let calls = bodies().flat_map(|body| &body.insts).filter(|inst| is_call(&inst.op)).count();
    findings::Program {
        name: name.to_owned(),
        units: program.units.len() as u64,
        functions: bodies().count() as u64,
        calls: calls as u64,
    }
}

fn unknown_code(program: &Program) -> impl Iterator<Item = Notice> {
    program.unknown_code.iter().map(|code| Notice {
        place: place(program, code.loc),
        message: format!("{}: its effects are unknown", code.what),
    })
}

fn place(program: &Program, loc: LocId) -> Place {
    match program.locs.get(loc).filter(|_| loc.is_known()) {
        Some(loc) => Place {
            file: program.files.get(loc.file).map(|f| f.path.clone()).unwrap_or_default(),
            line: loc.line,
            column: loc.column,
            function: String::new(),
        },
        None => Place::default(),
    }
}
