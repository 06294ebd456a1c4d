//! Places as SARIF writes them.

use findings::{Place, Step};
use serde_json::{Map, Value, json};

use crate::sources::Sources;
use crate::uri::encode;

/// The name of the folder that relative places are below; whoever reads the report knows it.
pub const ROOT: &str = "%SRCROOT%";

/// A file: relative to the root of the project, or an absolute URI for what lies outside.
pub fn artifact(file: &str) -> Value {
    if file.starts_with('/') {
        return json!({"uri": format!("file://{}", encode(file))});
    }
    let relative = file.strip_prefix("./").unwrap_or(file);
    json!({"uri": encode(relative), "uriBaseId": ROOT})
}

pub fn physical(place: &Place, sources: &mut Sources) -> Value {
    let mut physical = json!({"artifactLocation": artifact(&place.file)});
    if place.line > 0 {
        let mut region = json!({"startLine": place.line});
        if place.column > 0 {
            region["startColumn"] = sources.character(&place.file, place.line, place.column).into();
        }
        physical["region"] = region;
    }
    physical
}

/// A location; nothing where not even the file is known.
pub fn location(place: &Place, sources: &mut Sources) -> Option<Map<String, Value>> {
    if place.file.is_empty() {
        return None;
    }
    let mut location = Map::new();
    location.insert("physicalLocation".to_owned(), physical(place, sources));
    if !place.function.is_empty() {
        let function = json!([{"name": place.function, "kind": "function"}]);
        location.insert("logicalLocations".to_owned(), function);
    }
    Some(location)
}

/// A location with a sentence.
pub fn described(place: &Place, text: &str, sources: &mut Sources) -> Option<Map<String, Value>> {
    let mut location = location(place, sources)?;
    location.insert("message".to_owned(), json!({"text": text}));
    Some(location)
}

/// Steps one thread goes through: at most `limit`, the beginning and the end of a longer path.
pub fn thread_flow(steps: &[Step], limit: usize, sources: &mut Sources) -> Option<Value> {
    let half = limit / 2;
    let is_kept =
        |index: usize| steps.len() <= limit || index < half || index + half >= steps.len();
    let mut locations = Vec::new();
    for (index, step) in steps.iter().enumerate().filter(|(index, _)| is_kept(*index)) {
        let Some(location) = described(&step.place, &step.note, sources) else { continue };
        locations.push(json!({
            "location": location,
            "nestingLevel": step.depth,
            "executionOrder": index + 1,
            "importance": if step.impact { "essential" } else { "important" },
        }));
    }
    (!locations.is_empty()).then(|| json!({"locations": locations}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(artifact("./src/a b#1.c")["uri"], "src/a%20b%231.c");
        assert_eq!(artifact("src/a.c")["uriBaseId"], ROOT);
        assert_eq!(artifact("/usr/include/x.h")["uri"], "file:///usr/include/x.h");
        assert_eq!(artifact("/usr/include/x.h").get("uriBaseId"), None);
    }

    #[test]
    fn long_paths_keep_both_ends() {
        let step = |line| Step {
            place: Place { file: "a.c".to_owned(), line, ..Place::default() },
            ..Step::default()
        };
        let steps: Vec<Step> = (1..=100).map(step).collect();
        let flow = thread_flow(&steps, 10, &mut Sources::default()).unwrap();
        let locations = flow["locations"].as_array().unwrap();
        assert_eq!(locations.len(), 10);
        assert_eq!(locations[0]["executionOrder"], 1);
        assert_eq!(locations[9]["executionOrder"], 100);
        assert_eq!(thread_flow(&[], 10, &mut Sources::default()), None);
    }
}
