//! `firstfault replay F3`: the real program, built with sanitizers, on the witness of a fault
//! of the last `check`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use base::Cancel;
use clap::Args;
use findings::{Fault, Findings, Level};
use run::{BuildOptions, Source};

use super::last::{self, LastInput};
use super::{Outcome, project};
use crate::args::{RunArgs, SandboxArgs};
use crate::replay::{Replayed, Replayer};

/// How long a run on a witness may take: a witness ends soon after its fault, or hangs.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct ReplayArgs {
    /// The fault, as the last report names it; all that have a witness where none is named
    #[arg(value_name = "F3")]
    faults: Vec<String>,
    /// A folder with a compile_commands.json or a captured build; what the last `check`
    /// analysed by default
    #[arg(short = 'p', long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Which program of the project; for a compile_commands.json, the file with its main
    #[arg(long, value_name = "PROG")]
    target: Option<String>,
    /// Seconds a run of the program may take
    #[arg(long, value_name = "SECONDS", default_value_t = TIME_LIMIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
    #[command(flatten)]
    sandbox: SandboxArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub fn run(args: &ReplayArgs, cancel: &Cancel) -> Result<Outcome> {
    let root = project::root(args.project.as_deref())?;
    let state = args.run.state.as_deref();
    let mut findings = last::read_kept(&root, state)?;
    let wanted = wanted(&findings, &args.faults)?;
    let options = match last::input(&root, state) {
        Some(LastInput::Files { files, flags }) if args.project.is_none() => {
            let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
            build_of_files(&files, &flags)
        }
        _ => {
            let folder = args.project.clone().unwrap_or_else(|| PathBuf::from("."));
            project::build_options(&folder, args.target.as_deref(), &args.run, cancel)?
        }
    };
    let time = Duration::from_secs(args.time_limit);
    let mut replayer = Replayer::new(options, time, args.sandbox.is_on(), cancel)?;
    let mut n_reproduced = 0;
    for index in &wanted {
        let fault = &mut findings.faults[*index];
        let replayed = replayer.replay(fault)?;
        print!("{}", told(fault, &replayed));
        if matches!(replayed, Replayed::Reproduced(_)) {
            n_reproduced += 1;
            fault.level = Level::Reproduced;
        }
    }
    println!("{n_reproduced} of {} reproduced", wanted.len());
    last::keep(&root, state, &findings);
    Ok(if n_reproduced > 0 { Outcome::Findings } else { Outcome::Clean })
}

/// The positions of the faults that are asked for.
fn wanted(findings: &Findings, names: &[String]) -> Result<Vec<usize>> {
    let has_witness = |fault: &Fault| fault.witness.is_some();
    if names.is_empty() {
        let all = findings.faults.iter().enumerate().filter(|(_, fault)| has_witness(fault));
        let all: Vec<usize> = all.map(|(index, _)| index).collect();
        if all.is_empty() {
            bail!("no fault of the last report has a witness; `firstfault check` finds them");
        }
        return Ok(all);
    }
    let mut wanted = Vec::new();
    for name in names {
        let Some(index) = findings.faults.iter().position(|fault| fault.id == *name) else {
            let known: Vec<&str> = findings.faults.iter().map(|f| f.id.as_str()).take(8).collect();
            bail!("the last report has no fault {name}; it has {}", known.join(", "));
        };
        if !has_witness(&findings.faults[index]) {
            bail!("{name} has no witness: it was found on a path, not by a run");
        }
        wanted.push(index);
    }
    Ok(wanted)
}

fn told(fault: &Fault, replayed: &Replayed) -> String {
    let place = &fault.place;
    let head =
        format!("{} {}:{}: {} [{}]\n", fault.id, place.file, place.line, fault.message, fault.rule);
    let command = fault.witness.as_ref().map(|witness| witness.told()).unwrap_or_default();
    let line = |seen: &report::sanitizer::Seen| match seen.stack.first() {
        Some(at) => format!("{} at {}:{}", seen.message, at.file, at.line),
        None => seen.message.clone(),
    };
    let verdict = match replayed {
        Replayed::Reproduced(seen) => format!("reproduced: {}", line(seen)),
        Replayed::Different(seen) => {
            format!("not reproduced: the compiled program does something else: {}", line(seen))
        }
        Replayed::Nothing(ending) => format!("not reproduced: the compiled program {ending}"),
        Replayed::NotRun(why) => format!("not run: {why}"),
    };
    format!("{head}  run with: {command}\n  {verdict}\n")
}

/// Replays every fault with a witness and raises the level of those that are reproduced; the
/// others keep theirs, and a notice says what the compiled program did.
pub fn replay_all(findings: &mut Findings, replayer: &mut Replayer<'_>) -> Result<()> {
    for fault in findings.faults.iter_mut().filter(|fault| fault.witness.is_some()) {
        let replayed = replayer.replay(fault)?;
        if matches!(replayed, Replayed::Reproduced(_)) {
            fault.level = Level::Reproduced;
        } else {
            findings.notices.push(findings::Notice {
                place: fault.place.clone(),
                message: told(fault, &replayed)
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
            });
        }
    }
    Ok(())
}

/// What to build for files given on the command line.
pub fn build_of_files(files: &[PathBuf], flags: &[String]) -> BuildOptions {
    let sources = files.iter().cloned().map(Source::File).collect();
    BuildOptions { sources, flags: flags.to_vec(), ..BuildOptions::default() }
}
