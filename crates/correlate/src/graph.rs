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
    /// `remaining` says for every fault what is still found once it is corrected.
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
        let faults: BTreeSet<&String> = edges.keys().flat_map(|(from, to)| [from, to]).collect();
        let removes = faults
            .iter()
            .map(|with| {
                let gone = faults.iter().filter(|fault| goes_away(with, fault));
                ((*with).clone(), gone.map(|fault| (*fault).clone()).collect())
            })
            .collect();
        Self { edges, removes }
    }

    /// Connected parts, in the order of their names.
    pub fn components(&self) -> Vec<Component> {
        let mut waiting: BTreeSet<String> =
            self.edges.keys().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        let mut components = Vec::new();
        while let Some(first) = waiting.pop_first() {
            let mut faults = BTreeSet::from([first.clone()]);
            let mut open = vec![first];
            while let Some(fault) = open.pop() {
                for (from, to) in self.edges.keys() {
                    for (near, far) in [(from, to), (to, from)] {
                        if *near == fault && faults.insert(far.clone()) {
                            open.push(far.clone());
                        }
                    }
                }
            }
            waiting.retain(|fault| !faults.contains(fault));
            let roots = self.roots(&faults);
            components.push(Component { faults, roots });
        }
        components
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
