//! From any C build to preprocessed units.
//!
//! Input comes as files with flags, as a `compile_commands.json`, or as a build command
//! that is run and watched. [`load`] turns each into a [`Project`]: preprocessed units
//! and the programs they make. Everything is cached by content, so that a second run
//! over an unchanged project starts no compiler.

pub mod cache;
mod captured;
mod clang;
pub mod command;
mod database;
mod deps;
mod error;
mod files;
mod link;
mod load;
mod observe;
mod parallel;
mod plan;
mod preprocess;
mod probe;
mod project;
pub mod provenance;
mod record;
mod shadow;
pub mod wrapper;

pub use cache::{Cache, Key};
pub use clang::{Clang, hold};
pub use deps::Dependency;
pub use error::{CaptureError, UnitFailure};
pub use load::load;
pub use observe::{BUILD_FLAG, guard_build};
pub use project::{
    Build, Inputs, ProgramKind, ProgramPlan, Progress, Project, Settings, Text, Unit,
};
