//! Proof-guided diagnosis: from a property that can be violated to the statement that is
//! probably wrong and what it should be.
//!
//! [`explore`] searches inputs that violate a property and tells the failing run,
//! [`edits`] enumerates what the annotation [`library`] says the statements on it may have to
//! be instead, and [`meta`] writes all of these into one repair program. Each edit is replayed
//! on the failing input to completion, on the other inputs the search came by, on the user's
//! tests, and by a bounded check of its own; what survives is ranked.

mod coverage;
pub mod edits;
pub mod library;
pub mod meta;
mod paper;
mod rank;
mod repair;
mod trust;
mod verify;
mod workshop;

pub use explore::judge::{Given, Judge, TestCase};
pub use explore::target::{Line, RULES, Target, is_meant};
pub use explore::trace::Trace;
pub use explore::{Explored, Property, Search, Violation};
pub use library::{Library, LibraryError};
pub use paper::{Config, Settings as PaperSettings};
pub use repair::{Diagnosis, diagnose};
pub use trust::Mined;

use base::Cancel;
use program::Program;

/// A source file of the program.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// As the program's positions name it.
    pub path: String,
    pub text: Vec<u8>,
    /// It is right as it is, and not changed.
    pub is_kept: bool,
}

/// A program made from changed sources.
pub struct Compiled {
    pub program: Program,
    /// How the program's positions name each of the files.
    pub paths: Vec<String>,
}

/// Why changed sources make no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Where the compiler objects: file, line, column.
    At(Vec<(usize, u32, u32)>),
    Failed(String),
}

/// Turns changed sources into a program; the command line's work.
pub trait Compile {
    /// `texts` has every file of the program, in the order of the request.
    fn compile(&self, texts: &[Vec<u8>]) -> Result<Compiled, Rejected>;
}

/// What is to be diagnosed.
pub struct Request<'a> {
    pub program: &'a Program,
    pub files: Vec<SourceFile>,
    /// Which violated property; any by default.
    pub target: Target,
    /// The function to start in; `main` by default, or the one that holds the target.
    pub entry: Option<String>,
    pub library: Library,
    pub tests: Vec<TestCase>,
    /// One of the paper's configurations instead of the default way.
    pub paper: Option<PaperSettings>,
    pub options: Options,
}

/// Limits, which count work so that results do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs of the search for a violation. Default 8,000.
    pub search_runs: u32,
    /// Questions to the solver for each bound of that search; hard ones count as many.
    /// Default 500.
    pub search_questions: u64,
    /// Runs of the check of one edit. Default 100.
    pub check_runs: u32,
    /// Questions to the solver for each bound of that check. Default 60.
    pub check_questions: u64,
    /// Questions to the solver for all such checks together. Default 120.
    pub all_check_questions: u64,
    /// Instructions of all such checks together, roughly. Default 2,000,000.
    pub all_check_steps: u64,
    /// How many of the best edits are checked that way. Default 16.
    pub checked: usize,
    /// Instructions of one run. Default 400,000.
    pub steps: u64,
    /// z3's units per question of the search. Default 200,000; checks of edits get an eighth of it.
    pub resources: u32,
    /// Repairs to report. Default 10.
    pub top: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            search_runs: 8000,
            search_questions: 500,
            check_runs: 100,
            check_questions: 60,
            all_check_questions: 120,
            all_check_steps: 2_000_000,
            checked: 16,
            steps: 400_000,
            resources: 200_000,
            top: 10,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum DiagnoseError {
    #[error("the program has no function {0} to start in")]
    NoEntry(String),
    #[error("the program has no main; say with --function where to start")]
    NoMain,
    #[error("the repair program cannot be compiled: {0}")]
    Uncompilable(String),
    #[error("interrupted")]
    Interrupted,
}

pub(crate) fn check(cancel: &Cancel) -> Result<(), DiagnoseError> {
    if cancel.is_cancelled() { Err(DiagnoseError::Interrupted) } else { Ok(()) }
}
