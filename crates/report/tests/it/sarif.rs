//! SARIF reports are valid, say everything, and stay within the limits of those who read them.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use findings::{Fault, Findings, Severity};
use report::Format;
use serde_json::Value;

use crate::support::{everything, render};

/// The schema OASIS publishes, as the crate `serde-sarif` brings it; asking for the metadata of
/// all packages makes cargo fetch it.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let schema = std::fs::read(manifest.with_file_name("src").join("schema.json")).unwrap();
    serde_json::from_slice(&schema).unwrap()
});

#[track_caller]
fn valid(findings: &Findings) -> Value {
    let report: Value = serde_json::from_str(&render(findings, Format::Sarif)).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&SCHEMA).unwrap();
    let mistakes: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
    report
}

fn result<'r>(report: &'r Value, rule: &str) -> &'r Value {
    let results = report["runs"][0]["results"].as_array().unwrap();
    results.iter().find(|result| result["ruleId"] == rule).unwrap()
}

#[test]
fn every_kind_of_finding_is_valid() {
    let report = valid(&everything());
    let results = report["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results.iter().map(|r| r["ruleId"].as_str().unwrap()).collect();
    assert_eq!(
        rules,
        [
            "use-after-free",
            "buffer-overflow",
            "other/rule",
            "can-fail",
            "suspicious-statement",
            "first-corruption",
            "repair",
            "suggestion"
        ]
    );
    let descriptors = report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let index = result["ruleIndex"].as_u64().unwrap();
        assert_eq!(descriptors[index as usize]["id"], result["ruleId"]);
        assert_eq!(result["locations"].as_array().unwrap().len(), 1);
    }
    valid(&Findings::new());
}

#[test]
fn rules_have_what_github_shows() {
    let report = valid(&everything());
    let rules = report["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "use-after-free").unwrap();
    assert_eq!(rule["shortDescription"]["text"], "memory is used after it was freed");
    let full = "A read or write of memory that was released before.";
    assert_eq!(rule["fullDescription"]["text"], full);
    assert!(rule["help"]["markdown"].as_str().unwrap().contains("## Fix"));
    let tags = serde_json::json!(["security", "external/cwe/cwe-416"]);
    assert_eq!(rule["properties"]["tags"], tags);
    assert_eq!(rule["properties"]["security-severity"], "8.8");
}

#[test]
fn a_fault_has_its_path_its_causes_and_its_identity() {
    let report = valid(&everything());
    let fault = result(&report, "use-after-free");
    let place = &fault["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/pool.c");
    assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    assert_eq!(place["region"]["startLine"], 21);
    assert_eq!(fault["codeFlows"].as_array().unwrap().len(), 2);
    let steps = &fault["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(steps[2]["location"]["message"]["text"], "free() frees *p");
    assert_eq!(steps[2]["nestingLevel"], 1);
    let message = fault["message"]["text"].as_str().unwrap();
    assert!(message.contains("[malloc() allocates *p](1)"), "{message}");
    assert!(message.contains("causes [names\\[n\\](0) is written"), "{message}");
    let n_linked = fault["relatedLocations"].as_array().unwrap().len();
    assert_eq!(n_linked, 3);
    assert_eq!(fault["partialFingerprints"]["firstfault/v1"], "0123456789abcdef");
    let hash = fault["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap();
    assert!(hash.ends_with(":1"), "{hash}");
    // What only looks like a link is none.
    let message = &result(&report, "buffer-overflow")["message"]["text"];
    assert!(message.as_str().unwrap().starts_with("names\\[n\\](0) is"), "{message}");
    let outside = &result(&report, "other/rule")["locations"][0]["physicalLocation"];
    assert_eq!(outside["artifactLocation"]["uri"], "file:///usr/include/pool.h");
    assert_eq!(report["runs"][0]["graphs"][0]["edges"][0]["sourceNodeId"], "F1");
}

#[test]
fn repairs_are_edits() {
    let report = valid(&everything());
    let change = &result(&report, "buffer-overflow")["fixes"][0]["artifactChanges"][0];
    let edit = &change["replacements"][0];
    let region =
        serde_json::json!({"startLine": 22, "startColumn": 9, "endLine": 22, "endColumn": 15});
    assert_eq!(edit["deletedRegion"], region);
    assert_eq!(edit["insertedContent"]["text"], "n < 8");
    // A whole line with a character of two bytes in it, and its end.
    let change = &result(&report, "repair")["fixes"][0]["artifactChanges"][0];
    let region =
        serde_json::json!({"startLine": 21, "startColumn": 1, "endLine": 22, "endColumn": 1});
    assert_eq!(change["replacements"][0]["deletedRegion"], region);
}

#[test]
fn a_race_is_two_threads_of_one_flow() {
    let report = valid(&everything());
    let corruption = result(&report, "first-corruption");
    let threads = corruption["codeFlows"][1]["threadFlows"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    let second = threads[1]["locations"].as_array().unwrap();
    assert_eq!(second[0]["location"]["message"]["text"], "in pool_use");
    assert_eq!(second[1]["location"]["message"]["text"], "read of thread T2");
}

#[test]
fn what_is_no_finding_is_a_notification() {
    let report = valid(&everything());
    let invocation = &report["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notifications = invocation["toolExecutionNotifications"].as_array().unwrap();
    let ids: Vec<&str> =
        notifications.iter().map(|n| n["descriptor"]["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["incomplete", "notice", "contract", "dont-know"]);
}

#[test]
fn limits_are_kept_and_the_gravest_stay() {
    let example = everything();
    let fault = |severity| Fault { severity, ..example.faults[2].clone() };
    let mut faults: Vec<Fault> = (0..25_000).map(|_| fault(Severity::Note)).collect();
    faults.push(fault(Severity::Error));
    let report: Value =
        serde_json::from_str(&render(&Findings { faults, ..Findings::new() }, Format::Sarif))
            .unwrap();
    let results = report["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 25_000);
    assert_eq!(results.last().unwrap()["level"], "error");
    let said = &report["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(said["message"]["text"], "1 results of lesser severity are left out");
}
