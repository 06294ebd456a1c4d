//! One run of a search, the decisions of it that are turned around, and what the solver says of
//! them.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use interpret::{Condition, Inputs, Machine, Point, Stop, Why};
use logic::words::Answer;
use program::{FunctionId, InstId};
use rustc_hash::{FxHashMap, FxHasher};

use super::campaign::{ASKED, CONDITION};
use super::{Candidate, MAX_BRANCHES, MAX_FAR, MAX_OF_ONE_PLACE, Next, State, Violation};
use crate::agenda::Place;
use crate::ending::{Ending, Property, describe_stop, ending};
use crate::frontier::Reached;
use crate::memo::{Memo, Reply};
use crate::path::Path;

/// Values of one pinned condition that a campaign tries.
const MAX_PINNED: usize = 6;

impl State<'_> {
    /// Runs once and queues the paths that leave it; whether a bound limited its inputs.
    pub(super) fn run_one(&mut self, run: &Next) -> bool {
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
        machine.watch(search.watch);
        if let Some((global, index, value)) = search.selected
            && let Err(stop) = machine.set_selector(global, index, value, false)
        {
            self.found.incomplete = Some(describe_stop(&stop));
        }
        machine.features = self.campaign.as_mut().and_then(|campaign| campaign.features.take());
        let n_words = Memo::n_words(&machine);
        let result = machine.run_unknown(search.entry, inputs, &self.limits, true);
        let n_words = Memo::n_words(&machine).saturating_sub(n_words);
        let path = machine.path().to_vec();
        let stopped_at = machine.stopped_at;
        for note in machine.notes() {
            self.keep_violation(Property::Fault(note.kind), Some(note.at), inputs);
        }
        self.keep_course(&machine, &result, inputs);
        let is_limited = machine.is_limited();
        let reached = self.frontier.reached(&machine.covered, &machine.in_one_call);
        if reached == Reached::Further {
            self.far.push(inputs.clone());
            if self.far.len() > MAX_FAR {
                self.far.remove(0);
            }
        }
        if let Some(place) = run.turned {
            self.agenda.learn(place, reached == Reached::Further);
        }
        let n_steps = search.max_steps - machine.steps;
        self.found.n_steps += n_steps;
        if let Some(campaign) = &mut self.campaign {
            let n_first = campaign.learn(&mut machine, inputs, (n_steps, n_words), true);
            self.learn_records(n_first);
        }
        if let Some(lost) = machine.lost() {
            self.found.incomplete.get_or_insert(format!("{lost} depends on inputs"));
        }
        if let Some(what) = machine.guessed() {
            self.found.unmodelled.get_or_insert(what);
        }
        self.memo.shared = machine.into_shared();
        match ending(&result) {
            Ending::Fine if self.campaign.is_some() => {}
            Ending::Fine => self.found.passing.push(((**inputs).clone(), self.limits)),
            Ending::Violates(property) => self.keep_violation(property, stopped_at, inputs),
            Ending::Unclear(why) => {
                if let Err(Stop::Unsupported(what)) = &result {
                    self.found.unmodelled.get_or_insert(what.clone());
                }
                self.found.incomplete.get_or_insert(why);
            }
        }
        self.charge(CONDITION * path.len() as u64);
        self.queue_branches(&path, run, reached >= Reached::AsFar);
        if result == Err(Stop::EndOfInput) {
            let n = self.limits.outside;
            let why = format!("a run asks for more than {n} values from outside");
            self.found.incomplete.get_or_insert(why);
            return true;
        }
        is_limited
    }

    /// Keeps the first of each place.
    pub(super) fn keep_violation(
        &mut self,
        property: Property,
        at: Option<(FunctionId, Point)>,
        inputs: &Inputs,
    ) {
        let at = at.unwrap_or((FunctionId(0), Point::Inst(InstId(0))));
        let same = |v: &&Violation| v.at == at && v.property == property;
        let known = self.found.violations.iter().filter(same).count();
        let most = if self.campaign.is_some() { 1 } else { MAX_OF_ONE_PLACE };
        if known < most || self.keeps_all {
            let (inputs, limits) = (inputs.clone(), self.limits);
            self.found.violations.push(Violation { property, at, inputs, limits });
        }
    }

    fn queue_branches(&mut self, path: &[Condition], run: &Next, is_far: bool) {
        let mut counts: FxHashMap<(FunctionId, InstId), usize> = FxHashMap::default();
        let words = Rc::new(Path::new(path.iter().map(|condition| condition.word).collect()));
        let before = Rc::new(run.excluded.clone());
        let mut hasher = FxHasher::default();
        run.excluded.hash(&mut hasher);
        let is_campaign = self.campaign.is_some();
        let mut totals: FxHashMap<(FunctionId, InstId), usize> = FxHashMap::default();
        if is_campaign {
            path.iter().for_each(|condition| *totals.entry(condition.at).or_default() += 1);
        } else if path.len() > MAX_BRANCHES {
            let why = format!("a run decides more than {MAX_BRANCHES} times");
            self.found.incomplete.get_or_insert(why);
        }
        for (index, condition) in path.iter().enumerate() {
            let steps = self.steps_from(condition);
            // A long switch comes to what is asked for late.
            if index >= MAX_BRANCHES && steps.is_none() && !is_campaign {
                condition.word.hash(&mut hasher);
                continue;
            }
            let count = counts.entry(condition.at).or_default();
            *count += 1;
            let before_this = hasher.clone();
            condition.word.hash(&mut hasher);
            let total = totals.get(&condition.at).copied().unwrap_or(0);
            if is_campaign && !is_among_some(*count, total) {
                continue;
            }
            if index < run.depth || condition.why == Why::Limit || self.is_safe(condition) {
                continue;
            }
            let negated = self.memo.shared.words.not(condition.word);
            let mut asked_for = before_this;
            negated.hash(&mut asked_for);
            if !self.seen.insert(asked_for.finish()) {
                continue;
            }
            // Of a pinned value there may be more than two.
            let is_pin = condition.why == Why::Pin;
            if is_pin && is_campaign && run.excluded.len() >= MAX_PINNED {
                continue;
            }
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
            };
            match condition.why {
                Why::Branch if steps.is_some() => {
                    self.agenda.push_nearer(condition.at, steps.unwrap_or(0), candidate);
                }
                Why::Check(_) => self.agenda.push_check(condition.at, candidate),
                _ => self.agenda.push(condition.at, *count, is_far, candidate),
            }
        }
    }

    /// How far from what is asked for the run would be if this condition did not hold.
    fn steps_from(&self, condition: &Condition) -> Option<u32> {
        let block = condition.otherwise?;
        self.memo.distances.get(&(condition.at.0, block)).copied()
    }

    fn is_safe(&self, condition: &Condition) -> bool {
        let Why::Check(kind) = condition.why else { return false };
        let (function, inst) = condition.at;
        self.search.safe.contains(&(function, inst, kind))
    }

    /// Inputs of the most urgent path that has any.
    pub(super) fn next_inputs(&mut self) -> Option<Next> {
        self.inputs_of(|state| state.agenda.pop())
    }

    /// Inputs of the first of these candidates that has any.
    pub(super) fn inputs_of(
        &mut self,
        mut pop: impl FnMut(&mut Self) -> Option<(Place, Candidate)>,
    ) -> Option<Next> {
        while let Some((place, candidate)) = pop(self) {
            if self.memo.effort >= self.max_effort {
                let why = "the solver was asked enough".to_owned();
                self.found.incomplete.get_or_insert(why);
                return None;
            }
            if self.memo.n_given_up(place) >= self.search.max_unknown {
                continue;
            }
            let Candidate { path, n_before, excluded_before, negated, .. } = &candidate;
            let (relevant, needed) = path.relevant(self.memo, *n_before, excluded_before, *negated);
            self.charge(ASKED * (1 + relevant.len() as u64));
            let before = self.memo.effort;
            let Reply { answer, texts } = self.memo.reply(relevant);
            self.agenda.pay(place, self.memo.effort - before);
            match answer {
                Answer::Sat(mut values) => {
                    // Of other unknowns the solver was not asked.
                    values.retain(|unknown| needed.contains(&unknown));
                    let shared = &self.memo.shared;
                    let mut inputs = shared.inputs_of(&values, &candidate.parent);
                    shared.replace(&mut inputs, &texts);
                    let inputs = Rc::new(inputs);
                    let Candidate { mut depth, mut excluded, parent, .. } = candidate;
                    // What was moved is decided anew.
                    if !texts.is_empty() {
                        (depth, excluded) = (0, Vec::new());
                    }
                    let (parent, turned) = (Some(parent), Some(place));
                    return Some(Next { inputs, depth, excluded, parent, turned });
                }
                Answer::Unsat => {}
                Answer::Unknown(why) => {
                    self.memo.give_up(place);
                    let why = format!("the solver gave up on a path ({why})");
                    self.found.incomplete.get_or_insert(why);
                }
            }
        }
        None
    }
}

/// Of a decision that a run took many times, the first ones, the last ones and some between.
fn is_among_some(count: usize, total: usize) -> bool {
    count <= 3 || total - count < 3 || count.is_power_of_two()
}
