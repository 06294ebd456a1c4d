//! `cargo xtask bench suites`: what the test suites of other tools expect, and what we report.
//!
//! The suites are the user's, in a scratch folder; nothing of them is kept here. Each format
//! has its reader (`infer`, `gcc`, `clang`, `castle`), which says where a fault must be
//! reported and where nothing may be; `mapping` says which of our rules is meant, `running`
//! asks `check`, `scoring` compares.

mod castle;
mod clang;
mod dg;
mod gcc;
mod infer;
mod mapping;
mod model;
mod page;
mod running;
mod scoring;
mod source;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use super::juliet;
use super::tool::{Tool, ToolArgs};
use super::{ledger, parallel};
use model::{Case, Collected};
use page::{Origin, Outcome};
use running::{Command, Done, Ended, Journal};
use scoring::Score;

const WHERE: &str = "What must lie in the scratch folder:\n  \
infer    facebook/infer: its sources, or infer/tests/codetoanalyze/c alone\n  \
gcc      a gcc source tree, or its gcc/testsuite: gcc.dg, c-c++-common and gcc.c-torture, which\n           tests of the analyzer include\n  \
clang    llvm-project or Debian's llvm-toolchain, or clang/test/Analysis alone\n  \
castle   CASTLE-Benchmark/CASTLE-Benchmark, or its datasets/\n  \
juliet   Juliet 1.3 for C: testcases/ and testcasesupport/\n\
A suite that is not there is named, and the others are run. Answers are kept in journal/ of \
that folder, for --resume.";

#[derive(Args)]
#[command(after_help = WHERE)]
pub struct Suites {
    /// The scratch folder that holds the suites
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Only these suites; may be given several times
    #[arg(long, value_name = "SUITE")]
    suite: Vec<Suite>,
    /// Only files whose name contains this
    #[arg(long, value_name = "TEXT", conflicts_with = "write")]
    name: Option<String>,
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
    /// Juliet: so many files of each CWE
    #[arg(long, value_name = "N", default_value_t = 60)]
    sample: usize,
    /// Go on with a run of the same firstfault that was stopped
    #[arg(long)]
    resume: bool,
    /// Write misses and false reports to this file, a line each
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Write bench/results/suites.md and the ledger
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    tool: ToolArgs,
    /// Further options of `firstfault check`
    #[arg(last = true, value_name = "OPTION", conflicts_with = "write")]
    options: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Suite {
    Infer,
    Gcc,
    Clang,
    Castle,
    Juliet,
}

impl Suite {
    const ALL: [Suite; 5] = [Suite::Infer, Suite::Gcc, Suite::Clang, Suite::Castle, Suite::Juliet];

    fn title(self) -> &'static str {
        match self {
            Suite::Infer => "Infer",
            Suite::Gcc => "gcc",
            Suite::Clang => "clang",
            Suite::Castle => "CASTLE",
            Suite::Juliet => "Juliet",
        }
    }

    /// Its folder in the scratch folder.
    fn folder(self) -> &'static str {
        match self {
            Suite::Infer => "infer",
            Suite::Gcc => "gcc",
            Suite::Clang => "clang",
            Suite::Castle => "castle",
            Suite::Juliet => "juliet",
        }
    }
}

