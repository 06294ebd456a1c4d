//! A campaign: all faults of a program, within an amount of work.
//!
//! Six ways to come to new inputs take turns in slices of measured work: conditions that guard
//! properties are negated, decisions are turned around, inputs are varied, parts of them are
//! repeated to the sizes the program has, and each two that show something of their own are read
//! one behind the other. What brought something new gets more slices. Inputs
//! are tried with values alone, and run with words beside them where they showed something new.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use base::Cancel;
use interpret::{Features, Input, Inputs, Limits, Machine, Point, Stop, Stream};
use program::{BlockId, FunctionId, InstId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::{Explored, Next, Search, State, Violation};
use crate::agenda::Agenda;
use crate::corpus::{Corpus, Entry};
use crate::dictionary::Dictionary;
use crate::ending::{Property, violations};
use crate::frontier::Frontier;
use crate::memo::Memo;
use crate::streams::write;
use crate::variation::{Variations, padded};

/// Blocks that were reached.
pub type Covered = FxHashSet<(FunctionId, BlockId)>;

/// Whether violations that were found are all that is wanted.
type IsEnough<'a> = &'a dyn Fn(&[Violation]) -> bool;

/// How much a campaign may do, and with what.
pub struct Plan<'a> {
    pub limits: Limits,
    /// Work in all. An instruction run with values alone is one unit.
    pub work: u64,
    pub seed: u64,
    pub dictionary: Dictionary,
    /// Whether what was found so far is all that is wanted.
    pub is_enough: Option<IsEnough<'a>>,
    /// Inputs to begin with, besides words of the program.
    pub seeds: Vec<Inputs>,
    /// What was found before, and is not made shorter once more.
    pub known: Vec<((FunctionId, Point), Property)>,
}

/// Units that setting up a run costs.
const RUN: u64 = 1500;
/// Units of an instruction run with words beside its values, and of a word that is made.
const STEP_WITH_WORDS: u64 = 2;
const WORD: u64 = 8;
/// Units of an input that is set, and of a word looked through for what it is made of.
const INPUT: u64 = 8;
const VISITED: u64 = 1;
/// Words looked through for pointers that make a unit.
const SCANNED: u64 = 8;
/// Units of a question to the solver, as [`Memo`] counts them.
const QUESTION: u64 = 100_000;
/// Units of a condition of a path, for sorting out what of it is asked for, and of one that is
/// part of a question.
pub(super) const CONDITION: u64 = 15;
pub(super) const ASKED: u64 = 60;
/// Slices a campaign has.
const SLICES: u64 = 240;
/// Each way has at least one of so many slices.
const FAIR: u64 = 12;
/// Inputs that cost more are not run with words.
const MAX_COST_WITH_WORDS: u64 = 30_000;
/// Calls of a run that are let fail, the first ones.
const MAX_FAILURES: usize = 64;
/// Variations of a turned decision that are tried.
const N_CONTINUED: usize = 3;
/// Calls of one place that are let fail before chance tries more, and how often each of them.
const CALLS_OF_ONE_PLACE: usize = 8;
const FAILURES_OF_ONE_CALL: u32 = 2;
/// Runs that violate different things, which are kept.
const MAX_COURSES: usize = 96;
/// Of runs that violate the same.
const MAX_ALIKE: u32 = 3;
/// Inputs to begin with.
const MAX_SEEDS: usize = 48;

/// What a campaign keeps besides what every search does.
pub(super) struct Campaign {
    pub corpus: Corpus,
    pub features: Option<Features>,
    pub covered: Covered,
    /// Units done.
    pub work: u64,
    /// What was new so far, weighed.
    pub gain: u64,
    /// Calls that could fail where no call has failed so often yet, with the inputs that come
    /// there.
    failing: VecDeque<(Rc<Inputs>, Input)>,
    n_failing: FxHashMap<(FunctionId, InstId), FxHashMap<Input, u32>>,
    /// What runs violated together, and how many that did are kept.
    pub violated: FxHashMap<u64, u32>,
}

