//! The graph of what runs show: which violation goes away with which.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use interpret::{Inputs, Limits, Point};

use super::run::{Course, Event, Key, corrections, course};
use crate::search::{Search, Violation};

/// Runs that are asked about one pair.
const MAX_ASKED: u32 = 4;
/// Violations of one run that are put right.
const MAX_CAUSES: usize = 10;

/// Causes and effects.
#[derive(Clone, Debug, Default)]
pub struct Chains {
    pub links: Vec<Link>,
    /// Faults that only happen behind others, with what shows them.
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
}

/// What goes away with what, in each of these runs.
pub fn links(
    search: &Search,
    limits: &Limits,
    runs: &[(Rc<Inputs>, Course)],
    known: &[Key],
    max_steps: u64,
) -> Chains {
    let mut shown: BTreeMap<(Order, Order), Shown> = BTreeMap::new();
    let mut asked: BTreeMap<(Order, Order), u32> = BTreeMap::new();
    let mut remains: BTreeSet<(Order, Order)> = BTreeSet::new();
    let mut n_steps = 0;
    for (inputs, found) in runs.iter().filter(|(_, found)| !found.has_made_up) {
        if found.events.len() < 2 {
            continue;
        }
        let mut gone: Vec<(Event, Vec<Event>)> = Vec::new();
        let mut is_news = false;
        for (index, cause) in found.events.iter().enumerate().take(MAX_CAUSES) {
            let later: Vec<Event> = found.events[index + 1..].to_vec();
            let is_open = later.iter().any(|event| {
                let pair = (order(cause.key), order(event.key));
                asked.get(&pair).is_none_or(|n| *n < MAX_ASKED) && !shown.contains_key(&pair)
            });
            is_news |= is_open && !corrections(cause.key).is_empty();
        }
        if !is_news {
            continue;
        }
        for (index, cause) in found.events.iter().enumerate().take(MAX_CAUSES) {
            let later = &found.events[index + 1..];
            for event in later {
                *asked.entry((order(cause.key), order(event.key))).or_default() += 1;
            }
            if n_steps > max_steps || later.is_empty() {
                break;
            }
            for right in corrections(cause.key) {
                let without = course(search, inputs, limits, &[right]);
                n_steps += without.n_steps;
                if !is_clear(found, &without) {
                    continue;
                }
                let went: Vec<Event> =
                    later.iter().filter(|event| goes(&without, event)).copied().collect();
                let stays = later.iter().filter(|event| !goes(&without, event));
                if !super::is_number(cause.key.1) {
                    remains.extend(stays.map(|event| (order(cause.key), order(event.key))));
                }
                gone.push((*cause, went));
                break;
            }
        }
        for (cause, went) in &gone {
            for event in went {
                let is_between = gone.iter().any(|(middle, theirs)| {
                    went.contains(middle) && middle.key != event.key && theirs.contains(event)
                });
                if is_between {
                    continue;
                }
                let pair = (order(cause.key), order(event.key));
                let one = Shown {
                    from: cause.key,
                    to: event.key,
                    inputs: inputs.clone(),
                    is_certain: !found.has_guessed,
                };
                let old = shown.get(&pair);
                if old.is_none_or(|old| !old.is_certain && one.is_certain) {
                    shown.insert(pair, one);
                }
            }
        }
    }
    let keep = evident(&shown, runs, known);
    let mut chains = Chains::default();
    let mut told: BTreeSet<Order> = known.iter().map(|key| order(*key)).collect();
    for (pair, one) in shown {
        if !keep.contains(&pair.0) || !keep.contains(&pair.1) {
            continue;
        }
        let has_other = runs.iter().any(|(_, run)| is_without(run, one.from, one.to));
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
            is_unique: !has_other && !remains.contains(&pair),
            inputs: one.inputs,
            limits: *limits,
            is_certain: one.is_certain,
        });
    }
    chains
}

/// What is a fault: what was found as one, what a run violates in harm's way, and numbers that
/// cause such or are caused by one.
fn evident(
    shown: &BTreeMap<(Order, Order), Shown>,
    runs: &[(Rc<Inputs>, Course)],
    known: &[Key],
) -> BTreeSet<Order> {
    let mut keep: BTreeSet<Order> = known.iter().map(|key| order(*key)).collect();
    for (_, run) in runs {
        keep.extend(run.events.iter().filter(|e| !e.is_soft).map(|event| order(event.key)));
    }
    loop {
        let n_before = keep.len();
        for (from, to) in shown.keys() {
            if keep.contains(from) || keep.contains(to) {
                keep.extend([*from, *to]);
            }
        }
        if keep.len() == n_before {
            return keep;
        }
    }
}

/// Whether a run with a violation put right tells what that had caused.
fn is_clear(with: &Course, without: &Course) -> bool {
    let is_new = |key| !with.has(key) && !with.events.iter().any(|event| event.key.0 == key.0);
    !without.is_unclear && !without.last.is_some_and(is_new)
}

fn goes(without: &Course, event: &Event) -> bool {
    !without.has(event.key)
}

/// Whether a run violates the second, and not the first before it.
fn is_without(run: &Course, from: Key, to: Key) -> bool {
    let Some(at) = run.events.iter().position(|event| event.key == to) else { return false };
    !run.events[..at].iter().any(|event| event.key == from)
}
