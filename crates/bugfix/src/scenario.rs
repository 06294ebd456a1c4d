//! Bug-fix scenarios: a debugging situation and how the fault in it was fixed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A set of situation descriptors: what is known of a suspicious statement.
pub type Situation = BTreeSet<String>;

/// One entry of the database the rules are learned from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scenario {
    /// Where it comes from: a commit and a place, a seeded fault.
    pub origin: String,
    pub situation: Situation,
    /// Descriptions of the fix, from general to specific; all of them apply.
    pub fixes: BTreeSet<String>,
}

impl Scenario {
    /// Equal for equal scenarios, so that learning the same fix twice counts once.
    pub fn key(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(&self.origin);
        self.situation.iter().for_each(|descriptor| add(descriptor));
        add("");
        self.fixes.iter().for_each(|fix| add(fix));
        hasher.finalize().to_hex()[..32].to_string()
    }
}
