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
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};

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
    let (Some(parent), Some(program)) = (args.next().and_then(parse_pid), args.next()) else {
        return io::Error::new(
            io::ErrorKind::InvalidInput,
            "usage: --guard PARENT PROGRAM ARGS...",
        );
    };
    if let Err(error) = die_with(parent, Signal::KILL) {
        return error;
    }
    Command::new(program).args(args).exec()
}

pub fn parse_pid(text: OsString) -> Option<Pid> {
    Pid::from_raw(text.to_str()?.parse().ok()?)
}

/// Asks for `signal` at the death of `parent`, which must still be our parent.
pub fn die_with(parent: Pid, signal: Signal) -> io::Result<()> {
    set_parent_process_death_signal(Some(signal))?;
    // The parent may have died before we asked: then nobody is left to signal us.
    if getppid() != Some(parent) {
        return Err(io::Error::other("the parent is gone"));
    }
    Ok(())
}

/// Kills everything that descends from `root`, but not `root`. Finds orphans too if
/// `root` is a subreaper, which inherits them.
pub fn kill_descendants(root: Pid) {
    // What forks while we look is found in the next round; the bound is for a tree that
    // grows faster than it can be cut.
    for _ in 0..100 {
        let living = descendants(root);
        if living.is_empty() {
            return;
        }
        for pid in living {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn descendants(root: Pid) -> Vec<Pid> {
    let (_, below) = tree(root);
    below.into_iter().map(|process| process.pid).collect()
}

/// The processor time of a process and all that descends from it.
pub(super) fn time_of_tree(root: Pid) -> Duration {
    let (root, below) = tree(root);
    root.iter().chain(&below).map(|process| process.processor_time).sum()
}

/// The processor time of what descends from a process and still lives.
pub(super) fn time_of_descendants(root: Pid) -> Duration {
    tree(root).1.iter().map(|process| process.processor_time).sum()
}

/// A process that is not a zombie.
struct Process {
    pid: Pid,
    parent: Pid,
    /// With the children it has waited for.
    processor_time: Duration,
}

impl Process {
    fn read(pid: Pid) -> Option<Self> {
        let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
        let stat = std::fs::read_to_string(path).ok()?;
        // The name in parentheses may hold anything; state and parent follow it.
        let fields = stat.get(stat.rfind(')')? + 1..)?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let &[state, parent, ..] = fields.as_slice() else { return None };
        let parent = Pid::from_raw(parent.parse().ok()?)?;
        let ticks: Option<u64> = fields.get(11..15)?.iter().map(|t| t.parse::<u64>().ok()).sum();
        let milliseconds = ticks?.saturating_mul(1000) / rustix::param::clock_ticks_per_second();
        let processor_time = Duration::from_millis(milliseconds);
        (state != "Z").then_some(Self { pid, parent, processor_time })
    }
}

/// A process and all that descend from it.
fn tree(root: Pid) -> (Option<Process>, Vec<Process>) {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut others: Vec<Process> =
        entries.filter_map(|entry| Process::read(parse_pid(entry.file_name())?)).collect();
    let root_process = others.iter().position(|process| process.pid == root);
    let root_process = root_process.map(|at| others.swap_remove(at));
    let mut found: Vec<Process> = Vec::new();
    let mut at = 0;
    let mut parent = root;
    loop {
        found.extend(others.extract_if(.., |process| process.parent == parent));
        let Some(next) = found.get(at) else { return (root_process, found) };
        parent = next.pid;
        at += 1;
    }
}
