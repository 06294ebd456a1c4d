//! What `ff-cc` does in place of a compiler, linker or archiver: run it unchanged, then
//! note what it did.
//!
//! The command's own outcome is all that the build sees. Whatever goes wrong on our
//! side is noted or dropped, never shown.

mod archive;
mod compile;
mod link;
mod rewrite;
mod run;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::name::{Tool, tool};
use crate::command::words::expand_response_files;
use crate::probe::is_scratch;
use crate::record::{CaptureFolder, Record};

pub use run::become_compiler;

/// Names the capture folder; set for every process of a watched build.
pub const CAPTURE_VARIABLE: &str = "FIRSTFAULT_CAPTURE";
/// Names the program that was meant; set by the exec hook.
pub const REAL_VARIABLE: &str = "FIRSTFAULT_REAL";
/// First argument that makes `ff-cc` run a command that ends with it.
pub const RUN_FLAG: &str = "--run-tied";

/// A command of the build, about to be run.
struct Job {
    folder: CaptureFolder,
    real: PathBuf,
    argv: Vec<OsString>,
    directory: PathBuf,
    root: PathBuf,
    tool: Tool,
    /// The words after the tool's name: as text, response files expanded, launchers skipped.
    compiler: String,
    words: Vec<String>,
}

/// Runs the command that this process was started for and returns its exit status.
/// `None`: this process was not started by a watched build.
pub fn main(argv: Vec<OsString>) -> Option<i32> {
    let folder = CaptureFolder(std::env::var_os(CAPTURE_VARIABLE)?.into());
    let real = match std::env::var_os(REAL_VARIABLE) {
        Some(real) => PathBuf::from(real),
        None => find_behind_shim(argv.first()?, &folder)?,
    };
    let job = match understand(&folder, &real, &argv) {
        Some(job) => job,
        None => return Some(become_real(&folder, &real, &argv)),
    };
    Some(match job.tool {
        Tool::Compiler { .. } => compile::run(&job),
        Tool::Linker => link::run(&job),
        Tool::Archiver => archive::run(&job),
        Tool::Rewriter | Tool::Assembler => rewrite::run(&job),
        Tool::Launcher => become_real(&job.folder, &job.real, &job.argv),
    })
}

/// What the command is, if it is of interest.
fn understand(folder: &CaptureFolder, real: &Path, argv: &[OsString]) -> Option<Job> {
    let directory = std::env::current_dir().ok()?;
    let root = folder.root()?;
    if is_scratch(&directory, &root) {
        return None;
    }
    // A unit whose name is not UTF-8 fails with that reason.
    let text: Vec<String> = argv.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    let name = real.to_str().filter(|name| tool(name).is_some());
    let mut words = vec![name.unwrap_or(text.first()?).to_owned()];
    words.extend(expand_response_files(text.get(1..)?.to_vec(), &directory));
    let words = crate::database::skip_launchers(&words);
    let (compiler, words) = words.split_first()?;
    Some(Job {
        folder: folder.clone(),
        real: real.to_owned(),
        argv: argv.to_vec(),
        directory,
        root,
        tool: tool(compiler)?,
        compiler: compiler.clone(),
        words: words.to_vec(),
    })
}

/// The program a shim stands for: the next of its name on `PATH`.
fn find_behind_shim(name: &OsString, folder: &CaptureFolder) -> Option<PathBuf> {
    let name = Path::new(name).file_name()?;
    let shims = folder.shims();
    let folders = std::env::var_os("PATH")?;
    let mut candidates =
        std::env::split_paths(&folders).filter(|f| *f != shims).map(|f| f.join(name));
    candidates.find(|path| base::child::find_program(path.as_os_str()).is_ok())
}

/// The user's environment for a command: without our variables and shims.
fn clean_environment(command: &mut Command, folder: &CaptureFolder) {
    command.env_remove(CAPTURE_VARIABLE).env_remove(REAL_VARIABLE);
    let shims = folder.shims();
    if let Some(path) = std::env::var_os("PATH")
        && std::env::split_paths(&path).any(|f| f == shims)
        && let Ok(path) = std::env::join_paths(std::env::split_paths(&path).filter(|f| *f != shims))
    {
        command.env("PATH", path);
    }
}

/// Becomes the real command: for what we need not watch. Returns only on failure.
fn become_real(folder: &CaptureFolder, real: &Path, argv: &[OsString]) -> i32 {
    let mut command = Command::new(real);
    if let Some((name, args)) = argv.split_first() {
        command.arg0(name).args(args);
    }
    clean_environment(&mut command, folder);
    let error = command.exec();
    eprintln!("{}: {error}", real.display());
    if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 }
}

impl Job {
    fn become_real(&self) -> i32 {
        become_real(&self.folder, &self.real, &self.argv)
    }

    /// Adds a record, if there is anything in it. A failure loses the note, not the build.
    fn note(&self, record: &Record) {
        if !record.compiles.is_empty() || !record.products.is_empty() {
            let _ = self.folder.add(record);
        }
    }
}
