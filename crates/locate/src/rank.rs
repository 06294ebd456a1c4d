//! Ranked lists of statements and the paper's measure of them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::{Consistency, Formula, Ivmps, Session, StatementId, Support};

/// A statement with its place in the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    pub statement: StatementId,
    /// From 1; tied statements share the rank of the last of them, since all of them would
    /// have to be looked at.
    pub rank: u32,
    /// Failing tests with an IVMP here.
    pub n_tests: usize,
    pub support: Support,
    pub tie_break: f64,
}

impl Ranked {
    /// What the list is sorted by before ties: failing tests with an IVMP, and what speaks
    /// for these IVMPs beyond the single run.
    pub fn suspiciousness(&self) -> usize {
        self.n_tests + self.support.n_consistent + self.support.n_explained
    }
}

/// By the number of failing tests with an IVMP, ties by Tarantula: as the paper does. With
/// `consistency`, IVMPs that passing tests do not contradict and those that explain several
/// failing tests at once count more.
pub fn rank(
    session: &Session<'_>,
    ivmps: &Ivmps,
    consistency: Option<&Consistency>,
) -> Vec<Ranked> {
    let failing = session.failing();
    let list = session.executed_by_failing().into_iter().map(|s| Ranked {
        statement: s,
        rank: 0,
        n_tests: ivmps.n_tests(s, &failing),
        support: consistency.and_then(|c| c.support.get(&s)).copied().unwrap_or_default(),
        tie_break: session.suspiciousness(s, Formula::Tarantula),
    });
    sorted(list.collect())
}

/// By a coverage formula alone.
pub fn rank_by_formula(session: &Session<'_>, formula: Formula) -> Vec<Ranked> {
    let list = session.executed_by_failing().into_iter().map(|s| Ranked {
        statement: s,
        rank: 0,
        n_tests: 0,
        support: Support::default(),
        tie_break: session.suspiciousness(s, formula),
    });
    sorted(list.collect())
}

fn compare(a: &Ranked, b: &Ranked) -> Ordering {
    b.suspiciousness().cmp(&a.suspiciousness()).then(b.tie_break.total_cmp(&a.tie_break))
}

pub(crate) fn sorted(mut list: Vec<Ranked>) -> Vec<Ranked> {
    list.sort_by(|a, b| compare(a, b).then(a.statement.cmp(&b.statement)));
    let mut end = list.len();
    for index in (0..list.len()).rev() {
        if index + 1 < list.len() && compare(&list[index], &list[index + 1]) != Ordering::Equal {
            end = index + 1;
        }
        list[index].rank = end as u32;
    }
    list
}

/// Definition 6: the percentage of ranked statements that need not be looked at before the
/// first faulty one. `None` where no faulty statement is in the list.
pub fn score(list: &[Ranked], faulty: &BTreeSet<StatementId>) -> Option<f64> {
    let rank = list.iter().filter(|r| faulty.contains(&r.statement)).map(|r| r.rank).min()?;
    Some(f64::from(list.len() as u32 - rank) / list.len() as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(statement: u32, n_tests: usize, tie_break: f64) -> Ranked {
        let support = Support::default();
        Ranked { statement: StatementId(statement), rank: 0, n_tests, support, tie_break }
    }

    #[test]
    fn ties_share_the_last_rank() {
        let list = sorted(vec![
            entry(0, 1, 0.5),
            entry(1, 2, 0.5),
            entry(2, 2, 0.9),
            entry(3, 2, 0.9),
            entry(4, 0, 0.5),
        ]);
        let ranks: Vec<(u32, u32)> = list.iter().map(|r| (r.statement.0, r.rank)).collect();
        assert_eq!(ranks, [(2, 2), (3, 2), (1, 3), (0, 4), (4, 5)]);
        assert_eq!(score(&list, &BTreeSet::from([StatementId(1)])), Some(40.0));
        assert_eq!(score(&list, &BTreeSet::from([StatementId(9)])), None);
    }
}
