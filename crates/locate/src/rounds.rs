//! One fault after the other: a list is presented, the user fixes what it leads to, and the
//! next list is made from what still fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base::Cancel;
use findings::{Findings, Place};
use run::{BuildOptions, Suite};

use crate::line_map::LineMap;
use crate::multiple::{Partial, clusters};
use crate::request::{
    Built, Found, Request, RequestError, finished, order_of, ranked, search_of, with_changes,
};
use crate::{FailingRun, Ivmps, LocateError, Searcher, Session, StatementId, rank_runs};

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

/// What the user is asked about.
pub enum Question<'a> {
    /// A new list.
    List(&'a Findings),
    /// The last list again: what was built after the last answer cannot be run.
    Again(&'a RequestError),
}

/// Presents lists through `present` until every test passes or the user stops. Returns how
/// many failing runs were searched for IVMPs in all.
pub fn locate_in_rounds(
    request: &Request,
    recompute: Recompute,
    cancel: &Cancel,
    present: &mut dyn FnMut(Question<'_>) -> Answer,
) -> Result<u64, RequestError> {
    let suite = Suite::load(&request.tests, &request.allowed)?;
    let mut built = Built::new(&request.build, cancel)?;
    let mut session = Session::start(&built.program, &suite, request.options, cancel)?;
    let made = ranked(request, &session)?;
    let mut n_searched = session.failing().len() as u64;
    let first = made.findings(&session);
    let found = made.found.unwrap_or_default();
    let mut partial =
        Partial::new(by_name(&session, &session.failing(), &found), order_of(request, &session));
    let mut current = match recompute {
        Recompute::Partial => partial_findings(request, &mut partial, &session, &found.ivmps),
        Recompute::Minimal | Recompute::Full => Some(first.clone()),
    };
    while let Some(findings) = current {
        let before = LineMap::read(&session.statements);
        let old_places = session.statements.places.clone();
        drop(session);
        let mut answer = present(Question::List(&findings));
        let place = loop {
            let Answer::Fixed(place, build) = answer else { return Ok(n_searched) };
            match Built::new(build.as_ref().unwrap_or(&request.build), cancel) {
                Ok(new) => {
                    built = new;
                    break place;
                }
                Err(error) if cancel.is_cancelled() => return Err(error),
                Err(error) => answer = present(Question::Again(&error)),
            }
        };
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
                let file = Path::new(&place.file);
                let file = file.strip_prefix(".").unwrap_or(file);
                let is_fixed =
                    |at: &Place| at.line == place.line && Path::new(&at.file).ends_with(file);
                let fixed = old_places.iter().position(is_fixed);
                let fixed = fixed.and_then(|s| translate.get(&StatementId(s as u32)).copied());
                partial.translate(&translate);
                let searched = refresh(request, &mut partial, &session, fixed)?;
                n_searched += searched.1;
                partial_findings(request, &mut partial, &session, &searched.0)
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
    fixed: Option<StatementId>,
) -> Result<(Ivmps, u64), LocateError> {
    let failing: BTreeMap<String, BTreeSet<StatementId>> = session
        .failing()
        .into_iter()
        .map(|t| (session.tests[t].test.name.clone(), session.tests[t].covered.clone()))
        .collect();
    let again = partial.after_fix(fixed, &failing);
    let tests: Vec<usize> = session
        .failing()
        .into_iter()
        .filter(|t| again.contains(&session.tests[*t].test.name))
        .collect();
    let ivmps = Searcher::new(session, search_of(request, session)).run_tests(&tests)?;
    let found = with_changes(request, session, &tests, ivmps)?;
    partial.runs.extend(by_name(session, &tests, &found));
    Ok((found.ivmps, tests.len() as u64))
}

fn by_name(session: &Session<'_>, tests: &[usize], found: &Found) -> BTreeMap<String, FailingRun> {
    let runs = found.runs(session, tests).into_iter();
    runs.map(|(test, run)| (session.tests[test].test.name.clone(), run)).collect()
}

fn partial_findings(
    request: &Request,
    partial: &mut Partial<String>,
    session: &Session<'_>,
    ivmps: &Ivmps,
) -> Option<Findings> {
    let order = order_of(request, session);
    let list = partial.next_list(&|runs| rank_runs(session, runs.iter().copied(), order))?;
    Some(finished(session, Some(ivmps), &list))
}

/// Failing tests grouped by where their IVMPs lie, each group with a list of its own.
pub fn locate_clusters(
    request: &Request,
    threshold: f64,
    cancel: &Cancel,
) -> Result<Vec<(Vec<String>, Findings)>, RequestError> {
    let suite = Suite::load(&request.tests, &request.allowed)?;
    let built = Built::new(&request.build, cancel)?;
    let session = Session::start(&built.program, &suite, request.options, cancel)?;
    let found = ranked(request, &session)?.found.unwrap_or_default();
    let runs = by_name(&session, &session.failing(), &found);
    let mut lists = Vec::new();
    for names in clusters(&runs, threshold) {
        let of_cluster = session.restricted_to(&names);
        let ivmps = found.ivmps.renumbered(&session, &of_cluster);
        let runs = names.iter().map(|name| &runs[name]);
        let list = rank_runs(&of_cluster, runs, order_of(request, &session));
        lists.push((names, finished(&of_cluster, Some(&ivmps), &list)));
    }
    Ok(lists)
}
