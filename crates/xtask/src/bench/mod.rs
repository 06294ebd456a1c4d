//! Measurements on real code: `cargo xtask bench import`, `... check`.
//!
//! Corpora live in a scratch folder (`$FIRSTFAULT_BENCH`, or one below the system's folder for
//! temporary files), our own result tables in `bench/results/`.

mod beliefs;
mod brute_force;
mod bugfix;
mod by_program;
mod cases;
mod check;
mod clang;
mod code_lines;
mod corpora;
mod crash;
mod defects;
mod diagnose;
mod differential;
mod draw;
mod import;
mod inject;
mod juliet;
mod ledger;
mod locate;
mod multiple;
pub mod mutate;
pub mod mutate_by_kind;
mod obtain;
mod origin;
mod overhead;
pub mod parallel;
mod report;
mod subject;
mod suites;
mod table;
mod tool;
mod triage;
mod units;
mod unseen;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Bench {
    /// How much code is imported, in how much time and memory, beside clang's own figures
    Import {
        /// Only these corpora; all of bench/corpora.toml by default
        names: Vec<String>,
        /// Threads to use; one per core by default
        #[arg(short = 'j', long)]
        jobs: Option<usize>,
    },
    /// Whether verdicts on generated programs agree with what these do on every input
    BruteForce(brute_force::BruteForce),
    /// Whether planted deviations are found, and what looking for beliefs costs
    Beliefs(beliefs::Beliefs),
    /// How often suggestions are right, and what learning and asking cost
    #[command(name = "bugfix")]
    BugFix(bugfix::BugFix),
    /// Findings, cost and the engine's figures on real code, beside other analysers
    Check(check::Check),
    /// Whether defects known from old versions of libraries are reported, and gone today
    Defects(defects::Defects),
    /// Hits and false positives on the Juliet suite
    Juliet(juliet::Juliet),
    /// How high the faulty statement ranks, on faulty programs with tests
    Locate(locate::Locate),
    /// The same for programs with several faults, fixed one after the other
    LocateMultiple(multiple::Multiple),
    /// What instrumentation costs while nothing is replaced, on larger programs
    Overhead(overhead::Overhead),
    /// Whether the first corruption of failing runs is found, beside AddressSanitizer
    Crash(crash::Crash),
    /// How long large reports take to write and to open, and an editor waits after a save
    Report(report::Report),
    /// How high the right statement and the right change rank, on programs with a violated property
    Diagnose(diagnose::Diagnose),
    /// The open cases, ours beside other tools: found, twins hit, edges, ranks, cost
    Cases(cases::Cases),
    /// The test suites of other tools: what they expect, and what we report
    Suites(suites::Suites),
    /// Fresh packages of Debian: draw, check, judge, and precision over all draws
    Draw(Box<draw::Draw>),
    /// Faults put into real code: how many are found, by kind
    Inject(Box<inject::Inject>),
    /// Generated programs: sanitizers, search by running and static answers against each other
    Differential(differential::Differential),
    /// Write bench/results/README.md, the table over all measurements
    Ledger,
    /// Draw findings on real code for people to judge
    Triage(triage::Triage),
    /// Obtain the corpora and write a compile_commands.json for each, without measuring
    Obtain { names: Vec<String> },
}

pub fn run(root: &Path, bench: Bench) -> Result<()> {
    match bench {
        Bench::Import { names, jobs } => {
            let jobs = jobs.map_or_else(default_jobs, Ok)?;
            import::run(root, &obtained(root, &names)?, &names, jobs)
        }
        Bench::BruteForce(options) => brute_force::run(root, &options),
        Bench::Beliefs(options) => {
            let all: Vec<String> = beliefs::CORPORA.iter().map(|name| name.to_string()).collect();
            let names = if options.names.is_empty() { &all } else { &options.names };
            beliefs::run(root, &obtained(root, names)?, &options)
        }
        Bench::BugFix(options) => bugfix::run(root, &options),
        Bench::Check(options) => {
            let corpora = obtained(root, &options.names)?;
            check::run(root, &corpora, &options)
        }
        Bench::Defects(options) => defects::run(root, &options),
        Bench::Juliet(options) => juliet::run(root, &options),
        Bench::Locate(options) => locate::run(root, &options),
        Bench::LocateMultiple(options) => multiple::run(root, &options),
        Bench::Crash(options) => crash::run(root, &options),
        Bench::Overhead(options) => {
            let names: Vec<String> = overhead::CORPORA.iter().map(|n| n.to_string()).collect();
            overhead::run(root, &obtained(root, &names)?, &options)
        }
        Bench::Report(options) => {
            let corpora = obtained(root, &[report::CORPUS.to_owned()])?;
            report::run(root, &corpora[0], &options)
        }
        Bench::Diagnose(options) => diagnose::run(root, &options),
        Bench::Cases(options) => cases::run(root, &options),
        Bench::Suites(options) => suites::run(root, &options),
        Bench::Draw(options) => draw::run(root, &options),
        Bench::Inject(options) => inject::run(root, &options),
        Bench::Differential(options) => differential::run(root, &options),
        Bench::Ledger => ledger::run(root),
        Bench::Triage(options) => triage::run(&options),
        Bench::Obtain { names } => {
            for corpus in obtained(root, &names)? {
                println!(
                    "{}: {} units in {}",
                    corpus.name,
                    corpus.units.len(),
                    corpus.folder.display()
                );
            }
            Ok(())
        }
    }
}

/// The release build of this repository.
pub fn firstfault(root: &Path) -> Result<PathBuf> {
    subject::build(root)
}

fn default_jobs() -> Result<usize> {
    Ok(std::thread::available_parallelism().context("cannot count the cores")?.get())
}

/// The corpora asked for, ready to be compiled.
fn obtained(root: &Path, names: &[String]) -> Result<Vec<obtain::Corpus>> {
    let recipes = corpora::load(&root.join("bench/corpora.toml"))?;
    if let Some(unknown) = names.iter().find(|name| !recipes.iter().any(|r| r.name == **name)) {
        let known: Vec<&str> = recipes.iter().map(|r| r.name.as_str()).collect();
        bail!("no corpus is named {unknown}; there are {}", known.join(", "));
    }
    let wanted = |recipe: &&corpora::Recipe| names.is_empty() || names.contains(&recipe.name);
    let scratch = scratch();
    recipes
        .iter()
        .filter(wanted)
        .map(|recipe| {
            obtain::obtain(recipe, &scratch).with_context(|| format!("corpus {}", recipe.name))
        })
        .collect()
}

fn scratch() -> PathBuf {
    std::env::var_os("FIRSTFAULT_BENCH")
        .map_or_else(|| std::env::temp_dir().join("firstfault-bench"), PathBuf::from)
}
