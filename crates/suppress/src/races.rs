//! Races at the write a failure leads to, and whether they do harm.
//!
//! The write's memory is looked at while the run is repeated: the last access of another
//! thread before it, and those that read it afterwards, race with it where no synchronisation
//! orders them. A race does harm if the memory holds something else after the second access
//! once one of the threads that were ready at the first access has run in its place.

use std::io;
use std::path::Path;

use run::suppressed::{
    Access, Altered, Culprit, Event, Plan, Race, Run, Second, SuppressedRunner, Watched,
};

/// A race that was tried the other way round, with another result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarmfulRace {
    pub race: Race,
    pub kind: RaceKind,
    /// The thread that ran in place of the first access.
    pub instead: u32,
    /// What the memory held after the second access then.
    pub other_value: u64,
    /// Bytes of the memory.
    pub size: u32,
}

/// Which access came after which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaceKind {
    WriteAfterRead,
    WriteAfterWrite,
    ReadAfterWrite,
}

impl RaceKind {
    fn of(race: &Race) -> Self {
        match (race.first.is_write, race.second.is_write) {
            (false, _) => RaceKind::WriteAfterRead,
            (true, true) => RaceKind::WriteAfterWrite,
            (true, false) => RaceKind::ReadAfterWrite,
        }
    }
}

/// The harmful race of what gave the failing place its value, and how many runs that took.
pub(crate) fn harmful_race(
    runner: &SuppressedRunner<'_>,
    executable: &Path,
    plan: &Plan,
    culprit: &Culprit,
) -> io::Result<(Option<HarmfulRace>, u64)> {
    let mut search = Search { runner, executable, plan, executions: 0 };
    // What put the value where it was found, then what made it.
    let mut writes = vec![culprit.store];
    writes.extend(culprit.event.filter(|event| *event != culprit.store));
    for write in writes {
        if let Some(found) = search.at(write)? {
            return Ok((Some(found), search.executions));
        }
    }
    Ok((None, search.executions))
}

struct Search<'a> {
    runner: &'a SuppressedRunner<'a>,
    executable: &'a Path,
    plan: &'a Plan,
    executions: u64,
}

impl Search<'_> {
    fn run(&mut self, watched: Watched, altered: Option<Altered>) -> io::Result<Run> {
        self.executions += 1;
        let plan = Plan { watched: Some(watched), altered, ..self.plan.clone() };
        self.runner.run(self.executable, &plan)
    }

    fn at(&mut self, event: Event) -> io::Result<Option<HarmfulRace>> {
        // A variable in a register is nobody else's.
        let first = self.run(Watched { event, at: None }, None)?;
        let Some(at) = first.threads.location else { return Ok(None) };
        let watched = Watched { event, at: Some(at) };
        let races = self.run(watched, None)?.threads.races;
        for race in races {
            // The thread of the second access first: that is the same race the other way round.
            let (own, others): (Vec<u32>, Vec<u32>) =
                race.first.ready.iter().partition(|thread| **thread == race.second.thread);
            for instead in own.into_iter().chain(others) {
                let altered = altered(&race.first, &race.second, instead);
                let run = self.run(watched, Some(altered))?;
                if let Some(other_value) = run.threads.second_value
                    && other_value != race.value
                {
                    let (kind, size) = (RaceKind::of(&race), at.1);
                    return Ok(Some(HarmfulRace { race, kind, instead, other_value, size }));
                }
            }
        }
        Ok(None)
    }
}

fn altered(first: &Access, second: &Access, instead: u32) -> Altered {
    let second = Second { thread: second.thread, site: second.site, instance: second.instance };
    Altered { held: first.thread, syncs: first.syncs, steps: first.steps, instead, second }
}
