//! One program with its tests: what passes, what fails, what ran and which values were seen.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use base::Cancel;
use run::{Ending, Limits, Observation, Oracle, Profile, Program, Runner, Suite, Test};

use crate::parallel;
use crate::{Formula, Spectrum, StatementId, StatementTable};

/// Settings of a session.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub limits: Limits,
    /// Threads, each running one program at a time.
    pub jobs: usize,
    /// Whether a test that exceeds its limits counts as failing instead of being set aside.
    pub limit_is_failure: bool,
    /// A process per replacement even where snapshots would do.
    pub force_fork: bool,
    /// Whether only coverage is wanted, and no value is ever replaced.
    pub coverage_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            jobs: 1,
            limit_is_failure: false,
            force_fork: false,
            coverage_only: false,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    #[error("no test fails: there is nothing to locate")]
    NoFailingTest,
    #[error("no test can be used: {0}")]
    NoUsableTest(String),
    #[error("interrupted")]
    Interrupted,
    #[error("cannot run the program: {0}")]
    Run(io::Error),
}

impl From<io::Error> for LocateError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => LocateError::Interrupted,
            _ => LocateError::Run(error),
        }
    }
}

/// A test that takes part.
#[derive(Clone, Debug)]
pub struct TestRun {
    pub test: Test,
    pub passed: bool,
    pub ending: Ending,
    pub events: u64,
    pub covered: BTreeSet<StatementId>,
}

/// A test that does not, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetAside {
    pub name: String,
    pub reason: String,
}

/// The program, its tests and everything seen in their runs.
pub struct Session<'a> {
    pub program: &'a Program,
    pub options: Options,
    pub cancel: &'a Cancel,
    pub statements: StatementTable,
    pub tests: Vec<TestRun>,
    pub set_aside: Vec<SetAside>,
    pub profile: Profile,
    pub cost: RunCost,
}

/// What the tests took that came to an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCost {
    /// As compiled at `-O0`.
    pub plain: Duration,
    /// Instrumented, with nothing replaced or recorded.
    pub instrumented: Duration,
}

impl<'a> Session<'a> {
    /// Runs every test and sets aside those that cannot be relied on.
    pub fn start(
        program: &'a Program,
        suite: &Suite,
        options: Options,
        cancel: &'a Cancel,
    ) -> Result<Self, LocateError> {
        let runner = Runner { program, limits: options.limits, cancel };
        let trials = parallel::map(suite.tests.len(), options.jobs, |i| {
            try_test(&runner, &suite.tests[i], &options)
        });
        let mut session = Session {
            program,
            options,
            cancel,
            statements: StatementTable::new(program),
            tests: Vec::new(),
            set_aside: Vec::new(),
            profile: Profile::new(),
            cost: RunCost::default(),
        };
        for (name, reason) in &suite.unusable {
            session.set_aside.push(SetAside { name: name.clone(), reason: reason.clone() });
        }
        for (test, trial) in suite.tests.iter().zip(trials) {
            session.take_in(test, trial)?;
        }
        session.set_aside.sort();
        if session.tests.is_empty() {
            let why = session.set_aside.first().map_or("there is none".to_string(), |aside| {
                format!("{} ({})", aside.name, aside.reason)
            });
            return Err(LocateError::NoUsableTest(why));
        }
        Ok(session)
    }

