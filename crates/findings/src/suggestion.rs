//! What past fixes of similar statements suggest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Change, Place};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suggestion {
    /// From 1; tied suggestions share a rank.
    pub rank: u32,
    /// The statement it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    pub description: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// How many past fixes speak for it.
    #[serde(default)]
    pub n_fixes: u32,
    /// The situation descriptors that led here.
    #[serde(default)]
    pub because: Vec<String>,
    /// The concrete edit, where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What was tried: "passes all 12 tests".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<String>,
}
