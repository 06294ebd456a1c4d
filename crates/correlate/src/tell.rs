//! The graph as findings: correlations, groups, and the columns of the paper's tables.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Correlation, FaultOrigin, Findings, Group, Level, Via};

use crate::graph::Graph;

pub fn add(findings: &mut Findings, graph: &Graph) {
    for ((from, to), edge) in &graph.edges {
        findings.correlations.push(Correlation {
            from: from.clone(),
            to: to.clone(),
            unique: edge.unique,
            via: edge.via,
            level: Level::Likely,
            witness: None,
            path: edge.path.clone(),
        });
    }
    // Found on the way to an edge that did not last: nothing says that it happens.
    let linked = |id: &String| graph.edges.keys().any(|(_, to)| to == id);
    findings.faults.retain(|fault| fault.origin != FaultOrigin::Correlation || linked(&fault.id));
    let components = graph.components();
    for component in &components {
        // A name of its own among the groups of all programs.
        let id = component.faults.first().cloned().unwrap_or_default();
        for fault in findings.faults.iter_mut().filter(|f| component.faults.contains(&f.id)) {
            fault.group = Some(id.clone());
        }
        let removes = component.roots.iter().map(|root| {
            graph.removes.get(root).map_or(Vec::new(), |all| all.iter().cloned().collect())
        });
        findings.groups.push(Group {
            id,
            removes: removes.collect(),
            faults: component.faults.iter().cloned().collect(),
            roots: component.roots.clone(),
        });
    }
    count(findings, graph, components.len());
}

/// Tables 3, 4 and 5: pairs by kind, unique or not, direct or not, across functions or not.
fn count(findings: &mut Findings, graph: &Graph, n_groups: usize) {
    let places: BTreeMap<String, (String, String)> = findings
        .faults
        .iter()
        .map(|fault| (fault.id.clone(), (fault.rule.clone(), fault.place.function.clone())))
        .collect();
    findings.count("correlations", graph.edges.len() as u64);
    findings.count("correlation_groups", n_groups as u64);
    let n_new = findings.faults.iter().filter(|f| f.origin == FaultOrigin::Correlation).count();
    findings.count("faults_by_correlation", n_new as u64);
    findings.count("faults_detected", (findings.faults.len() - n_new) as u64);
    let takes_part = |id: &String| graph.edges.keys().any(|(from, to)| from == id || to == id);
    let nodes: Vec<_> = findings.faults.iter().filter(|fault| takes_part(&fault.id)).collect();
    let n_detected = nodes.iter().filter(|f| f.origin != FaultOrigin::Correlation).count();
    let rules: BTreeSet<&str> = nodes.iter().map(|fault| fault.rule.as_str()).collect();
    let (n_nodes, n_rules) = (nodes.len() as u64, rules.len() as u64);
    findings.count("faults_correlated", n_detected as u64);
    findings.count("correlation_nodes", n_nodes);
    findings.count("correlation_rules", n_rules);
    for ((from, to), edge) in &graph.edges {
        let unique = if edge.unique { "correlations_unique" } else { "correlations_not_unique" };
        findings.count(unique, 1);
        let direct = match edge.via {
            Via::Direct => "correlations_direct",
            Via::Feasibility => "correlations_by_feasibility",
        };
        findings.count(direct, 1);
        let (Some(from), Some(to)) = (places.get(from), places.get(to)) else { continue };
        let across = if from.1 == to.1 {
            "correlations_within_procedures"
        } else {
            "correlations_across_procedures"
        };
        findings.count(across, 1);
        findings.count(&format!("correlations {} -> {}", from.0, to.0), 1);
    }
}
