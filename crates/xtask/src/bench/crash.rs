//! `cargo xtask bench crash`: whether `firstfault crash` finds the first corruption, beside
//! what AddressSanitizer says about the same run.
//!
//! Our own programs lie in `bench/crash`: a comment `//@ args:` or `//@ stdin:` gives the
//! run, `//~ first` marks where memory is first corrupted. Others come from a list of the
//! user's, with paths relative to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use clap::Args;
use serde::Deserialize;

use super::subject;
use super::table::Table;

#[derive(Args)]
pub struct Crash {
    /// A list of programs, each with the place of its first corruption, instead of bench/crash
    #[arg(long)]
    programs: Option<PathBuf>,
    /// Only those of these names
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Collection {
    program: Vec<Program>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    files: Vec<PathBuf>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    args: String,
    #[serde(default)]
    stdin: String,
    /// Files of the working folder.
    #[serde(default)]
    inputs: Vec<PathBuf>,
    /// Options of `firstfault crash`.
    #[serde(default)]
    options: Vec<String>,
    /// `file.c:12`, each of which counts as found.
    first: Vec<String>,
}

/// What a tool says: the place, or why there is none.
struct Said {
    place: Option<String>,
    what: String,
}

#[derive(Deserialize)]
struct Report {
    corruption: Option<Corruption>,
    #[serde(default)]
    incomplete: Vec<Incomplete>,
}

#[derive(Deserialize)]
struct Corruption {
    file: String,
    line: u32,
    kind: String,
    executions: u64,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: String,
}

pub fn run(root: &Path, options: &Crash) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let (folder, programs) = match &options.programs {
        Some(list) => {
            let text = fs::read_to_string(list)
                .with_context(|| format!("cannot read {}", list.display()))?;
            let collection: Collection = toml::from_str(&text)
                .with_context(|| format!("{} is no list of programs", list.display()))?;
            let list = std::path::absolute(list)?;
            (list.parent().unwrap_or(Path::new("/")).to_owned(), collection.program)
        }
        None => own_programs(&root.join("bench/crash"))?,
    };
    let mut table = Table::new(&[
        "program",
        "first corruption",
        "AddressSanitizer",
        "firstfault crash",
        "kind",
        "runs",
        "s",
    ]);
    let (mut n, mut n_ours, mut n_theirs) = (0, 0, 0);
    for program in &programs {
        if !options.only.is_empty() && !options.only.contains(&program.name) {
            continue;
        }
        let theirs = sanitized(&folder, program)?;
        let started = Instant::now();
        let (ours, executions) = suppressed(&firstfault, &folder, program)?;
        let is_first = |said: &Said| said.place.as_ref().is_some_and(|p| program.first.contains(p));
        n += 1;
        n_ours += usize::from(is_first(&ours));
        n_theirs += usize::from(is_first(&theirs));
        let shown = |said: &Said| match &said.place {
            Some(place) if is_first(said) => format!("{place}, yes"),
            Some(place) => format!("{place}, no"),
            None => said.what.clone(),
        };
        table.row(vec![
            program.name.clone(),
            program.first.join(" or "),
            shown(&theirs),
            shown(&ours),
            if ours.place.is_some() { ours.what.clone() } else { String::new() },
            executions.to_string(),
            format!("{:.1}", started.elapsed().as_secs_f64()),
        ]);
    }
    println!("{table}\n{n_ours} of {n} by firstfault, {n_theirs} by AddressSanitizer");
    Ok(())
}

fn own_programs(folder: &Path) -> Result<(PathBuf, Vec<Program>)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    let programs = files.iter().map(|file| own_program(file)).collect::<Result<_>>()?;
    Ok((folder.to_owned(), programs))
}

