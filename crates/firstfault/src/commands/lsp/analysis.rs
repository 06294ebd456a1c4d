//! One analysis: `firstfault check` as a child.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Limits};
use findings::{Findings, Repair};
use tempfile::NamedTempFile;

use super::LspArgs;
use crate::commands::last;

/// As long as a day: an analysis is never cut short, only replaced.
const DEADLINE: Duration = Duration::from_secs(24 * 3600);

/// What an analysis said, and which it was.
pub struct Analysed {
    pub generation: u64,
    pub findings: Result<Findings>,
}

/// A child that is ready to start, and where it writes its report.
pub struct Check {
    command: Command,
    report: NamedTempFile,
}

/// What `check` does in the folder the editor has open; where that is no project, the saved
/// file alone.
pub fn command(args: &LspArgs, root: &Path, saved: &Path) -> Result<Check> {
    let report = tempfile::Builder::new().prefix("firstfault-lsp-").tempfile()?;
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let mut command = child::command(program)?;
    command.current_dir(root).args(["check", "--forget", "--format", "json", "-o"]);
    command.arg(report.path());
    if let Some(jobs) = args.run.jobs {
        command.args(["-j", &jobs.to_string()]);
    }
    if let Some(state) = &args.run.state {
        command.arg("--state").arg(state);
    }
    if let Some(project) = &args.input.project {
        command.arg("-p").arg(project);
    } else if !args.input.files.is_empty() {
        command.args(&args.input.files).arg("--").args(&args.input.rest);
    } else if is_project(root) {
        command.arg("-p").arg(root);
    } else {
        let saved = saved.strip_prefix(root).unwrap_or(saved);
        command.arg(saved).arg("--").args(&args.input.rest);
    }
    Ok(Check { command, report })
}

fn is_project(root: &Path) -> bool {
    let captured = last::path(root, None).with_file_name("capture");
    root.join("compile_commands.json").exists() || captured.exists()
}

pub fn run(check: Check, cancel: &Cancel) -> Result<Findings> {
    let limits = Limits { deadline: DEADLINE, ..Limits::default() };
    let done = child::run(check.command, b"", &limits, cancel)?;
    match done.ending {
        Ending::Exited(0 | 1 | 3) => {
            let report = std::fs::read(check.report.path()).context("there is no report")?;
            serde_json::from_slice(&report).context("the report makes no sense")
        }
        Ending::Exited(_) => {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            let said = said.lines().last().unwrap_or("it could not be analysed");
            bail!("{}", said.strip_prefix("firstfault: ").unwrap_or(said))
        }
        ending => bail!("the analysis ended before its time: {ending:?}"),
    }
}

/// What the last command in a terminal proposed, as `firstfault diagnose` does.
pub fn repairs(args: &LspArgs, root: &Path) -> Vec<Repair> {
    let last: PathBuf = last::path(root, args.run.state.as_deref());
    let findings = std::fs::read(last).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    findings.map(|findings: Findings| findings.repairs).unwrap_or_default()
}
