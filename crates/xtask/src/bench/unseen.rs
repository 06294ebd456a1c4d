//! Faults that nothing was tuned on: some written by hand into the programs of
//! `bench/bugfix-unseen`, others made by mutating these programs token by token.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::bugfix::learn;
use super::by_program::{Described, described, same_three};
use super::parallel;
use super::table::Table;
use crate::mutated::{Evenly, MUTANT, MUTANT_OF_TOKEN, mutants};
use crate::seed_knowledge::{N_JOBS, Seeded, listed, seeded};

const FOLDER: &str = "bench/bugfix-unseen";

/// Mutants taken of each program.
const N_MUTANTS: usize = 8;

/// What firstfault says of a program whose tests it sees pass.
const NO_TEST_FAILS: &str = "no test fails";

const OFF_BY_ONE: &str = "off by one";

/// A table of how often a right description is among the first three for these faults.
pub fn quality(root: &Path, firstfault: &Path, known: &str, scratch: &Path) -> Result<String> {
    let mut faults = seeded(&root.join(FOLDER))?;
    let of_kinds = mutants(&faults, N_MUTANTS, Evenly::Kinds)?;
    let of_tokens = mutants(&faults, N_MUTANTS, Evenly::Tokens)?;
    faults.extend(of_kinds.into_iter().chain(of_tokens));
    let base = scratch.join("unseen.db");
    let outcomes = parallel::map(&faults, N_JOBS, |fault| {
        let outcome = fault.learn(firstfault, &base, &origin(fault));
        eprintln!("{}: {}", origin(fault), if outcome.is_ok() { "learned" } else { "refused" });
        outcome
    });
    let outcomes = faults.iter().zip(outcomes);
    let refused = outcomes
        .filter_map(|(fault, outcome)| Some((origin(fault), format!("{:#}", outcome.err()?))));
    // What fails only without instrumentation depends on undefined behaviour: no fault to ask about.
    let (no_faults, refused): (Vec<_>, Vec<_>) =
        refused.partition(|(_, why)| why.contains(NO_TEST_FAILS));
    faults.retain(|fault| !no_faults.iter().any(|(other, _)| *other == origin(fault)));
    let unseen = listed(firstfault, &base)?;
    let mut columns = Vec::new();
    let (mut three, mut specific) = (Vec::new(), String::new());
    for without in [None, Some(OFF_BY_ONE)] {
        let known = write(&scratch.join("known.jsonl"), known, without)?;
        let asked = write(&scratch.join("asked.jsonl"), &unseen, without)?;
        let name = |what: &str| scratch.join(format!("{what}-{}.db", without.is_some()));
        let (of_known, of_all) = (name("known"), name("all"));
        learn(firstfault, &of_known, &["--import", &known])?;
        let said = learn(firstfault, &of_known, &["--evaluate", &asked])?;
        columns.push(missed(&said));
        learn(firstfault, &of_all, &["--import", &known])?;
        learn(firstfault, &of_all, &["--import", &asked])?;
        columns.push(missed(&learn(firstfault, &of_all, &["--evaluate"])?));
        let always = same_three(&described(&fs::read_to_string(&known)?)?);
        columns.push(missed_by(&always, &described(&fs::read_to_string(&asked)?)?));
        if without.is_none() {
            specific = said.lines().next().and_then(|l| l.rsplit(' ').next()).unwrap_or("").into();
            three = always;
        }
    }
    let specific = format!(
        "\nThe same three are: {}. *Transfer* has a right description that at most one known fault \
         in ten\nhas within the first three for {specific}.\n",
        three.join(", ")
    );
    Ok(told(&faults, &refused, &columns) + &specific)
}

fn missed_by(always: &[String], asked: &[Described]) -> BTreeSet<String> {
    let is_missed = |fixes: &BTreeSet<String>| !always.iter().any(|fix| fixes.contains(fix));
    let missed = asked.iter().filter(|(_, fixes)| is_missed(fixes));
    missed.map(|(origin, _)| origin.clone()).collect()
}

fn origin(fault: &Seeded) -> String {
    format!("unseen/{}/{}", fault.program, fault.name)
}

fn told(faults: &[Seeded], refused: &[(String, String)], columns: &[BTreeSet<String>]) -> String {
    let heads = [
        "",
        "faults",
        "transfer",
        "leave one out",
        "the same three",
        "transfer\u{2020}",
        "leave one out\u{2020}",
        "the same three\u{2020}",
    ];
    let mut table = Table::new(&heads);
    let is_mutant = |fault: &&Seeded| fault.name.starts_with(MUTANT);
    let is_of_token = |fault: &&Seeded| fault.name.starts_with(MUTANT_OF_TOKEN);
    type Which<'a> = &'a dyn Fn(&&Seeded) -> bool;
    let rows: [(&str, Which); 4] = [
        ("written by hand", &|fault| !is_mutant(fault)),
        ("mutants, evenly by kind of change", &|fault| is_mutant(fault) && !is_of_token(fault)),
        ("mutants, evenly by token", &is_of_token),
        ("all", &|_| true),
    ];
    for (what, which) in rows {
        let of_row: Vec<String> = faults.iter().filter(which).map(origin).collect();
        let mut cells = vec![what.to_owned(), of_row.len().to_string()];
        for missed in columns {
            let is_refused = |origin: &String| refused.iter().any(|(other, _)| other == origin);
            let hits = of_row.iter().filter(|o| !missed.contains(*o) && !is_refused(o)).count();
            let share = hits as f64 * 100.0 / of_row.len().max(1) as f64;
            cells.push(format!("{hits} ({share:.1} %)"));
        }
        table.row(cells);
    }
    let refused: String = refused.iter().map(|(_, why)| format!("- {why}\n")).collect();
    let refused = match refused.as_str() {
        "" => String::new(),
        list => format!("\nNot learned, which counts as missed:\n\n{list}"),
    };
    format!(
        "## Faults that nothing was tuned on\n\nFaults of `{FOLDER}`, written by hand or drawn by \
         mutation: how many have a right description, general\nor specific, within the first \
         three suggestions. A suggestion is right if it is one of the descriptions\nthat are derived \
         from the actual fix. *Transfer* asks with what is shipped, which knows nothing of these\n\
         programs; *leave one out* with all faults of all programs but the one; *the \
         same three* gives one list, which is right\nfor most of the known faults, for every \
         fault. \u{2020}: as if `{OFF_BY_ONE}` were no description.\n\n{table}{refused}"
    )
}

/// Who was missed, as `learn --evaluate` says it.
fn missed(said: &str) -> BTreeSet<String> {
    let lines = said.lines().filter_map(|line| line.trim().strip_prefix("missed: "));
    lines.filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
}

/// Scenarios in a file, less one description.
fn write(path: &Path, scenarios: &str, without: Option<&str>) -> Result<String> {
    let mut text = String::new();
    for line in scenarios.lines() {
        let mut scenario: Value = serde_json::from_str(line)?;
        if let Some(fixes) = scenario["fixes"].as_array_mut() {
            fixes.retain(|fix| fix.as_str() != without);
        }
        text += &format!("{scenario}\n");
    }
    fs::write(path, text)?;
    Ok(path.to_string_lossy().into_owned())
}
