//! One module per command, and what they end with.

pub mod beliefs;
pub mod capture;
mod catalogue;
pub mod check;
mod confirmed;
pub mod correlate;
pub mod crash;
pub mod diagnose;
mod explored;
mod last;
pub mod learn;
pub mod locate;
pub mod lsp;
pub mod project;
pub mod replay;
pub mod report;
mod reporting;
pub mod show;
pub mod spec;
pub mod suggest;

use std::process::ExitCode;

/// How a command that did its work ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was found.
    Clean,
    Findings,
    /// The tool or its use failed: nothing could be done.
    Failed,
    /// Part of the input could not be analysed.
    Incomplete,
}

impl Outcome {
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Clean => 0,
            Outcome::Findings => 1,
            Outcome::Failed => 2,
            Outcome::Incomplete => 3,
        })
    }

    /// That something is missing matters more than what was found in the rest.
    pub fn of(findings: &findings::Findings) -> Self {
        if !findings.incomplete.is_empty() {
            Outcome::Incomplete
        } else if findings.has_findings() {
            Outcome::Findings
        } else {
            Outcome::Clean
        }
    }
}
