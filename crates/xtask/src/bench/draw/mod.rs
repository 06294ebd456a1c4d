//! `cargo xtask bench draw`.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use super::tool::ToolArgs;

#[derive(Args)]
pub struct Draw {
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(root: &Path, options: &Draw) -> Result<()> {
    let tool = options.tool.tool(root)?;
    anyhow::bail!("nothing is measured yet with {}", tool.path.display())
}
