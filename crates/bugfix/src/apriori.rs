//! All rules of a database of scenarios, by the apriori algorithm: frequent sets of descriptors
//! grow by one descriptor per level, and a set with an infrequent subset is never counted.
//!
//! Antecedents are descriptors and consequents single fixes. Without a limit on support their
//! number is exponential in the size of a situation; what a given situation needs of them is
//! found by [`crate::best_rules`] without making the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Rule, Scenario, Thresholds};

/// The rules, and whether there are more than asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// Sets of descriptors were left out because there were too many.
    pub is_cut: bool,
}

/// Scenarios by number, as bits.
type Bits = Vec<u64>;

struct Level<'a> {
    sets: Vec<(Vec<&'a str>, Bits)>,
}

/// The rules over at most `max_sets` frequent sets of descriptors, the smallest sets first.
pub fn apriori(scenarios: &[Scenario], thresholds: Thresholds, max_sets: usize) -> Rules {
    let by_descriptor = bits_by(scenarios, |scenario| &scenario.situation);
    let by_fix = bits_by(scenarios, |scenario| &scenario.fixes);
    let support = thresholds.support.max(1);
    let singles = by_descriptor.into_iter().filter(|(_, bits)| count(bits) >= support);
    let mut level =
        Level { sets: singles.map(|(descriptor, bits)| (vec![descriptor], bits)).collect() };
    let mut found = Rules::default();
    let mut n_sets = 0;
    while !level.sets.is_empty() {
        n_sets += level.sets.len();
        for (set, bits) in &level.sets {
            add_rules(set, bits, &by_fix, thresholds, &mut found.rules);
        }
        let room = max_sets.saturating_sub(n_sets);
        let (next, is_cut) = level.next(support, room);
        found.is_cut |= is_cut;
        if is_cut {
            break;
        }
        level = next;
    }
    found
}

fn bits_by<'a>(
    scenarios: &'a [Scenario],
    items: impl Fn(&'a Scenario) -> &'a BTreeSet<String>,
) -> BTreeMap<&'a str, Bits> {
    let mut by_item: BTreeMap<&str, Bits> = BTreeMap::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        for item in items(scenario) {
            let bits = by_item.entry(item).or_insert_with(|| vec![0; scenarios.len().div_ceil(64)]);
            bits[number / 64] |= 1 << (number % 64);
        }
    }
    by_item
}

fn count(bits: &[u64]) -> u32 {
    bits.iter().map(|word| word.count_ones()).sum()
}

fn both(a: &[u64], b: &[u64]) -> Bits {
    a.iter().zip(b).map(|(a, b)| a & b).collect()
}

fn add_rules(
    set: &[&str],
    bits: &Bits,
    by_fix: &BTreeMap<&str, Bits>,
    thresholds: Thresholds,
    rules: &mut Vec<Rule>,
) {
    let n_situations = count(bits);
    for (fix, with_fix) in by_fix {
        let n_both = bits.iter().zip(with_fix).map(|(a, b)| (a & b).count_ones()).sum();
        if thresholds.admit(n_both, n_situations) {
            rules.push(Rule {
                descriptors: set.iter().map(|descriptor| descriptor.to_string()).collect(),
                fix: fix.to_string(),
                n_both,
                n_situations,
                n_fix: count(with_fix),
            });
        }
    }
}

impl<'a> Level<'a> {
    /// Joins sets that differ in their last descriptor. All sets of a level are in order, so
    /// that those with a common beginning are neighbours.
    fn next(&self, support: u32, room: usize) -> (Level<'a>, bool) {
        let known: BTreeSet<&[&str]> = self.sets.iter().map(|(set, _)| set.as_slice()).collect();
        let mut next = Level { sets: Vec::new() };
        for (number, (set, bits)) in self.sets.iter().enumerate() {
            let (last, beginning) = set.split_last().expect("no set is empty");
            for (other, other_bits) in &self.sets[number + 1..] {
                if !other.starts_with(beginning) {
                    break;
                }
                let mut joined = beginning.to_vec();
                joined.extend([*last, other[other.len() - 1]]);
                if !subsets_are_known(&joined, &known) {
                    continue;
                }
                let joined_bits = both(bits, other_bits);
                if count(&joined_bits) < support {
                    continue;
                }
                if next.sets.len() == room {
                    return (next, true);
                }
                next.sets.push((joined, joined_bits));
            }
        }
        (next, false)
    }
}

fn subsets_are_known(set: &[&str], known: &BTreeSet<&[&str]>) -> bool {
    (0..set.len()).all(|left_out| {
        let mut subset = set.to_vec();
        subset.remove(left_out);
        known.contains(subset.as_slice())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(situation: &str, fixes: &str) -> Scenario {
        let set = |text: &str| text.chars().map(String::from).collect();
        Scenario { origin: String::new(), situation: set(situation), fixes: set(fixes) }
    }

    #[test]
    fn rules_have_their_counts() {
        let scenarios =
            [scenario("AB", "x"), scenario("ABC", "x"), scenario("AC", "y"), scenario("A", "x")];
        let thresholds = Thresholds { support: 2, confidence: 0.7 };
        let found = apriori(&scenarios, thresholds, 100);
        assert!(!found.is_cut);
        let read: Vec<(String, &str, u32, u32)> = found
            .rules
            .iter()
            .map(|r| {
                let set: Vec<&str> = r.descriptors.iter().map(String::as_str).collect();
                (set.concat(), r.fix.as_str(), r.n_both, r.n_situations)
            })
            .collect();
        let expected = [("A", 3, 4), ("B", 2, 2), ("AB", 2, 2)];
        assert_eq!(read, expected.map(|(set, both, n)| (set.to_string(), "x", both, n)));
        assert!(apriori(&scenarios, thresholds, 3).is_cut);
    }
}
