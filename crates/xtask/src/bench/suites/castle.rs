//! CASTLE: small programs, flawed and clean, counted as CASTLE counts.
//!
//! A flawed program is found when a report is on a flawed line, or is of its CWE, a child or a
//! direct parent of it; every other report, and every report in a clean program, is beside.
//! What is on a flawed line *and* of the CWE is counted apart: it is the stricter reading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::model::{Case, Collected};
use super::running::Reported;
use super::source;

#[derive(Debug, Deserialize)]
struct Dataset {
    cwes: BTreeMap<u32, Family>,
    tests: Vec<Test>,
}

/// Relatives, each as a record of one number and its name.
#[derive(Debug, Default, Deserialize)]
struct Family {
    #[serde(default)]
    parents: Vec<BTreeMap<u32, String>>,
    #[serde(default)]
    children: Vec<BTreeMap<u32, String>>,
}

#[derive(Debug, Deserialize)]
struct Test {
    name: String,
    cwe: u32,
    vulnerable: bool,
    #[serde(default)]
    lines: Vec<u32>,
}

/// What is right about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    pub cwe: u32,
    pub is_flawed: bool,
    pub lines: Vec<u32>,
    /// The CWE with its children and direct parents.
    pub accepted: Vec<u32>,
}

/// The programs, and the truth about each by its name.
pub fn collect(folder: &Path) -> Result<(Collected, BTreeMap<String, Truth>)> {
    let (list, programs) = base_of(folder)?;
    let text = std::fs::read_to_string(&list)
        .with_context(|| format!("cannot read {}", list.display()))?;
    let truths = truths(&text).with_context(|| format!("{}", list.display()))?;
    let mut collected = Collected::default();
    for name in truths.keys() {
        let Ok(source) = std::fs::read_to_string(programs.join(name)) else {
            collected.malformed.push(format!("{name}: no such program"));
            continue;
        };
        collected.cases.push(Case {
            name: name.clone(),
            folder: programs.clone(),
            files: vec![name.clone()],
            flags: Vec::new(),
            places: Vec::new(),
            functions: source::functions(&source),
            covered: Vec::new(),
            by_call: false,
        });
    }
    collected.finish();
    Ok((collected, truths))
}

fn base_of(folder: &Path) -> Result<(PathBuf, PathBuf)> {
    for base in ["datasets", "."] {
        let base = folder.join(base);
        if base.join("CASTLE-C250.json").is_file() {
            let base = base.canonicalize()?;
            return Ok((base.join("CASTLE-C250.json"), base.join("CASTLE-C250")));
        }
    }
    bail!("no datasets/CASTLE-C250.json in {}", folder.display())
}

fn truths(text: &str) -> Result<BTreeMap<String, Truth>> {
    let dataset: Dataset = serde_json::from_str(text).context("not the list of CASTLE")?;
    let mut truths = BTreeMap::new();
    for test in dataset.tests {
        let family = dataset
            .cwes
            .get(&test.cwe)
            .with_context(|| format!("{}: CWE {} is not described", test.name, test.cwe))?;
        if test.vulnerable && test.lines.is_empty() {
            bail!("{}: flawed, but without a line", test.name);
        }
        let relatives = family.parents.iter().chain(&family.children).flat_map(BTreeMap::keys);
        let accepted = std::iter::once(test.cwe).chain(relatives.copied()).collect();
        truths.insert(
            test.name,
            Truth { cwe: test.cwe, is_flawed: test.vulnerable, lines: test.lines, accepted },
        );
    }
    Ok(truths)
}

/// What is said of one program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub is_found: bool,
    /// Found by a report of the class that is on a flawed line.
    pub is_found_strictly: bool,
    pub n_beside: usize,
}

pub fn judge(truth: &Truth, name: &str, reported: &[Reported]) -> Verdict {
    let mut verdict = Verdict::default();
    for report in reported {
        let (on_line, of_class) = matches(truth, name, report);
        if truth.is_flawed && (on_line || of_class) {
            verdict.is_found = true;
            verdict.is_found_strictly |= on_line && of_class;
        } else {
            verdict.n_beside += 1;
        }
    }
    verdict
}

/// Whether a report is on a flawed line, and whether it is of the class.
pub fn matches(truth: &Truth, name: &str, report: &Reported) -> (bool, bool) {
    let on_line = report.file == name && truth.lines.contains(&report.line);
    (on_line, report.cwe.iter().any(|cwe| truth.accepted.contains(cwe)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(is_flawed: bool) -> Truth {
        let lines = if is_flawed { vec![20] } else { Vec::new() };
        Truth { cwe: 416, is_flawed, lines, accepted: vec![416, 672, 825] }
    }

    fn report(line: u32, cwe: u32) -> Reported {
        Reported { cwe: vec![cwe], file: "x.c".to_owned(), line, ..Reported::default() }
    }

    fn verdict(is_flawed: bool, reports: &[Reported]) -> (bool, bool, usize) {
        let verdict = judge(&truth(is_flawed), "x.c", reports);
        (verdict.is_found, verdict.is_found_strictly, verdict.n_beside)
    }

    #[test]
    fn the_line_or_the_class_is_enough_and_both_are_strict() {
        assert_eq!(verdict(true, &[report(20, 416)]), (true, true, 0));
        assert_eq!(verdict(true, &[report(3, 825)]), (true, false, 0));
        assert_eq!(verdict(true, &[report(20, 190)]), (true, false, 0));
        assert_eq!(verdict(true, &[report(20, 190), report(3, 416)]), (true, false, 0));
        assert_eq!(verdict(true, &[report(3, 190)]), (false, false, 1));
        let elsewhere = Reported { file: "y.c".to_owned(), ..report(20, 190) };
        assert_eq!(verdict(true, &[elsewhere]), (false, false, 1));
        assert_eq!(verdict(true, &[]), (false, false, 0));
    }

    #[test]
    fn every_report_in_a_clean_program_is_beside() {
        assert_eq!(verdict(false, &[report(20, 416), report(1, 1)]), (false, false, 2));
    }

    #[test]
    fn the_list_is_read_and_a_broken_one_is_told() {
        let text = r#"{"cwes": {"416": {"parents": [{"672": "a"}], "children": [{"9": "b"}]}},
            "tests": [{"name": "x.c", "cwe": 416, "vulnerable": true, "lines": [3]}]}"#;
        let truths = truths(text).unwrap();
        assert_eq!(truths["x.c"].accepted, [416, 672, 9]);
        assert!(super::truths(&text.replace("[3]", "[]")).is_err());
        assert!(super::truths(&text.replace("\"cwe\": 416", "\"cwe\": 7")).is_err());
        assert!(super::truths("{}").is_err());
        assert!(super::truths("").is_err());
    }
}
