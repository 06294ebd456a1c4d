//! Error traces as the paper's Fig 3 shows them: assignments and decisions with their values,
//! and the check that fails at the end.

mod calls;
mod checks;
mod headline;
mod notes;
mod texts;
pub mod values;
mod words;

use std::collections::BTreeSet;

use findings::{Place, Step};
use interpret::Record;
use program::{FunctionId, LocId, Origin, Program};

use crate::ending::{Property, loc_of};
use crate::objects::Objects;
use crate::slice::{Slice, slice};
use checks::{Check, LengthOf};
use notes::Notes;
pub use texts::Texts;
use values::Values;

/// A failing run, told step by step.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Assignments, decisions, and the failing check last.
    pub steps: Vec<Step>,
    /// Lines the property depends on, by file of the program.
    pub sliced: BTreeSet<(String, u32)>,
    /// Macros in whose bodies these lines were written.
    pub macros: BTreeSet<String>,
    /// All lines the run came to.
    pub executed: BTreeSet<(String, u32)>,
    /// How many steps the run took.
    pub n_executed: usize,
    pub violated: Option<Property>,
    /// What is violated, with the values it is violated with.
    pub message: String,
    /// The rule it is reported under, and one line that stands alone.
    pub headline: Option<(&'static str, String)>,
    /// Where the object it is about was allocated and released.
    pub related: Vec<Step>,
}

/// Tells a failing run. How long strings are that the run left in memory is asked for.
pub fn trace(
    (program, texts): (&Program, &Texts),
    record: &Record,
    property: Property,
    length_of: LengthOf,
) -> Trace {
    let (n_executed, violated) = (record.steps.len(), Some(property));
    let message = property.message().to_owned();
    let mut trace = Trace { n_executed, violated, message, ..Trace::default() };
    for step in &record.steps {
        trace.executed.extend(line(program, loc_of(program, (step.function, step.at))));
    }
    let Some(slice) = slice(program, record) else { return trace };
    for index in &slice.steps {
        let step = &record.steps[*index];
        let loc = loc_of(program, (step.function, step.at));
        trace.sliced.extend(line(program, loc));
        if let Some(Origin::Body(name)) = program.locs.get(loc).map(|loc| loc.origin) {
            trace.macros.insert(program.names[name].to_string());
        }
    }
    let objects = Objects::new(program, record);
    let values = Values { program, record, callers: &slice.callers };
    let kept = slice.steps.iter().copied().collect();
    let notes = Notes { values, texts, objects: &objects, kept, end: slice.end };
    let check = Check { notes: &notes, objects: &objects, failing: slice.failing };
    trace.message = check.told(property, length_of);
    trace.related = check.related();
    trace.headline = Some(check.headline(property, length_of));
    trace.steps = steps(&notes, &slice, property, &trace.message);
    trace
}

fn steps(notes: &Notes, slice: &Slice, property: Property, message: &str) -> Vec<Step> {
    let Values { program, record, .. } = notes.values;
    let mut steps: Vec<Step> = Vec::new();
    let mut entered = BTreeSet::new();
    let outermost = record.steps.iter().map(|step| step.depth).min().unwrap_or(0);
    let told = |index: usize, note: String| {
        let step = &record.steps[index];
        let loc = loc_of(program, (step.function, step.at));
        let place = place(program, loc, step.function);
        let impact = index == slice.failing;
        Step { place, note, impact, depth: step.depth - outermost }
    };
    for &index in &slice.steps {
        // A call is recorded when it ends, and told where it begins.
        for call in entering(slice, record, index, &mut entered) {
            steps.extend(notes.passed(slice, call).map(|note| told(call.1, note)));
        }
        let note = if index == slice.failing {
            let word = if property == Property::Assertion { "" } else { "check fails: " };
            Some(format!("{word}{message}"))
        } else {
            notes.note(index)
        };
        let Some(note) = note else { continue };
        let next = told(index, note);
        if steps.last().is_some_and(|last| is_told_by(&last.note, &next.note)) {
            steps.pop();
        }
        if steps.last() != Some(&next) {
            steps.push(next);
        }
    }
    steps
}

/// Frames that are told of for the first time with the calls that entered them, the outermost
/// first.
fn entering(
    slice: &Slice,
    record: &Record,
    index: usize,
    entered: &mut BTreeSet<u32>,
) -> Vec<(u32, usize)> {
    let mut calls = Vec::new();
    let mut frame = record.steps[index].frame;
    while entered.insert(frame) {
        let Some(&call) = slice.callers.get(&frame) else { break };
        calls.push((frame, call));
        frame = record.steps[call].frame;
    }
    calls.reverse();
    calls
}

/// Whether a note about the result of a call says nothing that the next one does not.
fn is_told_by(note: &str, next: &str) -> bool {
    let Some(call) = note.strip_suffix(" is not null") else { return false };
    next.contains(call)
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
