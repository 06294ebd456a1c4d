//! From a program and an input to findings.

use std::io;
use std::time::Duration;

use base::Cancel;
use findings::{Findings, Incomplete};
use llvm::suppress::SiteKind;
use run::suppressed::{Event, PlainRun, Plan, Run, Schedule, SuppressedProgram, SuppressedRunner};
use run::{BuildError, BuildOptions, Expected, Limits, Oracle, Test};

use crate::expose::expose;
use crate::isolate::{Isolated, MOST_ROUNDS, Unusable, isolate, unusable};
use crate::seek::seek;
use crate::words::Words;

/// What to look at.
#[derive(Clone, Debug)]
pub struct Request {
    pub build: BuildOptions,
    /// The run that fails; its oracle says what is expected of it.
    pub test: Test,
    pub limits: Limits,
    /// Of a program with threads that does not fail: other orders of threads to try.
    pub schedules: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum CrashError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot run the program: {0}")]
    Run(#[from] io::Error),
}

/// What a run costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCost {
    pub plain: Duration,
    pub suppressing: Duration,
    pub tracking: Duration,
}

/// Runs the program as it is, with suppression and with tracking, and suppresses nothing.
pub fn measure(request: &Request, cancel: &Cancel) -> Result<RunCost, CrashError> {
    let scratch = base::Scratch::new()?;
    let program = SuppressedProgram::build(&request.build, scratch.path(), cancel)?;
    let runner =
        SuppressedRunner { program: &program, test: &request.test, limits: request.limits, cancel };
    let suppressing = program.suppressing(cancel)?;
    let plan = Plan::default();
    Ok(RunCost {
        plain: runner.run_plain()?.cpu,
        suppressing: runner.run(&suppressing, &plan)?.plain.cpu,
        tracking: runner.run(&program.tracking, &plan)?.plain.cpu,
    })
}

/// Builds the program and finds where its memory is first corrupted.
pub fn find(request: &Request, cancel: &Cancel) -> Result<Findings, CrashError> {
    let scratch = base::Scratch::new()?;
    let program = SuppressedProgram::build(&request.build, scratch.path(), cancel)?;
    let runner =
        SuppressedRunner { program: &program, test: &request.test, limits: request.limits, cancel };
    let mut findings = Findings::new();
    let started = start(&runner, request)?;
    let Started { plan, first, executions } = match started {
        Ok(started) => started,
        Err(reason) => {
            let said = format!("{reason}{}", asks_for(&program));
            findings.incomplete.push(not_analysed(&request.test, &said));
            findings.finish();
            return Ok(findings);
        }
    };
    // Only now: a program that starts others is not run where nobody stops it.
    let plain = runner.run_plain()?;
    let n_threads = first.threads.started;
    let complete = Complete { runner: &runner, cancel };
    match complete.find(plan, first)? {
        Err(reason) => {
            findings.incomplete.push(not_analysed(&request.test, &reason.to_string()));
        }
        Ok(isolated) if isolated.rounds.is_empty() => {
            let said = does_not_fail(&plain, n_threads, request.schedules);
            let said = format!("{said}{}", asks_for(&program));
            findings.incomplete.push(not_analysed(&request.test, &said));
        }
        Ok(mut isolated) => {
            isolated.executions += executions;
            let words = Words { program: &program };
            findings.corruption = words.corruption(&isolated);
            findings.notices.extend(words.notices(&isolated, plain.passed, n_threads));
        }
    }
    findings.finish();
    Ok(findings)
}

/// The run to begin with.
struct Started {
    plan: Plan,
    first: Run,
    executions: u64,
}

/// A run that fails, if there is one, and can be repeated.
fn start(
    runner: &SuppressedRunner<'_>,
    request: &Request,
) -> io::Result<Result<Started, Unusable>> {
    let tracking = &runner.program.tracking;
    let mut plan = Plan::default();
    let mut executions = 3;
    let mut first = runner.run(tracking, &plan)?;
    let has_passed = first.failure.is_none() && first_difference(&request.test, &first).is_none();
    if has_passed && first.threads.started > 1 {
        let (found, tried) = seek(runner, &first, request.schedules)?;
        executions += tried;
        first = found.unwrap_or(first);
    }
    if let Some(reason) = unusable(first.failure) {
        return Ok(Err(reason));
    }
    if first.threads.started > 1 {
        plan.schedule = Schedule::Replay(std::mem::take(&mut first.threads.recorded).into());
    }
    let again = runner.run(tracking, &plan)?;
    if let Some(reason) = differs(&first, &again) {
        return Ok(Err(reason));
    }
    if first.failure.is_none()
        && let Some(at) = first_difference(&request.test, &first)
    {
        plan.output_differs_at = Some(at);
        first = runner.run(tracking, &plan)?;
    }
    Ok(Ok(Started { plan, first, executions }))
}

