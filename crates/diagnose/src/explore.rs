//! Bounded model checking by running: all paths of a program up to bounds on its inputs and
//! loops, and the inputs that violate a property.
//!
//! A run records what had to hold for it to go its way. Each of these conditions, negated
//! together with those before it, asks the solver for inputs of another path. Conditions that
//! guard a property come first; among branches those that were asked least often, so that no
//! part of the program takes all the runs, then in turn those a loop has decided least and most
//! often, so that loops are unrolled step by step and yet far. What is found is run again and happens, or is no finding.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use base::Cancel;
use interpret::{Condition, FaultKind, Inputs, Limits, Machine, Stop, Why};
use logic::words::{Answer, UnknownId, WordId};
use program::{BlockId, FunctionId, InstId, Program};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::ending::{Ending, Property, describe_stop, ending};
use crate::judge::Given;
use crate::memo::Memo;

/// Inputs that violate a property, and where.
#[derive(Clone, Debug)]
pub struct Violation {
    pub property: Property,
    pub at: (FunctionId, InstId),
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
    /// Runs of the program in all.
    pub max_runs: u32,
    /// Instructions one run may execute.
    pub max_steps: u64,
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
}

/// Runs after what was wanted is found: other inputs tell good edits from bad ones.
pub const RUNS_AFTER: u32 = 40;
pub const QUESTIONS_AFTER: u64 = 80;
/// Decisions of one run that are negated: a loop without end has any number.
const MAX_BRANCHES: usize = 400;
/// All runs within a bound together execute no more than so many of the longest.
const LONG_RUNS: u64 = 3;
/// Violations of one place that are kept.
const MAX_OF_ONE_PLACE: usize = 6;

/// Bounds on inputs, raised step by step.
pub const BOUNDS: [Limits; 3] = [
    Limits { arguments: 2, argument_bytes: 3, stdin_bytes: 6, elements: 4 },
    Limits { arguments: 5, argument_bytes: 12, stdin_bytes: 24, elements: 16 },
    Limits { arguments: 9, argument_bytes: 72, stdin_bytes: 96, elements: 64 },
];

/// A path to be run once its conditions are found to hold for some inputs.
struct Candidate {
    /// The conditions of that run, of which so many come before this one.
    path: Rc<Vec<WordId>>,
    n_before: usize,
    negated: WordId,
    /// Inputs of the run it was derived from.
    parent: Inputs,
    /// Conditions before this one were negated already.
    depth: usize,
    /// Values of pinned conditions that were run already, those of before apart.
    excluded: Vec<WordId>,
    excluded_before: Rc<Vec<WordId>>,
    /// Where the condition stands.
    at: (FunctionId, InstId),
    /// The run it was derived from went where none had been, or more often.
    is_fresh: bool,
}

/// Inputs to run, and from where on their path is new.
struct Next {
    inputs: Inputs,
    depth: usize,
    excluded: Vec<WordId>,
}

struct State<'a> {
    search: Search<'a>,
    limits: Limits,
    memo: &'a mut Memo,
    /// By how often the place was asked when it was queued, by urgency, then by age.
    queue: BTreeMap<(u32, usize, usize), Candidate>,
    /// Whether the next one is to be far from the start.
    is_deep: bool,
    /// Candidates of runs that went where none had been before, and whether it is their turn.
    fresh: VecDeque<(u32, usize, usize)>,
    is_freshs_turn: bool,
    /// How often a run came to each block at most, roughly.
    most: FxHashMap<(FunctionId, BlockId), u32>,
    /// How often each place was asked.
    asked: FxHashMap<(FunctionId, InstId), u32>,
    seen: FxHashSet<u64>,
    found: Explored,
    n_candidates: usize,
    /// Instructions executed in all.
    n_steps: u64,
    /// What the solver may have been asked until it is asked no more.
    max_effort: u64,
    /// Every violation, not one for each place.
    keeps_all: bool,
    /// Questions the solver gave up on, by place.
    unknown: FxHashMap<(FunctionId, InstId), u32>,
}

