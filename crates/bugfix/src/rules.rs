//! Association rules from situations to fixes, and the order suggestions are given in.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use crate::Situation;

/// In situations with these descriptors, this fix was right so often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The antecedent: situation descriptors alone.
    pub descriptors: Situation,
    /// The consequent: one bug-fix description.
    pub fix: String,
    /// Scenarios with the descriptors and the fix.
    pub n_both: u32,
    /// Scenarios with the descriptors.
    pub n_situations: u32,
    /// Scenarios with the fix, in whatever situation: general descriptions have more.
    pub n_fix: u32,
}

/// With so many scenarios a single one is no rule any more.
const MANY: usize = 30;

/// Which rules count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Scenarios a rule must hold in.
    pub support: u32,
    /// The share of the scenarios with its descriptors in which it must hold.
    pub confidence: f64,
}

impl Default for Thresholds {
    /// As in the paper: rules are not limited by support, and right in four of five cases.
    fn default() -> Self {
        Self { support: 1, confidence: 0.8 }
    }
}

impl Thresholds {
    /// The default for so many scenarios: where there are many, one that happens to be alike says
    /// less than two that agree, and among hundreds some few agree on anything: of the many sets of
    /// descriptors that a situation has, one is always met by those few alone.
    pub fn for_scenarios(n: usize) -> Self {
        let fiftieth = u32::try_from(n / 50).unwrap_or(u32::MAX);
        Self { support: if n < MANY { 1 } else { fiftieth.max(2) }, ..Self::default() }
    }

    pub(crate) fn admit(&self, n_both: u32, n_situations: u32) -> bool {
        n_both >= self.support.max(1)
            && f64::from(n_both) >= self.confidence * f64::from(n_situations)
    }
}

impl Rule {
    pub fn confidence(&self) -> f64 {
        f64::from(self.n_both) / f64::from(self.n_situations.max(1))
    }

    /// Compares confidences without rounding.
    fn by_confidence(&self, other: &Rule) -> Ordering {
        compare_shares((self.n_both, self.n_situations), (other.n_both, other.n_situations))
    }
}

/// Compares `a.0 / a.1` with `b.0 / b.1`.
pub(crate) fn compare_shares(a: (u32, u32), b: (u32, u32)) -> Ordering {
    (u64::from(a.0) * u64::from(b.1)).cmp(&(u64::from(b.0) * u64::from(a.1)))
}

/// A rule in its place; rules that tie in confidence and in number of descriptors share a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    pub rank: u32,
    pub rule: Rule,
}

/// Section 8.2.2: of the rules whose descriptors are a subset of the situation, those with
/// more confidence first, then those with more descriptors. Ties are listed in the order of
/// how many scenarios speak for them, general descriptions before specific ones.
pub fn rank_rules(rules: Vec<Rule>, situation: &Situation) -> Vec<Ranked> {
    let mut rules: Vec<Rule> =
        rules.into_iter().filter(|rule| rule.descriptors.is_subset(situation)).collect();
    let by_priority =
        |a: &Rule, b: &Rule| b.by_confidence(a).then(b.descriptors.len().cmp(&a.descriptors.len()));
    rules.sort_by(|a, b| {
        by_priority(a, b)
            .then(b.n_both.cmp(&a.n_both))
            .then(b.n_fix.cmp(&a.n_fix))
            .then_with(|| a.fix.cmp(&b.fix))
            .then_with(|| a.descriptors.cmp(&b.descriptors))
    });
    let mut ranked: Vec<Ranked> = Vec::with_capacity(rules.len());
    for rule in rules {
        let rank = match ranked.last() {
            None => 1,
            Some(last) if by_priority(&last.rule, &rule) == Ordering::Equal => last.rank,
            Some(last) => last.rank + 1,
        };
        ranked.push(Ranked { rank, rule });
    }
    ranked
}

/// Each fix once, where its first rule stands, and ranks counted anew.
pub fn prioritise(rules: Vec<Rule>, situation: &Situation) -> Vec<Ranked> {
    let mut seen = BTreeSet::new();
    let mut kept = rank_rules(rules, situation);
    kept.retain(|ranked| seen.insert(ranked.rule.fix.clone()));
    count_ranks(&mut kept);
    kept
}

