//! Faults found on paths, the contracts functions rely on, and what stayed undecided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Level, Place, RunInput, Step};

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    Error,
    Warning,
    Note,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Unsafe,
    Safe,
    Infeasible,
    DontKnow,
    Contract,
}

/// Which part of firstfault, or whether another tool, found the fault.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FaultOrigin {
    Detection,
    /// Only under the error state of another fault.
    Correlation,
    Imported,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// `F1`, `F2`, ... in printing order; given by [`Findings::finish`](crate::Findings::finish).
    /// Until then any name that is unique in the run.
    pub id: String,
    pub rule: String,
    #[serde(default)]
    pub cwe: Vec<u32>,
    pub severity: Severity,
    pub verdict: Verdict,
    #[serde(flatten)]
    pub place: Place,
    pub message: String,
    /// The evidence it rests on.
    #[serde(default)]
    pub level: Level,
    /// Whether outside input decides if the fault happens.
    #[serde(default)]
    pub input_dependent: bool,
    /// What the program is run with so that it happens, where that is known.
    #[serde(default, alias = "input", skip_serializing_if = "Option::is_none")]
    pub witness: Option<RunInput>,
    pub origin: FaultOrigin,
    /// Up to five, distinct in their impacts, the shortest first.
    #[serde(default)]
    pub segments: Vec<Segment>,
    /// How many paths lead to the fault, where more than the segments show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_paths: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error_state: String,
    #[serde(default)]
    pub fingerprint: String,
    /// The correlation group, where it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A faulty path from its first impact to the point where the fault is observed.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Segment {
    pub steps: Vec<Step>,
}

/// What a function needs from callers that are not part of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Contract {
    #[serde(flatten)]
    pub place: Place,
    /// In C terms: `n <= 16`.
    pub requires: String,
    pub rule: String,
}

/// A question that stayed open, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct DontKnow {
    #[serde(flatten)]
    pub place: Place,
    pub rule: String,
    pub reason: String,
    /// Where the analysis had to stop.
    pub at: Place,
    /// What the user could do about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resolve: String,
}
