//! Bounded model checking by running: all paths of a program up to bounds on its inputs and
//! loops, and the inputs that violate a property.
//!
//! A run records what had to hold for it to go its way. Each of these conditions, negated
//! together with those before it, asks the solver for inputs of another path. Conditions that
//! guard a property come first; among branches those that were asked least often, so that no
//! part of the program takes all the runs, then in turn those a loop has decided least and most
//! often, so that loops are unrolled step by step and yet far. What is found is run again and happens, or is no finding.

use std::collections::{BTreeMap, BTreeSet};

use base::Cancel;
use interpret::{Condition, FaultKind, Inputs, Limits, Machine, Shared, Stop, Why};
use logic::words::{Answer, UnknownId, Word, WordId, WordProver};
use program::{FunctionId, InstId, LocId, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::judge::Given;

/// What ended a run that violates a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    Fault(FaultKind),
    /// `assert`, or `abort`.
    Assertion,
}

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
    /// A repair program's selector: global, element and value.
    pub selected: Option<(&'a str, u32, u32)>,
    /// Runs of the program in all.
    pub max_runs: u32,
    /// Instructions one run may execute.
    pub max_steps: u64,
    /// Runs to go on with once what was wanted is found.
    pub runs_after: u32,
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
    pub n_runs: u32,
    pub n_checks: u64,
}

/// Runs after what was wanted is found: other inputs tell good edits from bad ones.
pub const RUNS_AFTER: u32 = 40;
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
    prefix: Vec<WordId>,
    negated: WordId,
    /// Inputs of the run it was derived from.
    parent: Inputs,
    /// Conditions before this one were negated already.
    depth: usize,
    /// Values of pinned conditions that were run already.
    excluded: Vec<WordId>,
    /// Where the condition stands.
    at: (FunctionId, InstId),
}

/// Inputs to run, and from where on their path is new.
struct Next {
    inputs: Inputs,
    depth: usize,
    excluded: Vec<WordId>,
}

/// What searches of one program share, be different edits of it switched on: words mean the
/// same in all of them, so that a question is asked once.
pub struct Memo {
    shared: Shared,
    prover: WordProver,
    resources: u32,
    supports: FxHashMap<WordId, std::rc::Rc<BTreeSet<UnknownId>>>,
    /// By the conditions asked for together.
    answers: FxHashMap<Vec<WordId>, Answer>,
}

impl Memo {
    /// With z3's resource units for one question.
    pub fn new(resources: u32) -> Self {
        Self {
            shared: Shared::default(),
            prover: WordProver::new(resources),
            resources,
            supports: FxHashMap::default(),
            answers: FxHashMap::default(),
        }
    }

    fn renew(&mut self) {
        let n_checks = self.prover.n_checks;
        self.prover = WordProver::new(self.resources);
        self.prover.n_checks = n_checks;
    }

    fn answer(&mut self, mut conditions: Vec<WordId>) -> Answer {
        conditions.sort_unstable();
        conditions.dedup();
        if let Some(known) = self.answers.get(&conditions) {
            return known.clone();
        }
        let mut answer = self.prover.check(&self.shared.words, &conditions);
        // A solver that has seen much gives up on what a new one decides.
        if matches!(answer, Answer::Unknown(_)) {
            self.renew();
            answer = self.prover.check(&self.shared.words, &conditions);
        }
        self.answers.insert(conditions, answer.clone());
        answer
    }
}

struct State<'a> {
    search: Search<'a>,
    limits: Limits,
    memo: &'a mut Memo,
    /// By how often the place was asked when it was queued, by urgency, then by age.
    queue: BTreeMap<(u32, usize, usize), Candidate>,
    /// Whether the next one is to be far from the start.
    is_deep: bool,
    /// How often each place was asked.
    asked: FxHashMap<(FunctionId, InstId), u32>,
    seen: FxHashSet<u64>,
    found: Explored,
    n_candidates: usize,
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
            let here = stage.violations.into_iter().filter(|v| v.at == at);
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
            let found = self.search_within(memo, limits, (share, false), wanted, cancel);
            all.n_runs += found.n_runs;
            all.n_checks += found.n_checks;
            all.violations.extend(found.violations);
            all.passing.extend(found.passing);
            all.incomplete = found.incomplete;
            // Without inputs that could grow, larger bounds show nothing new.
            let is_whole = all.incomplete.is_none() && !found.took_limited;
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
            asked: FxHashMap::default(),
            seen: FxHashSet::default(),
            found: Explored::default(),
            n_candidates: 0,
            keeps_all,
            unknown: FxHashMap::default(),
        };
        let mut next = Some(Next { inputs: Inputs::default(), depth: 0, excluded: Vec::new() });
        let mut took_limited = false;
        let mut found_after = None;
        while let Some(run) = next {
            if cancel.is_cancelled() {
                state.found.incomplete = Some("interrupted".to_owned());
                break;
            }
            if state.found.n_runs >= max_runs {
                state.found.incomplete = Some(format!("{max_runs} runs were not enough"));
                break;
            }
            took_limited |= state.run_one(&run);
            if state.found.violations.iter().any(wanted) {
                let n_found = *found_after.get_or_insert(state.found.n_runs);
                if state.found.n_runs >= n_found + self.runs_after {
                    state.found.incomplete.get_or_insert("the search had found enough".to_owned());
                    break;
                }
            }
            next = state.next_inputs();
        }
        state.found.n_checks = state.memo.prover.n_checks - n_checks;
        let Explored { violations, passing, incomplete, n_runs, n_checks } = state.found;
        Stage { violations, passing, incomplete, n_runs, n_checks, took_limited }
    }
}

