//! Runs of programs with threads: the order in which threads run, races, and who waits for whom.

use std::sync::Arc;

use rt::crash::{self, ACCESS_STACK, Event, Switch, wait as kind};

/// In which order threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Each until it waits or has had its share.
    #[default]
    InTurn,
    /// Drawn from a seed: by priorities that change at a few of `horizon` steps for even
    /// seeds, a random thread after random numbers of steps for odd ones.
    Random {
        seed: u64,
        horizon: u64,
    },
    Replay(Arc<[Switch]>),
}

/// A write whose memory is looked at; where that is shows a first run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    pub event: Event,
    /// Address and size.
    pub at: Option<(u64, u32)>,
}

/// `instead` runs where `held` is about to do the first access of a race, until the second
/// access has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Altered {
    pub held: u32,
    pub syncs: u32,
    pub steps: u32,
    pub instead: u32,
    pub second: Second,
}

/// Which access is the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    pub thread: u32,
    pub site: u32,
    pub instance: u32,
}

/// One access of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub thread: u32,
    pub site: u32,
    pub is_write: bool,
    /// Of its site, in its thread.
    pub instance: u32,
    pub syncs: u32,
    pub steps: u32,
    /// Threads that could have run instead.
    pub ready: Vec<u32>,
    /// Sites of calls, innermost first.
    pub stack: Vec<u32>,
}

/// Two accesses to the same memory without synchronisation in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    pub first: Access,
    pub second: Access,
    /// Of the memory, after the second access.
    pub value: u64,
}

/// A thread that waits where nothing goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub thread: u32,
    pub site: u32,
    pub what: &'static str,
    /// Who holds it since where.
    pub holder: Option<(u32, u32)>,
}

/// What a run showed of its threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// The one that failed.
    pub failed: u32,
    pub started: u32,
    /// Accesses to memory that threads may share.
    pub steps: u64,
    pub recorded: Vec<Switch>,
    /// The memory of the watched write.
    pub location: Option<(u64, u32)>,
    pub races: Vec<Race>,
    /// With another order: what the memory held after the second access, if that happened.
    pub second_value: Option<u64>,
    pub waits: Vec<Wait>,
}

pub(crate) fn access(raw: &crash::Access) -> Access {
    let ready = (0..raw.ready.len() * 64).filter(|i| raw.ready[i / 64] >> (i % 64) & 1 != 0);
    Access {
        thread: raw.thread,
        site: raw.site,
        is_write: raw.is_write != 0,
        instance: raw.instance,
        syncs: raw.syncs,
        steps: raw.steps,
        ready: ready.map(|i| i as u32).collect(),
        stack: raw.stack[..(raw.depth as usize).min(ACCESS_STACK)].to_vec(),
    }
}

pub(crate) fn wait(raw: &crash::Wait) -> Wait {
    let what = match raw.kind {
        kind::MUTEX => "a mutex",
        kind::RWLOCK => "a read-write lock",
        kind::CONDITION => "a condition variable",
        kind::SEMAPHORE => "a semaphore",
        kind::JOIN => "the end of another thread",
        kind::BARRIER => "a barrier",
        _ => "an initialisation that runs once",
    };
    let holder = raw.holder.checked_sub(1).map(|thread| (thread, raw.holder_site));
    Wait { thread: raw.thread, site: raw.site, what, holder }
}
