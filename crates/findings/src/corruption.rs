//! The first point where a failing run corrupted its memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Place, Step};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Corruption {
    #[serde(flatten)]
    pub place: Place,
    /// "overflow", "stray-write", "race", "uninitialized", ...
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// From the corruption to each failure met on the way.
    #[serde(default)]
    pub chain: Vec<Step>,
    /// How often the program was run to find it.
    pub executions: u64,
    /// The order of variables that made a silent corruption fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variable_order: Vec<String>,
    /// The two accesses of a race.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub race: Vec<RaceAccess>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaceAccess {
    #[serde(flatten)]
    pub place: Place,
    pub thread: String,
    /// "read" or "write".
    pub access: String,
    /// Innermost call first.
    #[serde(default)]
    pub stack: Vec<Place>,
}
