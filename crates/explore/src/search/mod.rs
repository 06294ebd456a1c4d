//! Bounded model checking by running: all paths of a program up to bounds on its inputs and
//! loops, and the inputs that violate a property.
//!
//! A run records what had to hold for it to go its way. Each of these conditions, negated
//! together with those before it, asks the solver for inputs of another path, in the order of the
//! [`agenda`](crate::agenda). What is found is run again and happens, or is no finding.

mod campaign;
mod step;
mod vary;

use std::rc::Rc;

use base::Cancel;
use interpret::{FaultKind, Inputs, Limits, MAX_PASSED, Point, Watch};
use logic::words::WordId;
use program::{FunctionId, InstId, Program};
use rustc_hash::FxHashSet;

use crate::agenda::{Agenda, Place};
use crate::dictionary::Dictionary;
use crate::ending::Property;
use crate::frontier::Frontier;
use crate::judge::Given;
use crate::memo::Memo;
use crate::path::Path;
use crate::variation::Variations;
use campaign::Campaign;
pub use campaign::{Covered, Plan};

/// Inputs that violate a property, and where.
#[derive(Clone, Debug)]
pub struct Violation {
    pub property: Property,
    pub at: (FunctionId, Point),
    pub inputs: Inputs,
    pub limits: Limits,
}

/// What to search.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    pub program: &'a Program,
    pub entry: &'a str,
    /// What is proved never to happen.
    pub safe: &'a FxHashSet<(FunctionId, InstId, FaultKind)>,
    /// A repair program's selector: global, element and value.
    pub selected: Option<(&'a str, u32, u32)>,
    /// What nobody has set may hold anything.
    pub unset_is_input: bool,
    /// What is watched besides what the language leaves undefined.
    pub watch: Option<&'a Watch>,
    /// Inputs to begin with: what is near them is looked at first. Violations that they pass
    /// over, others do, too.
    pub seed: Option<&'a (Inputs, Limits)>,
    /// Runs of the program in all.
    pub max_runs: u32,
    /// Instructions one run may execute.
    pub max_steps: u64,
    /// Instructions all runs within a bound may execute together, or one more run.
    pub max_all_steps: u64,
    /// Runs to go on with once what was wanted is found.
    pub runs_after: u32,
    /// Questions to the solver once what was wanted is found, and in all; hard ones count as
    /// many.
    pub questions_after: u64,
    pub max_questions: u64,
    /// So many questions of one place the solver gives up on, and its others are not asked:
    /// they cost most.
    pub max_unknown: u32,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    pub violations: Vec<Violation>,
    /// Inputs of runs that ended well.
    pub passing: Vec<(Inputs, Limits)>,
    /// Why there may be more paths than were run; `None` where all were.
    pub incomplete: Option<String>,
    /// What a run came to that is not modelled.
    pub unmodelled: Option<String>,
    pub n_runs: u32,
    pub n_checks: u64,
    /// Instructions executed in all.
    pub n_steps: u64,
    /// Of a campaign: inputs of runs that each violate other things than those before.
    pub courses: Vec<Rc<Inputs>>,
    /// Of a campaign: inputs that showed something for the first time.
    pub first: Vec<Rc<Inputs>>,
}

/// Runs after what was wanted is found: other inputs tell good edits from bad ones.
pub const RUNS_AFTER: u32 = 40;
pub const QUESTIONS_AFTER: u64 = 80;
/// Questions to the solver for more inputs that violate the same.
const QUESTIONS_FOR_MORE: u64 = 40;
/// Decisions of one run that are negated: a loop without end has any number.
const MAX_BRANCHES: usize = 400;
/// Runs that follow a variation that went further.
const RUNS_OF_VARIATION: u32 = 60;
/// Inputs that are varied.
const MAX_FAR: usize = 40;
/// Violations of one place that are kept.
const MAX_OF_ONE_PLACE: usize = 6;

