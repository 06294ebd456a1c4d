//! Pursues every fault of a run, from the searches that found it outwards to callers.

use std::collections::{BTreeMap, BTreeSet};

use detect::engine::{Engine, Outcome, Start};
use detect::pursuit::Link;
use detect::query::{FaultKey, Points, QueryId, Resolution};
use rayon::prelude::*;

pub type Links = BTreeMap<(FaultKey, FaultKey), Link>;

/// Callers above the search that found a fault in which its effects are looked for.
const MAX_LEVELS: u32 = 3;

/// Searches per fault.
const MAX_SEARCHES: usize = 16;

/// Instructions a fault may have run over all its searches before no other is begun: as many
/// as detection spends on a function, so that a fault costs no more than finding it.
const MAX_INSTRUCTIONS: u64 = 20_000;

/// `given` are queries that others say are violated.
pub fn links(engine: &Engine, outcome: &Outcome, given: &BTreeSet<QueryId>) -> Links {
    let mut points = Points::default();
    for (index, query) in engine.queries.iter().enumerate() {
        points.entry((query.function, query.at)).or_default().push(QueryId(index as u32));
    }
    let sources: Vec<QueryId> = (0..engine.queries.len() as u32)
        .map(QueryId)
        .filter(|id| {
            let is_wrong = matches!(outcome.resolutions[id.0 as usize], Resolution::Unsafe(_));
            is_wrong || given.contains(id)
        })
        .collect();
    let found: Vec<Links> = sources
        .par_iter()
        .map(|source| {
            let mut starts = outcome.starts[source.0 as usize].clone();
            let is_given = starts.is_empty();
            if is_given {
                let root = engine.queries[source.0 as usize].function;
                starts.insert(Start { root, on_the_way: BTreeSet::new() });
            }
            pursue(engine, *source, &starts, is_given, &points)
        })
        .collect();
    let mut links = Links::new();
    for (key, link) in found.into_iter().flatten() {
        add(&mut links, key, link);
    }
    links
}

fn pursue(
    engine: &Engine,
    source: QueryId,
    starts: &BTreeSet<Start>,
    is_given: bool,
    points: &Points,
) -> Links {
    let mut links = Links::new();
    let mut done: BTreeSet<Start> = BTreeSet::new();
    let mut waiting: BTreeSet<Start> = starts.clone();
    let mut n_instructions = 0;
    for _ in 0..=MAX_LEVELS {
        let mut next = BTreeSet::new();
        for start in std::mem::take(&mut waiting) {
            if done.len() >= MAX_SEARCHES
                || n_instructions >= MAX_INSTRUCTIONS
                || !done.insert(start.clone())
            {
                continue;
            }
            let pursued = engine.pursue(source, &start, is_given, points);
            n_instructions += pursued.n_instructions;
            for (key, link) in pursued.links {
                add(&mut links, key, link);
            }
            next.extend(pursued.callers);
        }
        waiting = next;
    }
    links
}

/// Keeps the more direct of two links, and of equals the first.
fn add(links: &mut Links, key: (FaultKey, FaultKey), link: Link) {
    match links.entry(key) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(link);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            if link.via < entry.get().via {
                entry.insert(link);
            }
        }
    }
}
