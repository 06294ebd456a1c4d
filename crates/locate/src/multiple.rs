//! Several faults at once (chapter 3).
//!
//! Minimal recomputation ranks once; full recomputation ranks anew after each fix. Partial
//! recomputation, here, keeps a list for every statement made from the failing runs that
//! execute it, and reports the one most likely to lead to a fault; after a fix only runs that
//! it may have changed are searched again. Clusters put failing runs together whose
//! IVMPs lie at the same statements.

use std::collections::{BTreeMap, BTreeSet};

use crate::consistency::StatementChange;
use crate::{FailingRun, Order, Ranked, StatementId};

/// Ranks the statements some runs execute, by these runs alone.
pub type RankRuns<'a> = &'a dyn Fn(&[&FailingRun]) -> Vec<Ranked>;

/// The state of partial recomputation.
#[derive(Clone, Debug)]
pub struct Partial<Key: Ord> {
    /// What is known of the runs that still fail.
    pub runs: BTreeMap<Key, FailingRun>,
    /// Statements of the lists reported so far, in their order.
    reported: Vec<Vec<StatementId>>,
    /// Statements whose list was reported.
    used: BTreeSet<StatementId>,
    order: Order,
}

/// Statements by which a list must differ from those reported, before it counts as
/// different (the paper's D).
const DIFFERENCE: usize = 10;

impl<Key: Ord + Clone> Partial<Key> {
    pub fn new(runs: BTreeMap<Key, FailingRun>, order: Order) -> Self {
        Self { runs, reported: Vec::new(), used: BTreeSet::new(), order }
    }

    /// The next list to look at: the one whose front is most suspicious. In the paper's order
    /// that holds the first time alone, and later lists are those that differ most from what
    /// was reported. With lists ordered by support that would only lead away from what the runs
    /// still show.
    pub fn next_list(&mut self, rank: RankRuns<'_>) -> Option<Vec<Ranked>> {
        let lists = self.lists(rank);
        let chosen = if self.reported.is_empty() || self.order == Order::Support {
            most_suspicious(&lists)
        } else {
            most_different(&lists, &self.reported)
        }?;
        let (statement, list) = lists.into_iter().nth(chosen)?;
        self.used.insert(statement);
        self.reported.push(list.iter().map(|ranked| ranked.statement).collect());
        Some(list)
    }

    /// One list for each statement not yet used, from the runs that execute it. Statements
    /// that the same runs execute have the same list.
    fn lists(&self, rank: RankRuns<'_>) -> Vec<(StatementId, Vec<Ranked>)> {
        let statements: BTreeSet<StatementId> =
            self.runs.values().flat_map(|run| run.executed.iter().copied()).collect();
        let mut by_runs: BTreeMap<Vec<&Key>, Vec<Ranked>> = BTreeMap::new();
        let mut list_of = |statement: &StatementId| {
            let through: Vec<(&Key, &FailingRun)> =
                self.runs.iter().filter(|(_, run)| run.executed.contains(statement)).collect();
            let (keys, runs): (Vec<&Key>, Vec<&FailingRun>) = through.into_iter().unzip();
            (*statement, by_runs.entry(keys).or_insert_with(|| rank(&runs)).clone())
        };
        statements.difference(&self.used).map(&mut list_of).collect()
    }

    /// Renames statements after the sources changed; those that are gone are forgotten.
    pub fn translate(&mut self, to: &BTreeMap<StatementId, StatementId>) {
        let rename = |set: &BTreeSet<StatementId>| -> BTreeSet<StatementId> {
            set.iter().filter_map(|s| to.get(s).copied()).collect()
        };
        for run in self.runs.values_mut() {
            run.executed = rename(&run.executed);
            run.ivmps = rename(&run.ivmps);
            run.changes = std::mem::take(&mut run.changes)
                .into_iter()
                .filter_map(|c| Some(StatementChange { statement: *to.get(&c.statement)?, ..c }))
                .collect();
        }
        self.used = rename(&self.used);
        for list in &mut self.reported {
            *list = list.iter().filter_map(|s| to.get(s).copied()).collect();
        }
    }

