//! `cargo xtask bench diagnose`: how high the right statement and the right change rank.

mod configurations;
mod measure;
mod subjects;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::table::Table;
use super::{origin, subject};
use measure::{Measured, STAGES, Tool, is_right_violating, measure};
use subjects::Subject;

#[derive(Args)]
pub struct Diagnose {
    /// Only programs whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Mutants of bench/diagnose/subjects, up to so many of each, instead of the marked programs
    #[arg(long, value_name = "N")]
    mutants: Option<usize>,
    /// Mutants of the corrected marked programs, up to so many of each: to tune on
    #[arg(long, value_name = "N", conflicts_with = "mutants")]
    tuning: Option<usize>,
    /// Leave out the first so many mutants of each program: they were measured before
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: usize,
    /// The paper's four configurations instead of the default way
    #[arg(long)]
    configurations: bool,
    /// The firstfault to run; the release build of this repository by default
    #[arg(long)]
    firstfault: Option<PathBuf>,
    /// CPU seconds after which a diagnosis is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    cpu_limit: u32,
    /// Say what ranks before the right change
    #[arg(long)]
    verbose: bool,
}

pub fn run(root: &Path, options: &Diagnose) -> Result<()> {
    let firstfault = match &options.firstfault {
        Some(path) => std::path::absolute(path)?,
        None => subject::build(root)?,
    };
    let tool = Tool { firstfault, cpu_limit: options.cpu_limit };
    let folder = root.join("bench/diagnose");
    let mut subjects = match (options.mutants, options.tuning) {
        (Some(n), _) => subjects::mutants(&folder.join("subjects"), options.skip..n)?,
        (None, Some(n)) => subjects::tuning(&folder.join("programs"), options.skip..n)?,
        (None, None) => subjects::marked(&folder.join("programs"))?,
    };
    if let Some(only) = &options.only {
        subjects.retain(|subject| subject.name.contains(only.as_str()));
    }
    println!("{}\n", origin::commit_and_date(root));
    if options.configurations {
        let (table, sums) = configurations::measure(&tool, &subjects)?;
        println!("{table}\n{sums}");
        return Ok(());
    }
    let are_mutants = options.mutants.is_some() || options.tuning.is_some();
    if are_mutants {
        leave_out_violating(&tool, &mut subjects)?;
    }
    let mut all = Vec::new();
    for subject in &subjects {
        let measured = measure(&tool, subject, options.verbose)?;
        say_progress(subject, &measured);
        all.push((subject, measured));
    }
    if are_mutants {
        // Most mutants violate nothing that C forbids.
        let n_cut = all.iter().filter(|(_, m)| m.is_cut && !m.is_violated).count();
        println!("{} mutants; {n_cut} ended after {} CPU s. These", all.len(), tool.cpu_limit);
        println!("violate a property:\n");
        all.retain(|(_, measured)| measured.is_violated);
        println!("{}", by_program(&all));
    } else {
        println!("{}", each(&all));
    }
    println!("{}", summary(&all));
    Ok(())
}

/// Leaves out mutants of programs that violate a property as they should be.
fn leave_out_violating(tool: &Tool, subjects: &mut Vec<Subject>) -> Result<()> {
    let mut violating: Vec<String> = Vec::new();
    let mut known = "";
    for subject in subjects.iter() {
        if subject.program != known {
            let is_violating = is_right_violating(tool, subject)?;
            eprintln!(
                "{} as it should be: {}",
                subject.program,
                if is_violating { "violates" } else { "nothing found" }
            );
            violating.extend(is_violating.then(|| subject.program.clone()));
        }
        known = &subject.program;
    }
    for program in &violating {
        println!("{program} violates a property as it should be; its mutants are left out");
    }
    subjects.retain(|subject| !violating.contains(&subject.program));
    Ok(())
}

/// A table needs all rows: meanwhile, they are told one by one on standard error.
fn say_progress(subject: &Subject, measured: &Measured) {
    let Measured { is_violated, is_cut, seconds, seconds_with_tests, .. } = measured;
    let what = match (is_cut, is_violated) {
        (true, _) => "ended early",
        (false, true) => "violates",
        (false, false) => "nothing found",
    };
    let ranks = [measured.statement, measured.change, measured.with_tests].map(rank).join(" ");
    eprintln!("{}: {what}, {ranks}, {seconds:.2} + {seconds_with_tests:.2} s", subject.name);
}

