//! Violations that do not end a run: what the language defines, and a rule forbids.

use program::{FunctionId, Program};

use crate::FaultKind;
use crate::exec::Machine;
use crate::record::Point;

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
}

/// What is watched in the runs of a program besides what the language leaves undefined.
#[derive(Debug, Default)]
pub struct Watch {}

impl Watch {
    pub fn new(_: &Program) -> Self {
        Self {}
    }
}

#[derive(Default)]
pub(crate) struct Notes<'p> {
    pub watch: Option<&'p Watch>,
    pub made: Vec<Note>,
}

impl<'p> Machine<'p> {
    /// Says what to watch from here on.
    pub fn watch(&mut self, watch: Option<&'p Watch>) {
        self.notes.watch = watch;
    }

    /// What was violated so far without ending the run.
    pub fn notes(&self) -> &[Note] {
        &self.notes.made
    }
}
