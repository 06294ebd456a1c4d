//! Which findings are reported.

use std::path::PathBuf;

use anyhow::{Result, bail};
use capture::Inputs;
use clap::Args;

#[derive(Args, Default)]
pub struct SelectArgs {
    /// Leave out what this baseline, or an earlier JSON report, has already
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Remember everything that is found now, for --baseline
    #[arg(long, value_name = "FILE")]
    pub save_baseline: Option<PathBuf>,
    /// Only what is new since this commit, which is analysed, too
    #[arg(long, value_name = "COMMIT", conflicts_with = "changed_since")]
    pub diff: Option<String>,
    /// Only what goes through functions that were edited since this commit
    #[arg(long, value_name = "COMMIT")]
    pub changed_since: Option<String>,
    /// Do not keep the findings for `firstfault report`
    #[arg(long, hide = true)]
    pub forget: bool,
}

impl SelectArgs {
    /// Says before the analysis what could not be done after it.
    pub fn check(&self, inputs: &Inputs) -> Result<()> {
        if let (Some(commit), Inputs::Folder(folder)) = (&self.diff, inputs)
            && folder.is_dir()
            && !folder.join("compile_commands.json").is_file()
        {
            bail!(
                "--diff analyses {commit}, too, and a captured build knows the present state only: \
                 give the build command, as in `firstfault check --diff {commit} -- make`"
            );
        }
        Ok(())
    }
}
