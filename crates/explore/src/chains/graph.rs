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
    /// What may be nearer, if it is a fault at all.
    between: BTreeSet<Order>,
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
            let mut went: Vec<Event> = Vec::new();
            for right in corrections(cause.key) {
                let without = course(search, inputs, limits, &[right]);
                n_steps += without.n_steps;
                if without.is_unclear {
                    continue;
                }
                let goes = |event: &&Event| {
                    // Any number that fits will do for what is made from it.
                    let is_own = !right.is_nearest || event.by == Some(cause.key);
                    is_own && goes(search, found, &without, event) && !went.contains(event)
                };
                let more: Vec<Event> = later.iter().filter(goes).copied().collect();
                went.extend(more);
                if !super::is_number(cause.key.1) {
                    let stays = later.iter().filter(|event| without.has(event.key));
                    remains.extend(stays.map(|event| (order(cause.key), order(event.key))));
                }
            }
            gone.push((*cause, went));
        }
        by_numbers(&mut gone);
        for (cause, went) in &gone {
            for event in went {
                let between = gone.iter().filter(|(middle, theirs)| {
                    went.contains(middle) && middle.key != event.key && theirs.contains(event)
                });
                let between: Vec<&Event> = between.map(|(middle, _)| middle).collect();
                if between.iter().any(|middle| !middle.is_unruled) {
                    continue;
                }
                let pair = (order(cause.key), order(event.key));
                let one = Shown {
                    from: cause.key,
                    to: event.key,
                    inputs: inputs.clone(),
                    is_certain: found.is_certain_at(event),
                    between: between.iter().map(|middle| order(middle.key)).collect(),
                };
                let old = shown.get(&pair);
                if old.is_none_or(|old| !old.is_certain && one.is_certain) {
                    shown.insert(pair, one);
                }
            }
        }
    }
    let unique: BTreeSet<(Order, Order)> = shown
        .iter()
        .filter(|(pair, one)| {
            let is_other = |(_, run): &(Rc<Inputs>, Course)| is_without(run, one.from, one.to);
            !remains.contains(pair) && !runs.iter().any(is_other)
        })
        .map(|(pair, _)| *pair)
        .collect();
    let keep = evident(&shown, &unique, runs, known);
    let mut chains = Chains::default();
    let mut told: BTreeSet<Order> = known.iter().map(|key| order(*key)).collect();
    for (pair, one) in shown {
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
    chains
}

/// An access that is made from a number which another cause had made wrong is of that number's
/// doing, even if the number that was meant would do no better.
fn by_numbers(gone: &mut [(Event, Vec<Event>)]) {
    let mut more: Vec<(Key, Event)> = Vec::new();
    for (cause, went) in gone.iter() {
        for event in went {
            let Some(by) = event.by.filter(|by| *by != cause.key) else { continue };
            if went.iter().any(|middle| middle.key == by) {
                more.push((by, *event));
            }
        }
    }
    for (by, event) in more {
        if let Some((_, went)) = gone.iter_mut().find(|(cause, _)| cause.key == by)
            && !went.contains(&event)
        {
            went.push(event);
        }
    }
}

/// What is a fault: what was found as one, what a run violates in harm's way, and numbers that
/// cause such or are caused by one. Numbers that no rule asks for are faults where they alone
/// cause another.
fn evident(
    shown: &BTreeMap<(Order, Order), Shown>,
    unique: &BTreeSet<(Order, Order)>,
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

/// Whether a run with a violation put right does not violate something that it did. One that ends
/// at another violation tells that only of places that it came to.
fn goes(search: &Search, with: &Course, without: &Course, event: &Event) -> bool {
    let came_there = |last: Key| {
        with.last == Some(last)
            || last.0 == event.key.0
            || without.came_as_often(with, search, event.key)
    };
    !without.has(event.key) && without.last.is_none_or(came_there)
}

/// Whether a run violates the second, and not the first before it.
fn is_without(run: &Course, from: Key, to: Key) -> bool {
    let Some(at) = run.events.iter().position(|event| event.key == to) else { return false };
    !run.events[..at].iter().any(|event| event.key == from)
}
