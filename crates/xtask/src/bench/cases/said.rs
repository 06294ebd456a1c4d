//! What a tool said about one program, in the form in which it is scored and kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A line of a file, by its base name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct At {
    pub file: String,
    pub line: u32,
}

impl At {
    pub fn new(file: &str, line: u32) -> Self {
        let file = file.rsplit('/').next().unwrap_or_default().to_owned();
        Self { file, line }
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    pub id: String,
    /// One of our rules; for deviations the template.
    pub rule: String,
    /// `likely`, `proved`, `reproduced`; empty where the tool has no levels.
    pub level: String,
    /// Where it counts as reported: one place, or every frame of a sanitizer's leak.
    pub places: Vec<At>,
    /// What it tells on its path.
    pub path: Vec<At>,
    pub function: String,
    pub message: String,
    /// It comes with an input that makes it happen.
    pub has_witness: bool,
}

impl Reported {
    /// Reported as seen in a run, of the model or of the program.
    pub fn is_shown(&self) -> bool {
        self.level == "proved" || self.level == "reproduced"
    }
}

/// A question that was not decided, or that a caller outside has to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    pub at: At,
    pub rule: String,
    /// `don't know: the step budget of the search`, `contract: n <= 16`.
    pub ending: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub unique: Option<bool>,
}

/// The first corruption of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corruption {
    pub at: At,
    pub kind: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub at: At,
    pub text: String,
}

/// Everything a tool said about one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Deviations in their ranking.
    pub reports: Vec<Reported>,
    /// Reports without a rule of ours, by the tool's own name.
    pub unmapped: Vec<String>,
    pub edges: Vec<Edge>,
    pub open: Vec<Open>,
    pub notices: Vec<Notice>,
    pub stats: BTreeMap<String, f64>,
    pub corruption: Option<Corruption>,
    /// The accesses of a race.
    pub race: Vec<At>,
    /// Seconds of processor time.
    pub cpu: f64,
    /// Why there is no answer, or not a whole one.
    pub failed: Option<String>,
}

impl Said {
    pub fn failure(why: impl Into<String>) -> Self {
        Self { failed: Some(why.into()), ..Self::default() }
    }

    /// How far the search by running came, where there was one.
    pub fn search(&self) -> Option<String> {
        let stat = |name: &str| self.stats.get(name).copied();
        let runs = stat("explore_runs")?;
        let reached = stat("explore_blocks_reached").unwrap_or(0.0);
        let blocks = stat("explore_blocks").unwrap_or(0.0);
        Some(format!("search by running: {runs} runs, {reached} of {blocks} blocks"))
    }
}
