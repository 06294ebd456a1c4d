//! `cargo xtask bench diagnose`: how high the right statement and the right change rank.
//!
//! `bench/diagnose/programs` holds faulty programs of our own: `//@ right:` behind the faulty
//! line says what it should be, `//@ test:` (arguments) and `//@ test<` (standard input) give
//! five tests, whose expected output is that of the corrected program. `bench/diagnose/subjects`
//! holds correct programs, which are mutated here; a mutant counts if it violates a property.

mod mutate;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::table::Table;
use super::{origin, subject};

#[derive(Args)]
pub struct Diagnose {
    /// Only programs whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Mutants of bench/diagnose/subjects, up to so many of each, instead of the marked programs
    #[arg(long, value_name = "N")]
    mutants: Option<usize>,
    /// Also the paper's four configurations
    #[arg(long)]
    configurations: bool,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
    /// Say what ranks before the right change
    #[arg(long)]
    verbose: bool,
}

/// A faulty program, and what it should be.
struct Subject {
    name: String,
    faulty: String,
    right: String,
    /// Of the fault.
    line: u32,
    tests: Vec<Test>,
}

#[derive(Clone, Default)]
struct Test {
    arguments: Vec<String>,
    stdin: String,
}

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    faults: Vec<Fault>,
    #[serde(default)]
    repairs: Vec<Repair>,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    steps: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Repair {
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    line: u32,
    column: u32,
    old: String,
    new: String,
}

/// How one program fared; ranks from 1, 0 where there is none.
struct Result1 {
    statement: usize,
    change: usize,
    with_tests: usize,
    n_steps: usize,
    seconds: f64,
}

pub fn run(root: &Path, options: &Diagnose) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let folder = root.join("bench/diagnose");
    let mut subjects = match options.mutants {
        Some(n) => mutants(&folder.join("subjects"), n)?,
        None => marked(&folder.join("programs"))?,
    };
    if let Some(only) = &options.only {
        subjects.retain(|subject| subject.name.contains(only.as_str()));
    }
    println!("`cargo xtask bench diagnose`, {}\n", origin::commit_and_date(root));
    let mut table = Table::new(&["program", "steps", "statement", "change", "with tests", "CPU s"]);
    let mut results = Vec::new();
    for subject in &subjects {
        let Some(result) = diagnose(&firstfault, subject, options)? else {
            if options.mutants.is_none() {
                table.row(vec![
                    subject.name.clone(),
                    "no violation".into(),
                    "-".into(),
                    "-".into(),
                    "-".into(),
                    "-".into(),
                ]);
                results.push(Result1 {
                    statement: 0,
                    change: 0,
                    with_tests: 0,
                    n_steps: 0,
                    seconds: 0.0,
                });
            }
            continue;
        };
        let rank = |rank: usize| if rank == 0 { "-".to_owned() } else { rank.to_string() };
        table.row(vec![
            subject.name.clone(),
            result.n_steps.to_string(),
            rank(result.statement),
            rank(result.change),
            rank(result.with_tests),
            format!("{:.2}", result.seconds),
        ]);
        results.push(result);
    }
    println!("{table}");
    println!("{}", summary(&results));
    if options.configurations {
        println!("{}", configurations(&firstfault, &subjects)?);
    }
    Ok(())
}

