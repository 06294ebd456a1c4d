//! The whole SARIF log: one run, with what code scanning services read and limits of theirs.

use findings::{Findings, Place};
use serde_json::{Value, json};

use super::location::{self, ROOT};
use super::results::{Found, results};
use super::rules::descriptor;
use crate::rules::{Rule, of_report};
use crate::sources::Sources;

/// GitHub refuses a run with more results. It shows five thousand, the gravest.
const MAX_RESULTS: usize = 25_000;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub fn render(findings: &Findings, sources: &mut Sources, rules: &[Rule]) -> String {
    let rules = of_report(findings, rules);
    let (results, n_left_out) = limited(results(findings, sources));
    let results = results.into_iter().map(|found| numbered(found.result, &rules));
    let results: Vec<Value> = results.collect();
    let mut run = json!({
        "tool": {"driver": {
            "name": "firstfault",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().map(descriptor).collect::<Vec<_>>(),
        }},
        "originalUriBaseIds": {ROOT: {"description": {"text": "the root of the project"}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{
            "executionSuccessful": findings.incomplete.is_empty(),
            "toolExecutionNotifications": notifications(findings, n_left_out, sources),
        }],
        "results": results,
    });
    if !findings.correlations.is_empty() {
        run["graphs"] = json!([graph(findings, sources)]);
    }
    let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    let mut text = serde_json::to_string_pretty(&log).expect("values are JSON");
    text.push('\n');
    text
}

/// The gravest results, in their order, and how many were left out.
fn limited(results: Vec<Found>) -> (Vec<Found>, usize) {
    let n_left_out = results.len().saturating_sub(MAX_RESULTS);
    if n_left_out == 0 {
        return (results, 0);
    }
    let mut ranked: Vec<(usize, Found)> = results.into_iter().enumerate().collect();
    ranked.sort_by_key(|(index, found)| (found.severity, *index));
    ranked.truncate(MAX_RESULTS);
    ranked.sort_by_key(|(index, _)| *index);
    (ranked.into_iter().map(|(_, found)| found).collect(), n_left_out)
}

fn numbered(mut result: Value, rules: &[Rule]) -> Value {
    let id = result["ruleId"].as_str().unwrap_or_default();
    if let Ok(index) = rules.binary_search_by(|rule| rule.id.as_str().cmp(id)) {
        result["ruleIndex"] = index.into();
    }
    result
}

/// What is no finding and should be known nonetheless.
fn notifications(findings: &Findings, n_left_out: usize, sources: &mut Sources) -> Vec<Value> {
    let mut all = Vec::new();
    let mut add = |id: &str, level: &str, text: String, place: &Place, rule: Option<&str>| {
        let mut notification =
            json!({"descriptor": {"id": id}, "level": level, "message": {"text": text}});
        if let Some(location) = location::location(place, sources) {
            notification["locations"] = json!([location]);
        }
        if let Some(rule) = rule {
            notification["associatedRule"] = json!({"id": rule});
        }
        all.push(notification);
    };
    let nowhere = Place::default();
    for missing in &findings.incomplete {
        let text = format!("not analysed: {}: {}", missing.what, missing.reason);
        add("incomplete", "error", text, &nowhere, None);
    }
    for notice in &findings.notices {
        add("notice", "note", notice.message.clone(), &notice.place, None);
    }
    for contract in &findings.contracts {
        let text = format!("callers must see to it that {}", contract.requires);
        add("contract", "note", text, &contract.place, Some(&contract.rule));
    }
    for open in &findings.dont_knows {
        let text = format!("undecided: {}", open.reason);
        add("dont-know", "note", text, &open.place, Some(&open.rule));
    }
    if n_left_out > 0 {
        let text = format!("{n_left_out} results of lesser severity are left out");
        add("left-out", "warning", text, &nowhere, None);
    }
    all
}

/// Which fault causes which.
fn graph(findings: &Findings, sources: &mut Sources) -> Value {
    let takes_part =
        |id: &String| findings.correlations.iter().any(|e| e.from == *id || e.to == *id);
    let mut nodes = Vec::new();
    for fault in findings.faults.iter().filter(|fault| takes_part(&fault.id)) {
        let label = format!("{}: {}", fault.rule, fault.message);
        let mut node = json!({"id": fault.id, "label": {"text": label}});
        if let Some(location) = location::location(&fault.place, sources) {
            node["location"] = location.into();
        }
        nodes.push(node);
    }
    let edges = findings.correlations.iter().enumerate().map(|(index, edge)| {
        json!({
            "id": format!("C{}", index + 1),
            "sourceNodeId": edge.from,
            "targetNodeId": edge.to,
            "properties": {"unique": edge.unique, "via": edge.via},
        })
    });
    json!({
        "description": {"text": "which fault causes which"},
        "nodes": nodes,
        "edges": edges.collect::<Vec<_>>(),
    })
}
