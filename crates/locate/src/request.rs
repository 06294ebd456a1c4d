//! From files, flags and tests to a ranked list: what the command line asks for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::Cancel;
use findings::Findings;
use run::{Allowed, BuildError, BuildOptions, Program, Suite, SuiteError};

use crate::consistency::consistency_of;
use crate::session::{LocateError, Options, RunCost, Session};
use crate::{
    Consistency, FailingRun, Formula, Ivmps, Order, Ranked, Search, SearchStats, Searcher,
    rank_by_formula, rank_runs, to_findings,
};

/// How statements are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// By IVMPs, and by whether other tests contradict or share them.
    #[default]
    Supported,
    /// By the number of failing tests with an IVMP alone, ties by Tarantula: as in the paper.
    Paper,
    /// By coverage alone; nothing is replaced.
    Formula(Formula),
}

/// What to locate, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub build: BuildOptions,
    /// A folder or a `tests.toml`.
    pub tests: PathBuf,
    /// What tests may use that declare a need of it.
    pub allowed: Allowed,
    pub options: Options,
    /// `None` chooses by the length of the failing runs.
    pub search: Option<Search>,
    pub ranking: Ranking,
}

#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Suite(#[from] SuiteError),
    #[error(transparent)]
    Locate(#[from] LocateError),
    #[error("cannot make a scratch folder: {0}")]
    Scratch(std::io::Error),
}

/// Failing runs with more events than this are searched in the reduced way by default.
const LONG_RUN: u64 = 20_000;

/// A program built for a request, in a scratch folder that goes with it.
pub struct Built {
    pub program: Program,
    _scratch: base::Scratch,
}

impl Built {
    pub fn new(options: &BuildOptions, cancel: &Cancel) -> Result<Self, RequestError> {
        let prefix = base::Scratch::new();
        let scratch = prefix.map_err(RequestError::Scratch)?;
        let program = Program::build(options, scratch.path(), cancel)?;
        Ok(Self { program, _scratch: scratch })
    }
}

/// A list, and what it cost to make.
#[derive(Clone, Debug, Default)]
pub struct Located {
    pub findings: Findings,
    /// All replaced runs, also those that hold IVMPs against passing tests.
    pub stats: SearchStats,
    pub runs: RunCost,
}

/// Builds the program, runs the tests and ranks the statements.
pub fn locate(request: &Request, cancel: &Cancel) -> Result<Located, RequestError> {
    let suite = Suite::load(&request.tests, &request.allowed)?;
    let built = Built::new(&request.build, cancel)?;
    let coverage_only = matches!(request.ranking, Ranking::Formula(_));
    let options = Options { coverage_only, ..request.options };
    let session = Session::start(&built.program, &suite, options, cancel)?;
    let made = ranked(request, &session)?;
    let stats = made.found.as_ref().map(Found::stats).unwrap_or_default();
    Ok(Located { findings: made.findings(&session), stats, runs: session.cost })
}

/// What searching failing runs has found.
#[derive(Default)]
pub(crate) struct Found {
    pub ivmps: Ivmps,
    pub consistency: Consistency,
}

impl Found {
    pub fn stats(&self) -> SearchStats {
        let mut stats = self.ivmps.stats.clone();
        stats.add(&self.consistency.stats);
        stats
    }

    /// What is known of each failing test.
    pub fn runs(&self, session: &Session<'_>, tests: &[usize]) -> BTreeMap<usize, FailingRun> {
        FailingRun::of_tests(session, tests, &self.ivmps, &self.consistency)
    }
}

/// The list of a session, and what it rests on.
pub(crate) struct Made {
    pub list: Vec<Ranked>,
    /// Nothing where a formula ranks.
    pub found: Option<Found>,
}

impl Made {
    pub fn findings(&self, session: &Session<'_>) -> Findings {
        finished(session, self.found.as_ref().map(|found| &found.ivmps), &self.list)
    }
}

pub(crate) fn ranked(request: &Request, session: &Session<'_>) -> Result<Made, LocateError> {
    let failing = session.failing();
    if failing.is_empty() {
        return Err(LocateError::NoFailingTest);
    }
    if let Ranking::Formula(formula) = request.ranking {
        return Ok(Made { list: rank_by_formula(session, formula), found: None });
    }
    let ivmps = Searcher::new(session, search_of(request, session)).run()?;
    let found = with_changes(request, session, &failing, ivmps)?;
    let list =
        rank_runs(session, found.runs(session, &failing).values(), order_of(request, session));
    Ok(Made { list, found: Some(found) })
}

/// Adds to the IVMPs of some tests the changes that hold in whole runs, where these count.
pub(crate) fn with_changes(
    request: &Request,
    session: &Session<'_>,
    tests: &[usize],
    ivmps: Ivmps,
) -> Result<Found, LocateError> {
    let consistency = match order_of(request, session) {
        Order::Paper => Consistency::default(),
        Order::Support => {
            let spanning = search_of(request, session) == Search::Reduced;
            consistency_of(session, &ivmps, tests, spanning)?
        }
    };
    Ok(Found { ivmps, consistency })
}

pub(crate) fn order_of(request: &Request, session: &Session<'_>) -> Order {
    match request.ranking {
        Ranking::Supported if session.has_whole_run_changes() => Order::Support,
        _ => Order::Paper,
    }
}

pub(crate) fn search_of(request: &Request, session: &Session<'_>) -> Search {
    let longest = session.failing().into_iter().map(|t| session.tests[t].events).max();
    request.search.unwrap_or(if longest.unwrap_or(0) > LONG_RUN {
        Search::Reduced
    } else {
        Search::Full
    })
}

pub(crate) fn finished(session: &Session<'_>, ivmps: Option<&Ivmps>, list: &[Ranked]) -> Findings {
    let mut findings = to_findings(session, ivmps, list);
    if let Ok(folder) = std::env::current_dir() {
        for statement in &mut findings.statements {
            let path = Path::new(&statement.place.file);
            if let Ok(relative) = path.strip_prefix(&folder) {
                statement.place.file = relative.to_string_lossy().into_owned();
            }
        }
    }
    findings.finish();
    findings
}
