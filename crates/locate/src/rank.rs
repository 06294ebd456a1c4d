//! Ranked lists of statements and the paper's measure of them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::consistency::{StatementChange, support};
use crate::{Consistency, Formula, Ivmps, Session, Spectrum, StatementId, Support};

/// A statement with its place in the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    pub statement: StatementId,
    /// From 1; tied statements share the rank of the last of them, since all of them would
    /// have to be looked at.
    pub rank: u32,
    /// What the list is sorted by before ties.
    pub suspiciousness: usize,
    /// Failing tests with an IVMP here.
    pub n_tests: usize,
    pub support: Support,
    /// Whether some value arises here: of two statements with the same evidence, the one that
    /// computes the value comes before the one that passes it on.
    pub is_origin: bool,
    pub tie_break: f64,
}

impl Ranked {
    /// Larger is more suspicious.
    pub(crate) fn key(&self) -> (usize, bool, bool) {
        let is_supported_origin = self.is_origin && self.suspiciousness > 0;
        (self.suspiciousness, is_supported_origin, self.n_tests > 0)
    }

    /// One number in the order of the list.
    pub fn as_number(&self) -> f64 {
        // Formulas may be unbounded; an infinite one is the largest number JSON can hold.
        let tie_break = self.tie_break.min(f64::MAX);
        let (suspiciousness, is_origin, has_ivmp) = self.key();
        if suspiciousness == 0 && !has_ivmp {
            return tie_break / 4.0;
        }
        let share = |is: bool, part: f64| if is { part } else { 0.0 };
        suspiciousness as f64 + share(is_origin, 0.5) + share(has_ivmp, 0.25) + tie_break / 4.01
    }
}

/// A failing run, as far as ranking needs to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailingRun {
    pub executed: BTreeSet<StatementId>,
    /// Statements with an IVMP in this run.
    pub ivmps: BTreeSet<StatementId>,
    /// Changes of statements that turn it around and that no passing test contradicts.
    pub changes: BTreeSet<StatementChange>,
}

impl FailingRun {
    /// Some failing tests of a session, by index.
    pub fn of_tests(
        session: &Session<'_>,
        tests: &[usize],
        ivmps: &Ivmps,
        consistency: &Consistency,
    ) -> BTreeMap<usize, FailingRun> {
        let of_test = |test: &usize| {
            let found = ivmps.found.get(test);
            let run = FailingRun {
                executed: session.tests[*test].covered.clone(),
                ivmps: found.map_or_else(BTreeSet::new, |f| f.keys().copied().collect()),
                changes: consistency.changes.get(test).cloned().unwrap_or_default(),
            };
            (*test, run)
        };
        tests.iter().map(of_test).collect()
    }
}

/// What a list is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The number of failing tests with an IVMP, ties by Tarantula: as the paper does.
    Paper,
    /// How many failing tests a change of the statement turns around that no passing test
    /// contradicts, and, three times as much, how many one such change does by itself. Then origins of values before
    /// statements that pass them on, statements with IVMPs before others, and by Ochiai.
    Support,
}

/// Ranks the statements that some of the runs execute, by what is known of these runs alone.
pub fn rank_runs<'r>(
    session: &Session<'_>,
    runs: impl Iterator<Item = &'r FailingRun> + Clone,
    order: Order,
) -> Vec<Ranked> {
    let statements: BTreeSet<StatementId> =
        runs.clone().flat_map(|run| run.executed.iter().copied()).collect();
    let supports = support(runs.clone().map(|run| &run.changes));
    let passing = session.tests.iter().filter(|test| test.passed).map(|test| &test.covered);
    let list = statements.into_iter().map(|s| {
        let spectrum = Spectrum::of(s, runs.clone().map(|run| &run.executed), passing.clone());
        let n_tests = runs.clone().filter(|run| run.ivmps.contains(&s)).count();
        let support = supports.get(&s).copied().unwrap_or_default();
        match order {
            Order::Paper => Ranked {
                suspiciousness: n_tests,
                n_tests,
                ..unranked(s, Formula::Tarantula.suspiciousness(&spectrum))
            },
            Order::Support => Ranked {
                suspiciousness: suspiciousness(support),
                n_tests,
                support,
                is_origin: session.statements.is_origin(s),
                ..unranked(s, Formula::Ochiai.suspiciousness(&spectrum))
            },
        }
    });
    sorted(list.collect())
}

/// What one change turns around by itself counts three times: where several faults fail tests,
/// a statement that reads the input turns each failing test around by a change of its own,
/// which no other test can contradict, while a fault explains its own tests by one change.
fn suspiciousness(support: Support) -> usize {
    support.n_consistent + 3 * support.n_explained
}

/// By the number of failing tests with an IVMP, ties by Tarantula: as the paper does.
pub fn rank_as_paper(session: &Session<'_>, ivmps: &Ivmps) -> Vec<Ranked> {
    let none = Consistency::default();
    let runs = FailingRun::of_tests(session, &session.failing(), ivmps, &none);
    rank_runs(session, runs.values(), Order::Paper)
}

/// By changes of statements that hold in whole runs: see [`Order::Support`].
pub fn rank(session: &Session<'_>, ivmps: &Ivmps, consistency: &Consistency) -> Vec<Ranked> {
    let runs = FailingRun::of_tests(session, &session.failing(), ivmps, consistency);
    rank_runs(session, runs.values(), Order::Support)
}

/// By a coverage formula alone.
pub fn rank_by_formula(session: &Session<'_>, formula: Formula) -> Vec<Ranked> {
    let list = session.executed_by_failing().into_iter();
    sorted(list.map(|s| unranked(s, session.suspiciousness(s, formula))).collect())
}

pub(crate) fn unranked(statement: StatementId, tie_break: f64) -> Ranked {
    Ranked {
        statement,
        rank: 0,
        suspiciousness: 0,
        n_tests: 0,
        support: Support::default(),
        is_origin: false,
        tie_break,
    }
}

fn compare(a: &Ranked, b: &Ranked) -> Ordering {
    b.key().cmp(&a.key()).then(b.tie_break.total_cmp(&a.tie_break))
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
        let unranked = unranked(StatementId(statement), tie_break);
        Ranked { suspiciousness: n_tests, n_tests, ..unranked }
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

    #[test]
    fn one_change_for_several_tests_outweighs_a_change_for_each() {
        let fault = Support { n_consistent: 4, n_explained: 4 };
        let input = Support { n_consistent: 12, n_explained: 1 };
        assert!(suspiciousness(fault) > suspiciousness(input));
    }

    #[test]
    fn a_value_is_computed_before_it_is_passed_on() {
        let origin = |entry: Ranked| Ranked { is_origin: true, ..entry };
        let list = sorted(vec![
            entry(0, 2, 0.9),
            origin(entry(1, 2, 0.1)),
            entry(2, 0, 0.9),
            origin(entry(3, 0, 0.1)),
        ]);
        let order: Vec<u32> = list.iter().map(|r| r.statement.0).collect();
        assert_eq!(order, [1, 0, 2, 3], "without evidence only the tie-break counts");
        let numbers: Vec<f64> = list.iter().map(Ranked::as_number).collect();
        assert!(numbers.is_sorted_by(|a, b| a > b), "{numbers:?}");
    }
}
