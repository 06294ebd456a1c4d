//! Moves bytes to and from a running child until it ends or has to be stopped.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{Ending, Finished, Limits};
use crate::Cancel;

/// How often cancellation is looked at while the child is silent.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// What a child printed, and why we gave up on it if we did.
pub(super) struct Pumped {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub truncated: bool,
    pub stopped: Option<Ending>,
}

impl Pumped {
    /// With what the system says about the child that printed it.
    pub fn finished(self, status: ExitStatus, cpu: Duration, peak_memory: u64) -> Finished {
        Finished {
            ending: self.stopped.unwrap_or(Ending::of(status)),
            stdout: self.stdout,
            stderr: self.stderr,
            truncated: self.truncated,
            cpu,
            peak_memory,
        }
    }
}

/// Our ends of a child's standard streams.
pub(super) struct Pipes {
    pub stdin: Option<PipeWriter>,
    pub stdout: Option<PipeReader>,
    pub stderr: Option<PipeReader>,
}

impl Pipes {
    pub fn of(child: &mut Child) -> Self {
        Self {
            stdin: child.stdin.take().map(|pipe| OwnedFd::from(pipe).into()),
            stdout: child.stdout.take().map(|pipe| OwnedFd::from(pipe).into()),
            stderr: child.stderr.take().map(|pipe| OwnedFd::from(pipe).into()),
        }
    }
}

/// How a child is looked at while it runs.
pub(super) struct Watched<'a> {
    /// Becomes readable when it has ended.
    pub ended: BorrowedFd<'a>,
    /// What it has used so far, with all it started.
    pub processor_time: &'a dyn Fn() -> Duration,
}

/// Pumps until the child has ended, a limit or cancellation.
pub(super) fn pump(
    pipes: Pipes,
    watched: &Watched<'_>,
    input: &[u8],
    limits: &Limits,
    cancel: &Cancel,
) -> io::Result<Pumped> {
    let mut time = TimeLimit::new(limits);
    let mut feed = Feed { pipe: pipes.stdin, left: input };
    let mut stdout = Sink::new(pipes.stdout, limits.stdout_cap);
    let mut stderr = Sink::new(pipes.stderr, limits.stderr_cap);
    for fd in [feed.fd(), stdout.fd(), stderr.fd()].into_iter().flatten() {
        fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
    }
    let stopped = loop {
        if cancel.is_cancelled() {
            break Some(Ending::Cancelled);
        }
        if time.is_up(watched.processor_time) {
            break Some(Ending::TimedOut);
        }
        let ended = wait_for_event(watched.ended, &feed, &stdout, &stderr, time.next_look())?;
        feed.push()?;
        stdout.pull()?;
        stderr.pull()?;
        if ended {
            break None;
        }
    };
    let truncated = stdout.truncated || stderr.truncated;
    Ok(Pumped { stdout: stdout.kept, stderr: stderr.kept, truncated, stopped })
}

/// The limits of time, looked at no more often than needed.
struct TimeLimit<'a> {
    limits: &'a Limits,
    started: Instant,
    /// When a child that keeps one processor busy can have used up its time at the earliest.
    look_after: Duration,
}

impl<'a> TimeLimit<'a> {
    fn new(limits: &'a Limits) -> Self {
        let look_after = limits.cpu.unwrap_or(Duration::MAX);
        Self { limits, started: Instant::now(), look_after }
    }

    fn is_up(&mut self, processor_time: &dyn Fn() -> Duration) -> bool {
        let elapsed = self.started.elapsed();
        if let Some(limit) = self.limits.cpu
            && elapsed >= self.look_after
        {
            let left = limit.saturating_sub(processor_time());
            self.look_after = elapsed + left.max(CANCEL_INTERVAL);
            return left.is_zero();
        }
        elapsed >= self.limits.deadline
    }

    fn next_look(&self) -> Duration {
        let next = self.limits.deadline.min(self.look_after);
        next.saturating_sub(self.started.elapsed()).min(CANCEL_INTERVAL)
    }
}

/// Sleeps until a pipe is ready, the child has ended, or the time is up.
/// Says whether the child has ended.
fn wait_for_event(
    ended: BorrowedFd<'_>,
    feed: &Feed<'_>,
    stdout: &Sink<impl Read + AsFd>,
    stderr: &Sink<impl Read + AsFd>,
    timeout: Duration,
) -> io::Result<bool> {
    let mut fds = vec![PollFd::from_borrowed_fd(ended, PollFlags::IN)];
    let readers = [stdout.fd(), stderr.fd()].into_iter().flatten();
    fds.extend(readers.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    fds.extend(feed.fd().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
    let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => Ok(!fds[0].revents().is_empty()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The child's standard input and what it has not taken yet.
struct Feed<'a> {
    pipe: Option<PipeWriter>,
    left: &'a [u8],
}

impl Feed<'_> {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    fn push(&mut self) -> io::Result<()> {
        while let Some(pipe) = &mut self.pipe {
            match pipe.write(self.left) {
                Ok(n) => self.left = &self.left[n..],
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                // A child need not read its input.
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => self.left = &[],
                Err(e) => return Err(e),
            }
            if self.left.is_empty() {
                self.pipe = None;
            }
        }
        Ok(())
    }
}

/// One output pipe of the child and the bytes kept of it.
struct Sink<R> {
    pipe: Option<R>,
    kept: Vec<u8>,
    cap: usize,
    truncated: bool,
}

impl<R: Read + AsFd> Sink<R> {
    fn new(pipe: Option<R>, cap: usize) -> Self {
        Self { pipe, kept: Vec::new(), cap, truncated: false }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    fn pull(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(n) => {
                    let room = n.min(self.cap - self.kept.len());
                    self.kept.extend_from_slice(&buffer[..room]);
                    self.truncated |= room < n;
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}
