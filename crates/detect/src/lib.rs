//! The demand-driven, path-sensitive engine.
//!
//! Specifications raise queries at observable points. Each is answered by searching the
//! paths that lead to its point, from the function that holds it outwards to callers, with
//! an interpreter that knows exactly what a path makes of every value and every object.

pub mod code;
pub mod describe;
pub mod effects;
pub mod engine;
pub mod machine;
pub mod observer;
pub mod query;
pub mod reaches;
pub mod report;
pub mod search;
pub mod semantics;
pub mod steps;
pub mod verdict;
