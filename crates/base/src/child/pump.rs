//! Moves bytes to and from a running child until it ends or has to be stopped.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{Ending, Limits};
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

/// Pumps until the child has ended (seen through `pidfd`), the deadline or cancellation.
pub(super) fn pump(
    child: &mut Child,
    pidfd: &OwnedFd,
    input: &[u8],
    limits: &Limits,
    deadline: Instant,
    cancel: &Cancel,
) -> io::Result<Pumped> {
    let mut feed = Feed { pipe: child.stdin.take(), left: input };
    let mut stdout = Sink::new(child.stdout.take(), limits.stdout_cap);
    let mut stderr = Sink::new(child.stderr.take(), limits.stderr_cap);
    for fd in [feed.fd(), stdout.fd(), stderr.fd()].into_iter().flatten() {
        fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?;
    }
    let stopped = loop {
        if cancel.is_cancelled() {
            break Some(Ending::Cancelled);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Some(Ending::TimedOut);
        }
        let ended = wait_for_event(pidfd, &feed, &stdout, &stderr, left.min(CANCEL_INTERVAL))?;
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

/// Sleeps until a pipe is ready, the child has ended, or the time is up.
/// Says whether the child has ended.
fn wait_for_event(
    pidfd: &OwnedFd,
    feed: &Feed<'_>,
    stdout: &Sink<impl Read + AsFd>,
    stderr: &Sink<impl Read + AsFd>,
    timeout: Duration,
) -> io::Result<bool> {
    let mut fds = vec![PollFd::new(pidfd, PollFlags::IN)];
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
    pipe: Option<std::process::ChildStdin>,
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
