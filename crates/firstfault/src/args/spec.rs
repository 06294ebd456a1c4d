//! `firstfault spec`, `rules` and `explain`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct SpecArgs {
    #[command(subcommand)]
    pub action: SpecAction,
}

#[derive(Subcommand)]
pub enum SpecAction {
    /// Check specifications and say what is wrong with them
    Check {
        /// Files and folders; the built-in ones where none is named
        paths: Vec<PathBuf>,
    },
    /// Print the syntax trees of a specification and the patterns its points became
    Show {
        /// A file, or the id of a built-in rule
        what: PathBuf,
    },
    /// Run the fixtures of rules: annotated C files that say what should be reported
    Test {
        /// Folders of rules, or ids of built-in ones; by default all built-in rules and those
        /// of the project's firstfault.toml
        paths: Vec<PathBuf>,
    },
    /// Write a new rule to start from: specification, documentation and fixtures
    New {
        /// The id: lowercase words joined by dashes, naming what is wrong
        id: String,
        /// The folder to make the rule's folder in
        #[arg(long, value_name = "DIR", default_value = ".")]
        folder: PathBuf,
    },
}

#[derive(Args)]
pub struct ExplainArgs {
    /// The id of a rule
    pub rule: String,
}
