//! What a search does when turning decisions around is over: variations of what went far.

use std::cell::Cell;
use std::rc::Rc;

use interpret::{Inputs, Machine, Point};
use program::FunctionId;

use super::{Next, State, Violation};
use crate::corpus::Entry;
use crate::ending::{Property, violations};
use crate::shrink::shrink;

/// Inputs that are made within a bound.
const MAX_VARIATIONS: u32 = 6000;
/// Instructions that runs of shorter inputs of one violation may execute together.
const MAX_STEPS_OF_SHORTENING: u64 = 5_000_000;

impl State<'_> {
    /// A variation of inputs that went far which goes further still, or violates something at a
    /// new place.
    pub(super) fn vary(&mut self) -> Option<Next> {
        while self.n_varied < MAX_VARIATIONS {
            self.n_varied += 1;
            let inputs = self.variation()?;
            let search = self.search;
            let mut machine = Machine::new(search.program, search.max_steps).ok()?;
            machine.watch(search.watch);
            let result = machine.run_unknown(search.entry, &inputs, &self.limits, false);
            let n_steps = search.max_steps - machine.steps;
            self.max_varied_steps = self.max_varied_steps.checked_sub(n_steps)?;
            let is_new = |at: (FunctionId, Point), property: Property| {
                let mut known = self.found.violations.iter();
                !known.any(|known| known.at == at && known.property == property)
            };
            let is_news = violations(&machine, &result).any(|(at, kind)| is_new(at, kind));
            if is_news || self.frontier.is_further(&machine.covered, &machine.in_one_call) {
                return Some(Next { inputs: Rc::new(inputs), ..Next::default() });
            }
        }
        None
    }

    /// Like one of the inputs that went far, the last of which went furthest: later ones are
    /// varied more often.
    fn variation(&mut self) -> Option<Inputs> {
        let n = self.far.len();
        let numbers = &mut self.variations.numbers;
        let mut one = || numbers.below(n).max(numbers.below(n));
        let entry = |inputs: &Rc<Inputs>| Entry { inputs: inputs.clone(), ..Entry::default() };
        let (base, other) = (entry(self.far.get(one())?), entry(self.far.get(one())?));
        Some(self.variations.next(&base, &other, &self.limits))
    }

    /// Leaves out what variations have in excess of what fails.
    pub(super) fn shorten(&mut self, wanted: &dyn Fn(&Violation) -> bool) {
        let (search, limits) = (self.search, self.limits);
        for violation in self.found.violations.iter_mut().filter(|v| wanted(v)) {
            let (at, property) = (violation.at, violation.property);
            let left = Cell::new(MAX_STEPS_OF_SHORTENING);
            let is_same = |inputs: &Inputs| {
                let max_steps = search.max_steps.min(left.get());
                let Ok(mut machine) = Machine::new(search.program, max_steps) else {
                    return false;
                };
                machine.watch(search.watch);
                let result = machine.run_unknown(search.entry, inputs, &limits, false);
                left.set(left.get() - (max_steps - machine.steps));
                violations(&machine, &result).any(|violated| violated == (at, property))
            };
            violation.inputs = shrink(&violation.inputs, &limits, &is_same);
        }
    }
}
