//! `bench import`: every corpus through clang and through firstfault, side by side.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::obtain::Corpus;
use super::subject::Measured;
use super::table::Table;
use super::{clang, code_lines, origin, subject};

/// Bars: shares of clang's CPU time, and bytes.
const MAX_IMPORT: f64 = 0.6;
const MAX_FACTS: f64 = 0.8;
const MAX_MEMORY: u64 = 3 << 30;

/// Phases of `--timings` that make up the import.
const IMPORT_PHASES: [&str; 3] = ["positions", "import", "link"];

struct Row {
    name: String,
    kloc: f64,
    units: usize,
    /// Units clang compiles.
    compiled: usize,
    clang: f64,
    measured: Measured,
}

pub fn run(root: &Path, corpora: &[Corpus], names: &[String], jobs: usize) -> Result<()> {
    let program = subject::build(root)?;
    let mut rows = Vec::new();
    for corpus in corpora {
        eprintln!("measuring {}: {} units", corpus.name, corpus.units.len());
        rows.push(measure(&program, corpus, jobs).with_context(|| corpus.name.clone())?);
    }
    let text = document(root, &rows, names, jobs);
    println!("{text}");
    if names.is_empty() {
        let path = root.join("bench/results/import.md");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let broken: Vec<String> = rows.iter().flat_map(broken_bars).collect();
    if broken.is_empty() { Ok(()) } else { bail!("bars not met:\n  {}", broken.join("\n  ")) }
}

fn measure(program: &Path, corpus: &Corpus, jobs: usize) -> Result<Row> {
    let mut lines = 0;
    for unit in &corpus.units {
        let path = corpus.folder.join(&unit.file);
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        lines += code_lines::count(&text);
    }
    let reference = clang::reference(&corpus.units, &corpus.folder, jobs)?;
    let measured = subject::measure(program, corpus, jobs)?;
    for failed in &measured.failed {
        eprintln!("  not imported: {failed}");
    }
    Ok(Row {
        name: corpus.name.clone(),
        kloc: lines as f64 / 1000.0,
        units: corpus.units.len(),
        compiled: reference.compiled.len(),
        clang: reference.cpu.as_secs_f64(),
        measured,
    })
}

impl Row {
    fn import(&self) -> f64 {
        IMPORT_PHASES.iter().filter_map(|p| self.measured.timings.cpu_seconds.get(*p)).sum()
    }

    /// `None` where no facts were computed.
    fn facts(&self) -> Option<f64> {
        self.measured.timings.cpu_seconds.get("facts").copied()
    }
}

fn document(root: &Path, rows: &[Row], names: &[String], jobs: usize) -> String {
    let command = ["cargo xtask bench import"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ");
    let origin = origin::commit_and_date(root);
    format!(
        "# Import of real C code\n\n`{command}`, {jobs} threads, {origin}.\n\n\
         KLOC are lines with code in the units themselves. CPU seconds are user and system \
         time; clang's are those of `clang-19 -O0 -g -emit-llvm` on the same units in the same \
         run, and `of clang` is our share of them. Import is everything from the preprocessed \
         text and its bitcode to the linked program; the compiler that makes the bitcode is \
         not in it. Memory is the largest resident set.\n\n{}\n{}",
        table(rows),
        growth(rows)
    )
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "corpus",
        "KLOC",
        "units",
        "clang compiles",
        "imported",
        "functions",
        "clang CPU s",
        "import CPU s",
        "of clang",
        "facts CPU s",
        "of clang",
        "memory MiB",
    ]);
    for row in rows {
        let facts = |value: fn(f64, f64) -> f64| {
            row.facts().map_or("-".to_owned(), |facts| format!("{:.2}", value(facts, row.clang)))
        };
        table.row(vec![
            row.name.clone(),
            format!("{:.1}", row.kloc),
            row.units.to_string(),
            row.compiled.to_string(),
            row.measured.timings.imported.to_string(),
            row.measured.timings.functions.to_string(),
            format!("{:.2}", row.clang),
            format!("{:.2}", row.import()),
            format!("{:.2}", row.import() / row.clang),
            facts(|facts, _| facts),
            facts(|facts, clang| facts / clang),
            (row.measured.peak_memory >> 20).to_string(),
        ]);
    }
    table
}

fn growth(rows: &[Row]) -> String {
    let exponent =
        |cost: &dyn Fn(&Row) -> f64| origin::growth(rows.iter().map(|row| (row.kloc, cost(row))));
    format!(
        "Growth with KLOC over these corpora (exponent of the fitted power law; 1 is linear): \
         clang {}, import {}, facts {}.\n",
        exponent(&|row| row.clang),
        exponent(&Row::import),
        exponent(&|row| row.facts().unwrap_or(0.0)),
    )
}

fn broken_bars(row: &Row) -> Vec<String> {
    let mut broken = Vec::new();
    let mut bar = |is_met: bool, what: String| {
        if !is_met {
            broken.push(format!("{}: {what}", row.name));
        }
    };
    let imported = row.measured.timings.imported as usize;
    bar(imported >= row.compiled, format!("{imported} of {} units imported", row.compiled));
    let panics = row.measured.timings.panics;
    bar(panics == 0, format!("{panics} panics"));
    let import = row.import() / row.clang;
    bar(import <= MAX_IMPORT, format!("import takes {import:.2} of clang's time"));
    let facts = row.facts().map(|facts| facts / row.clang);
    bar(facts.is_some(), "no facts".to_owned());
    let facts = facts.unwrap_or(0.0);
    bar(facts <= MAX_FACTS, format!("facts take {facts:.2} of clang's time"));
    let memory = row.measured.peak_memory;
    bar(memory < MAX_MEMORY, format!("{} MiB of memory", memory >> 20));
    broken
}
