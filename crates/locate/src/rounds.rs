//! One fault after the other: a list is presented, the user fixes what it leads to, and the
//! next list is made from what still fails.

use std::collections::{BTreeMap, BTreeSet};

use base::Cancel;
use findings::{Findings, Place};
use run::{BuildOptions, Suite};

use crate::line_map::LineMap;
use crate::multiple::{FailingRun, List, Partial, clusters};
use crate::request::{Built, Request, RequestError, finished, rank_found, ranked, search_of};
use crate::{Ivmps, LocateError, SearchStats, Searcher, Session, StatementId};

/// How much is searched again after a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompute {
    /// Nothing: the first list serves for all faults.
    Minimal,
    /// Everything.
    Full,
    /// The runs that execute the fixed statement.
    Partial,
}

/// What the user did with a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Changed the sources at this place, by the old line numbers; what to build now, where
    /// it is not what was built before.
    Fixed(Place, Option<BuildOptions>),
    Stop,
}

/// Presents lists through `present` until every test passes or the user stops. Returns how
/// many failing runs were searched for IVMPs in all.
pub fn locate_in_rounds(
    request: &Request,
    recompute: Recompute,
    cancel: &Cancel,
    present: &mut dyn FnMut(&Findings) -> Answer,
) -> Result<u64, RequestError> {
    let suite = Suite::load(&request.tests)?;
    let mut built = Built::new(&request.build, cancel)?;
    let mut session = Session::start(&built.program, &suite, request.options, cancel)?;
    let made = ranked(request, &session)?;
    let mut n_searched = session.failing().len() as u64;
    let first = made.findings(&session);
    let ivmps = made.ivmps.unwrap_or_default();
    let mut partial = Partial::new(by_name(&session, &ivmps));
    let mut current = match recompute {
        Recompute::Partial => partial_findings(&mut partial, &session, &ivmps),
        Recompute::Minimal | Recompute::Full => Some(first.clone()),
    };
    while let Some(findings) = current {
        let before = LineMap::read(&session.statements);
        let Answer::Fixed(place, build) = present(&findings) else { return Ok(n_searched) };
        let old_places = session.statements.places.clone();
        drop(session);
        built = Built::new(build.as_ref().unwrap_or(&request.build), cancel)?;
        session = Session::start(&built.program, &suite, request.options, cancel)?;
        if session.failing().is_empty() {
            return Ok(n_searched);
        }
        current = match recompute {
            Recompute::Minimal => Some(first.clone()),
            Recompute::Full => {
                n_searched += session.failing().len() as u64;
                Some(ranked(request, &session)?.findings(&session))
            }
            Recompute::Partial => {
                let translate = before.to(&session.statements, &old_places);
                partial.translate(&translate);
                let searched = refresh(request, &mut partial, &session, &translate, &place)?;
                n_searched += searched.1;
                partial_findings(&mut partial, &session, &searched.0)
            }
        };
    }
    Ok(n_searched)
}

/// Searches the runs a fix may have changed, and takes the result into `partial`.
fn refresh(
    request: &Request,
    partial: &mut Partial<String>,
    session: &Session<'_>,
    translate: &BTreeMap<StatementId, StatementId>,
    fixed: &Place,
) -> Result<(Ivmps, u64), LocateError> {
    let is_fixed = |s: &StatementId| {
        let place = session.statements.place(*s);
        place.line == fixed.line && place.file.ends_with(&fixed.file)
    };
    let executed = |test: usize| session.tests[test].covered.clone();
    let failing: BTreeMap<String, BTreeSet<StatementId>> = session
        .failing()
        .into_iter()
        .map(|t| (session.tests[t].test.name.clone(), executed(t)))
        .collect();
    let fixed = translate.values().copied().find(is_fixed);
    // A fix that left no statement at its line may have touched any run.
    let again = match fixed {
        Some(fixed) => partial.after_fix(fixed, &failing),
        None => failing.keys().cloned().collect(),
    };
    let tests: Vec<usize> = session
        .failing()
        .into_iter()
        .filter(|t| again.contains(&session.tests[*t].test.name))
        .collect();
    let ivmps = Searcher::new(session, search_of(request, session)).run_tests(&tests)?;
    for test in &tests {
        let found = ivmps.found.get(test);
        let run = FailingRun {
            executed: executed(*test),
            ivmps: found.map_or_else(BTreeSet::new, |f| f.keys().copied().collect()),
        };
        partial.runs.insert(session.tests[*test].test.name.clone(), run);
    }
    Ok((ivmps, tests.len() as u64))
}

fn by_name(session: &Session<'_>, ivmps: &Ivmps) -> BTreeMap<String, FailingRun> {
    FailingRun::of_session(session, ivmps)
        .into_iter()
        .map(|(test, run)| (session.tests[test].test.name.clone(), run))
        .collect()
}

fn partial_findings(
    partial: &mut Partial<String>,
    session: &Session<'_>,
    ivmps: &Ivmps,
) -> Option<Findings> {
    let tarantula = |s| session.suspiciousness(s, crate::Formula::Tarantula);
    let list = partial.next_list(&tarantula)?;
    Some(finished(session, Some(ivmps), &as_ranked(session, &list)))
}

/// A list of statements with their counts, ranked with ties.
fn as_ranked(session: &Session<'_>, list: &List) -> Vec<crate::Ranked> {
    let entries = list.iter().map(|(statement, n_tests)| {
        let tarantula = session.suspiciousness(*statement, crate::Formula::Tarantula);
        let unranked = crate::rank::unranked(*statement, tarantula);
        crate::Ranked { suspiciousness: *n_tests, n_tests: *n_tests, ..unranked }
    });
    crate::rank::sorted(entries.collect())
}

/// Failing tests grouped by where their IVMPs lie, each group with a list of its own.
pub fn locate_clusters(
    request: &Request,
    threshold: f64,
    cancel: &Cancel,
) -> Result<Vec<(Vec<String>, Findings)>, RequestError> {
    let suite = Suite::load(&request.tests)?;
    let built = Built::new(&request.build, cancel)?;
    let session = Session::start(&built.program, &suite, request.options, cancel)?;
    let ivmps = Searcher::new(&session, search_of(request, &session)).run()?;
    let runs = by_name(&session, &ivmps);
    let mut lists = Vec::new();
    for names in clusters(&runs, threshold) {
        let of_cluster = session.restricted_to(&names);
        let found = ivmps.renumbered(&session, &of_cluster);
        let list = rank_found(request, &of_cluster, &found, &mut SearchStats::default())?;
        lists.push((names, finished(&of_cluster, Some(&found), &list)));
    }
    Ok(lists)
}
