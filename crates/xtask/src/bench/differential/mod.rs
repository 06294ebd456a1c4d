//! `cargo xtask bench differential`.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use super::tool::ToolArgs;

#[derive(Args)]
pub struct Differential {
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(root: &Path, options: &Differential) -> Result<()> {
    let tool = options.tool.tool(root)?;
    anyhow::bail!("nothing is measured yet with {}", tool.path.display())
}
