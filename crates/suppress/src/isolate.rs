//! The loop of execution suppression.

use std::io;
use std::path::Path;

use run::suppressed::{Failure, Plan, Role, Run, SuppressedRunner};

use crate::choose::{choose, extend};

/// One failure, and what it led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    pub failure: Failure,
    /// Where it failed.
    pub site: u32,
    /// What the address belongs to, as the runtime says it.
    pub object: String,
    pub stack: Vec<u32>,
    /// Nothing where no definition is known: the value was never given.
    pub suspect: Option<Suspect>,
}

/// A definition that was suppressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub event: u32,
    pub site: u32,
    pub role: Role,
    /// Where it would have written, once it was reached.
    pub object: String,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolated {
    pub rounds: Vec<Round>,
    /// Runs of the program.
    pub executions: u64,
    /// The order of variables that made a silent corruption fail.
    pub variable_order: Vec<String>,
    /// The last run did not fail any more.
    pub is_complete: bool,
    pub plan: Plan,
    /// Globals the last run touched.
    pub touched: Vec<bool>,
}

impl Isolated {
    /// The definition that was suppressed last.
    pub fn identified(&self) -> Option<&Suspect> {
        self.rounds.last()?.suspect.as_ref()
    }
}

/// More rounds than this lead nowhere.
pub(crate) const MOST_ROUNDS: usize = 64;

/// Why a run cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("the run reaches its memory limit (raise --memory-limit)")]
    Memory,
    #[error(
        "the run does not end within its time limit; if it waits for a terminal or a network, \
         give it its input with --stdin (raise --time-limit otherwise)"
    )]
    Time,
    #[error("the run is too long to number its definitions; use a smaller input")]
    TooLong,
    #[error("the program starts other processes, which are not followed")]
    Forked,
    #[error("the program starts threads, which are not followed yet")]
    Threads,
    #[error("the program fails differently each time: {0} definitions, then {1}")]
    Differs(u64, u64),
}

pub(crate) fn unusable(failure: Option<Failure>) -> Option<Unusable> {
    match failure? {
        Failure::Memory => Some(Unusable::Memory),
        Failure::Time => Some(Unusable::Time),
        Failure::TooLong => Some(Unusable::TooLong),
        Failure::Forked => Some(Unusable::Forked),
        Failure::Threads => Some(Unusable::Threads),
        _ => None,
    }
}

/// Suppresses definition after definition until nothing fails. For long runs, `fast` is the
/// program that only suppresses: definitions are tracked once it has failed.
pub fn isolate(
    runner: &SuppressedRunner<'_>,
    executable: &Path,
    fast: Option<&Path>,
    plan: Plan,
    first: Run,
) -> io::Result<Result<Isolated, Unusable>> {
    let mut isolated = Isolated {
        rounds: Vec::new(),
        executions: 0,
        variable_order: Vec::new(),
        is_complete: false,
        plan,
        touched: first.touched.clone(),
    };
    let mut run = first;
    let mut found: Vec<(u32, u32)> = Vec::new();
    while let Some(failure) = run.failure {
        if let Some(reason) = unusable(run.failure) {
            // What suppression itself brought about says nothing about the program.
            return Ok(if isolated.rounds.is_empty() { Err(reason) } else { Ok(isolated) });
        }
        let culprit = choose(&run, &isolated.plan);
        let suspect = culprit.and_then(|culprit| {
            let (event, site, role) = (culprit.event?, culprit.site, culprit.role);
            Some(Suspect { event, site, role, object: String::new() })
        });
        isolated.rounds.push(Round {
            failure,
            site: run.site,
            object: run.object.clone(),
            stack: run.stack.clone(),
            suspect: suspect.clone(),
        });
        let Some(suspect) = suspect else { return Ok(Ok(isolated)) };
        if isolated.rounds.len() == MOST_ROUNDS {
            return Ok(Ok(isolated));
        }
        // Positions in the output mean nothing once part of it is suppressed.
        isolated.plan.output_differs_at = None;
        extend(&mut isolated.plan, &found, suspect.event, suspect.site);
        found.push((suspect.event, suspect.site));
        isolated.executions += 1;
        if let Some(fast) = fast
            && runner.run(fast, &isolated.plan)?.failure.is_none()
        {
            break;
        }
        isolated.executions += u64::from(fast.is_some());
        run = runner.run(executable, &isolated.plan)?;
        isolated.touched.clone_from(&run.touched);
        if let Some(round) = isolated.rounds.last_mut()
            && let Some(suspect) = &mut round.suspect
            && let Some(reached) = run.reached.iter().find(|point| point.event == suspect.event)
        {
            suspect.object = reached.object.clone();
        }
    }
    isolated.is_complete = true;
    Ok(Ok(isolated))
}
