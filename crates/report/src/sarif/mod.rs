//! SARIF 2.1.0 as other tools write it.

mod read;

pub use read::{SarifError, read};
