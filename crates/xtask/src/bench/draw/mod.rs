//! `cargo xtask bench draw`: fresh code without end. Draws source packages of Debian that nobody
//! working on firstfault has looked at, checks them, and writes sheets on which a reader judges
//! what was reported. A package counts only for its first reading.
//!
//!     cargo xtask bench draw --seed 3 --build-deps install     # draws, checks, writes sheets
//!     (judge: fill in SCRATCH/NNN/sheets/PACKAGE/TOOL.toml)
//!     cargo xtask bench draw --draw 003 --collect              # verdicts to bench/draws/003.toml
//!     cargo xtask bench draw --report                          # precision over all draws

mod again;
mod apt;
mod build;
mod drawn;
mod finding;
mod package;
mod peers;
mod precision;
mod sheet;
mod size;
mod sources;
mod verdicts;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use self::apt::Apt;
use self::drawn::Drawn;
use self::package::{Outcome, Place, Prepared};
use self::sources::Source;
use self::verdicts::{Failed, Judged, Verdict};
use super::tool::ToolArgs;
use super::{ledger, parallel};

#[derive(Args)]
pub struct Draw {
    #[command(flatten)]
    tool: ToolArgs,
    /// Which packages come, and which of their findings are judged
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The draw's name; an interrupted one goes on. The next free number by default
    #[arg(long, value_name = "NNN")]
    draw: Option<String>,
    /// How many packages to draw
    #[arg(short = 'n', long, default_value_t = 10)]
    packages: usize,
    /// Where sources, reports and sheets go; `draw` in the benchmarks' scratch folder by default
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// `install` runs `apt-get build-dep`, which needs root and installs packages on this machine;
    /// with `none`, packages whose build dependencies are missing are passed over
    #[arg(long, default_value = "none")]
    build_deps: BuildDeps,
    /// Pass over packages that need more new packages than this to be built
    #[arg(long, value_name = "N", default_value_t = 120)]
    max_dependencies: usize,
    /// Pass over packages whose build dependencies take more disk than this
    #[arg(long, value_name = "MB", default_value_t = 300)]
    max_megabytes: u64,
    /// Debian's mirror
    #[arg(long, value_name = "URL", default_value = "http://deb.debian.org/debian")]
    mirror: String,
    /// Debian's suite; the one this machine runs by default
    #[arg(long)]
    suite: Option<String>,
    /// Findings of firstfault to judge for each package
    #[arg(long, value_name = "N", default_value_t = 12)]
    findings: usize,
    /// Findings of each other tool to judge for each package
    #[arg(long, value_name = "N", default_value_t = 6)]
    peer_findings: usize,
    /// Deviations from beliefs to judge for each package, the first ones
    #[arg(long, value_name = "N", default_value_t = 10)]
    deviations: usize,
    /// Do not run other tools now; a later run of the same draw does
    #[arg(long)]
    no_peers: bool,
    /// Processor time for a package's build
    #[arg(long, value_name = "SECONDS", default_value_t = 1200)]
    build_cpu: u64,
    /// Processor time for `check`, and for `beliefs`
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    check_cpu: u64,
    /// Processor time of another tool for one unit
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    peer_cpu: u64,
    /// Threads to use
    #[arg(short, long, default_value_t = 2)]
    jobs: usize,
    /// Draw nothing: bring the verdicts of a judged draw into bench/draws/NNN.toml
    #[arg(long, requires = "draw", conflicts_with = "report")]
    collect: bool,
    /// Draw nothing: precision over all draws, bench/results/draws.md and the ledger
    #[arg(long)]
    report: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BuildDeps {
    Install,
    None,
}

pub fn run(root: &Path, options: &Draw) -> Result<()> {
    if options.report {
        return precision::run(root);
    }
    let scratch = options.scratch.clone().unwrap_or_else(|| super::scratch().join("draw"));
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("cannot create {}", scratch.display()))?;
    let scratch = scratch.canonicalize()?;
    match &options.draw {
        Some(name) if options.collect => collect(root, name, &scratch.join(name)),
        _ => draw(root, &scratch, options),
    }
}

