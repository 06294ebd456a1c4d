//! Looks for an order of threads in which the run fails.

use std::io;

use run::suppressed::{Plan, Run, Schedule, SuppressedRunner};

use crate::isolate::unusable;

/// The first schedule of at most `n_schedules` that fails, and how many were tried.
pub(crate) fn seek(
    runner: &SuppressedRunner<'_>,
    passing: &Run,
    n_schedules: u64,
) -> io::Result<(Option<Run>, u64)> {
    let horizon = passing.threads.steps.max(16);
    for seed in 1..=n_schedules {
        if runner.cancel.is_cancelled() {
            return Ok((None, seed - 1));
        }
        let schedule = Schedule::Random { seed, horizon };
        let run = runner.run(&runner.program.tracking, &Plan { schedule, ..Plan::default() })?;
        if run.failure.is_some() && unusable(run.failure).is_none() {
            return Ok((Some(run), seed));
        }
    }
    Ok((None, n_schedules))
}
