//! The search for IVMPs over all failing tests: full, or reduced as chapter 4 describes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use run::search::Plan;
use run::{Hit, SearchOptions, SearchOutcome};

use crate::StatementId;
use crate::parallel;
use crate::session::{LocateError, Session};

/// Which replacements are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Every instance with every alternate of the profile, until a statement has its first
    /// IVMP in the run: ranks exactly as trying everything would.
    #[default]
    Full,
    /// Every IVMP there is.
    Every,
    /// The working set of statements shrinks from run to run, and only the four spanning
    /// values are tried.
    Reduced,
}

/// A confirmed IVMP of a statement in one failing test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementIvmp {
    pub statement: StatementId,
    /// Index of the failing test in the session.
    pub test: usize,
    pub hit: Hit,
}

/// What the search cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchStats {
    pub n_replacements: u64,
    pub n_equivalents: u64,
    pub n_crashes: u64,
    pub n_hangs: u64,
    /// Hits that a run from the start did not confirm.
    pub n_unstable: u64,
    /// Hits found, before confirmation; equivalent ones counted each.
    pub n_hits: u64,
    /// Of the searching processes.
    pub cpu: Duration,
    /// Failing tests searched with a process per replacement.
    pub n_forked: u64,
    /// Failing tests searched with a run from the start per replacement.
    pub n_rerun: u64,
}

/// Everything found.
#[derive(Clone, Debug, Default)]
pub struct Ivmps {
    /// By failing test and statement, a few confirmed ones each, the earliest first.
    pub found: BTreeMap<usize, BTreeMap<StatementId, Vec<StatementIvmp>>>,
    /// Failing tests whose search had to be given up on the way.
    pub unfinished: BTreeSet<usize>,
    pub stats: SearchStats,
}

/// Confirmed IVMPs kept per statement and test, unless told otherwise.
const KEPT: usize = 3;

/// Statements are searched in so many groups, whatever the number of threads: what one
/// search leaves in memory must not depend on it.
const N_GROUPS: u32 = 4;

/// Searches the failing tests of a session.
pub struct Searcher<'a> {
    pub session: &'a Session<'a>,
    pub search: Search,
    /// A process per replacement even where snapshots would do.
    pub force_fork: bool,
    pub brute_force: bool,
    /// Confirmed IVMPs kept per statement and test.
    pub kept: usize,
    /// Events of a failing run whose instances are looked at.
    pub max_events: u64,
}

impl<'a> Searcher<'a> {
    pub fn new(session: &'a Session<'a>, search: Search) -> Self {
        let force_fork = session.options.force_fork;
        let max_events = u64::MAX;
        Self { session, search, force_fork, brute_force: false, kept: KEPT, max_events }
    }

    /// All failing tests.
    pub fn run(&self) -> Result<Ivmps, LocateError> {
        let failing = self.session.failing();
        if failing.is_empty() {
            return Err(LocateError::NoFailingTest);
        }
        match self.search {
            Search::Reduced => self.run_reduced(&failing),
            Search::Full | Search::Every => self.run_tests(&failing),
        }
    }

    /// These failing tests, each searched on its own.
    pub fn run_tests(&self, failing: &[usize]) -> Result<Ivmps, LocateError> {
        let mut ivmps = Ivmps::default();
        let jobs: Vec<(usize, u32)> =
            failing.iter().flat_map(|t| (0..N_GROUPS).map(|g| (*t, g))).collect();
        let results = parallel::map(jobs.len(), self.session.options.jobs, |i| {
            let (test, group) = jobs[i];
            self.search_statements(test, &self.group(test, group, None))
        });
        for (job, result) in jobs.iter().zip(results) {
            ivmps.take_in(job.0, result?);
        }
        Ok(ivmps)
    }

    /// All failing tests, for some statements alone.
    pub fn run_statements(&self, statements: &BTreeSet<u32>) -> Result<Ivmps, LocateError> {
        let failing = self.session.failing();
        let mut ivmps = Ivmps::default();
        let results = parallel::map(failing.len(), self.session.options.jobs, |i| {
            let covered = &self.session.tests[failing[i]].covered;
            let active = statements.iter().copied().filter(|s| covered.contains(&StatementId(*s)));
            self.search_statements(failing[i], &active.collect())
        });
        for (test, result) in failing.iter().zip(results) {
            ivmps.take_in(*test, result?);
        }
        Ok(ivmps)
    }

