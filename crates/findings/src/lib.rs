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

use std::collections::BTreeMap;

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

    /// Adds `count` to a counter in `stats`.
    pub fn count(&mut self, name: &str, count: u64) {
        let entry = self.stats.entry(name.to_owned()).or_insert_with(|| 0u64.into());
        *entry = entry.as_u64().unwrap_or(0).saturating_add(count).into();
    }
}
