//! Rules as GitHub shows them: descriptions, help, weaknesses, how grave they are.

use findings::Severity;
use serde_json::{Value, json};

use crate::rules::Rule;

/// GitHub shows ten tags of a rule and refuses more than twenty.
const MAX_TAGS: usize = 10;

/// GitHub refuses descriptions that are longer.
const MAX_DESCRIPTION: usize = 1000;

pub fn descriptor(rule: &Rule) -> Value {
    let cut = |text: &str| text.chars().take(MAX_DESCRIPTION).collect::<String>();
    let mut descriptor = json!({
        "id": rule.id,
        "name": rule.id,
        "shortDescription": {"text": cut(&rule.title)},
        "fullDescription": {"text": cut(&rule.summary())},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": properties(rule),
    });
    let doc = if rule.doc.is_empty() { &rule.title } else { &rule.doc };
    descriptor["help"] = json!({"text": doc, "markdown": doc});
    descriptor
}

fn properties(rule: &Rule) -> Value {
    let mut tags: Vec<String> = Vec::new();
    if rule.cwe.is_empty() {
        tags.push("correctness".to_owned());
    } else {
        tags.push("security".to_owned());
    }
    tags.extend(rule.cwe.iter().map(|cwe| format!("external/cwe/cwe-{cwe:03}")));
    tags.truncate(MAX_TAGS);
    let mut properties = json!({
        "tags": tags,
        "precision": if rule.severity == Severity::Error { "high" } else { "medium" },
        "problem.severity": match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "recommendation",
        },
    });
    if let Some(score) = rule.cwe.iter().map(|cwe| grave(*cwe, rule.severity)).max() {
        // A number, but GitHub wants it as text.
        properties["security-severity"] = format!("{}.{}", score / 10, score % 10).into();
    }
    properties
}

/// What an attacker usually gains from a weakness, in tenths from 0 to 100: above 70 is high,
/// above 40 medium.
fn grave(cwe: u32, severity: Severity) -> u32 {
    match cwe {
        // Writing where one must not, and using what is no longer there.
        119 | 120 | 121 | 122 | 123 | 124 | 415 | 416 | 590 | 672 | 761 | 786 | 787 | 788 | 825 => {
            88
        }
        // Numbers that decide about memory.
        190..=197 | 680 | 681 | 131 => 75,
        // What is read may be a secret.
        125..=127 | 457 | 824 | 908 => 65,
        // Two threads at once.
        362 | 366 | 367 | 667 | 764 | 833 => 60,
        // The program stops, or never does.
        369 | 476 | 690 | 835 => 55,
        // Something runs out.
        400 | 401 | 404 | 771..=775 => 45,
        _ if severity == Severity::Error => 60,
        _ => 40,
    }
}

pub fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
