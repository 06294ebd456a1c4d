//! Results of another tool as faults, each with the tool's own rule, place and words.
//!
//! Only what is needed is looked at, and nothing is taken for granted: a result that makes
//! no sense is left out and counted, the others are used.

use std::collections::BTreeMap;

use findings::{Fault, FaultOrigin, Place, Severity, Verdict};
use serde_json::Value;

use crate::uri::path_of;

#[derive(Debug, thiserror::Error)]
pub enum SarifError {
    #[error("it is not JSON")]
    Json(#[from] serde_json::Error),
    #[error("it is JSON but not SARIF: it has no list of runs")]
    NoRuns,
}

/// What a report holds.
#[derive(Debug, Default, PartialEq)]
pub struct Read {
    /// `rule` is the tool's own id, `message` ends with the name of the tool.
    pub faults: Vec<Fault>,
    /// Results without a usable place.
    pub n_unplaced: usize,
}

pub fn read(bytes: &[u8]) -> Result<Read, SarifError> {
    // Some tools write a mark of the encoding first.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let report: Value = serde_json::from_slice(bytes)?;
    let runs = report.get("runs").and_then(Value::as_array).ok_or(SarifError::NoRuns)?;
    let mut read = Read::default();
    for run in runs {
        read_run(run, &mut read);
    }
    Ok(read)
}

fn read_run(run: &Value, read: &mut Read) {
    let driver = &run["tool"]["driver"];
    let tool = driver["name"].as_str().unwrap_or("another tool");
    let rules = driver["rules"].as_array().map_or(&[][..], Vec::as_slice);
    let bases = bases(run);
    for result in run["results"].as_array().map_or(&[][..], Vec::as_slice) {
        let rule = result["ruleId"].as_str().or_else(|| {
            let index = result["ruleIndex"].as_u64()?;
            rules.get(usize::try_from(index).ok()?)?["id"].as_str()
        });
        let rule = rule.unwrap_or("");
        let described = rules.iter().find(|known| known["id"].as_str() == Some(rule));
        let Some(place) = place(result, &bases) else {
            read.n_unplaced += 1;
            continue;
        };
        let text = result["message"]["text"].as_str().unwrap_or("no message");
        read.faults.push(Fault {
            id: String::new(),
            rule: rule.to_owned(),
            cwe: weaknesses(result, described),
            severity: severity(result["level"].as_str()),
            verdict: Verdict::Unsafe,
            place,
            message: format!("{text} ({tool})"),
            input_dependent: false,
            level: findings::Level::Likely,
            witness: None,
            origin: FaultOrigin::Imported,
            segments: Vec::new(),
            n_paths: None,
            error_state: String::new(),
            fingerprint: String::new(),
            group: None,
        });
    }
}

fn severity(level: Option<&str>) -> Severity {
    match level {
        Some("error") => Severity::Error,
        Some("note" | "none") => Severity::Note,
        _ => Severity::Warning,
    }
}

/// Folders that places are relative to, by name.
fn bases(run: &Value) -> BTreeMap<&str, String> {
    let all = run["originalUriBaseIds"].as_object().into_iter().flatten();
    all.filter_map(|(name, base)| Some((name.as_str(), path_of(base["uri"].as_str()?)))).collect()
}

fn place(result: &Value, bases: &BTreeMap<&str, String>) -> Option<Place> {
    let location = result["locations"].as_array()?.first()?;
    let physical = &location["physicalLocation"];
    let artifact = &physical["artifactLocation"];
    let mut file = path_of(artifact["uri"].as_str()?);
    if let Some(base) = artifact["uriBaseId"].as_str().and_then(|name| bases.get(name))
        && !file.starts_with('/')
    {
        file = format!("{}/{file}", base.trim_end_matches('/'));
    }
    let number = |name: &str| {
        let number = physical["region"][name].as_u64();
        number.and_then(|number| u32::try_from(number).ok())
    };
    let line = number("startLine").filter(|line| *line > 0)?;
    let logical = location["logicalLocations"].as_array().and_then(|all| all.first());
    let function = logical.and_then(|logical| logical["name"].as_str()).unwrap_or("");
    Some(Place {
        file,
        line,
        column: number("startColumn").unwrap_or(0),
        function: function.to_owned(),
    })
}

/// CWE numbers in the tags of a rule or the taxa of a result.
fn weaknesses(result: &Value, rule: Option<&Value>) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let taxa = result["taxa"].as_array().into_iter().flatten();
    found.extend(taxa.filter_map(|taxon| taxon["id"].as_str()?.parse::<u32>().ok()));
    let tags = rule.map(|rule| &rule["properties"]["tags"]).and_then(Value::as_array);
    for tag in tags.into_iter().flatten().filter_map(Value::as_str) {
        let tag = tag.to_ascii_lowercase();
        let digits = tag.rsplit_once("cwe-").map(|(_, digits)| digits);
        found.extend(digits.and_then(|digits| digits.parse::<u32>().ok()));
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"{"version": "2.1.0", "runs": [{
        "tool": {"driver": {"name": "other", "rules": [
            {"id": "null", "properties": {"tags": ["security", "external/cwe/cwe-476"]}}]}},
        "originalUriBaseIds": {"SRC": {"uri": "file:///far/project/"}},
        "results": [
            {"ruleId": "null", "level": "error", "message": {"text": "p is null"},
             "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": "a%20b.c", "uriBaseId": "SRC"},
                "region": {"startLine": 3, "startColumn": 5}}}]},
            {"ruleIndex": 0, "message": {}, "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": "file:///x/y.c"}, "region": {"startLine": 9}}}]},
            {"ruleId": "null", "locations": []},
            {"locations": [{"physicalLocation": {"artifactLocation": {"uri": "z.c"},
                "region": {"startLine": 0}}}]},
            7]}]}"#;

    #[test]
    fn results_become_faults_and_the_odd_ones_are_counted() {
        let read = read(REPORT.as_bytes()).unwrap();
        assert_eq!(read.n_unplaced, 3);
        let [first, second] = read.faults.as_slice() else { panic!("{:?}", read.faults) };
        assert_eq!(first.place.file, "/far/project/a b.c");
        assert_eq!((first.place.line, first.place.column), (3, 5));
        assert_eq!(first.cwe, [476]);
        assert_eq!(first.message, "p is null (other)");
        assert_eq!(first.severity, Severity::Error);
        assert_eq!((second.rule.as_str(), second.place.file.as_str()), ("null", "/x/y.c"));
    }

    #[test]
    fn what_is_no_report_is_refused() {
        let cut = &REPORT.as_bytes()[..REPORT.len() / 2];
        assert!(matches!(read(cut), Err(SarifError::Json(_))));
        assert!(matches!(read(b"[1, 2]"), Err(SarifError::NoRuns)));
        assert!(matches!(read(b"{\"runs\": 3}"), Err(SarifError::NoRuns)));
        assert_eq!(read(b"{\"runs\": [{}, null]}").unwrap(), Read::default());
    }
}
