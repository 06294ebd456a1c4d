//! Suggestions for the faults of a program when nothing was learned from it, beside one list of
//! three descriptions that is given for every fault.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use super::bugfix::learn;
use super::table::Table;
use crate::mutated::MUTANT;

/// A scenario's origin and its fixes.
pub type Described = (String, BTreeSet<String>);

/// A description that more than one scenario in so many has is general.
const FEW: usize = 10;

pub fn described(lines: &str) -> Result<Vec<Described>> {
    let mut found = Vec::new();
    for line in lines.lines() {
        let scenario: Value = serde_json::from_str(line)?;
        let fixes = scenario["fixes"].as_array().into_iter().flatten();
        let fixes = fixes.filter_map(|fix| fix.as_str().map(str::to_owned)).collect();
        found.push((scenario["origin"].as_str().unwrap_or("").to_owned(), fixes));
    }
    Ok(found)
}

/// The descriptions that are right for most when given for everything: what any method has to be
/// compared with.
pub fn same_three(known: &[Described]) -> Vec<String> {
    same_three_of(known, known.len())
}

/// The same of descriptions that at most so many have.
fn same_three_of(known: &[Described], at_most: usize) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    known.iter().flat_map(|(_, fixes)| fixes).for_each(|fix| *counts.entry(fix).or_default() += 1);
    let mut chosen: Vec<String> = Vec::new();
    for _ in 0..3 {
        let is_open =
            |fixes: &BTreeSet<String>| !chosen.iter().any(|fix: &String| fixes.contains(fix));
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        let open = known.iter().filter(|(_, fixes)| is_open(fixes)).flat_map(|(_, fixes)| fixes);
        let few = open.filter(|fix| counts[fix.as_str()] <= at_most);
        few.for_each(|fix| *left.entry(fix).or_default() += 1);
        chosen.extend(left.iter().max_by_key(|(_, n)| **n).map(|(fix, _)| (*fix).to_owned()));
    }
    chosen
}

/// For how many faults a list is right with its first, and with any.
fn right(list: &[String], asked: &[Described]) -> [usize; 2] {
    let count = |list: &[String]| {
        asked.iter().filter(|(_, fixes)| list.iter().any(|fix| fixes.contains(fix))).count()
    };
    [count(&list[..list.len().min(1)]), count(list)]
}

/// A table over all programs of some scenarios.
pub fn table(firstfault: &Path, lines: &str, scratch: &Path) -> Result<String> {
    let program = |line: &&str| -> Result<String> {
        let scenario: Value = serde_json::from_str(line)?;
        let origin = scenario["origin"].as_str().unwrap_or("");
        Ok(origin.split('/').next().unwrap_or("").to_owned())
    };
    let of = lines.lines().map(|line| Ok((program(&line)?, line))).collect::<Result<Vec<_>>>()?;
    let programs: BTreeSet<&String> = of.iter().map(|(program, _)| program).collect();
    // By hand and by mutation: faults; suggestions first, within 3, specific; the list the same.
    let mut sums = [[0usize; 7]; 2];
    for program in programs {
        let joined = |is_wanted: &dyn Fn(&String, &str) -> bool| -> String {
            let wanted = of.iter().filter(|(program, line)| is_wanted(program, line));
            wanted.map(|(_, line)| format!("{line}\n")).collect()
        };
        let known = joined(&|other, _| other != program);
        let list = scratch.join("others.jsonl");
        fs::write(&list, &known)?;
        let base = scratch.join(format!("without-{program}.db"));
        learn(firstfault, &base, &["--import", &list.to_string_lossy()])?;
        let known = described(&known)?;
        for (sums, is_mutant) in sums.iter_mut().zip([false, true]) {
            let mutant = format!("/{MUTANT}");
            let asked =
                joined(&|other, line| other == program && line.contains(&mutant) == is_mutant);
            let file = scratch.join("of-program.jsonl");
            fs::write(&file, &asked)?;
            let said = learn(firstfault, &base, &["--evaluate", &file.to_string_lossy()])?;
            let numbers: Vec<usize> = said
                .lines()
                .next()
                .unwrap_or("")
                .split([' ', ',', ';'])
                .filter_map(|word| word.parse().ok())
                .collect();
            let [n, first, _, three, _, _, _, specific] = numbers.as_slice() else {
                bail!("unexpected: {said}");
            };
            let asked = described(&asked)?;
            let [same_first, same] = right(&same_three(&known), &asked);
            let [_, few] = right(&same_three_of(&known, known.len() / FEW), &asked);
            let counts = [*n, *first, *three, *specific, same_first, same, few];
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let heads = ["", "faults", "first", "within 3", "specific, within 3"];
    let mut table = Table::new(&heads);
    for (what, [n, first, three, specific, same_first, same, few]) in
        ["written by hand", "mutants, evenly by kind of change"].into_iter().zip(sums)
    {
        let share =
            |count: usize| format!("{count} ({:.1} %)", count as f64 * 100.0 / n.max(1) as f64);
        let mut row = |what: String, counts: [usize; 3]| {
            table.row([what, n.to_string()].into_iter().chain(counts.map(share)).collect());
        };
        row(format!("{what}: suggestions"), [first, three, specific]);
        row(format!("{what}: the same three"), [same_first, same, few]);
    }
    Ok(table.to_string())
}
