//! Search by running: every fault of a program with the input that makes it happen.
//!
//! Runs record what had to hold for them to go their way. [`search`] negates these conditions
//! one after the other and asks the solver for inputs of other paths, within bounds, until what
//! is wanted is violated; `diagnose` searches that way. [`explore`] is for all faults of a
//! program: it goes on after a violation, and shares its work between solving, and variations
//! of inputs that went far. What is found is told by [`trace`] and [`describe`].

pub mod agenda;
pub mod beyond;
mod campaign;
pub mod chains;
mod confirm;
mod corpus;
pub mod describe;
mod descriptors;
mod dictionary;
pub mod distance;
pub mod ending;
pub mod found;
pub mod frontier;
pub mod judge;
pub mod memo;
mod numbers;
pub mod objects;
mod options;
mod path;
mod pieces;
mod records;
pub mod search;
mod shell;
pub mod shrink;
pub mod slice;
pub mod streams;
pub mod target;
pub mod told;
pub mod trace;
pub mod variation;
pub mod watching;

pub use campaign::{explore, explore_rules};
pub use confirm::{Claim, Opinion, confirm};
pub use ending::Property;
pub use options::{Ended, FaultLink, FaultName, Found, Options, Outcome, Rules};
pub use search::{Explored, Search, Violation};
pub use target::{Line, Target, is_meant};
