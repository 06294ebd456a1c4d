//! From the user's input to programs that can be analysed.
//!
//! [`load`] preprocesses, [`import`] turns every unit into a [`Program`] of its own, in
//! parallel and from the cache where nothing changed, and [`Imported::link`] joins the units
//! of one program. What fails on the way is written into the findings; the rest goes on.

mod guarded;
mod plan;
mod timings;
mod unit;

pub use guarded::guarded;
pub use plan::Plan;
pub use timings::{Timings, Work};

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use capture::{Cache, Clang, Inputs, Project, Settings};
use findings::{Findings, Incomplete, Notice};
use program::Program;
use rayon::prelude::*;

use crate::args::RunArgs;
use crate::progress::Progress;
pub use unit::{Failure, Importer};

/// Enough for recursion over the deepest expressions that occur in real code.
const STACK_SIZE: usize = 64 << 20;

/// Every unit as a program of its own, and the plan of which make which program.
pub struct Imported {
    /// A unit is taken out when the last program that needs it is linked.
    units: Vec<Option<Program>>,
    /// Programs that still need the unit.
    uses_left: Vec<usize>,
    pub plans: Vec<Plan>,
    /// With the sections about the input filled.
    pub findings: Findings,
    pub timings: Timings,
    work: Work,
}

/// Preprocesses the input.
pub fn load(inputs: &Inputs, root: &Path, args: &RunArgs, cancel: &Cancel) -> Result<Project> {
    let (cache, settings) = settings(root, args, cancel);
    load_with(inputs, &cache, settings)
}

fn settings(root: &Path, args: &RunArgs, cancel: &Cancel) -> (Arc<Cache>, Settings<'static>) {
    let mut settings = Settings::for_project(root);
    if let Some(jobs) = args.jobs {
        settings.jobs = usize::from(jobs);
    }
    if let Some(state) = &args.state {
        settings.state_dir = state.clone();
    }
    settings.unit_time = Duration::from_secs(args.unit_timeout);
    settings.cancel = cancel.clone();
    (Arc::new(Cache::open(&settings.state_dir)), settings)
}

fn load_with(inputs: &Inputs, cache: &Arc<Cache>, settings: Settings<'_>) -> Result<Project> {
    let bar = Progress::new("preprocessing", 0);
    let progress = |progress: capture::Progress| bar.set(progress.done, progress.total);
    let settings = Settings { progress: Some(&progress), ..settings };
    capture::load(inputs, cache, &settings).map_err(|error| {
        // Each failure has something to say where all units failed; one that is a single
        // line is the error itself.
        if let capture::CaptureError::AllFailed(failures) = &error
            && !matches!(&failures[..], [only] if only.details.is_empty())
        {
            for failure in failures.iter().take(5) {
                crate::log::incomplete(&incomplete(failure));
            }
        }
        error.into()
    })
}

/// What preprocessing has to say about the input.
pub fn findings_about(project: &Project, root: &Path) -> Findings {
    let mut findings = Findings::new();
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let read = project.units.iter().flat_map(|unit| &unit.dependencies);
    let named = read.map(|file| (unit::shown(&root, &file.path), file.hash.to_string()));
    findings.sources = Some(named.collect());
    findings.incomplete.extend(project.failures.iter().map(incomplete));
    if let Some(status) = &project.build_failed {
        findings.incomplete.push(Incomplete {
            what: "the build".to_owned(),
            reason: format!("{status}; what it compiled until then is analysed"),
            details: Vec::new(),
        });
    }
    findings.notices.extend(project.notices.iter().map(|message| notice(message.clone())));
    for program in &project.programs {
        for unknown in &program.unknown {
            findings.notices.push(notice(format!(
                "{}: no C source for {unknown}: its effects are unknown",
                program.name
            )));
        }
    }
    findings
}

/// A preprocessed input, and what its units need to become programs.
pub struct Opened {
    pub project: Project,
    pub cache: Arc<Cache>,
    pub timings: Timings,
    root: PathBuf,
    unit_time: Duration,
    cancel: Cancel,
}

/// Preprocesses the input and gets ready to import it with the compiler that comes along.
pub fn open(
    inputs: &Inputs,
    root: &Path,
    args: &RunArgs,
    cancel: &Cancel,
) -> Result<(Opened, Clang)> {
    let timings = Timings::default();
    let (cache, settings) = settings(root, args, cancel);
    let (jobs, unit_time) = (settings.jobs, settings.unit_time);
    let mut project = timings.on_all_threads("capture", || load_with(inputs, &cache, settings))?;
    timings.add("clang preprocessing", project.clang_cpu);
    set_up_threads(jobs)?;
    let clang = project.clang.take().map_or_else(Clang::find, Ok)?;
    let (root, cancel) = (root.to_owned(), cancel.clone());
    Ok((Opened { project, cache, timings, root, unit_time, cancel }, clang))
}

impl Opened {
    pub fn importer(&self, clang: Clang) -> Result<Importer<'_>> {
        let (root, timings) = (&self.root, &self.timings);
        Importer::new(root, &self.cache, clang, self.unit_time, timings, &self.cancel)
    }

    pub fn check_cancelled(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            bail!("interrupted");
        }
        Ok(())
    }

    /// What is left to say about the cache when everything is done.
    pub fn close_cache(&self, findings: &mut Findings) {
        self.cache.trim();
        findings.notices.extend(self.cache.notices().into_iter().map(notice));
    }
}

