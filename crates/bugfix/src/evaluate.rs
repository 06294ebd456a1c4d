//! How good suggestions are: each known scenario is asked about as if it had not been learned, or
//! others are that were not.

use crate::suggested::suggested_without;
use crate::{Database, Scenario, Wanted};

/// Where the first suggestion stands that describes the actual fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub origin: String,
    /// From 1; none where no suggestion is right.
    pub position: Option<usize>,
    pub n_suggestions: usize,
    /// Whether one of the first three is right and says something that few faults have in common.
    pub is_told_apart: bool,
    /// The first suggestions.
    pub suggested: Vec<String>,
}

/// A description that more than one scenario in so many has is general.
const FEW: usize = 10;

/// Which scenarios are left out along with the one that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveOut {
    One,
    /// All whose origin has the same beginning up to the first slash: those of its program.
    Program,
}

/// Asks about each known scenario as if it had not been learned.
pub fn evaluate(database: &Database, wanted: Wanted, leave_out: LeaveOut) -> Vec<Judged> {
    let program = |origin: &str| origin.split('/').next().unwrap_or("").to_owned();
    let programs: Vec<String> = database.entries.iter().map(|e| program(&e.origin)).collect();
    let judge = |(number, scenario): (usize, Scenario)| {
        let is_left_out = |other: usize| match leave_out {
            LeaveOut::One => other == number,
            LeaveOut::Program => programs[other] == programs[number],
        };
        judged(database, wanted, scenario, is_left_out)
    };
    database.scenarios().enumerate().map(judge).collect()
}

/// Asks about scenarios that may be unknown.
pub fn evaluate_on(database: &Database, wanted: Wanted, asked: Vec<Scenario>) -> Vec<Judged> {
    asked.into_iter().map(|scenario| judged(database, wanted, scenario, |_| false)).collect()
}

fn judged(
    database: &Database,
    wanted: Wanted,
    scenario: Scenario,
    is_left_out: impl Fn(usize) -> bool,
) -> Judged {
    let list = suggested_without(database, &scenario.situation, wanted, is_left_out).list;
    let is_right = |fix: &String| scenario.fixes.contains(fix);
    let is_told_apart = list.iter().take(3).any(|ranked| {
        is_right(&ranked.rule.fix) && ranked.rule.n_fix as usize * FEW <= database.len()
    });
    let position = list.iter().position(|ranked| is_right(&ranked.rule.fix));
    Judged {
        origin: scenario.origin,
        position: position.map(|position| position + 1),
        n_suggestions: list.len(),
        is_told_apart,
        suggested: list.into_iter().take(5).map(|ranked| ranked.rule.fix).collect(),
    }
}
