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

    /// Adds the records of a profiling run.
    pub(crate) fn add_log(&mut self, log: &[u8], n_lost: u64) {
        self.n_lost += n_lost;
        for_each_record(log, |site, values| {
            let seen = self.sites.entry(site).or_default();
            let Some((root, leaves)) = values.split_first() else { return };
            seen.root.insert(*root);
            seen.leaves.resize_with(seen.leaves.len().max(leaves.len()), BTreeSet::new);
            for (seen, leaf) in seen.leaves.iter_mut().zip(leaves) {
                seen.insert(*leaf);
            }
        });
    }
}

/// The records of some sites: their own value, then their leaves'.
pub(crate) fn value_sets(log: &[u8], sites: &BTreeSet<u32>) -> BTreeMap<u32, BTreeSet<Vec<u64>>> {
    let mut sets: BTreeMap<u32, BTreeSet<Vec<u64>>> = BTreeMap::new();
    for_each_record(log, |site, values| {
        if sites.contains(&site) {
            sets.entry(site).or_default().insert(values.to_vec());
        }
    });
    sets
}

/// The records of a profiling run (`struct ff_seen` in crates/rt/c/rt.h).
fn for_each_record(log: &[u8], mut each: impl FnMut(u32, &[u64])) {
    let mut words = log.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or([0; 8])));
    let mut values = Vec::new();
    while let Some(first) = words.next() {
        let (site, n_leaves) = (first as u32, (first >> 32) as usize);
        values.clear();
        values.extend(words.by_ref().take(1 + n_leaves));
        // A run that was killed may have left half a record.
        if values.len() == 1 + n_leaves {
            each(site, &values);
        }
    }
}