impl Campaign {
    /// After a run: what it showed, and what it cost.
    pub fn learn(
        &mut self,
        machine: &mut Machine,
        inputs: &Rc<Inputs>,
        (n_steps, n_words): (u64, u64),
        has_words: bool,
    ) -> u32 {
        let factor = if has_words { STEP_WITH_WORDS } else { 1 };
        let around = INPUT * inputs.0.len() as u64 + machine.n_scanned() / SCANNED;
        self.work += RUN + factor * n_steps + WORD * n_words + around;
        let Some(mut features) = machine.features.take() else { return 0 };
        let novelty = self.corpus.learn(inputs, &features, n_steps);
        self.gain += novelty.gain();
        if novelty.first > 0 {
            self.covered.extend(machine.covered.keys());
        }
        if novelty.is_any()
            && let Some(entry) = self.corpus.entries.last_mut()
        {
            entry.was_followed = has_words;
            entry.streams = machine.streams();
            let failures = machine.failures().iter();
            entry.failures =
                failures.clone().take(MAX_FAILURES).map(|(input, ..)| *input).collect();
            for (input, _, at) in failures.filter(|(input, ..)| inputs.get(*input) == 0) {
                let tried = self.n_failing.entry(*at).or_default();
                if tried.len() < CALLS_OF_ONE_PLACE || tried.contains_key(input) {
                    let n_tried = tried.entry(*input).or_default();
                    if *n_tried < FAILURES_OF_ONE_CALL {
                        *n_tried += 1;
                        self.failing.push_back((inputs.clone(), *input));
                    }
                }
            }
        }
        features.clear();
        self.features = Some(features);
        novelty.first
    }
}

/// A way to come to new inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Check,
    Turn,
    Vary,
    Stretch,
    Join,
    Compose,
}

const WAYS: [Way; 6] = [Way::Check, Way::Turn, Way::Vary, Way::Stretch, Way::Join, Way::Compose];

/// What the slices of a way cost and brought; older ones count less.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    work: u64,
    gain: u64,
    /// The slice it had last.
    last: u64,
    /// It has nothing to do until something new is found.
    is_idle: bool,
}

impl Search<'_> {
    /// Searches for all violations; says which blocks were reached, too.
    pub fn campaign(
        &self,
        memo: &mut Memo,
        plan: Plan<'_>,
        cancel: &Cancel,
    ) -> (Explored, Covered, u64) {
        memo.begin();
        let n_checks = memo.prover.n_checks;
        let campaign = Campaign {
            corpus: Corpus::default(),
            features: Some(Features::default()),
            covered: Covered::default(),
            work: 0,
            gain: 0,
            failing: VecDeque::new(),
            n_failing: FxHashMap::default(),
            violated: FxHashMap::default(),
        };
        let mut seeds =
            if plan.seeds.is_empty() { seeds(&plan.dictionary, &plan.limits) } else { Vec::new() };
        seeds.extend(plan.seeds);
        let mut state = State {
            search: *self,
            limits: plan.limits,
            memo,
            agenda: Agenda::default(),
            frontier: Frontier::default(),
            seen: FxHashSet::default(),
            found: Explored::default(),
            max_effort: u64::MAX,
            keeps_all: false,
            took_limited: false,
            found_after: None,
            far: Vec::new(),
            variations: Variations::new(plan.seed, plan.dictionary),
            n_varied: 0,
            max_varied_steps: self.max_all_steps,
            campaign: Some(campaign),
        };
        state.run_campaign((plan.work, plan.is_enough), seeds, cancel);
        state.shorten(&|found| !plan.known.contains(&(found.at, found.property)));
        state.found.n_checks = state.memo.prover.n_checks - n_checks;
        let work = state.work();
        let campaign = state.campaign.take();
        if let Some(campaign) = &campaign {
            let first = campaign.corpus.entries.iter().filter(|entry| entry.is_first);
            state.found.first = first.map(|entry| entry.inputs.clone()).collect();
        }
        (state.found, campaign.map(|c| c.covered).unwrap_or_default(), work)
    }
}

