//! `cargo xtask bench juliet`: hits and false positives on the Juliet suite, CWE by CWE, by
//! default and with `--strict`.
//!
//! The suite is the user's: a folder with `testcases/` and `testcasesupport/`. Counted are
//! the single-file, plain C cases, strictly: a fault of the class of the CWE in the flawed
//! function or a helper of it (both named `*bad*`) is a hit, one in a function named `*good*`
//! a false positive.

mod cases;
mod tally;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use clap::Args;

use super::subject::{self, Fault, Report};
use super::table::Table;
use super::{origin, parallel};
use cases::Case;
pub use cases::hash;

#[derive(Args)]
pub struct Juliet {
    /// The folder of the suite
    #[arg(long)]
    suite: PathBuf,
    /// Only so many files of each CWE, drawn at random but the same ones every time
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Another sample
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Only these CWEs
    #[arg(long, value_delimiter = ',')]
    cwe: Vec<u32>,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only the default mode, or only --strict; both by default
    #[arg(long)]
    mode: Option<Mode>,
    /// Write what was missed or falsely reported to this file
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Write the table to bench/results/juliet.md
    #[arg(long)]
    write: bool,
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
enum Mode {
    Default,
    Strict,
}

/// A case that takes longer than this has failed.
const DEADLINE: Duration = Duration::from_secs(120);

/// What one mode says of a case.
enum Outcome {
    Checked { hit: bool, false_faults: Vec<Fault> },
    Failed(String),
}

/// A case, what each mode says of it, and the processor time that took.
struct Checked {
    case: Case,
    outcomes: Vec<(Mode, Outcome)>,
    cpu: Duration,
}

pub fn run(root: &Path, options: &Juliet) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => path.clone(),
        None => subject::build(root)?,
    };
    let modes = options.mode.map_or(vec![Mode::Default, Mode::Strict], |mode| vec![mode]);
    let started = Instant::now();
    let (checked, n_in_suite) = check_all(&firstfault, options, &modes)?;
    let cpu: Duration = checked.iter().map(|checked| checked.cpu).sum();
    let per_1000 = 1000.0 / checked.len() as f64;
    let text = format!(
        "# The Juliet suite 1.3 for C\n\n`{}`, {}.\n\n\
         Single-file, plain C cases, each analysed together with the suite's `io.c`. A hit is a \
         fault of the CWE's class in the flawed function or its helpers; false is a file with \
         such a fault in a good function. `weighted` counts every CWE by its share of the \
         suite's cases.\n\n{}\n\
         {:.0} CPU seconds and {:.0} s on {} threads for 1000 files{}.\n",
        options.command(),
        origin::commit_and_date(root),
        tally::table(&checked, &modes, &n_in_suite),
        cpu.as_secs_f64() * per_1000,
        started.elapsed().as_secs_f64() * per_1000,
        options.jobs,
        if modes.len() > 1 { ", both modes" } else { "" },
    );
    println!("{text}");
    if let Some(path) = &options.list {
        std::fs::write(path, tally::list(&checked))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if options.write {
        let path = root.join("bench/results/juliet.md");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The sample that figures are given for.
const SEED: u64 = 2026;

/// The default mode on a sample, for a page that has other suites beside it.
pub struct Summary {
    pub command: String,
    pub table: Table,
    pub n_files: usize,
    /// Percentages, weighted by CWE, without those that are only faults to a strict reader.
    pub hits: f64,
    pub false_files: f64,
    pub cpu: Duration,
}

pub fn sampled(suite: &Path, n_each: usize, jobs: usize, firstfault: &Path) -> Result<Summary> {
    let options = Juliet {
        suite: suite.canonicalize().with_context(|| format!("cannot find {}", suite.display()))?,
        sample: Some(n_each),
        seed: SEED,
        cwe: Vec::new(),
        name: None,
        mode: Some(Mode::Default),
        list: None,
        write: false,
        jobs,
        firstfault: None,
    };
    let modes = [Mode::Default];
    let (checked, n_in_suite) = check_all(firstfault, &options, &modes)?;
    let (hits, false_files) = tally::weighted(&checked, &n_in_suite);
    Ok(Summary {
        command: options.command(),
        table: tally::table(&checked, &modes, &n_in_suite),
        n_files: checked.len(),
        hits,
        false_files,
        cpu: checked.iter().map(|checked| checked.cpu).sum(),
    })
}

/// The cases asked for, each checked in the modes, and how many the suite has of each CWE.
fn check_all(
    firstfault: &Path,
    options: &Juliet,
    modes: &[Mode],
) -> Result<(Vec<Checked>, BTreeMap<u32, usize>)> {
    let mut suite = cases::of_suite(&options.suite, &options.cwe)?;
    suite.retain(|case| options.name.as_ref().is_none_or(|name| case.stem().contains(name)));
    if suite.is_empty() {
        bail!("no cases in {}; is it the folder that holds testcases/?", options.suite.display());
    }
    let n_in_suite = tally::count_by_cwe(&suite);
    let cases = match options.sample {
        Some(n_each) => cases::sample(suite, n_each, options.seed),
        None => suite,
    };
    let state = tempfile::tempdir()?;
    let checked = parallel::map(&cases, options.jobs, |case| {
        check(firstfault, &options.suite, state.path(), case, modes)
    });
    Ok((checked, n_in_suite))
}

impl Juliet {
    /// The command as somebody would have to repeat it.
    fn command(&self) -> String {
        let mut words = vec!["cargo xtask bench juliet --suite DIR".to_owned()];
        if let Some(n_each) = self.sample {
            words.push(format!("--sample {n_each} --seed {}", self.seed));
        }
        if !self.cwe.is_empty() {
            let cwes: Vec<String> = self.cwe.iter().map(u32::to_string).collect();
            words.push(format!("--cwe {}", cwes.join(",")));
        }
        words.extend(self.name.iter().map(|name| format!("--name {name}")));
        words.join(" ")
    }
}

/// All modes on one case, one after the other: what the first one compiled and imported, the
/// second finds in the cache, as every case finds `io.c` there.
fn check(firstfault: &Path, suite: &Path, state: &Path, case: &Case, modes: &[Mode]) -> Checked {
    let mut cpu = Duration::ZERO;
    let outcomes = modes
        .iter()
        .map(|mode| {
            let outcome = match report(firstfault, suite, state, case, *mode, &mut cpu) {
                Ok(report) => judge(case, report),
                Err(error) => Outcome::Failed(format!("{error:#}")),
            };
            (*mode, outcome)
        })
        .collect();
    Checked { case: case.clone(), outcomes, cpu }
}

fn report(
    firstfault: &Path,
    suite: &Path,
    state: &Path,
    case: &Case,
    mode: Mode,
    cpu: &mut Duration,
) -> Result<Report> {
    let support = suite.join("testcasesupport");
    let mut command = child::command(firstfault)?;
    command.arg("check").arg(&case.file).arg(support.join("io.c"));
    command.args(["--format", "json", "-j", "1", "--state"]).arg(state);
    if mode == Mode::Strict {
        command.arg("--strict");
    }
    command.arg("--").arg(format!("-I{}", support.display()));
    let limits = Limits { deadline: DEADLINE, ..Limits::default() };
    let finished = child::run(command, b"", &limits, &Cancel::new())?;
    *cpu += finished.cpu;
    let Ok(report) = serde_json::from_slice::<Report>(&finished.stdout) else {
        let log = String::from_utf8_lossy(&finished.stderr).into_owned();
        bail!("firstfault {}: {}", finished.ending, log.lines().last().unwrap_or("no message"));
    };
    if let Some(missing) = report.incomplete.first() {
        bail!("{}: {}", missing.what, missing.reason);
    }
    Ok(report)
}

fn judge(case: &Case, report: Report) -> Outcome {
    let stem = case.stem();
    let mut hit = false;
    let mut false_faults = Vec::new();
    for fault in report.faults {
        if !case.rules().contains(&fault.rule.as_str()) {
            continue;
        }
        match side(&stem, &fault.function) {
            Some(Side::Bad) => hit = true,
            Some(Side::Good) => false_faults.push(fault),
            None => {}
        }
    }
    Outcome::Checked { hit, false_faults }
}

#[derive(Debug, PartialEq, Eq)]
enum Side {
    Bad,
    Good,
}

/// Whether a function belongs to the flawed or to the good half of a case.
fn side(stem: &str, function: &str) -> Option<Side> {
    // The case's name begins the names of its entry functions, and may hold either word.
    let name = function.strip_prefix(stem).unwrap_or(function).to_ascii_lowercase();
    if name.contains("good") {
        Some(Side::Good)
    } else if name.contains("bad") {
        Some(Side::Bad)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_belong_to_the_function_they_help() {
        let stem = "CWE590_Free__bad_pointer_01";
        assert_eq!(side(stem, "CWE590_Free__bad_pointer_01_good"), Some(Side::Good));
        assert_eq!(side(stem, "CWE590_Free__bad_pointer_01_bad"), Some(Side::Bad));
        assert_eq!(side(stem, "goodG2BSink"), Some(Side::Good));
        assert_eq!(side(stem, "helperBad"), Some(Side::Bad));
        assert_eq!(side(stem, "printLine"), None);
    }
}
