//! Repairs as edits an editor can apply.

use std::collections::BTreeMap;

use findings::Change;
use serde_json::{Value, json};

use super::location::artifact;
use crate::sources::Sources;

/// One fix of all the changes; `None` where the place of one is not known.
pub fn fix(changes: &[Change], description: &str, sources: &mut Sources) -> Option<Value> {
    let mut by_file: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    // What is only named stays as it is.
    for change in changes.iter().filter(|change| change.old != change.new) {
        let replacement = json!({
            "deletedRegion": region(change, sources)?,
            "insertedContent": {"text": change.new},
        });
        by_file.entry(&change.place.file).or_default().push(replacement);
    }
    let changes: Vec<Value> = by_file
        .into_iter()
        .map(|(file, edits)| json!({"artifactLocation": artifact(file), "replacements": edits}))
        .collect();
    (!changes.is_empty())
        .then(|| json!({"description": {"text": description}, "artifactChanges": changes}))
}

/// From the beginning of the old text to its end.
fn region(change: &Change, sources: &mut Sources) -> Option<Value> {
    let extent = crate::edits::extent(change, sources)?;
    let file = &change.place.file;
    Some(json!({
        "startLine": extent.start_line,
        "startColumn": sources.character(file, extent.start_line, extent.start_column),
        "endLine": extent.end_line,
        "endColumn": sources.character(file, extent.end_line, extent.end_column),
    }))
}