impl State<'_> {
    fn run_campaign(
        &mut self,
        (most, is_enough): (u64, Option<IsEnough>),
        seeds: Vec<Inputs>,
        cancel: &Cancel,
    ) {
        self.took_limited |= self.run_one(&Next::default());
        for inputs in seeds {
            self.try_inputs(inputs);
        }
        let mut accounts = [Account::default(); WAYS.len()];
        let slice = most / SLICES;
        for number in 1.. {
            if cancel.is_cancelled() {
                self.found.incomplete = Some("interrupted".to_owned());
                return;
            }
            if self.work() >= most {
                self.found.incomplete.get_or_insert("the work was used up".to_owned());
                return;
            }
            if is_enough.is_some_and(|is_enough| is_enough(&self.found.violations)) {
                self.found.incomplete.get_or_insert("all that was wanted was found".to_owned());
                return;
            }
            let (work, gain) = (self.work(), self.gain());
            let way = choose(&accounts, number);
            let is_busy = self.run_slice(WAYS[way], (work + slice).min(most));
            let is_news = self.gain() > gain;
            let account = &mut accounts[way];
            account.work = account.work - account.work / 4 + (self.work() - work);
            account.gain = account.gain - account.gain / 4 + (self.gain() - gain);
            account.last = number;
            account.is_idle = !is_busy;
            if is_news {
                accounts.iter_mut().for_each(|account| account.is_idle = false);
            }
            // Nothing is left to be turned around, and nothing was passed over.
            if accounts[0].is_idle
                && accounts[1].is_idle
                && self.found.incomplete.is_none()
                && !self.took_limited
            {
                return;
            }
        }
    }

    /// More work was done.
    pub(super) fn charge(&mut self, work: u64) {
        if let Some(campaign) = &mut self.campaign {
            campaign.work += work;
        }
    }

    fn work(&self) -> u64 {
        let own = self.campaign.as_ref().map_or(0, |campaign| campaign.work);
        own + QUESTION * self.memo.effort + VISITED * self.memo.n_visited
    }

    fn gain(&self) -> u64 {
        let own = self.campaign.as_ref().map_or(0, |campaign| campaign.gain);
        own + 30 * self.found.violations.len() as u64
    }

    /// Works one way until this amount is reached; whether there was something to do.
    fn run_slice(&mut self, way: Way, until: u64) -> bool {
        let mut n_turns = 0u32;
        while self.work() < until {
            let is_done = match way {
                Way::Check => self.turn(|state| state.agenda.pop_check(), until),
                Way::Turn => {
                    // What varying found has decisions that no run with words has come to.
                    n_turns += 1;
                    (n_turns % 4 == 1 && self.follow_entry(true))
                        || (n_turns % 4 == 2 && self.fail_once())
                        || self.turn(|state| state.agenda.pop_decision(), until)
                        || self.follow_entry(false)
                        || self.fail_once()
                }
                Way::Vary => self.vary_once(Variations::next),
                Way::Stretch => self.vary_once(Variations::stretched),
                Way::Join => self.join_once(),
                Way::Compose => self.vary_once(Variations::composed),
            };
            if !is_done {
                return false;
            }
        }
        true
    }

    fn turn(
        &mut self,
        mut pop: impl FnMut(&mut Self) -> Option<(crate::agenda::Place, super::Candidate)>,
        until: u64,
    ) -> bool {
        let mut is_over = false;
        let next = self.inputs_of(|state| {
            if state.work() >= until {
                is_over = true;
                return None;
            }
            pop(state)
        });
        match next {
            Some(next) => {
                let gain = self.gain();
                self.took_limited |= self.run_one(&next);
                if self.gain() > gain {
                    self.go_on(&next);
                }
                true
            }
            None => is_over,
        }
    }

    /// Where a turned decision showed something new, what happens when it is decided alike many
    /// times: loops that copy, skip and count go as far as the program has room.
    fn go_on(&mut self, turned: &Next) {
        let Some(parent) = &turned.parent else { return };
        let changed = turned.inputs.0.iter().filter(|(input, value)| {
            parent.0.get(*input) != Some(*value) && !matches!(input.stream(), Some((_, None)))
        });
        let place = |input: &Input| match input.stream()? {
            (stream, Some(byte)) => Some((stream, byte as usize)),
            _ => None,
        };
        let mut changed = changed.filter_map(|(input, _)| place(input));
        let Some(place) = changed.next().filter(|_| changed.next().is_none()) else { return };
        for _ in 0..N_CONTINUED {
            let made = self.variations.continued(&turned.inputs, place, &self.limits);
            made.into_iter().for_each(|inputs| self.try_inputs(inputs));
        }
    }

    /// Runs an input with words that was tried with values alone; one that showed something for
    /// the first time where `has_first`.
    fn follow_entry(&mut self, has_first: bool) -> bool {
        let campaign = self.campaign.as_mut();
        let entry = campaign.and_then(|c| c.corpus.unfollowed(MAX_COST_WITH_WORDS, has_first));
        let Some((Entry { inputs, was_followed, .. }, is_padded)) = entry else { return false };
        if is_padded && let Some(wide) = padded(&inputs, &self.limits) {
            self.took_limited |= self.run_one(&Next { inputs: Rc::new(wide), ..Next::default() });
        }
        if !was_followed {
            self.took_limited |= self.run_one(&Next { inputs, ..Next::default() });
        }
        true
    }

    /// The same inputs, and a call fails that did not.
    fn fail_once(&mut self) -> bool {
        let next = self.campaign.as_mut().and_then(|campaign| campaign.failing.pop_front());
        let Some((inputs, failure)) = next else { return false };
        let mut inputs = (*inputs).clone();
        inputs.set(failure, 1);
        self.try_inputs(inputs);
        true
    }

    fn vary_once(&mut self, make: fn(&mut Variations, &Entry, &Entry, &Limits) -> Inputs) -> bool {
        let Some(campaign) = &self.campaign else { return false };
        let numbers = &mut self.variations.numbers;
        let base = campaign.corpus.choose(numbers);
        let other = campaign.corpus.choose(numbers);
        let Some((base, other)) = base.zip(other) else { return false };
        let (base, other) = (base.clone(), other.clone());
        let inputs = make(&mut self.variations, &base, &other, &self.limits);
        self.try_inputs(inputs);
        true
    }

    /// What the last run read is worth putting together anew where it showed so much.
    pub(super) fn learn_records(&mut self, n_first: u32) {
        let last = self.campaign.as_ref().and_then(|campaign| campaign.corpus.entries.last());
        if let Some(entry) = last.filter(|_| n_first > 0) {
            self.variations.learn(entry, n_first, &self.limits);
        }
    }

    /// Two inputs that each show something best, one behind the other: what one of them leaves
    /// behind, the other may stumble over.
    fn join_once(&mut self) -> bool {
        let Some(campaign) = &mut self.campaign else { return false };
        let Some((first, second)) = campaign.corpus.unjoined() else { return false };
        let inputs = self.variations.joined(&first, &second, &self.limits);
        self.try_inputs(inputs);
        true
    }

    /// Keeps inputs whose run violates other things than all before.
    pub(super) fn keep_course<T>(
        &mut self,
        machine: &Machine,
        result: &Result<T, Stop>,
        inputs: &Rc<Inputs>,
    ) {
        let Some(campaign) = &mut self.campaign else { return };
        let mut all: Vec<_> = violations(machine, result).collect();
        let strayed = machine.strayed().iter();
        all.extend(strayed.map(|one| (one.at, Property::Fault(one.kind))));
        if all.is_empty() || self.found.courses.len() >= MAX_COURSES {
            return;
        }
        all.sort_unstable_by_key(|(at, property)| (at.0, point_order(at.1), *property));
        all.dedup();
        let mut hasher = FxHasher::default();
        all.iter().for_each(|(at, property)| (at, format!("{property:?}")).hash(&mut hasher));
        let n_kept = campaign.violated.entry(hasher.finish()).or_default();
        *n_kept += 1;
        if *n_kept <= MAX_ALIKE {
            self.found.courses.push(inputs.clone());
        }
    }

    /// Runs with values alone.
    fn try_inputs(&mut self, inputs: Inputs) {
        let search = self.search;
        let Ok(mut machine) = Machine::new(search.program, search.max_steps) else { return };
        let Some(campaign) = &mut self.campaign else { return };
        machine.features = campaign.features.take();
        machine.watch(search.watch);
        let inputs = Rc::new(inputs);
        let result = machine.run_unknown(search.entry, &inputs, &self.limits, false);
        let n_steps = search.max_steps - machine.steps;
        self.found.n_runs += 1;
        self.found.n_steps += n_steps;
        let n_first = campaign.learn(&mut machine, &inputs, (n_steps, 0), false);
        self.learn_records(n_first);
        for (at, property) in violations(&machine, &result) {
            self.keep_violation(property, Some(at), &inputs);
        }
        self.keep_course(&machine, &result, &inputs);
    }
}

