//! Which statements could be changed so that failing tests pass *and passing ones still
//! do*, as far as the tests show.
//!
//! A statement computes a value from its operands. If a change of the statement were the
//! fix, the new value for given operands would hold wherever the operands are the same: in
//! the rest of the failing run, and in every passing one. A mapping of operands to a value
//! that turns a failing run around but breaks a passing one speaks against the statement;
//! one that turns several failing runs around speaks for it.

use std::collections::{BTreeMap, BTreeSet};

use run::SearchOptions;
use run::search::{Mapping, Plan};

use crate::ivmp::SearchStats;
use crate::parallel;
use crate::session::{LocateError, Session};
use crate::{Ivmps, StatementId};

/// What speaks for a statement beyond its IVMPs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Support {
    /// Failing tests that a mapping no passing test contradicts turns around.
    pub n_consistent: usize,
    /// The most failing tests that one such mapping turns around by itself.
    pub n_explained: usize,
}

/// The support of each statement with IVMPs.
#[derive(Clone, Debug, Default)]
pub struct Consistency {
    pub support: BTreeMap<StatementId, Support>,
    pub stats: SearchStats,
}

/// Searches the statements that have IVMPs for mappings, and holds these against the
/// passing tests. `spanning` limits the alternates as the reduced search does.
pub fn consistency(
    session: &Session<'_>,
    ivmps: &Ivmps,
    spanning: bool,
) -> Result<Consistency, LocateError> {
    let mut result = Consistency::default();
    // Failing tests by mapping; first with exact operands, then by how they relate.
    let mut tests_of: BTreeMap<Mapping, BTreeSet<usize>> = BTreeMap::new();
    for by_relation in [false, true] {
        let options =
            SearchOptions { same_operands: true, by_relation, spanning, ..Default::default() };
        let mut found = mappings(session, ivmps, options, &mut result.stats)?;
        let all: BTreeSet<Mapping> = found.keys().cloned().collect();
        for broken in contradicted(session, &all, options, &mut result.stats)? {
            found.remove(&broken);
        }
        for (mapping, tests) in found {
            tests_of.entry(mapping).or_default().extend(tests);
        }
    }
    let mut turned: BTreeMap<StatementId, BTreeSet<usize>> = BTreeMap::new();
    for (mapping, tests) in &tests_of {
        let statement = StatementId(session.statements.of_site[mapping.site as usize]);
        let support = result.support.entry(statement).or_default();
        support.n_explained = support.n_explained.max(tests.len());
        let turned = turned.entry(statement).or_default();
        turned.extend(tests);
        support.n_consistent = turned.len();
    }
    Ok(result)
}

/// Mappings that turn failing tests around, with the tests.
fn mappings(
    session: &Session<'_>,
    ivmps: &Ivmps,
    options: SearchOptions,
    stats: &mut SearchStats,
) -> Result<BTreeMap<Mapping, BTreeSet<usize>>, LocateError> {
    let failing: Vec<usize> = ivmps.found.keys().copied().collect();
    let searched = parallel::map(failing.len(), session.options.jobs, |i| {
        let active = ivmps.found[&failing[i]].keys().map(|s| s.0).collect::<BTreeSet<u32>>();
        let plan = plan(session, failing[i], &active);
        session.runner().search(&session.tests[failing[i]].test, &plan, options)
    });
    let mut found: BTreeMap<Mapping, BTreeSet<usize>> = BTreeMap::new();
    for (test, outcome) in failing.iter().zip(searched) {
        let outcome = outcome?;
        stats.n_replacements += outcome.n_replacements;
        stats.cpu += outcome.cpu;
        for hit in &outcome.hits {
            found.entry(Mapping::from(hit)).or_default().insert(*test);
        }
    }
    Ok(found)
}

/// Mappings that break a passing test.
fn contradicted(
    session: &Session<'_>,
    mappings: &BTreeSet<Mapping>,
    options: SearchOptions,
    stats: &mut SearchStats,
) -> Result<BTreeSet<Mapping>, LocateError> {
    let active: BTreeSet<u32> =
        mappings.iter().map(|m| session.statements.of_site[m.site as usize]).collect();
    let passing: Vec<usize> =
        (0..session.tests.len()).filter(|i| session.tests[*i].passed).collect();
    let checked = parallel::map(passing.len(), session.options.jobs, |i| {
        let plan = plan(session, passing[i], &active);
        let test = &session.tests[passing[i]].test;
        session.runner().contradicted(test, &plan, mappings, options)
    });
    let mut contradicted = BTreeSet::new();
    for outcome in checked {
        let (broken, outcome) = outcome?;
        stats.n_replacements += outcome.n_replacements;
        stats.cpu += outcome.cpu;
        contradicted.extend(broken);
    }
    Ok(contradicted)
}

fn plan<'a>(session: &'a Session<'_>, test: usize, active: &'a BTreeSet<u32>) -> Plan<'a> {
    Plan {
        profile: &session.profile,
        statements: &session.statements.of_site,
        n_statements: session.statements.len(),
        active,
        events: session.tests[test].events,
        steps_after: session.steps_after(test),
    }
}
