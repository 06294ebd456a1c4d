//! Faulty versions that are drawn instead of written: mutants of a program that some of its tests
//! notice by what it prints, and others do not.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Ending, Limits};
use serde::Deserialize;

use crate::bench::mutate::{self, Mutant};
use crate::bench::{mutate_by_kind, parallel};
use crate::seed_knowledge::{N_JOBS, Seeded};

/// How their names begin.
pub const MUTANT: &str = "mutant-";

/// How the names of those begin that are drawn evenly over tokens.
pub const MUTANT_OF_TOKEN: &str = "mutant-of-token-";

/// Drawn over tokens for each that is wanted.
const N_DRAWN: usize = 8;

/// What mutants are drawn evenly over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Evenly {
    /// Most of them name another variable.
    Tokens,
    Kinds,
}

#[derive(Deserialize)]
struct Tests {
    test: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    input: String,
    output: String,
    exit: Option<i32>,
}

/// How a mutant does in a test.
#[derive(PartialEq, Eq)]
enum Verdict {
    Passes,
    Fails,
    /// What is seen of it then depends on how fast the machine is.
    Hangs,
}

/// Up to so many mutants of each program that has faults here.
pub fn mutants(faults: &[Seeded], n_each: usize, evenly: Evenly) -> Result<Vec<Seeded>> {
    let programs: Vec<&[Seeded]> = faults.chunk_by(|a, b| a.program == b.program).collect();
    let found =
        parallel::map(&programs, N_JOBS, |of_program| mutants_of(of_program, n_each, evenly));
    Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn mutants_of(of_program: &[Seeded], n: usize, evenly: Evenly) -> Result<Vec<Seeded>> {
    let scratch = tempfile::tempdir()?;
    let fault = of_program.first().context("a program without faults")?;
    let tests: Tests = toml::from_str(&fs::read_to_string(&fault.tests)?)
        .with_context(|| format!("tests of {}", fault.program))?;
    let (prefix, drawn) = match evenly {
        Evenly::Tokens => (MUTANT_OF_TOKEN, vec![mutate::mutants(&fault.right, n * N_DRAWN)]),
        Evenly::Kinds => (MUTANT, mutate_by_kind::mutants_by_kind(&fault.right)),
    };
    let mut open: Vec<_> = drawn.into_iter().map(|of_kind| (0, of_kind.into_iter())).collect();
    let mut found: Vec<Seeded> = Vec::new();
    while found.len() < n {
        // What is seldom noticed by tests is drawn more often.
        let Some(at) = (0..open.len()).min_by_key(|at| open[*at].0) else { break };
        let (n_of_kind, of_kind) = &mut open[at];
        let Some(Mutant { text, .. }) = of_kind.next() else {
            open.remove(at);
            continue;
        };
        let is_known = of_program.iter().chain(&found).any(|other| other.faulty == text);
        if !is_known && is_noticed(&text, &tests.test, scratch.path())? {
            *n_of_kind += 1;
            found.push(Seeded {
                program: fault.program.clone(),
                name: format!("{prefix}{}", found.len() + 1),
                right: fault.right.clone(),
                faulty: text,
                tests: fault.tests.clone(),
            });
        }
    }
    Ok(found)
}

/// Whether some tests fail and others pass; never for what does not compile or end.
fn is_noticed(text: &str, tests: &[Test], scratch: &Path) -> Result<bool> {
    let (source, program) = (scratch.join("mutant.c"), scratch.join("mutant"));
    fs::write(&source, text)?;
    let built = Command::new("cc").arg("-w").arg("-o").arg(&program).arg(&source).output()?;
    if !built.status.success() {
        return Ok(false);
    }
    let mut n_failed = 0;
    for test in tests {
        match verdict(&program, test)? {
            Verdict::Hangs => return Ok(false),
            Verdict::Fails => n_failed += 1,
            Verdict::Passes => {}
        }
    }
    Ok(n_failed > 0 && n_failed < tests.len())
}

fn verdict(program: &Path, test: &Test) -> Result<Verdict> {
    let mut command = child::command(program)?;
    command.args(&test.args);
    let limits =
        Limits { stdout_cap: 1 << 20, ..Limits::of_processor_time(Duration::from_secs(1)) };
    let ran = child::run(command, test.input.as_bytes(), &limits, &Cancel::default())?;
    Ok(match ran.ending {
        Ending::TimedOut => Verdict::Hangs,
        Ending::Exited(code)
            if ran.stdout == test.output.as_bytes()
                && test.exit.is_none_or(|exit| exit == code) =>
        {
            Verdict::Passes
        }
        _ => Verdict::Fails,
    })
}
