//! One process under limits, in a folder of its own, that cannot outlive us.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use wait4::Wait4;

/// What a run of the program may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Events (value sites passed) of one run: the deterministic deadline.
    pub steps: u64,
    /// Wall clock, only as a backstop.
    pub time: Duration,
    /// Bytes of any file it writes.
    pub output: u64,
    /// Bytes of heap.
    pub memory: u64,
}

impl Default for Limits {
    /// 200 million events, 20 seconds, 64 MiB of output, 1 GiB of memory.
    fn default() -> Self {
        Self {
            steps: 200_000_000,
            time: Duration::from_secs(20),
            output: 64 << 20,
            memory: 1 << 30,
        }
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

/// The three standard files of a process.
pub(crate) struct Streams {
    pub stdin: Stdio,
    pub stdout: File,
    pub stderr: File,
}

/// Runs `command` to its end or its limits; no process of its group is left afterwards.
/// Returns the CPU time it used as well.
pub(crate) fn run(
    mut command: Command,
    folder: &Path,
    streams: Streams,
    limits: &Limits,
    cancel: &Cancel,
) -> io::Result<(End, Duration)> {
    command.stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr).current_dir(folder);
    let parent = std::process::id();
    let (output, memory) = (limits.output, limits.memory);
    // SAFETY: the closure only makes system calls, allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || confine(parent, output, memory)) };
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let stopped = watch(&child, limits.time, cancel);
    // The leader is not reaped yet, so its group id cannot belong to anybody else.
    let _ = kill_process_group(pid, Signal::KILL);
    let used = child.wait4()?;
    let end = stopped?.unwrap_or_else(|| match used.status.signal() {
        Some(signal) => End::Signalled(signal),
        None => End::Exited(used.status.code().unwrap_or(0) as u8),
    });
    Ok((end, used.rusage.utime + used.rusage.stime))
}

/// Waits until the child has ended (`None`), the time is up, or the run is cancelled.
fn watch(child: &Child, time: Duration, cancel: &Cancel) -> io::Result<Option<End>> {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let deadline = Instant::now() + time;
    loop {
        if cancel.is_cancelled() {
            return Ok(Some(End::Cancelled));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Some(End::TimedOut));
        }
        let nanoseconds = left.min(Duration::from_millis(50)).as_nanos() as i64;
        let timeout = Timespec { tv_sec: 0, tv_nsec: nanoseconds };
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Runs in the child between fork and exec.
fn confine(parent: u32, output: u64, memory: u64) -> io::Result<()> {
    // The runtime reserves address space it never touches: see crates/rt/c/heap.c.
    const RESERVED: u64 = 4 << 30;
    let limit = |resource, value: u64| {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: `limit` is a valid rlimit for the duration of the call.
        unsafe { libc::setrlimit(resource, &limit) };
    };
    // SAFETY: plain system calls without pointers.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The parent may have died before we asked.
        if libc::getppid() != parent as libc::pid_t {
            return Err(io::Error::other("the parent is gone"));
        }
        // A group of its own to be killed as one, and no terminal to wait at: who opens
        // /dev/tty in a session without one is told so at once.
        libc::setsid();
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        // What stays open beyond the standard streams is not the program's business; the
        // pipe that reports a failed exec closes by itself.
        libc::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC as libc::c_int);
    }
    limit(libc::RLIMIT_CORE, 0);
    limit(libc::RLIMIT_FSIZE, output);
    limit(libc::RLIMIT_AS, memory.saturating_add(RESERVED));
    Ok(())
}
