//! `bench check`: every corpus through firstfault with all default rules and an empty cache,
//! and through other analysers, side by side.

mod peers;
mod row;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::obtain::Corpus;
use super::{code_lines, origin, subject};
use peers::Peer;
use row::Row;

#[derive(Args)]
pub struct Check {
    /// Only these corpora; all of bench/corpora.toml by default
    pub names: Vec<String>,
    /// The analysers to run beside: clang, gcc, cppcheck; `none` for no other
    #[arg(long, value_delimiter = ',', default_value = "clang,gcc,cppcheck")]
    peers: Vec<String>,
    /// An analyser that takes more processor time than this on one unit is stopped there
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    unit_limit: u64,
    /// firstfault is stopped on a corpus that takes more processor time than this
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    limit: u64,
    /// Threads to use; one per core by default
    #[arg(short = 'j', long)]
    jobs: Option<usize>,
    /// Write the table to bench/results/check.md though only some corpora were measured
    #[arg(long)]
    write: bool,
    /// Keep the JSON report of each corpus in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<std::path::PathBuf>,
}

/// Bars: share of clang's analyzer, bytes, and findings over all corpora.
const MAX_OF_CLANG: f64 = 0.25;
const MAX_MEMORY: u64 = 4 << 30;
const MAX_PER_5_KLOC: f64 = 1.0;
/// Of detection's CPU time, for correlation.
const MAX_CORRELATION: f64 = 0.5;
const MIN_FINDINGS: usize = 40;

pub fn run(root: &Path, corpora: &[Corpus], options: &Check) -> Result<()> {
    let peers = options.peers()?;
    let jobs = options.jobs.map_or_else(super::default_jobs, Ok)?;
    let program = subject::build(root)?;
    let mut rows = Vec::new();
    for corpus in corpora {
        eprintln!("checking {}: {} units", corpus.name, corpus.units.len());
        let row = measure(&program, corpus, &peers, jobs, options);
        rows.push(row.with_context(|| corpus.name.clone())?);
    }
    let text = document(root, &rows, options, jobs);
    println!("{text}");
    if options.names.is_empty() || options.write {
        let path = root.join("bench/results/check.md");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut broken: Vec<String> = rows.iter().flat_map(broken_bars).collect();
    let n_findings: usize = rows.iter().map(Row::n_findings).sum();
    if options.names.is_empty() && n_findings < MIN_FINDINGS {
        broken.push(format!("{n_findings} findings, fewer than {MIN_FINDINGS}"));
    }
    if broken.is_empty() { Ok(()) } else { bail!("bars not met:\n  {}", broken.join("\n  ")) }
}

impl Check {
    fn peers(&self) -> Result<Vec<Peer>> {
        let named = self.peers.iter().filter(|name| *name != "none");
        named
            .map(|name| match <Peer as clap::ValueEnum>::from_str(name, false) {
                Ok(peer) => Ok(peer),
                Err(_) => bail!("no peer is named {name}; there are clang, gcc, cppcheck"),
            })
            .collect()
    }

    /// The command as somebody would have to repeat it.
    fn command(&self) -> String {
        let mut words = vec!["cargo xtask bench check".to_owned()];
        words.extend(self.names.iter().cloned());
        if self.peers.len() != 3 {
            words.push(format!("--peers {}", self.peers.join(",")));
        }
        words.join(" ")
    }
}

fn measure(
    program: &Path,
    corpus: &Corpus,
    peers: &[Peer],
    jobs: usize,
    options: &Check,
) -> Result<Row> {
    let mut lines = 0;
    for unit in &corpus.units {
        let path = corpus.folder.join(&unit.file);
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        lines += code_lines::count(&text);
    }
    let cpu_limit = Duration::from_secs(options.limit);
    let ran = subject::run(
        program,
        corpus,
        &subject::Run { jobs, rules: &[], functions: &[], entries: &[], cpu_limit },
    )?;
    match &ran.results {
        Some((_, report, json)) => {
            for missing in &report.incomplete {
                eprintln!("  not analysed: {}: {}", missing.what, missing.reason);
            }
            if let Some(folder) = &options.keep {
                std::fs::create_dir_all(folder)?;
                std::fs::write(folder.join(format!("{}.json", corpus.name)), json)?;
            }
        }
        None => eprintln!("  firstfault {}\n{}", ran.ending, ran.log),
    }
    let mut row = Row::new(&corpus.name, lines as f64 / 1000.0, ran);
    for peer in peers {
        eprintln!("  {peer:?}");
        let unit_limit = Duration::from_secs(options.unit_limit);
        row.peers.push((*peer, peers::run(*peer, corpus, jobs, unit_limit)?));
    }
    Ok(row)
}

fn document(root: &Path, rows: &[Row], options: &Check, jobs: usize) -> String {
    let growth = origin::growth(
        rows.iter().filter(|row| row.ran.results.is_some()).map(|row| (row.kloc, row.cpu())),
    );
    format!(
        "# Detection on real C code\n\n`{}`, {jobs} threads, {}.\n\n\
         KLOC are lines with code in the units themselves. CPU seconds are user and system \
         time, compilers included; ours with an empty cache and all default rules, `of clang` \
         their share of what `clang-19 --analyze` takes on the same units in the same run. `>` \
         marks a run that was stopped: ours after {} CPU s on a corpus, another's after {} or 6 \
         GiB on a unit (the number of such units in parentheses). Memory is the largest \
         resident set.\n\n{}\n\
         Growth of our CPU time with KLOC over the corpora that were finished (exponent of the \
         fitted power law; 1 is linear): {growth}.\n\n\
         The CPU seconds of firstfault's own phases; what is missing are compilers and \
         reading sources.\n\n{}\n\
         The engine's figures. Visited are the procedures and blocks that some search entered; \
         a segment's length is its number of steps, and the procedures those are in; `without z3` is the share of checks our own \
         decision procedure answered.\n\n{}\n\
         Which fault causes which, in the columns of the paper's tables: faults from detection, \
         those of them that take part in a correlation, faults found only through one, pairs, and \
         groups.\n\n{}\n\
         Findings by rule.\n\n{}",
        options.command(),
        origin::commit_and_date(root),
        options.limit,
        options.unit_limit,
        row::costs(rows),
        row::phases(rows),
        row::engine(rows),
        row::correlations(rows),
        row::rules(rows),
    )
}

fn broken_bars(row: &Row) -> Vec<String> {
    let mut broken = Vec::new();
    let mut bar = |is_met: bool, what: String| {
        if !is_met {
            broken.push(format!("{}: {what}", row.name));
        }
    };
    bar(row.ran.results.is_some(), format!("firstfault {}", row.ran.ending));
    if let Some(share) = row.of_clang() {
        bar(share <= MAX_OF_CLANG, format!("takes {share:.2} of clang's analyzer's time"));
    }
    if let Some(share) = row.correlation_share() {
        bar(share <= MAX_CORRELATION, format!("correlation takes {share:.2} of detection's time"));
    }
    let memory = row.ran.peak_memory;
    bar(memory < MAX_MEMORY, format!("{} MiB of memory", memory >> 20));
    if row.ran.results.is_some() {
        let rate = row.per_5_kloc();
        bar(rate <= MAX_PER_5_KLOC, format!("{rate:.2} findings per 5 KLOC"));
    }
    broken
}
