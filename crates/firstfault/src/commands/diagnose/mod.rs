//! `firstfault diagnose`: from a property that can be violated to the statement that is
//! probably wrong, and what it should be.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use base::Cancel;
use capture::Inputs;
use clap::Args;
use diagnose::{
    Compile, Compiled, Diagnosis, Library, Line, Options, Rejected, Request, SourceFile, Target,
    TestCase,
};
use findings::{
    Fault, FaultOrigin, Findings, Incomplete, Notice, Place, Segment, Severity, Verdict,
};
use report::output::Target as Output;
use run::{Oracle, Suite};

use super::Outcome;
use super::reporting::Reporting;
use crate::args::{InputArgs, ListFormat, OutputArgs, RunArgs};
use crate::pipeline;

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
    /// Only this fault of a `check` of the same files, together with those of its group
    #[arg(long, value_name = "F3", conflicts_with = "line")]
    fault: Option<String>,
    /// The function to start in; main by default. Its parameters are unknown
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Tests the repaired program has to pass: a folder with NAME.args, NAME.in and NAME.out,
    /// or a tests.toml
    #[arg(long, value_name = "DIR|FILE")]
    tests: Option<PathBuf>,
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
    /// Statements one solution of a configuration may change
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=16))]
    max_changes: u16,
    /// Repairs to show
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: u16,
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
    Some(diagnose::PaperSettings::new(config, args.maxsat, args.max_changes.into()))
}

pub fn run(args: &DiagnoseArgs, cancel: &Cancel) -> Result<Outcome> {
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
        findings.repairs = diagnose::edits::list(&sources(&files, &program)?, &library(args)?);
        return finish(findings, args, &output, &root);
    }
    let compiler = Compiler::new((args, &files), &inputs, &root, cancel)?;
    let target = Target { rule: args.rule.clone(), places: places(args, &program, &root)? };
    let request = Request {
        program: &program,
        files: sources(&files, &program)?,
        target,
        entry: args.function.clone(),
        library: library(args)?,
        tests: tests(args)?,
        paper: paper(args),
        options: Options { top: usize::from(args.top), ..Options::default() },
    };
    let diagnosis = imported
        .timings
        .on_all_threads("diagnose", || diagnose::diagnose(&request, &compiler, cancel))?;
    imported.write_timings(&args.run)?;
    let mut findings = imported.findings;
    findings.incomplete.extend(incomplete(args, &diagnosis));
    add(&mut findings, diagnosis);
    finish(findings, args, &output, &root)
}

/// What nothing is known of where nothing was found.
fn incomplete(args: &DiagnoseArgs, diagnosis: &Diagnosis) -> Option<Incomplete> {
    let reason = match (&diagnosis.unmodelled, &diagnosis.incomplete) {
        (Some(what), _) => format!("a run came to what is not modelled: {what}"),
        (None, Some(why)) => format!("the search is not complete: {why}"),
        (None, None) => return None,
    };
    let files: Vec<String> = args.files.iter().map(|f| f.display().to_string()).collect();
    Some(Incomplete { what: files.join(" "), reason, details: Vec::new() })
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
    output: &Output,
    root: &Path,
) -> Result<Outcome> {
    findings.rules.push("diagnose".to_owned());
    findings.finish();
    let (format, state) = (args.format.into(), args.run.state.as_deref());
    let options = report::Options::default();
    Reporting { target: output, root, format, options, state }.write(&findings)?;
    Ok(Outcome::of(&findings))
}

/// The files as the program names them.
fn sources(files: &[PathBuf], program: &program::Program) -> Result<Vec<SourceFile>> {
    let read = |path: &PathBuf| {
        let text =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let end = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let given = path.display().to_string();
        let known = program.files.iter().map(|file| file.path.clone());
        let exact = known.clone().find(|known| *known == given);
        let alike =
            || known.clone().find(|known| end.as_ref().is_some_and(|end| known.ends_with(end)));
        Ok(SourceFile { path: exact.or_else(alike).unwrap_or(given), text })
    };
    files.iter().map(read).collect()
}

/// The places of a fault that `check` finds, and of those that belong to its group.
fn checked(id: &str, program: &program::Program) -> Result<Vec<Line>> {
    let rules = spec::discover::rules(&[])?;
    let settings = detect::Settings::default();
    let facts = settings.facts(program);
    let mut found = Findings::new();
    let foreign = correlate::Imported::default();
    let phase = |_: &str, work: &mut dyn FnMut()| work();
    correlate::check_with((program, &facts), &rules, &settings, &foreign, &mut found, &phase);
    found.finish();
    let Some(fault) = found.faults.iter().find(|fault| fault.id == id) else {
        let known: Vec<&str> = found.faults.iter().map(|fault| fault.id.as_str()).collect();
        match known.is_empty() {
            true => bail!("check finds no fault {id}: it finds none at all"),
            false => bail!("check finds no fault {id}; it finds {}", known.join(", ")),
        }
    };
    let is_meant = |other: &&Fault| {
        other.id == fault.id || other.group.is_some() && other.group == fault.group
    };
    let line = |fault: &Fault| {
        let Place { file, line, .. } = &fault.place;
        Line { file: Some(file.clone()), line: *line }
    };
    let mut places = vec![line(fault)];
    places.extend(found.faults.iter().filter(is_meant).map(line));
    let mut known = std::collections::BTreeSet::new();
    places.retain(|place| known.insert(place.clone()));
    Ok(places)
}

