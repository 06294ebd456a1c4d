//! `firstfault diagnose`: from a property that can be violated to the statement that is
//! probably wrong, and what it should be.

mod compiler;
mod headers;
mod target;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::Cancel;
use clap::Args;
use diagnose::{Diagnosis, Library, Options, Request, SourceFile, TestCase};
use findings::{
    Fault, FaultOrigin, Findings, Incomplete, Notice, Place, Segment, Severity, Verdict,
};
use report::output::Target as Output;
use run::{Allowed, Oracle, Suite};

use super::Outcome;
use super::reporting::Reporting;
use crate::args::{InputArgs, ListFormat, OutputArgs, RunArgs};
use crate::pipeline;
use compiler::Compiler;

/// Repairs that are shown by default.
const TOP: u16 = 5;

/// Statements a solution may change by default.
const MAX_CHANGES: u16 = 2;

#[derive(Args)]
pub struct DiagnoseArgs {
    /// The C files of the program
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
    /// Only a property that is violated in this line: LINE or FILE:LINE
    #[arg(long, value_name = "LINE")]
    line: Option<String>,
    /// Only a property of this rule. Other than with uninitialized-read, what was never set may
    /// hold anything
    #[arg(long, value_name = "RULE", value_parser = diagnose::RULES)]
    rule: Option<String>,
    /// Only this fault of a `check` of the same files, together with those of its group: its id,
    /// which `check --format json` has, or FILE:LINE
    #[arg(long, value_name = "F3", conflicts_with = "line")]
    fault: Option<String>,
    /// The function to start in; main by default. Its parameters are unknown
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Tests the repaired program has to pass: a folder with NAME.args, NAME.in and NAME.out,
    /// or a tests.toml
    #[arg(long, value_name = "DIR|FILE", conflicts_with_all = ["config", "maxsat"])]
    tests: Option<PathBuf>,
    /// A file of the program that is right as it is: no change of it is proposed
    #[arg(long, value_name = "FILE")]
    keep: Vec<PathBuf>,
    /// Mistakes to look for besides or instead of those firstfault knows
    #[arg(long, value_name = "FILE")]
    annotations: Option<PathBuf>,
    /// Only list the changes the annotation library has for these files; nothing is tried
    #[arg(long, conflicts_with_all = ["line", "rule", "fault", "tests", "config", "maxsat"])]
    list: bool,
    /// One of the paper's configurations instead of trying edits
    #[arg(long, value_enum)]
    config: Option<ConfigArg>,
    /// With the paper's repair program, choose among the library's alternatives by weight
    #[arg(long)]
    maxsat: bool,
    /// Statements one solution of a configuration may change; 2 by default, and any number with
    /// basic
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    max_changes: Option<u16>,
    /// Repairs to show; 5 by default, and all with --list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: Option<u16>,
    /// Flags the files are compiled with
    #[arg(last = true, value_name = "CFLAGS")]
    flags: Vec<std::ffi::OsString>,
    #[command(flatten)]
    run: RunArgs,
    /// How to write the report
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    format: ListFormat,
    #[command(flatten)]
    output: OutputArgs,
}

/// The columns of the paper's table 1; each has what those before it have.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ConfigArg {
    /// A selector for every assignment and condition of the trace
    Basic,
    /// Repeated statements choose alike, use-def chains, several traces, few changes
    Constraints,
    /// Results within the safety projections of proved properties
    Projection,
    /// Statements that proofs rest on stay
    Trusted,
}

fn paper(args: &DiagnoseArgs) -> Option<diagnose::PaperSettings> {
    let config = match args.config {
        Some(ConfigArg::Basic) => diagnose::Config::Basic,
        Some(ConfigArg::Constraints) => diagnose::Config::Constraints,
        Some(ConfigArg::Projection) => diagnose::Config::Projection,
        Some(ConfigArg::Trusted) => diagnose::Config::Trusted,
        None if args.maxsat => diagnose::Config::Constraints,
        None => return None,
    };
    let settings = diagnose::PaperSettings::new(config, args.maxsat, MAX_CHANGES.into());
    let max_changes = args.max_changes.map_or(settings.max_changes, u32::from);
    Some(diagnose::PaperSettings { max_changes, ..settings })
}

