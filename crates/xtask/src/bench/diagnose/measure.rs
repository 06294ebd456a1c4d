//! Runs the real `firstfault diagnose` on a faulty program, and looks where the right statement
//! and the right change stand in what it says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::subjects::Subject;

#[derive(Deserialize)]
pub struct Report {
    #[serde(default)]
    faults: Vec<Fault>,
    #[serde(default)]
    pub repairs: Vec<Repair>,
    #[serde(default)]
    stats: BTreeMap<String, serde_json::Value>,
}

/// What the statistics call the checks that each stage of abstract interpretation proves, and
/// those that are left.
pub const STAGES: [&str; 4] = [
    "checks proved by intervals",
    "checks proved by octagons",
    "checks proved by disjunctions",
    "checks left to search",
];

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(default)]
    steps: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
pub struct Repair {
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    line: u32,
    column: u32,
    old: String,
    new: String,
}

/// What runs, and how.
pub struct Tool {
    pub firstfault: PathBuf,
    /// CPU seconds after which a diagnosis is ended.
    pub cpu_limit: u32,
}

/// How one program fared; ranks from 1, 0 where there is none.
#[derive(Default)]
pub struct Measured {
    /// Nothing else makes sense where no property was found violated.
    pub is_violated: bool,
    /// The diagnosis was ended at [`Tool::cpu_limit`], or failed.
    pub is_cut: bool,
    /// The annotation library has the right change.
    pub is_known: bool,
    pub statement: usize,
    pub change: usize,
    pub with_tests: usize,
    /// Of the sliced error trace.
    pub n_steps: usize,
    pub seconds: f64,
    pub seconds_with_tests: f64,
    /// In the order of [`STAGES`].
    pub checks: [u64; 4],
}

pub fn measure(tool: &Tool, subject: &Subject, is_verbose: bool) -> Result<Measured> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("program.c"), &subject.faulty)?;
    let listed = report(tool, folder.path(), &["--list"])?;
    let is_known = listed.is_some_and(|(report, _)| rank_of(&report, subject) > 0);
    let Some((plain, seconds)) = report(tool, folder.path(), &["--top", "20"])? else {
        return Ok(Measured { is_known, is_cut: true, ..Measured::default() });
    };
    if plain.faults.is_empty() {
        return Ok(Measured { is_known, seconds, ..Measured::default() });
    }
    let n_tests = write_tests(subject, folder.path())?;
    let tested = match n_tests {
        0 => None,
        _ => report(tool, folder.path(), &["--top", "20", "--tests", "tests"])?,
    };
    let steps = plain.faults.iter().flat_map(|fault| fault.segments.first());
    let is_meant = |repair: &Repair| touches(repair, subject.line);
    let measured = Measured {
        is_violated: true,
        is_cut: n_tests > 0 && tested.is_none(),
        is_known,
        statement: plain.repairs.iter().position(is_meant).map_or(0, |at| at + 1),
        change: rank_of(&plain, subject),
        with_tests: tested.as_ref().map_or(0, |(report, _)| rank_of(report, subject)),
        n_steps: steps.map(|segment| segment.steps.len()).max().unwrap_or(0),
        seconds,
        seconds_with_tests: tested.as_ref().map_or(0.0, |(_, seconds)| *seconds),
        checks: STAGES.map(|name| plain.stats.get(name).and_then(|n| n.as_u64()).unwrap_or(0)),
    };
    if is_verbose && (measured.change != 1 || measured.with_tests != 1) {
        explain(subject, &plain, tested.as_ref().map(|(report, _)| report), &measured);
    }
    Ok(measured)
}

/// Whether a program violates a property as it should be: what is found in its mutants need not
/// be what was changed. One that takes too long is taken for right.
pub fn is_right_violating(tool: &Tool, subject: &Subject) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("program.c"), &subject.right)?;
    let found = report(tool, folder.path(), &["--top", "1"])?;
    Ok(found.is_some_and(|(report, _)| !report.faults.is_empty()))
}

fn explain(subject: &Subject, plain: &Report, tested: Option<&Report>, measured: &Measured) {
    let line =
        |text: &str| text.lines().nth(subject.line as usize - 1).unwrap_or("").trim().to_owned();
    let (wrong, right) = (line(&subject.faulty), line(&subject.right));
    eprintln!("{}: line {}: {wrong} -> {right}", subject.name, subject.line);
    for (name, report) in [("plain", Some(plain)), ("tests", tested)] {
        let Some(report) = report else { continue };
        for repair in report.repairs.iter().take(4) {
            for change in &repair.changes {
                eprintln!(
                    "    {name} {}:{} `{}` -> `{}`",
                    change.line, change.column, change.old, change.new
                );
            }
        }
    }
    let Measured { statement, change, with_tests, is_known, .. } = measured;
    eprintln!("    ranks {statement} {change} {with_tests}, in the library: {is_known}");
}

