//! A failing run, told: where it fails, how it came to that, and with which input.

use findings::{Place, RunInput};
use interpret::{Asked, Machine, Note, Point, Record, Strayed, Watch};
use program::{FunctionId, Program};

use crate::beyond;
use crate::describe::describe;
use crate::ending::{Ending, Property, ending, loc_of};
use crate::judge::Given;
use crate::trace::{self, Texts, Trace};

/// What a failing run did.
#[derive(Clone, Debug)]
pub struct Told {
    pub property: Property,
    pub place: Place,
    pub trace: Trace,
    pub input: RunInput,
    /// Places of violations that were passed over.
    pub passed: Vec<String>,
    /// The violation, where it did not end the run.
    pub note: Option<Note>,
    /// Functions without a model whose results were made up.
    pub made_up: Vec<String>,
}

/// Runs the failing input once more and tells what happens.
pub fn tell(about: (&Program, &Texts), entry: &str, failing: &Given, max_steps: u64) -> Told {
    tell_watched(about, entry, failing, max_steps, None)
}

/// What to tell of a run: a violation that may be one of those that did not end it.
#[derive(Clone, Copy)]
pub struct Wanted<'w> {
    pub watch: &'w Watch,
    pub property: Property,
    pub at: (FunctionId, Point),
}

/// As [`tell`]; of a violation that did not end the run where one is `wanted`.
pub fn tell_watched(
    (program, texts): (&Program, &Texts),
    entry: &str,
    failing: &Given,
    max_steps: u64,
    wanted: Option<Wanted>,
) -> Told {
    let mut machine = Machine::new(program, max_steps).ok();
    let mut result = Ok(None);
    let mut record = Record::default();
    let mut at = None;
    let mut asked = Asked::default();
    let mut passed: Vec<String> = Vec::new();
    let mut note: Option<Note> = None;
    if let Some(machine) = &mut machine {
        machine.watch(wanted.map(|wanted| wanted.watch));
        machine.start_record();
        result = match failing {
            Given::Found(inputs, limits) => machine.run_unknown(entry, inputs, limits, false),
            Given::Test(test) => machine.run_main(&test.arguments, &test.stdin),
        };
        record = machine.take_record();
        at = machine.stopped_at;
        note = wanted.and_then(|wanted| noted(machine, &wanted));
        if let Some(note) = &note {
            record.fails_at = note.n_recorded.min(record.steps.len()).checked_sub(1);
            end_at(&mut record, note.n_recorded);
            at = Some(note.at);
        }
        let places = machine.passed_over.iter();
        passed = places.map(|at| beyond::told(program, *at)).collect();
        passed.sort();
        passed.dedup();
        asked = machine.asked();
    }
    let property = match (&note, ending(&result)) {
        (Some(note), _) => Property::Fault(note.kind),
        (None, Ending::Violates(property)) => property,
        _ => Property::Assertion,
    };
    let mut length_of = |address| machine.as_mut()?.string_length(address);
    let trace = trace::trace((program, texts), &record, property, &mut length_of);
    let place = at.map(|at| trace::place(program, loc_of(program, at), at.0)).unwrap_or_default();
    let input = describe(failing, entry, &asked);
    Told { property, place, trace, input, passed, note, made_up: asked.made_up }
}

/// Leaves out what a run did after some of its steps, but for the calls around the last one, which
/// are recorded when they end.
fn end_at(record: &mut Record, n_steps: usize) {
    let Some(last) = n_steps.checked_sub(1).and_then(|last| record.steps.get(last)) else { return };
    let mut depth = last.depth;
    let mut around = Vec::new();
    for step in &record.steps[n_steps..] {
        if step.depth < depth {
            depth = step.depth;
            around.push(step.clone());
        }
    }
    record.steps.truncate(n_steps);
    record.steps.extend(around);
}

fn noted(machine: &Machine, wanted: &Wanted) -> Option<Note> {
    let is_it =
        |note: &&Note| note.at == wanted.at && Property::Fault(note.kind) == wanted.property;
    let noted = machine.notes().iter().find(is_it).cloned();
    noted.or_else(|| {
        let mut strayed = machine.strayed().iter();
        let one = strayed
            .find(|one| one.at == wanted.at && Property::Fault(one.kind) == wanted.property)?;
        let Strayed { at, kind, n_recorded, steps_left, .. } = *one;
        let (allocated, released) = (None, None);
        Some(Note { kind, at, allocated, released, n_recorded, steps_left, by: None })
    })
}
