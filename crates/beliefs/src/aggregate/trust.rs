//! Trustworthiness of code: a file that breaks few rules is better company for an example than
//! one that breaks many.
//!
//! How far a file is trusted is the share of its places that follow the plausible rules,
//! pulled towards the average where it has few. Examples count as much as their file is
//! trusted, so a rule that mostly careless code follows ranks lower.

use std::collections::BTreeMap;

use super::{Key, Rule};
use crate::rank::weighted_z;
use crate::template::{Belief, Template};

/// Places every file is taken to have at the average.
const PRIOR: f64 = 20.0;
/// No example counts for less than this, and none for more than one.
const LEAST: f64 = 0.5;

pub fn weigh(templates: &[Template], rules: &mut [BTreeMap<Key, Rule>]) {
    let trust = Trust::new(templates, rules);
    for (template, rules) in templates.iter().zip(rules) {
        if template.belief == Belief::Must {
            continue;
        }
        for rule in rules.values_mut() {
            let counted: u64 = rule.follows_in.values().sum();
            if counted == 0 {
                continue;
            }
            let trusted: f64 =
                rule.follows_in.iter().map(|(file, n)| trust.of(file) * *n as f64).sum();
            // Functions that count once may have several places.
            let followed = trusted * rule.counts.followed as f64 / counted as f64;
            let weighted = weighted_z(followed + rule.counts.broken as f64, followed, template.p0);
            rule.score += weighted - rule.z;
        }
    }
}

/// How far each file is trusted, compared with the average.
struct Trust {
    files: BTreeMap<String, (f64, f64)>,
    average: f64,
}

impl Trust {
    fn new(templates: &[Template], rules: &[BTreeMap<Key, Rule>]) -> Self {
        let mut files: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for (template, rules) in templates.iter().zip(rules) {
            // A rule that is often broken says nothing about who breaks it.
            let is_telling = |rule: &&Rule| template.belief == Belief::May && rule.z > 0.0;
            for rule in rules.values().filter(is_telling) {
                for (file, n) in &rule.follows_in {
                    files.entry(file.clone()).or_default().0 += *n as f64;
                }
                for found in &rule.breakers {
                    files.entry(found.place.file.clone()).or_default().1 += 1.0;
                }
            }
        }
        let total = files.values().fold((0.0, 0.0), |sum, n| (sum.0 + n.0, sum.1 + n.1));
        let average = (total.0 + 1.0) / (total.0 + total.1 + 1.0);
        Self { files, average }
    }

    fn of(&self, file: &str) -> f64 {
        let (followed, broken) = self.files.get(file).copied().unwrap_or_default();
        let share = (followed + PRIOR * self.average) / (followed + broken + PRIOR);
        (share / self.average).clamp(LEAST, 1.0)
    }
}