pub fn run(root: &Path, options: &Suites) -> Result<()> {
    if !options.from.is_dir() {
        bail!("no folder {}; --help says what must lie there", options.from.display());
    }
    let tool = options.tool.tool(root)?;
    let date = ledger::today(root);
    let command = format!("cargo xtask bench suites --from DIR --sample {}", options.sample);
    let origin = Origin { commit: &tool.commit, date: &date, command: &command };
    let mut outcomes = Vec::new();
    let mut missing = Vec::new();
    for suite in Suite::ALL {
        if !options.suite.is_empty() && !options.suite.contains(&suite) {
            continue;
        }
        let folder = options.from.join(suite.folder());
        if !folder.is_dir() {
            missing.push(format!("{}: no folder {}", suite.title(), folder.display()));
            continue;
        }
        match measure(suite, &folder, options, &tool, &origin) {
            Ok(outcome) => {
                println!("\n{}", outcome.section);
                outcomes.push(outcome);
                // What is measured is kept, even if a later suite is stopped.
                if options.write {
                    page::write(root, &outcomes)?;
                    let new = outcomes.iter().flat_map(|outcome| origin.entries(outcome));
                    ledger::record(root, new.collect())?;
                }
                if let Some(list) = &options.list {
                    write_list(list, &outcomes)?;
                }
            }
            Err(error) => missing.push(format!("{}: {error:#}", suite.title())),
        }
    }
    for why in &missing {
        eprintln!("not measured: {why}");
    }
    if outcomes.is_empty() {
        bail!("no suite was measured; --help says what must lie in {}", options.from.display());
    }
    Ok(())
}

fn write_list(path: &Path, outcomes: &[Outcome]) -> Result<()> {
    let lines: Vec<String> = outcomes
        .iter()
        .flat_map(|outcome| {
            let suite = outcome.suite.folder();
            outcome.notes.iter().map(move |note| format!("{suite} {note}\n"))
        })
        .collect();
    std::fs::write(path, lines.concat()).with_context(|| format!("cannot write {}", path.display()))
}

fn measure(
    suite: Suite,
    folder: &Path,
    options: &Suites,
    tool: &Tool,
    origin: &Origin<'_>,
) -> Result<Outcome> {
    match suite {
        Suite::Juliet => {
            let summary = juliet::sampled(folder, options.sample, options.jobs, &tool.path)?;
            Ok(page::juliet(origin, &summary))
        }
        Suite::Castle => {
            let (mut collected, mut truths) = castle::collect(folder)?;
            keep_named(&mut collected, options)?;
            truths.retain(|name, _| collected.cases.iter().any(|case| case.name == *name));
            let done = ask_all(suite, &collected.cases, options, tool, |case, done| {
                let verdict = castle::judge(&truths[&case.name], &case.name, &done.reported);
                let found = if verdict.is_found { "true" } else { "-" };
                format!("{found}, {} beside", verdict.n_beside)
            })?;
            let mut verdicts = BTreeMap::new();
            let mut notes = collected.malformed.clone();
            for done in &done {
                let truth = &truths[&done.name];
                let verdict = castle::judge(truth, &done.name, &done.reported);
                verdicts.insert(done.name.clone(), verdict);
                notes.extend(castle_notes(truth, verdict, done));
            }
            Ok(page::castle(origin, &collected, &done, &truths, &verdicts, notes))
        }
        Suite::Infer | Suite::Gcc | Suite::Clang => {
            let mut collected = match suite {
                Suite::Infer => infer::collect(folder)?,
                Suite::Gcc => gcc::collect(folder)?,
                _ => clang::collect(folder)?,
            };
            keep_named(&mut collected, options)?;
            let done = ask_all(suite, &collected.cases, options, tool, |case, done| {
                let score = judged(case, done);
                let found = score.found();
                let hit = score.silent.n + score.unmarked.n;
                let of = score.silent.of + score.unmarked.of;
                let beside = score.beside;
                format!("{} of {}, silent hit {hit} of {of}, {beside} beside", found.n, found.of)
            })?;
            let mut score = Score::default();
            for (case, done) in collected.cases.iter().zip(&done) {
                score.add(judged(case, done));
            }
            score.notes.extend(collected.malformed.iter().map(|why| format!("malformed {why}")));
            Ok(page::with_places(suite, origin, &collected, &done, &score))
        }
    }
}

fn keep_named(collected: &mut Collected, options: &Suites) -> Result<()> {
    if let Some(name) = &options.name {
        collected.cases.retain(|case| case.name.contains(name.as_str()));
        if collected.cases.is_empty() {
            bail!("no file's name contains {name}");
        }
    }
    Ok(())
}

fn judged(case: &Case, done: &Done) -> Score {
    match &done.ended {
        Ended::Analysed => scoring::score(case, &done.reported),
        Ended::Incomplete(why) | Ended::Stopped(why) => scoring::not_analysed(case, why),
    }
}

