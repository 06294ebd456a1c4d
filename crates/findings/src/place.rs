//! Positions in the user's files and the steps of a path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A position in the user's sources. Ordered as a reader would go through them.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Place {
    /// Relative to the project where possible.
    pub file: String,
    /// Counted from 1; 0 where unknown.
    pub line: u32,
    /// Counted in bytes from 1; 0 where unknown.
    #[serde(default)]
    pub column: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub function: String,
}

/// One step of a path through the program.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Step {
    #[serde(flatten)]
    pub place: Place,
    /// What happens here, in a sentence without a full stop.
    pub note: String,
    /// Whether this step decides the outcome: an impact in the papers' words.
    #[serde(default)]
    pub impact: bool,
    /// How many calls deep the step lies below the outermost function of the path.
    #[serde(default)]
    pub depth: u32,
}
