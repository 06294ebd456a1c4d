//! `firstfault show`: the program as firstfault sees it.

use anyhow::{Result, bail};
use base::Cancel;
use detect::settled::Settled;
use facts::Facts;
use program::{Callee, FunctionId, InstId, Op, Program, render};
use report::output::Target;
use spec::rules::Rules;

use super::Outcome;
use crate::args::{ShowArgs, ShowFormat, View};
use crate::config;
use crate::pipeline::{self, Imported};

/// Suggestions made for a name that does not exist.
const MAX_SUGGESTIONS: usize = 5;

pub fn run(args: &ShowArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    if (args.what, args.format) == (View::Settled, ShowFormat::Dot) {
        bail!("what is settled is no graph; leave out --format dot");
    }
    let (inputs, root) = args.input.resolve()?;
    let rules = spec::discover::rules(&config::load(&root)?.spec)?;
    let mut imported = pipeline::import(&inputs, &root, &args.run, cancel)?;
    let wanted = wanted_programs(args, &imported)?;
    let mut text = String::new();
    let mut is_found = args.function.is_none();
    let mut names = Vec::new();
    for &index in &wanted {
        if cancel.is_cancelled() {
            return Ok(Outcome::Failed);
        }
        let program = imported.link(index);
        let function = match &args.function {
            None => None,
            Some(name) => {
                let function = find(&program, name);
                names.extend(program.functions.iter().map(|f| f.name.to_string()));
                if function.is_none() {
                    continue;
                }
                function
            }
        };
        is_found = true;
        if wanted.len() > 1 {
            let comment = if args.format == ShowFormat::Dot { "//" } else { "#" };
            text += &format!("{comment} program {}\n", imported.plans[index].name);
        }
        text += &shown(&program, args, &rules, function);
    }
    if !is_found {
        let name = args.function.as_deref().unwrap_or_default();
        bail!("no function is named {name}{}", suggestions(name, names));
    }
    imported.write_timings(&args.run)?;
    target.write(text.as_bytes())?;
    Ok(Outcome::of(&imported.findings))
}

fn wanted_programs(args: &ShowArgs, imported: &Imported) -> Result<Vec<usize>> {
    let plans = imported.plans.iter().enumerate();
    let Some(name) = &args.program else { return Ok(plans.map(|(index, _)| index).collect()) };
    let wanted: Vec<usize> =
        plans.filter(|(_, plan)| plan.name == *name).map(|(index, _)| index).collect();
    if wanted.is_empty() {
        let names: Vec<&str> = imported.plans.iter().map(|plan| plan.name.as_str()).collect();
        bail!("no program is named {name}; there are {}", names.join(", "));
    }
    Ok(wanted)
}

/// The function of this name, one with a body where there are several.
fn find(program: &Program, name: &str) -> Option<FunctionId> {
    let named = || program.functions.iter_enumerated().filter(|(_, f)| &*f.name == name);
    named().find(|(_, f)| f.body.is_some()).or_else(|| named().next()).map(|(id, _)| id)
}

fn suggestions(name: &str, mut names: Vec<String>) -> String {
    names.retain(|other| other.contains(name) || name.contains(other.as_str()));
    names.sort();
    names.dedup();
    names.truncate(MAX_SUGGESTIONS);
    if names.is_empty() { String::new() } else { format!("; do you mean {}?", names.join(", ")) }
}

fn shown(program: &Program, args: &ShowArgs, rules: &Rules, only: Option<FunctionId>) -> String {
    let dot = args.format == ShowFormat::Dot;
    match (args.what, dot) {
        (View::Ir, false) => match only {
            Some(function) => render::function(program, function),
            None => whole_ir(program),
        },
        (View::Ir, true) | (View::Cfg, true) => each(program, only, render::cfg_dot),
        (View::Cfg, false) => each(program, only, render::cfg),
        (View::Callgraph | View::Icfg, _) => with_calls(program, args.what, dot, only),
        (View::Settled, _) => settled(program, rules, only),
    }
}

/// `FILE:LINE:COLUMN: RULE: ` and `safe`, `never reached` or `open`, for each question.
fn settled(program: &Program, rules: &Rules, only: Option<FunctionId>) -> String {
    let functions = only.map(|function| program.functions[function].name.to_string());
    let settings = detect::Settings {
        functions: functions.into_iter().collect(),
        ..detect::Settings::default()
    };
    let facts = settings.facts(program);
    let mut text = String::new();
    for detect::Asked { rule, place, settled } in detect::asked((program, &facts), rules, &settings)
    {
        let answer = match settled {
            Settled::Safe => "safe",
            Settled::Infeasible => "never reached",
            Settled::Open | Settled::NoQuestion => "open",
        };
        text += &format!("{}:{}:{}: {rule}: {answer}\n", place.file, place.line, place.column);
    }
    text
}

fn whole_ir(program: &Program) -> String {
    let mut bytes = Vec::new();
    render::program(program, &mut bytes).expect("writing to memory cannot fail");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Every function with a body, or one function.
fn each(
    program: &Program,
    only: Option<FunctionId>,
    render: impl Fn(&Program, FunctionId) -> String,
) -> String {
    let functions = program.functions.iter_enumerated();
    let chosen = functions
        .filter(|(id, function)| only.map_or(function.body.is_some(), |only| only == *id))
        .map(|(id, _)| render(program, id));
    chosen.collect::<Vec<_>>().join("\n")
}

/// Graphs that need to know where calls through pointers lead.
fn with_calls(program: &Program, view: View, dot: bool, only: Option<FunctionId>) -> String {
    let options = facts::Options { memory: false, ranges: false, ..facts::Options::default() };
    let facts = Facts::compute(program, &options);
    let resolve = |function: FunctionId, inst: InstId| targets(program, &facts, function, inst);
    match (view, dot) {
        (View::Icfg, false) => render::icfg(program, &resolve, only),
        (View::Icfg, true) => render::icfg_dot(program, &resolve, only),
        (_, false) => render::callgraph(program, &resolve, only),
        (_, true) => render::callgraph_dot(program, &resolve, only),
    }
}

/// Where a call through a pointer may lead.
fn targets(
    program: &Program,
    facts: &Facts,
    function: FunctionId,
    inst: InstId,
) -> Vec<FunctionId> {
    let body = program.functions[function].body.as_ref();
    let is_indirect = body.is_some_and(|body| {
        matches!(&body.insts[inst].op, Op::Call(call) if matches!(call.callee, Callee::Pointer(_)))
    });
    let calls = facts.calls.calls_at(function, inst).iter().take(1).filter(|_| is_indirect);
    calls.flat_map(|call| facts.calls.targets(call)).copied().collect()
}
