//! The symbolic interpreter: runs a program forwards along a path, with a full memory
//! model, and says of each value exactly what the path makes of it.

pub mod access;
pub mod addresses;
pub mod aliases;
pub mod arith;
pub mod attributes;
mod choices;
pub mod context;
pub mod exec;
pub mod handed;
pub mod loops;
pub mod memory;
mod mentions;
mod origins;
pub mod path;
pub mod reach;
pub mod state;
pub mod strings;
pub mod symbols;
pub mod trail;
pub mod value;

pub use context::{Context, Feasible};
pub use state::{Frame, State};
pub use symbols::SymbolKind;
pub use value::Value;
