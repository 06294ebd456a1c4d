//! One package: its sources, its build, and what each tool reports. Each stage leaves its result
//! in the package's folder, so that an interrupted draw goes on behind the last one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Limits};
use serde::{Deserialize, Serialize};

use super::apt::{Apt, Brought, Dependencies};
use super::build::{self, Unit};
use super::peers::{self, Peer};
use super::size::Size;
use super::sources::Source;
use super::verdicts::Package;
use super::{BuildDeps, Draw, finding};
use crate::bench::subject;
use crate::bench::tool::Tool;

/// What the sources of a package are.
pub enum Prepared {
    /// Unpacked, mostly C, and of the size wanted.
    Wanted,
    /// Its files are not what is drawn.
    Unwanted,
    /// The mirror does not have them.
    Unavailable,
    /// They do not unpack.
    Broken(String),
}

/// How far a package came.
pub enum Outcome {
    Done(Package),
    /// A stage failed.
    Failed {
        stage: &'static str,
        reason: String,
    },
}

/// Fewer lines compiled say that the build did something else.
const MIN_LINES: u64 = 1_000;

/// Address space firstfault may use.
const MAX_MEMORY: u64 = 10 << 30;

/// Seconds on the wall for each of processor time: firstfault may wait for others.
const PATIENCE: u32 = 20;

pub struct Place {
    pub folder: PathBuf,
}

impl Place {
    pub fn report(&self, tool: &str) -> PathBuf {
        self.folder.join("reports").join(format!("{tool}.json"))
    }

