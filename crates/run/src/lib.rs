//! Builds instrumented programs and runs them: tests with their verdicts, value profiles,
//! single replacements, and searches for replacements that turn a failing run around.
//!
//! Every program under test runs in the [`sandbox`], in a scratch folder of its own, with limits
//! on steps, time, output and memory, without address randomisation, and dies with us.

pub mod build;
pub mod libc_calls;
pub mod profile;
pub mod runner;
pub mod sandbox;
pub mod sanitized;
pub mod search;
pub mod suite;
pub mod suppressed;
pub mod workshop;

mod control;
mod crash_file;
mod limits;
mod source;
mod suite_folder;
mod suite_toml;
mod threads;

pub use build::{BuildError, BuildOptions, Executable, Program};
pub use limits::Limits;
pub use profile::{Profile, SeenValues};
pub use runner::{Ending, Observation, Runner};
pub use sandbox::Permissions;
pub use search::{Hit, Replacement, SearchOptions, SearchOutcome};
pub use source::{Preprocessed, Source, Unit};
pub use suite::{Allowed, Expected, Oracle, Suite, SuiteError, Test};
pub use workshop::{ChangedFile, Workshop};
