//! `firstfault locate`: ranks statements by how likely each is the faulty one, from tests
//! that fail.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use clap::{Args, ValueEnum};
use findings::{Findings, Notice, Place};
use locate::{
    Answer, BuildOptions, Formula, Located, Question, Ranking, Recompute, Request, Search, Source,
};
use report::Options;
use report::output::Target;

use super::reporting::Reporting;
use super::{Outcome, project};
use crate::args::{AllowArgs, ListFormat, OutputArgs, RunArgs, SandboxArgs};

#[derive(Args)]
pub struct LocateArgs {
    /// The C files of the program
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Instead of files: a folder with a captured build or a compile_commands.json
    #[arg(short = 'p', long, value_name = "DIR", conflicts_with = "files")]
    project: Option<PathBuf>,
    /// Which program of the project; for a compile_commands.json, the file with its main
    #[arg(long, value_name = "PROG", conflicts_with = "files")]
    target: Option<String>,
    /// A folder with NAME.args, NAME.in and NAME.out, or a tests.toml
    #[arg(long, value_name = "DIR|FILE")]
    tests: PathBuf,
    /// Compiler and linker flags; linker flags alone for a project
    #[arg(last = true, value_name = "CFLAGS")]
    flags: Vec<String>,
    /// Which values are tried; by default full for short runs and reduced for long ones
    #[arg(long, value_enum)]
    search: Option<SearchArg>,
    /// Rank by the coverage of the tests alone, with this formula
    #[arg(long, value_enum)]
    formula: Option<FormulaArg>,
    /// Rank by the number of failing tests with an IVMP alone, ties by Tarantula
    #[arg(long, conflicts_with = "formula")]
    paper_ranking: bool,
    /// Present the next list after each fix, searching so much again
    #[arg(long, value_enum, value_name = "HOW", conflicts_with_all = ["clusters", "formula", "output"])]
    rounds: Option<RecomputeArg>,
    /// Group failing tests whose IVMPs overlap at least so much (0 to 1), with a list each
    #[arg(long, value_name = "SIMILARITY", conflicts_with = "formula", value_parser = share)]
    clusters: Option<f64>,
    /// Statements to list; 0 for all
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: u32,
    /// A test that exceeds its limits counts as failing
    #[arg(long)]
    limit_fails: bool,
    /// Seconds a run of the program may take
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    /// Millions of values a run may compute
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    step_limit: u64,
    /// Megabytes of heap a run may use
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..=1024))]
    memory_limit: u64,
    /// Search by a process per replacement, even where copying memory back is enough
    #[arg(long)]
    fork: bool,
    #[command(flatten)]
    sandbox: SandboxArgs,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    run: RunArgs,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    /// No source lines, no evidence
    #[arg(long)]
    brief: bool,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum SearchArg {
    /// Every instance with every value of the profile, up to a statement's first IVMP
    Full,
    /// Every IVMP there is
    Every,
    /// A shrinking set of statements with the four spanning values
    Reduced,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormulaArg {
    Tarantula,
    Ochiai,
    Dstar,
    Op2,
}

#[derive(Clone, Copy, ValueEnum)]
enum RecomputeArg {
    /// Nothing: one list for all faults
    Minimal,
    /// Every failing run
    Full,
    /// Failing runs through the fixed statement
    Partial,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_string())
}

pub fn run(args: &LocateArgs, cancel: &Cancel) -> Result<Outcome> {
    let target = Target::new(args.output.output.clone());
    target.check()?;
    let request = request(args, cancel)?;
    if let Some(threshold) = args.clusters {
        return run_clusters(args, &request, threshold, &target, cancel);
    }
    if let Some(recompute) = args.rounds {
        return run_rounds(args, &request, recompute, cancel);
    }
    let located = locate::locate(&request, cancel)?;
    if let Some(path) = &args.run.timings {
        write_timings(path, &located)?;
    }
    let findings = shortened(args, located.findings);
    write(args, &target, &findings)?;
    Ok(Outcome::of(&findings))
}

/// Apart from the report, which does not depend on how fast the machine is.
fn write_timings(path: &Path, located: &Located) -> Result<()> {
    let stats = &located.stats;
    let written = serde_json::json!({
        "replacements": stats.n_replacements,
        "cpu_seconds": {
            "plain runs": located.runs.plain.as_secs_f64(),
            "instrumented runs": located.runs.instrumented.as_secs_f64(),
            "replaced runs": stats.cpu.as_secs_f64(),
        },
        "searches_by_fork": stats.n_forked,
        "searches_by_rerun": stats.n_rerun,
    });
    let json = serde_json::to_string_pretty(&written)? + "\n";
    std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
}

fn n_jobs(args: &LocateArgs) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    args.run.jobs.map_or(cores, usize::from)
}

/// What to build; a project is looked at anew each time, since its sources may have changed.
fn build_options(args: &LocateArgs, cancel: &Cancel) -> Result<BuildOptions> {
    let mut options = if args.files.is_empty() {
        let folder = args.project.clone().unwrap_or_else(|| PathBuf::from("."));
        project::build_options(&folder, args.target.as_deref(), &args.run, cancel)?
    } else {
        let sources = args.files.iter().cloned().map(Source::File).collect();
        BuildOptions { sources, ..BuildOptions::default() }
    };
    options.flags.extend(args.flags.iter().cloned());
    options.jobs = n_jobs(args);
    project::say_unknown_flags(&options);
    Ok(options)
}

