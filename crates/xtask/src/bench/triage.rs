//! `bench triage`: draws findings on real code for people to judge.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::juliet::hash;

#[derive(Args)]
pub struct Triage {
    /// The folder `bench check --keep DIR` left its reports in
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// Another draw
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many to draw
    #[arg(short, long, default_value_t = 40)]
    n: usize,
}

#[derive(Deserialize)]
struct Report {
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    rule: String,
    file: String,
    line: u32,
    function: String,
    message: String,
}

/// Prints the drawn findings as the rows of a table, verdict and reason left to fill in.
pub fn run(options: &Triage) -> Result<()> {
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(&options.from)
        .with_context(|| format!("cannot read {}", options.from.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            rows.extend(read(&path, options.seed)?);
        }
    }
    if rows.is_empty() {
        bail!(
            "no findings in {}; run `cargo xtask bench check --keep DIR`",
            options.from.display()
        );
    }
    rows.sort();
    println!("| finding | verdict | reason |\n|---|---|---|");
    for (_, row) in rows.iter().take(options.n) {
        println!("| {row} | | |");
    }
    Ok(())
}

/// The findings of one corpus, each with its place in the draw.
fn read(path: &Path, seed: u64) -> Result<Vec<(u64, String)>> {
    let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let report: Report =
        serde_json::from_slice(&text).with_context(|| path.display().to_string())?;
    let corpus = path.file_stem().unwrap_or_default().to_string_lossy();
    let rows = report.faults.into_iter().map(|fault| {
        let file = Path::new(&fault.file).file_name().unwrap_or_default().to_string_lossy();
        let place = format!("{corpus} {file}:{} {}", fault.line, fault.function);
        let row = format!("{place}: {} [{}]", fault.message.replace('|', "\\|"), fault.rule);
        (hash(seed, &row), row)
    });
    Ok(rows.collect())
}
