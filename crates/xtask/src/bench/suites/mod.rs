//! `cargo xtask bench suites`.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use super::tool::ToolArgs;

#[derive(Args)]
pub struct Suites {
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(root: &Path, options: &Suites) -> Result<()> {
    let tool = options.tool.tool(root)?;
    anyhow::bail!("nothing is measured yet with {}", tool.path.display())
}