fn summary(results: &[Result1]) -> Table {
    let n = results.len().max(1);
    let share = |wanted: &dyn Fn(&Result1) -> bool| {
        let count = results.iter().filter(|result| wanted(result)).count();
        format!("{count} of {} ({:.0} %)", results.len(), 100.0 * count as f64 / n as f64)
    };
    let within = |rank: usize, limit: usize| rank > 0 && rank <= limit;
    let slowest = |limit: usize| {
        let chosen = results.iter().filter(|result| result.n_steps <= limit);
        format!("{:.2}", chosen.map(|result| result.seconds).fold(0.0, f64::max))
    };
    let mut table = Table::new(&["measured", "value"]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("right statement in the first 5", share(&|r| within(r.statement, 5)));
    row("right change first, without tests", share(&|r| r.change == 1));
    row("right change in the first 3, without tests", share(&|r| within(r.change, 3)));
    row("right change first, with five tests", share(&|r| r.with_tests == 1));
    row("right change in the first 3, with five tests", share(&|r| within(r.with_tests, 3)));
    row("slowest, traces up to 100 steps, CPU s", slowest(100));
    row("slowest, traces up to 300 steps, CPU s", slowest(300));
    table
}

/// `None` where nothing is violated.
fn diagnose(firstfault: &Path, subject: &Subject, options: &Diagnose) -> Result<Option<Result1>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("program.c");
    fs::write(&file, &subject.faulty)?;
    let Some((plain, seconds)) = report(firstfault, folder.path(), &[])? else { return Ok(None) };
    if plain.faults.is_empty() {
        return Ok(None);
    }
    let n_tests = write_tests(subject, folder.path())?;
    let with_tests = match n_tests {
        0 => None,
        _ => report(firstfault, folder.path(), &["--tests", "tests"])?,
    };
    let steps = plain.faults.iter().flat_map(|fault| fault.segments.first());
    let result = Result1 {
        statement: plain
            .repairs
            .iter()
            .position(|r| touches(r, subject.line))
            .map_or(0, |at| at + 1),
        change: rank_of(&plain, subject),
        with_tests: with_tests.as_ref().map_or(0, |(report, _)| rank_of(report, subject)),
        n_steps: steps.map(|segment| segment.steps.len()).max().unwrap_or(0),
        seconds,
    };
    if options.verbose && (result.change != 1 || result.with_tests != 1) {
        explain(subject, &plain, with_tests.as_ref().map(|(report, _)| report), &result);
    }
    Ok(Some(result))
}

fn explain(subject: &Subject, plain: &Report, tested: Option<&Report>, result: &Result1) {
    let line =
        |text: &str| text.lines().nth(subject.line as usize - 1).unwrap_or("").trim().to_owned();
    eprintln!(
        "{}: line {}: {} -> {}",
        subject.name,
        subject.line,
        line(&subject.faulty),
        line(&subject.right)
    );
    for (name, report) in [("plain", Some(plain)), ("tests", tested)] {
        let Some(report) = report else { continue };
        for repair in report.repairs.iter().take(4) {
            for change in &repair.changes {
                eprintln!(
                    "    {name} {}:{} `{}` -> `{}`",
                    change.line, change.column, change.old, change.new
                );
            }
        }
    }
    eprintln!("    ranks {} {} {}", result.statement, result.change, result.with_tests);
}

fn touches(repair: &Repair, line: u32) -> bool {
    repair.changes.iter().any(|change| change.line == line)
}

/// Where the change stands that makes the program right, counted from 1.
fn rank_of(report: &Report, subject: &Subject) -> usize {
    let is_right = |repair: &Repair| {
        let mut lines: Vec<String> = subject.faulty.lines().map(str::to_owned).collect();
        for change in &repair.changes {
            let Some(line) = lines.get_mut(change.line as usize - 1) else { return false };
            let at = change.column as usize - 1;
            match line.get(at..).and_then(|rest| rest.strip_prefix(change.old.as_str())) {
                Some(rest) => *line = format!("{}{}{rest}", &line[..at], change.new),
                None => return false,
            }
        }
        squeezed(&lines.join("\n")) == squeezed(&subject.right)
    };
    report.repairs.iter().position(is_right).map_or(0, |at| at + 1)
}

/// Blanks do not matter.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn report(firstfault: &Path, folder: &Path, more: &[&str]) -> Result<Option<(Report, f64)>> {
    let output = Command::new("sh")
        .arg("-c")
        .arg("\"$0\" \"$@\" 2>/dev/null; code=$?; times >&2; exit $code")
        .arg(firstfault)
        .args(["diagnose", "program.c", "--format", "json", "--top", "20", "-j", "1"])
        .args(more)
        .current_dir(folder)
        .output()
        .context("cannot run firstfault")?;
    if !matches!(output.status.code(), Some(0 | 1 | 3)) {
        return Ok(None);
    }
    let report = serde_json::from_slice(&output.stdout).context("the report is no JSON")?;
    Ok(Some((report, cpu_seconds(&String::from_utf8_lossy(&output.stderr)))))
}

/// The children's line of the shell's `times`: `0m0.10s 0m0.02s`.
fn cpu_seconds(times: &str) -> f64 {
    let Some(line) = times.lines().last() else { return 0.0 };
    let one = |text: &str| {
        let (minutes, seconds) = text.split_once('m')?;
        let seconds: f64 = seconds.trim_end_matches('s').parse().ok()?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds)
    };
    line.split_whitespace().filter_map(one).sum()
}

