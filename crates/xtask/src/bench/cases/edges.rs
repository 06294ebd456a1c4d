//! Which fault causes which: reported edges against those of a program, as `score.py` of the
//! sets has it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::said::Said;
use super::score::{distance, endings, of_program};
use super::truth::Correlated;

/// A program with several faults as one tool has it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EdgeScore {
    pub name: String,
    pub n_faults: usize,
    pub n_found: usize,
    pub n_reported: usize,
    pub n_edges: usize,
    pub n_right: usize,
    /// Reported edges, the neutral ones included.
    pub n_reported_edges: usize,
    /// Not direct causes, but chains of them lead there.
    pub n_neutral: usize,
    /// Right edges of which it is rightly said whether they are the only cause.
    pub n_unique_right: usize,
    pub n_groups_right: usize,
    /// Reports that match no fault of the program.
    pub extra: Vec<String>,
    /// Missed faults with how the questions there ended.
    pub missed: Vec<String>,
    pub failed: bool,
}

impl EdgeScore {
    pub fn n_wrong(&self) -> usize {
        self.n_reported_edges - self.n_right - self.n_neutral
    }
}

type Pair<'a> = (&'a str, &'a str);

pub fn score(case: &Correlated, said: &Said) -> EdgeScore {
    let reports = of_program(said, &case.file, &[]);
    let mut candidates: Vec<((u32, bool), usize, usize)> = Vec::new();
    for (i, report) in reports.iter().enumerate() {
        for (j, fault) in case.faults.iter().enumerate() {
            let near = distance(report, fault).filter(|(lines, _)| *lines <= 1);
            candidates.extend(near.map(|distance| (distance, i, j)));
        }
    }
    // The nearest first, so that the best pairs are matched.
    candidates.sort();
    let mut fault_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found: BTreeSet<usize> = BTreeSet::new();
    for (_, i, j) in &candidates {
        if !fault_of.contains_key(i) && !found.contains(j) {
            fault_of.insert(*i, *j);
            found.insert(*j);
        }
    }
    // Further reports of a fault are reports of it, too.
    for (_, i, j) in &candidates {
        fault_of.entry(*i).or_insert(*j);
    }
    let named: BTreeMap<&str, &str> = fault_of
        .iter()
        .map(|(i, j)| (reports[*i].id.as_str(), case.faults[*j].id.as_str()))
        .collect();
    // An unknown end is a node of its own, which no name of a fault can be.
    let unknown: BTreeMap<&str, String> = said
        .edges
        .iter()
        .flat_map(|edge| [edge.from.as_str(), edge.to.as_str()])
        .map(|id| (id, format!("?{id}")))
        .collect();
    let node = |id: &str| named.get(id).copied().unwrap_or_else(|| unknown[id].as_str());
    let mut reported: BTreeMap<Pair<'_>, Option<bool>> = BTreeMap::new();
    for edge in &said.edges {
        let (from, to) = (node(&edge.from), node(&edge.to));
        if from != to {
            reported.insert((from, to), edge.unique);
        }
    }
    let wanted: BTreeMap<Pair<'_>, bool> =
        case.edges.iter().map(|e| ((e.from.as_str(), e.to.as_str()), e.unique)).collect();
    let reachable = closure(&wanted.keys().copied().collect());
    let right: Vec<_> = reported.iter().filter(|(edge, _)| wanted.contains_key(*edge)).collect();
    let is_neutral = |edge: &Pair<'_>| !wanted.contains_key(edge) && reachable.contains(edge);
    let is_whole = found.len() == case.faults.len();
    let missed = case.faults.iter().enumerate().filter(|(j, _)| !found.contains(j));
    EdgeScore {
        name: case.name.clone(),
        n_faults: case.faults.len(),
        n_found: found.len(),
        n_reported: reports.len(),
        n_edges: wanted.len(),
        n_right: right.len(),
        n_reported_edges: reported.len(),
        n_neutral: reported.keys().filter(|edge| is_neutral(edge)).count(),
        n_unique_right: right
            .iter()
            .filter(|(edge, unique)| **unique == Some(wanted[*edge]))
            .count(),
        n_groups_right: usize::from(is_whole && groups(case, &reported) == sorted(&case.groups)),
        extra: (0..reports.len())
            .filter(|i| !fault_of.contains_key(i))
            .map(|i| reports[i].rule.clone())
            .collect(),
        missed: missed
            .map(|(_, f)| format!("{} {}:{}: {}", f.id, f.rule, f.line, endings(said, f)))
            .collect(),
        failed: said.failed.is_some(),
    }
}

