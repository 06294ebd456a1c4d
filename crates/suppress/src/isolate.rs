//! The loop of execution suppression.

use std::io;
use std::path::Path;

use run::suppressed::{Culprit, Event, Failure, Plan, Role, Run, SuppressedRunner, Wait};

use crate::choose::{choose, extend};
use crate::races::{HarmfulRace, harmful_race};

/// One failure, and what it led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    pub failure: Failure,
    /// Where it failed.
    pub site: u32,
    /// What the address belongs to, as the runtime says it.
    pub object: String,
    pub stack: Vec<u32>,
    /// The thread it happened in; nothing in a program without.
    pub thread: Option<u32>,
    /// For a deadlock, who waits for what.
    pub waits: Vec<Wait>,
    /// Nothing where no definition is known: the value was never given.
    pub suspect: Option<Suspect>,
}

/// A definition that was suppressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub event: Event,
    pub site: u32,
    /// Its number among the definitions of all threads.
    pub order: u32,
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
    /// The race the last failure came from: the search ends with it.
    pub race: Option<HarmfulRace>,
    /// The last run ended in threads that wait for what was suppressed.
    pub is_stuck: bool,
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
    #[error("the program starts threads that are not followed: more than 256, or OpenMP's")]
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

impl Isolated {
    fn new(plan: Plan, first: &Run) -> Self {
        Self {
            rounds: Vec::new(),
            executions: 0,
            variable_order: Vec::new(),
            is_complete: false,
            race: None,
            is_stuck: false,
            plan,
            touched: first.touched.clone(),
        }
    }
}

fn round(failure: Failure, run: &Run, suspect: Option<Suspect>) -> Round {
    Round {
        failure,
        site: run.site,
        object: run.object.clone(),
        stack: run.stack.clone(),
        thread: (run.threads.started > 1).then_some(run.threads.failed),
        waits: run.threads.waits.clone(),
        suspect,
    }
}

fn suspect(culprit: Culprit) -> Option<Suspect> {
    let (site, order, role) = (culprit.site, culprit.order, culprit.role);
    Some(Suspect { event: culprit.event?, site, order, role, object: String::new() })
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
    let mut isolated = Isolated::new(plan, &first);
    let mut run = first;
    let mut found: Vec<(Event, u32)> = Vec::new();
    while let Some(failure) = run.failure {
        if let Some(reason) = unusable(run.failure) {
            // What suppression itself brought about says nothing about the program.
            return Ok(if isolated.rounds.is_empty() { Err(reason) } else { Ok(isolated) });
        }
        if failure == Failure::Deadlock {
            isolated.is_stuck = !isolated.rounds.is_empty();
            if !isolated.is_stuck {
                isolated.rounds.push(round(failure, &run, None));
            }
            break;
        }
        let culprit = choose(&run, &isolated.plan);
        let suspect = culprit.and_then(suspect);
        isolated.rounds.push(round(failure, &run, suspect.clone()));
        if let Some(culprit) = culprit
            && run.threads.started > 1
        {
            let (race, executions) = harmful_race(runner, executable, &isolated.plan, &culprit)?;
            isolated.executions += executions;
            if race.is_some() {
                isolated.race = race;
                break;
            }
        }
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