/// What would have no effect is not taken in silence.
fn refuse(args: &DiagnoseArgs) -> Result<()> {
    let solves = args.config.is_some() || args.maxsat;
    if args.max_changes.is_some() && !solves {
        bail!(
            "--max-changes limits solutions of --config or --maxsat: without, one change is tried at a time"
        );
    }
    if args.annotations.is_some() && solves && !args.maxsat {
        bail!(
            "--config uses the annotation library only with --maxsat: --annotations would change nothing"
        );
    }
    if let Some(folder) = args.files.iter().find(|path| path.is_dir()) {
        let folder = folder.display();
        bail!(
            "{folder} is a folder; name the C files of one program, as in `diagnose {folder}/*.c`"
        );
    }
    Ok(())
}

pub fn run(args: &DiagnoseArgs, cancel: &Cancel) -> Result<Outcome> {
    refuse(args)?;
    let output = Output::new(args.output.output.clone());
    output.check()?;
    let input = InputArgs { files: args.files.clone(), project: None, rest: args.flags.clone() };
    let (inputs, root) = input.resolve()?;
    let mut imported = pipeline::import(&inputs, &root, &args.run, cancel)?;
    let files = compiled(&args.files, &imported.findings);
    let program = match imported.plans.len() {
        0 => bail!("there is no program to diagnose"),
        _ => imported.link(0),
    };
    if args.list {
        let mut findings = imported.findings;
        findings.repairs =
            diagnose::edits::list(&sources(args, &files, &program)?, &library(args)?);
        findings.repairs.truncate(args.top.map_or(usize::MAX, usize::from));
        return finish(findings, args, None, &output, &root);
    }
    let compiler = Compiler::new((args, &files), &inputs, &root, cancel)?;
    let meant = target::meant(args, &program, &root)?;
    let request = Request {
        program: &program,
        files: sources(args, &files, &program)?,
        target: meant.target,
        entry: args.function.clone(),
        library: library(args)?,
        tests: tests(args)?,
        paper: paper(args),
        options: Options { top: usize::from(args.top.unwrap_or(TOP)), ..Options::default() },
    };
    let mut diagnosis = imported
        .timings
        .on_all_threads("diagnose", || diagnose::diagnose(&request, &compiler, cancel))?;
    imported.write_timings(&args.run)?;
    let mut findings = imported.findings;
    findings.incomplete.extend(incomplete(args, &diagnosis));
    diagnosis.notes.splice(0..0, meant.notes);
    diagnosis.notes.extend(macros(&files, &diagnosis));
    add(&mut findings, diagnosis)?;
    finish(findings, args, meant.id, &output, &root)
}

/// Macros of headers that the failing run goes through: they are not changed.
fn macros(files: &[PathBuf], diagnosis: &Diagnosis) -> Vec<String> {
    let Some(found) = &diagnosis.violation else { return Vec::new() };
    let told = |(name, header): (String, String)| {
        format!(
            "the failing run goes through the macro {name} of {header}; it is included, and not \
             changed"
        )
    };
    headers::defining(files, &found.trace.macros).into_iter().map(told).collect()
}

/// What nothing is known of where nothing was found.
fn incomplete(args: &DiagnoseArgs, diagnosis: &Diagnosis) -> Option<Incomplete> {
    let reason = match (&diagnosis.unmodelled, &diagnosis.incomplete) {
        (Some(what), _) => format!("a run came to what is not modelled: {what}"),
        (None, Some(why)) => format!("the search is not complete: {why}"),
        (None, None) => return None,
    };
    let files: Vec<String> = args.files.iter().map(|f| f.display().to_string()).collect();
    // What was run was analysed.
    let what = format!("other paths of {}", files.join(" "));
    Some(Incomplete { what, reason, details: Vec::new() })
}

/// The files that are part of the program: others do not compile, which is said.
fn compiled(files: &[PathBuf], findings: &Findings) -> Vec<PathBuf> {
    let is_left_out = |path: &&PathBuf| {
        findings.incomplete.iter().any(|left| left.what == path.to_string_lossy())
    };
    files.iter().filter(|path| !is_left_out(path)).cloned().collect()
}

