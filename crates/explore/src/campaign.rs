//! Exploring a whole program: all distinct faults, within an amount of work.

use std::collections::BTreeMap;

use base::Cancel;
use interpret::{Input, Limits, MAX_PASSED, Point, Watch};
use program::{Callee, Op, Program};

use crate::chains;
use crate::dictionary::Dictionary;
use crate::distance::distances;
use crate::ending::Property;
use crate::found::found_of;
use crate::judge::Given;
use crate::memo::Memo;
use crate::options::{Ended, FaultLink, FaultName, Found, Options, Outcome};
use crate::search::{Plan, Search, Violation};
use crate::target::Target;
use crate::told::{Wanted, tell_watched};
use crate::trace::Texts;
use crate::watching::Watching;

/// Instructions one run may execute.
pub(crate) const MAX_STEPS: u64 = 1_000_000;
/// z3's resource units for one question.
pub(crate) const RESOURCES: u32 = 100_000;

/// How much input runs of a campaign may have: overflows need hundreds of bytes.
pub(crate) const LIMITS: Limits = Limits {
    arguments: 9,
    argument_bytes: 1200,
    stdin_bytes: 1 << 14,
    elements: 64,
    outside: 256,
    unset_is_input: false,
    allocations_succeed: false,
    harness: None,
    passed: [None; MAX_PASSED],
    goes_on: false,
};

/// Explores a program, and watches the rules that come with firstfault; what is told refers to its
/// sources in `texts`.
pub fn explore(program: &Program, texts: &Texts, options: &Options, cancel: &Cancel) -> Outcome {
    let rules = spec::discover::rules(&[]).ok();
    explore_rules((program, texts), rules.as_ref(), options, cancel)
}

/// As [`explore`], with these specifications.
pub fn explore_rules(
    (program, texts): (&Program, &Texts),
    specifications: Option<&spec::Rules>,
    options: &Options,
    cancel: &Cancel,
) -> Outcome {
    let entry = &*program.functions[options.entry].name;
    let mut memo = Memo::new(RESOURCES, false);
    if !options.targets.is_empty() {
        let target = Target { places: options.targets.clone(), rule: None };
        memo.distances = distances(program, &|loc| target.is_at(program, loc));
    }
    let watching = specifications.map(|rules| Watching::new(program, rules, &options.rules));
    let watch = watching.as_ref().map(|watching| &watching.watch);
    let search = Search {
        program,
        entry,
        safe: &options.safe,
        selected: None,
        unset_is_input: false,
        watch,
        seed: None,
        max_runs: u32::MAX,
        max_steps: MAX_STEPS,
        max_all_steps: u64::MAX,
        runs_after: 0,
        questions_after: 0,
        max_questions: u64::MAX,
        max_unknown: 3,
    };
    let dictionary = Dictionary::of(program);
    let allocations_succeed = specifications.is_some_and(|rules| rules.allocations_succeed);
    let limits = Limits { allocations_succeed, ..LIMITS };
    let (seeds, known) = (Vec::new(), Vec::new());
    let words = dictionary.clone();
    let (work, seed) = (options.work, options.seed);
    let plan = Plan { limits, work, seed, dictionary, is_enough: None, seeds, known };
    let (explored, covered, work) = search.campaign(&mut memo, plan, cancel);
    let about = (limits, options.work, options.seed);
    let chains = chains::find(&search, &mut memo, &explored, about, words, cancel);
    let mut found: BTreeMap<_, Found> = BTreeMap::new();
    let mut names: BTreeMap<_, FaultName> = BTreeMap::new();
    let reached = explored.violations.iter().chain(&chains.behind);
    for violation in reached.filter(|violation| !gives_up(program, violation)) {
        let mut one = found_of((program, texts), entry, violation, watching.as_ref(), MAX_STEPS);
        one.is_behind = violation.limits.goes_on;
        let name = FaultName::of(&one);
        names.insert((violation.at.0, format!("{:?}", violation.at.1), violation.property), name);
        if options.rules.watch(&one.rule) {
            let key = (one.place.file.clone(), one.place.line, one.rule.clone());
            found.entry(key).or_insert(one);
        }
    }
    let is_cancelled = cancel.is_cancelled();
    let ended = match &explored.incomplete {
        _ if is_cancelled => Ended::Cancelled,
        None => Ended::AllPaths,
        Some(_) => Ended::Budget,
    };
    let bodies = program.functions.iter().filter_map(|function| function.body.as_ref());
    Outcome {
        links: links((program, texts), entry, (&chains, watch), &names),
        found: found.into_values().collect(),
        blocks_reached: covered.len(),
        blocks_total: bodies.map(|body| body.blocks.len()).sum(),
        unmodelled: Vec::new(),
        limits: explored.unmodelled.into_iter().collect(),
        ended,
        n_runs: explored.n_runs.into(),
        work: work + chains.work,
    }
}

/// A program that calls `abort` because a call failed does what it was written to do. Where input
/// alone leads to it, it is a crash as others are.
fn gives_up(program: &Program, violation: &Violation) -> bool {
    let has_failed =
        |(input, value): (&Input, &u128)| matches!(input, Input::Fails { .. }) && *value != 0;
    let calls_abort = || {
        let (function, point) = violation.at;
        let body = program.functions[function].body.as_ref()?;
        match &body.insts.get(point.inst()?)?.op {
            Op::Call(call) => match &call.callee {
                Callee::Function(id) => Some(*program.functions[*id].name == *"abort"),
                _ => None,
            },
            _ => None,
        }
    };
    violation.property == Property::Assertion
        && violation.inputs.0.iter().any(has_failed)
        && calls_abort() == Some(true)
}

/// The edges between faults as they are reported.
fn links(
    (program, texts): (&Program, &Texts),
    entry: &str,
    (chains, watch): (&chains::Chains, Option<&Watch>),
    names: &BTreeMap<(program::FunctionId, String, Property), FaultName>,
) -> Vec<FaultLink> {
    let mut links: BTreeMap<(FaultName, FaultName), FaultLink> = BTreeMap::new();
    for link in &chains.links {
        let name = |(at, property): ((program::FunctionId, Point), Property)| {
            names.get(&(at.0, format!("{:?}", at.1), property)).cloned()
        };
        let (Some(from), Some(to)) = (name(link.from), name(link.to)) else { continue };
        if from == to {
            continue;
        }
        let given = Given::Found((*link.inputs).clone(), link.limits);
        let (at, property) = link.to;
        let wanted = watch.map(|watch| Wanted { watch, property, at });
        let told = tell_watched((program, texts), entry, &given, MAX_STEPS, wanted);
        let (input, steps) = (told.input, told.trace.steps);
        let new = FaultLink {
            from: from.clone(),
            to: to.clone(),
            is_unique: link.is_unique,
            input,
            steps,
            is_certain: link.is_certain,
        };
        let known = links.entry((from, to)).or_insert_with(|| new.clone());
        known.is_unique &= new.is_unique;
    }
    links.into_values().collect()
}
