//! From the code of one unit to its events.
//!
//! Each module extracts one kind; all look at one function at a time, and know about others
//! only what [`Known`] says.

mod after;
mod exits;
mod fate;
mod function;
mod nulls;
mod pairs;
mod results;
mod sink;
mod subjects;
mod summary;
mod values;
mod walk;

use program::{Body, Function, Program};

use crate::event::Events;
use crate::known::{Keys, Known, Summary};
use function::Fun;
use sink::Sink;
use subjects::Subjects;
use walk::Interest;

/// The events of a unit.
pub fn extract(program: &Program, known: &Known) -> Events {
    let keys = Keys::new(program);
    let mut sink = Sink::default();
    for function in &program.functions {
        let Some(body) = &function.body else { continue };
        if is_system(program, function) || body.blocks.is_empty() {
            continue;
        }
        let fun = Fun::new(program, &keys, known, function, body);
        sink.enter(&fun);
        let interest = Interest::new(&fun);
        let subjects = Subjects::new(&fun);
        results::extract(&fun, &mut sink);
        nulls::extract(&fun, &interest, &mut sink);
        pairs::extract(&fun, &interest, &subjects, &mut sink);
        after::extract(&fun, &interest, &mut sink);
    }
    sink.finish()
}

/// What callers of a function want to know about it.
pub fn summarise(
    program: &Program,
    keys: &Keys,
    known: &Known,
    function: &Function,
    body: &Body,
) -> Summary {
    summary::summarise(&Fun::new(program, keys, known, function, body))
}

fn is_system(program: &Program, function: &Function) -> bool {
    let file = program.locs[function.loc].file;
    function.loc.is_known() && program.files.get(file).is_some_and(|file| file.is_system)
}
