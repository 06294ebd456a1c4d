//! From the code of one unit to its events.
//!
//! Each module extracts one kind; all look at one function at a time, and know about others
//! only what [`Known`] says.

mod after;
mod calls;
mod classes;
mod env;
mod exits;
mod failing;
mod fate;
mod function;
mod interest;
mod interfaces;
mod locks;
mod nulls;
mod pairs;
mod range;
mod results;
mod sink;
mod starts;
mod subjects;
mod summary;
mod taints;
mod values;
mod walk;

use std::collections::BTreeSet;

use program::{Body, Function, FunctionId, InstId, Program};

use crate::event::Events;
use crate::known::{Keys, Known, Summary, UnitSummary};
use crate::latent::LockAction;
use function::Fun;
use interest::Interest;
use locks::Locks;
use sink::Sink;
use subjects::Subjects;

/// The events of a unit.
pub fn extract(program: &Program, known: &Known) -> Events {
    let keys = Keys::new(program);
    let mut sink = Sink::default();
    for (id, function) in program.functions.iter_enumerated() {
        if let Some(body) = &function.body {
            extract_function(program, &keys, known, id, body, &mut sink);
        }
    }
    sink.finish()
}

/// The events of one function, as if it had this body.
pub fn extract_body(
    program: &Program,
    keys: &Keys,
    known: &Known,
    id: FunctionId,
    body: &Body,
) -> Events {
    let mut sink = Sink::default();
    extract_function(program, keys, known, id, body, &mut sink);
    sink.finish()
}

fn extract_function(
    program: &Program,
    keys: &Keys,
    known: &Known,
    id: FunctionId,
    body: &Body,
    sink: &mut Sink,
) {
    let function = &program.functions[id];
    if is_system(program, function) || body.blocks.is_empty() {
        return;
    }
    let fun = Fun::new(program, keys, known, function, id, body);
    sink.enter(&fun);
    let interest = Interest::new(&fun);
    let subjects = Subjects::new(&fun);
    results::extract(&fun, sink);
    nulls::extract(&fun, &interest, sink);
    pairs::extract(&fun, &interest, &subjects, sink);
    after::extract(&fun, &interest, sink);
    let locks = Locks::new(&fun);
    locks.extract(&fun, sink);
    locks::accesses(&fun, &locks, sink);
    calls::extract(&fun, &locks, sink);
    taints::extract(&fun, sink);
    interfaces::extract(&fun, sink);
}

/// The calls of a function that take or release the lock of this name.
pub fn lock_actions(
    program: &Program,
    keys: &Keys,
    known: &Known,
    id: FunctionId,
    lock: &str,
) -> Vec<(InstId, LockAction)> {
    let function = &program.functions[id];
    let Some(body) = &function.body else { return Vec::new() };
    Locks::new(&Fun::new(program, keys, known, function, id, body)).actions_on(lock)
}

/// The calls after `start` on paths that end in an error.
pub fn calls_on_error_paths(
    program: &Program,
    keys: &Keys,
    known: &Known,
    id: FunctionId,
    start: InstId,
) -> BTreeSet<InstId> {
    let function = &program.functions[id];
    let Some(body) = &function.body else { return BTreeSet::new() };
    let fun = Fun::new(program, keys, known, function, id, body);
    exits::calls_on_error_paths(&fun, &Interest::new(&fun), start)
}

/// What others want to know about the functions of a unit.
pub fn summarise(program: &Program) -> UnitSummary {
    let keys = Keys::new(program);
    let nothing = Known::default();
    let mut unit = UnitSummary {
        assigned: classes::assigned(program, &keys),
        files: program
            .files
            .iter()
            .filter(|file| !file.is_system)
            .map(|file| file.path.as_str().into())
            .collect(),
        mentioned: program.functions.ids().map(|id| keys.function(id).into()).collect(),
        ..Default::default()
    };
    let local = facts::NoReturn::compute(program);
    for (id, function) in program.functions.iter_enumerated() {
        let Some(body) = &function.body else {
            if local.function(id) {
                let summary = Summary { never_returns: true, ..Summary::default() };
                unit.functions.insert(keys.function(id).into(), summary);
            }
            continue;
        };
        let fun = Fun::new(program, &keys, &nothing, function, id, body);
        unit.n_functions += 1;
        unit.n_calls += fun.calls().count() as u64;
        let mut summary = summary::summarise(&fun, &mut unit);
        summary.is_defined = true;
        summary.never_returns = local.function(id);
        let parameters = body.variables.iter().filter(|variable| variable.parameter.is_some());
        summary.parameter_names = parameters.map(|variable| variable.name.clone()).collect();
        unit.functions.insert(keys.function(id).into(), summary);
    }
    unit
}

fn is_system(program: &Program, function: &Function) -> bool {
    let file = program.locs[function.loc].file;
    function.loc.is_known() && program.files.get(file).is_some_and(|file| file.is_system)
}
