//! Three opinions on generated programs: sanitizers, search by running, and the static engine.
//!
//! A program of [`fixture::idioms`] is built with clang's sanitizers and run on many inputs;
//! `firstfault check` explores it and analyses it; [`judge`] compares. A fault that is `proved`
//! and does not happen, one that happens where facts settled it as safe, and a run of the tool
//! that fails, are defects; a fault reported in code that is right by construction is false; what
//! sanitizers show and no engine finds is missed. Each [`shrink`]s to a reproducer of its own.
//!
//! What searches of the static engine took for safe is not listed: that a fault happens where it
//! neither reports anything nor says that it does not know is counted as a *silent* miss.

mod case;
mod examine;
pub mod judge;
pub mod native;
mod reproducer;
mod self_check;
mod shrink;
mod tool;

pub use case::{Case, Line, PartInfo};
pub use examine::{Effort, Examined, examine, inputs};
pub use judge::{Contradiction, Kind, Seeded};
pub use reproducer::write;
pub use self_check::{Checked, self_check};
pub use shrink::{Shrunk, shrink};
pub use tool::{Answer, Engine, Point, Tool};