    /// After `fixed` was repaired: runs that pass now are dropped, and the runs that still
    /// fail and execute it are to be searched again. Returns those. A fix whose statement is not
    /// known may have touched any run.
    pub fn after_fix(
        &mut self,
        fixed: Option<StatementId>,
        still_failing: &BTreeMap<Key, BTreeSet<StatementId>>,
    ) -> Vec<Key> {
        self.runs.retain(|key, _| still_failing.contains_key(key));
        for (key, run) in &mut self.runs {
            run.executed.clone_from(&still_failing[key]);
        }
        still_failing
            .iter()
            .filter(|(key, executed)| {
                // A run that passed before and fails now was never searched.
                fixed.is_none_or(|fixed| executed.contains(&fixed)) || !self.runs.contains_key(key)
            })
            .map(|(key, _)| key.clone())
            .collect()
    }
}

/// The list with the most suspicious front; ties go to the later entries, then to the
/// first list.
fn most_suspicious(lists: &[(StatementId, Vec<Ranked>)]) -> Option<usize> {
    let front = |index: usize| lists[index].1.iter().map(Ranked::key).collect::<Vec<_>>();
    let mut best = None;
    for index in 0..lists.len() {
        if best.is_none_or(|best| front(index) > front(best)) {
            best = Some(index);
        }
    }
    best
}

/// All lists are read from the front in step; the first that has so many statements that no
/// reported list has among as many of its own first ones is the most different.
fn most_different(
    lists: &[(StatementId, Vec<Ranked>)],
    reported: &[Vec<StatementId>],
) -> Option<usize> {
    let longest = lists.iter().map(|(_, list)| list.len()).max()?;
    let mut best = (0, None);
    for depth in 1..=longest {
        let seen: BTreeSet<StatementId> =
            reported.iter().flat_map(|list| list.iter().take(depth).copied()).collect();
        for (index, (_, list)) in lists.iter().enumerate() {
            // A statement without an IVMP says nothing about a fault.
            let front = list.iter().take(depth).filter(|r| r.suspiciousness > 0 || r.n_tests > 0);
            let different = front.filter(|ranked| !seen.contains(&ranked.statement)).count();
            if different >= DIFFERENCE {
                return Some(index);
            }
            if best.1.is_none() || different > best.0 {
                best = (different, Some(index));
            }
        }
    }
    best.1
}

