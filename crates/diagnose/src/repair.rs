//! The default way: enumerate edits, replay, check, rank.

use std::collections::{BTreeMap, BTreeSet};

use base::Cancel;
use facts::Stage;
use findings::{Place, Repair, RunInput};
use interpret::FaultKind;

use crate::workshop::Workshop;
use crate::{Compile, Config, DiagnoseError, PaperSettings, Request, check};
use explore::distance::distances;
use explore::ending::{Ending, Property};
use explore::judge::{Given, Judge};
use explore::memo::Memo;
use explore::search::{Explored, QUESTIONS_AFTER, RUNS_AFTER, Search, Violation};
use explore::told::{Told, tell};
use explore::trace::{Texts, Trace};

/// All runs of a search within a bound together execute no more than so many of the longest.
const LONG_RUNS: u64 = 12;

/// Other inputs every edit must survive.
const MAX_SAMPLES: usize = 40;

/// Statements that are changed together where the library has no change.
const MAX_CHANGES: u32 = 1;

/// Error traces whose solutions are intersected.
const MAX_TRACES: usize = 3;

/// What was found out about a program.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// `None` where no property is violated, as far as was looked.
    pub violation: Option<Found>,
    pub repairs: Vec<Repair>,
    /// The annotation library mends nothing: its changes, if any are left, are those of the
    /// assertion that fails, or switch the program off.
    pub has_no_change: bool,
    /// What a run came to that is not modelled, where no violation was found: nothing is known
    /// of what comes after.
    pub unmodelled: Option<String>,
    /// Why there may be a violation though none was found: not all paths were run, or not all of
    /// what they depend on was followed.
    pub incomplete: Option<String>,
    /// What limits what is said.
    pub notes: Vec<String>,
    pub stats: BTreeMap<&'static str, u64>,
}

/// A violated property.
#[derive(Clone, Debug)]
pub struct Found {
    pub rule: &'static str,
    pub message: String,
    pub place: Place,
    pub trace: Trace,
    /// The inputs it happens with.
    pub input: RunInput,
}

