//! What can go wrong, for the whole input and for one unit.

use std::io;
use std::path::PathBuf;

/// Nothing can be analysed, and why. Each message is whole: none has a source to add.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(
        "clang-19 was not found: install it (on Debian or Ubuntu: apt install clang-19) \
         or set FIRSTFAULT_CLANG to its path"
    )]
    ClangMissing,
    #[error("no input: name C files, a folder with -p, or a build command after --")]
    NoInput,
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error(
        "{} has no compile_commands.json and no captured build: make one with \
         'cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON' or 'firstfault capture -- make'",
        .0.display()
    )]
    NoBuild(PathBuf),
    #[error("{}: {cause}", path.display())]
    BadDatabase { path: PathBuf, cause: String },
    #[error("{}: no entry is a C file", .0.display())]
    NoCEntries(PathBuf),
    #[error("cannot write to {}: {cause}; set FIRSTFAULT_STATE to a writable folder", path.display())]
    StateFolder { path: PathBuf, cause: io::Error },
    #[error("cannot run the build command '{command}': {cause}")]
    BuildNotStarted { command: String, cause: io::Error },
    #[error("{0}")]
    NothingCaptured(String),
    #[error("{}", all_failed(.0))]
    AllFailed(Vec<UnitFailure>),
    #[error("interrupted")]
    Cancelled,
}

fn all_failed(failures: &[UnitFailure]) -> String {
    match failures {
        [] => "there is nothing to analyse".to_string(),
        [only] if only.details.is_empty() => only.to_string(),
        [only] => format!("{} could not be preprocessed", only.path),
        all => format!("none of the {} units could be preprocessed", all.len()),
    }
}

/// One unit cannot be analysed; the others can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitFailure {
    /// The file as users know it.
    pub path: String,
    /// One line: what went wrong and what to try.
    pub reason: String,
    /// The first lines the compiler printed.
    pub details: Vec<String>,
}

impl UnitFailure {
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into(), details: Vec::new() }
    }
}

impl std::fmt::Display for UnitFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}
