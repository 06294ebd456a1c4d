//! Writes the plan of a suppressed run and reads what became of it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rt::crash::{
    CORRUPT, CrashFile, MAGIC, MAX_CULPRITS, MAX_GLOBALS, MAX_POINTS, MAX_SITES, MAX_STACK,
    NOT_COMPARED, failure, role,
};

use crate::process::Limits;
use crate::runner::Ending;
use crate::suppressed::PlainRun;

/// What to suppress, and in which order variables lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Events, in order.
    pub points: Vec<u32>,
    /// All events of a site from one on.
    pub sites: Vec<(u32, u32)>,
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
    Threads,
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
    /// The event that defined it; `None` where nothing did.
    pub event: Option<u32>,
    /// Where that event was.
    pub site: u32,
    pub value: u64,
}

/// A suppressed event that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    pub event: u32,
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
            (to.site, to.from) = (*site, *from);
        }
        contents.n_sites = plan.sites.len().min(MAX_SITES) as u32;
        let layouts = layout_table(&plan.layouts);
        contents.layouts_at = (SIZE as u64).next_multiple_of(PAGE);
        contents.file_size = contents.layouts_at + (layouts.len() as u64).next_multiple_of(PAGE);
        file.set_len(contents.file_size)?;
        file.write_all_at(&to_bytes(&contents), 0)?;
        file.write_all_at(&layouts, contents.layouts_at)?;
        Ok(Self { path: path.to_owned(), file, contents })
    }

    pub fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; SIZE];
        self.file.read_exact_at(&mut bytes, 0)?;
        *self.contents = from_bytes(&bytes);
        Ok(())
    }

    /// What the run left, read with care: the program may have written anywhere.
    pub fn outcome(&self, plain: PlainRun) -> Run {
        let c = &self.contents;
        let n_culprits = (c.n_culprits as usize).min(MAX_CULPRITS);
        let culprits = c.culprits[..n_culprits].iter().zip(&c.definitions);
        Run {
            failure: self.failure(&plain),
            site: c.site,
            fault_address: c.fault_address,
            culprits: culprits
                .map(|(culprit, definition)| Culprit {
                    role: role_of(culprit.role),
                    event: Some(culprit.label & !CORRUPT).filter(|event| *event != 0),
                    site: definition.site,
                    value: culprit.value,
                })
                .collect(),
            stack: c.stack[..(c.depth as usize).min(MAX_STACK)].to_vec(),
            object: words(&c.object),
            reached: c.reached[..(c.n_reached as usize).min(MAX_POINTS)]
                .iter()
                .map(|point| Reached {
                    event: point.event,
                    site: point.site,
                    object: words(&point.object),
                })
                .collect(),
            events: c.events,
            touched: (0..MAX_GLOBALS).map(|i| c.touched[i / 8] >> (i % 8) & 1 != 0).collect(),
            plain,
        }
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
            _ => Failure::Signal(c.signal),
        })
    }
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