/// Imports every unit of the input.
pub fn import(inputs: &Inputs, root: &Path, args: &RunArgs, cancel: &Cancel) -> Result<Imported> {
    let (opened, clang) = open(inputs, root, args, cancel)?;
    // The compiler has nothing to do afterwards, and takes memory.
    let results = import_all(&opened.project, &opened.importer(clang)?);
    opened.check_cancelled()?;
    let project = &opened.project;
    let mut findings = findings_about(project, root);
    let mut work = Work { units: results.len(), ..Work::default() };
    let mut units = Vec::new();
    // Where each unit of the project went, if anywhere.
    let mut positions = Vec::new();
    for (unit, result) in project.units.iter().zip(results) {
        positions.push(result.is_ok().then_some(units.len()));
        match result {
            Ok(program) => units.push(program),
            Err(failure) => {
                work.panics += usize::from(failure.is_panic);
                findings.incomplete.push(failure.about(&unit.path));
            }
        }
    }
    work.imported = units.len();
    opened.close_cache(&mut findings);
    report_missing(&findings, units.len(), work.units)?;
    let plans = plan::plans(&project.programs, &positions, &units);
    let mut uses_left = vec![0; units.len()];
    plans.iter().flat_map(|plan| &plan.units).for_each(|&unit| uses_left[unit] += 1);
    let units = units.into_iter().map(Some).collect();
    Ok(Imported { units, uses_left, plans, findings, timings: opened.timings, work })
}

/// Logs what is missing; an error where nothing is left.
pub fn report_missing(findings: &Findings, n_imported: usize, n_units: usize) -> Result<()> {
    for missing in &findings.incomplete {
        crate::log::incomplete(missing);
    }
    match (n_imported, n_units) {
        (0, 1) => bail!("the only unit could not be analysed"),
        (0, _) => bail!("none of the {n_units} units could be analysed"),
        _ => Ok(()),
    }
}

fn import_all(project: &Project, importer: &Importer) -> Vec<Result<Program, Failure>> {
    let bar = Progress::new("importing", project.units.len());
    project
        .units
        .par_iter()
        .map(|unit| {
            let result = importer.import(unit);
            bar.advance();
            result
        })
        .collect()
}

fn set_up_threads(jobs: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .stack_size(STACK_SIZE)
        .build_global()
        .context("cannot start threads")
}

/// Compiles changed copies of files that were imported before, and links them. Says nothing:
/// what the compiler objects to is the inner error.
pub fn import_changed(
    inputs: &Inputs,
    root: &Path,
    args: &RunArgs,
    cancel: &Cancel,
) -> Result<std::result::Result<Program, Vec<String>>> {
    let timings = Timings::default();
    let (cache, settings) = settings(root, args, cancel);
    let unit_time = settings.unit_time;
    let mut project = capture::load(inputs, &cache, &settings)?;
    let clang = project.clang.take().map_or_else(Clang::find, Ok)?;
    let importer = Importer::new(root, &cache, clang, unit_time, &timings, cancel)?;
    let mut units = Vec::new();
    let mut objections = Vec::new();
    for unit in &project.units {
        match importer.import(unit) {
            Ok(program) => units.push(program),
            Err(failure) if failure.details.is_empty() => bail!("{}", failure.reason),
            Err(failure) => objections.extend(failure.details),
        }
    }
    if !objections.is_empty() {
        return Ok(Err(objections));
    }
    Ok(Ok(program::link::link(units).program))
}

impl Imported {
    /// Joins the units of one program as a linker would. Each plan can be linked once.
    pub fn link(&mut self, index: usize) -> Program {
        let plan = &self.plans[index];
        let mut units = Vec::with_capacity(plan.units.len());
        for &unit in &plan.units {
            self.uses_left[unit] = self.uses_left[unit].saturating_sub(1);
            let is_last = self.uses_left[unit] == 0;
            let slot = &mut self.units[unit];
            units.extend(if is_last { slot.take() } else { slot.clone() });
        }
        let linked = self.timings.on_all_threads("link", || program::link::link(units));
        let about = |message: String| notice(format!("{}: {message}", plan.name));
        self.findings.notices.extend(linked.notices.into_iter().map(about));
        linked.program
    }

    /// The files of the project that were compiled, headers included.
    pub fn files(&self) -> BTreeSet<String> {
        let files = self.units.iter().flatten().flat_map(|unit| &unit.files);
        files.filter(|file| !file.is_system).map(|file| file.path.clone()).collect()
    }

    /// Every unit, unlinked, for analyses that look at each on its own. Nothing is left to link.
    pub fn take_units(&mut self) -> Vec<Program> {
        std::mem::take(&mut self.units).into_iter().flatten().collect()
    }

    /// Writes what `--timings` asks for.
    pub fn write_timings(&self, args: &RunArgs) -> Result<()> {
        let Some(path) = &args.timings else { return Ok(()) };
        let functions = self.findings.programs.iter().map(|program| program.functions).sum();
        self.timings.write(path, Work { functions, ..self.work })
    }
}

pub fn incomplete(failure: &capture::UnitFailure) -> Incomplete {
    Incomplete {
        what: failure.path.clone(),
        reason: failure.reason.clone(),
        details: failure.details.clone(),
    }
}

fn notice(message: String) -> Notice {
    Notice { place: findings::Place::default(), message }
}

/// `1 unit`, `2 units`.
pub fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