/// Bounds on inputs, raised step by step.
pub const BOUNDS: [Limits; 3] = [
    Limits { arguments: 2, argument_bytes: 3, stdin_bytes: 6, elements: 4, outside: 16, ..NONE },
    Limits { arguments: 5, argument_bytes: 12, stdin_bytes: 24, elements: 16, outside: 64, ..NONE },
    Limits {
        arguments: 9,
        argument_bytes: 72,
        stdin_bytes: 96,
        elements: 64,
        outside: 256,
        ..NONE
    },
];

const NONE: Limits = Limits {
    arguments: 0,
    argument_bytes: 0,
    stdin_bytes: 0,
    elements: 0,
    outside: 0,
    unset_is_input: false,
    allocations_succeed: false,
    harness: None,
    passed: [None; MAX_PASSED],
    goes_on: false,
};

/// A path to be run once its conditions are found to hold for some inputs.
struct Candidate {
    /// The conditions of that run, of which so many come before this one.
    path: Rc<Path>,
    n_before: usize,
    negated: WordId,
    /// Inputs of the run it was derived from.
    parent: Rc<Inputs>,
    /// Conditions before this one were negated already.
    depth: usize,
    /// Values of pinned conditions that were run already, those of before apart.
    excluded: Vec<WordId>,
    excluded_before: Rc<Vec<WordId>>,
}

/// Inputs to run, and from where on their path is new.
#[derive(Default)]
struct Next {
    inputs: Rc<Inputs>,
    depth: usize,
    excluded: Vec<WordId>,
    /// The inputs they were made from.
    parent: Option<Rc<Inputs>>,
    /// Where the decision stands that these inputs turn around.
    turned: Option<Place>,
}

struct State<'a> {
    search: Search<'a>,
    limits: Limits,
    memo: &'a mut Memo,
    agenda: Agenda<Candidate>,
    frontier: Frontier,
    seen: FxHashSet<u64>,
    found: Explored,
    /// What the solver may have been asked until it is asked no more.
    max_effort: u64,
    /// Every violation, not one for each place.
    keeps_all: bool,
    took_limited: bool,
    /// Runs until what was wanted was found.
    found_after: Option<u32>,
    /// Inputs of runs that went further than all before, the last ones.
    far: Vec<Rc<Inputs>>,
    variations: Variations,
    n_varied: u32,
    /// Instructions that variations may still execute together.
    max_varied_steps: u64,
    /// What a campaign keeps besides.
    campaign: Option<Campaign>,
}

