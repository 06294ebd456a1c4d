//! SARIF 2.1.0: written for code scanning services and editors, read from other tools.

mod fixes;
mod line_hash;
mod location;
mod read;
mod results;
mod rules;
mod write;

pub use read::{SarifError, read};
pub use write::render;
