//! `cargo xtask bench bugfix`: how often suggestions are right for faults that were not learned,
//! and what learning and asking cost with many scenarios.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Limits};
use clap::Args;

use super::table::Table;
use super::{by_program, origin, subject, unseen};
use crate::seed_knowledge::{LEARNED, Seeded, learn_all, learned, listed, seeded};

#[derive(Args)]
pub struct BugFix {
    /// Use the shipped knowledge base instead of learning all faults anew
    #[arg(long)]
    shipped: bool,
    /// Without the faults of bench/bugfix-unseen, and print only
    #[arg(long)]
    no_unseen: bool,
    /// Scenarios for the measurement of time
    #[arg(long, default_value_t = 5000)]
    scenarios: usize,
    /// Print only, and leave bench/results/bugfix.md as it is
    #[arg(long)]
    dry: bool,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
    /// Another firstfault to time, where the one that is run is no release build
    #[arg(long)]
    timed: Option<PathBuf>,
}

/// Runs of what is timed; the middle one counts.
const N_RUNS: usize = 5;

/// One in fifty of the scenarios that are learned.
const DEFAULT_SUPPORT: &str = "7";

pub fn run(root: &Path, options: &BugFix) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let scratch = tempfile::tempdir()?;
    let faults = seeded(&root.join(LEARNED))?;
    let knowledge = scratch.path().join("knowledge.db");
    let lines = if options.shipped {
        fs::read_to_string(root.join("crates/bugfix/knowledge/shipped.jsonl"))?
    } else {
        learn_all(&firstfault, &learned(root)?, &knowledge)?;
        listed(&firstfault, &knowledge)?
    };
    let list = scratch.path().join("scenarios.jsonl");
    fs::write(&list, &lines)?;
    let text = format!(
        "# BugFix: suggestions for faults that were not learned, and their cost\n\n\
         `cargo xtask bench bugfix{}`, {}.\n\n{}\n{}\n{}\n{}",
        if options.shipped { " --shipped" } else { "" },
        origin::commit_and_date(root),
        match options.no_unseen {
            true => String::new(),
            false => unseen::quality(root, &firstfault, &lines, scratch.path())?,
        },
        quality(&firstfault, &list, scratch.path())?,
        apart(&firstfault, &lines, scratch.path())?,
        cost(
            options.timed.as_deref().unwrap_or(&firstfault),
            &lines,
            &faults,
            options.scenarios,
            scratch.path()
        )?
    );
    println!("{text}");
    if !options.dry && !options.no_unseen {
        let path = root.join("bench/results/bugfix.md");
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

pub fn learn(firstfault: &Path, knowledge: &Path, args: &[&str]) -> Result<String> {
    let mut command = Command::new(firstfault);
    command.args(["learn", "--no-shipped", "--knowledge"]).arg(knowledge).args(args);
    let output = command.output()?;
    if !output.status.success() {
        bail!("learn {args:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn quality(firstfault: &Path, list: &Path, scratch: &Path) -> Result<String> {
    let base = scratch.join("quality.db");
    learn(firstfault, &base, &["--import", &list.to_string_lossy()])?;
    let header = [
        "left out",
        "rules",
        "scenarios",
        "first",
        "within 3",
        "within 5",
        "specific, within 3",
        "within 3, %",
    ];
    let mut table = Table::new(&header);
    for support in ["3", DEFAULT_SUPPORT, "12"] {
        let said = learn(firstfault, &base, &["--evaluate", "--support", support])?;
        for line in said.lines() {
            let Some((what, rest)) = line.split_once("-out: ") else { continue };
            let words = rest.split(|c: char| !c.is_ascii_digit()).filter(|w| !w.is_empty());
            let numbers: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
            let [n, first, _, three, _, five, _, specific] = numbers.as_slice() else {
                bail!("unexpected: {line}");
            };
            let share = format!("{:.1}", f64::from(*three) * 100.0 / f64::from((*n).max(1)));
            let what = what.trim_start_matches("leave-");
            let support = format!("support >= {support}");
            let cells = [n, first, three, five, specific].map(|number| number.to_string());
            let mut row = vec![format!("the {what}"), support];
            row.extend(cells);
            row.push(share);
            table.row(row);
        }
    }
    Ok(format!(
        "## The faults that are learned\n\nEach fault of `bench/bugfix`, written by hand or drawn by \
         mutation, on which descriptors, descriptions\nand the choice of less sure suggestions \
         were worked out, is asked about with the rules of the others:\nall but the one, or all but \
         those of its program. Less sure rules than 0.8 only make up three;\nsupport \
         {DEFAULT_SUPPORT} is the default with so many. *Specific*: a right description that at \
         most one fault in ten has.\n\n{table}\n"
    ))
}

fn apart(firstfault: &Path, lines: &str, scratch: &Path) -> Result<String> {
    let table = by_program::table(firstfault, lines, scratch)?;
    Ok(format!(
        "The same, leaving out the program, beside the three descriptions that are right for most of \
         the\nfaults of the other programs. For *specific*, these are the best three of those that \
         at most one\nfault in ten has.\n\n{table}\n"
    ))
}

/// Scenarios like the real ones: each a mixture of the descriptors of two.
fn many(lines: &str, n: usize) -> Result<String> {
    let real: Vec<serde_json::Value> =
        lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below.max(1)
    };
    let mut text = String::new();
    for number in 0..n {
        let (a, b) = (&real[random(real.len())], &real[random(real.len())]);
        let descriptors = |scenario: &serde_json::Value| {
            scenario["situation"].as_array().cloned().unwrap_or_default()
        };
        let mut situation: Vec<serde_json::Value> =
            descriptors(a).into_iter().filter(|_| random(10) < 8).collect();
        situation.extend(descriptors(b).into_iter().filter(|_| random(10) < 2));
        let origin = format!("made/{number}");
        let scenario =
            serde_json::json!({"origin": origin, "situation": situation, "fixes": a["fixes"]});
        text += &format!("{scenario}\n");
    }
    Ok(text)
}

/// What one run of firstfault took.
struct Times {
    cpu: Duration,
    wall: Duration,
}

fn cost(
    firstfault: &Path,
    lines: &str,
    faults: &[Seeded],
    n: usize,
    scratch: &Path,
) -> Result<String> {
    let list = scratch.join("many.jsonl");
    fs::write(&list, many(lines, n)?)?;
    let base = scratch.join("many.db");
    learn(firstfault, &base, &["--import", &list.to_string_lossy()])?;
    let (mut learned, mut asked) = (Vec::new(), Vec::new());
    for fault in faults.iter().step_by((faults.len() / N_RUNS).max(1)).take(N_RUNS) {
        let home = fault.written()?;
        let file = format!("{}.c", fault.program);
        let first = fault.faulty.lines().zip(fault.right.lines()).take_while(|(a, b)| a == b);
        let line = (first.count() + 1).to_string();
        let timed = |args: &[&str]| -> Result<Times> {
            let mut command = child::command(firstfault)?;
            command.args(args).arg("--no-shipped").arg("--knowledge").arg(&base);
            command.current_dir(home.path());
            let started = Instant::now();
            let ran = child::run(command, b"", &Limits::default(), &Cancel::default())?;
            let wall = started.elapsed();
            if !matches!(ran.ending, Ending::Exited(0 | 1)) {
                bail!("{args:?}: {}", String::from_utf8_lossy(&ran.stderr).trim());
            }
            Ok(Times { cpu: ran.cpu, wall })
        };
        let ask = timed(&["suggest", &file, "--line", &line])?;
        let learn = timed(&["learn", "--fixed-by", "fix.diff"])?;
        let ask_again = timed(&["suggest", &file, "--line", &line])?;
        let (cpu, wall) = (learn.cpu + ask_again.cpu, learn.wall + ask_again.wall);
        learned.push(Times { cpu, wall });
        asked.push(ask);
    }
    let heads = ["what", "CPU, ms", "worst", "wall clock, ms", "worst", "bar, ms"];
    let mut table = Table::new(&heads);
    let mut row = |what: &str, times: &[Times], bar: &str| {
        let mut cells = vec![what.to_owned()];
        for of in [|times: &Times| times.cpu, |times: &Times| times.wall] {
            let mut all: Vec<Duration> = times.iter().map(of).collect();
            all.sort();
            let milliseconds = |time: &Duration| format!("{:.0}", time.as_secs_f64() * 1000.0);
            cells.extend(all.get(all.len() / 2).into_iter().chain(all.last()).map(milliseconds));
        }
        cells.push(bar.to_owned());
        table.row(cells);
    };
    row("learn a scenario, and suggest with the rules derived anew", &learned, "2000");
    row("suggest for a statement", &asked, "50");
    Ok(format!(
        "## Cost\n\nWith {n} scenarios mixed from the real ones, whole processes from start to end, {N_RUNS} \
         statements each,\nthe median and the worst. The clock on the wall depends on what else the \
         machine does.\n\n{table}"
    ))
}
