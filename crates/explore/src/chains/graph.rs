//! The graph of what runs show: which violation goes away with which.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use interpret::{Inputs, Limits, Point};

use super::asked::{Cause, MAX_CAUSES, alone, ask, leaves_alone};
use super::run::{Course, Event, Key, corrections};
use crate::search::{Search, Violation};

/// Runs that are asked about one pair.
const MAX_ASKED: u32 = 4;

/// Causes and effects.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    pub links: Vec<Link>,
    /// Faults that were found behind others, with what shows them.
    pub behind: Vec<Violation>,
    pub work: u64,
}

/// One violation causes another.
#[derive(Clone, Debug)]
pub struct Link {
    pub from: Key,
    pub to: Key,
    /// No run violates the second without the first.
    pub is_unique: bool,
    /// A run that violates both, the second because of the first.
    pub inputs: Rc<Inputs>,
    pub limits: Limits,
    /// It says nothing that C and the layout of records leave open.
    pub is_certain: bool,
}

/// Sorts as a program is read.
type Order = (u32, bool, u32, crate::ending::Property);
type Pair = (Order, Order);

fn order(key: Key) -> Order {
    let (is_end, number) = match key.0.1 {
        Point::Inst(inst) => (false, inst.0),
        Point::End(block) => (true, block.0),
    };
    (key.0.0.0, is_end, number, key.1)
}

struct Shown {
    from: Key,
    to: Key,
    inputs: Rc<Inputs>,
    is_certain: bool,
    /// What may be nearer, if it is a fault at all.
    between: BTreeSet<Order>,
}

/// What runs have shown so far.
#[derive(Default)]
struct Graph {
    shown: BTreeMap<Pair, Shown>,
    asked: BTreeMap<Pair, u32>,
    /// The second is violated with the first put right.
    remains: BTreeSet<Pair>,
    /// What some run violates whatever comes before it.
    alone: BTreeMap<Order, Violation>,
}

/// What goes away with what, in each of these runs.
pub fn links(
    search: &Search,
    limits: &Limits,
    runs: &[(Rc<Inputs>, Course)],
    known: &[Key],
    max_steps: u64,
) -> Chains {
    let mut graph = Graph::default();
    let mut n_steps = 0;
    for (inputs, found) in runs.iter().filter(|(_, found)| !found.has_made_up) {
        let is_single = found.events.len() < 2;
        if !is_single && !graph.is_news(found) {
            continue;
        }
        let left = max_steps.saturating_sub(n_steps);
        let (causes, spent) = ask(search, inputs, limits, found, left);
        n_steps += spent;
        // A run that goes on behind nothing is a run like any other.
        let limits = Limits { goes_on: !is_single, ..*limits };
        for event in alone(found, &causes).filter(|event| found.is_certain_at(event)) {
            let ((at, property), inputs) = (event.key, (**inputs).clone());
            let violation = Violation { property, at, inputs, limits };
            graph.alone.entry(order(event.key)).or_insert(violation);
        }
        causes.iter().for_each(|cause| graph.learn(found, inputs, cause, &causes));
    }
    graph.finish(limits, runs, known)
}

impl Graph {
    /// Whether a run has pairs that were not asked about often enough.
    fn is_news(&mut self, found: &Course) -> bool {
        let mut is_news = false;
        for (index, cause) in found.events.iter().enumerate().take(MAX_CAUSES) {
            if corrections(cause.key).is_empty() {
                continue;
            }
            for event in &found.events[index + 1..] {
                let pair = (order(cause.key), order(event.key));
                let n_asked = self.asked.entry(pair).or_default();
                is_news |= *n_asked < MAX_ASKED && !self.shown.contains_key(&pair);
                *n_asked += 1;
            }
        }
        is_news
    }

