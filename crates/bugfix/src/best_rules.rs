//! For one situation, the best rule of each fix, found without making all rules.
//!
//! A situation has dozens of descriptors, and every subset of them may be the antecedent of a
//! rule. But rules whose antecedents are met by the same scenarios have the same confidence,
//! and of those the one with the most descriptors ranks first: only *closed* sets matter, which
//! are intersections of the situation with scenarios. They are enumerated once each by
//! extending a set with one descriptor and closing it, and a branch is left where no fix can
//! get a better rule than it has. The result is what ranking all of apriori's rules and folding
//! duplicates would give, which a property test compares.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use crate::database::Database;
use crate::rules::compare_shares;
use crate::{Rule, Situation, Thresholds};

/// Descriptors of the situation that take part; what one has beyond that is left out.
const MAX_DESCRIPTORS: usize = 256;

/// Scenarios looked at before the search ends with what it has; bounds the time of a query.
const MAX_WORK: usize = 4_000_000;

/// Descriptors of the situation, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Mask([u64; MAX_DESCRIPTORS / 64]);

impl Mask {
    const ALL: Mask = Mask([u64::MAX; MAX_DESCRIPTORS / 64]);

    fn set(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn and(&self, other: &Mask) -> Mask {
        let mut both = *self;
        both.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= b);
        both
    }

    fn is_subset(&self, other: &Mask) -> bool {
        self.0.iter().zip(other.0).all(|(a, b)| a & !b == 0)
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether both agree on the bits below one.
    fn agrees_below(&self, other: &Mask, bit: usize) -> bool {
        (0..bit.div_ceil(64)).all(|word| {
            let n_bits = bit - word * 64;
            let wanted = if n_bits >= 64 { u64::MAX } else { (1 << n_bits) - 1 };
            (self.0[word] ^ other.0[word]) & wanted == 0
        })
    }
}

/// Scenarios that have the same in common with the situation.
struct Group {
    mask: Mask,
    n: u32,
    /// How many have which fix.
    fixes: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
struct Best {
    n_both: u32,
    n_situations: u32,
    mask: Mask,
}

impl Best {
    fn compare(&self, other: &Best) -> Ordering {
        let share = |best: &Best| (best.n_both, best.n_situations);
        compare_shares(share(self), share(other))
            .then(self.mask.len().cmp(&other.mask.len()))
            .then(self.n_both.cmp(&other.n_both))
            .then(other.mask.cmp(&self.mask))
    }