fn finish(
    mut findings: Findings,
    args: &DiagnoseArgs,
    id: Option<String>,
    output: &Output,
    root: &Path,
) -> Result<Outcome> {
    findings.rules.push("diagnose".to_owned());
    findings.finish();
    // The fault keeps the name it was asked for by.
    if let Some(id) = id {
        findings.faults.iter_mut().for_each(|fault| fault.id.clone_from(&id));
        findings.repairs.iter_mut().for_each(|repair| repair.fault = Some(id.clone()));
    }
    let (format, state) = (args.format.into(), args.run.state.as_deref());
    let options = report::Options { brief: args.list, ..report::Options::default() };
    Reporting { target: output, root, format, options, state }.write(&findings)?;
    Ok(Outcome::of(&findings))
}

/// The files as the program names them.
fn sources(
    args: &DiagnoseArgs,
    files: &[PathBuf],
    program: &program::Program,
) -> Result<Vec<SourceFile>> {
    if let Some(unknown) = args.keep.iter().find(|path| !args.files.contains(path)) {
        bail!("`--keep {}`: this is none of the files of the program", unknown.display());
    }
    let read = |path: &PathBuf| {
        let text =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let end = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let given = path.display().to_string();
        let known = program.files.iter().map(|file| file.path.clone());
        let exact = known.clone().find(|known| *known == given);
        let alike =
            || known.clone().find(|known| end.as_ref().is_some_and(|end| known.ends_with(end)));
        let is_kept = args.keep.contains(path);
        Ok(SourceFile { path: exact.or_else(alike).unwrap_or(given), text, is_kept })
    };
    files.iter().map(read).collect()
}

fn library(args: &DiagnoseArgs) -> Result<Library> {
    let Some(path) = &args.annotations else { return Ok(Library::own()) };
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Library::with(&text).with_context(|| path.display().to_string())
}

/// The suite, as far as it only compares output; the rest is left out and said so.
fn tests(args: &DiagnoseArgs) -> Result<Vec<TestCase>> {
    let Some(path) = &args.tests else { return Ok(Vec::new()) };
    let suite = Suite::load(path, &Allowed::default())?;
    for (name, why) in &suite.unusable {
        crate::log::warning(&format!("test {name} is left out: {why}"));
    }
    let mut tests = Vec::new();
    for test in suite.tests {
        let expected = match test.oracle {
            Oracle::Output(expected) if test.inputs.is_empty() && expected.files.is_empty() => {
                expected
            }
            _ => {
                let name = test.name;
                crate::log::warning(&format!("test {name} is left out: it uses files or a script"));
                continue;
            }
        };
        tests.push(TestCase {
            name: test.name,
            arguments: test.args,
            stdin: test.stdin,
            stdout: expected.stdout,
            exit: expected.exit,
        });
    }
    Ok(tests)
}

/// The violated property as a fault, and its repairs.
fn add(findings: &mut Findings, diagnosis: Diagnosis) -> Result<()> {
    for message in diagnosis.notes {
        findings.notices.push(Notice { place: Place::default(), message });
    }
    for (name, value) in diagnosis.stats {
        findings.count(name, value);
    }
    let Some(violation) = diagnosis.violation else { return Ok(()) };
    let rules = spec::discover::rules(&[])?;
    let rule = rules.faults.iter().find(|fault| fault.id == violation.rule);
    let cwe = rule.map(|fault| fault.cwe.clone()).unwrap_or_default();
    let id = "diagnosed".to_owned();
    findings.faults.push(Fault {
        id: id.clone(),
        rule: violation.rule.to_owned(),
        cwe,
        severity: Severity::Error,
        verdict: Verdict::Unsafe,
        place: violation.place,
        message: violation.message,
        input_dependent: !violation.input.is_empty(),
        level: findings::Level::Proved,
        witness: Some(violation.input),
        origin: FaultOrigin::Detection,
        segments: vec![Segment { steps: violation.trace.steps }],
        n_paths: None,
        error_state: String::new(),
        fingerprint: String::new(),
        group: None,
    });
    findings.repairs.extend(diagnosis.repairs.into_iter().map(|mut repair| {
        repair.fault = Some(id.clone());
        repair
    }));
    Ok(())
}
