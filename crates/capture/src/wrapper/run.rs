//! Running the real command so that nobody can tell the difference.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

use base::child::guard;
use rustix::process::{Signal, getpid, kill_process};

use super::{Job, RUN_FLAG, clean_environment};

/// Runs the job's real command to its end. `input` replaces its standard input, which
/// had to be read for us as well. Gives the exit status to pass on if it failed.
pub(super) fn run_real(job: &Job, input: Option<&[u8]>) -> Result<(), i32> {
    let mut command = Command::new(std::env::current_exe().map_err(|_| 126)?);
    command.arg(RUN_FLAG).arg(std::process::id().to_string()).arg(&job.real).args(&job.argv);
    clean_environment(&mut command, &job.folder);
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let status = command.spawn().and_then(|mut child| {
        if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
            // A compiler that does not want its input is its own affair.
            let _ = pipe.write_all(input);
        }
        child.wait()
    });
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(pass_on(status)),
        Err(error) => {
            eprintln!("{}: {error}", job.real.display());
            Err(126)
        }
    }
}

/// The exit status, or death by the same signal.
fn pass_on(status: ExitStatus) -> i32 {
    if let Some(signal) = status.signal() {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(getpid(), signal);
        }
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

/// Main of `ff-cc` behind [`RUN_FLAG`]: the parent, the program, its argument vector.
/// Ends with the parent, so that a build that stops its compiler stops it, not only us.
pub fn become_compiler(mut args: impl Iterator<Item = OsString>) -> i32 {
    let (parent, real, name) = (args.next().and_then(guard::parse_pid), args.next(), args.next());
    let (Some(parent), Some(real), Some(name)) = (parent, real, name) else {
        eprintln!("usage: {RUN_FLAG} PARENT PROGRAM ARGV...");
        return 2;
    };
    if guard::die_with(parent, Signal::TERM).is_err() {
        return 128 + Signal::TERM.as_raw();
    }
    let error = Command::new(&real).arg0(name).args(args).exec();
    eprintln!("{}: {error}", real.display());
    126
}