impl Search<'_> {
    /// Inputs of several paths to a violation at this place.
    pub fn run_all(
        &self,
        memo: &mut Memo,
        at: (FunctionId, Point),
        max: usize,
        cancel: &Cancel,
    ) -> Vec<Given> {
        let mut found = Vec::new();
        for limits in BOUNDS {
            let max_runs = self.max_runs.min(120);
            let search = Search { max_runs, questions_after: QUESTIONS_FOR_MORE, ..*self };
            let same = |violation: &Violation| violation.at == at;
            let stage = search.search_within(memo, limits, (max_runs, true), &same, cancel);
            let here = stage.found.violations.into_iter().filter(|v| v.at == at);
            found.extend(here.map(|v| Given::Found(v.inputs, v.limits)));
            if found.len() >= max {
                break;
            }
        }
        found
    }

    /// Raises the bounds until something in `wanted` is violated or the runs are used up.
    pub fn run(
        &self,
        memo: &mut Memo,
        wanted: &dyn Fn(&Violation) -> bool,
        cancel: &Cancel,
    ) -> Explored {
        let mut all = Explored::default();
        // Smaller inputs are among those of a larger bound.
        let holds_seed =
            |limits: &Limits| self.seed.is_none_or(|(_, own)| own.arguments <= limits.arguments);
        let bounds: Vec<Limits> = BOUNDS.into_iter().filter(holds_seed).collect();
        for (stage, limits) in bounds.iter().copied().enumerate() {
            let left = self.max_runs.saturating_sub(all.n_runs);
            let share = if stage + 1 == bounds.len() { left } else { left.div_ceil(3) };
            let Stage { found, took_limited } =
                self.search_within(memo, limits, (share, false), wanted, cancel);
            all.n_runs += found.n_runs;
            all.n_checks += found.n_checks;
            all.n_steps += found.n_steps;
            all.violations.extend(found.violations);
            all.passing.extend(found.passing);
            all.incomplete = found.incomplete;
            all.unmodelled = all.unmodelled.or(found.unmodelled);
            // Without inputs that could grow, larger bounds show nothing new.
            let is_whole = all.incomplete.is_none() && !took_limited;
            if is_whole || all.violations.iter().any(wanted) || cancel.is_cancelled() {
                break;
            }
        }
        all
    }

    /// All paths within these bounds, up to so many runs; every violation where `keeps_all`.
    fn search_within(
        &self,
        memo: &mut Memo,
        limits: Limits,
        (max_runs, keeps_all): (u32, bool),
        wanted: &dyn Fn(&Violation) -> bool,
        cancel: &Cancel,
    ) -> Stage {
        memo.begin();
        let passed = self.seed.map_or(limits.passed, |(_, own)| own.passed);
        let limits = Limits { unset_is_input: self.unset_is_input, passed, ..limits };
        let n_checks = memo.prover.n_checks;
        let mut state = State {
            search: *self,
            limits,
            memo,
            agenda: Agenda::default(),
            frontier: Frontier::default(),
            seen: FxHashSet::default(),
            found: Explored::default(),
            max_effort: 0,
            keeps_all,
            took_limited: false,
            found_after: None,
            far: Vec::new(),
            variations: Variations::new(0, Dictionary::default()),
            n_varied: 0,
            max_varied_steps: self.max_all_steps,
            campaign: None,
        };
        let seed = self.seed.map(|(inputs, _)| inputs.clone()).unwrap_or_default();
        let mut next = Some(Next { inputs: Rc::new(seed), ..Next::default() });
        let mut max_runs = max_runs;
        state.max_effort = state.memo.effort + self.max_questions;
        while let Some(first) = next {
            state.follow(first, max_runs, wanted, cancel);
            let is_over = cancel.is_cancelled() || state.found.violations.iter().any(wanted);
            // What is complete holds everything that could be varied.
            let is_over = is_over || state.found.incomplete.is_none() || self.selected.is_some();
            next = if is_over { None } else { state.vary() };
            max_runs = state.found.n_runs + RUNS_OF_VARIATION;
        }
        if state.n_varied > 0 {
            state.shorten(wanted);
        }
        state.found.n_checks = state.memo.prover.n_checks - n_checks;
        Stage { found: state.found, took_limited: state.took_limited }
    }
}

/// What one bound showed.
struct Stage {
    found: Explored,
    /// There are inputs whose size the bound limits.
    took_limited: bool,
}

impl State<'_> {
    /// Runs with these inputs, and then with others that turn decisions around.
    fn follow(
        &mut self,
        first: Next,
        max_runs: u32,
        wanted: &dyn Fn(&Violation) -> bool,
        cancel: &Cancel,
    ) {
        let search = self.search;
        let mut next = Some(first);
        while let Some(run) = next {
            if cancel.is_cancelled() {
                self.found.incomplete = Some("interrupted".to_owned());
                break;
            }
            if self.found.n_runs >= max_runs {
                self.found.incomplete = Some("all runs were used up".to_owned());
                break;
            }
            if self.found.n_steps > search.max_all_steps {
                let why = "the runs took too many steps in all".to_owned();
                self.found.incomplete = Some(why);
                break;
            }
            self.took_limited |= self.run_one(&run);
            if self.found.violations.iter().any(wanted) {
                let effort = self.memo.effort + search.questions_after;
                self.max_effort = self.max_effort.min(effort).max(self.memo.effort);
                let n_found = *self.found_after.get_or_insert(self.found.n_runs);
                if self.found.n_runs >= n_found + search.runs_after {
                    self.found.incomplete.get_or_insert("the search had found enough".to_owned());
                    break;
                }
            }
            next = self.next_inputs();
        }
    }
}
