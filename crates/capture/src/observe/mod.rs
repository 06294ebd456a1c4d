//! Running a build and watching it.

mod guard;
mod install;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use base::Cancel;
use rustix::process::{Pid, Signal, kill_process};

pub use guard::{BUILD_FLAG, guard_build};

use crate::clang::Clang;
use crate::error::CaptureError;
use crate::project::{Build, Settings};
use crate::record::CaptureFolder;
use crate::wrapper::CAPTURE_VARIABLE;

/// After an interrupt a build may clean up for this long before it is killed.
const GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);

/// Runs the build in the project root, with its input where ours is and all it prints on
/// our standard error.
/// Gives a sentence about its end if it failed.
pub fn run_build(
    build: &Build,
    folder: &CaptureFolder,
    root: &Path,
    clang: &Clang,
    settings: &Settings,
) -> Result<Option<String>, CaptureError> {
    let (program, args) = build.command.split_first().ok_or(CaptureError::NoInput)?;
    let shown = program.display().to_string();
    let not_started = |cause| CaptureError::BuildNotStarted { command: shown.clone(), cause };
    // A program in the project is meant relative to where the build runs.
    let program = find_program(program, root).map_err(not_started)?;
    let unwritable = |cause| CaptureError::StateFolder { path: folder.0.clone(), cause };
    let shims = build.shims || install::is_static(&program);
    let installed = install::install(folder, root, clang, shims).map_err(unwritable)?;
    let mut command = Command::new(folder.wrapper());
    command.arg(BUILD_FLAG).arg(std::process::id().to_string());
    command.arg(own_process_group().to_string()).arg(&program).args(&build.command[..1]);
    command.args(args).current_dir(root).env(CAPTURE_VARIABLE, &folder.0);
    command.env("LD_PRELOAD", prepend(&installed.hook, std::env::var_os("LD_PRELOAD")));
    if let Some(shims) = &installed.shims {
        command.env("PATH", prepend(shims.as_os_str(), std::env::var_os("PATH")));
    }
    // Standard output is for our report alone.
    command.stdout(io::stderr());
    // The guard stays out of the terminal's foreground group: Ctrl-C is for the build.
    let child = command.process_group(0).spawn().map_err(not_started)?;
    let status = wait(child, &settings.cancel).map_err(not_started)?;
    if settings.cancel.is_cancelled() {
        return Err(CaptureError::Cancelled);
    }
    Ok(describe(&shown, status))
}

fn find_program(program: &OsString, root: &Path) -> io::Result<std::path::PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        base::child::find_program(root.join(program).as_os_str())
    } else {
        base::child::find_program(program)
    }
}

fn own_process_group() -> i32 {
    rustix::process::getpgrp().as_raw_nonzero().get()
}

/// Puts `first` in front of a list separated by colons.
fn prepend(first: &std::ffi::OsStr, list: Option<OsString>) -> OsString {
    let mut result = first.to_owned();
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        result.push(":");
        result.push(list);
    }
    result
}

/// Waits for the guard. When the run is cancelled, the build gets a moment to end by
/// itself, since the terminal has told it as well.
fn wait(mut child: Child, cancel: &Cancel) -> io::Result<ExitStatus> {
    let mut kill_at: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if cancel.is_cancelled() && Instant::now() >= *kill_at.get_or_insert(Instant::now() + GRACE)
        {
            let pid = Pid::from_child(&child);
            base::child::guard::kill_descendants(pid);
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(POLL);
    }
}

fn describe(program: &str, status: ExitStatus) -> Option<String> {
    if status.success() {
        return None;
    }
    Some(match status.signal() {
        Some(signal) => format!("the build ({program}) was killed by signal {signal}"),
        None => format!("the build ({program}) failed with status {}", status.code().unwrap_or(-1)),
    })
}