impl Search<'_> {
    /// Inputs of several paths to a violation at this place.
    pub fn run_all(
        &self,
        memo: &mut Memo,
        at: (FunctionId, InstId),
        max: usize,
        cancel: &Cancel,
    ) -> Vec<Given> {
        let mut found = Vec::new();
        for limits in BOUNDS {
            let search = Search { max_runs: self.max_runs.min(120), ..*self };
            let never = |_: &Violation| false;
            let stage = search.search_within(memo, limits, (search.max_runs, true), &never, cancel);
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
        for (stage, limits) in BOUNDS.into_iter().enumerate() {
            let left = self.max_runs.saturating_sub(all.n_runs);
            let share = if stage + 1 == BOUNDS.len() { left } else { left.div_ceil(3) };
            let Stage { found, took_limited } =
                self.search_within(memo, limits, (share, false), wanted, cancel);
            all.n_runs += found.n_runs;
            all.n_checks += found.n_checks;
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
        memo.renew();
        let n_checks = memo.prover.n_checks;
        let mut state = State {
            search: *self,
            limits,
            memo,
            queue: BTreeMap::new(),
            is_deep: false,
            fresh: VecDeque::new(),
            is_freshs_turn: false,
            most: FxHashMap::default(),
            asked: FxHashMap::default(),
            seen: FxHashSet::default(),
            found: Explored::default(),
            n_candidates: 0,
            n_steps: 0,
            max_effort: 0,
            keeps_all,
            unknown: FxHashMap::default(),
        };
        let mut next = Some(Next { inputs: Inputs::default(), depth: 0, excluded: Vec::new() });
        let mut took_limited = false;
        let mut found_after = None;
        state.max_effort = state.memo.effort + self.max_questions;
        while let Some(run) = next {
            if cancel.is_cancelled() {
                state.found.incomplete = Some("interrupted".to_owned());
                break;
            }
            if state.found.n_runs >= max_runs {
                state.found.incomplete = Some(format!("{max_runs} runs were not enough"));
                break;
            }
            if state.n_steps > self.max_steps * LONG_RUNS {
                let why = "runs that do not end took too many steps".to_owned();
                state.found.incomplete = Some(why);
                break;
            }
            took_limited |= state.run_one(&run);
            if state.found.violations.iter().any(wanted) {
                let effort = state.memo.effort + self.questions_after;
                state.max_effort = state.max_effort.min(effort).max(state.memo.effort);
                let n_found = *found_after.get_or_insert(state.found.n_runs);
                if state.found.n_runs >= n_found + self.runs_after {
                    state.found.incomplete.get_or_insert("the search had found enough".to_owned());
                    break;
                }
            }
            next = state.next_inputs();
        }
        state.found.n_checks = state.memo.prover.n_checks - n_checks;
        Stage { found: state.found, took_limited }
    }
}

/// What one bound showed.
struct Stage {
    found: Explored,
    /// There are inputs whose size the bound limits.
    took_limited: bool,
}

impl State<'_> {
    /// Runs once and queues the paths that leave it; whether a bound limited its inputs.
    fn run_one(&mut self, run: &Next) -> bool {
        let inputs = &run.inputs;
        self.found.n_runs += 1;
        let search = self.search;
        let mut machine = match Machine::new(search.program, search.max_steps) {
            Ok(machine) => machine,
            Err(stop) => {
                self.found.incomplete = Some(describe_stop(&stop));
                return false;
            }
        };
        machine.adopt(std::mem::take(&mut self.memo.shared));
        if let Some((global, index, value)) = search.selected
            && let Err(stop) = machine.set_selector(global, index, value, false)
        {
            self.found.incomplete = Some(describe_stop(&stop));
        }
        let result = machine.run_unknown(search.entry, inputs, &self.limits, true);
        let path = machine.path().to_vec();
        let stopped_at = machine.stopped_at;
        let is_fresh = self.is_fresh(&machine.covered);
        self.n_steps += search.max_steps - machine.steps;
        if let Some(lost) = machine.lost() {
            self.found.incomplete.get_or_insert(format!("{lost} depends on inputs"));
        }
        self.memo.shared = machine.into_shared();
        match ending(&result) {
            Ending::Fine => self.found.passing.push((inputs.clone(), self.limits)),
            Ending::Violates(property) => {
                let at = stopped_at.unwrap_or((FunctionId(0), InstId(0)));
                let known = self.found.violations.iter().filter(|v| v.at == at).count();
                if known < MAX_OF_ONE_PLACE || self.keeps_all {
                    let (inputs, limits) = (inputs.clone(), self.limits);
                    self.found.violations.push(Violation { property, at, inputs, limits });
                }
            }
            Ending::Unclear(why) => {
                if let Err(Stop::Unsupported(what)) = &result {
                    self.found.unmodelled.get_or_insert(what.clone());
                }
                self.found.incomplete.get_or_insert(why);
            }
        }
        self.queue_branches(&path, run, is_fresh);
        path.iter().any(|condition| condition.why == Why::Limit)
    }

    /// Whether a run came to some block for the first time, or about half as often again as any
    /// before.
    fn is_fresh(&mut self, counts: &FxHashMap<(FunctionId, BlockId), u32>) -> bool {
        let mut is_fresh = false;
        for (block, count) in counts {
            let most = self.most.entry(*block).or_default();
            if *count > *most + *most / 3 {
                *most = *count;
                is_fresh = true;
            }
        }
        is_fresh
    }

    fn queue_branches(&mut self, path: &[Condition], run: &Next, is_fresh: bool) {
        let mut counts: FxHashMap<(FunctionId, InstId), usize> = FxHashMap::default();
        let words = Rc::new(path.iter().map(|condition| condition.word).collect::<Vec<_>>());
        let before = Rc::new(run.excluded.clone());
        let mut hasher = FxHasher::default();
        run.excluded.hash(&mut hasher);
        if path.len() > MAX_BRANCHES {
            let why = format!("a run decides more than {MAX_BRANCHES} times");
            self.found.incomplete.get_or_insert(why);
        }
        for (index, condition) in path.iter().enumerate().take(MAX_BRANCHES) {
            let count = counts.entry(condition.at).or_default();
            *count += 1;
            let before_this = hasher.clone();
            condition.word.hash(&mut hasher);
            if index < run.depth || condition.why == Why::Limit || self.is_safe(condition) {
                continue;
            }
            let negated = self.memo.shared.words.not(condition.word);
            let mut asked_for = before_this;
            negated.hash(&mut asked_for);
            if !self.seen.insert(asked_for.finish()) {
                continue;
            }
            let is_check = matches!(condition.why, Why::Check(_));
            let asked = if is_check { 0 } else { self.n_asked(condition.at) };
            let urgency = if is_check { 0 } else { *count };
            self.n_candidates += 1;
            // Of a pinned value there may be more than two.
            let is_pin = condition.why == Why::Pin;
            let mut excluded = run.excluded.clone();
            excluded.extend(is_pin.then_some(negated));
            let candidate = Candidate {
                path: words.clone(),
                n_before: index,
                negated,
                parent: run.inputs.clone(),
                depth: if is_pin { index } else { index + 1 },
                excluded,
                excluded_before: before.clone(),
                at: condition.at,
                is_fresh,
            };
            let key = (asked, urgency, self.n_candidates);
            self.queue.insert(key, candidate);
            if is_fresh && !is_check {
                self.fresh.push_back(key);
            }
        }
    }

    fn is_safe(&self, condition: &Condition) -> bool {
        let Why::Check(kind) = condition.why else { return false };
        let (function, inst) = condition.at;
        self.search.safe.contains(&(function, inst, kind))
    }

    /// One more than that, as zero is for what guards a property.
    fn n_asked(&self, at: (FunctionId, InstId)) -> u32 {
        1 + self.asked.get(&at).copied().unwrap_or(0)
    }

    /// In turn the one nearest to the start and the one furthest from it: what takes many turns
    /// of a loop is come by before all short ways are tried.
    fn next_candidate(&mut self) -> Option<Candidate> {
        self.is_freshs_turn = !self.is_freshs_turn;
        let is_check_left = self.queue.first_key_value().is_some_and(|(key, _)| key.0 == 0);
        while self.is_freshs_turn && !is_check_left {
            // The latest went furthest.
            let Some(key) = self.fresh.pop_back() else { break };
            if let Some(candidate) = self.queue.remove(&key) {
                *self.asked.entry(candidate.at).or_default() += 1;
                return Some(candidate);
            }
        }
        loop {
            let (&nearest, _) = self.queue.first_key_value()?;
            let least = nearest.0;
            let furthest = self.queue.range(nearest..(least + 1, 0, 0)).next_back();
            let key = match furthest {
                Some((&furthest, _)) if self.is_deep && least > 0 => furthest,
                _ => nearest,
            };
            let candidate = self.queue.remove(&key)?;
            let now = self.n_asked(candidate.at);
            if least > 0 && least < now {
                let moved = (now, key.1, key.2);
                if candidate.is_fresh
                    && let Some(fresh) = self.fresh.iter_mut().find(|fresh| **fresh == key)
                {
                    *fresh = moved;
                }
                self.queue.insert(moved, candidate);
                continue;
            }
            if least > 0 {
                *self.asked.entry(candidate.at).or_default() += 1;
                self.is_deep = !self.is_deep;
            }
            return Some(candidate);
        }
    }

    /// Inputs of the most urgent path that has any.
    fn next_inputs(&mut self) -> Option<Next> {
        while let Some(candidate) = self.next_candidate() {
            if self.memo.effort >= self.max_effort {
                let why = "the solver was asked enough".to_owned();
                self.found.incomplete.get_or_insert(why);
                return None;
            }
            if self.unknown.get(&candidate.at).is_some_and(|n| *n >= self.search.max_unknown) {
                continue;
            }
            let (relevant, needed) = self.relevant(&candidate);
            match self.memo.answer(relevant) {
                Answer::Sat(mut values) => {
                    // Of other unknowns the solver was not asked.
                    values.retain(|unknown| needed.contains(&unknown));
                    let inputs = self.memo.shared.inputs_of(&values, &candidate.parent);
                    let Candidate { depth, excluded, .. } = candidate;
                    return Some(Next { inputs, depth, excluded });
                }
                Answer::Unsat => {}
                Answer::Unknown(why) => {
                    *self.unknown.entry(candidate.at).or_default() += 1;
                    let why = format!("the solver gave up on a path ({why})");
                    self.found.incomplete.get_or_insert(why);
                }
            }
        }
        None
    }

    /// The negated condition and those that share unknowns with it, and these unknowns.
    fn relevant(&mut self, candidate: &Candidate) -> (Vec<WordId>, BTreeSet<UnknownId>) {
        let mut needed = (*self.memo.support(candidate.negated)).clone();
        let before = candidate.excluded_before.iter().chain(&candidate.path[..candidate.n_before]);
        let mut left: Vec<(WordId, _)> =
            before.map(|word| (*word, self.memo.support(*word))).collect();
        let mut relevant = vec![candidate.negated];
        loop {
            let (touching, rest): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|(_, support)| !support.is_disjoint(&needed));
            left = rest;
            if touching.is_empty() {
                return (relevant, needed);
            }
            for (word, support) in touching {
                needed.extend(support.iter().copied());
                relevant.push(word);
            }
        }
    }
}
