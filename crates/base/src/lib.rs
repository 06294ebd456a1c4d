//! What every other crate leans on: typed ids and arenas, source positions,
//! budgets, cancellation, and running child processes without losing them.

pub mod budget;
pub mod cancel;
pub mod child;
pub mod id;
pub mod source;

pub use budget::{Budget, Exhausted};
pub use cancel::Cancel;
pub use id::IdVec;
pub use source::{Origin, SourceMap, SourcePosition};