fn rank(rank: usize) -> String {
    if rank == 0 { "-".to_owned() } else { rank.to_string() }
}

fn each(all: &[(&Subject, Measured)]) -> Table {
    let mut table = Table::new(&[
        "program",
        "lines",
        "steps",
        "statement",
        "change",
        "with tests",
        "CPU s",
        "CPU s with tests",
    ]);
    for (subject, measured) in all {
        table.row(vec![
            subject.name.clone(),
            subject.faulty.lines().filter(|line| !line.starts_with("//@")).count().to_string(),
            if measured.is_violated { measured.n_steps.to_string() } else { "none".to_owned() },
            rank(measured.statement),
            rank(measured.change),
            rank(measured.with_tests),
            format!("{:.2}", measured.seconds),
            format!("{:.2}", measured.seconds_with_tests),
        ]);
    }
    table
}

fn by_program(all: &[(&Subject, Measured)]) -> Table {
    let mut table = Table::new(&[
        "program",
        "mutants",
        "statement in 5",
        "in the library",
        "first",
        "in 3",
        "first with tests",
        "in 3 with tests",
        "slowest, CPU s",
    ]);
    let mut names: Vec<&str> = all.iter().map(|(subject, _)| subject.program.as_str()).collect();
    names.dedup();
    for name in names {
        let own = || all.iter().filter(|(s, _)| s.program == name).map(|(_, measured)| measured);
        let count = |wanted: &dyn Fn(&Measured) -> bool| own().filter(|m| wanted(m)).count();
        table.row(vec![
            name.to_owned(),
            own().count().to_string(),
            count(&|m| within(m.statement, 5)).to_string(),
            count(&|m| m.is_known).to_string(),
            count(&|m| within(m.change, 1)).to_string(),
            count(&|m| within(m.change, 3)).to_string(),
            count(&|m| within(m.with_tests, 1)).to_string(),
            count(&|m| within(m.with_tests, 3)).to_string(),
            format!("{:.2}", own().map(|m| m.seconds).fold(0.0, f64::max)),
        ]);
    }
    table
}

fn within(rank: usize, limit: usize) -> bool {
    rank > 0 && rank <= limit
}

/// What the bars are about. Changes count where the library has the right one.
fn summary(all: &[(&Subject, Measured)]) -> Table {
    let share = |is_counted: &dyn Fn(&Measured) -> bool, wanted: &dyn Fn(&Measured) -> bool| {
        let counted: Vec<&Measured> =
            all.iter().map(|(_, measured)| measured).filter(|m| is_counted(m)).collect();
        let count = counted.iter().filter(|measured| wanted(measured)).count();
        let percent = 100.0 * count as f64 / counted.len().max(1) as f64;
        format!("{count} of {} ({percent:.0} %)", counted.len())
    };
    let known = |wanted: &dyn Fn(&Measured) -> bool| share(&|m| m.is_known, wanted);
    let slowest = |steps: std::ops::RangeInclusive<usize>| {
        let chosen = all.iter().filter(|(_, m)| m.is_violated && steps.contains(&m.n_steps));
        let seconds: Vec<f64> =
            chosen.flat_map(|(_, m)| [m.seconds, m.seconds_with_tests]).collect();
        if seconds.is_empty() {
            return "no such trace".to_owned();
        }
        let slowest = seconds.iter().copied().fold(0.0, f64::max);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        format!("{slowest:.2} (mean {mean:.2}, {} runs)", seconds.len())
    };
    let mut table = Table::new(&["measured", "value"]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("violation found", share(&|_| true, &|m| m.is_violated));
    row("right statement in the first 5", share(&|_| true, &|m| within(m.statement, 5)));
    row("right change first, without tests", known(&|m| within(m.change, 1)));
    row("right change in the first 3, without tests", known(&|m| within(m.change, 3)));
    row("right change first, with five tests", known(&|m| within(m.with_tests, 1)));
    row("right change in the first 3, with five tests", known(&|m| within(m.with_tests, 3)));
    for (stage, name) in STAGES.iter().enumerate() {
        let n: u64 = all.iter().map(|(_, measured)| measured.checks[stage]).sum();
        row(name, n.to_string());
    }
    row("slowest, traces up to 100 steps, CPU s", slowest(0..=100));
    row("slowest, traces of 101 to 300 steps, CPU s", slowest(101..=300));
    row("slowest, longer traces, CPU s", slowest(301..=usize::MAX));
    table
}
