//! The paper's error localisation, as it has it: a repair program over the failing trace, one
//! selector for each assignment and condition, and all solutions.
//!
//! The repair program is the user's text in which assignments and conditions pass through
//! `firstfault_choose`; run on the failing input it goes the way of the error trace and records
//! what each value and decision would be were some of them chosen otherwise. Leaving the trace
//! at a decision, or passing the check that fails, avoids the error. Sets of selectors are tried
//! one after the other ([`solve`]), or left to z3's optimiser ([`maxsat`]).

mod budget;
mod cone;
mod formula;
mod guess;
mod maxsat;
mod reporter;
mod sets;
mod sites;
mod solution;
mod solve;
mod walk;

#[cfg(test)]
mod tests;

pub use sites::Site;
pub use solution::Solution;

use base::Cancel;
use findings::Repair;
use interpret::{Choices, Machine};
use std::collections::{BTreeMap, BTreeSet};
use syntax::Source;

use self::reporter::{Reporter, Types};
use self::solve::Solved;
use crate::trust::Mined;
use crate::{Compile, Compiled, DiagnoseError, Rejected, Request, check};
use explore::ending::Property;
use explore::judge::Given;
use explore::trace::Trace;

/// Which of the paper's improvements take part; each has those before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Config {
    /// Section 3 alone.
    Basic,
    /// 4.3 and 4.4: repeated statements choose alike, a value that is changed is not changed
    /// again by what uses it, few changes, solutions common to several traces.
    Constraints,
    /// 4.1: results stay within the safety projections of proved properties.
    Projection,
    /// 4.1: statements that proofs rest on are not changed.
    Trusted,
}

/// What to localise with.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub config: Config,
    /// Alternatives of the annotation library, chosen by weighted MaxSAT.
    pub maxsat: bool,
    /// Statements a solution may change.
    pub max_changes: u32,
    /// Solutions to look for, of each trace.
    pub max_solutions: usize,
    /// Work for all traces, in z3's resource units, where these have up to [`SHORT`] steps; for
    /// twice as many steps four times that.
    pub max_work: u64,
}

/// Steps of a short trace.
const SHORT: usize = 100;

/// z3's resource units for a question.
const QUESTION: u32 = 200_000;

/// Optimising may take this part of the work of its trace at once.
const MAXSAT_SHARE: u64 = 4;

impl Settings {
    /// With the limits of the command line: so many changes, but any number in the basic
    /// configuration, as few changes belong to those after it.
    pub fn new(config: Config, maxsat: bool, max_changes: u32) -> Self {
        let max_changes = if config == Config::Basic { u32::MAX } else { max_changes };
        Self { config, maxsat, max_changes, max_solutions: 250, max_work: 2_000_000 }
    }

    /// The same with the work for all traces of so many steps.
    fn of_traces(self, n_steps: usize) -> Self {
        let times = n_steps.div_ceil(SHORT).max(1).pow(2) as u64;
        let times = if self.maxsat { times * maxsat::QUESTIONS } else { times };
        Self { max_work: self.max_work * times, ..self }
    }

    fn resources_of_a_question(&self) -> u32 {
        match self.maxsat {
            true => u32::try_from(self.max_work / MAXSAT_SHARE).unwrap_or(u32::MAX).max(1),
            false => QUESTION,
        }
    }
}

/// The solutions of one failing input, best first.
pub fn localise(
    request: &Request,
    compiler: &dyn Compile,
    settings: Settings,
    (entry, failing): (&str, &[Given]),
    (trace, mined): (&Trace, &Mined),
    cancel: &Cancel,
) -> Result<(Vec<Repair>, Vec<String>), DiagnoseError> {
    let sources: Vec<Source> =
        request.files.iter().map(|file| Source::parse(file.text.clone())).collect();
    let mut sites = Vec::new();
    for (index, file) in request.files.iter().enumerate().filter(|(_, file)| !file.is_kept) {
        let on_slice = |line: u32| trace.sliced.contains(&(file.path.clone(), line));
        sites.extend(sites::find(&sources[index], index, &on_slice));
    }
    sites.retain(|site| !is_property(request, &sources, trace, site));
    let settings = settings.of_traces(trace.steps.len());
    let library = settings.maxsat.then_some(&request.library);
    let (compiled, sites) = compile(&sources, sites, library, compiler, cancel)?;
    let types = Types::of(&compiled.program);
    let trusted = trusted(request, settings, &sites, mined);
    let mut all: Option<Vec<Solution>> = None;
    let mut notes = Vec::new();
    let mut work_left = settings.max_work;
    for (n_done, given) in failing.iter().enumerate() {
        check(cancel)?;
        let choices = Choices::new(settings.config >= Config::Constraints, trusted.clone());
        // What one trace does not need is left to the others.
        let max_work = work_left / (failing.len() - n_done) as u64;
        let settings = Settings { max_work, ..settings };
        let solved = run(request, &compiled, entry, given, choices)
            .map(|machine| solve::solve(machine, &sites, settings, mined, request));
        let Some(Solved { solutions, notes: why, work }) = solved else {
            notes.push("the repair program does not follow the error trace".to_owned());
            continue;
        };
        work_left = work_left.saturating_sub(work);
        notes.extend(why);
        all = Some(match all {
            None => solutions,
            // Only what mends every trace.
            Some(known) => {
                let mut by_sites: BTreeMap<_, Vec<&Solution>> = BTreeMap::new();
                solutions.iter().for_each(|s| by_sites.entry(&s.sites).or_default().push(s));
                let is_common = |known: &Solution| {
                    let others = by_sites.get(&known.sites);
                    others.is_some_and(|others| others.iter().any(|other| known.is_common(other)))
                };
                known.into_iter().filter(|known| is_common(known)).collect()
            }
        });
        if settings.config == Config::Basic {
            break;
        }
    }
    // Several traces may say the same.
    let mut said = BTreeSet::new();
    notes.retain(|note| said.insert(note.clone()));
    let mut solutions = all.unwrap_or_default();
    solutions.sort_by_key(|solution| solution.rank_key());
    if settings.maxsat {
        solutions.sort_by_key(|solution| solution.weighed_key());
    }
    let reporter = Reporter { request, sources: &sources, sites: &sites, types: &types };
    let mut shown = BTreeSet::new();
    let solutions = solutions.iter().filter(|solution| shown.insert(reporter.key(solution)));
    let solutions = solutions.take(request.options.top).zip(1..);
    Ok((solutions.map(|(solution, rank)| reporter.repair(solution, rank)).collect(), notes))
}

