//! Faults that hang together: what to fix first, and under it what goes away with it.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Correlation, Fault, Findings};

/// Which fault is told where.
pub struct Folding<'a> {
    /// By root: what is told under it.
    below: BTreeMap<&'a str, Vec<&'a Fault>>,
    folded: BTreeSet<&'a str>,
    /// By fault: causes it does not go away with.
    partial: BTreeMap<&'a str, Vec<&'a Fault>>,
    /// By effect: an edge that a run shows.
    shown: BTreeMap<&'a str, &'a Correlation>,
}

impl<'a> Folding<'a> {
    pub fn new(findings: &'a Findings) -> Self {
        let by_id: BTreeMap<&str, &Fault> =
            findings.faults.iter().map(|fault| (fault.id.as_str(), fault)).collect();
        let mut folding = Self {
            below: BTreeMap::new(),
            folded: BTreeSet::new(),
            partial: BTreeMap::new(),
            shown: BTreeMap::new(),
        };
        let roots: BTreeSet<&String> =
            findings.groups.iter().flat_map(|group| &group.roots).collect();
        for (root, removed) in
            findings.groups.iter().flat_map(|group| group.roots.iter().zip(&group.removes))
        {
            for id in removed.iter().filter(|id| !roots.contains(id)) {
                if let Some(fault) = by_id.get(id.as_str())
                    && folding.folded.insert(id)
                {
                    folding.below.entry(root).or_default().push(fault);
                }
            }
        }
        for edge in findings.correlations.iter().filter(|edge| edge.witness.is_some()) {
            folding.shown.entry(&edge.to).or_insert(edge);
        }
        for edge in findings.correlations.iter().filter(|edge| !edge.unique) {
            if let Some(cause) = by_id.get(edge.from.as_str()) {
                folding.partial.entry(&edge.to).or_default().push(cause);
            }
        }
        folding
    }

    /// Whether the fault is told under another.
    pub fn is_folded(&self, fault: &Fault) -> bool {
        self.folded.contains(fault.id.as_str())
    }

    /// What goes away with the fault.
    pub fn below(&self, fault: &Fault) -> &[&'a Fault] {
        self.below.get(fault.id.as_str()).map_or(&[], Vec::as_slice)
    }

    /// An edge to the fault that a run shows.
    pub fn shown(&self, fault: &Fault) -> Option<&'a Correlation> {
        self.shown.get(fault.id.as_str()).copied()
    }

    /// What can cause the fault, though it also happens without.
    pub fn partial_causes(&self, fault: &Fault) -> &[&'a Fault] {
        self.partial.get(fault.id.as_str()).map_or(&[], Vec::as_slice)
    }
}