fn castle_notes(truth: &castle::Truth, verdict: castle::Verdict, done: &Done) -> Vec<String> {
    let name = &done.name;
    let mut notes = Vec::new();
    if let Ended::Incomplete(why) | Ended::Stopped(why) = &done.ended {
        notes.push(format!("not analysed {name}: {why}"));
    }
    if truth.is_flawed && !verdict.is_found {
        notes.push(format!("missed {name}:{} [CWE {}]", truth.lines[0], truth.cwe));
    }
    for report in &done.reported {
        let (on_line, of_class) = castle::matches(truth, name, report);
        if !truth.is_flawed || !(on_line || of_class) {
            let running::Reported { file, line, rule, message, function, .. } = report;
            notes.push(format!("beside {file}:{line}: {message} [{rule}] in {function}"));
        }
    }
    notes
}

/// Runs `check` on every case that the journal does not have, and prints a row for each.
fn ask_all(
    suite: Suite,
    cases: &[Case],
    options: &Suites,
    tool: &Tool,
    row: impl Fn(&Case, &Done) -> String + Sync,
) -> Result<Vec<Done>> {
    let path = running::journal_path(&options.from, suite.folder());
    // A part of a suite done again leaves the answers to the rest alone.
    let keep = options.resume || options.name.is_some();
    let journal = Journal::open(&path, &identity(tool, &options.options)?, keep)?;
    let command = Command { program: &tool.path, options: &options.options };
    let results = parallel::map(cases, options.jobs, |case| -> Result<Done> {
        let done = match journal.before(&case.name).filter(|_| options.resume) {
            Some(done) => done.clone(),
            None => {
                let done = running::check(&command, case)?;
                journal.add(&done)?;
                done
            }
        };
        let ended = match &done.ended {
            Ended::Analysed => String::new(),
            Ended::Incomplete(why) => format!(", does not compile: {why}"),
            Ended::Stopped(why) => format!(", stopped: {why}"),
        };
        let what = row(case, &done);
        println!("{} {}: {what}, {:.1} s{ended}", suite.folder(), case.name, done.cpu);
        Ok(done)
    });
    let done = results.into_iter().collect::<Result<Vec<Done>>>()?;
    if let Some(why) = nothing_was_analysed(&done) {
        bail!("no file could be analysed: {why}");
    }
    Ok(done)
}

/// The reason of the first, where that is so of all: then firstfault is at fault, or its use.
fn nothing_was_analysed(done: &[Done]) -> Option<&str> {
    let mut reasons = done.iter().map(|done| match &done.ended {
        Ended::Analysed => None,
        Ended::Incomplete(why) | Ended::Stopped(why) => Some(why.as_str()),
    });
    let first = reasons.next()??;
    reasons.all(|why| why.is_some()).then_some(first)
}

/// What must be the same for answers to be used again.
fn identity(tool: &Tool, options: &[String]) -> Result<String> {
    let meta = std::fs::metadata(&tool.path)
        .with_context(|| format!("cannot read {}", tool.path.display()))?;
    let modified =
        meta.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let seconds = modified.map_or(0, |since| since.as_secs());
    Ok(format!(
        "{} {} {} {seconds} {}",
        tool.commit,
        tool.path.display(),
        meta.len(),
        options.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(ended: Ended) -> Done {
        Done { name: String::new(), ended, cpu: 0.0, reported: Vec::new() }
    }

    #[test]
    fn a_firstfault_that_analyses_nothing_measures_nothing() {
        let broken = || done(Ended::Incomplete("unknown option".to_owned()));
        assert_eq!(nothing_was_analysed(&[broken(), broken()]), Some("unknown option"));
        assert_eq!(nothing_was_analysed(&[broken(), done(Ended::Analysed)]), None);
        assert_eq!(nothing_was_analysed(&[done(Ended::Analysed), broken()]), None);
        assert_eq!(nothing_was_analysed(&[]), None);
    }
}