/// Whether a site is the condition of an error that the program tests for itself: the violated
/// property (N4 in 4.4), which has no selector.
fn is_property(request: &Request, sources: &[Source], trace: &Trace, site: &Site) -> bool {
    let [.., decision, failing] = &trace.steps[..] else { return false };
    let file = &request.files[site.file].path;
    let source = &sources[site.file];
    let aborts = |statement: &syntax::Statement| {
        source.position(statement.bytes.start).0 == failing.place.line
            && source.slice(&statement.bytes).trim_start().starts_with("abort")
    };
    trace.violated == Some(Property::Assertion)
        && site.is_condition()
        && decision.note.starts_with("condition")
        && (&decision.place.file, decision.place.line) == (file, site.line)
        && failing.place.file == *file
        && source.statements().iter().any(aborts)
}

fn trusted(request: &Request, settings: Settings, sites: &[Site], mined: &Mined) -> BTreeSet<u32> {
    let is_proved = |site: &Site| {
        let path = request.files[site.file].path.clone();
        mined.trusted.contains(&(path, site.line, site.is_condition()))
    };
    let is_trusted = |site: &Site| {
        settings.maxsat && site.is_fixed() || settings.config >= Config::Trusted && is_proved(site)
    };
    (0..).zip(sites).filter(|(_, site)| is_trusted(site)).map(|(number, _)| number).collect()
}

/// Compiles the repair program, leaving out sites the compiler objects to.
fn compile(
    sources: &[Source],
    mut sites: Vec<Site>,
    library: Option<&crate::Library>,
    compiler: &dyn Compile,
    cancel: &Cancel,
) -> Result<(Compiled, Vec<Site>), DiagnoseError> {
    for _ in 0..20 {
        check(cancel)?;
        let written: Vec<_> = sources
            .iter()
            .enumerate()
            .map(|(file, source)| sites::write(source, file, &mut sites, library))
            .collect();
        let texts: Vec<Vec<u8>> = written.iter().map(|(text, _)| text.clone()).collect();
        let errors = match compiler.compile(&texts) {
            Ok(compiled) => return Ok((compiled, sites)),
            Err(Rejected::Failed(why)) => return Err(DiagnoseError::Uncompilable(why)),
            Err(Rejected::At(errors)) => errors,
        };
        let mut dropped = BTreeSet::new();
        for (file, line, _) in errors {
            let Some((text, places)) = written.get(file) else { continue };
            let line_of = |at: usize| text[..at].iter().filter(|b| **b == b'\n').count() as u32 + 1;
            let here = places.iter().filter(|(_, place)| line_of(place.start) == line);
            dropped.extend(here.map(|(site, _)| *site));
        }
        if dropped.is_empty() {
            break;
        }
        // First without alternatives, then not at all.
        let mut is_simpler = false;
        for index in &dropped {
            let site = &mut sites[*index];
            is_simpler |= !site.alternatives.is_empty();
            site.is_plain = true;
        }
        if is_simpler {
            continue;
        }
        let mut index = 0;
        sites.retain(|_| {
            index += 1;
            !dropped.contains(&(index - 1))
        });
    }
    Err(DiagnoseError::Uncompilable("statements cannot be made to choose".to_owned()))
}

/// Runs the repair program along the error trace.
fn run<'p>(
    request: &Request,
    compiled: &'p Compiled,
    entry: &str,
    given: &Given,
    choices: Choices,
) -> Option<Machine<'p>> {
    let mut machine = Machine::new(&compiled.program, request.options.steps * 2).ok()?;
    machine.choices = Some(choices);
    let result = match given {
        Given::Found(inputs, limits) => machine.run_unknown(entry, inputs, limits, false),
        Given::Test(test) => machine.run_main(&test.arguments, &test.stdin),
    };
    let is_violated =
        matches!(explore::ending::ending(&result), explore::ending::Ending::Violates(_));
    is_violated.then_some(machine)
}
