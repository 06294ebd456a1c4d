//! Running other programs without losing them.
//!
//! [`run`] starts a command in a process group of its own, collects what it prints
//! up to a bound, and kills the whole group at a deadline or on cancellation.
//! [`command`] starts the program through a guard (see [`guard`]), so that it dies
//! with us even when we are killed with a signal nobody can catch.

pub mod guard;
mod pump;
mod server;

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit,
};
use wait4::Wait4;

pub use server::Tool;

use crate::Cancel;

/// What a child may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The child is killed when it has run for this long (wall clock).
    pub deadline: Duration,
    /// It is killed when it and what it started have used this much processor time, which
    /// does not depend on how busy the machine is.
    pub cpu: Option<Duration>,
    /// Bytes of address space it and what it starts may each have.
    pub memory: Option<u64>,
    /// Bytes kept of standard output; more is read and thrown away.
    pub stdout_cap: usize,
    /// Bytes kept of standard error; more is read and thrown away.
    pub stderr_cap: usize,
}

impl Default for Limits {
    /// Ten minutes, 512 MiB of output, 256 KiB of messages.
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(600),
            cpu: None,
            memory: None,
            stdout_cap: 512 << 20,
            stderr_cap: 256 << 10,
        }
    }
}

impl Limits {
    /// So much processor time. The clock on the wall only stops what waits for something else
    /// than a processor: a file that never comes, a lock nobody gives back.
    pub fn of_processor_time(cpu: Duration) -> Self {
        Self { cpu: Some(cpu), deadline: PATIENCE * cpu, ..Self::default() }
    }
}

/// Seconds on the wall for each second of processor time a child may use.
const PATIENCE: u32 = 5;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    /// Killed by us at the deadline.
    TimedOut,
    /// Killed by us because the run was cancelled.
    Cancelled,
}

impl Ending {
    pub fn success(self) -> bool {
        self == Ending::Exited(0)
    }

    fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Ending::Signalled(signal),
            None => Ending::Exited(status.code().unwrap_or(-1)),
        }
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Exited(code) => write!(f, "exited with status {code}"),
            Ending::Signalled(signal) => write!(f, "was killed by signal {signal}"),
            Ending::TimedOut => write!(f, "took too long and was stopped"),
            Ending::Cancelled => write!(f, "was interrupted"),
        }
    }
}

/// A child that has ended and been reaped, with its whole process group.
#[derive(Debug)]
pub struct Finished {
    pub ending: Ending,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// More was printed than [`Limits`] allow to keep.
    pub truncated: bool,
    /// User and system time of the child and the descendants it waited for.
    pub cpu: Duration,
    /// The largest resident set of the child, in bytes.
    pub peak_memory: u64,
}

/// A command for `program`, found on `PATH` if it has no slash, that dies with us.
///
/// Add arguments, environment and directory as usual and pass it to [`run`]. The
/// death signal is tied to the starting *thread*: wait for the child on that thread.
/// Fails with [`io::ErrorKind::NotFound`] where there is no such program.
pub fn command(program: impl AsRef<OsStr>) -> io::Result<Command> {
    let program = find_program(program.as_ref())?;
    Ok(match guard::program() {
        Some(guard) => {
            let mut command = Command::new(guard);
            command.arg(guard::FLAG).arg(std::process::id().to_string()).arg(program);
            command
        }
        None => Command::new(program),
    })
}

/// The absolute path of a program: as given if it has a slash, else by `PATH`.
pub fn find_program(name: &OsStr) -> io::Result<PathBuf> {
    let runnable = |path: &Path| {
        path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if name.as_bytes().contains(&b'/') {
        let path = std::path::absolute(name)?;
        if runnable(&path) {
            return Ok(path);
        }
    } else if let Some(folders) = std::env::var_os("PATH") {
        let candidates = std::env::split_paths(&folders).map(|folder| folder.join(name));
        if let Some(path) = candidates.into_iter().find(|path| runnable(path)) {
            return std::path::absolute(path);
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("{}: no such program", name.display())))
}

/// Runs `command` with `input` as its standard input, to its end or its limits.
///
/// An error means that it could not be started or watched; how it ended, well or
/// not, is in the result. When this returns, no process of its group is left.
pub fn run(
    mut command: Command,
    input: &[u8],
    limits: &Limits,
    cancel: &Cancel,
) -> io::Result<Finished> {
    command
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    limit_memory(pid, limits.memory);
    let watched = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from).and_then(|pidfd| {
        let processor_time = || guard::time_of_tree(pid);
        let watched = pump::Watched { ended: pidfd.as_fd(), processor_time: &processor_time };
        pump::pump(pump::Pipes::of(&mut child), &watched, input, limits, cancel)
    });
    // The leader is not reaped yet, so its group id cannot belong to anybody else.
    let _ = kill_process_group(pid, Signal::KILL);
    reap(child, watched)
}

/// Compilers may use so much address space: `#include "/dev/zero"` has no end.
pub const MAX_COMPILER_MEMORY: u64 = 6 << 30;

/// Where the system refuses, processor time and output are still limited.
fn limit_memory(pid: Pid, bytes: Option<u64>) {
    if let Some(bytes) = bytes {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        let _ = prlimit(Some(pid), Resource::As, limit);
    }
}

fn reap(mut child: Child, watched: io::Result<pump::Pumped>) -> io::Result<Finished> {
    let used = loop {
        match child.wait4() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            used => break used?,
        }
    };
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(watched?.finished(used.status, cpu, used.rusage.maxrss))
}

#[cfg(test)]
mod tests;
