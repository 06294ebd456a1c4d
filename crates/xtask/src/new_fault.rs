//! `cargo xtask new-fault`: the built-in rules begin as a user's own do, in `faults/`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

pub fn run(root: &Path, id: &str) -> Result<()> {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--locked", "--package", "firstfault", "--bin", "firstfault"])
        .args(["--", "spec", "new", "--folder", "faults", id])
        .current_dir(root)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("faults/{id} was not written");
    }
    Ok(())
}
