//! The guard: a program that ties itself to its parent's life and becomes another.
//!
//! Only a process can ask the kernel for a signal at its parent's death, so a child
//! has to do it between fork and exec. Rust offers that only as `unsafe`; instead the
//! tiny `ff-cc` binary is started with [`FLAG`], asks, and execs the real program.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

/// First argument that makes `ff-cc` a guard; the parent's process id and the
/// command follow.
pub const FLAG: &str = "--guard";

/// The name of the binary that can guard.
pub const PROGRAM: &str = "ff-cc";

/// Where the guard is: beside the running binary, or one folder up (cargo puts test
/// binaries into `deps/`). `None` if it is not installed; children then start unguarded.
pub fn program() -> Option<&'static Path> {
    static GUARD: OnceLock<Option<PathBuf>> = OnceLock::new();
    GUARD
        .get_or_init(|| {
            let own = std::env::current_exe().ok()?;
            let folder = own.parent()?;
            let candidates = [Some(folder), folder.parent()];
            let mut paths = candidates.into_iter().flatten().map(|f| f.join(PROGRAM));
            paths.find(|path| path.is_file())
        })
        .as_deref()
}

/// The guard's main: `args` follow [`FLAG`]. Returns only if the command cannot run.
pub fn become_command(args: impl IntoIterator<Item = OsString>) -> io::Error {
    let mut args = args.into_iter();
    let parent = args.next().and_then(|pid| pid.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let (Some(parent), Some(program)) = (parent, args.next()) else {
        return io::Error::new(
            io::ErrorKind::InvalidInput,
            "usage: --guard PARENT PROGRAM ARGS...",
        );
    };
    if let Err(error) = die_with(parent) {
        return error;
    }
    Command::new(program).args(args).exec()
}

/// Asks for SIGKILL at the death of `parent`, which must still be our parent.
pub fn die_with(parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before we asked: then nobody is left to signal us.
    if getppid() != Some(parent) {
        return Err(io::Error::other("the parent is gone"));
    }
    Ok(())
}
