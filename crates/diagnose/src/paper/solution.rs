//! What localising finds, and what is better.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// A set of statements whose change avoids the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Which sites change, and an example of what to.
    pub sites: BTreeSet<u32>,
    pub values: Vec<New>,
    /// Conditions that decide the same all along the trace, and what they decide instead.
    pub turned: BTreeMap<u32, bool>,
    /// Sites that change to what the library does not have, and how much it likes the others.
    pub n_free: usize,
    pub weight: u32,
    /// Decisions of the trace that the changed run still takes.
    pub steps: usize,
    /// Changed sites that the trace evaluates once.
    pub n_once: usize,
    /// Whether the changed run gets past the check that failed.
    pub is_whole: bool,
}

/// What a site has instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum New {
    /// An alternative of the library.
    Text(String),
    Condition(bool),
    Number(i64),
}

impl Solution {
    /// Whether the same change may mend two traces: the same statements, and none of their
    /// conditions has to decide one way in the one and the other way in the other. Such a change
    /// only leads from one error trace to another.
    pub fn is_common(&self, other: &Solution) -> bool {
        let agrees = |(site, decides): (&u32, &bool)| {
            other.turned.get(site).is_none_or(|others| others == decides)
        };
        self.sites == other.sites && self.turned.iter().all(agrees)
    }

    /// 4.2: with the library, what it has comes before what it does not have, fewer changes
    /// before more, and likely ones before others.
    pub fn weighed_key(&self) -> (usize, usize, Reverse<u32>) {
        (self.n_free, self.sites.len(), Reverse(self.weight))
    }

    /// Section 5: longer runs first, then fewer changes, then more of them outside loops.
    pub fn rank_key(&self) -> (usize, usize, usize, Vec<u32>) {
        let sites = self.sites.iter().copied().collect();
        (usize::MAX - self.steps, self.sites.len(), usize::MAX - self.n_once, sites)
    }

    pub fn verified(&self) -> String {
        if self.is_whole {
            "with these values the check that failed holds".to_owned()
        } else {
            format!(
                "with these values the run leaves the error trace after {} decisions",
                self.steps
            )
        }
    }
}