/// Failing runs whose IVMP statements overlap (Jaccard similarity at least `threshold`),
/// directly or through others, in one cluster. In the order of each cluster's first run.
pub fn clusters<Key: Ord + Clone>(
    runs: &BTreeMap<Key, FailingRun>,
    threshold: f64,
) -> Vec<Vec<Key>> {
    let keys: Vec<&Key> = runs.keys().collect();
    let mut cluster_of: Vec<usize> = (0..keys.len()).collect();
    for a in 0..keys.len() {
        for b in a + 1..keys.len() {
            if similarity(&runs[keys[a]].ivmps, &runs[keys[b]].ivmps) >= threshold {
                let (low, high) = ordered(cluster_of[a], cluster_of[b]);
                cluster_of.iter_mut().filter(|c| **c == high).for_each(|c| *c = low);
            }
        }
    }
    let mut clusters: BTreeMap<usize, Vec<Key>> = BTreeMap::new();
    for (key, cluster) in keys.iter().zip(cluster_of) {
        clusters.entry(cluster).or_default().push((*key).clone());
    }
    clusters.into_values().collect()
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

fn similarity(a: &BTreeSet<StatementId>, b: &BTreeSet<StatementId>) -> f64 {
    let union = a.union(b).count();
    if union == 0 { 1.0 } else { a.intersection(b).count() as f64 / union as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::{sorted, unranked};

    fn set(statements: &[u32]) -> BTreeSet<StatementId> {
        statements.iter().map(|s| StatementId(*s)).collect()
    }

    fn run(executed: &[u32], ivmps: &[u32]) -> FailingRun {
        FailingRun { executed: set(executed), ivmps: set(ivmps), changes: BTreeSet::new() }
    }

    /// Figure 3.5: statements 2 and 4 are faulty; runs 1 and 2 fail because of 2, run 3
    /// because of 4.
    fn figure() -> BTreeMap<u32, FailingRun> {
        BTreeMap::from([
            (1, run(&[1, 2, 3, 5], &[2, 5])),
            (2, run(&[1, 2, 3, 5], &[1, 2])),
            (3, run(&[1, 2, 4, 5], &[2, 4, 5])),
        ])
    }

    /// By the number of runs with an IVMP alone.
    fn by_ivmps(runs: &[&FailingRun]) -> Vec<Ranked> {
        let statements: BTreeSet<StatementId> =
            runs.iter().flat_map(|run| run.executed.iter().copied()).collect();
        let ranked = |s: StatementId| {
            let n_tests = runs.iter().filter(|run| run.ivmps.contains(&s)).count();
            Ranked { suspiciousness: n_tests, n_tests, ..unranked(s, 0.0) }
        };
        sorted(statements.into_iter().map(ranked).collect())
    }

    fn front(list: &[Ranked]) -> (u32, usize) {
        (list[0].statement.0, list[0].n_tests)
    }

    #[test]
    fn partial_recomputation_reports_one_fault_after_the_other() {
        let mut partial = Partial::new(figure(), Order::Paper);
        let first = partial.next_list(&by_ivmps).expect("there are lists");
        assert_eq!(front(&first), (2, 3), "the list starts with the first fault");
        // Figure 3.6: statement 2 is fixed, only run 3 fails, and executes statement 2.
        let failing = BTreeMap::from([(3, set(&[1, 2, 4, 5]))]);
        assert_eq!(partial.after_fix(Some(StatementId(2)), &failing), [3]);
        partial.runs.insert(3, run(&[1, 2, 4, 5], &[4]));
        let second = partial.next_list(&by_ivmps).expect("a run still fails");
        assert_eq!(front(&second), (4, 1), "the list starts with the second fault");
    }

    #[test]
    fn a_list_counts_only_runs_that_execute_its_statement() {
        let partial = Partial::new(figure(), Order::Paper);
        let lists: BTreeMap<StatementId, Vec<Ranked>> =
            partial.lists(&by_ivmps).into_iter().collect();
        let of_4 = lists[&StatementId(4)].iter().filter(|ranked| ranked.n_tests == 1);
        assert_eq!(of_4.map(|ranked| ranked.statement.0).collect::<Vec<_>>(), [2, 4, 5]);
    }

    #[test]
    fn only_runs_through_the_fixed_statement_are_searched_again() {
        let mut partial = Partial::new(figure(), Order::Paper);
        let failing =
            BTreeMap::from([(1, set(&[1, 3, 5])), (3, set(&[1, 2, 4, 5])), (9, set(&[1]))]);
        assert_eq!(partial.after_fix(Some(StatementId(2)), &failing), [3, 9]);
        assert!(!partial.runs.contains_key(&2));
    }

    #[test]
    fn runs_with_the_same_ivmps_form_a_cluster() {
        let runs = BTreeMap::from([
            (1, run(&[1], &[1, 2, 3])),
            (2, run(&[1], &[7, 8])),
            (3, run(&[1], &[1, 2])),
            (4, run(&[1], &[7])),
        ]);
        assert_eq!(clusters(&runs, 0.5), [vec![1, 3], vec![2, 4]]);
        assert_eq!(clusters(&runs, 0.9).len(), 4);
        assert_eq!(clusters(&runs, 0.0).len(), 1);
    }
}
