//! Which fixes are likely where rules are not sure: what was right in situations like this one.
//!
//! Every past scenario counts by how much its situation has in common with the one asked about. The
//! next description is the one that is right in most of what the descriptions before leave
//! unexplained, so that they do not all say the same. A description that tells more counts more: one
//! that would fit half of all faults is soon right and helps little.

use crate::{Database, Situation};

/// How fast a scenario counts less the less it is alike: chosen by leaving out whole programs of
/// `bench/bugfix`, where 4 and 6 were worse.
const STEEPNESS: i32 = 2;

/// Past scenarios and how much each counts.
pub(crate) struct Likely<'a> {
    weighed: Vec<(f64, &'a [u32])>,
    /// By fix: how much it tells.
    information: Vec<f64>,
}

impl<'a> Likely<'a> {
    pub fn new(
        database: &'a Database,
        situation: &Situation,
        is_left_out: impl Fn(usize) -> bool,
    ) -> Self {
        let entries = database.entries.iter().enumerate();
        let known: Vec<_> = entries.filter(|(at, _)| !is_left_out(*at)).map(|(_, e)| e).collect();
        let mut n_with = vec![0u32; database.descriptors.len()];
        let mut n_fix = vec![0u32; database.fixes.len()];
        for entry in &known {
            entry.descriptors.iter().for_each(|d| n_with[*d as usize] += 1);
            entry.fixes.iter().for_each(|fix| n_fix[*fix as usize] += 1);
        }
        let n = known.len() as f64 + 1.0;
        // What few situations have says more than what most have.
        let rarity: Vec<f64> =
            n_with.iter().map(|with| (n / (f64::from(*with) + 0.5)).ln()).collect();
        let mut is_asked = vec![false; rarity.len()];
        let asked = database.known(situation);
        asked.iter().for_each(|d| is_asked[*d as usize] = true);
        let whole: f64 = asked.iter().map(|d| rarity[*d as usize]).sum();
        let likeness = |descriptors: &[u32]| {
            let (mut shared, mut all) = (0.0, whole);
            for d in descriptors.iter().map(|d| *d as usize) {
                if is_asked[d] {
                    shared += rarity[d];
                } else {
                    all += rarity[d];
                }
            }
            if all > 0.0 { (shared / all).max(0.0) } else { 0.0 }
        };
        let alike: Vec<f64> = known.iter().map(|entry| likeness(&entry.descriptors)).collect();
        let most = alike.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let weights = alike.iter().map(|alike| (alike / most).powi(STEEPNESS));
        let weighed = weights.zip(known.iter().map(|entry| entry.fixes.as_slice())).collect();
        let information =
            n_fix.iter().map(|fix| (n / f64::from(*fix).max(1.0)).ln().sqrt()).collect();
        Self { weighed, information }
    }

    /// The likeliest of some fixes, given that others were named before.
    pub fn next(&self, named: &[u32], open: &[u32]) -> Option<u32> {
        let mut score = vec![0.0; self.information.len()];
        for (weight, fixes) in &self.weighed {
            if !fixes.iter().any(|fix| named.contains(fix)) {
                fixes.iter().for_each(|fix| score[*fix as usize] += weight);
            }
        }
        let of = |fix: u32| score[fix as usize] * self.information[fix as usize];
        open.iter().copied().reduce(|best, fix| if of(fix) > of(best) { fix } else { best })
    }
}
