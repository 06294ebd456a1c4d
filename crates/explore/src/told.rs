//! A failing run, told: where it fails, how it came to that, and with which input.

use findings::{Place, RunInput};
use interpret::{Asked, Machine, Record};
use program::Program;

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
    /// Functions without a model whose results were made up.
    pub made_up: Vec<String>,
}

/// Runs the failing input once more and tells what happens.
pub fn tell(
    (program, texts): (&Program, &Texts),
    entry: &str,
    failing: &Given,
    max_steps: u64,
) -> Told {
    let mut machine = Machine::new(program, max_steps).ok();
    let mut result = Ok(None);
    let mut record = Record::default();
    let mut at = None;
    let mut asked = Asked::default();
    let mut passed: Vec<String> = Vec::new();
    if let Some(machine) = &mut machine {
        machine.start_record();
        result = match failing {
            Given::Found(inputs, limits) => machine.run_unknown(entry, inputs, limits, false),
            Given::Test(test) => machine.run_main(&test.arguments, &test.stdin),
        };
        record = machine.take_record();
        at = machine.stopped_at;
        let places = machine.passed_over.iter();
        passed = places.map(|at| beyond::told(program, *at)).collect();
        passed.sort();
        passed.dedup();
        asked = machine.asked();
    }
    let property = match ending(&result) {
        Ending::Violates(property) => property,
        _ => Property::Assertion,
    };
    let mut length_of = |address| machine.as_mut()?.string_length(address);
    let trace = trace::trace((program, texts), &record, property, &mut length_of);
    let place = at.map(|at| trace::place(program, loc_of(program, at), at.0)).unwrap_or_default();
    let input = describe(failing, entry, &asked);
    Told { property, place, trace, input, passed, made_up: asked.made_up }
}
