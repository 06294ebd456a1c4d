//! `cargo xtask bench cases`: the open sets of `bench/cases`, or any other set in the same
//! form: faults found, corrected twins hit, edges, ranks, first corruptions, and what it
//! costs, beside other tools.
//!
//! A row is printed when its case is done, an answer is kept as soon as it is there
//! (`--resume`), and scoring is always done anew. `bench/cases/README.md` tells of the sets.

mod dynamic;
mod edges;
mod micro;
mod ours;
mod page;
mod parts;
mod peer_rules;
mod peers;
mod ranks;
mod result;
mod said;
mod sanitizers;
mod score;
mod state;
mod tables;
mod truth;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use super::tool::{Tool, ToolArgs};
use super::{parallel, scratch};
use parts::{Case, Part, Subject, Task};
use peers::Peer;
use result::{Column, Measured, Scored};
use said::Said;
use state::State;

#[derive(Args)]
pub struct Cases {
    #[command(flatten)]
    tool: ToolArgs,
    /// Only these parts: static-a, static-b, long, correlation, crash, threads, beliefs, micro-found,
    /// micro-silent, micro-crash, micro-beliefs, or the start of a name: static, micro
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    part: Vec<String>,
    /// Only this case
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// Another set in the same form, or a folder of sets, instead of bench/cases
    #[arg(long, value_name = "DIR")]
    set: Option<PathBuf>,
    /// The ways of running `check`: check (as it is by default), static, explore, or
    /// NAME=OPTIONS; all three if this firstfault knows --engine
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    columns: Vec<String>,
    /// Run every column that searches by running with each of these seeds
    #[arg(long, value_name = "N", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// Also run the compiled programs on the inputs that were found, and count the differences
    #[arg(long)]
    replay: bool,
    /// Other tools on the same programs, too
    #[arg(long)]
    peers: bool,
    /// Go on where an earlier run of the same firstfault and options stopped
    #[arg(long)]
    resume: bool,
    /// Keep firstfault's reports in DIR/COLUMN/PART, as score.py reads them
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write bench/results/cases.md and the figures of the ledger; for all of the open sets
    #[arg(long, conflicts_with_all = ["part", "case", "set"])]
    write: bool,
    /// Seconds of processor time for one program
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    cpu_limit: u64,
    #[arg(short = 'j', long, default_value_t = 2)]
    jobs: usize,
}

/// A tool, as one column of the tables.
enum Asked {
    Ours(ours::Options),
    Peer(Peer),
}

impl Asked {
    fn name(&self) -> &str {
        match self {
            Asked::Ours(options) => &options.name,
            Asked::Peer(peer) => peer.name(),
        }
    }
}

pub fn run(root: &Path, options: &Cases) -> Result<()> {
    let open = root.join("bench/cases");
    let parts = selected(parts::of_folder(options.set.as_deref().unwrap_or(&open))?, options)?;
    let tool = options.tool.tool(root)?;
    let abilities = ours::Abilities::of(&tool.path)?;
    let ours = ours::columns(&options.columns, &options.seeds, options.replay, abilities)?;
    let mut peers = Vec::new();
    for peer in Peer::ALL.into_iter().filter(|_| options.peers) {
        match peer.missing() {
            Some(why) => eprintln!("bench cases: without {}: {why}", peer.name()),
            None => peers.push(peer),
        }
    }
    let state = State::open(&scratch().join("cases/answers.jsonl"), options.resume)?;
    let session = Session { options, identity: identity(&tool)?, tool, state };
    let mut measured = Vec::new();
    for part in &parts {
        let of_part = session.measure(part, &ours, &peers)?;
        print!("\n{}", tables::of_part(&of_part));
        std::io::stdout().flush()?;
        measured.push(of_part);
    }
    if options.write {
        let date = super::ledger::today(root);
        let text = page::text(&options.command(), &session.tool, &date, &peers, &measured);
        let path = root.join("bench/results/cases.md");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        let entries = page::entries(&options.command(), &session.tool, &date, &measured);
        super::ledger::record(root, entries)?;
    }
    Ok(())
}

/// The parts and the case that were asked for.
fn selected(parts: Vec<Part>, options: &Cases) -> Result<Vec<Part>> {
    let is_named = |name: &str, asked: &String| {
        name == asked || name.strip_prefix(asked.as_str()).is_some_and(|rest| rest.starts_with('-'))
    };
    let names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    if let Some(unknown) =
        options.part.iter().find(|asked| !names.iter().any(|name| is_named(name, asked)))
    {
        bail!("no part is named {unknown}; there are {}", names.join(", "));
    }
    let mut chosen: Vec<Part> = parts
        .into_iter()
        .filter(|part| {
            options.part.is_empty() || options.part.iter().any(|asked| is_named(&part.name, asked))
        })
        .collect();
    if let Some(wanted) = &options.case {
        for part in &mut chosen {
            part.cases.retain(|case| case.name() == wanted);
        }
        chosen.retain(|part| !part.cases.is_empty());
        ensure!(!chosen.is_empty(), "no case is named {wanted} in {}", names.join(", "));
    }
    Ok(chosen)
}

