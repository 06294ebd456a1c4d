//! The guard of a build: `ff-cc` between firstfault and the build, which ends the whole
//! build when firstfault dies, however it dies.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use base::child::guard::{kill_descendants, parse_pid};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, kill_process, pidfd_open, set_child_subreaper,
};

/// First argument that makes `ff-cc` guard a build. The parent, the process group for
/// the build, its program and its argument vector follow.
pub const BUILD_FLAG: &str = "--guard-build";

/// Main of `ff-cc` behind [`BUILD_FLAG`]. Returns the exit status to end with.
pub fn guard_build(mut args: impl Iterator<Item = OsString>) -> i32 {
    let (parent, group) = (args.next().and_then(parse_pid), args.next().and_then(parse_pid));
    let (Some(parent), Some(group), Some(program), Some(name)) =
        (parent, group, args.next(), args.next())
    else {
        eprintln!("usage: {BUILD_FLAG} PARENT GROUP PROGRAM ARGV...");
        return 2;
    };
    // Orphans of the build become our children, so that we can find them.
    let _ = set_child_subreaper(Some(getpid()));
    let watched_parent = pidfd_open(parent, PidfdFlags::empty());
    if getppid() != Some(parent) {
        return 1;
    }
    let mut command = Command::new(&program);
    command.arg0(name).args(args).process_group(group.as_raw_nonzero().get());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            eprintln!("{}: {error}", program.display());
            return 127;
        }
    };
    wait(child, watched_parent.ok())
}

fn wait(mut child: Child, parent: Option<OwnedFd>) -> i32 {
    if let (Some(parent), Ok(build)) =
        (parent, pidfd_open(Pid::from_child(&child), PidfdFlags::empty()))
        && dies_first(&parent, &build)
    {
        kill_descendants(getpid());
        return 1;
    }
    match child.wait() {
        Ok(status) => match status.signal() {
            Some(signal) => {
                if let Some(signal) = Signal::from_named_raw(signal) {
                    let _ = kill_process(getpid(), signal);
                }
                128 + signal
            }
            None => status.code().unwrap_or(1),
        },
        Err(_) => 1,
    }
}

/// Waits until one of two processes ends. Says whether it was the first.
fn dies_first(first: &OwnedFd, second: &OwnedFd) -> bool {
    loop {
        let mut fds =
            [first.as_fd(), second.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return !fds[0].revents().is_empty(),
        }
    }
}
