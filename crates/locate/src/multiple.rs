//! Several faults at once (chapter 3).
//!
//! Minimal recomputation ranks once; full recomputation ranks anew after each fix. Partial
//! recomputation, here, keeps a list for every statement made from the failing runs that
//! execute it, reports the one most likely to lead to a fault first, and then those that
//! differ most from what was already reported. Clusters put failing runs together whose
//! IVMPs lie at the same statements.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Ivmps, Session, StatementId};

/// A failing run, as far as ranking needs to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailingRun {
    pub executed: BTreeSet<StatementId>,
    /// Statements with an IVMP in this run.
    pub ivmps: BTreeSet<StatementId>,
}

impl FailingRun {
    /// The failing tests of a session, by index.
    pub fn of_session(session: &Session<'_>, ivmps: &Ivmps) -> BTreeMap<usize, FailingRun> {
        session
            .failing()
            .into_iter()
            .map(|test| {
                let found = ivmps.found.get(&test);
                let run = FailingRun {
                    executed: session.tests[test].covered.clone(),
                    ivmps: found.map_or_else(BTreeSet::new, |f| f.keys().copied().collect()),
                };
                (test, run)
            })
            .collect()
    }
}

/// Statements with the number of considered failing runs in which each has an IVMP, most
/// suspicious first.
pub type List = Vec<(StatementId, usize)>;

/// Statements executed by some of the runs, by IVMPs in them; ties by `tie_break`, larger
/// first, and then in source order.
pub fn list<'a>(
    runs: impl Iterator<Item = &'a FailingRun> + Clone,
    tie_break: &dyn Fn(StatementId) -> f64,
) -> List {
    let statements: BTreeSet<StatementId> =
        runs.clone().flat_map(|run| run.executed.iter().copied()).collect();
    let mut list: List = statements
        .into_iter()
        .map(|s| (s, runs.clone().filter(|run| run.ivmps.contains(&s)).count()))
        .collect();
    list.sort_by(|a, b| {
        b.1.cmp(&a.1).then(tie_break(b.0).total_cmp(&tie_break(a.0))).then(a.0.cmp(&b.0))
    });
    list
}

/// The state of partial recomputation.
#[derive(Clone, Debug, Default)]
pub struct Partial<Key: Ord> {
    /// What is known of the runs that still fail.
    pub runs: BTreeMap<Key, FailingRun>,
    /// Lists reported so far.
    reported: Vec<List>,
    /// Statements whose list was reported.
    used: BTreeSet<StatementId>,
}

/// Statements by which a list must differ from those reported, before it counts as
/// different (the paper's D).
const DIFFERENCE: usize = 10;

impl<Key: Ord + Clone> Partial<Key> {
    pub fn new(runs: BTreeMap<Key, FailingRun>) -> Self {
        Self { runs, reported: Vec::new(), used: BTreeSet::new() }
    }

    /// The next list to look at: the first time the one whose front is most suspicious,
    /// later the one that differs most from those reported.
    pub fn next_list(&mut self, tie_break: &dyn Fn(StatementId) -> f64) -> Option<List> {
        let lists = self.lists(tie_break);
        let chosen = if self.reported.is_empty() {
            most_suspicious(&lists)
        } else {
            most_different(&lists, &self.reported)
        }?;
        let (statement, list) = lists.into_iter().nth(chosen)?;
        self.used.insert(statement);
        self.reported.push(list.clone());
        Some(list)
    }

    /// One list for each statement not yet used, from the runs that execute it.
    fn lists(&self, tie_break: &dyn Fn(StatementId) -> f64) -> Vec<(StatementId, List)> {
        let statements: BTreeSet<StatementId> =
            self.runs.values().flat_map(|run| run.executed.iter().copied()).collect();
        statements
            .difference(&self.used)
            .map(|s| {
                let runs = self.runs.values().filter(|run| run.executed.contains(s));
                (*s, list(runs, tie_break))
            })
            .collect()
    }

