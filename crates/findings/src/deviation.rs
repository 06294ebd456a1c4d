//! Places that break a rule the rest of the code follows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Place;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deviation {
    /// From 1; tied deviations share a rank.
    pub rank: u32,
    pub template: String,
    /// What the template's slots stand for here.
    #[serde(default)]
    pub slots: BTreeMap<String, String>,
    #[serde(flatten)]
    pub place: Place,
    /// The rule in a sentence.
    pub message: String,
    pub z: f64,
    /// What deviations are ordered by: z, and what the template and its names add to it.
    #[serde(default)]
    pub score: f64,
    /// How many places follow the rule, and how many do not.
    #[serde(default)]
    pub n_followed: u64,
    #[serde(default)]
    pub n_broken: u64,
    /// Places that follow the rule.
    #[serde(default)]
    pub examples: Vec<Example>,
    /// Places that break it, this one first.
    #[serde(default)]
    pub counterexamples: Vec<Example>,
    #[serde(default)]
    pub fingerprint: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    #[serde(flatten)]
    pub place: Place,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}
