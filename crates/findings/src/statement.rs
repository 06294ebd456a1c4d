//! Statements ranked by how likely each is the faulty one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Place;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statement {
    /// From 1; tied statements share a rank.
    pub rank: u32,
    #[serde(flatten)]
    pub place: Place,
    pub suspiciousness: f64,
    /// Sentences: "with i = 7 instead of 8 at the 3rd execution, tests 4 and 9 pass".
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The single measures the suspiciousness is made from, and others to compare with.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
}