/// What tells this firstfault from another: an uncommitted change makes another executable.
fn identity(tool: &Tool) -> Result<String> {
    let about = || format!("cannot read {}", tool.path.display());
    let metadata = std::fs::metadata(&tool.path).with_context(about)?;
    let age = metadata.modified().with_context(about)?.duration_since(std::time::UNIX_EPOCH)?;
    Ok(format!("{} {} {}", tool.commit, metadata.len(), age.as_secs()))
}

struct Session<'a> {
    options: &'a Cases,
    tool: Tool,
    identity: String,
    state: State,
}

impl Session<'_> {
    fn measure(&self, part: &Part, ours: &[ours::Options], peers: &[Peer]) -> Result<Measured> {
        let subjects: Vec<Subject> = part.cases.iter().flat_map(Case::subjects).collect();
        let is_checked = subjects.iter().any(|s| matches!(s.task, Task::Check { .. }));
        let mut asked: Vec<Asked> = if is_checked {
            ours.iter().cloned().map(Asked::Ours).collect()
        } else {
            // `crash` and `beliefs` have no engines to choose from.
            let name = "firstfault".to_owned();
            let base = name.clone();
            vec![Asked::Ours(ours::Options { name, base, options: Vec::new(), replays: false })]
        };
        let applying = |peer: &&Peer| subjects.iter().any(|subject| peer.applies(subject));
        asked.extend(peers.iter().filter(applying).map(|peer| Asked::Peer(*peer)));
        let rows = parallel::map(&part.cases, self.options.jobs, |case| {
            let row = self.row(part, case, &asked);
            if let Ok(row) = &row {
                println!("{}", shown(part, case, &asked, row));
                // A row that cannot be shown is still counted.
                let _ = std::io::stdout().flush();
            }
            row.with_context(|| format!("{} {}", part.name, case.name()))
        });
        let rows: Vec<Vec<Scored>> = rows.into_iter().collect::<Result<_>>()?;
        let columns = asked.iter().enumerate().map(|(index, asked)| {
            let (base, is_ours, replays) = match asked {
                Asked::Ours(options) => (options.base.clone(), true, options.replays),
                Asked::Peer(peer) => (peer.name().to_owned(), false, false),
            };
            let scored = rows.iter().map(|row| row[index].clone()).collect();
            Column { name: asked.name().to_owned(), base, is_ours, replays, scored }
        });
        Ok(Measured { part: part.name.clone(), columns: columns.collect() })
    }

    /// A case as every tool has it.
    fn row(&self, part: &Part, case: &Case, asked: &[Asked]) -> Result<Vec<Scored>> {
        let subjects = case.subjects();
        let of_tool = |asked: &Asked| {
            let said: Vec<Said> = subjects
                .iter()
                .map(|subject| self.answer(part, subject, asked))
                .collect::<Result<_>>()?;
            Ok(result::scored(case, &said))
        };
        asked.iter().map(of_tool).collect()
    }

    fn answer(&self, part: &Part, subject: &Subject, asked: &Asked) -> Result<Said> {
        let cpu_limit = Duration::from_secs(self.options.cpu_limit);
        match asked {
            Asked::Ours(column) => {
                let keep = self.options.keep.as_ref();
                let keep = keep.map(|folder| folder.join(&column.name).join(&part.name));
                let about = format!("{} {:?} {cpu_limit:?}", self.identity, column.options);
                let ask = || {
                    let program = (part.folder.as_path(), subject);
                    let limits = (cpu_limit, keep.as_deref());
                    ours::ask(&self.tool.path, &column.options, program, limits)
                };
                // A kept answer has no report to keep.
                if keep.is_some() {
                    return ask();
                }
                self.state.answer(&state::key(&about, part, subject)?, ask)
            }
            Asked::Peer(peer) if !peer.applies(subject) => Ok(Said::default()),
            Asked::Peer(peer) => {
                let about = format!("{} {cpu_limit:?}", peer.identity());
                let key = state::key(&about, part, subject)?;
                self.state.answer(&key, || peer.ask(&part.folder, subject, cpu_limit))
            }
        }
    }
}

/// The row of a case, and how our misses ended.
fn shown(part: &Part, case: &Case, asked: &[Asked], row: &[Scored]) -> String {
    let each: Vec<String> = asked
        .iter()
        .zip(row)
        .map(|(asked, scored)| format!("{}: {}", asked.name(), scored.score.short()))
        .collect();
    let mut text = format!("{} {} | {}", part.name, case.name(), each.join(" | "));
    for (asked, scored) in asked.iter().zip(row) {
        if matches!(asked, Asked::Ours(_)) {
            for missed in scored.score.missed() {
                text += &format!("\n    {}, {missed}", asked.name());
            }
        }
    }
    text
}

impl Cases {
    /// The command as it has to be repeated.
    fn command(&self) -> String {
        let mut words = vec!["cargo xtask bench cases".to_owned()];
        if !self.columns.is_empty() {
            let columns = self.columns.join(",");
            let quoted = shlex::try_quote(&columns).map_or(columns.clone(), |q| q.into_owned());
            words.push(format!("--columns {quoted}"));
        }
        if !self.seeds.is_empty() {
            let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
            words.push(format!("--seeds {}", seeds.join(",")));
        }
        words.extend(self.replay.then(|| "--replay".to_owned()));
        words.extend(self.peers.then(|| "--peers".to_owned()));
        words.join(" ")
    }
}
