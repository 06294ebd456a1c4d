//! The JSON report is what `docs/findings.schema.json` says, and the schema says everything.

use std::collections::BTreeSet;
use std::path::PathBuf;

use findings::Findings;
use report::Format;
use serde_json::Value;

use crate::support::{everything, folder, render};

fn published() -> PathBuf {
    folder().join("../../../../docs/findings.schema.json")
}

#[test]
fn the_published_schema_is_that_of_the_contract() {
    let schema = serde_json::to_string_pretty(&findings::schema()).unwrap() + "\n";
    if std::env::var_os("FIRSTFAULT_UPDATE").is_some() {
        std::fs::write(published(), schema).unwrap();
        return;
    }
    let published = std::fs::read_to_string(published()).unwrap();
    assert!(published == schema, "FIRSTFAULT_UPDATE=1 cargo test brings it up to date");
}

#[test]
fn every_kind_of_finding_is_valid_and_no_field_is_unnamed() {
    // Unknown fields are welcome to readers, but not to this test.
    let mut schema = findings::schema();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for findings in [everything(), Findings::new()] {
        let report: Value = serde_json::from_str(&render(&findings, Format::Json)).unwrap();
        let mistakes: Vec<String> = validator
            .iter_errors(&report)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(mistakes.is_empty(), "{mistakes:#?}");
    }
}

#[test]
fn what_is_no_report_is_not_valid() {
    let validator = jsonschema::validator_for(&findings::schema()).unwrap();
    assert!(!validator.is_valid(&serde_json::json!({"faults": []})));
    let fault = serde_json::json!({"schema": "firstfault/1", "faults": [{"rule": "leak"}]});
    assert!(!validator.is_valid(&fault));
}

/// The example that every format is tested with leaves nothing out.
#[test]
fn the_example_has_every_field() {
    let mut named = BTreeSet::new();
    properties(&findings::schema(), &mut named);
    let mut used = BTreeSet::new();
    fields(&serde_json::to_value(everything()).unwrap(), &mut used);
    let missing: Vec<_> = named.difference(&used).collect();
    assert!(missing.is_empty(), "add these to everything.json: {missing:?}");
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn properties(schema: &Value, named: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let of_this = fields.get("properties").and_then(Value::as_object);
            named.extend(of_this.into_iter().flatten().map(|(name, _)| name.clone()));
            fields.values().for_each(|value| properties(value, named));
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, named)),
        _ => {}
    }
}

fn fields(value: &Value, used: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            used.extend(object.keys().cloned());
            object.values().for_each(|value| fields(value, used));
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, used)),
        _ => {}
    }
}