/// Definitions of a run from which on tracking is too slow to be done more than needed:
/// other orders of variables are not tried.
const LONG_RUN: u64 = 20_000_000;

/// Suppression and variable re-ordering by turns.
struct Complete<'a> {
    runner: &'a SuppressedRunner<'a>,
    cancel: &'a Cancel,
}

impl Complete<'_> {
    fn find(&self, plan: Plan, first: Run) -> Result<Result<Isolated, Unusable>, CrashError> {
        let mut executable = self.runner.program.tracking.clone();
        let is_long = first.events > LONG_RUN;
        let fast = is_long.then(|| self.runner.program.suppressing(self.cancel)).transpose()?;
        let mut whole = match isolate(self.runner, &executable, fast.as_deref(), plan, first)? {
            Ok(isolated) => isolated,
            Err(reason) => return Ok(Err(reason)),
        };
        // A race or a deadlock is what it is, whatever lies behind which buffer.
        let is_done = |whole: &Isolated| whole.race.is_some() || !whole.is_complete;
        while !is_done(&whole) && !is_long && whole.rounds.len() < MOST_ROUNDS {
            let (exposed, executions) = expose(self.runner, &whole, self.cancel)?;
            whole.executions += executions;
            let Some(exposed) = exposed else { break };
            executable.clone_from(&exposed.executable);
            let next = isolate(self.runner, &executable, None, exposed.plan, exposed.run)?;
            let Ok(next) = next else { break };
            whole.executions += next.executions;
            whole.is_complete = next.is_complete;
            whole.plan = next.plan;
            whole.touched = next.touched;
            (whole.race, whole.is_stuck) = (next.race, next.is_stuck);
            whole.rounds.extend(next.rounds);
            whole.variable_order = exposed.order;
        }
        Ok(Ok(whole))
    }
}

fn differs(first: &Run, again: &Run) -> Option<Unusable> {
    let same = first.failure == again.failure
        && first.site == again.site
        && events(first).eq(events(again));
    (!same).then_some(Unusable::Differs(first.events, again.events))
}

fn events(run: &Run) -> impl Iterator<Item = Option<Event>> {
    run.culprits.iter().map(|culprit| culprit.event)
}

/// Where the output of a run that ends first differs from what is expected.
fn first_difference(test: &Test, run: &Run) -> Option<u64> {
    let Oracle::Output(Expected { stdout: Some(expected), .. }) = &test.oracle else { return None };
    let (found, expected) = (&run.plain.stdout, expected);
    let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    (same < found.len().max(expected.len())).then_some(same as u64)
}

fn does_not_fail(plain: &PlainRun, n_threads: u32, schedules: u64) -> String {
    if n_threads > 1 {
        format!(
            "the run does not fail, in none of {} orders of its threads and no order of its \
             variables that was tried (--seek-failure N tries more)",
            schedules + 1
        )
    } else if plain.passed {
        "the run does not fail, in no order of its variables that was tried".to_string()
    } else {
        format!(
            "the program as it is built fails ({}), but not where its definitions are tracked",
            crate::words::ending(plain.ending)
        )
    }
}

/// What a run may lack here, if the program asks for it.
fn asks_for(program: &SuppressedProgram) -> String {
    const TERMINAL: &[&str] = &[
        "tcgetattr",
        "tcsetattr",
        "ttyname",
        "ctermid",
        "isatty",
        "initscr",
        "tgetent",
        "openpty",
    ];
    const NETWORK: &[&str] =
        &["socket", "connect", "getaddrinfo", "gethostbyname", "bind", "listen", "accept"];
    let calls = |names: &[&'static str]| {
        names.iter().copied().find(|name| {
            program.sites.iter().any(|site| site.kind == SiteKind::Call && site.name == *name)
        })
    };
    let said = |name: Option<&str>, what: &str| {
        name.map_or(String::new(), |name| format!("; it calls {name}(), and here {what}"))
    };
    said(calls(TERMINAL), "runs without a terminal")
        + &said(calls(NETWORK), "whoever it talks to may be missing")
}

fn not_analysed(test: &Test, reason: &str) -> Incomplete {
    Incomplete { what: test.name.clone(), reason: reason.to_string(), details: Vec::new() }
}
