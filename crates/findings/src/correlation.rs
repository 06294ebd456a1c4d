//! Which fault causes which.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Step;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Correlation {
    pub from: String,
    pub to: String,
    /// Whether the second fault cannot happen without the first.
    pub unique: bool,
    pub via: Via,
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
