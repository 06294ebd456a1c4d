//! Violations that do not end a run: what the language defines, and a rule forbids.

use program::FunctionId;
use rustc_hash::FxHashMap;

use crate::FaultKind;
use crate::exec::Machine;
use crate::leaks::Leaks;
use crate::record::Point;
use crate::strays::Strays;
use crate::watch::Watch;

/// Where something happened.
pub type Place = (FunctionId, Point);

/// A violation after which the run went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: FaultKind,
    pub at: Place,
    /// Where the object that it is about was allocated, or opened.
    pub allocated: Option<Place>,
    /// Where that was released, or closed.
    pub released: Option<Place>,
    /// Steps of the record before it, itself included.
    pub n_recorded: usize,
    /// Steps the run had left then.
    pub steps_left: u64,
    /// The number that it was made from and that was not the one meant.
    pub by: Option<(Place, FaultKind)>,
}

#[derive(Default)]
pub(crate) struct Notes<'p> {
    pub watch: Option<&'p Watch>,
    pub made: Vec<Note>,
    /// Attributes of objects, by attribute and address or number, and where they were set.
    pub states: FxHashMap<(u16, u64), (i128, Place)>,
    pub leaks: Leaks,
    pub strays: Strays,
    /// Steps the run had when it was first watched.
    pub steps_at_first: u64,
}

/// Violations of one place that are noted.
const MAX_OF_ONE_PLACE: usize = 1;
const MAX_NOTES: usize = 64;

impl<'p> Machine<'p> {
    /// Says what to watch from here on.
    pub fn watch(&mut self, watch: Option<&'p Watch>) {
        self.notes.watch = watch;
        self.notes.steps_at_first = self.steps;
        if self.watches_leaks() {
            self.memory.start_to_tell_lives();
        }
    }

    /// What was violated so far without ending the run.
    pub fn notes(&self) -> &[Note] {
        &self.notes.made
    }

    pub(crate) fn note(&mut self, mut note: Note) {
        let made = &self.notes.made;
        let is_same = |other: &&Note| other.at == note.at && other.kind == note.kind;
        if made.len() < MAX_NOTES && made.iter().filter(is_same).count() < MAX_OF_ONE_PLACE {
            if note.n_recorded == 0 {
                note.n_recorded = self.n_recorded() + 1;
            }
            if note.steps_left == 0 {
                note.steps_left = self.steps;
            }
            self.notes.made.push(note);
        }
    }

    /// Steps that are recorded so far; the one under way is not.
    pub(crate) fn n_recorded(&self) -> usize {
        self.record.as_ref().map_or(0, |record| record.steps.len())
    }
}
