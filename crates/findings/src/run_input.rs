//! What a program is run with so that a fault happens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Inputs of a failing run. Texts have one character for each byte, U+0000 to U+00FF, so that
/// nothing is lost of what is no UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunInput {
    /// What to type into a shell such as bash, `./program` being the program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Without the program's name.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What is read from standard input; absent where nothing is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// The environment variables the run asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<EnvironmentVariable>,
    /// The files the run opens, by the names it opens them under.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<InputFile>,
    /// What no command line gives, in words: parameters of a function, results of calls outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentVariable {
    pub name: String,
    /// Absent where it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputFile {
    pub name: String,
    /// One character for each byte; absent where the file does not exist, or is a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// It is a folder; what is in it are files of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_folder: bool,
}

impl RunInput {
    /// The command; in words where there is none.
    pub fn told(&self) -> String {
        if self.command.is_empty() { self.others.join(", ") } else { self.command.clone() }
    }

    /// Whether outside input decides at all.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
            && self.stdin.is_none()
            && self.environment.is_empty()
            && self.files.is_empty()
            && self.others.is_empty()
    }
}
