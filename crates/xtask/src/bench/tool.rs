//! Which firstfault a benchmark measures, and the commit it was built from.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use super::{origin, subject};

#[derive(Args, Clone, Debug, Default)]
pub struct ToolArgs {
    /// The firstfault to run; the release build of this repository by default
    #[arg(long, value_name = "PATH")]
    firstfault: Option<PathBuf>,
    /// The commit that --firstfault was built from, for the result page
    #[arg(long, value_name = "COMMIT", requires = "firstfault")]
    commit: Option<String>,
}

/// An executable and where it came from.
#[derive(Clone, Debug)]
pub struct Tool {
    pub path: PathBuf,
    /// As result pages name it: `1a2b3c4`, or `1a2b3c4 with changes`.
    pub commit: String,
}

impl ToolArgs {
    /// Builds the release binary where none was named. The commit is read before the build,
    /// so a page names what was built even if the tree changes during the measurement.
    pub fn tool(&self, root: &Path) -> Result<Tool> {
        match &self.firstfault {
            Some(path) => Ok(Tool {
                path: path
                    .canonicalize()
                    .with_context(|| format!("cannot find {}", path.display()))?,
                commit: self.commit.clone().unwrap_or_else(|| "unknown commit".to_owned()),
            }),
            None => {
                let commit = origin::commit(root);
                Ok(Tool { path: subject::build(root)?, commit })
            }
        }
    }
}