fn draw(root: &Path, scratch: &Path, options: &Draw) -> Result<()> {
    let name = match &options.draw {
        Some(name) if name.chars().all(|c| c.is_ascii_alphanumeric()) => name.clone(),
        Some(name) => bail!("{name} is no name of a draw; letters and digits are"),
        None => next_name(&verdicts::all(root)?),
    };
    let path = verdicts::path(root, &name);
    let tool = options.tool.tool(root)?;
    let folder = scratch.join(&name);
    std::fs::create_dir_all(&folder)?;
    let suite = options.suite.clone().map_or_else(suite_here, Ok)?;
    let mut drawn = Drawn::load(root)?;
    let apt = Apt::open(&scratch.join("apt"), &options.mirror, &suite)?;
    let sources = apt.sources()?;
    let mut draw = if path.exists() { verdicts::load(&path)? } else { Default::default() };
    if draw.date.is_empty() {
        draw.seed = options.seed;
        draw.date = ledger::today(root);
        draw.commit = tool.commit.clone();
        draw.suite = suite;
        draw.n_candidates = sources.iter().filter(|source| source.can_be_drawn()).count();
    }
    if (draw.seed, &draw.commit) != (options.seed, &tool.commit) {
        bail!(
            "{} was begun with seed {} at {}; finish it so, or begin another",
            path.display(),
            draw.seed,
            draw.commit
        );
    }
    println!("draw {name}, seed {}, {}", draw.seed, draw.commit);
    let place_of = |name: &str| Place { folder: folder.join("packages").join(name) };
    for package in &draw.packages {
        println!("{}", row(package));
        let place = place_of(&package.name);
        if let Err(error) = again::bring_back(&apt, &sources, package, &place, &tool, options) {
            eprintln!("{}: left out: {error:#}", package.name);
        }
    }
    let mut passed = Passed::load(&folder.join("passed.txt"))?;
    let mut gone = drawn.names();
    gone.extend(draw.failed.iter().map(|failed| failed.name.clone()));
    gone.extend(passed.names.keys().cloned());
    let place = |source: &Source| place_of(&source.name);
    let order = sources::in_order(&sources, draw.seed, &gone);
    'draw: for batch in order.chunks(BATCH) {
        if draw.packages.len() >= options.packages {
            break;
        }
        let prepared = parallel::map(batch, BATCH / 2, |source| {
            package::prepare(&apt, source, &place(source))
        });
        for (source, prepared) in batch.iter().zip(prepared) {
            if draw.packages.len() >= options.packages {
                break 'draw;
            }
            let outcome = match prepared? {
                Prepared::Wanted => package::take(&apt, source, &place(source), &tool, options)?,
                Prepared::Broken(reason) => Outcome::Failed { stage: "source", reason },
                Prepared::Unwanted => {
                    passed.add(&source.name, "unwanted")?;
                    continue;
                }
                Prepared::Unavailable => {
                    passed.add(&source.name, "unavailable")?;
                    continue;
                }
            };
            draw.n_unwanted = passed.count("unwanted");
            draw.n_unavailable = passed.count("unavailable");
            let (name_of, version) = (&source.name, &source.version);
            match outcome {
                Outcome::Failed { stage, reason } => {
                    println!("{name_of} {version}: {stage}: {reason}");
                    // What the limits pass over was not looked at, and stays to be drawn.
                    if stage != "dependencies" {
                        drawn.add(name_of, version, &name, stage)?;
                    }
                    let (name, version, stage) = (name_of.clone(), version.clone(), stage.into());
                    draw.failed.push(Failed { name, version, stage, reason });
                    verdicts::write(&path, &draw)?;
                }
                Outcome::Done(package) => {
                    println!("{}", row(&package));
                    drawn.add(name_of, version, &name, "checked")?;
                    draw.packages.push(package);
                    verdicts::write(&path, &draw)?;
                    sheets(&folder, &draw, options)?;
                }
            }
        }
    }
    if draw.packages.len() < options.packages {
        bail!("only {} packages are left to draw", draw.packages.len());
    }
    if !options.no_peers {
        for index in 0..draw.packages.len() {
            let mut package = draw.packages[index].clone();
            let place = place_of(&package.name);
            if !place.is_built() {
                continue;
            }
            for peer in peers::ALL {
                package::ask_peer(peer, &place, options, &mut package)
                    .with_context(|| format!("{} on {}", peer.name(), package.name))?;
            }
            println!("{}", row(&package));
            draw.packages[index] = package;
            verdicts::write(&path, &draw)?;
        }
    }
    sheets(&folder, &draw, options)?;
    println!("judge by {}", folder.join("sheets/README.md").display());
    Ok(())
}

/// How many packages are brought at a time.
const BATCH: usize = 16;

/// Packages that were passed over in this draw, so that going on does not bring them again.
struct Passed {
    path: PathBuf,
    names: BTreeMap<String, String>,
}

impl Passed {
    fn load(path: &Path) -> Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let words =
            |line: &str| line.split_once(' ').map(|(n, why)| (n.to_owned(), why.to_owned()));
        Ok(Self { path: path.to_owned(), names: text.lines().filter_map(words).collect() })
    }

    fn add(&mut self, name: &str, why: &str) -> Result<()> {
        self.names.insert(name.to_owned(), why.to_owned());
        let lines: Vec<String> =
            self.names.iter().map(|(name, why)| format!("{name} {why}\n")).collect();
        std::fs::write(&self.path, lines.concat())
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn count(&self, why: &str) -> usize {
        self.names.values().filter(|value| *value == why).count()
    }
}

