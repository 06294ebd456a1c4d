//! Every native run of a program under test, in one sandbox.
//!
//! Programs under test are other people's, and runs change their values: what they do then
//! nobody has meant. A run sees the machine as it is, read-only; what it writes to its home,
//! its temporary folders and the project goes away with it, and only its own folder is real. It
//! has processes, a network and shared memory of its own, and nothing of it is left when
//! [`run`] returns, or when we are killed. Where user namespaces are not allowed, less is
//! possible: [`Level`] says what. See docs/security.md and docs/decisions/015.

mod keeper;
mod message;
mod places;
mod pool;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use base::Cancel;
use rustix::fs::{MemfdFlags, memfd_create};

use keeper::Keeper;
pub use pool::probe;

/// How much of the machine is out of reach for programs under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Time, memory and sizes of files are limited, and all processes end with the run.
    Limits,
    /// Also, nothing is written outside the run's folder, and there are no sockets.
    Landlock,
    /// Namespaces of its own: all that is promised.
    Full,
}

impl Level {
    /// What a user should know: nothing, where programs are as confined as can be.
    pub fn notice(self, why: &str) -> Option<String> {
        let has = match self {
            Level::Full => return None,
            Level::Landlock => "Landlock, a filter of system calls and limits",
            Level::Limits => "limits on time, memory and file size",
        };
        Some(format!("programs under test run with {has} only: {why}"))
    }
}

/// What a run may use beyond what all may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The network of the machine.
    pub network: bool,
    /// Paths outside its folder it may really write.
    pub writes: Vec<std::path::PathBuf>,
}

/// Limits of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub time: Duration,
    /// Bytes of any file.
    pub file_size: u64,
    /// Bytes of address space, where that is limited.
    pub address_space: Option<u64>,
}

/// A program to run.
pub(crate) struct Launch<'a> {
    /// With all its folders.
    pub program: &'a Path,
    /// Without the program's name.
    pub arguments: Vec<OsString>,
    /// All variables there are.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working folder, which is its own.
    pub folder: &'a Path,
    /// What else of ours it sees although it lies in a scratch folder.
    pub reads: Vec<&'a Path>,
    /// Files it shares with us.
    pub writes: Vec<&'a Path>,
    pub permissions: &'a Permissions,
    /// Its processes may trace each other.
    pub may_trace: bool,
    pub is_confined: bool,
}

/// The three standard files of a process.
pub(crate) struct Streams {
    pub stdin: File,
    pub stdout: File,
    pub stderr: File,
}

impl Streams {
    /// All in memory.
    pub fn new(input: &[u8]) -> io::Result<Self> {
        let file = || memfd_create("firstfault", MemfdFlags::CLOEXEC).map(File::from);
        let mut stdin = file()?;
        stdin.write_all(input)?;
        stdin.rewind()?;
        Ok(Self { stdin, stdout: file()?, stderr: file()? })
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(u8),
    Signalled(i32),
    TimedOut,
    Cancelled,
}

/// Runs a program to its end or its limits; nothing it started is left afterwards. Returns
/// the processor time it used as well, with that of all it started.
pub(crate) fn run(
    launch: &Launch<'_>,
    streams: &Streams,
    bounds: &Bounds,
    cancel: &Cancel,
) -> io::Result<(End, Duration)> {
    let kind = pool::Kind { is_confined: launch.is_confined, network: launch.permissions.network };
    let mut keeper = pool::take(kind)?;
    let ended = run_in(&mut keeper, launch, streams, bounds, cancel)?;
    pool::give_back(kind, keeper);
    ended
}

/// An outer error leaves the keeper in no state to be used again.
fn run_in(
    keeper: &mut Keeper,
    launch: &Launch<'_>,
    streams: &Streams,
    bounds: &Bounds,
    cancel: &Cancel,
) -> io::Result<io::Result<(End, Duration)>> {
    let deadline = Instant::now() + bounds.time;
    keeper.start(&message::Request::new(launch, bounds, keeper.level())?, streams)?;
    let stopped = loop {
        if cancel.is_cancelled() {
            break Some(End::Cancelled);
        }
        if keeper.has_answer(deadline)? {
            break None;
        }
        if Instant::now() >= deadline {
            break Some(End::TimedOut);
        }
    };
    if stopped.is_some() {
        keeper.stop()?;
    }
    let reply = keeper.answer()?;
    Ok(match (stopped, reply.problem) {
        // It may not even have begun.
        (Some(end), _) => Ok((end, reply.cpu)),
        (None, Some(problem)) => Err(problem),
        (None, None) => Ok((reply.end, reply.cpu)),
    })
}
