//! Which violation causes which, shown by runs.
//!
//! A run that goes on behind a violation shows what comes of it. The same run with the violation
//! put right (the write dropped, the number the one that was meant) tells what it had caused: what
//! is not violated any more. Of several causes the nearest counts. Faults that happen only behind
//! others are found so, too.

mod asked;
mod graph;
mod run;

use std::rc::Rc;

use base::Cancel;
use interpret::{Inputs, Limits};

use crate::corpus::Entry;
use crate::dictionary::Dictionary;
use crate::ending::Property;
use crate::memo::Memo;
use crate::search::{Explored, Plan, Search};
use crate::variation::Variations;
pub use graph::{Chains, Link};
use run::{Course, Key, course};

/// Of the work of the search before, what the one for chains may do.
const SHARE: u64 = 3;
/// Inputs that are read one behind the other with those that violate.
const MAX_JOINED: usize = 40;
/// Those that are read between two others, and how many of these.
const MAX_BETWEEN: usize = 6;
const MAX_AROUND: usize = 14;
/// Runs that are looked at.
const MAX_COURSES: usize = 120;
/// Instructions of the runs that tell causes.
const MAX_STEPS: u64 = 20_000_000;

/// Chains behind what a search has found.
pub fn find(
    search: &Search,
    memo: &mut Memo,
    explored: &Explored,
    (limits, work, seed): (Limits, u64, u64),
    dictionary: Dictionary,
    cancel: &Cancel,
) -> Chains {
    if explored.violations.is_empty() || cancel.is_cancelled() {
        return Chains::default();
    }
    let limits = Limits { goes_on: true, ..limits };
    let known: Vec<Key> = explored.violations.iter().map(|v| (v.at, v.property)).collect();
    let seeds = seeds(explored, &limits, seed);
    let (work, is_enough, plain) = (work / SHARE, None, known.clone());
    let plan = Plan { limits, work, seed, dictionary, is_enough, seeds, known: plain };
    let (further, _, spent) = search.campaign(memo, plan, cancel);
    let mut all: Vec<Rc<Inputs>> = Vec::new();
    let own = explored.violations.iter().chain(&further.violations);
    all.extend(own.map(|violation| Rc::new(violation.inputs.clone())));
    all.extend(further.courses.iter().chain(&explored.courses).cloned());
    all.sort_by_key(|inputs| inputs.0.len());
    all.dedup();
    let mut seen: Vec<Rc<Inputs>> = Vec::new();
    let mut runs: Vec<(Rc<Inputs>, Course)> = Vec::new();
    let mut n_steps = 0;
    for inputs in all {
        if runs.len() >= MAX_COURSES || n_steps > MAX_STEPS || cancel.is_cancelled() {
            break;
        }
        if seen.contains(&inputs) {
            continue;
        }
        seen.push(inputs.clone());
        let course = course(search, &inputs, &limits, &[]);
        n_steps += course.n_steps;
        runs.push((inputs, course));
    }
    let mut chains = graph::links(search, &limits, &runs, &known, MAX_STEPS);
    chains.work = spent + n_steps;
    chains
}

/// What violates something, and behind it what shows other parts of the program.
fn seeds(explored: &Explored, limits: &Limits, seed: u64) -> Vec<Inputs> {
    let mut variations = Variations::new(seed, Dictionary::default());
    let violating = explored.violations.iter().map(|violation| Rc::new(violation.inputs.clone()));
    let violating: Vec<Rc<Inputs>> =
        violating.chain(explored.courses.iter().take(MAX_JOINED).cloned()).collect();
    let mut first: Vec<Rc<Inputs>> = explored.first.clone();
    first.sort_by_key(|inputs| inputs.0.len());
    first.truncate(MAX_JOINED);
    let mut seeds: Vec<Inputs> = violating.iter().map(|inputs| (**inputs).clone()).collect();
    seeds.extend(first.iter().map(|inputs| (**inputs).clone()));
    let entry = |inputs: &Rc<Inputs>| Entry { inputs: inputs.clone(), ..Entry::default() };
    for one in violating.iter().take(MAX_JOINED) {
        for other in violating.iter().take(4).chain(&first) {
            seeds.push(variations.joined(&entry(one), &entry(other), limits));
        }
    }
    // What violates may need something before it to do harm behind it.
    for one in violating.iter().take(MAX_BETWEEN) {
        for before in first.iter().take(MAX_AROUND) {
            let begun = Rc::new(variations.joined(&entry(before), &entry(one), limits));
            for behind in first.iter().take(MAX_AROUND) {
                seeds.push(variations.joined(&entry(&begun), &entry(behind), limits));
            }
        }
    }
    seeds
}

/// Whether a violation is one that a number is not the one meant.
pub(crate) fn is_number(property: Property) -> bool {
    use interpret::FaultKind::{SignChange, SignedOverflow, Truncation, Wrap};
    matches!(property, Property::Fault(Wrap | Truncation | SignChange | SignedOverflow))
}
