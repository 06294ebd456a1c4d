//! Which statements could be changed so that failing tests pass *and passing ones still
//! do*, as far as the tests show.
//!
//! A statement computes a value from its operands. If a change of the statement were the
//! fix, it would hold in whole runs: for given operands wherever they are met again (a wrong
//! formula), for operands that relate alike (a wrong operator), or for any (a wrong constant,
//! a condition missing or too many). A mapping that turns a failing run around but breaks a
//! passing one speaks against the statement; one that turns several failing runs around
//! speaks for it.

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

/// A change of what a statement computes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StatementChange {
    pub statement: StatementId,
    /// Its site is numbered within the statement, which a rebuilt program keeps.
    pub mapping: Mapping,
}

/// Changes that turn failing tests around and that no passing test contradicts.
#[derive(Clone, Debug, Default)]
pub struct Consistency {
    /// By failing test.
    pub changes: BTreeMap<usize, BTreeSet<StatementChange>>,
    pub stats: SearchStats,
}

impl Consistency {
    /// What speaks for each statement, from all failing tests.
    pub fn support(&self) -> BTreeMap<StatementId, Support> {
        support(self.changes.values())
    }
}

/// What speaks for each statement, from the changes that turn each failing test around.
pub(crate) fn support<'a>(
    changes: impl Iterator<Item = &'a BTreeSet<StatementChange>>,
) -> BTreeMap<StatementId, Support> {
    let mut support: BTreeMap<StatementId, Support> = BTreeMap::new();
    let mut n_turned: BTreeMap<&StatementChange, usize> = BTreeMap::new();
    for of_test in changes {
        let statements: BTreeSet<StatementId> = of_test.iter().map(|c| c.statement).collect();
        for statement in statements {
            support.entry(statement).or_default().n_consistent += 1;
        }
        for change in of_test {
            *n_turned.entry(change).or_default() += 1;
        }
    }
    for (change, n) in n_turned {
        let support = support.entry(change.statement).or_default();
        support.n_explained = support.n_explained.max(n);
    }
    support
}

/// When a mapping applies: operands that are equal, that relate alike, or any.
const SCOPES: [SearchOptions; 3] = {
    const EXACT: SearchOptions = SearchOptions {
        stop_at_first: false,
        spanning: false,
        force_fork: false,
        brute_force: false,
        same_operands: true,
        by_relation: false,
        always: false,
    };
    [EXACT, SearchOptions { by_relation: true, ..EXACT }, SearchOptions { always: true, ..EXACT }]
};

/// Failing tests by the mapping that turns them around.
type Turned = BTreeMap<Mapping, BTreeSet<usize>>;

/// Searches failing runs for mappings, and holds these against the passing tests.
/// `spanning` limits the alternates as the reduced search does.
pub fn consistency(
    session: &Session<'_>,
    ivmps: &Ivmps,
    spanning: bool,
) -> Result<Consistency, LocateError> {
    consistency_of(session, ivmps, &session.failing(), spanning)
}

/// The same for some of the failing tests.
pub(crate) fn consistency_of(
    session: &Session<'_>,
    ivmps: &Ivmps,
    failing: &[usize],
    spanning: bool,
) -> Result<Consistency, LocateError> {
    let mut result = Consistency::default();
    let number_in_statement = numbers_in_statements(&session.statements.of_site);
    for scope in SCOPES {
        let options = SearchOptions { spanning, force_fork: session.options.force_fork, ..scope };
        let mut found = mappings(session, ivmps, failing, options, &mut result.stats)?;
        let all: BTreeSet<Mapping> = found.keys().cloned().collect();
        for broken in contradicted(session, &all, options, &mut result.stats)? {
            found.remove(&broken);
        }
        for (mapping, tests) in found {
            let site = mapping.site as usize;
            let change = StatementChange {
                statement: StatementId(session.statements.of_site[site]),
                mapping: Mapping { site: number_in_statement[site], ..mapping },
            };
            for test in tests {
                result.changes.entry(test).or_default().insert(change.clone());
            }
        }
    }
    Ok(result)
}

/// The number of each site among those of its statement.
fn numbers_in_statements(of_site: &[u32]) -> Vec<u32> {
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    let mut number = |statement| {
        let next = next.entry(statement).or_default();
        *next += 1;
        *next - 1
    };
    of_site.iter().map(|statement| number(*statement)).collect()
}

/// Mappings that turn failing tests around, with the tests. Conditions are searched in
/// every statement, since a changed one may have to decide otherwise several times in a run;
/// other values where one replacement has already helped.
fn mappings(
    session: &Session<'_>,
    ivmps: &Ivmps,
    failing: &[usize],
    options: SearchOptions,
    stats: &mut SearchStats,
) -> Result<Turned, LocateError> {
    let searched = parallel::map(failing.len(), session.options.jobs, |i| {
        let test = failing[i];
        let covered: BTreeSet<u32> = session.tests[test].covered.iter().map(|s| s.0).collect();
        let with_ivmps = ivmps.found.get(&test).map_or_else(BTreeSet::new, |found| {
            found.keys().map(|s| s.0).collect::<BTreeSet<u32>>()
        });
        let active = if options.always { &covered } else { &with_ivmps };
        let plan = plan(session, test, active, &covered);
        session.runner().search(&session.tests[test].test, &plan, options)
    });
    let mut found = Turned::new();
    for (test, outcome) in failing.iter().zip(searched) {
        let outcome = outcome?;
        stats.n_replacements += outcome.n_replacements;
        stats.cpu += outcome.cpu;
        for hit in &outcome.hits {
            found.entry(Mapping::new(hit, options)).or_default().insert(*test);
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
        let plan = plan(session, passing[i], &active, &active);
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

fn plan<'a>(
    session: &'a Session<'_>,
    test: usize,
    active: &'a BTreeSet<u32>,
    conditions: &'a BTreeSet<u32>,
) -> Plan<'a> {
    Plan {
        profile: &session.profile,
        statements: &session.statements.of_site,
        n_statements: session.statements.len(),
        active,
        conditions,
        events: session.tests[test].events,
        steps_after: session.steps_after(test),
    }
}
