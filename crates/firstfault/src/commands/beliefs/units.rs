//! The events of a project, one unit at a time.
//!
//! A unit is imported, summarised, and, once the summaries of all units are closed over calls,
//! turned into events. Both are remembered beside the unit, so that only what changed is looked
//! at again; a unit that has both is not even imported. Programs and events beyond a bound are
//! dropped and fetched again when needed: memory does not grow with the project.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use beliefs::{Events, Known, Template, UnitSummary, Units};
use capture::{Cache, Clang, Key};
use findings::{Findings, Incomplete};
use program::Program;
use rayon::prelude::*;

use crate::pipeline::{self, Failure, Importer, Opened, Work, guarded};
use crate::progress::Progress;

/// Instructions of programs that are kept between summary and extraction.
const MAX_KEPT_INSTS: u64 = 2_000_000;
/// Rows of events that are kept for ranking.
const MAX_KEPT_ROWS: u64 = 1_000_000;

/// The events of all units, in memory or in the cache.
pub struct Observed {
    units: Vec<Kept>,
    cache: Arc<Cache>,
    pub n_events: u64,
    pub work: Work,
    pub summary: findings::Program,
    /// The files of the project that were compiled, headers included.
    pub files: BTreeSet<String>,
}

enum Kept {
    Here(Events),
    Cached(Key),
}

impl Units for Observed {
    fn n_units(&self) -> usize {
        self.units.len()
    }

    fn events(&self, unit: usize) -> Option<Cow<'_, Events>> {
        match self.units.get(unit)? {
            Kept::Here(events) => Some(Cow::Borrowed(events)),
            Kept::Cached(key) => recall(&self.cache, key).map(Cow::Owned),
        }
    }
}

/// A unit between its two looks.
struct Met {
    summary: UnitSummary,
    program: Option<Program>,
}

/// Looks at every unit of the input. What cannot be looked at is said in the findings.
pub fn observe(
    opened: &Opened,
    clang: Clang,
    templates: &[Template],
    findings: &mut Findings,
) -> Result<Observed> {
    let importer = opened.importer(clang)?;
    let units = &opened.project.units;
    let kept = AtomicU64::new(0);
    let bar = Progress::new("importing", units.len());
    let met: Vec<Result<Met, Failure>> = units
        .par_iter()
        .map(|unit| {
            let met = meet(opened, &importer, unit, &kept);
            bar.advance();
            met
        })
        .collect();
    drop(bar);
    opened.check_cancelled()?;
    let mut work = Work { units: units.len(), ..Work::default() };
    let mut summary = findings::Program { name: "all units".to_owned(), ..Default::default() };
    let (mut summaries, mut left, mut files) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (unit, met) in units.iter().zip(met) {
        match met {
            Ok(mut met) => {
                files.extend(met.summary.files.drain(..).map(String::from));
                summary.units += 1;
                summary.functions += met.summary.n_functions;
                summary.calls += met.summary.n_calls;
                left.push((unit, met.summary.mentioned.clone(), met.program));
                summaries.push(met.summary);
            }
            Err(failure) => {
                work.panics += usize::from(failure.is_panic);
                findings.incomplete.push(failure.about(&unit.path));
            }
        }
    }
    work.imported = left.len();
    pipeline::report_missing(findings, work.imported, work.units)?;
    let settings = beliefs::settings(templates);
    let known = opened.timings.on_all_threads("summaries", || Known::close(summaries, settings));
    let (kept, n_events) = (AtomicU64::new(0), AtomicU64::new(0));
    let bar = Progress::new("looking for beliefs", left.len());
    let looked: Vec<(String, Result<Kept, Failure>)> = left
        .into_par_iter()
        .map(|(unit, mentioned, program)| {
            let about = known.digest(&mentioned).to_le_bytes();
            let key = importer.key_of("beliefs", unit, &about);
            let fetch = || program.map_or_else(|| importer.import(unit), Ok);
            let events = look(opened, &known, &key, fetch);
            bar.advance();
            let stored = events.map(|(events, is_cached)| {
                let n = events.rows.len() as u64;
                n_events.fetch_add(n, Ordering::Relaxed);
                let is_kept = kept.fetch_add(n, Ordering::Relaxed) + n <= MAX_KEPT_ROWS;
                if is_kept || !is_cached { Kept::Here(events) } else { Kept::Cached(key) }
            });
            (unit.path.clone(), stored)
        })
        .collect();
    drop(bar);
    opened.check_cancelled()?;
    let mut units = Vec::new();
    for (path, stored) in looked {
        match stored {
            Ok(stored) => units.push(stored),
            Err(failure) => lost(findings, failure.about(&path)),
        }
    }
    let cache = opened.cache.clone();
    Ok(Observed { units, cache, n_events: n_events.into_inner(), work, summary, files })
}

/// The summary of a unit, and its program if it had to be imported and there is room.
fn meet(
    opened: &Opened,
    importer: &Importer,
    unit: &capture::Unit,
    kept: &AtomicU64,
) -> Result<Met, Failure> {
    let key = importer.key_of("belief summary", unit, &[]);
    let remembered = opened.timings.on_thread("cache", || opened.cache.get(&key));
    if let Some(summary) = remembered.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
        return Ok(Met { summary, program: None });
    }
    let program = importer.import(unit)?;
    let summary = opened
        .timings
        .on_thread("summaries", || guarded(|| beliefs::summarise(&program)))
        .map_err(panicked)?;
    opened.timings.on_thread("cache", || {
        if let Ok(bytes) = postcard::to_stdvec(&summary) {
            opened.cache.put(&key, &bytes);
        }
    });
    let n_insts = program.functions.iter().filter_map(|f| f.body.as_ref());
    let n_insts: u64 = n_insts.map(|body| body.insts.len() as u64).sum();
    let is_kept = kept.fetch_add(n_insts, Ordering::Relaxed) + n_insts <= MAX_KEPT_INSTS;
    Ok(Met { summary, program: is_kept.then_some(program) })
}

/// The events of a unit, and whether they are in the cache.
fn look(
    opened: &Opened,
    known: &Known,
    key: &Key,
    fetch: impl FnOnce() -> Result<Program, Failure>,
) -> Result<(Events, bool), Failure> {
    if let Some(events) = opened.timings.on_thread("cache", || recall(&opened.cache, key)) {
        return Ok((events, true));
    }
    let program = fetch()?;
    let events = opened
        .timings
        .on_thread("extraction", || guarded(|| beliefs::extract(&program, known)))
        .map_err(panicked)?;
    let is_cached = opened.timings.on_thread("writing events", || {
        beliefs::columns::encode(&events).is_ok_and(|bytes| opened.cache.put(key, &bytes))
    });
    Ok((events, is_cached))
}

fn recall(cache: &Cache, key: &Key) -> Option<Events> {
    let bytes = cache.get(key)?;
    let events = guarded(|| beliefs::columns::decode(bytes)).ok().and_then(Result::ok);
    if events.is_none() {
        cache.forget(key);
    }
    events
}

fn panicked(reason: String) -> Failure {
    Failure { reason, details: Vec::new(), is_panic: true }
}

fn lost(findings: &mut Findings, missing: Incomplete) {
    crate::log::incomplete(&missing);
    findings.incomplete.push(missing);
}
