//! Bounded checks of the best edits: each gets a search of its own.
//!
//! What violates anything new is dropped, and what it fails on is tried on the others. A program
//! may have faults besides the one that is diagnosed; what it does wrong without the edit, too,
//! is not held against it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use interpret::{Inputs, Limits, Point};
use program::{FunctionId, LocId};
use rustc_hash::FxHashSet;

use crate::workshop::{Bench, Line, Survivor, Workshop};
use crate::{DiagnoseError, check};
use explore::ending::{Ending, loc_of};
use explore::judge::{Given, Judge};
use explore::memo::Memo;
use explore::search::{Explored, Search, Violation};

/// A check may take this part of the instructions that are left for all, within each bound.
const SHARE_OF_A_CHECK: u64 = 8;

type Place = (FunctionId, LocId);

pub struct Verifier<'a> {
    workshop: &'a Workshop<'a>,
    bench: &'a Bench,
    judge: Judge<'a>,
    /// The inputs of the violation that is diagnosed, where a search found them.
    failing: Option<(Inputs, Limits)>,
    /// Where it is.
    meant: Option<Place>,
    /// Places that the program violates as it is, other than the one meant.
    known: RefCell<BTreeSet<Place>>,
    /// Lines where it does so behind the one meant.
    behind: BTreeSet<Line>,
}

impl<'a> Verifier<'a> {
    pub fn new(
        workshop: &'a Workshop<'a>,
        bench: &'a Bench,
        max_steps: u64,
        (failing, meant): (&Given, Option<(FunctionId, Point)>),
        behind: BTreeSet<Line>,
    ) -> Self {
        let judge = Judge { program: &bench.program, entry: workshop.entry, max_steps };
        let known = RefCell::default();
        let failing = match failing {
            Given::Found(inputs, limits) => Some((inputs.clone(), *limits)),
            Given::Test(_) => None,
        };
        let mut verifier = Self { workshop, bench, judge, failing, meant: None, known, behind };
        verifier.meant = meant.map(|at| verifier.place(at));
        verifier
    }

    pub fn check_best(&self, survivors: &mut Vec<Survivor>) -> Result<(), DiagnoseError> {
        let options = &self.workshop.request.options;
        let mut memo = Memo::new(options.resources / 8, false);
        let next = |survivors: &[Survivor]| {
            survivors.iter().take(options.checked).position(|survivor| !survivor.is_checked)
        };
        let nothing = FxHashSet::default();
        let mut n_steps = 0;
        while let Some(at) = next(survivors) {
            check(self.workshop.cancel)?;
            // Without questions only one path is run.
            let left = options.all_check_questions.saturating_sub(memo.effort);
            let search = Search {
                program: &self.bench.program,
                entry: self.workshop.entry,
                // Proofs of the program hold no more once it is changed.
                safe: &nothing,
                selected: Some(self.bench.selector(survivors[at].index)),
                unset_is_input: self.workshop.unset_is_input,
                watch: None,
                // What was mended badly fails near by.
                seed: self.failing.as_ref(),
                max_runs: options.check_runs,
                max_steps: self.judge.max_steps.max(options.steps / 4),
                max_all_steps: options.all_check_steps.saturating_sub(n_steps) / SHARE_OF_A_CHECK,
                runs_after: 0,
                questions_after: 0,
                max_questions: options.check_questions.min(left),
                max_unknown: 1,
            };
            let is_new = |violation: &Violation| self.is_new(violation);
            let explored = search.run(&mut memo, &is_new, self.workshop.cancel);
            n_steps += explored.n_steps;
            match explored.violations.iter().find(|violation| is_new(violation)) {
                Some(counterexample) => {
                    survivors.remove(at);
                    survivors.retain(|survivor| self.survives(survivor, counterexample));
                }
                None => {
                    let survivor = &mut survivors[at];
                    survivor.is_checked = true;
                    survivor.verified.push(told(&explored));
                }
            }
        }
        Ok(())
    }

    fn place(&self, at: (FunctionId, Point)) -> Place {
        (at.0, loc_of(&self.bench.program, at))
    }

    /// Whether an edit violates nothing new on what another one fails on.
    fn survives(&self, survivor: &Survivor, counterexample: &Violation) -> bool {
        let Violation { inputs, limits, .. } = counterexample.clone();
        let given = Given::Found(inputs.clone(), limits);
        let outcome = self.judge.run(Some(self.bench.selector(survivor.index)), &given);
        match (outcome.ending, outcome.at) {
            (Ending::Violates(property), Some(at)) => {
                !self.is_new(&Violation { property, at, inputs, limits })
            }
            (Ending::Violates(_), None) => false,
            _ => true,
        }
    }

    /// Whether the program violates something here only since it was changed, or still what is
    /// diagnosed.
    fn is_new(&self, violation: &Violation) -> bool {
        let place = self.place(violation.at);
        let line = self.bench.program.locs.get(place.1).map_or(0, |loc| loc.line);
        if self.known.borrow().contains(&place) || self.behind.contains(&(place.0, line)) {
            return false;
        }
        let given = Given::Found(violation.inputs.clone(), violation.limits);
        let before = self.judge.run(None, &given);
        let is_known = matches!(before.ending, Ending::Violates(_))
            && before.at.map(|at| self.place(at)) == Some(place)
            && self.meant != Some(place);
        if is_known {
            self.known.borrow_mut().insert(place);
        }
        !is_known
    }
}

/// What the bounded check of an edit showed that violates nothing new.
fn told(explored: &Explored) -> String {
    let free = match explored.violations.is_empty() {
        true => "free of violations",
        false => "free of violations that were not there before",
    };
    let n_runs = explored.n_runs;
    match &explored.incomplete {
        None if n_runs == 1 => format!("the only path is {free}"),
        None => format!("all {n_runs} paths within the bounds are {free}"),
        Some(_) if n_runs == 1 => format!("the first path is {free}"),
        Some(_) => format!("the first {n_runs} paths are {free}"),
    }
}
