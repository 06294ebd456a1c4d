//! The value profile: what was seen at every site, over all tests.

use std::collections::{BTreeMap, BTreeSet};

/// Values seen at one site, over all runs added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenValues {
    /// Bit patterns of the site's own value.
    pub root: BTreeSet<u64>,
    /// Of each of its leaves.
    pub leaves: Vec<BTreeSet<u64>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// By site number.
    pub sites: BTreeMap<u32, SeenValues>,
    /// Sets of values that did not fit the runtime's tables.
    pub n_lost: u64,
}

impl Profile {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn merge(&mut self, other: Profile) {
        self.n_lost += other.n_lost;
        for (site, values) in other.sites {
            let seen = self.sites.entry(site).or_default();
            seen.root.extend(values.root);
            seen.leaves.resize_with(seen.leaves.len().max(values.leaves.len()), BTreeSet::new);
            for (to, from) in seen.leaves.iter_mut().zip(values.leaves) {
                to.extend(from);
            }
        }
    }

    /// Adds the records of a profiling run (`struct ff_seen` in crates/rt/c/rt.h).
    pub(crate) fn add_log(&mut self, log: &[u8], n_lost: u64) {
        self.n_lost += n_lost;
        let mut words =
            log.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or([0; 8])));
        while let Some(first) = words.next() {
            let (site, n_leaves) = (first as u32, (first >> 32) as usize);
            let Some(root) = words.next() else { return };
            let seen = self.sites.entry(site).or_default();
            seen.root.insert(root);
            seen.leaves.resize_with(seen.leaves.len().max(n_leaves), BTreeSet::new);
            for leaf in seen.leaves.iter_mut().take(n_leaves) {
                let Some(value) = words.next() else { return };
                leaf.insert(value);
            }
        }
    }
}