/// Everything that chains of edges connect.
fn closure<'a>(edges: &BTreeSet<Pair<'a>>) -> BTreeSet<Pair<'a>> {
    let mut reachable = edges.clone();
    loop {
        let longer: Vec<Pair<'a>> = reachable
            .iter()
            .flat_map(|(a, b)| edges.iter().filter(move |(c, _)| b == c).map(|(_, d)| (*a, *d)))
            .filter(|edge| !reachable.contains(edge))
            .collect();
        if longer.is_empty() {
            return reachable;
        }
        reachable.extend(longer);
    }
}

/// The faults of the program, grouped by the reported edges.
fn groups(case: &Correlated, reported: &BTreeMap<Pair<'_>, Option<bool>>) -> Vec<Vec<String>> {
    let mut group_of: BTreeMap<&str, usize> =
        case.faults.iter().enumerate().map(|(i, fault)| (fault.id.as_str(), i)).collect();
    for (from, to) in reported.keys() {
        if let (Some(a), Some(b)) = (group_of.get(from).copied(), group_of.get(to).copied()) {
            group_of.values_mut().filter(|group| **group == b).for_each(|group| *group = a);
        }
    }
    let mut members: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (id, group) in group_of {
        members.entry(group).or_default().push(id.to_owned());
    }
    sorted(&members.into_values().collect::<Vec<_>>())
}

fn sorted(groups: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut groups = groups.to_vec();
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::said::{Edge, Reported};
    use crate::bench::cases::score::tests::report;
    use crate::bench::cases::truth;

    fn chain() -> Correlated {
        let text = r#"{"correlation_cases": [{"name": "c", "file": "c.c",
            "faults": [{"id": "f1", "line": 10, "rule": "buffer-overflow"},
                       {"id": "f2", "line": 11, "rule": "buffer-overflow"},
                       {"id": "f3", "line": 30, "rule": "leak"}],
            "edges": [{"from": "f1", "to": "f2", "unique": true},
                      {"from": "f2", "to": "f3", "unique": false}],
            "groups": [["f1", "f2", "f3"]]}]}"#;
        truth::parse(text).unwrap().correlation_cases.remove(0)
    }

    fn named(id: &str, rule: &str, line: u32) -> Reported {
        Reported { id: id.to_owned(), ..report(rule, "c.c", line) }
    }

    fn said(edges: &[(&str, &str, bool)]) -> Said {
        let edge = |(from, to, unique): &(&str, &str, bool)| Edge {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
            unique: Some(*unique),
        };
        Said {
            reports: vec![
                named("F1", "buffer-overflow", 10),
                named("F2", "buffer-overread", 11),
                named("F3", "leak", 30),
                named("F4", "null-dereference", 50),
            ],
            edges: edges.iter().map(edge).collect(),
            ..Said::default()
        }
    }

    #[test]
    fn right_and_wrong_edges_are_counted() {
        let score = score(&chain(), &said(&[("F1", "F2", true), ("F3", "F1", true)]));
        assert_eq!((score.n_found, score.n_reported), (3, 4));
        assert_eq!((score.n_right, score.n_unique_right, score.n_wrong()), (1, 1, 1));
        assert_eq!(score.extra, ["null-dereference"]);
    }

    #[test]
    fn an_edge_that_skips_a_fault_is_neutral() {
        let score = score(&chain(), &said(&[("F1", "F3", true)]));
        assert_eq!((score.n_right, score.n_neutral, score.n_wrong()), (0, 1, 0));
    }

    #[test]
    fn an_edge_to_what_is_no_fault_is_wrong() {
        let score = score(&chain(), &said(&[("F1", "F4", true), ("F1", "F9", true)]));
        assert_eq!((score.n_right, score.n_neutral, score.n_wrong()), (0, 0, 2));
    }

    #[test]
    fn uniqueness_is_counted_over_right_edges() {
        let edges = [("F1", "F2", false), ("F2", "F3", false)];
        let score = score(&chain(), &said(&edges));
        assert_eq!((score.n_right, score.n_unique_right), (2, 1));
        assert_eq!(score.n_groups_right, 1);
    }

    #[test]
    fn each_fault_takes_its_nearest_report() {
        // Both reports are near both faults; the one at line 10 belongs to the first.
        let mut said = said(&[("F2", "F1", true)]);
        said.reports.reverse();
        let score = score(&chain(), &said);
        assert_eq!((score.n_found, score.n_wrong()), (3, 1));
    }

    #[test]
    fn an_incomplete_program_has_no_right_groups() {
        let mut said = said(&[("F1", "F2", true), ("F2", "F3", true)]);
        assert_eq!(score(&chain(), &said).n_groups_right, 1);
        said.reports.retain(|report| report.id != "F3");
        let score = score(&chain(), &said);
        assert_eq!(score.n_groups_right, 0);
        assert_eq!(score.missed, ["f3 leak:30: nothing asked/answered there"]);
    }
}
