//! Other analysers on the same units, for their processor time.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use base::Cancel;
use base::child::{self, Ending, Limits};

use crate::bench::obtain::Corpus;
use crate::bench::units::Unit;
use crate::bench::{parallel, subject};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Peer {
    /// clang-19 --analyze
    Clang,
    /// gcc -fanalyzer
    Gcc,
    /// cppcheck
    Cppcheck,
}

/// What a peer spent on a corpus.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    pub cpu: Duration,
    /// Units that were stopped at the limit of time or memory.
    pub n_stopped: usize,
}

/// Address space a peer may use for one unit, so that one unit does not stall the machine.
const MAX_MEMORY: u64 = 6 << 30;

/// Runs a peer on every unit, `jobs` at a time, each unit with a limit of processor time.
pub fn run(peer: Peer, corpus: &Corpus, jobs: usize, cpu_limit: Duration) -> Result<Spent> {
    let mut spent = Spent::default();
    let deadline = subject::PATIENCE * cpu_limit;
    let limits = Limits { deadline, stdout_cap: 0, stderr_cap: 0, ..Limits::default() };
    let outcomes = parallel::map(&corpus.units, jobs, |unit| {
        let command = command(peer, unit, &corpus.folder, cpu_limit)?;
        child::run(command, b"", &limits, &Cancel::new())
            .with_context(|| format!("{peer:?} on {}", unit.file))
    });
    for outcome in outcomes {
        let finished = outcome?;
        spent.cpu += finished.cpu;
        spent.n_stopped += usize::from(!matches!(finished.ending, Ending::Exited(_)));
    }
    Ok(spent)
}

fn command(peer: Peer, unit: &Unit, folder: &Path, cpu_limit: Duration) -> Result<Command> {
    let mut command = subject::limited(cpu_limit, Some(MAX_MEMORY))?;
    command.current_dir(folder);
    match peer {
        Peer::Clang => command
            .args(["clang-19", "--analyze", "-Xclang", "-analyzer-output=text", "-w"])
            .args(&unit.flags),
        Peer::Gcc => command.args(["gcc", "-fanalyzer", "-c", "-o", "/dev/null"]).args(&unit.flags),
        Peer::Cppcheck => command
            .args(["cppcheck", "--quiet", "--enable=warning"])
            .args(preprocessor_flags(&unit.flags)),
    };
    command.arg(&unit.file);
    Ok(command)
}

/// The flags that cppcheck shares with compilers.
fn preprocessor_flags(flags: &[String]) -> Vec<&String> {
    let mut kept = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if ["-D", "-U", "-I"].contains(&flag.as_str()) {
            kept.push(flag);
            kept.extend(flags.next());
        } else if ["-D", "-U", "-I"].iter().any(|start| flag.starts_with(start)) {
            kept.push(flag);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    #[test]
    fn cppcheck_gets_what_the_preprocessor_needs() {
        let flags = ["-O2", "-I", "include", "-DX=1", "-std=c99"].map(str::to_owned);
        assert_eq!(super::preprocessor_flags(&flags), ["-I", "include", "-DX=1"]);
    }
}
