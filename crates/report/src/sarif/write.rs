//! The whole SARIF log: one run, with what code scanning services read and limits of theirs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use findings::{Findings, Place};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::location::{self, ROOT};
use super::results::{Item, Results};
use super::rules::descriptor;
use crate::rules::{Rule, of_report};
use crate::sources::Sources;

/// GitHub refuses a run with more results. It shows five thousand, the gravest.
const MAX_RESULTS: usize = 25_000;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log. Fields are in the order of their names, as those of values are.
#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'a>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    column_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    graphs: Option<Value>,
    invocations: Value,
    original_uri_base_ids: Value,
    results: Written<'a>,
    tool: Value,
}

/// Results that are made when they are written.
struct Written<'a> {
    items: Vec<Item<'a>>,
    results: RefCell<Results<'a>>,
    rules: &'a [Rule],
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let result = |item: &Item| numbered(self.results.borrow_mut().result(*item), self.rules);
        serializer.collect_seq(self.items.iter().map(result))
    }
}

pub fn render(findings: &Findings, sources: &mut Sources, rules: &[Rule]) -> String {
    let rules = of_report(findings, rules);
    let (items, n_left_out) = limited(Item::all(findings));
    let is_correlated = !findings.correlations.is_empty();
    let run = Run {
        column_kind: "unicodeCodePoints",
        graphs: is_correlated.then(|| json!([graph(findings, sources)])),
        invocations: json!([{
            "executionSuccessful": findings.incomplete.is_empty(),
            "toolExecutionNotifications": notifications(findings, n_left_out, sources),
        }]),
        original_uri_base_ids: json!({ROOT: {"description": {"text": "the root of the project"}}}),
        results: Written {
            items,
            results: RefCell::new(Results::new(findings, sources)),
            rules: &rules,
        },
        tool: json!({"driver": {
            "name": "firstfault",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules.iter().map(descriptor).collect::<Vec<_>>(),
        }}),
    };
    let log = Log { schema: SCHEMA, runs: [run], version: "2.1.0" };
    let mut text = serde_json::to_string_pretty(&log).expect("values are JSON");
    text.push('\n');
    text
}

/// The gravest, in their order, and how many were left out.
fn limited(items: Vec<Item>) -> (Vec<Item>, usize) {
    let n_left_out = items.len().saturating_sub(MAX_RESULTS);
    if n_left_out == 0 {
        return (items, 0);
    }
    let mut ranked: Vec<(usize, Item)> = items.into_iter().enumerate().collect();
    ranked.sort_by_key(|(index, item)| (item.severity(), *index));
    ranked.truncate(MAX_RESULTS);
    ranked.sort_by_key(|(index, _)| *index);
    (ranked.into_iter().map(|(_, item)| item).collect(), n_left_out)
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
    let ends = findings.correlations.iter().flat_map(|edge| [&edge.from, &edge.to]);
    let taking_part: BTreeSet<&String> = ends.collect();
    let mut nodes = Vec::new();
    for fault in findings.faults.iter().filter(|fault| taking_part.contains(&fault.id)) {
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
            "properties": {"unique": edge.unique, "via": edge.via, "level": edge.level},
        })
    });
    json!({
        "description": {"text": "which fault causes which"},
        "nodes": nodes,
        "edges": edges.collect::<Vec<_>>(),
    })
}
