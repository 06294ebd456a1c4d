//! The correlation graph: faults, what causes what, and where to begin.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Step, Via};

/// One fault causes another.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub via: Via,
    /// The second does not happen without the first.
    pub unique: bool,
    pub path: Vec<Step>,
}

/// Faults by name and the edges between them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub edges: BTreeMap<(String, String), Edge>,
    /// For every fault what goes away once it is corrected, itself not included.
    pub removes: BTreeMap<String, BTreeSet<String>>,
}

/// Faults that hang together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub faults: BTreeSet<String>,
    /// What to fix first: the one that removes most comes first.
    pub roots: Vec<String>,
}

impl Graph {
    /// `remaining` says for every fault what is still found in its part of the graph once it
    /// is corrected.
    pub fn new(
        mut edges: BTreeMap<(String, String), Edge>,
        remaining: &BTreeMap<String, BTreeSet<String>>,
    ) -> Self {
        let goes_away = |with: &String, fault: &String| {
            with != fault && remaining.get(with).is_some_and(|left| !left.contains(fault))
        };
        // A branch that was open anyway makes nothing possible.
        edges.retain(|(from, to), edge| edge.via == Via::Direct || goes_away(from, to));
        for ((from, to), edge) in &mut edges {
            edge.unique = goes_away(from, to);
        }
        let mut removes = BTreeMap::new();
        for part in connected(edges.keys().cloned()) {
            for with in &part {
                let gone = part.iter().filter(|fault| goes_away(with, fault)).cloned().collect();
                removes.insert(with.clone(), gone);
            }
        }
        Self { edges, removes }
    }

    /// Connected parts, in the order of their names.
    pub fn components(&self) -> Vec<Component> {
        let parts = connected(self.edges.keys().cloned()).into_iter();
        parts.map(|faults| Component { roots: self.roots(&faults), faults }).collect()
    }

    /// Faults no other fault is the only cause of. Where all cause each other, those that
    /// remove most.
    fn roots(&self, faults: &BTreeSet<String>) -> Vec<String> {
        let n_removed = |fault: &String| self.removes.get(fault).map_or(0, BTreeSet::len);
        let is_removed = |fault: &String| {
            faults.iter().any(|other| {
                other != fault
                    && self.removes.get(other).is_some_and(|removed| removed.contains(fault))
                    && !self.removes.get(fault).is_some_and(|removed| removed.contains(other))
            })
        };
        let mut roots: Vec<String> =
            faults.iter().filter(|fault| !is_removed(fault)).cloned().collect();
        if roots.is_empty() {
            roots = faults.iter().cloned().collect();
        }
        roots.sort_by_key(|fault| std::cmp::Reverse(n_removed(fault)));
        roots
    }
}

/// Sets of names that pairs connect, in the order of their first names.
pub fn connected(pairs: impl Iterator<Item = (String, String)>) -> Vec<BTreeSet<String>> {
    let mut near: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in pairs {
        near.entry(from.clone()).or_default().insert(to.clone());
        near.entry(to).or_default().insert(from);
    }
    let mut parts = Vec::new();
    let mut known = BTreeSet::new();
    for first in near.keys() {
        let mut part = BTreeSet::new();
        let mut open = vec![first];
        while let Some(name) = open.pop() {
            if known.insert(name) {
                part.insert(name.clone());
                open.extend(&near[name]);
            }
        }
        if !part.is_empty() {
            parts.push(part);
        }
    }
    parts
}