pub fn diagnose(
    request: &Request,
    compiler: &dyn Compile,
    cancel: &Cancel,
) -> Result<Diagnosis, DiagnoseError> {
    let entry = entry(request)?;
    let mined = crate::trust::mine(request.program, &entry);
    let mut search = Search {
        program: request.program,
        entry: &entry,
        safe: &mined.safe,
        selected: None,
        unset_is_input: request.target.passes_over_unset(),
        watch: None,
        seed: None,
        max_runs: request.options.search_runs,
        max_steps: request.options.steps,
        max_all_steps: request.options.steps * LONG_RUNS,
        runs_after: RUNS_AFTER,
        questions_after: QUESTIONS_AFTER,
        max_questions: request.options.search_questions,
        max_unknown: 3,
    };
    let mut memo = Memo::new(request.options.resources, true);
    if !request.target.places.is_empty() {
        let is_target = |loc| request.target.is_at(request.program, loc);
        memo.distances = distances(request.program, &is_target);
    }
    let wanted = |violation: &Violation| request.target.matches(request.program, violation);
    let mut explored = search.run(&mut memo, &wanted, cancel);
    // Runs that ended at such values elsewhere may have come to what is meant.
    let is_unset = |v: &Violation| v.property == Property::Fault(FaultKind::Uninitialised);
    if !explored.violations.iter().any(wanted) && explored.violations.iter().any(is_unset) {
        search.unset_is_input = true;
        explored = search.run(&mut memo, &wanted, cancel);
    }
    search.run_beyond(&mut memo, &wanted, &mut explored, cancel);
    // Faults of one group are diagnosed together: each needs a failing run of its own.
    for target in request.target.singly().into_iter().skip(1) {
        let wanted = |violation: &Violation| target.matches(request.program, violation);
        if !explored.violations.iter().any(wanted) {
            explored.violations.extend(search.run(&mut memo, &wanted, cancel).violations);
        }
    }
    check(cancel)?;
    let mut diagnosis = Diagnosis::default();
    if request.entry.is_none() && entry != "main" {
        diagnosis.notes.push(format!("there is no main: runs start in {entry}, the only function"));
    }
    for (name, stage) in [
        ("checks proved by intervals", Some(Stage::Intervals)),
        ("checks proved by octagons", Some(Stage::Octagons)),
        ("checks proved by disjunctions", Some(Stage::Disjunctions)),
        ("checks left to search", None),
    ] {
        let n = mined.n_proved.get(&stage).copied().unwrap_or(0);
        diagnosis.stats.insert(name, n as u64);
    }
    diagnosis.stats.insert("search runs", explored.n_runs.into());
    diagnosis.stats.insert("solver checks", explored.n_checks);
    diagnosis.stats.insert("solver resources", memo.prover.spent);
    let failing = failing(request, &entry, &explored);
    let Some(failing) = failing else {
        diagnosis.unmodelled = explored.unmodelled.clone();
        diagnosis.incomplete = explored.incomplete.clone();
        diagnosis.notes.push(nothing_found(request, &explored));
        return Ok(diagnosis);
    };
    let (found, passed) = found(request, &entry, &failing);
    if !passed.is_empty() {
        let places = passed.join(", ");
        diagnosis
            .notes
            .push(format!("the failing run violates properties before, in {places}: passed over"));
    }
    diagnosis.notes.extend(elsewhere(request, &found.trace));
    let others = others(request, &explored, &failing);
    let trace = found.trace.clone();
    diagnosis.violation = Some(found);
    if let Some(settings) = request.paper {
        let failing =
            traces(request, (&search, &mut memo), &explored, failing, settings.config, cancel);
        let (repairs, notes) = crate::paper::localise(
            request,
            compiler,
            settings,
            (&entry, &failing),
            (&trace, &mined),
            cancel,
        )?;
        diagnosis.repairs = repairs;
        diagnosis.notes.extend(notes);
        return Ok(diagnosis);
    }
    let unset_is_input = search.unset_is_input;
    let workshop =
        Workshop { request, compiler, cancel, entry: &entry, mined: &mined, unset_is_input };
    workshop.repair(&failing, &others, &trace, &mut diagnosis)?;
    if diagnosis.has_no_change {
        let settings = PaperSettings::new(Config::Trusted, false, MAX_CHANGES);
        let (about, with) = ((&entry[..], &[failing][..]), (&trace, &mined));
        let (mut named, _) =
            crate::paper::localise(request, compiler, settings, about, with, cancel)?;
        if !named.is_empty() {
            let why = "another value of one of these statements avoids the violation; the \
                annotation library has no change of them that mends it";
            diagnosis.notes.push(why.to_owned());
        }
        named.append(&mut diagnosis.repairs);
        (1..).zip(&mut named).for_each(|(rank, repair)| repair.rank = rank);
        named.truncate(request.options.top);
        diagnosis.repairs = named;
    }
    Ok(diagnosis)
}

/// Files that hold what the property depends on, but are not changed.
fn elsewhere(request: &Request, trace: &Trace) -> Option<String> {
    let is_given = |path: &str| request.files.iter().any(|file| file.path == path);
    let is_own =
        |path: &str| request.program.files.iter().any(|file| file.path == path && !file.is_system);
    let files: BTreeSet<&str> = trace.sliced.iter().map(|(path, _)| path.as_str()).collect();
    let files: Vec<&str> =
        files.into_iter().filter(|path| is_own(path) && !is_given(path)).collect();
    let them = if files.len() == 1 { "it is" } else { "they are" };
    (!files.is_empty()).then(|| {
        let files = files.join(", ");
        format!("the failing run goes through {files}; {them} included, and not changed")
    })
}

fn nothing_found(request: &Request, explored: &Explored) -> String {
    let n_runs = explored.n_runs;
    let rule = request.target.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
    let place = match &request.target.places[..] {
        [] => rule,
        [place] => format!("{rule} in line {}", place.line),
        _ => format!("{rule} in these lines"),
    };
    match &explored.incomplete {
        Some(why) => {
            format!("no violated property was found{place} in {n_runs} runs; {why}")
        }
        None => {
            let paths = match n_runs {
                1 => "the only path".to_owned(),
                _ => format!("any of {n_runs} paths"),
            };
            format!("no property is violated{place} on {paths} within the bounds")
        }
    }
}