    fn take_in(&mut self, test: &Test, trial: io::Result<Trial>) -> Result<(), LocateError> {
        let trial = match trial {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                return Err(LocateError::Interrupted);
            }
            Err(error) => {
                let reason = format!("cannot be run: {error}");
                self.set_aside.push(SetAside { name: test.name.clone(), reason });
                return Ok(());
            }
            Ok(trial) => trial,
        };
        if trial.second.ending != Ending::OverLimit {
            self.cost.plain += trial.plain.cpu;
            self.cost.instrumented += trial.second.cpu;
        }
        if let Some(reason) = trial.unreliable(&self.options) {
            self.set_aside.push(SetAside { name: test.name.clone(), reason });
            return Ok(());
        }
        self.profile.merge(trial.profile);
        self.tests.push(TestRun {
            test: test.clone(),
            passed: trial.first.passed,
            ending: trial.first.ending,
            events: trial.first.events,
            covered: self.statements.covered(&trial.first.coverage),
        });
        Ok(())
    }

    /// The same session with only some of its failing tests.
    pub(crate) fn restricted_to(&self, names: &[String]) -> Session<'_> {
        let stays = |test: &&TestRun| test.passed || names.contains(&test.test.name);
        Session {
            program: self.program,
            options: self.options,
            cancel: self.cancel,
            statements: self.statements.clone(),
            tests: self.tests.iter().filter(stays).cloned().collect(),
            set_aside: self.set_aside.clone(),
            profile: self.profile.clone(),
            cost: self.cost,
        }
    }

    /// Whether values can be replaced throughout a run and the run judged at once: not where a
    /// script judges, nor with threads, where each replacement is a run from the start.
    pub(crate) fn has_whole_run_changes(&self) -> bool {
        let by_output = |test: &TestRun| matches!(test.test.oracle, Oracle::Output(_));
        !self.program.instrumented.has_threads && self.tests.iter().all(by_output)
    }

    pub fn runner(&self) -> Runner<'_> {
        Runner { program: self.program, limits: self.options.limits, cancel: self.cancel }
    }

    /// Indices into `tests`, shortest run first; equal ones in the order of the suite.
    pub fn failing(&self) -> Vec<usize> {
        let mut failing: Vec<usize> =
            (0..self.tests.len()).filter(|i| !self.tests[*i].passed).collect();
        failing.sort_by_key(|i| (self.tests[*i].events, *i));
        failing
    }

    /// Statements that some failing test executed: those that are ranked.
    pub fn executed_by_failing(&self) -> BTreeSet<StatementId> {
        let failing = self.tests.iter().filter(|test| !test.passed);
        failing.flat_map(|test| test.covered.iter().copied()).collect()
    }

    pub fn spectrum(&self, statement: StatementId) -> Spectrum {
        let of = |passed| {
            self.tests.iter().filter(move |t| t.passed == passed).map(|test| &test.covered)
        };
        Spectrum::of(statement, of(false), of(true))
    }

    pub fn suspiciousness(&self, statement: StatementId, formula: Formula) -> f64 {
        formula.suspiciousness(&self.spectrum(statement))
    }

    /// Events a replaced run of this test may take before it counts as hanging.
    pub(crate) fn steps_after(&self, test: usize) -> u64 {
        let ended = self.tests.iter().filter(|t| matches!(t.ending, Ending::Exited(_)));
        let own = &self.tests[test];
        let enough = enough_steps(own.ending, own.events, ended.map(|t| t.events).max());
        enough.min(self.options.limits.steps)
    }
}

/// A crashing run that is so many times longer than any that ends has run away.
const RUNAWAY: u64 = 10;

/// Events a changed run may take, from how the run ended unchanged and from the longest run that
/// came to an end. One that ended only because it crashed may have run away for long before.
fn enough_steps(ending: Ending, events: u64, longest: Option<u64>) -> u64 {
    let normal = match (ending, longest) {
        (Ending::OverLimit, _) => longest.unwrap_or(0),
        (Ending::Exited(_), _) | (_, None) => events,
        (_, Some(longest)) => events.min(longest.saturating_mul(RUNAWAY)),
    };
    normal.saturating_mul(3).max(longest.unwrap_or(0)).saturating_add(10_000)
}

/// A test run three times: instrumented, plain, and profiled.
struct Trial {
    profile: Profile,
    first: Observation,
    second: Observation,
    plain: Observation,
}

fn try_test(runner: &Runner<'_>, test: &Test, options: &Options) -> io::Result<Trial> {
    let mut profile = Profile::new();
    let second = runner.run(test)?;
    // Where the instrumented program comes to no end, neither does the plain one, and no
    // budget of steps would stop it.
    let is_endless = second.ending == Ending::OverLimit;
    let plain = if is_endless { second.clone() } else { runner.run_plain(test)? };
    let first = if is_endless && !options.limit_is_failure {
        second.clone()
    } else if options.coverage_only {
        runner.run(test)?
    } else {
        runner.run_profiled(test, &mut profile)?
    };
    Ok(Trial { profile, first, second, plain })
}

impl Trial {
    fn unreliable(&self, options: &Options) -> Option<String> {
        let over = |run: &Observation| run.ending == Ending::OverLimit;
        if !options.limit_is_failure && (over(&self.plain) || over(&self.second)) {
            let limits = &options.limits;
            let exceeded = if self.second.events < limits.steps {
                format!("time ({} s): --time-limit", limits.time.as_secs())
            } else {
                format!("steps ({} million): --step-limit", limits.steps / 1_000_000)
            };
            return Some(format!("exceeds its limit of {exceeded} sets another"));
        }
        let differs = |a: &Observation, b: &Observation| {
            a.passed != b.passed || a.ending != b.ending || a.stdout != b.stdout
        };
        if differs(&self.first, &self.second) && !over(&self.second) {
            return Some("flaky: two runs of it differ".to_string());
        }
        if self.first.passed != self.plain.passed {
            let verdict = if self.plain.passed { "passes" } else { "fails" };
            return Some(format!(
                "{verdict} only without instrumentation: it depends on undefined behaviour or on time"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_after_running_away_does_not_set_the_budget() {
        let crash = Ending::Signalled(11);
        assert_eq!(enough_steps(crash, 5_000_000, Some(400)), 22_000);
        assert_eq!(enough_steps(crash, 300, Some(400)), 10_900);
        assert_eq!(enough_steps(crash, 5_000_000, None), 15_010_000);
        assert_eq!(enough_steps(Ending::Exited(0), 5_000, Some(5_000)), 25_000);
        assert_eq!(enough_steps(Ending::OverLimit, 200_000_000, Some(400)), 11_200);
    }
}
