//! `cargo xtask bench juliet`: hits and false positives on the Juliet suite, CWE by CWE.
//!
//! The suite is the user's: a folder with `testcases/` and `testcasesupport/`. Counted are
//! the single-file, plain C cases, strictly: a fault of the class of the CWE in a function
//! named `*bad*` is a hit, one in a function named `*good*` a false positive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

#[derive(Args)]
pub struct Juliet {
    /// The folder of the suite
    #[arg(long)]
    suite: PathBuf,
    /// Only so many files, spread evenly and the same ones every time; all by default
    #[arg(long)]
    sample: Option<usize>,
    /// Only these CWEs
    #[arg(long, value_delimiter = ',')]
    cwe: Vec<u32>,
    /// Only the default mode, or only --strict; both by default
    #[arg(long)]
    mode: Option<Mode>,
    /// Write the files that were missed or falsely reported to this file
    #[arg(long)]
    list: Option<PathBuf>,
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

/// Which rules are the right class for a CWE.
const CLASSES: &[(u32, &[&str])] = &[
    (121, &["buffer-overflow"]),
    (122, &["buffer-overflow"]),
    (124, &["buffer-underflow"]),
    (126, &["buffer-overread"]),
    (127, &["buffer-underflow", "buffer-overread"]),
    (190, &["integer-overflow"]),
    (191, &["integer-overflow"]),
    (194, &["integer-signedness", "integer-truncation"]),
    (195, &["integer-signedness"]),
    (197, &["integer-truncation"]),
    (369, &["divide-by-zero"]),
    (401, &["leak"]),
    (415, &["double-free"]),
    (416, &["use-after-free"]),
    (457, &["uninitialized-read"]),
    (476, &["null-dereference"]),
    (680, &["integer-overflow", "buffer-overflow"]),
    (690, &["null-dereference"]),
    (761, &["invalid-free"]),
    (773, &["leak"]),
    (775, &["leak"]),
];

#[derive(Clone, Debug)]
struct Case {
    cwe: u32,
    file: PathBuf,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    files: usize,
    hits: usize,
    false_files: usize,
    failed: usize,
}

#[derive(Deserialize)]
struct Report {
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    rule: String,
    #[serde(default)]
    function: String,
    line: u32,
}

pub fn run(root: &Path, options: &Juliet) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => path.clone(),
        None => built(root)?,
    };
    let cases = sampled(cases(options)?, options.sample);
    if cases.is_empty() {
        bail!("no cases in {}; is it the folder that holds testcases/?", options.suite.display());
    }
    let modes = options.mode.map_or(vec![Mode::Default, Mode::Strict], |mode| vec![mode]);
    let mut list = String::new();
    for mode in modes {
        let outcomes = check_all(&firstfault, options, &cases, mode);
        print_table(mode, &outcomes);
        for (case, outcome) in &outcomes {
            let words = match outcome {
                Outcome::Failed(why) => format!("failed ({why})"),
                Outcome::Checked { hit: true, false_lines } if false_lines.is_empty() => continue,
                Outcome::Checked { hit, false_lines } => format!(
                    "{}{}",
                    if *hit { "" } else { "missed " },
                    false_lines.iter().map(|line| format!("false:{line} ")).collect::<String>()
                ),
            };
            list.push_str(&format!("{mode:?} {} {words}\n", case.file.display()));
        }
    }
    if let Some(path) = &options.list {
        std::fs::write(path, list).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The release build, made where it is missing or old.
fn built(root: &Path) -> Result<PathBuf> {
    let output = Command::new("cargo")
        .args([
            "build",
            "--release",
            "-p",
            "firstfault",
            "--message-format=json-render-diagnostics",
        ])
        .current_dir(root)
        .output()
        .context("cannot run cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = text.lines().rev().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    });
    executable.context("cargo build --release failed")
}

fn cases(options: &Juliet) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (cwe, _) in CLASSES {
        if !options.cwe.is_empty() && !options.cwe.contains(cwe) {
            continue;
        }
        let pattern = format!("{}/testcases/CWE{cwe}_*/**/*.c", options.suite.display());
        for file in glob::glob(&pattern).context("the suite's path cannot be searched")? {
            let file = file.context("cannot read the suite")?;
            let name = file.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into());
            let bytes = name.as_bytes();
            let single = bytes.len() > 3
                && bytes[bytes.len() - 3] == b'_'
                && bytes[bytes.len() - 2..].iter().all(u8::is_ascii_digit);
            if single && !name.contains("w32") {
                cases.push(Case { cwe: *cwe, file });
            }
        }
    }
    cases.sort_by(|a, b| (a.cwe, &a.file).cmp(&(b.cwe, &b.file)));
    Ok(cases)
}

