//! Which fault causes which.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Level, RunInput, Step};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Correlation {
    pub from: String,
    pub to: String,
    /// Whether the second fault cannot happen without the first.
    pub unique: bool,
    pub via: Via,
    /// `proved` where a run shows it: with the first fault put right, the second does not happen.
    #[serde(default)]
    pub level: Level,
    /// What the program is run with so that both happen, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<RunInput>,
    #[serde(default)]
    pub path: Vec<Step>,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// The error state itself violates the second constraint.
    Direct,
    /// The error state makes a path feasible on which the second fault lies.
    Feasibility,
}

/// Faults connected by correlations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    pub id: String,
    pub faults: Vec<String>,
    /// What to fix first, in order of how many faults each removes.
    pub roots: Vec<String>,
    /// For each root what goes away with it, itself not included.
    #[serde(default)]
    pub removes: Vec<Vec<String>>,
}