/// Ranks from 1 without gaps, where some rules of a ranked list were dropped.
pub(crate) fn count_ranks(kept: &mut [Ranked]) {
    let mut last = (0, 0);
    for ranked in kept {
        if ranked.rank != last.0 {
            last = (ranked.rank, last.1 + 1);
        }
        ranked.rank = last.1;
    }
}

/// Rules to read: the most general of the surest first.
pub fn in_reading_order(rules: &mut [Rule]) {
    rules.sort_by(|a, b| {
        b.by_confidence(a)
            .then(Reverse(a.n_both).cmp(&Reverse(b.n_both)))
            .then(a.descriptors.len().cmp(&b.descriptors.len()))
            .then_with(|| a.fix.cmp(&b.fix))
            .then_with(|| a.descriptors.cmp(&b.descriptors))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(descriptors: &str, fix: &str, percent: u32) -> Rule {
        Rule {
            descriptors: descriptors.split(' ').map(str::to_owned).collect(),
            fix: fix.to_owned(),
            n_both: percent,
            n_situations: 100,
            n_fix: 1,
        }
    }

    /// Figure 8.7: all 35 rules, with the rank of each that applies.
    #[test]
    fn figure_8_7() {
        let figure: &[(&str, &str, u32, u32)] = &[
            ("A", "a", 33, 8),
            ("A", "c", 33, 8),
            ("A", "e", 34, 6),
            ("B", "a", 14, 11),
            ("B", "b", 12, 12),
            ("B", "c", 33, 8),
            ("B", "d", 7, 13),
            ("B", "e", 34, 6),
            ("C", "a", 100, 0),
            ("D", "a", 71, 4),
            ("D", "b", 29, 10),
            ("E", "b", 12, 0),
            ("E", "d", 55, 0),
            ("E", "c", 33, 0),
            ("A B", "a", 33, 7),
            ("A B", "c", 33, 7),
            ("A B", "e", 34, 5),
            ("A C", "a", 100, 0),
            ("A D", "a", 100, 2),
            ("A E", "c", 100, 0),
            ("B C", "a", 100, 0),
            ("B D", "a", 71, 3),
            ("B D", "b", 29, 9),
            ("B E", "b", 12, 0),
            ("B E", "c", 33, 0),
            ("B E", "d", 55, 0),
            ("C D", "a", 100, 0),
            ("D E", "b", 100, 0),
            ("A B C", "a", 100, 0),
            ("A B D", "a", 100, 1),
            ("A B E", "c", 100, 0),
            ("A C D", "a", 100, 0),
            ("B C D", "a", 100, 0),
            ("B D E", "b", 100, 0),
            ("A B C D", "a", 100, 0),
        ];
        let situation: Situation = ["A", "B", "D", "F"].map(str::to_owned).into();
        let rules: Vec<Rule> = figure.iter().map(|(d, f, p, _)| rule(d, f, *p)).collect();
        let ranked = rank_rules(rules.clone(), &situation);
        for (descriptors, fix, percent, rank) in figure {
            let wanted = rule(descriptors, fix, *percent);
            let found = ranked.iter().find(|ranked| ranked.rule == wanted);
            assert_eq!(found.map_or(0, |ranked| ranked.rank), *rank, "{descriptors} -> {fix}");
        }
        let list = prioritise(rules, &situation);
        let fixes: Vec<&str> = list.iter().map(|ranked| ranked.rule.fix.as_str()).collect();
        assert_eq!(fixes, ["a", "e", "c", "b", "d"]);
        let ranks: Vec<u32> = list.iter().map(|ranked| ranked.rank).collect();
        assert_eq!(ranks, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn thresholds_are_shares_and_counts() {
        let thresholds = Thresholds { support: 2, confidence: 0.8 };
        assert!(thresholds.admit(4, 5) && thresholds.admit(2, 2));
        assert!(!thresholds.admit(3, 4) && !thresholds.admit(1, 1));
    }
}