/// An even share of every CWE, chosen by a fixed hash of the file name.
fn sampled(cases: Vec<Case>, sample: Option<usize>) -> Vec<Case> {
    let Some(sample) = sample else { return cases };
    let n_cases = cases.len();
    let mut by_cwe: BTreeMap<u32, Vec<(u64, Case)>> = BTreeMap::new();
    for case in cases {
        let name = case.file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
        by_cwe.entry(case.cwe).or_default().push((hash(&name), case));
    }
    let mut chosen = Vec::new();
    for (_, mut cases) in by_cwe {
        cases.sort_by_key(|(hash, _)| *hash);
        let share = (cases.len() * sample).div_ceil(n_cases.max(1)).max(12);
        chosen.extend(cases.into_iter().take(share).map(|(_, case)| case));
    }
    chosen
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

enum Outcome {
    Checked { hit: bool, false_lines: Vec<u32> },
    Failed(String),
}

fn check_all(
    firstfault: &Path,
    options: &Juliet,
    cases: &[Case],
    mode: Mode,
) -> Vec<(Case, Outcome)> {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let outcome = check(firstfault, &options.suite, case, mode)
                        .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push((index, outcome));
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(index, outcome)| (cases[index].clone(), outcome)).collect()
}

fn check(firstfault: &Path, suite: &Path, case: &Case, mode: Mode) -> Result<Outcome> {
    let support = suite.join("testcasesupport");
    let mut command = Command::new(firstfault);
    command.arg("check").arg(&case.file).arg(support.join("io.c"));
    command.args(["--format", "json", "-j", "1"]);
    if mode == Mode::Strict {
        command.arg("--strict");
    }
    command.arg("--").arg(format!("-I{}", support.display()));
    let output = command.output().context("cannot run firstfault")?;
    let report: Report = match serde_json::from_slice(&output.stdout) {
        Ok(report) => report,
        Err(_) => {
            let log = String::from_utf8_lossy(&output.stderr);
            bail!("{}", log.lines().last().unwrap_or("no report"));
        }
    };
    let rules = CLASSES.iter().find(|(cwe, _)| *cwe == case.cwe).map_or(&[][..], |(_, r)| *r);
    let of_class = |fault: &&Fault| rules.contains(&fault.rule.as_str());
    let hit = report.faults.iter().filter(of_class).any(|f| f.function.contains("bad"));
    let false_lines = report
        .faults
        .iter()
        .filter(of_class)
        .filter(|fault| fault.function.contains("good"))
        .map(|fault| fault.line)
        .collect();
    Ok(Outcome::Checked { hit, false_lines })
}

fn print_table(mode: Mode, outcomes: &[(Case, Outcome)]) {
    let mut tallies: BTreeMap<u32, Tally> = BTreeMap::new();
    let mut all = Tally::default();
    let mut without_integers = Tally::default();
    for (case, outcome) in outcomes {
        let of_cwe = tallies.entry(case.cwe).or_default();
        count(of_cwe, outcome);
        count(&mut all, outcome);
        if ![190, 191, 197].contains(&case.cwe) {
            count(&mut without_integers, outcome);
        }
    }
    let flag = if mode == Mode::Strict { " --strict" } else { "" };
    println!("firstfault check{flag}\n");
    println!("| CWE | files | hits | % | files with false | % | failed |");
    println!("|---|---|---|---|---|---|---|");
    for (cwe, tally) in &tallies {
        row(&cwe.to_string(), tally);
    }
    row("all", &all);
    row("all but 190, 191, 197", &without_integers);
    println!();
}

fn count(tally: &mut Tally, outcome: &Outcome) {
    tally.files += 1;
    match outcome {
        Outcome::Checked { hit, false_lines } => {
            tally.hits += usize::from(*hit);
            tally.false_files += usize::from(!false_lines.is_empty());
        }
        Outcome::Failed(_) => tally.failed += 1,
    }
}

fn row(name: &str, tally: &Tally) {
    let percent = |count: usize| 100.0 * count as f64 / tally.files.max(1) as f64;
    println!(
        "| {name} | {} | {} | {:.1} | {} | {:.1} | {} |",
        tally.files,
        tally.hits,
        percent(tally.hits),
        tally.false_files,
        percent(tally.false_files),
        tally.failed
    );
}