    /// Renames statements after the sources changed; those that are gone are forgotten.
    pub fn translate(&mut self, to: &BTreeMap<StatementId, StatementId>) {
        let rename = |set: &BTreeSet<StatementId>| -> BTreeSet<StatementId> {
            set.iter().filter_map(|s| to.get(s).copied()).collect()
        };
        for run in self.runs.values_mut() {
            run.executed = rename(&run.executed);
            run.ivmps = rename(&run.ivmps);
        }
        self.used = rename(&self.used);
        for list in &mut self.reported {
            *list = list.iter().filter_map(|(s, n)| Some((*to.get(s)?, *n))).collect();
        }
    }

    /// After `fixed` was repaired: runs that pass now are dropped, and the runs that still
    /// fail and execute it are to be searched again. Returns those.
    pub fn after_fix(
        &mut self,
        fixed: StatementId,
        still_failing: &BTreeMap<Key, BTreeSet<StatementId>>,
    ) -> Vec<Key> {
        self.runs.retain(|key, _| still_failing.contains_key(key));
        still_failing
            .iter()
            .filter(|(key, executed)| {
                // A run that passed before and fails now was never searched.
                executed.contains(&fixed) || !self.runs.contains_key(key)
            })
            .map(|(key, _)| key.clone())
            .collect()
    }
}

/// The list with the most suspicious front; ties go to the later entries, then to the
/// first list.
fn most_suspicious(lists: &[(StatementId, List)]) -> Option<usize> {
    let front = |index: usize| lists[index].1.iter().map(|(_, n)| *n).collect::<Vec<_>>();
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
fn most_different(lists: &[(StatementId, List)], reported: &[List]) -> Option<usize> {
    let longest = lists.iter().map(|(_, list)| list.len()).max()?;
    let mut best = (0, None);
    for depth in 1..=longest {
        let seen: BTreeSet<StatementId> = reported
            .iter()
            .flat_map(|list| list.iter().take(depth).map(|(statement, _)| *statement))
            .collect();
        for (index, (_, list)) in lists.iter().enumerate() {
            // A statement without an IVMP says nothing about a fault.
            let front = list.iter().take(depth).filter(|(_, n)| *n > 0);
            let different = front.filter(|(statement, _)| !seen.contains(statement)).count();
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

    fn set(statements: &[u32]) -> BTreeSet<StatementId> {
        statements.iter().map(|s| StatementId(*s)).collect()
    }

    fn run(executed: &[u32], ivmps: &[u32]) -> FailingRun {
        FailingRun { executed: set(executed), ivmps: set(ivmps) }
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

    fn no_ties(_: StatementId) -> f64 {
        0.0
    }

    #[test]
    fn partial_recomputation_reports_one_fault_after_the_other() {
        let mut partial = Partial::new(figure());
        let first = partial.next_list(&no_ties).expect("there are lists");
        assert_eq!(first[0], (StatementId(2), 3), "the list starts with the first fault");
        // Figure 3.6: statement 2 is fixed, only run 3 fails, and executes statement 2.
        let failing = BTreeMap::from([(3, set(&[1, 2, 4, 5]))]);
        assert_eq!(partial.after_fix(StatementId(2), &failing), [3]);
        partial.runs.insert(3, run(&[1, 2, 4, 5], &[4]));
        let second = partial.next_list(&no_ties).expect("a run still fails");
        assert_eq!(second[0], (StatementId(4), 1), "the list starts with the second fault");
    }

    #[test]
    fn a_list_counts_only_runs_that_execute_its_statement() {
        let partial = Partial::new(figure());
        let lists: BTreeMap<StatementId, List> = partial.lists(&no_ties).into_iter().collect();
        let of_4 = &lists[&StatementId(4)];
        let suspicious: Vec<_> = of_4.iter().filter(|(_, n)| *n == 1).map(|(s, _)| s.0).collect();
        assert_eq!(suspicious, [2, 4, 5]);
    }

    #[test]
    fn only_runs_through_the_fixed_statement_are_searched_again() {
        let mut partial = Partial::new(figure());
        let failing =
            BTreeMap::from([(1, set(&[1, 3, 5])), (3, set(&[1, 2, 4, 5])), (9, set(&[1]))]);
        assert_eq!(partial.after_fix(StatementId(2), &failing), [3, 9]);
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