    /// The unpacked sources, once there are any.
    pub fn tree(&self) -> Result<PathBuf> {
        let path = self.folder.join("tree");
        let tree = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Ok(PathBuf::from(tree.trim()))
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    fn built(&self) -> PathBuf {
        self.folder.join("built")
    }

    /// Whether its build came to an end here.
    pub fn is_built(&self) -> bool {
        self.built().exists()
    }

    pub fn units(&self) -> Result<Vec<Unit>> {
        build::units(&self.state(), &self.tree()?)
    }
}

/// Brings the sources of a package.
pub fn prepare(apt: &Apt, source: &Source, place: &Place) -> Result<Prepared> {
    if place.is_built() {
        return Ok(Prepared::Wanted);
    }
    let prepared = match apt.unpack(source, &place.folder.join("source")) {
        Ok(Brought::Unavailable) => Prepared::Unavailable,
        Err(error) => Prepared::Broken(format!("{error:#}")),
        Ok(Brought::Unpacked(tree)) if Size::of(&tree)?.is_wanted() => {
            std::fs::write(place.folder.join("tree"), tree.to_string_lossy().as_bytes())?;
            return Ok(Prepared::Wanted);
        }
        Ok(Brought::Unpacked(_)) => Prepared::Unwanted,
    };
    std::fs::remove_dir_all(&place.folder)?;
    Ok(prepared)
}

/// Takes a package whose sources are there through all stages of firstfault.
pub fn take(
    apt: &Apt,
    source: &Source,
    place: &Place,
    tool: &Tool,
    options: &Draw,
) -> Result<Outcome> {
    let fail = |stage, reason: String| Ok(Outcome::Failed { stage, reason });
    if !place.is_built() {
        if let Err(error) = dependencies(apt, source, options) {
            return fail("dependencies", format!("{error:#}"));
        }
        if place.state().exists() {
            std::fs::remove_dir_all(place.state())?;
        }
        let cpu = Duration::from_secs(options.build_cpu);
        let tree = place.tree()?;
        if let Err(error) = build::watch(&tool.path, &tree, &place.state(), cpu, options.jobs) {
            return fail("build", format!("{error:#}"));
        }
        std::fs::write(place.built(), "")?;
    }
    let units = place.units()?;
    let lines = build::lines(&units);
    if lines < MIN_LINES {
        return fail("build", format!("only {lines} lines of C were compiled"));
    }
    let mut package = Package {
        name: source.name.clone(),
        version: source.version.clone(),
        units: units.len(),
        lines,
        ..Package::default()
    };
    if let Err(error) = ask(tool, &["check"], "firstfault", place, options, &mut package) {
        return fail("check", format!("{error:#}"));
    }
    // What `check` found counts without deviations, too.
    let asked = ask(tool, &["beliefs", "--limit", "0"], "beliefs", place, options, &mut package);
    if let Err(error) = asked {
        eprintln!("{}: no beliefs: {error:#}", source.name);
    }
    Ok(Outcome::Done(package))
}

fn dependencies(apt: &Apt, source: &Source, options: &Draw) -> Result<()> {
    let needed = apt.build_dependencies(source)?;
    let Dependencies { n_new, n_replaced, n_removed, megabytes } = needed;
    let n_new = n_new + n_replaced;
    if n_removed > 0 {
        bail!("{n_removed} installed packages would be removed");
    }
    if n_new > options.max_dependencies || megabytes > options.max_megabytes {
        bail!("{n_new} packages of {megabytes} MB are more than the limits allow");
    }
    match options.build_deps {
        _ if n_new == 0 => Ok(()),
        BuildDeps::Install => {
            eprintln!(
                "{}: installing {n_new} packages, {n_replaced} of them newer than those there, \
                 {megabytes} MB",
                source.name
            );
            apt.install_build_dependencies(source)
        }
        BuildDeps::None => bail!("{n_new} packages are missing; see --build-deps"),
    }
}

/// What a stage cost, beside its report.
#[derive(Serialize, Deserialize)]
struct Cost {
    cpu_seconds: u64,
}

/// Notes what a tool reported on a package, running it unless its report is there.
fn noted(
    package: &mut Package,
    name: &str,
    report: &Path,
    run: impl FnOnce() -> Result<Duration>,
) -> Result<()> {
    let cost = report.with_extension("cost");
    if !(report.exists() && cost.exists()) {
        let folder = report.parent().context("a report lies in a folder")?;
        std::fs::create_dir_all(folder)?;
        let cpu_seconds = run()?.as_secs_f64().ceil() as u64;
        std::fs::write(&cost, serde_json::to_string(&Cost { cpu_seconds })?)?;
    }
    let Cost { cpu_seconds } = serde_json::from_slice(&std::fs::read(&cost)?)
        .with_context(|| format!("{} is malformed", cost.display()))?;
    package.reports.insert(name.to_owned(), finding::read(report)?.len());
    package.cpu_seconds.insert(name.to_owned(), cpu_seconds);
    Ok(())
}

fn ask(
    tool: &Tool,
    words: &[&str],
    name: &str,
    place: &Place,
    options: &Draw,
    package: &mut Package,
) -> Result<()> {
    let report = place.report(name);
    let tree = place.tree()?;
    noted(package, name, &report, || {
        let cpu = Duration::from_secs(options.check_cpu);
        let mut command = subject::limited(cpu, Some(MAX_MEMORY))?;
        command
            .arg(&tool.path)
            .args(words)
            .args(["--format", "json", "-p", ".", "-j", &options.jobs.to_string(), "--state"])
            .arg(place.state())
            .arg("-o")
            .arg(&report)
            .current_dir(&tree);
        let limits = Limits { cpu: Some(cpu), deadline: PATIENCE * cpu, ..Limits::default() };
        let finished = child::run(command, b"", &limits, &Cancel::new())?;
        // Findings, and parts of the input that are missing, are no failure.
        if !matches!(finished.ending, Ending::Exited(0 | 1 | 3)) {
            let log = String::from_utf8_lossy(&finished.stderr);
            bail!("firstfault {}: {}", finished.ending, log.lines().last().unwrap_or_default());
        }
        Ok(finished.cpu)
    })
}

/// Runs a peer on the units of a package, or reads what it said before.
pub fn ask_peer(peer: Peer, place: &Place, options: &Draw, package: &mut Package) -> Result<()> {
    let report = place.report(peer.name());
    noted(package, peer.name(), &report, || {
        let cpu = Duration::from_secs(options.peer_cpu);
        let said = peers::run(peer, &place.units()?, &place.tree()?, cpu, options.jobs)?;
        if said.n_failed > 0 {
            eprintln!("{}: {} units failed", peer.name(), said.n_failed);
        }
        std::fs::write(&report, finding::report(peer.name(), &said.findings).to_string())?;
        Ok(said.cpu)
    })
}