fn places(args: &DiagnoseArgs, program: &program::Program, root: &Path) -> Result<Vec<Line>> {
    if let Some(id) = &args.fault {
        return checked(id, program);
    }
    let Some(text) = &args.line else { return Ok(Vec::new()) };
    let (file, line) = match text.rsplit_once(':') {
        Some((file, line)) => (Some(file.to_owned()), line),
        None => (None, text.as_str()),
    };
    let line: u32 = line.parse().with_context(|| format!("`--line {text}`: expected a number"))?;
    let known = program.files.iter().map(|known| known.path.clone());
    let meant: Vec<String> = match &file {
        Some(file) => known.filter(|known| diagnose::is_meant(known, file)).collect(),
        None => sources(&args.files, program)?.into_iter().map(|source| source.path).collect(),
    };
    if let (Some(file), true) = (&file, meant.is_empty()) {
        bail!("`--line {text}`: {file} is no file of this program");
    }
    let n_lines = |path: &String| {
        let text = std::fs::read(root.join(path)).unwrap_or_default();
        text.split(|byte| *byte == b'\n').filter(|_| !text.is_empty()).count()
    };
    let longest = meant.iter().map(n_lines).max().unwrap_or(0);
    if line == 0 || line as usize > longest.max(1) {
        let file = meant.join(" and ");
        bail!("`--line {text}`: there is no such line in {file}");
    }
    Ok(vec![Line { file, line }])
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
    let suite = Suite::load(path)?;
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
fn add(findings: &mut Findings, diagnosis: Diagnosis) {
    for message in diagnosis.notes {
        findings.notices.push(Notice { place: Place::default(), message });
    }
    for (name, value) in diagnosis.stats {
        findings.count(name, value);
    }
    let Some(violation) = diagnosis.violation else { return };
    let id = "diagnosed".to_owned();
    findings.faults.push(Fault {
        id: id.clone(),
        rule: violation.rule.to_owned(),
        cwe: Vec::new(),
        severity: Severity::Error,
        verdict: Verdict::Unsafe,
        place: violation.place,
        message: violation.message,
        input_dependent: !violation.input.is_empty(),
        input: Some(violation.input),
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
}

/// Compiles changed copies of the files in a scratch folder.
struct Compiler<'a> {
    args: &'a DiagnoseArgs,
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
    flags: Vec<String>,
    cancel: &'a Cancel,
}

impl<'a> Compiler<'a> {
    fn new(
        (args, given): (&'a DiagnoseArgs, &[PathBuf]),
        inputs: &Inputs,
        root: &Path,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a scratch folder")?;
        let Inputs::Files { flags, .. } = inputs else { bail!("diagnose takes files") };
        let mut flags = flags.clone();
        let mut files = Vec::new();
        for (index, path) in given.iter().enumerate() {
            let name = path.file_name().context("a file has no name")?;
            let own = folder.path().join(index.to_string());
            std::fs::create_dir(&own)?;
            files.push(own.join(name));
            // What the file includes lies beside the original.
            let beside = root.join(path.parent().unwrap_or(Path::new("")));
            flags.extend(["-iquote".to_owned(), beside.display().to_string()]);
        }
        Ok(Self { args, folder, files, flags, cancel })
    }

    fn try_compile(&self, texts: &[Vec<u8>]) -> Result<Result<Compiled, Rejected>> {
        for (path, text) in self.files.iter().zip(texts) {
            std::fs::write(path, text)?;
        }
        let inputs = Inputs::Files { files: self.files.clone(), flags: self.flags.clone() };
        let imported =
            pipeline::import_changed(&inputs, self.folder.path(), &self.args.run, self.cancel)?;
        let shown = |path: &PathBuf| {
            let inside = path.strip_prefix(self.folder.path()).unwrap_or(path);
            inside.display().to_string()
        };
        let paths: Vec<String> = self.files.iter().map(shown).collect();
        Ok(match imported {
            Ok(program) => Ok(Compiled { program, paths }),
            Err(messages) => Err(objections(&messages, &paths)),
        })
    }
}

impl Compile for Compiler<'_> {
    fn compile(&self, texts: &[Vec<u8>]) -> Result<Compiled, Rejected> {
        self.try_compile(texts).unwrap_or_else(|error| Err(Rejected::Failed(format!("{error:#}"))))
    }
}

/// `file:line:column: error: ...` as positions.
fn objections(messages: &[String], paths: &[String]) -> Rejected {
    let mut found = Vec::new();
    for message in messages {
        for (index, path) in paths.iter().enumerate() {
            let Some(at) = message.find(path.as_str()) else { continue };
            let mut parts = message[at + path.len()..].trim_start_matches(':').split(':');
            let mut number = || parts.next().and_then(|part| part.parse().ok());
            if let (Some(line), Some(column)) = (number(), number()) {
                found.push((index, line, column));
            }
        }
    }
    if found.is_empty() {
        return Rejected::Failed(messages.first().cloned().unwrap_or_default());
    }
    Rejected::At(found)
}
