//! Exploring a whole program: all distinct faults, within an amount of work.

use std::collections::BTreeMap;

use base::Cancel;
use interpret::{Limits, MAX_PASSED};
use program::Program;

use crate::dictionary::Dictionary;
use crate::distance::distances;
use crate::found::found_of;
use crate::memo::Memo;
use crate::options::{Ended, Found, Options, Outcome};
use crate::search::{Plan, Search};
use crate::target::Target;
use crate::trace::Texts;
use crate::watching::Watching;

/// Instructions one run may execute.
const MAX_STEPS: u64 = 1_000_000;
/// z3's resource units for one question.
const RESOURCES: u32 = 100_000;

/// How much input runs of a campaign may have: overflows need hundreds of bytes.
const LIMITS: Limits = Limits {
    arguments: 9,
    argument_bytes: 1200,
    stdin_bytes: 1 << 14,
    elements: 64,
    outside: 256,
    unset_is_input: false,
    allocations_succeed: false,
    passed: [None; MAX_PASSED],
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
    let plan = Plan { limits, work: options.work, seed: options.seed, dictionary };
    let (explored, covered, work) = search.campaign(&mut memo, plan, cancel);
    let mut found: BTreeMap<_, Found> = BTreeMap::new();
    for violation in &explored.violations {
        let one = found_of((program, texts), entry, violation, watching.as_ref(), MAX_STEPS);
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
        found: found.into_values().collect(),
        blocks_reached: covered.len(),
        blocks_total: bodies.map(|body| body.blocks.len()).sum(),
        unmodelled: Vec::new(),
        limits: explored.unmodelled.into_iter().collect(),
        ended,
        n_runs: explored.n_runs.into(),
        work,
    }
}