/// Expected outputs are those of the right program.
fn write_tests(subject: &Subject, folder: &Path) -> Result<usize> {
    let tests = folder.join("tests");
    fs::create_dir(&tests)?;
    fs::write(folder.join("right.c"), &subject.right)?;
    let compiled = Command::new("clang-19")
        .args(["-w", "-O0", "-o", "right", "right.c"])
        .current_dir(folder)
        .output()
        .context("cannot run clang-19")?;
    if !compiled.status.success() {
        bail!("{} does not compile: {}", subject.name, String::from_utf8_lossy(&compiled.stderr));
    }
    for (index, test) in subject.tests.iter().enumerate() {
        let input = tests.join(format!("{index}.in"));
        fs::write(&input, &test.stdin)?;
        let output = Command::new("timeout")
            .arg("5")
            .arg(folder.join("right"))
            .args(&test.arguments)
            .stdin(fs::File::open(&input)?)
            .output()?;
        fs::write(tests.join(format!("{index}.out")), &output.stdout)?;
        fs::write(tests.join(format!("{index}.args")), test.arguments.join("\n"))?;
        if let Some(code) = output.status.code() {
            fs::write(tests.join(format!("{index}.exit")), code.to_string())?;
        }
    }
    Ok(subject.tests.len())
}

fn sources(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            found.push((name, fs::read_to_string(&path)?));
        }
    }
    found.sort();
    Ok(found)
}

fn tests_of(text: &str) -> Result<Vec<Test>> {
    let mut tests = Vec::new();
    for line in text.lines() {
        if let Some(arguments) = line.strip_prefix("//@ test:") {
            let arguments = shlex::split(arguments).context("a test's arguments do not parse")?;
            tests.push(Test { arguments, ..Test::default() });
        } else if let Some(stdin) = line.strip_prefix("//@ test<") {
            let stdin = stdin.trim_start().replace("\\n", "\n");
            tests.push(Test { stdin, ..Test::default() });
        }
    }
    Ok(tests)
}

/// Our own faulty programs.
fn marked(folder: &Path) -> Result<Vec<Subject>> {
    const MARK: &str = "//@ right:";
    let mut subjects = Vec::new();
    for (name, text) in sources(folder)? {
        let mut line = 0;
        let (mut faulty, mut right) = (String::new(), String::new());
        for (number, row) in (1..).zip(text.lines()) {
            match row.split_once(MARK) {
                Some((wrong, correct)) => {
                    line = number;
                    faulty += &format!("{}\n", wrong.trim_end());
                    right += &format!("{correct}\n");
                }
                None => {
                    faulty += &format!("{row}\n");
                    right += &format!("{row}\n");
                }
            }
        }
        if line == 0 {
            bail!("{name} has no line with {MARK}");
        }
        subjects.push(Subject { name, faulty, right, line, tests: tests_of(&text)? });
    }
    Ok(subjects)
}

/// Mutants of correct programs that still compile.
fn mutants(folder: &Path, n_each: usize) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for (name, right) in sources(folder)? {
        let tests = tests_of(&right)?;
        for (number, mutant) in mutate::mutants(&right, n_each).into_iter().enumerate() {
            if !compiles(&mutant.text)? {
                continue;
            }
            subjects.push(Subject {
                name: format!("{name}-{number}"),
                faulty: mutant.text,
                right: right.clone(),
                line: mutant.line,
                tests: tests.clone(),
            });
        }
    }
    Ok(subjects)
}

fn compiles(text: &str) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("mutant.c");
    fs::write(&file, text)?;
    let status = Command::new("clang-19")
        .args([
            "-w",
            "-Werror=int-conversion",
            "-Werror=incompatible-pointer-types",
            "-fsyntax-only",
        ])
        .arg(&file)
        .stderr(std::process::Stdio::null())
        .status()?;
    Ok(status.success())
}

/// The paper's Table 1: fixes, those that touch the faulty line, seconds.
fn configurations(firstfault: &Path, subjects: &[Subject]) -> Result<Table> {
    let names = ["basic", "constraints", "projection", "trusted"];
    let mut header = vec!["program".to_owned()];
    header.extend(names.iter().map(|name| format!("{name}: fixes / useful / CPU s")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header);
    for subject in subjects {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("program.c"), &subject.faulty)?;
        let mut row = vec![subject.name.clone()];
        for name in names {
            let more = ["--config", name, "--top", "250"];
            row.push(match report(firstfault, folder.path(), &more)? {
                None => "-".to_owned(),
                Some((report, seconds)) => {
                    let useful = report.repairs.iter().filter(|r| touches(r, subject.line)).count();
                    format!("{} / {useful} / {seconds:.2}", report.repairs.len())
                }
            });
        }
        table.row(row);
    }
    Ok(table)
}
