//! `bench beliefs`: breaks places of real code that follow a rule, one at a time, and counts
//! what `firstfault beliefs` finds; and what extraction costs.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use clap::Args;
use serde::Deserialize;

use super::obtain::Corpus;
use super::subject::{self, PATIENCE, Timings};
use super::table::Table;
use super::{code_lines, origin};

/// Corpora that rules are looked for in; others are kept aside for triage.
pub const CORPORA: [&str; 7] = ["libgit2", "openssl", "sqlite", "bzip2", "zlib", "lua", "libssh2"];
/// Those that are only large enough to show how the cost grows.
const SMALL: [&str; 4] = ["bzip2", "zlib", "lua", "libssh2"];

/// Bars: the share found, the median rank within the rule, lines per CPU second.
const MIN_FOUND: f64 = 0.75;
const MAX_MEDIAN: usize = 3;
const MIN_KLOC_PER_SECOND: f64 = 100.0;

const CPU_LIMIT: Duration = Duration::from_secs(3600);

#[derive(Args)]
pub struct Beliefs {
    /// Only these corpora
    pub names: Vec<String>,
    /// Places to break for each template
    #[arg(long, default_value_t = 100)]
    plants: usize,
}

#[derive(Deserialize)]
struct Planted {
    template: String,
    candidates: usize,
    planted: usize,
    found: usize,
    ranks_in_rule: Vec<usize>,
    ranks_in_template: Vec<usize>,
}

struct Row {
    name: String,
    kloc: f64,
    /// CPU seconds for summaries and extraction.
    seconds: f64,
    /// Bytes of the Parquet files.
    bytes: u64,
    /// Ranking these files: CPU seconds, and the largest resident set in bytes.
    ranking: (f64, u64),
    planted: Vec<Planted>,
}