    fn run_reduced(&self, failing: &[usize]) -> Result<Ivmps, LocateError> {
        let mut ivmps = Ivmps::default();
        let mut working: Option<BTreeSet<StatementId>> = None;
        for test in failing {
            let results = parallel::map(N_GROUPS as usize, self.session.options.jobs, |g| {
                self.search_statements(*test, &self.group(*test, g as u32, working.as_ref()))
            });
            for result in results {
                ivmps.take_in(*test, result?);
            }
            let found = ivmps.found.get(test).map_or_else(BTreeSet::new, |statements| {
                statements.keys().copied().collect::<BTreeSet<_>>()
            });
            match &mut working {
                // The working set starts as what the shortest failing run executes.
                None if found.is_empty() => {
                    working = Some(self.session.tests[*test].covered.clone())
                }
                None => working = Some(found),
                Some(working) if !found.is_empty() => working.retain(|s| found.contains(s)),
                Some(_) => {}
            }
        }
        Ok(ivmps)
    }

    /// Statements of a group that the test executes and that hold replaceable values.
    fn group(
        &self,
        test: usize,
        group: u32,
        working: Option<&BTreeSet<StatementId>>,
    ) -> BTreeSet<u32> {
        let covered = &self.session.tests[test].covered;
        let with_sites = &self.session.statements.with_sites;
        let candidates = with_sites.iter().copied().filter(|s| covered.contains(&StatementId(*s)));
        candidates
            .enumerate()
            .filter(|(index, s)| {
                *index as u32 % N_GROUPS == group
                    && working.is_none_or(|w| w.contains(&StatementId(*s)))
            })
            .map(|(_, s)| s)
            .collect()
    }

    fn options(&self) -> SearchOptions {
        SearchOptions {
            stop_at_first: self.search != Search::Every,
            spanning: self.search == Search::Reduced,
            force_fork: self.force_fork,
            brute_force: self.brute_force,
            ..SearchOptions::default()
        }
    }

    fn search_statements(
        &self,
        test: usize,
        active: &BTreeSet<u32>,
    ) -> Result<GroupResult, LocateError> {
        let mut result = GroupResult::default();
        if active.is_empty() {
            return Ok(result);
        }
        let outcome = self.search_once(test, active, self.options())?;
        let mut unconfirmed = BTreeSet::new();
        for (statement, hits) in self.by_statement(&outcome) {
            if !self.confirm(test, statement, hits, &mut result)? {
                unconfirmed.insert(statement.0);
            }
        }
        result.add_cost(&outcome);
        // The first IVMP ended the search of its statement but does not hold: look further.
        if !unconfirmed.is_empty() && self.search != Search::Every {
            let all = SearchOptions { stop_at_first: false, ..self.options() };
            let outcome = self.search_once(test, &unconfirmed, all)?;
            for (statement, hits) in self.by_statement(&outcome) {
                self.confirm(test, statement, hits, &mut result)?;
            }
            result.add_cost(&outcome);
        }
        Ok(result)
    }

    fn search_once(
        &self,
        test: usize,
        active: &BTreeSet<u32>,
        options: SearchOptions,
    ) -> io::Result<SearchOutcome> {
        let run = &self.session.tests[test];
        let plan = Plan {
            profile: &self.session.profile,
            statements: &self.session.statements.of_site,
            n_statements: self.session.statements.len(),
            active,
            conditions: &BTreeSet::new(),
            events: run.events.min(self.max_events),
            steps_after: self.session.steps_after(test),
        };
        self.session.runner().search(&run.test, &plan, options)
    }

