//! What every other crate leans on: typed ids and arenas, source positions,
//! budgets, cancellation, reading files from outside, scratch folders, trying changes of the
//! source, and running child processes without losing them.

pub mod budget;
pub mod cancel;
pub mod child;
pub mod edit;
pub mod id;
pub mod read;
pub mod scratch;
pub mod source;

pub use budget::{Budget, Exhausted};
pub use cancel::Cancel;
pub use edit::{Edit, Trial, TryEdit};
pub use id::IdVec;
pub use scratch::Scratch;
pub use source::{Origin, SourceMap, SourcePosition};
