//! `firstfault report`: findings of an earlier run, in any format.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use report::Options;
use report::output::Target;

use super::Outcome;
use super::last;
use super::reporting::Reporting;
use crate::args::{OutputArgs, ReportFormat};

#[derive(Args)]
pub struct ReportArgs {
    /// A JSON report; by default what the last command found
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The folder of the project
    #[arg(short = 'p', long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// Where the last findings are kept; $FIRSTFAULT_STATE or .firstfault by default
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
    /// One line for each finding: no source lines, no paths
    #[arg(long)]
    brief: bool,
    /// List what stayed undecided, and why
    #[arg(long)]
    dont_knows: bool,
    /// List what functions ask of callers outside the program
    #[arg(long)]
    contracts: bool,
    /// Only which fault causes which
    #[arg(long)]
    graph: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &ReportArgs) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let findings = match &args.file {
        Some(file) => last::read(file)?,
        None => last::read_kept(&args.project, args.state.as_deref())?,
    };
    let ReportArgs { brief, dont_knows, contracts, graph, .. } = *args;
    let options = Options { brief, dont_knows, contracts, graph, ..Options::default() };
    let reporting = Reporting {
        target: &target,
        root: &args.project,
        format: args.format.into(),
        options,
        state: args.state.as_deref(),
    };
    reporting.render(&findings)?;
    Ok(Outcome::of(&findings))
}