/// The failing input, and from the second configuration on others that violate the same
/// property.
fn traces(
    request: &Request,
    (search, memo): (&Search, &mut Memo),
    explored: &Explored,
    failing: Given,
    config: crate::Config,
    cancel: &Cancel,
) -> Vec<Given> {
    let mut traces = vec![failing];
    let first = explored.violations.iter().find(|v| request.target.matches(request.program, v));
    let (Some(first), true) = (first, config >= crate::Config::Constraints) else {
        return traces;
    };
    // Solutions must mend every fault of the group.
    for target in request.target.singly() {
        let matching = |v: &&Violation| target.matches(request.program, v);
        let found = explored.violations.iter().find(matching);
        let given = found.map(|v| Given::Found(v.inputs.clone(), v.limits));
        traces.extend(given.filter(|given| !traces.contains(given)));
    }
    for given in search.run_all(memo, first.at, MAX_TRACES, cancel) {
        if !traces.contains(&given) && traces.len() < MAX_TRACES {
            traces.push(given);
        }
    }
    traces
}

fn entry(request: &Request) -> Result<String, DiagnoseError> {
    let has =
        |name: &str| request.program.functions.iter().any(|f| *f.name == *name && f.body.is_some());
    match &request.entry {
        Some(name) if has(name) => Ok(name.clone()),
        Some(name) => Err(DiagnoseError::NoEntry(name.clone())),
        None if has("main") => Ok("main".to_owned()),
        None => {
            // The only function that nothing else could be meant by.
            let bodies = request.program.functions.iter().filter(|f| f.body.is_some());
            let names: Vec<&str> = bodies.map(|f| &*f.name).collect();
            match names[..] {
                [only] => Ok(only.to_owned()),
                _ => Err(DiagnoseError::NoMain),
            }
        }
    }
}

/// The input to diagnose: what the search found, else a test that violates a property.
fn failing(request: &Request, entry: &str, explored: &Explored) -> Option<Given> {
    let wanted = |v: &&Violation| request.target.matches(request.program, v);
    if let Some(violation) = explored.violations.iter().find(wanted) {
        return Some(Given::Found(violation.inputs.clone(), violation.limits));
    }
    let judge = Judge { program: request.program, entry, max_steps: request.options.steps };
    request.tests.iter().map(|test| Given::Test(test.clone())).find(|given| {
        let outcome = judge.run(None, given);
        matches!(outcome.ending, Ending::Violates(_))
    })
}

/// Runs the failing input once more and tells what happens, and which violations were passed over.
fn found(request: &Request, entry: &str, failing: &Given) -> (Found, Vec<String>) {
    let texts = Texts::new(request.files.iter().map(|file| (&*file.path, &*file.text)));
    let told = tell((request.program, &texts), entry, failing, request.options.steps);
    let Told { property, place, trace, input, passed, .. } = told;
    let message = trace.message.clone();
    (Found { rule: property.rule(), message, place, trace, input }, passed)
}

/// Inputs other than the failing one.
#[derive(Default)]
pub struct Others {
    /// None of these may violate anything after a change.
    pub samples: Vec<Given>,
    /// Violations of other properties, one for each place. They may have the same cause, which
    /// speaks for a change that removes them, or one of their own.
    pub violating: Vec<Given>,
}

fn others(request: &Request, explored: &Explored, failing: &Given) -> Others {
    let passing = explored.passing.iter();
    let passing = passing.map(|(inputs, limits)| Given::Found(inputs.clone(), *limits));
    let mut samples: Vec<Given> = passing.collect();
    // The last ones went furthest.
    samples.reverse();
    samples.truncate(MAX_SAMPLES);
    // What else fails at the same place must be mended as well, and so must other faults of
    // the same group.
    let matching = |v: &Violation| request.target.matches(request.program, v);
    let first = explored.violations.iter().find(|v| matching(v)).map(|v| v.at);
    let mut violating = Vec::new();
    let mut places = BTreeSet::new();
    for violation in &explored.violations {
        let is_meant =
            Some(violation.at) == first || request.target.places.len() > 1 && matching(violation);
        let given = Given::Found(violation.inputs.clone(), violation.limits);
        if is_meant {
            samples.push(given);
        } else if places.insert(violation.at) {
            violating.push(given);
        }
    }
    samples.retain(|sample| sample != failing);
    violating.retain(|sample| sample != failing);
    Others { samples, violating }
}
