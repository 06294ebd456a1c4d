//! Error traces as the paper's Fig 3 shows them: assignments and decisions with their values,
//! and the check that fails at the end.

mod notes;
mod texts;
mod values;
mod words;

use std::collections::BTreeSet;

use findings::{Place, Step};
use interpret::{Point, Record};
use program::{FunctionId, LocId, Program};
use rustc_hash::FxHashSet;

use crate::ending::{Property, loc_of};
use crate::slice::{Slice, slice};
use notes::Notes;
pub use texts::Texts;

/// A failing run, told step by step.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Assignments, decisions, and the failing check last.
    pub steps: Vec<Step>,
    /// Lines the property depends on, by file of the program.
    pub sliced: BTreeSet<(String, u32)>,
    /// All lines the run came to.
    pub executed: BTreeSet<(String, u32)>,
    /// How many steps the run took.
    pub n_executed: usize,
    pub violated: Option<Property>,
}

pub fn trace(
    (program, texts): (&Program, &Texts),
    record: &Record,
    property: Property,
    message: &str,
) -> Trace {
    let (n_executed, violated) = (record.steps.len(), Some(property));
    let mut trace = Trace { n_executed, violated, ..Trace::default() };
    for step in &record.steps {
        trace.executed.extend(line(program, loc_of(program, (step.function, step.at))));
    }
    let Some(slice) = slice(program, record) else { return trace };
    for index in &slice.steps {
        let step = &record.steps[*index];
        trace.sliced.extend(line(program, loc_of(program, (step.function, step.at))));
    }
    trace.steps = steps((program, texts), record, &slice, property, message);
    trace
}

fn steps(
    (program, texts): (&Program, &Texts),
    record: &Record,
    slice: &Slice,
    property: Property,
    message: &str,
) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let kept = slice.steps.iter().copied().collect();
    let notes = Notes { program, record, texts, kept };
    let outermost = record.steps.iter().map(|step| step.depth).min().unwrap_or(0);
    for &index in &slice.steps {
        let note = if index == slice.failing {
            let word = if property == Property::Assertion { "" } else { "check fails: " };
            Some(format!("{word}{message}"))
        } else {
            notes.note(index)
        };
        let Some(note) = note else { continue };
        let step = &record.steps[index];
        let loc = loc_of(program, (step.function, step.at));
        let place = place(program, loc, step.function);
        let depth = step.depth - outermost;
        let impact = index == slice.failing;
        let next = Step { place, note, impact, depth };
        if steps.last() != Some(&next) {
            steps.push(next);
        }
    }
    steps
}

/// What an instruction reads or writes, as the source calls it.
pub fn accessed(
    (program, texts): (&Program, &Texts),
    (function, point): (FunctionId, Point),
) -> Option<String> {
    let record = &Record::default();
    Notes { program, record, texts, kept: FxHashSet::default() }.accessed(function, point)
}

pub fn place(program: &Program, loc: LocId, function: FunctionId) -> Place {
    let name = program.functions[function].name.to_string();
    match program.locs.get(loc).filter(|_| loc.is_known()) {
        Some(loc) => Place {
            file: program.files.get(loc.file).map(|f| f.path.clone()).unwrap_or_default(),
            line: loc.line,
            column: loc.column,
            function: name,
        },
        None => Place { function: name, ..Place::default() },
    }
}

fn line(program: &Program, loc: LocId) -> Option<(String, u32)> {
    let loc = program.locs.get(loc).filter(|l| loc.is_known() && l.line > 0)?;
    Some((program.files.get(loc.file)?.path.clone(), loc.line))
}
