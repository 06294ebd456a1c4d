//! One run that goes on behind violations: what it violates, in order.

use interpret::{Corrected, FaultKind, Inputs, Limits, Machine, Point, Stop};
use program::{BlockId, FunctionId};
use rustc_hash::FxHashMap;

use crate::ending::{Ending, Property, ending};
use crate::search::Search;

/// A violation, wherever and whenever it happens.
pub type Key = ((FunctionId, Point), Property);

/// A violation of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub key: Key,
    /// Steps the run had left then: what happens later has fewer.
    pub steps_left: u64,
    /// A number that is not the one meant. What harm that does, others tell.
    pub is_soft: bool,
    /// Nor does any rule ask for it.
    pub is_unruled: bool,
    /// The number that it was made from and that was not the one meant.
    pub by: Option<Key>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The first of each place, in order.
    pub events: Vec<Event>,
    /// The violation that ended it.
    pub last: Option<Key>,
    /// It ended for reasons of our own.
    pub is_unclear: bool,
    /// Steps it had left when it first depended on where objects lie, or on what nobody has set.
    pub guessed_at: Option<u64>,
    /// Results of functions without a model were made up.
    pub has_made_up: bool,
    pub n_steps: u64,
    /// How often it came to each block.
    covered: FxHashMap<(FunctionId, BlockId), u32>,
}

impl Course {
    /// Whether nothing that C leaves open decided so far.
    pub fn is_certain_at(&self, event: &Event) -> bool {
        self.guessed_at.is_none_or(|guessed| guessed <= event.steps_left)
    }

    /// Whether it came to a place as often as another run did.
    pub fn came_as_often(&self, other: &Course, search: &Search, key: Key) -> bool {
        let (function, point) = key.0;
        let block = match (point, &search.program.functions[function].body) {
            (Point::End(block), _) => block,
            (Point::Inst(inst), Some(body)) => body.insts[inst].block,
            (Point::Inst(_), None) => return false,
        };
        let n_times = |course: &Course| course.covered.get(&(function, block)).copied();
        n_times(self) >= n_times(other)
    }

    pub fn has(&self, key: Key) -> bool {
        self.events.iter().any(|event| event.key == key)
    }
}

/// Runs with these violations put right.
pub fn course(search: &Search, inputs: &Inputs, limits: &Limits, right: &[Corrected]) -> Course {
    let unclear = Course { is_unclear: true, ..Course::default() };
    let Ok(mut machine) = Machine::new(search.program, search.max_steps) else { return unclear };
    machine.watch(search.watch);
    machine.correct(right);
    let limits = Limits { goes_on: true, ..*limits };
    let result = machine.run_unknown(search.entry, inputs, &limits, false);
    let mut events: Vec<Event> = Vec::new();
    for one in machine.strayed() {
        let key = (one.at, Property::Fault(one.kind));
        let (steps_left, is_unruled) = (one.steps_left, !one.is_ruled);
        events.push(Event { key, steps_left, is_soft: true, is_unruled, by: None });
    }
    for note in machine.notes() {
        let key = (note.at, Property::Fault(note.kind));
        match events.iter_mut().find(|event| event.key == key) {
            Some(known) => known.is_soft = false,
            None => {
                let by = note.by.map(|(at, kind)| (at, Property::Fault(kind)));
                let steps_left = note.steps_left;
                events.push(Event { key, steps_left, is_soft: false, is_unruled: false, by });
            }
        }
    }
    let mut last = None;
    if let (Ending::Violates(property), Some(at)) = (ending(&result), machine.stopped_at) {
        let key = (at, property);
        last = Some(key);
        match events.iter_mut().find(|event| event.key == key) {
            Some(known) => known.is_soft = false,
            None => {
                let steps_left = machine.steps;
                let (is_soft, is_unruled) = (false, false);
                events.push(Event { key, steps_left, is_soft, is_unruled, by: None });
            }
        }
    }
    events.sort_by_key(|event| std::cmp::Reverse(event.steps_left));
    let is_unclear =
        matches!(&result, Err(Stop::OutOfSteps | Stop::Unsupported(_) | Stop::Bound(_)));
    Course {
        events,
        last,
        is_unclear,
        guessed_at: machine.guessed_at(),
        has_made_up: !machine.asked().made_up.is_empty(),
        n_steps: search.max_steps - machine.steps,
        covered: machine.covered,
    }
}

/// How a violation may be put right, the best way first; none where it has no effect to undo.
pub fn corrections(key: Key) -> Vec<Corrected> {
    let (at, Property::Fault(kind)) = key else { return Vec::new() };
    let one = |is_nearest| Corrected { at, kind, is_nearest };
    match kind {
        FaultKind::OutOfBounds => vec![one(false)],
        FaultKind::Wrap
        | FaultKind::Truncation
        | FaultKind::SignChange
        | FaultKind::SignedOverflow => vec![one(false), one(true)],
        _ => Vec::new(),
    }
}