fn request(args: &LocateArgs, cancel: &Cancel) -> Result<Request> {
    let jobs = n_jobs(args);
    let mut options = locate::Options {
        jobs,
        limit_is_failure: args.limit_fails,
        force_fork: args.fork,
        ..locate::Options::default()
    };
    options.limits.time = Duration::from_secs(args.time_limit);
    options.limits.steps = args.step_limit * 1_000_000;
    options.limits.memory = args.memory_limit << 20;
    options.limits = args.sandbox.limits(options.limits);
    Ok(Request {
        build: build_options(args, cancel)?,
        tests: args.tests.clone(),
        allowed: args.allow.allowed(),
        options,
        search: args.search.map(|search| match search {
            SearchArg::Full => Search::Full,
            SearchArg::Every => Search::Every,
            SearchArg::Reduced => Search::Reduced,
        }),
        ranking: match args.formula {
            Some(FormulaArg::Tarantula) => Ranking::Formula(Formula::Tarantula),
            Some(FormulaArg::Ochiai) => Ranking::Formula(Formula::Ochiai),
            Some(FormulaArg::Dstar) => Ranking::Formula(Formula::DStar),
            Some(FormulaArg::Op2) => Ranking::Formula(Formula::Op2),
            None if args.paper_ranking => Ranking::Paper,
            None => Ranking::Supported,
        },
    })
}

fn run_clusters(
    args: &LocateArgs,
    request: &Request,
    threshold: f64,
    target: &Target,
    cancel: &Cancel,
) -> Result<Outcome> {
    let mut all = Findings::new();
    for (tests, findings) in locate::locate_clusters(request, threshold, cancel)? {
        let findings = shortened(args, findings);
        let message = format!("tests {} fail alike", tests.join(", "));
        all.notices.push(Notice { place: Place::default(), message });
        let first = format!("for tests {}", tests.join(", "));
        all.statements.extend(findings.statements.into_iter().map(|mut statement| {
            statement.evidence.insert(0, first.clone());
            statement
        }));
        all.incomplete = findings.incomplete;
    }
    write(args, target, &all)?;
    Ok(Outcome::of(&all))
}

/// Asks on the terminal after each list; an empty answer or the end of input stops.
fn run_rounds(
    args: &LocateArgs,
    request: &Request,
    recompute: RecomputeArg,
    cancel: &Cancel,
) -> Result<Outcome> {
    let recompute = match recompute {
        RecomputeArg::Minimal => Recompute::Minimal,
        RecomputeArg::Full => Recompute::Full,
        RecomputeArg::Partial => Recompute::Partial,
    };
    let mut last = Outcome::Clean;
    let mut first_file = String::new();
    let mut problem = None;
    let mut answered = false;
    locate::locate_in_rounds(request, recompute, cancel, &mut |question| {
        answered = false;
        let presented = match question {
            Question::List(findings) => {
                let findings = shortened(args, findings.clone());
                last = Outcome::of(&findings);
                first_file =
                    findings.statements.first().map_or(String::new(), |s| s.place.file.clone());
                write(args, &Target::new(None), &findings)
            }
            Question::Again(error) => {
                eprintln!("{error}");
                Ok(())
            }
        };
        match presented.and_then(|()| ask(args, &first_file, cancel)) {
            Ok(answer) => {
                answered = answer != Answer::Stop;
                answer
            }
            Err(error) => {
                problem = Some(error);
                Answer::Stop
            }
        }
    })?;
    if let Some(error) = problem {
        return Err(error);
    }
    if answered {
        println!("every test passes");
        return Ok(Outcome::Clean);
    }
    Ok(last)
}

/// Asks until the answer is a line, or nothing, and the project can be read.
fn ask(args: &LocateArgs, first_file: &str, cancel: &Cancel) -> Result<Answer> {
    loop {
        eprint!("fix one fault, then give its line (FILE:LINE or LINE; nothing to stop): ");
        std::io::stderr().flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        let answer = answer.trim();
        if answer.is_empty() {
            return Ok(Answer::Stop);
        }
        let (file, line) = answer.rsplit_once(':').unwrap_or((first_file, answer));
        let Ok(line) = line.parse() else {
            eprintln!("{answer:?} is no line");
            continue;
        };
        match build_options(args, cancel) {
            Ok(build) => {
                let place = Place { file: file.to_string(), line, ..Place::default() };
                return Ok(Answer::Fixed(place, Some(build)));
            }
            Err(error) if cancel.is_cancelled() => return Err(error),
            Err(error) => eprintln!("{error:#}"),
        }
    }
}

/// The front of the list, with all that tie with its last statement.
fn shortened(args: &LocateArgs, mut findings: Findings) -> Findings {
    if args.top > 0 && findings.statements.len() > args.top as usize {
        let last = findings.statements[args.top as usize - 1].rank;
        findings.statements.retain(|statement| statement.rank <= last);
    }
    findings
}

fn write(args: &LocateArgs, target: &Target, findings: &Findings) -> Result<()> {
    let options = Options { brief: args.brief, ..Options::default() };
    let root = project::root(args.project.as_deref())?;
    let (format, state) = (args.format.into(), args.run.state.as_deref());
    Reporting { target, root: &root, format, options, state }.write(findings)
}