pub fn touches(repair: &Repair, line: u32) -> bool {
    repair.changes.iter().any(|change| change.line == line)
}

/// Where the change stands that makes the program right, counted from 1.
fn rank_of(report: &Report, subject: &Subject) -> usize {
    let is_right = |repair: &Repair| {
        let mut lines: Vec<String> = subject.faulty.lines().map(str::to_owned).collect();
        for change in &repair.changes {
            let Some(line) = lines.get_mut(change.line as usize - 1) else { return false };
            let at = change.column as usize - 1;
            match line.get(at..).and_then(|rest| rest.strip_prefix(change.old.as_str())) {
                Some(rest) => *line = format!("{}{}{rest}", &line[..at], change.new),
                None => return false,
            }
        }
        squeezed(&lines.join("\n")) == squeezed(&subject.right)
    };
    report.repairs.iter().position(is_right).map_or(0, |at| at + 1)
}

/// Blanks do not matter.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// What `firstfault diagnose` says, and its CPU seconds, compilers included; `None` where it
/// fails or takes more than [`Tool::cpu_limit`].
pub fn report(tool: &Tool, folder: &Path, more: &[&str]) -> Result<Option<(Report, f64)>> {
    let limit = tool.cpu_limit;
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "ulimit -t {limit}; \"$0\" \"$@\" 2>/dev/null; code=$?; times >&2; exit $code"
        ))
        .arg(&tool.firstfault)
        .args(["diagnose", "program.c", "--format", "json", "-j", "1"])
        .args(more)
        .current_dir(folder)
        .output()
        .context("cannot run firstfault")?;
    if !matches!(output.status.code(), Some(0 | 1 | 3)) {
        return Ok(None);
    }
    let report = serde_json::from_slice(&output.stdout).context("the report is no JSON")?;
    Ok(Some((report, cpu_seconds(&String::from_utf8_lossy(&output.stderr)))))
}

/// The children's line of the shell's `times`: `0m0.10s 0m0.02s`.
fn cpu_seconds(times: &str) -> f64 {
    let Some(line) = times.lines().last() else { return 0.0 };
    let one = |text: &str| {
        let (minutes, seconds) = text.split_once('m')?;
        let seconds: f64 = seconds.trim_end_matches('s').parse().ok()?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds)
    };
    line.split_whitespace().filter_map(one).sum()
}

/// Expected outputs are those of the right program.
fn write_tests(subject: &Subject, folder: &Path) -> Result<usize> {
    let tests = folder.join("tests");
    fs::create_dir(&tests)?;
    fs::write(folder.join("right.c"), &subject.right)?;
    let compiled = Command::new("clang-19")
        .args(["-w", "-O0", "-o", "right", "right.c"])
        .current_dir(folder)
        .output()
        .context("cannot run clang-19")?;
    if !compiled.status.success() {
        bail!("{} does not compile: {}", subject.name, String::from_utf8_lossy(&compiled.stderr));
    }
    for (index, test) in subject.tests.iter().enumerate() {
        let input = tests.join(format!("{index}.in"));
        fs::write(&input, &test.stdin)?;
        let output = Command::new("timeout")
            .arg("5")
            .arg(folder.join("right"))
            .args(&test.arguments)
            .stdin(fs::File::open(&input)?)
            .output()?;
        fs::write(tests.join(format!("{index}.out")), &output.stdout)?;
        fs::write(tests.join(format!("{index}.args")), test.arguments.join("\n"))?;
        if let Some(code) = output.status.code() {
            fs::write(tests.join(format!("{index}.exit")), code.to_string())?;
        }
    }
    Ok(subject.tests.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_childrens_seconds_are_summed() {
        assert!((cpu_seconds("0m0.00s 0m0.00s\n1m0.50s 0m0.25s\n") - 60.75).abs() < 1e-9);
    }

    #[test]
    fn the_right_change_is_found_by_what_the_program_becomes() {
        let subject = Subject {
            program: "p".to_owned(),
            name: "p".to_owned(),
            faulty: "int f(int n) {\n  return n <= 3;\n}\n".to_owned(),
            right: "int f(int n) {\n  return n < 3;\n}\n".to_owned(),
            line: 2,
            tests: Vec::new(),
        };
        let change = |column, old: &str, new: &str| Repair {
            changes: vec![Change { line: 2, column, old: old.to_owned(), new: new.to_owned() }],
        };
        let repairs = vec![change(15, "3", "2"), change(12, "<=", "<")];
        assert_eq!(
            rank_of(&Report { faults: Vec::new(), repairs, stats: BTreeMap::new() }, &subject),
            2
        );
    }
}