pub fn run(root: &Path, corpora: &[Corpus], options: &Beliefs) -> Result<()> {
    let program = subject::build(root)?;
    let mut rows = Vec::new();
    for corpus in corpora {
        eprintln!("planting in {}", corpus.name);
        rows.push(measure(&program, corpus, options).with_context(|| corpus.name.clone())?);
    }
    let text = document(root, &rows, options);
    println!("{text}");
    if options.names.is_empty() {
        let path = root.join("bench/results/beliefs.md");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let broken: Vec<String> = rows.iter().flat_map(broken_bars).collect();
    if broken.is_empty() { Ok(()) } else { bail!("bars not met:\n  {}", broken.join("\n  ")) }
}

fn measure(program: &Path, corpus: &Corpus, options: &Beliefs) -> Result<Row> {
    let mut lines = 0;
    for unit in &corpus.units {
        let path = corpus.folder.join(&unit.file);
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        lines += code_lines::count(&text);
    }
    let state = tempfile::tempdir()?;
    let path = |name: &str| state.path().join(name);
    let run = |arguments: &[&str], files: &[(&str, &Path)]| -> Result<child::Finished> {
        let mut command = subject::limited(CPU_LIMIT, None)?;
        command.arg(program).args(["beliefs", "-j", "1"]).args(arguments);
        for (option, file) in files {
            command.arg(option).arg(file);
        }
        command.current_dir(&corpus.folder);
        let limits = Limits { deadline: PATIENCE * CPU_LIMIT, ..Limits::default() };
        Ok(child::run(command, b"", &limits, &Cancel::new())?)
    };
    let (cache, timings, events, report) =
        (path("state"), path("timings.json"), path("events"), path("report"));
    let extracted = run(
        &["-p", "."],
        &[("--state", &cache), ("--timings", &timings), ("--events", &events), ("-o", &report)],
    )?;
    let log = || String::from_utf8_lossy(&extracted.stderr).into_owned();
    let timings = std::fs::read(&timings).with_context(log)?;
    let timings: Timings = serde_json::from_slice(&timings)?;
    let phase = |name: &str| timings.cpu_seconds.get(name).copied().unwrap_or(0.0);
    let mut bytes = 0;
    for entry in std::fs::read_dir(&events).with_context(log)? {
        bytes += entry?.metadata()?.len();
    }
    let ranked = run(&[], &[("--from", &events), ("-o", &report)])?;
    let planted = if SMALL.contains(&corpus.name.as_str()) {
        Vec::new()
    } else {
        let plants = path("plants.json");
        let n_plants = options.plants.to_string();
        let files: [(&str, &Path); 2] = [("--state", &cache), ("-o", &plants)];
        let finished = run(&["-p", ".", "--plant", &n_plants], &files)?;
        let log = || String::from_utf8_lossy(&finished.stderr).into_owned();
        serde_json::from_slice(&std::fs::read(&plants).with_context(log)?)?
    };
    Ok(Row {
        name: corpus.name.clone(),
        kloc: lines as f64 / 1000.0,
        seconds: phase("summaries") + phase("extraction"),
        bytes,
        ranking: (ranked.cpu.as_secs_f64(), ranked.peak_memory),
        planted,
    })
}

fn median(ranks: &[usize]) -> Option<usize> {
    let mut ranks = ranks.to_vec();
    ranks.sort_unstable();
    ranks.get(ranks.len() / 2).copied()
}

fn document(root: &Path, rows: &[Row], options: &Beliefs) -> String {
    let mut plants = Table::new(&[
        "corpus: template",
        "candidates",
        "planted",
        "found",
        "share",
        "median rank in rule",
        "median rank in template",
    ]);
    let mut cost = Table::new(&[
        "corpus",
        "KLOC",
        "CPU s",
        "KLOC per CPU s",
        "events, MB",
        "ranking, CPU s",
        "ranking, peak MB",
    ]);
    for row in rows {
        for planted in row.planted.iter().filter(|planted| planted.planted > 0) {
            let shown = |rank: Option<usize>| rank.map_or("-".to_owned(), |rank| rank.to_string());
            plants.row(vec![
                format!("{}: {}", row.name, planted.template),
                planted.candidates.to_string(),
                planted.planted.to_string(),
                planted.found.to_string(),
                format!("{:.0} %", 100.0 * planted.found as f64 / planted.planted as f64),
                shown(median(&planted.ranks_in_rule)),
                shown(median(&planted.ranks_in_template)),
            ]);
        }
        cost.row(vec![
            row.name.clone(),
            format!("{:.1}", row.kloc),
            format!("{:.2}", row.seconds),
            format!("{:.0}", row.kloc / row.seconds.max(0.001)),
            format!("{:.1}", row.bytes as f64 / 1e6),
            format!("{:.2}", row.ranking.0),
            format!("{:.0}", row.ranking.1 as f64 / 1e6),
        ]);
    }
    let growth = origin::growth(rows.iter().map(|row| (row.kloc, row.seconds)));
    let estimate = kernel_size(rows);
    format!(
        "# Beliefs: plant and find\n\n`cargo xtask bench beliefs --plants {}`, {}.\n\n\
         One place that follows a rule with at least 10 examples is broken at a time, in the\n\
         program as it was imported: a check, a release, an unlock or a lock is taken away; for\n\
         `context` and `lock-protects-variable` the lock and what releases it. Found\n\
         means that `firstfault beliefs` reports the function for this rule. Bars: found {:.0} %,\n\
         median rank within the rule at most {MAX_MEDIAN}.\n\n{plants}\n\
         What summaries and extraction cost beyond the import. Bar: {MIN_KLOC_PER_SECOND} thousand\n\
         lines of code per CPU second. Growth with size, as an exponent: {growth} (1 is linear).\n\
         Ranking reads the events from files, one unit at a time, so what it holds beyond the\n\
         largest unit are the aggregates.\n\n{cost}\n{estimate}",
        options.plants,
        origin::commit_and_date(root),
        100.0 * MIN_FOUND,
    )
}

/// Lines of a kernel, in thousands.
const KERNEL: f64 = 20_000.0;

/// What code of a kernel's size would cost, by the line through all corpora.
fn kernel_size(rows: &[Row]) -> String {
    let times = |of: fn(&Row) -> f64| {
        let (kloc, cost): (f64, f64) =
            rows.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.kloc, sum.1 + of(row)));
        KERNEL * cost / kloc.max(0.001)
    };
    let memory = |row: &Row| row.ranking.1 as f64 / 1e6;
    let by_size = |order: fn(f64, f64) -> f64| {
        rows.iter().map(|row| row.kloc).reduce(order).unwrap_or_default()
    };
    let at = |kloc: f64| rows.iter().find(|row| row.kloc == kloc).map_or(0.0, memory);
    let (small, large) = (by_size(f64::min), by_size(f64::max));
    let per_kloc = (at(large) - at(small)) / (large - small).max(0.001);
    format!(
        "At this rate {:.0} million lines take {:.0} CPU s for summaries and extraction, {:.0} CPU s\n\
         for ranking, {:.1} GB of events, and, by the line through the smallest and the largest\n\
         corpus, {:.1} GB of memory for ranking.\n",
        KERNEL / 1000.0,
        times(|row| row.seconds),
        times(|row| row.ranking.0),
        times(|row| row.bytes as f64) / 1e9,
        (at(small) + per_kloc * KERNEL) / 1000.0,
    )
}

fn broken_bars(row: &Row) -> Vec<String> {
    let mut broken = Vec::new();
    for planted in row.planted.iter().filter(|planted| planted.planted > 0) {
        let name = format!("{}: {}", row.name, planted.template);
        let share = planted.found as f64 / planted.planted as f64;
        if share < MIN_FOUND {
            broken.push(format!("{name}: found {:.0} %", 100.0 * share));
        }
        if let Some(rank) = median(&planted.ranks_in_rule).filter(|rank| *rank > MAX_MEDIAN) {
            broken.push(format!("{name}: median rank {rank}"));
        }
    }
    let is_large = !SMALL.contains(&row.name.as_str());
    if is_large && row.kloc / row.seconds.max(0.001) < MIN_KLOC_PER_SECOND {
        broken.push(format!("{}: {:.2} CPU s for {:.1} KLOC", row.name, row.seconds, row.kloc));
    }
    broken
}