    fn by_statement<'h>(&self, outcome: &'h SearchOutcome) -> BTreeMap<StatementId, Vec<&'h Hit>> {
        let mut groups: BTreeMap<StatementId, Vec<&Hit>> = BTreeMap::new();
        for hit in &outcome.hits {
            let statement = self.session.statements.of_site[hit.replacement.site as usize];
            groups.entry(StatementId(statement)).or_default().push(hit);
        }
        groups
    }

    /// Runs hits from the start until enough are confirmed; whether any was.
    fn confirm(
        &self,
        test: usize,
        statement: StatementId,
        hits: Vec<&Hit>,
        result: &mut GroupResult,
    ) -> Result<bool, LocateError> {
        let mut kept: Vec<StatementIvmp> = Vec::new();
        let mut tried = BTreeSet::new();
        for hit in hits {
            if kept.len() == self.kept || self.session.cancel.is_cancelled() {
                break;
            }
            if !tried.insert(hit.replacement) {
                continue;
            }
            let runner = self.session.runner();
            let steps = self.session.steps_after(test);
            let run = &self.session.tests[test].test;
            let observation = runner.run_replaced(run, &hit.replacement, steps)?;
            if observation.is_some_and(|o| o.passed) {
                kept.push(StatementIvmp { statement, test, hit: hit.clone() });
            } else {
                result.stats.n_unstable += 1;
            }
        }
        let confirmed = !kept.is_empty();
        if confirmed {
            result.found.insert(statement, kept);
        }
        Ok(confirmed)
    }
}

#[derive(Default)]
struct GroupResult {
    found: BTreeMap<StatementId, Vec<StatementIvmp>>,
    is_unfinished: bool,
    stats: SearchStats,
}

impl GroupResult {
    fn add_cost(&mut self, outcome: &SearchOutcome) {
        self.is_unfinished |= !outcome.is_finished;
        let stats = &mut self.stats;
        stats.n_replacements += outcome.n_replacements;
        stats.n_equivalents += outcome.n_equivalents;
        stats.n_crashes += outcome.n_crashes;
        stats.n_hangs += outcome.n_hangs;
        stats.n_hits += outcome.hits.len() as u64 + outcome.n_lost;
        stats.cpu += outcome.cpu;
        match outcome.engine {
            run::search::Engine::Snapshot => {}
            run::search::Engine::Fork => stats.n_forked += 1,
            run::search::Engine::Rerun => stats.n_rerun += 1,
        }
    }
}

impl Ivmps {
    fn take_in(&mut self, test: usize, result: GroupResult) {
        self.found.entry(test).or_default().extend(result.found);
        if result.is_unfinished {
            self.unfinished.insert(test);
        }
        self.stats.add(&result.stats);
    }

    /// The same IVMPs for a session with some of the tests of `from`.
    pub(crate) fn renumbered(&self, from: &Session<'_>, to: &Session<'_>) -> Ivmps {
        let mut ivmps = Ivmps { stats: self.stats.clone(), ..Ivmps::default() };
        for (number, test) in to.tests.iter().enumerate() {
            let old = from.tests.iter().position(|t| t.test.name == test.test.name);
            if old.is_some_and(|old| self.unfinished.contains(&old)) {
                ivmps.unfinished.insert(number);
            }
            if let Some(found) = old.and_then(|old| self.found.get(&old)) {
                let mut found = found.clone();
                found.values_mut().flatten().for_each(|ivmp| ivmp.test = number);
                ivmps.found.insert(number, found);
            }
        }
        ivmps
    }

    /// In how many of the given failing tests the statement has an IVMP.
    pub fn n_tests(&self, statement: StatementId, failing: &[usize]) -> usize {
        failing
            .iter()
            .filter(|t| self.found.get(t).is_some_and(|found| found.contains_key(&statement)))
            .count()
    }

    /// Every confirmed IVMP of a statement, by test.
    pub fn of(&self, statement: StatementId) -> impl Iterator<Item = &StatementIvmp> {
        self.found.values().filter_map(move |found| found.get(&statement)).flatten()
    }
}

impl SearchStats {
    pub fn add(&mut self, other: &SearchStats) {
        self.n_replacements += other.n_replacements;
        self.n_equivalents += other.n_equivalents;
        self.n_crashes += other.n_crashes;
        self.n_hangs += other.n_hangs;
        self.n_unstable += other.n_unstable;
        self.n_hits += other.n_hits;
        self.cpu += other.cpu;
        self.n_forked += other.n_forked;
        self.n_rerun += other.n_rerun;
    }
}