fn point_order(point: Point) -> (bool, u32) {
    match point {
        Point::Inst(inst) => (false, inst.0),
        Point::End(block) => (true, block.0),
    }
}

/// The way that brought most for its work lately, each of them now and then.
fn choose(accounts: &[Account], number: u64) -> usize {
    let all = (0..accounts.len()).filter(|way| !accounts[*way].is_idle);
    let waited = |way: &usize| number - accounts[*way].last;
    let longest = all.clone().max_by_key(waited);
    if let Some(way) = longest.filter(|way| waited(way) >= FAIR || accounts[*way].last == 0) {
        return way;
    }
    let worth = |way: &usize| {
        let account = accounts[*way];
        (account.gain + 4) * 1_000_000 / (account.work / 1000 + 1)
    };
    all.max_by_key(worth).unwrap_or(2)
}

/// Inputs to begin with: words of the program as arguments and as lines.
fn seeds(dictionary: &Dictionary, limits: &Limits) -> Vec<Inputs> {
    let mut seeds = Vec::new();
    let mut words = dictionary.words.iter().take(MAX_SEEDS);
    for option in dictionary.options.iter().take(MAX_SEEDS) {
        let mut inputs = Inputs::default();
        inputs.set(Input::ArgumentCount, 1);
        write(&mut inputs, Stream::Argument(1), limits, option);
        seeds.push(inputs);
    }
    for word in &mut words {
        let mut inputs = Inputs::default();
        let line = [word.as_slice(), b"\n"].concat();
        write(&mut inputs, Stream::Stdin, limits, &line);
        seeds.push(inputs.clone());
        inputs.set(Input::ArgumentCount, 1);
        write(&mut inputs, Stream::Argument(1), limits, word);
        seeds.push(inputs);
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_brought_most_is_chosen_and_the_others_now_and_then() {
        let account = |gain, last| Account { work: 1_000_000, gain, last, is_idle: false };
        let accounts = [account(1, 90), account(90, 99), account(2, 98), account(2, 97)];
        assert_eq!(choose(&accounts, 100), 1);
        assert_eq!(choose(&accounts, 90 + FAIR), 0);
        let mut idle = accounts;
        idle[1].is_idle = true;
        assert_ne!(choose(&idle, 100), 1);
    }
}
