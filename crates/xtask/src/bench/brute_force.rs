//! `bench brute-force`: verdicts on many generated programs beside what they do on every input.
//! The tests do the same for a few hundred.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

/// Programs in one file of the test.
const N_EACH: u64 = 130;

#[derive(Args)]
pub struct BruteForce {
    /// Programs to generate; rounded up to whole files
    #[arg(short, long, default_value_t = 5_000)]
    n: u64,
    /// The first seed; each file has one of its own
    #[arg(long, default_value_t = 4)]
    seed: u64,
}

pub fn run(root: &Path, options: &BruteForce) -> Result<()> {
    let status = Command::new("cargo")
        .args(["test", "--release", "-p", "firstfault-detect", "--test", "brute_force"])
        .args(["--", "--nocapture"])
        .env("FIRSTFAULT_BRUTE_FORCE", format!("{}+{}", options.seed, options.n.div_ceil(N_EACH)))
        .current_dir(root)
        .status()?;
    if !status.success() {
        bail!("verdicts are wrong");
    }
    Ok(())
}
