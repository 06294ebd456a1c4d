//! How sure a fault is, and joining what two provers say of one fault.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Fault, Findings};

/// The evidence a fault rests on, weakest first.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// A feasible path leads to it.
    #[default]
    Likely,
    /// A run of the program model on a concrete input does it.
    Proved,
    /// The compiled program did it on the witness, seen by sanitizers.
    Reproduced,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Likely => "likely",
            Level::Proved => "proved",
            Level::Reproduced => "reproduced",
        }
    }

    /// As SARIF ranks results: 0 to 100.
    pub fn rank(self) -> f64 {
        match self {
            Level::Likely => 50.0,
            Level::Proved => 90.0,
            Level::Reproduced => 100.0,
        }
    }
}

impl Findings {
    /// Adds a fault that a run showed. Where the static engine reports the same rule at the
    /// same line, that fault gets the witness and the level, and keeps its path; an open
    /// question or a contract there is answered by it.
    pub fn add_shown(&mut self, shown: Fault) {
        let is_same = |file: &str, line: u32, rule: &str| {
            file == shown.place.file && line == shown.place.line && rule == shown.rule
        };
        self.dont_knows.retain(|open| !is_same(&open.place.file, open.place.line, &open.rule));
        self.contracts.retain(|open| !is_same(&open.place.file, open.place.line, &open.rule));
        let mut same: Vec<&mut Fault> = self
            .faults
            .iter_mut()
            .filter(|known| is_same(&known.place.file, known.place.line, &known.rule))
            .collect();
        if same.is_empty() {
            self.faults.push(shown);
            return;
        }
        for known in &mut same {
            if known.level < shown.level {
                known.level = shown.level;
                known.witness.clone_from(&shown.witness);
                known.input_dependent |= shown.input_dependent;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DontKnow, FaultOrigin, Place, RunInput, Severity, Verdict};

    fn fault(rule: &str, line: u32, level: Level) -> Fault {
        Fault {
            id: String::new(),
            rule: rule.to_owned(),
            cwe: Vec::new(),
            severity: Severity::Error,
            verdict: Verdict::Unsafe,
            place: place(line),
            message: format!("{} {}", rule, level.name()),
            level,
            input_dependent: level > Level::Likely,
            witness: (level > Level::Likely).then(RunInput::default),
            origin: FaultOrigin::Detection,
            segments: Vec::new(),
            n_paths: None,
            error_state: String::new(),
            fingerprint: String::new(),
            group: None,
        }
    }

    fn place(line: u32) -> Place {
        Place { file: "a.c".to_owned(), line, ..Place::default() }
    }

    #[test]
    fn a_run_raises_the_level_of_a_known_fault_and_answers_its_question() {
        let open = DontKnow {
            place: place(3),
            rule: "leak".to_owned(),
            reason: "budget".to_owned(),
            at: place(3),
            resolve: String::new(),
        };
        let mut findings = Findings {
            faults: vec![fault("leak", 3, Level::Likely), fault("leak", 9, Level::Likely)],
            dont_knows: vec![open.clone(), DontKnow { place: place(4), ..open }],
            ..Findings::new()
        };
        findings.add_shown(fault("leak", 3, Level::Proved));
        assert_eq!(findings.faults.len(), 2);
        assert_eq!(findings.faults[0].level, Level::Proved);
        assert_eq!(findings.faults[0].message, "leak likely", "its own path is kept");
        assert!(findings.faults[0].witness.is_some());
        assert_eq!(findings.faults[1].level, Level::Likely);
        assert_eq!(findings.dont_knows.len(), 1);
        findings.add_shown(fault("double-free", 3, Level::Proved));
        assert_eq!(findings.faults.len(), 3, "another rule at the same line is another fault");
    }
}
