//! What localising finds, and what is better.

use std::collections::BTreeSet;

/// A set of statements whose change avoids the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Which sites change, and an example of what to.
    pub sites: BTreeSet<u32>,
    pub values: Vec<String>,
    /// Decisions of the trace that the changed run still takes.
    pub steps: usize,
    /// Changed sites that the trace evaluates once.
    pub n_once: usize,
    /// Whether the changed run gets past the check that failed.
    pub is_whole: bool,
}

impl Solution {
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
