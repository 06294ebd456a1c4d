//! How good suggestions would have been for what is known already: each scenario is asked about
//! as if it had not been learned.

use crate::best_rules::best_rules_without;
use crate::{Database, Thresholds, prioritise};

/// Where the first suggestion stands that describes the actual fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub origin: String,
    /// From 1; none where no suggestion is right.
    pub position: Option<usize>,
    pub n_suggestions: usize,
    /// The first suggestions.
    pub suggested: Vec<String>,
}

/// Which scenarios are left out along with the one that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveOut {
    One,
    /// All whose origin has the same beginning up to the first slash: those of its program.
    Program,
}

pub fn evaluate(database: &Database, thresholds: Thresholds, leave_out: LeaveOut) -> Vec<Judged> {
    let program = |origin: &str| origin.split('/').next().unwrap_or("").to_owned();
    let programs: Vec<String> = database.entries.iter().map(|e| program(&e.origin)).collect();
    let judge = |(number, scenario): (usize, crate::Scenario)| {
        let is_left_out = |other: usize| match leave_out {
            LeaveOut::One => other == number,
            LeaveOut::Program => programs[other] == programs[number],
        };
        let best = best_rules_without(database, &scenario.situation, thresholds, is_left_out);
        let list = prioritise(best.rules, &scenario.situation);
        let is_right = |fix: &String| scenario.fixes.contains(fix);
        let position = list.iter().position(|ranked| is_right(&ranked.rule.fix));
        Judged {
            origin: scenario.origin,
            position: position.map(|position| position + 1),
            n_suggestions: list.len(),
            suggested: list.into_iter().take(5).map(|ranked| ranked.rule.fix).collect(),
        }
    };
    database.scenarios().enumerate().map(judge).collect()
}
