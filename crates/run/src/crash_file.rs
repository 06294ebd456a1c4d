//! Writes the plan of a suppressed run and reads what became of it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rt::crash::{
    CORRUPT, CrashFile, MAGIC, MAX_CULPRITS, MAX_GLOBALS, MAX_POINTS, MAX_RACES, MAX_SITES,
    MAX_STACK, MAX_WAITS, NOT_COMPARED, failure, policy, role,
};

use crate::limits::Limits;
use crate::runner::Ending;
use crate::suppressed::PlainRun;
use crate::threads::{Altered, Race, Schedule, Second, Threads, Wait, Watched, access, wait};

pub use rt::crash::{Event, Switch};

/// What to suppress, and in which order variables lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Definitions, in order.
    pub points: Vec<Event>,
    /// All definitions of a site from one on, in that one's thread.
    pub sites: Vec<(u32, Event)>,
    pub schedule: Schedule,
    /// The write whose races are looked for.
    pub watched: Option<Watched>,
    /// Another order of two accesses.
    pub altered: Option<Altered>,
    pub layouts: Vec<Layout>,
    /// Whether overruns of blocks that are never given back count as well.
    pub check_heap_at_exit: bool,
    /// The first byte of the output that is not as expected.
    pub output_differs_at: Option<u64>,
}

/// Where the variables of a frame lie: offsets from its start, the return address last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub frame: u32,
    pub offsets: Vec<u32>,
}

/// How a run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    Signal(i32),
    Abort,
    DoubleFree,
    InvalidFree,
    /// Somebody wrote behind a block.
    HeapOverrun,
    /// The return address was overwritten.
    Return,
    Output,
    /// No stack left.
    Stack,
    /// The limit on memory: not a failure of the program.
    Memory,
    TooLong,
    /// It started another process.
    Forked,
    /// More threads than are followed, or such as cannot be.
    Threads,
    /// Every thread waits for another.
    Deadlock,
    /// It used up its time.
    Time,
}

/// What a value was used for where the run failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Base,
    Index,
    Predicate,
    Content,
    Argument(u32),
}

/// A value the failing place used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Culprit {
    pub role: Role,
    /// The definition; `None` where there is none.
    pub event: Option<Event>,
    /// Where that event was.
    pub site: u32,
    /// Its number among the definitions of all threads.
    pub order: u32,
    /// What put the value where it was found, and where: the definition itself unless that
    /// was handed on.
    pub store: Event,
    pub store_site: u32,
    pub value: u64,
}

/// A suppressed event that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    pub event: Event,
    pub site: u32,
    /// What lies where it would have written, as the runtime says it.
    pub object: String,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub failure: Option<Failure>,
    pub site: u32,
    pub fault_address: u64,
    pub culprits: Vec<Culprit>,
    /// Sites of calls, innermost first.
    pub stack: Vec<u32>,
    pub object: String,
    pub reached: Vec<Reached>,
    pub events: u64,
    /// Which globals hold something the run defined, in the order of the units.
    pub touched: Vec<bool>,
    pub threads: Threads,
    pub plain: PlainRun,
}

pub(crate) struct CrashControl {
    pub path: PathBuf,
    file: File,
    contents: Box<CrashFile>,
}

const PAGE: u64 = 4096;
const SIZE: usize = size_of::<CrashFile>();

