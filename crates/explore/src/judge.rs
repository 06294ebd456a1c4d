//! Running a program, edited or not, on one input after the other.

use std::collections::BTreeSet;

use interpret::{Inputs, Limits, Machine, Point, Stop};
use program::{BlockId, FunctionId, Program};

use crate::ending::{Ending, ending};

/// A test with what it expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestCase {
    pub name: String,
    pub arguments: Vec<String>,
    pub stdin: Vec<u8>,
    pub stdout: Option<Vec<u8>>,
    pub exit: Option<u8>,
}

/// What a run gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// Inputs a search found.
    Found(Inputs, Limits),
    Test(TestCase),
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub ending: Ending,
    /// Where it stopped, if it did not end by itself.
    pub at: Option<(FunctionId, Point)>,
    pub stdout: Vec<u8>,
    pub exit: i32,
    pub covered: BTreeSet<(FunctionId, BlockId)>,
    pub n_steps: u64,
    /// It was cut off as too long.
    pub is_endless: bool,
    /// It asked for more from outside than there was.
    pub is_waiting: bool,
}

/// A program that can be run with one of its edits switched on.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub program: &'a Program,
    pub entry: &'a str,
    pub max_steps: u64,
}

impl Judge<'_> {
    /// Runs to completion, with the selector of an edit set.
    pub fn run(&self, selected: Option<(&str, u32, u32)>, given: &Given) -> Outcome {
        let mut machine = match Machine::new(self.program, self.max_steps) {
            Ok(machine) => machine,
            Err(stop) => return Outcome::nothing(&stop),
        };
        if let Some((global, index, value)) = selected
            && let Err(stop) = machine.set_selector(global, index, value, false)
        {
            return Outcome::nothing(&stop);
        }
        let result = match given {
            Given::Found(inputs, limits) => machine.run_unknown(self.entry, inputs, limits, false),
            Given::Test(test) => machine.run_main(&test.arguments, &test.stdin),
        };
        let exit = match &result {
            Ok(Some(value)) => value.bits().map_or(0, |bits| bits.bits as i32),
            Err(Stop::Exit(status)) => *status,
            _ => 0,
        };
        let n_steps = self.max_steps - machine.steps;
        let covered = machine.covered.keys().copied().collect();
        let (ending, at) = (ending(&result), machine.stopped_at);
        let is_endless = matches!(result, Err(Stop::OutOfSteps));
        let is_waiting = matches!(result, Err(Stop::EndOfInput));
        let stdout = machine.stdout;
        Outcome { ending, at, stdout, exit, covered, n_steps, is_endless, is_waiting }
    }
}

impl Outcome {
    fn nothing(stop: &Stop) -> Self {
        let ending = ending::<()>(&Err(stop.clone()));
        let (stdout, covered) = (Vec::new(), BTreeSet::new());
        let (is_endless, is_waiting) = (false, false);
        Self { ending, at: None, stdout, exit: 0, covered, n_steps: 0, is_endless, is_waiting }
    }

    /// Whether nobody outside can tell the difference.
    pub fn does_the_same(&self, other: &Outcome) -> bool {
        (&self.ending, &self.stdout, self.exit) == (&other.ending, &other.stdout, other.exit)
    }

    pub fn passes(&self, test: &TestCase) -> bool {
        self.ending == Ending::Fine
            && test.stdout.as_ref().is_none_or(|expected| *expected == self.stdout)
            && test.exit.is_none_or(|expected| i32::from(expected) == self.exit & 0xff)
    }
}
