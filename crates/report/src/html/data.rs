//! What the page shows: the findings, the lines of source they speak of, diffs, rules.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Change, Findings};
use serde_json::{Value, json};

use crate::diff;
use crate::rules::Rule;
use crate::sources::Sources;

/// Lines shown around each place.
const CONTEXT: u32 = 12;

/// Shorter files are shown whole.
const WHOLE_FILE: usize = 400;

pub fn data(findings: &Findings, sources: &mut Sources, rules: &[Rule]) -> Value {
    let all = serde_json::to_value(findings).expect("findings hold nothing JSON cannot express");
    let mut places = BTreeMap::new();
    collect(&all, &mut places);
    let files: BTreeMap<String, Value> = places
        .into_iter()
        .filter_map(|(file, lines)| {
            let pieces = pieces(&file, &lines, sources);
            (!pieces.is_empty()).then_some((file, pieces.into()))
        })
        .collect();
    let mut hunks = |changes: &[Change]| -> Value {
        let hunks = diff::hunks(changes, sources).into_iter().map(|hunk| {
            let lines =
                hunk.lines.iter().map(|(mark, text)| json!([mark, text.trim_end_matches('\r')]));
            json!({"file": hunk.file, "line": hunk.line, "lines": lines.collect::<Vec<_>>()})
        });
        hunks.collect::<Vec<_>>().into()
    };
    let repairs: Vec<Value> = findings.repairs.iter().map(|r| hunks(&r.changes)).collect();
    let suggestions: Vec<Value> = findings.suggestions.iter().map(|s| hunks(&s.changes)).collect();
    let rules: BTreeMap<&str, Value> = rules
        .iter()
        .map(|rule| (rule.id.as_str(), json!({"title": rule.title, "doc": rule.doc})))
        .collect();
    json!({
        "findings": all, "files": files, "repairs": repairs, "suggestions": suggestions,
        "rules": rules, "version": env!("CARGO_PKG_VERSION"),
    })
}

/// Every place anything speaks of, whatever it is a part of.
fn collect(value: &Value, places: &mut BTreeMap<String, BTreeSet<u32>>) {
    match value {
        Value::Object(fields) => {
            let file = fields.get("file").and_then(Value::as_str);
            let line = fields.get("line").and_then(Value::as_u64);
            if let (Some(file), Some(line)) = (file, line.and_then(|n| u32::try_from(n).ok())) {
                places.entry(file.to_owned()).or_default().insert(line);
            }
            fields.values().for_each(|value| collect(value, places));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, places)),
        _ => {}
    }
}

/// Runs of lines around the places, each with its first line's number.
fn pieces(file: &str, lines: &BTreeSet<u32>, sources: &mut Sources) -> Vec<Value> {
    let n_lines = sources
        .content(file)
        .map_or(0, |content| content.split(|byte| *byte == b'\n').take(WHOLE_FILE + 1).count());
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    if (1..=WHOLE_FILE).contains(&n_lines) {
        ranges.push((1, WHOLE_FILE as u32));
    } else {
        for line in lines.iter().filter(|line| **line > 0) {
            let (first, last) = (line.saturating_sub(CONTEXT).max(1), line.saturating_add(CONTEXT));
            match ranges.last_mut() {
                Some((_, end)) if first <= *end + 1 => *end = last,
                _ => ranges.push((first, last)),
            }
        }
    }
    let pieces = ranges.into_iter().map(|(first, last)| {
        let lines = sources.lines(file, first..=last);
        let text: Vec<String> = lines.into_iter().map(|(_, text)| text).collect();
        (first, text)
    });
    let pieces = pieces.filter(|(_, text)| !text.is_empty());
    pieces.map(|(first, text)| json!([first, text])).collect()
}