impl CrashControl {
    pub fn create(path: &Path, plan: &Plan, limits: &Limits) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let mut contents = Box::new(from_bytes(&[0; SIZE]));
        contents.magic = MAGIC;
        contents.memory_limit = limits.memory;
        contents.output_differs_at = plan.output_differs_at.unwrap_or(NOT_COMPARED);
        contents.check_heap_at_exit = plan.check_heap_at_exit.into();
        for (to, point) in contents.points.iter_mut().zip(plan.points.iter().take(MAX_POINTS)) {
            *to = *point;
        }
        contents.n_points = plan.points.len().min(MAX_POINTS) as u32;
        for (to, (site, from)) in contents.sites.iter_mut().zip(plan.sites.iter().take(MAX_SITES)) {
            (to.site, to.thread, to.from) = (*site, from.thread, from.event);
        }
        contents.n_sites = plan.sites.len().min(MAX_SITES) as u32;
        let layouts = layout_table(&plan.layouts);
        contents.layouts_at = (SIZE as u64).next_multiple_of(PAGE);
        let mut end = contents.layouts_at + (layouts.len() as u64).next_multiple_of(PAGE);
        let schedule = set_threads(&mut contents, plan, &mut end);
        contents.file_size = end;
        file.set_len(contents.file_size)?;
        file.write_all_at(&to_bytes(&contents), 0)?;
        file.write_all_at(&layouts, contents.layouts_at)?;
        file.write_all_at(&schedule, contents.schedule_at)?;
        Ok(Self { path: path.to_owned(), file, contents })
    }

    pub fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; SIZE];
        self.file.read_exact_at(&mut bytes, 0)?;
        *self.contents = from_bytes(&bytes);
        Ok(())
    }

    /// The switches from thread to thread that happened.
    fn recorded(&self) -> io::Result<Vec<Switch>> {
        let n = (self.contents.n_recorded as usize).min(MAX_SWITCHES);
        let mut bytes = vec![0; n * size_of::<Switch>()];
        self.file.read_exact_at(&mut bytes, self.contents.recorded_at)?;
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let switches = bytes.chunks_exact(size_of::<Switch>()).map(|entry| Switch {
            from: word(entry),
            to: word(&entry[4..]),
            syncs: word(&entry[8..]),
            steps: word(&entry[12..]),
        });
        Ok(switches.collect())
    }

    fn threads(&self) -> io::Result<Threads> {
        let c = &self.contents;
        let races = c.races[..(c.n_races as usize).min(MAX_RACES)].iter().map(|race| Race {
            first: access(&race.first),
            second: access(&race.second),
            value: race.value,
        });
        Ok(Threads {
            failed: c.thread,
            started: c.n_threads,
            steps: c.steps,
            recorded: self.recorded()?,
            location: Some((c.location, c.location_size)).filter(|(at, _)| *at != 0),
            races: races.collect(),
            second_value: (c.second_seen != 0).then_some(c.second_value),
            waits: c.waits[..(c.n_waits as usize).min(MAX_WAITS)]
                .iter()
                .map(wait)
                .collect::<Vec<Wait>>(),
        })
    }

    /// What the run left, read with care: the program may have written anywhere.
    pub fn outcome(&self, plain: PlainRun) -> io::Result<Run> {
        let c = &self.contents;
        let n_culprits = (c.n_culprits as usize).min(MAX_CULPRITS);
        let culprits = c.culprits[..n_culprits].iter().zip(&c.definitions);
        Ok(Run {
            failure: self.failure(&plain),
            site: c.site,
            fault_address: c.fault_address,
            culprits: culprits
                .map(|(culprit, definition)| Culprit {
                    role: role_of(culprit.role),
                    event: Some(definition.event)
                        .filter(|event| culprit.label & !CORRUPT != 0 && event.event != 0),
                    site: definition.site,
                    order: definition.order,
                    store: definition.store,
                    store_site: definition.store_site,
                    value: culprit.value,
                })
                .collect(),
            stack: c.stack[..(c.depth as usize).min(MAX_STACK)].to_vec(),
            object: words(&c.object),
            reached: c.reached[..(c.n_reached as usize).min(MAX_POINTS)]
                .iter()
                .map(|point| Reached {
                    event: Event { thread: point.thread, event: point.event },
                    site: point.site,
                    object: words(&point.object),
                })
                .collect(),
            events: c.events,
            touched: (0..MAX_GLOBALS).map(|i| c.touched[i / 8] >> (i % 8) & 1 != 0).collect(),
            threads: self.threads()?,
            plain,
        })
    }

    fn failure(&self, plain: &PlainRun) -> Option<Failure> {
        let c = &self.contents;
        Some(match c.failure {
            failure::NONE => match plain.ending {
                Ending::OverLimit => Failure::Time,
                Ending::Signalled(signal) => Failure::Signal(signal),
                Ending::Exited(_) => return None,
            },
            failure::ABORT => Failure::Abort,
            failure::DOUBLE_FREE => Failure::DoubleFree,
            failure::INVALID_FREE => Failure::InvalidFree,
            failure::HEAP_OVERRUN => Failure::HeapOverrun,
            failure::RETURN => Failure::Return,
            failure::OUTPUT => Failure::Output,
            failure::STACK => Failure::Stack,
            failure::MEMORY => Failure::Memory,
            failure::TOO_LONG => Failure::TooLong,
            failure::FORKED => Failure::Forked,
            failure::THREADS => Failure::Threads,
            failure::DEADLOCK => Failure::Deadlock,
            _ => Failure::Signal(c.signal),
        })
    }
}

