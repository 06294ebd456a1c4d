//! `firstfault report`: findings of an earlier run, in any format.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use findings::Findings;
use report::Options;
use report::output::Target;

use super::Outcome;
use super::reporting::{self, Reporting};
use crate::args::{OutputArgs, ReportFormat};

/// A report larger than this was not written by us.
const MAX_BYTES: u64 = 4 << 30;

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
    let path = match &args.file {
        Some(file) => file.clone(),
        None => reporting::last(&args.project, args.state.as_deref()),
    };
    if args.file.is_none() && !path.exists() {
        bail!("nothing was found here yet: run `firstfault check` first, or name a JSON report");
    }
    let findings = read(&path)?;
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

fn read(path: &Path) -> Result<Findings> {
    let about = || format!("cannot read {}", path.display());
    let size = std::fs::metadata(path).with_context(about)?.len();
    if size > MAX_BYTES {
        bail!("{}: larger than 4 GiB", about());
    }
    let bytes = std::fs::read(path).with_context(about)?;
    let findings: Findings = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is no report of firstfault", path.display()))?;
    if findings.schema != findings::SCHEMA {
        bail!("{} is a report of another kind: {}", path.display(), findings.schema);
    }
    Ok(findings)
}
