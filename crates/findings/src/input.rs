//! What was analysed, what could not be, and what the user should know about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Place;

/// A program as the linker made it, or the files given as one.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Program {
    pub name: String,
    pub units: u64,
    /// Functions with a body.
    pub functions: u64,
    pub calls: u64,
}

/// A part of the input that could not be analysed.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Incomplete {
    /// A source file, or the function or folder that is missing.
    pub what: String,
    /// In one line.
    pub reason: String,
    /// The first lines the compiler said, where it was the compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// Something about the input the user should know though nothing is missing.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Notice {
    #[serde(flatten)]
    pub place: Place,
    pub message: String,
}
