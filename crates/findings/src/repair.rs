//! Changes to the source that would remove a fault.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Place, Step};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// From 1; tied repairs share a rank.
    pub rank: u32,
    /// The fault it repairs, where it is one of this report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    pub changes: Vec<Change>,
    /// The error trace it was derived from.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What was checked about it: "the failing run finishes", "all 5 tests pass".
    #[serde(default)]
    pub verified: Vec<String>,
    #[serde(default)]
    pub why: String,
}

/// `old` at this place becomes `new`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    #[serde(flatten)]
    pub place: Place,
    pub old: String,
    pub new: String,
}