/// What one bound showed.
struct Stage {
    violations: Vec<Violation>,
    passing: Vec<(Inputs, Limits)>,
    incomplete: Option<String>,
    n_runs: u32,
    n_checks: u64,
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
            Ending::Unclear(why) => drop(self.found.incomplete.get_or_insert(why)),
        }
        self.queue_branches(&path, run);
        path.iter().any(|condition| condition.why == Why::Limit)
    }

    fn queue_branches(&mut self, path: &[Condition], run: &Next) {
        let mut counts: FxHashMap<(FunctionId, InstId), usize> = FxHashMap::default();
        let prefix: Vec<WordId> = path.iter().map(|condition| condition.word).collect();
        for (index, condition) in path.iter().enumerate() {
            let count = counts.entry(condition.at).or_default();
            *count += 1;
            if index < run.depth || condition.why == Why::Limit {
                continue;
            }
            let negated = self.memo.shared.words.not(condition.word);
            let mut before = run.excluded.clone();
            before.extend_from_slice(&prefix[..index]);
            let key = hash(&before, negated);
            if !self.seen.insert(key) {
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
                prefix: before,
                negated,
                parent: run.inputs.clone(),
                depth: if is_pin { index } else { index + 1 },
                excluded,
                at: condition.at,
            };
            self.queue.insert((asked, urgency, self.n_candidates), candidate);
        }
    }

    /// One more than that, as zero is for what guards a property.
    fn n_asked(&self, at: (FunctionId, InstId)) -> u32 {
        1 + self.asked.get(&at).copied().unwrap_or(0)
    }

    /// In turn the one nearest to the start and the one furthest from it: what takes many turns
    /// of a loop is come by before all short ways are tried.
    fn next_candidate(&mut self) -> Option<Candidate> {
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
                self.queue.insert((now, key.1, key.2), candidate);
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
        let mut needed = (*self.support(candidate.negated)).clone();
        let mut left: Vec<(WordId, _)> =
            candidate.prefix.iter().map(|word| (*word, self.support(*word))).collect();
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

    /// The unknowns a word is made of.
    fn support(&mut self, word: WordId) -> std::rc::Rc<BTreeSet<UnknownId>> {
        if let Some(known) = self.memo.supports.get(&word) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![word];
        while let Some(word) = stack.pop() {
            if !seen.insert(word) {
                continue;
            }
            if let Some(known) = self.memo.supports.get(&word) {
                found.extend(known.iter().copied());
                continue;
            }
            match *self.memo.shared.words.word(word) {
                Word::Const(_) => {}
                Word::Unknown(unknown) => drop(found.insert(unknown)),
                Word::Binary(_, a, b) | Word::Concat(a, b) => stack.extend([a, b]),
                Word::Choice(a, b, c) => stack.extend([a, b, c]),
                Word::Extract(a, _) | Word::ZeroExtend(a) | Word::SignExtend(a) => stack.push(a),
            }
        }
        let found = std::rc::Rc::new(found);
        self.memo.supports.insert(word, found.clone());
        found
    }
}

/// How a run ended, as far as properties go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Fine,
    Violates(Property),
    /// And why.
    Unclear(String),
}

pub fn ending<T>(result: &Result<T, Stop>) -> Ending {
    match result {
        Ok(_) | Err(Stop::Exit(_)) => Ending::Fine,
        Err(Stop::Fault(kind)) => Ending::Violates(Property::Fault(*kind)),
        Err(Stop::Abort) => Ending::Violates(Property::Assertion),
        Err(stop) => Ending::Unclear(describe_stop(stop)),
    }
}

pub fn describe_stop(stop: &Stop) -> String {
    match stop {
        Stop::Unsupported(what) => format!("not modelled: {what}"),
        Stop::OutOfSteps => "a run took too many steps".to_owned(),
        Stop::Bound(what) => format!("a bound was reached: {what}"),
        other => format!("{other:?}"),
    }
}

fn hash(prefix: &[WordId], last: WordId) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    prefix.hash(&mut hasher);
    last.hash(&mut hasher);
    hasher.finish()
}

/// Where an instruction, or the end of its block, stands in the source.
pub fn loc_of(program: &Program, (function, inst): (FunctionId, InstId)) -> LocId {
    let Some(body) = program.functions.get(function).and_then(|f| f.body.as_ref()) else {
        return LocId::UNKNOWN;
    };
    // An instruction behind the end of a block stands for its terminator.
    let ends = |block: &&program::Block| block.end == inst && block.first <= inst;
    match body.blocks.iter().find(ends) {
        Some(block) if body.insts.get(inst).is_none_or(|i| i.loc != block.loc) => block.loc,
        _ => body.insts.get(inst).map_or(LocId::UNKNOWN, |inst| inst.loc),
    }
}
