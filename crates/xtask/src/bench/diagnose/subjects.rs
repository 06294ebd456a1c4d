//! Faulty programs and what they should be.
//!
//! `bench/diagnose/programs` holds faulty programs: `//@ right:` behind the faulty line says what
//! it should be, `//@ test:` (arguments) and `//@ test<` (standard input) give five tests, whose
//! expected output is that of the corrected program. `bench/diagnose/subjects` holds correct
//! programs to be mutated; nothing is tuned on them.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bench::mutate;

/// A faulty program, and what it should be.
pub struct Subject {
    /// The program, or what it is a mutant of.
    pub program: String,
    /// The same with the mutant's number.
    pub name: String,
    pub faulty: String,
    pub right: String,
    /// Of the fault.
    pub line: u32,
    pub tests: Vec<Test>,
}

#[derive(Clone, Default)]
pub struct Test {
    pub arguments: Vec<String>,
    pub stdin: String,
}

/// Our own faulty programs.
pub fn marked(folder: &Path) -> Result<Vec<Subject>> {
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
        let tests = tests_of(&text)?;
        subjects.push(Subject { program: name.clone(), name, faulty, right, line, tests });
    }
    Ok(subjects)
}

/// Mutants of the correct programs of a folder that still compile.
pub fn mutants(folder: &Path, n_each: Range<usize>) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for (name, right) in sources(folder)? {
        let tests = tests_of(&right)?;
        subjects.extend(mutants_of(&name, &right, &tests, &n_each)?);
    }
    Ok(subjects)
}

/// Mutants of the corrected programs: for tuning, so that nothing is tuned on what judges.
pub fn tuning(folder: &Path, n_each: Range<usize>) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for program in marked(folder)? {
        subjects.extend(mutants_of(&program.name, &program.right, &program.tests, &n_each)?);
    }
    Ok(subjects)
}

/// The mutants of these numbers.
fn mutants_of(
    name: &str,
    right: &str,
    tests: &[Test],
    numbers: &Range<usize>,
) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    let drawn = mutate::mutants(right, numbers.end).into_iter().enumerate();
    for (number, mutant) in drawn.skip(numbers.start) {
        if compiles(&mutant.text)? {
            subjects.push(Subject {
                program: name.to_owned(),
                name: format!("{name}-{number}"),
                faulty: mutant.text,
                right: right.to_owned(),
                line: mutant.line,
                tests: tests.to_vec(),
            });
        }
    }
    Ok(subjects)
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

fn compiles(text: &str) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("mutant.c");
    fs::write(&file, text)?;
    let status = Command::new("clang-19")
        .args(["-Werror=int-conversion", "-Werror=incompatible-pointer-types", "-fsyntax-only"])
        .arg(&file)
        .stderr(std::process::Stdio::null())
        .status()?;
    Ok(status.success())
}