    fn is_sure(&self) -> bool {
        self.n_both == self.n_situations
    }
}

/// The best rule of each fix, and whether a better one may have been missed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BestRules {
    pub rules: Vec<Rule>,
    /// The search had to end early: there are too many scenarios for rules of so little support.
    pub is_cut: bool,
}

pub fn best_rules(database: &Database, situation: &Situation, thresholds: Thresholds) -> BestRules {
    best_rules_without(database, situation, thresholds, |_| false)
}

/// The same, as if some scenarios had not been learned.
pub(crate) fn best_rules_without(
    database: &Database,
    situation: &Situation,
    thresholds: Thresholds,
    is_left_out: impl Fn(usize) -> bool,
) -> BestRules {
    let mut bits = database.known(situation);
    bits.truncate(MAX_DESCRIPTORS);
    let groups = grouped(database, &bits, is_left_out);
    let n_fixes = database.fixes.len();
    let mut search = Search {
        groups: &groups,
        n_bits: bits.len(),
        thresholds,
        best: vec![None; n_fixes],
        is_settled: vec![false; n_fixes],
        work: 0,
        is_cut: false,
    };
    search.seed();
    let all: Vec<u32> = (0..groups.len() as u32).collect();
    search.visit(&all, 0);
    let mut n_fix = vec![0; n_fixes];
    for (fix, n) in groups.iter().flat_map(|group| &group.fixes) {
        n_fix[*fix as usize] += n;
    }
    let found = search.best.iter().enumerate().filter_map(|(fix, best)| Some((fix, (*best)?)));
    let rules = found.map(|(fix, best)| {
        let numbers = bits.iter().enumerate().filter(|(bit, _)| best.mask.has(*bit));
        Rule {
            descriptors: numbers.map(|(_, d)| database.descriptors.text(*d).to_owned()).collect(),
            fix: database.fixes.text(fix as u32).to_owned(),
            n_both: best.n_both,
            n_situations: best.n_situations,
            n_fix: n_fix[fix],
        }
    });
    BestRules { rules: rules.collect(), is_cut: search.is_cut }
}

/// The scenarios by what they share with the situation, those with most in common first.
fn grouped(database: &Database, bits: &[u32], is_left_out: impl Fn(usize) -> bool) -> Vec<Group> {
    let mut bit_of = vec![usize::MAX; database.descriptors.len()];
    bits.iter().enumerate().for_each(|(bit, d)| bit_of[*d as usize] = bit);
    let mut groups: HashMap<Mask, (u32, BTreeMap<u32, u32>)> = HashMap::new();
    for (number, entry) in database.entries.iter().enumerate() {
        if is_left_out(number) {
            continue;
        }
        let mut mask = Mask::default();
        let shared = entry.descriptors.iter().map(|d| bit_of[*d as usize]);
        shared.filter(|bit| *bit != usize::MAX).for_each(|bit| mask.set(bit));
        let group = groups.entry(mask).or_default();
        group.0 += 1;
        entry.fixes.iter().for_each(|fix| *group.1.entry(*fix).or_default() += 1);
    }
    let mut groups: Vec<Group> = groups
        .into_iter()
        .map(|(mask, (n, fixes))| Group { mask, n, fixes: fixes.into_iter().collect() })
        .collect();
    groups.sort_by(|a, b| b.mask.len().cmp(&a.mask.len()).then(a.mask.cmp(&b.mask)));
    groups
}

struct Search<'a> {
    groups: &'a [Group],
    n_bits: usize,
    thresholds: Thresholds,
    /// By fix.
    best: Vec<Option<Best>>,
    /// Fixes whose best rule is known to be the best there is.
    is_settled: Vec<bool>,
    work: usize,
    is_cut: bool,
}