/// Switches of a run that can be recorded.
const MAX_SWITCHES: usize = 1 << 20;

/// What concerns threads; returns the schedule, which lies behind all else.
fn set_threads(contents: &mut CrashFile, plan: &Plan, end: &mut u64) -> Vec<u8> {
    let mut schedule: &[Switch] = &[];
    match &plan.schedule {
        Schedule::InTurn => contents.policy = policy::IN_TURN,
        Schedule::Random { seed, horizon } => {
            contents.policy = if seed % 2 == 0 { policy::PRIORITIES } else { policy::RANDOM };
            (contents.seed, contents.horizon) = (*seed, *horizon);
            contents.n_changes = 1 + (*seed / 2 % 4) as u32;
        }
        Schedule::Replay(switches) => {
            contents.policy = policy::REPLAY;
            schedule = &switches[..switches.len().min(MAX_SWITCHES)];
        }
    }
    if let Some(Watched { event, at }) = plan.watched {
        contents.watched = event;
        (contents.watched_at, contents.watched_size) = at.unwrap_or_default();
    }
    if let Some(Altered { held, syncs, steps, instead, second }) = plan.altered {
        let Second { thread, site, instance } = second;
        contents.is_altered = 1;
        (contents.held, contents.held_syncs, contents.held_steps) = (held, syncs, steps);
        (contents.instead, contents.second) = (instead, thread);
        (contents.second_site, contents.second_instance) = (site, instance);
    }
    contents.n_schedule = schedule.len() as u32;
    contents.schedule_at = *end;
    *end += (size_of_val(schedule) as u64 + 1).next_multiple_of(PAGE);
    contents.recorded_at = *end;
    contents.recorded_room = MAX_SWITCHES as u32;
    *end += (MAX_SWITCHES * size_of::<Switch>()) as u64;
    let words = schedule.iter().flat_map(|s| [s.from, s.to, s.syncs, s.steps]);
    words.flat_map(u32::to_le_bytes).collect()
}

fn role_of(number: u32) -> Role {
    match number {
        role::BASE => Role::Base,
        role::INDEX => Role::Index,
        role::PREDICATE => Role::Predicate,
        role::CONTENT => Role::Content,
        argument => Role::Argument(argument.saturating_sub(role::ARGUMENT)),
    }
}

fn words(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn layout_table(layouts: &[Layout]) -> Vec<u8> {
    let mut words = Vec::new();
    for layout in layouts {
        words.extend([layout.frame, layout.offsets.len() as u32]);
        words.extend(&layout.offsets);
    }
    words.push(u32::MAX);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn to_bytes(contents: &CrashFile) -> [u8; SIZE] {
    // SAFETY: `CrashFile` is `repr(C)` of integers without padding and as large as the array.
    unsafe { std::mem::transmute_copy(contents) }
}

fn from_bytes(bytes: &[u8; SIZE]) -> CrashFile {
    // SAFETY: as above; every bit pattern is a valid integer.
    unsafe { std::mem::transmute_copy(bytes) }
}
