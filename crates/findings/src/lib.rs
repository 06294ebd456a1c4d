//! What every analysis says in the end: plain serialisable data, and the JSON contract
//! that users' scripts read.
//!
//! Fields may be added, never renamed; a field that is absent has its default. Analyses
//! fill the sections they own, and [`Findings::finish`] brings everything into the one
//! order in which it is printed, whatever order it was found in.

mod correlation;
mod corruption;
mod deviation;
mod fault;
mod fingerprint;
mod input;
mod level;
mod order;
mod place;
mod repair;
mod run_input;
mod select;
mod statement;
mod suggestion;
pub mod values;

pub use correlation::{Correlation, Group, Via};
pub use corruption::{Corruption, RaceAccess};
pub use deviation::{Deviation, Example};
pub use fault::{Contract, DontKnow, Fault, FaultOrigin, Segment, Severity, Verdict};
pub use fingerprint::{Fingerprints, fingerprint};
pub use input::{Incomplete, Notice, Program};
pub use level::Level;
pub use place::{Place, Step};
pub use repair::{Change, Repair};
pub use run_input::{EnvironmentVariable, InputFile, RunInput};
pub use statement::Statement;
pub use suggestion::Suggestion;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the contract, first thing in every report.
pub const SCHEMA: &str = "firstfault/1";

/// Counts and ratios, by name; nested objects for tables. Nothing here depends on time
/// or on the number of threads.
pub type Stats = BTreeMap<String, serde_json::Value>;

/// The results of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    pub schema: String,
    /// What was looked for: ids of rules and templates.
    #[serde(default)]
    pub rules: Vec<String>,
    /// The programs the input was made of, as a linker would see them.
    #[serde(default)]
    pub programs: Vec<Program>,
    /// Parts of the input that could not be analysed. Not empty means exit code 3.
    #[serde(default)]
    pub incomplete: Vec<Incomplete>,
    /// What the user should know about the input though nothing is missing.
    #[serde(default)]
    pub notices: Vec<Notice>,
    #[serde(default)]
    pub faults: Vec<Fault>,
    #[serde(default)]
    pub contracts: Vec<Contract>,
    #[serde(default)]
    pub dont_knows: Vec<DontKnow>,
    #[serde(default)]
    pub correlations: Vec<Correlation>,
    #[serde(default)]
    pub groups: Vec<Group>,
    #[serde(default)]
    pub deviations: Vec<Deviation>,
    #[serde(default)]
    pub repairs: Vec<Repair>,
    #[serde(default)]
    pub statements: Vec<Statement>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corruption: Option<Corruption>,
    #[serde(default)]
    pub suggestions: Vec<Suggestion>,
    #[serde(default)]
    pub stats: Stats,
    /// The files that the compiler read and that places above are in, each with the BLAKE3 hash
    /// of its content: only their text is shown in reports. Absent where that is not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<BTreeMap<String, String>>,
}

/// The JSON Schema of the contract, as published in `docs/findings.schema.json`. Readers
/// accept fields they do not know: later versions add some.
pub fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft07();
    settings.into_generator().into_root_schema_for::<Findings>().into()
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            rules: Vec::new(),
            programs: Vec::new(),
            incomplete: Vec::new(),
            notices: Vec::new(),
            faults: Vec::new(),
            contracts: Vec::new(),
            dont_knows: Vec::new(),
            correlations: Vec::new(),
            groups: Vec::new(),
            deviations: Vec::new(),
            repairs: Vec::new(),
            statements: Vec::new(),
            corruption: None,
            suggestions: Vec::new(),
            stats: Stats::new(),
            sources: None,
        }
    }
}

impl Findings {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is anything that makes the run end with exit code 1. Contracts and
    /// don't-knows are no findings.
    pub fn has_findings(&self) -> bool {
        !self.faults.is_empty()
            || !self.deviations.is_empty()
            || !self.statements.is_empty()
            || self.corruption.is_some()
            || !self.suggestions.is_empty()
    }

    /// Keeps of [`sources`](Self::sources) what a place is in.
    pub fn keep_mentioned_sources(&mut self) {
        let Some(mut sources) = self.sources.take() else { return };
        let mut mentioned = BTreeSet::new();
        collect_files(&serde_json::to_value(&*self).unwrap_or_default(), &mut mentioned);
        sources.retain(|file, _| mentioned.contains(file));
        self.sources = Some(sources);
    }

    /// Adds `count` to a counter in `stats`.
    pub fn count(&mut self, name: &str, count: u64) {
        let entry = self.stats.entry(name.to_owned()).or_insert_with(|| 0u64.into());
        *entry = entry.as_u64().unwrap_or(0).saturating_add(count).into();
    }
}

/// The values of all fields called `file`.
fn collect_files(value: &serde_json::Value, files: &mut BTreeSet<String>) {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(file) if name == "file" => drop(files.insert(file.clone())),
                    _ => collect_files(value, files),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_files(item, files)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_of_places_are_kept() {
        let notice = Notice {
            place: Place { file: "a.c".to_owned(), line: 3, ..Place::default() },
            message: String::new(),
        };
        let sources = ["a.c", "b.h"].map(|file| (file.to_owned(), "hash".to_owned()));
        let mut findings =
            Findings { notices: vec![notice], sources: Some(sources.into()), ..Findings::new() };
        findings.keep_mentioned_sources();
        let kept: Vec<String> = findings.sources.unwrap().into_keys().collect();
        assert_eq!(kept, ["a.c"]);
    }
}
