//! Execution suppression: from a run that fails to where its memory was first corrupted.
//!
//! Each failure shows a part of the corruption. The definition of what the failing place
//! used is suppressed together with all it influences, and the program runs again, until
//! nothing fails: what was suppressed last is the first corruption. In programs with threads
//! the order in which they ran is repeated, and the search ends at a race that does harm.

mod choose;
mod expose;
mod isolate;
mod races;
mod reorder;
mod request;
mod seek;
mod words;

pub use isolate::{Isolated, Round, Suspect, isolate};
pub use races::{HarmfulRace, RaceKind};
pub use request::{CrashError, Request, RunCost, find, measure};
pub use run::{BuildOptions, Expected, Limits, Oracle, Permissions, Preprocessed, Source, Test};