fn row(package: &verdicts::Package) -> String {
    let mut row = format!(
        "{} {}: {} units, {} lines",
        package.name, package.version, package.units, package.lines
    );
    for (tool, n) in &package.reports {
        let cpu = package.cpu_seconds.get(tool).copied().unwrap_or(0);
        let _ = write!(row, "; {tool} {n} in {cpu} s");
    }
    row
}

fn next_name(draws: &[(String, verdicts::Draw)]) -> String {
    let last = draws.iter().filter_map(|(name, _)| name.parse::<u32>().ok()).max().unwrap_or(0);
    format!("{:03}", last + 1)
}

/// The suite of the machine, by its own word.
fn suite_here() -> Result<String> {
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let suite = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let suite = suite.map(|name| name.trim_matches('"').to_owned());
    suite.context("this machine does not say which suite of Debian it runs; see --suite")
}

/// Sheets and templates of all packages, and how to use them.
fn sheets(folder: &Path, draw: &verdicts::Draw, options: &Draw) -> Result<()> {
    let sheets = folder.join("sheets");
    std::fs::create_dir_all(&sheets)
        .with_context(|| format!("cannot create {}", sheets.display()))?;
    let mut lines = String::new();
    for package in &draw.packages {
        let place = Place { folder: folder.join("packages").join(&package.name) };
        if !place.is_built() {
            continue;
        }
        let folder = sheets.join(&package.name);
        let tree = place.tree()?;
        for tool in package.reports.keys() {
            // What could not be brought back keeps the verdicts it has.
            if !place.report(tool).exists() {
                continue;
            }
            let all = finding::read(&place.report(tool))?;
            let chosen = match tool.as_str() {
                "beliefs" => all.iter().take(options.deviations).cloned().collect(),
                "firstfault" => finding::choose(&all, &package.name, draw.seed, options.findings),
                _ => finding::choose(&all, &package.name, draw.seed, options.peer_findings),
            };
            let subject = sheet::Subject {
                package: &package.name,
                version: &package.version,
                tool,
                tree: &tree,
            };
            let n_open = sheet::write(&folder, &subject, &chosen, &draw.findings)?;
            if n_open == 0 {
                continue;
            }
            let _ = writeln!(
                lines,
                "- `{0}/{tool}.md`, {1} of {2}, {n_open} not judged yet, verdicts to \
                 `{0}/{tool}.toml`",
                package.name,
                chosen.len(),
                all.len()
            );
        }
    }
    std::fs::write(sheets.join("README.md"), format!("{HOW_TO_JUDGE}\n{lines}"))
        .with_context(|| format!("cannot write to {}", sheets.display()))
}

const HOW_TO_JUDGE: &str = "\
# How to judge

Each `TOOL.md` shows findings with the source around their steps; the whole source lies where its
head says. Read the source, not the rule, and fill in `TOOL.toml` beside it:

- `verdict = \"true\"`: it can happen. `input` says what makes it happen: an input of the program, or
  a sequence of calls of the library's interface. Failing allocations and calls of the system count.
- `verdict = \"false\"`: it cannot. `cause` is one of those listed in the template, `why` the reason.
- `verdict = \"unclear\"`: it could not be decided in reasonable time; `why` says what is missing.

For `beliefs`, true means that the code contradicts itself or its own habit there, whether or not
that can do harm; needless tests count. `input` then says what the contradiction is.

`cargo xtask bench draw --draw NNN --collect` checks what was filled in and brings it into
`bench/draws/NNN.toml`; what has no verdict yet is left for later.
";

/// Brings verdicts from the templates of a draw into its file.
fn collect(root: &Path, name: &str, folder: &Path) -> Result<()> {
    let path = verdicts::path(root, name);
    let mut draw = verdicts::load(&path)?;
    let mut n_open = 0;
    let mut findings = Vec::new();
    let known: BTreeMap<_, &Judged> = draw.findings.iter().map(|f| (f.key(), f)).collect();
    for package in &draw.packages {
        for tool in package.reports.keys() {
            let place = folder.join("sheets").join(&package.name).join(format!("{tool}.toml"));
            if !place.exists() {
                // All of it was judged before.
                let is_its = |f: &&Judged| (&f.package, &f.tool) == (&package.name, tool);
                findings.extend(draw.findings.iter().filter(is_its).cloned());
                continue;
            }
            for finding in verdicts::template(&place)?.findings {
                if finding.verdict != Verdict::Open {
                    findings.push(finding);
                } else if let Some(old) = known.get(&finding.key()) {
                    // What was read once counts, even if the tool says something else now.
                    findings.push((*old).clone());
                } else {
                    n_open += 1;
                }
            }
        }
    }
    findings.sort();
    println!("{} judged, {n_open} not yet", findings.len());
    draw.findings = findings;
    verdicts::write(&path, &draw)
}
