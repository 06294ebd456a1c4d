//! Edges that runs show, in one graph with those of the static engine.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Correlation, Findings, Group, Level, RunInput, Step, Via};

use crate::graph::{Edge, Graph};

/// A fault as runs know it: its file, line and rule.
pub type Name = (String, u32, String);

/// One fault causes another: on this input both happen, and the second does not with the first
/// put right.
#[derive(Clone, Debug)]
pub struct Proved {
    pub from: Name,
    pub to: Name,
    /// No run has the second without the first.
    pub unique: bool,
    pub level: Level,
    pub witness: RunInput,
    /// That run, up to the second.
    pub path: Vec<Step>,
}

/// Adds these edges and groups the faults anew that hang together with them.
pub fn add(findings: &mut Findings, proved: &[Proved]) {
    let mut ids: BTreeMap<Name, String> = BTreeMap::new();
    for fault in &findings.faults {
        let name = (fault.place.file.clone(), fault.place.line, fault.rule.clone());
        ids.entry(name).or_insert_with(|| fault.id.clone());
    }
    let mut touched = BTreeSet::new();
    for edge in proved {
        let (Some(from), Some(to)) = (ids.get(&edge.from), ids.get(&edge.to)) else { continue };
        if from == to {
            continue;
        }
        touched.extend([from.clone(), to.clone()]);
        let is_same = |known: &&mut Correlation| known.from == *from && known.to == *to;
        match findings.correlations.iter_mut().find(is_same) {
            Some(known) => {
                known.unique = edge.unique;
                known.level = known.level.max(edge.level);
                known.witness = Some(edge.witness.clone());
                known.path.clone_from(&edge.path);
            }
            None => {
                findings.correlations.push(Correlation {
                    from: from.clone(),
                    to: to.clone(),
                    unique: edge.unique,
                    via: Via::Direct,
                    level: edge.level,
                    witness: Some(edge.witness.clone()),
                    path: edge.path.clone(),
                });
                count(findings, edge);
            }
        }
    }
    if !touched.is_empty() {
        group(findings, &touched);
    }
}

/// What the tables of the paper count of an edge.
fn count(findings: &mut Findings, edge: &Proved) {
    findings.count("correlations", 1);
    findings.count("correlations_proved", 1);
    let unique = if edge.unique { "correlations_unique" } else { "correlations_not_unique" };
    findings.count(unique, 1);
    findings.count(&format!("correlations {} -> {}", edge.from.2, edge.to.2), 1);
}

/// Groups of which these faults are part.
fn group(findings: &mut Findings, touched: &BTreeSet<String>) {
    let mut edges: BTreeMap<(String, String), Edge> = BTreeMap::new();
    for known in &findings.correlations {
        let edge = Edge { via: known.via, unique: known.unique, path: Vec::new() };
        edges.insert((known.from.clone(), known.to.clone()), edge);
    }
    let mut removes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for group in &findings.groups {
        for (root, removed) in group.roots.iter().zip(&group.removes) {
            removes.entry(root.clone()).or_default().extend(removed.iter().cloned());
        }
    }
    // What goes away with a fault takes with it what goes away with that.
    let names: BTreeSet<String> = edges.keys().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    for name in names {
        let mut gone = BTreeSet::new();
        let mut open = vec![name.clone()];
        while let Some(one) = open.pop() {
            let unique = edges.iter().filter(|((from, _), edge)| *from == one && edge.unique);
            let next: Vec<String> = unique.map(|((_, to), _)| to.clone()).collect();
            open.extend(next.into_iter().filter(|to| *to != name && gone.insert(to.clone())));
        }
        removes.entry(name).or_default().extend(gone);
    }
    let graph = Graph { edges, removes };
    let components = graph.components();
    let components = components.iter().filter(|one| !one.faults.is_disjoint(touched));
    for component in components {
        findings.groups.retain(|group| !group.faults.iter().any(|f| component.faults.contains(f)));
        let id = component.faults.first().cloned().unwrap_or_default();
        for fault in findings.faults.iter_mut().filter(|f| component.faults.contains(&f.id)) {
            fault.group = Some(id.clone());
        }
        let removed = |root: &String| {
            graph.removes.get(root).map_or(Vec::new(), |all| all.iter().cloned().collect())
        };
        findings.groups.push(Group {
            id,
            removes: component.roots.iter().map(removed).collect(),
            faults: component.faults.iter().cloned().collect(),
            roots: component.roots.clone(),
        });
    }
}