impl Search<'_> {
    /// What a scenario has in common with the situation is a closed set. Where that has no other
    /// outcome, and no larger one of the fix has none either, no rule of the fix can be better:
    /// any sure rule is a subset of such a set.
    fn seed(&mut self) {
        for (number, group) in self.groups.iter().enumerate() {
            if group.mask == Mask::default() {
                continue;
            }
            let open = group.fixes.iter().any(|(fix, _)| {
                self.best[*fix as usize]
                    .is_none_or(|best| !best.is_sure() || best.mask.len() == group.mask.len())
            });
            if !open {
                continue;
            }
            // Supersets are at least as large, so they stand before.
            let ends = self.groups[number..].partition_point(|g| g.mask.len() == group.mask.len());
            let larger = &self.groups[..number + ends];
            self.work += larger.len();
            let tids: Vec<u32> = (0..larger.len() as u32)
                .filter(|g| group.mask.is_subset(&larger[*g as usize].mask))
                .collect();
            self.consider(group.mask, &tids);
        }
        if self.thresholds.support <= 1 {
            for (best, is_settled) in self.best.iter().zip(&mut self.is_settled) {
                *is_settled = best.is_some_and(|best| best.is_sure());
            }
        }
    }

    /// The rules of a closed set, from the groups that contain it.
    fn consider(&mut self, mask: Mask, tids: &[u32]) -> BTreeMap<u32, u32> {
        let mut n_situations = 0;
        let mut n_both: BTreeMap<u32, u32> = BTreeMap::new();
        for group in tids.iter().map(|g| &self.groups[*g as usize]) {
            n_situations += group.n;
            group.fixes.iter().for_each(|(fix, n)| *n_both.entry(*fix).or_default() += n);
        }
        if mask != Mask::default() {
            for (fix, n) in &n_both {
                let new = Best { n_both: *n, n_situations, mask };
                let best = &mut self.best[*fix as usize];
                let is_better = best.is_none_or(|best| new.compare(&best) == Ordering::Greater);
                if self.thresholds.admit(*n, n_situations) && is_better {
                    *best = Some(new);
                }
            }
        }
        n_both
    }

    /// Visits the closed set of some groups and what can be made from it with descriptors from
    /// `from` on.
    fn visit(&mut self, tids: &[u32], from: usize) {
        self.work += tids.len();
        if self.work > MAX_WORK {
            self.is_cut = true;
            return;
        }
        let closure = tids.iter().fold(Mask::ALL, |all, g| all.and(&self.groups[*g as usize].mask));
        let n_both = self.consider(closure, tids);
        // Groups are in the order of their size.
        let largest = tids.first().map_or(0, |g| self.groups[*g as usize].mask.len());
        let can_improve = |fix: u32, n: u32| {
            let best = self.best[fix as usize];
            !self.is_settled[fix as usize]
                && n >= self.thresholds.support.max(1)
                && best.is_none_or(|best| !best.is_sure() || best.mask.len() < largest)
        };
        if !n_both.iter().any(|(fix, n)| can_improve(*fix, *n)) {
            return;
        }
        for bit in (from..self.n_bits).filter(|bit| !closure.has(*bit)) {
            let with: Vec<u32> =
                tids.iter().copied().filter(|g| self.groups[*g as usize].mask.has(bit)).collect();
            self.work += tids.len() / 8;
            if with.is_empty() {
                continue;
            }
            let closed =
                with.iter().fold(Mask::ALL, |all, g| all.and(&self.groups[*g as usize].mask));
            // Each closed set is reached from one other only: it must not bring in descriptors
            // that stood open before.
            if closed.agrees_below(&closure, bit) {
                self.visit(&with, bit + 1);
            }
            if self.is_cut {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Scenario, apriori, prioritise};

    fn scenarios() -> impl Strategy<Value = Vec<Scenario>> {
        let set = |letters: &'static str, sizes: std::ops::Range<usize>| {
            let letters: Vec<char> = letters.chars().collect();
            prop::collection::btree_set(prop::sample::select(letters), sizes)
                .prop_map(|set| set.into_iter().map(String::from).collect())
        };
        let scenario = (set("ABCDEFGH", 0..7), set("xyz", 1..3))
            .prop_map(|(situation, fixes)| Scenario { origin: String::new(), situation, fixes });
        prop::collection::vec(scenario, 1..12)
    }

    fn thresholds() -> impl Strategy<Value = Thresholds> {
        (1u32..4, prop::sample::select(vec![0.0, 0.5, 0.8, 1.0]))
            .prop_map(|(support, confidence)| Thresholds { support, confidence })
    }

    proptest! {
        /// The short way gives what ranking all of apriori's rules gives.
        #[test]
        fn the_best_of_all_rules(scenarios in scenarios(), thresholds in thresholds()) {
            let all = apriori(&scenarios, thresholds, usize::MAX);
            let database: Database = scenarios.iter().collect();
            for asked in &scenarios {
                let situation = &asked.situation;
                let read = |rules: Vec<Rule>| {
                    let list = prioritise(rules, situation);
                    let read = list.into_iter().map(|ranked| {
                        let rule = ranked.rule;
                        let counts = (rule.n_both, rule.n_situations);
                        (rule.fix, ranked.rank, rule.descriptors.len(), counts)
                    });
                    let mut read: Vec<_> = read.collect();
                    read.sort();
                    read
                };
                let best = best_rules(&database, situation, thresholds);
                prop_assert!(!best.is_cut);
                prop_assert_eq!(read(best.rules), read(all.rules.clone()));
            }
        }
    }
}
