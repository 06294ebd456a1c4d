//! `firstfault crash`: where a run that fails first corrupted its memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use clap::Args;
use report::Options;
use report::output::Target;
use suppress::{BuildOptions, Expected, Limits, Oracle, Request, RunCost, Source, Test};

use super::reporting::Reporting;
use super::{Outcome, project};
use crate::args::{AllowArgs, ListFormat, OutputArgs, RunArgs, SandboxArgs};

#[derive(Args)]
pub struct CrashArgs {
    /// The C files of the program
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Instead of files: a folder with a captured build or a compile_commands.json
    #[arg(short = 'p', long, value_name = "DIR", conflicts_with = "files")]
    project: Option<PathBuf>,
    /// Which program of the project; for a compile_commands.json, the file with its main
    #[arg(long, value_name = "PROG", conflicts_with = "files")]
    target: Option<String>,
    /// The arguments of the run, as a shell splits them; files named there are found
    #[arg(long, value_name = "ARGS", default_value = "", allow_hyphen_values = true)]
    args: String,
    /// What the run reads from its standard input
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// What the run should print: another output is a failure, too
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// A file the run finds in its working folder, which is otherwise empty
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// A variable of the run's environment
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Orders of threads to try for a program with threads that does not fail
    #[arg(long, value_name = "N", default_value_t = 64)]
    seek_failure: u64,
    /// Compiler and linker flags; linker flags alone for a project
    #[arg(last = true, value_name = "CFLAGS")]
    flags: Vec<String>,
    /// Seconds a run of the program may take
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    /// Megabytes of heap a run may use
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=2048))]
    memory_limit: u64,
    #[command(flatten)]
    sandbox: SandboxArgs,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    run: RunArgs,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// No source lines
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    output: OutputArgs,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_string(), value.to_string()))
}

pub fn run(args: &CrashArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let limits = args.sandbox.limits(Limits {
        time: Duration::from_secs(args.time_limit),
        memory: args.memory_limit << 20,
        ..Limits::default()
    });
    let (build, test) = (build_options(args, cancel)?, test(args)?);
    let request = Request { build, test, limits, schedules: args.seek_failure };
    if let Some(path) = &args.run.timings {
        let cost = suppress::measure(&request, cancel)?;
        return write_timings(path, &cost);
    }
    let mut findings = suppress::find(&request, cancel)?;
    findings.rules.push("crash".to_owned());
    let options = Options { brief: args.brief, ..Options::default() };
    let root = project::root(args.project.as_deref())?;
    let (format, state) = (args.format.into(), args.run.state.as_deref());
    Reporting { target: &target, root: &root, format, options, state }.write(&findings)?;
    Ok(Outcome::of(&findings))
}

/// Apart from the report: the run is measured, and nothing is looked for.
fn write_timings(path: &Path, cost: &RunCost) -> Result<Outcome> {
    let written = serde_json::json!({
        "cpu_seconds": {
            "plain runs": cost.plain.as_secs_f64(),
            "suppressing runs": cost.suppressing.as_secs_f64(),
            "tracking runs": cost.tracking.as_secs_f64(),
        },
    });
    let json = serde_json::to_string_pretty(&written)? + "\n";
    fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Outcome::Clean)
}

fn build_options(args: &CrashArgs, cancel: &Cancel) -> Result<BuildOptions> {
    let mut options = if args.files.is_empty() {
        let folder = args.project.clone().unwrap_or_else(|| PathBuf::from("."));
        project::build_options(&folder, args.target.as_deref(), &args.run, cancel)?
    } else {
        let sources = args.files.iter().cloned().map(Source::File).collect();
        BuildOptions { sources, ..BuildOptions::default() }
    };
    options.flags.extend(args.flags.iter().cloned());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    options.jobs = args.run.jobs.map_or(cores, usize::from);
    project::say_unknown_flags(&options);
    Ok(options)
}

/// The run, as a test that should pass.
fn test(args: &CrashArgs) -> Result<Test> {
    let Some(words) = shlex::split(&args.args) else {
        bail!("--args {:?} has a quote without its end", args.args);
    };
    let read =
        |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let stdin = args.stdin.as_ref().map(read).transpose()?.unwrap_or_default();
    let stdout = args.expect.as_ref().map(read).transpose()?;
    Ok(Test {
        name: "the run".to_string(),
        inputs: inputs(args, &words)?,
        args: words,
        stdin,
        environment: args.env.clone(),
        oracle: Oracle::Output(Expected { stdout, ..Expected::default() }),
        permissions: args.allow.permissions(),
    })
}

/// Files of the working folder: those asked for, and relative ones named in the arguments.
fn inputs(args: &CrashArgs, words: &[String]) -> Result<Vec<(String, PathBuf)>> {
    let mut inputs = Vec::new();
    for path in &args.input {
        let Some(name) = path.file_name() else { bail!("{} is no file", path.display()) };
        let path = std::path::absolute(path)?;
        if !path.is_file() {
            bail!("cannot read {}: no such file", path.display());
        }
        inputs.push((name.to_string_lossy().into_owned(), path));
    }
    for word in words {
        let path = Path::new(word);
        let is_below = path.components().all(|c| matches!(c, std::path::Component::Normal(_)));
        if is_below && path.is_file() && !inputs.iter().any(|(name, _)| name == word) {
            inputs.push((word.clone(), std::path::absolute(path)?));
        }
    }
    Ok(inputs)
}