    fn learn(&mut self, found: &Course, inputs: &Rc<Inputs>, cause: &Cause, all: &[Cause]) {
        let from = cause.event.key;
        let stays = leaves_alone(cause).iter();
        self.remains.extend(stays.map(|event| (order(from), order(event.key))));
        for event in &cause.went {
            let is_between = |other: &&Cause| {
                cause.went.contains(&other.event)
                    && other.event.key != event.key
                    && other.went.contains(event)
            };
            let between: Vec<&Event> =
                all.iter().filter(is_between).map(|other| &other.event).collect();
            if between.iter().any(|middle| !middle.is_unruled) {
                continue;
            }
            let one = Shown {
                from,
                to: event.key,
                inputs: inputs.clone(),
                is_certain: found.is_certain_at(event),
                between: between.iter().map(|middle| order(middle.key)).collect(),
            };
            let pair = (order(from), order(event.key));
            let old = self.shown.get(&pair);
            if old.is_none_or(|old| !old.is_certain && one.is_certain) {
                self.shown.insert(pair, one);
            }
        }
    }

    fn finish(self, limits: &Limits, runs: &[(Rc<Inputs>, Course)], known: &[Key]) -> Chains {
        let is_unique = |(pair, one): &(&Pair, &Shown)| {
            !self.remains.contains(pair)
                && !runs.iter().any(|(_, run)| is_without(run, one.from, one.to))
        };
        let unique: BTreeSet<Pair> =
            self.shown.iter().filter(is_unique).map(|(pair, _)| *pair).collect();
        let keep = evident(&self.shown, &unique, runs, known);
        let mut chains = Chains::default();
        let mut told: BTreeSet<Order> = known.iter().map(|key| order(*key)).collect();
        for (pair, one) in self.shown {
            let is_nearest = one.between.is_disjoint(&keep);
            if !is_nearest || !keep.contains(&pair.0) || !keep.contains(&pair.1) {
                continue;
            }
            for key in [one.from, one.to] {
                if told.insert(order(key)) {
                    let (at, property) = key;
                    let inputs = (*one.inputs).clone();
                    chains.behind.push(Violation { property, at, inputs, limits: *limits });
                }
            }
            chains.links.push(Link {
                from: one.from,
                to: one.to,
                is_unique: unique.contains(&pair),
                inputs: one.inputs,
                limits: *limits,
                is_certain: one.is_certain,
            });
        }
        let alone = self.alone.into_iter().filter(|(key, _)| told.insert(*key));
        chains.behind.extend(alone.map(|(_, violation)| violation));
        chains
    }
}

/// What is a fault: what was found as one, what a run violates in harm's way, and numbers that
/// cause such or are caused by one. Numbers that no rule asks for are faults where they alone
/// cause another.
fn evident(
    shown: &BTreeMap<Pair, Shown>,
    unique: &BTreeSet<Pair>,
    runs: &[(Rc<Inputs>, Course)],
    known: &[Key],
) -> BTreeSet<Order> {
    let mut keep: BTreeSet<Order> = known.iter().map(|key| order(*key)).collect();
    let mut unruled: BTreeSet<Order> = BTreeSet::new();
    for (_, run) in runs {
        unruled.extend(run.events.iter().filter(|e| e.is_unruled).map(|event| order(event.key)));
        keep.extend(run.events.iter().filter(|e| !e.is_soft).map(|event| order(event.key)));
    }
    loop {
        let n_before = keep.len();
        for (from, to) in shown.keys() {
            let is_cause = !unruled.contains(from) || unique.contains(&(*from, *to));
            if keep.contains(to) && is_cause {
                keep.insert(*from);
            }
            if keep.contains(from) && !unruled.contains(to) {
                keep.insert(*to);
            }
        }
        if keep.len() == n_before {
            return keep;
        }
    }
}

/// Whether a run violates the second, and not the first before it.
fn is_without(run: &Course, from: Key, to: Key) -> bool {
    let Some(at) = run.events.iter().position(|event| event.key == to) else { return false };
    !run.events[..at].iter().any(|event| event.key == from)
}
