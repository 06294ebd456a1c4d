//! From the code of one unit to its events.
//!
//! Each module extracts one kind; all look at one function at a time, and know about others
//! only what [`Known`] says.

mod after;
mod calls;
mod classes;
mod exits;
mod fate;
mod function;
mod locks;
mod nulls;
mod pairs;
mod results;
mod sink;
mod subjects;
mod summary;
mod taints;
mod values;
mod walk;

use program::{Function, Program};

use crate::event::Events;
use crate::known::{Keys, Known, Summary, UnitSummary};
use function::Fun;
use locks::Locks;
use sink::Sink;
use subjects::Subjects;
use walk::Interest;

/// The events of a unit.
pub fn extract(program: &Program, known: &Known) -> Events {
    let keys = Keys::new(program);
    let mut sink = Sink::default();
    for (id, function) in program.functions.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        if is_system(program, function) || body.blocks.is_empty() {
            continue;
        }
        let fun = Fun::new(program, &keys, known, function, id, body);
        sink.enter(&fun);
        let interest = Interest::new(&fun);
        let subjects = Subjects::new(&fun);
        results::extract(&fun, &mut sink);
        nulls::extract(&fun, &interest, &mut sink);
        pairs::extract(&fun, &interest, &subjects, &mut sink);
        after::extract(&fun, &interest, &mut sink);
        let locks = Locks::new(&fun);
        locks.extract(&fun, &mut sink);
        locks::accesses(&fun, &locks, &mut sink);
        calls::extract(&fun, &locks, &mut sink);
        taints::extract(&fun, &mut sink);
    }
    sink.finish()
}

/// What others want to know about the functions of a unit.
pub fn summarise(program: &Program) -> UnitSummary {
    let keys = Keys::new(program);
    let nothing = Known::default();
    let mut unit =
        UnitSummary { assigned: classes::assigned(program, &keys), ..Default::default() };
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