fn own_program(file: &Path) -> Result<Program> {
    let text = fs::read_to_string(file)?;
    let setting = |key: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key));
        found.map_or(String::new(), |value| value.trim().to_string())
    };
    let file_name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let first = text.lines().position(|line| line.contains("//~ first"));
    let Some(first) = first else { bail!("{}: no line is marked //~ first", file.display()) };
    Ok(Program {
        name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        first: vec![format!("{file_name}:{}", first + 1)],
        files: vec![PathBuf::from(file_name)],
        flags: Vec::new(),
        args: setting("args:"),
        stdin: setting("stdin:"),
        inputs: Vec::new(),
        options: Vec::new(),
    })
}

fn limits() -> Limits {
    Limits { deadline: Duration::from_secs(120), ..Limits::default() }
}

/// The first place in the program's own files that AddressSanitizer names.
fn sanitized(folder: &Path, program: &Program) -> Result<Said> {
    let scratch = tempfile::tempdir()?;
    let executable = scratch.path().join("sanitized");
    let mut command = child::command("clang-19")?;
    command.args(["-O0", "-g", "-w", "-fsanitize=address", "-fno-omit-frame-pointer"]);
    command.args(["-Wno-error", "-Wno-implicit-function-declaration", "-Wno-implicit-int"]);
    command.args(["-Wno-int-conversion", "-Wno-return-mismatch"]);
    command.args(program.files.iter().map(|file| folder.join(file))).args(&program.flags);
    command.arg("-o").arg(&executable).current_dir(folder);
    let built = child::run(command, b"", &limits(), &Cancel::new())?;
    if !built.ending.success() {
        return Ok(Said { place: None, what: "does not build".to_string() });
    }
    for input in &program.inputs {
        let name = input.file_name().unwrap_or_default();
        fs::copy(folder.join(input), scratch.path().join(name))?;
    }
    let mut command = child::command(&executable)?;
    command.args(shlex::split(&program.args).unwrap_or_default()).current_dir(scratch.path());
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    let done = child::run(command, program.stdin.as_bytes(), &limits(), &Cancel::new())?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let own = |line: &str| {
        let line = line.trim();
        let place = line.strip_prefix('#')?.rsplit(' ').next()?;
        let mut parts = place.rsplit('/').next()?.split(':');
        let (file, number) = (parts.next()?, parts.next()?);
        let is_own = program.files.iter().any(|f| f.file_name().is_some_and(|name| name == file));
        is_own.then(|| format!("{file}:{number}"))
    };
    let what = if done.ending.success() { "nothing" } else { "nothing of the program" };
    Ok(Said { place: said.lines().find_map(own), what: what.to_string() })
}

fn suppressed(firstfault: &Path, folder: &Path, program: &Program) -> Result<(Said, u64)> {
    let scratch = tempfile::tempdir()?;
    let stdin = scratch.path().join("stdin");
    fs::write(&stdin, &program.stdin)?;
    let mut command = child::command(firstfault)?;
    command.arg("crash").args(program.files.iter().map(|file| folder.join(file)));
    command.args(["--format", "json", "--args", &program.args, "--stdin"]).arg(&stdin);
    for input in &program.inputs {
        command.arg("--input").arg(folder.join(input));
    }
    command.args(&program.options).arg("--").args(&program.flags).current_dir(folder);
    let done = child::run(command, b"", &limits(), &Cancel::new())?;
    let Ok(report) = serde_json::from_slice::<Report>(&done.stdout) else {
        let said = String::from_utf8_lossy(&done.stderr);
        return Ok((Said { place: None, what: said.trim().to_string() }, 0));
    };
    Ok(match report.corruption {
        Some(found) => {
            let file = found.file.rsplit('/').next().unwrap_or_default();
            let place = format!("{file}:{}", found.line);
            (Said { place: Some(place), what: found.kind }, found.executions)
        }
        None => {
            let reason = report.incomplete.first().map_or("nothing", |i| i.reason.as_str());
            (Said { place: None, what: reason.to_string() }, 0)
        }
    })
}
