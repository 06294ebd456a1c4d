//! Questions to git, each a short-lived child.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};

/// Git is quick; one that waits for a password is not.
const DEADLINE: Duration = Duration::from_secs(120);

/// A file list or difference larger than this is none a person made.
const MAX_OUTPUT: usize = 256 << 20;

/// What git says, in this folder.
pub fn git<A: AsRef<OsStr>>(folder: &Path, args: &[A], cancel: &Cancel) -> Result<Vec<u8>> {
    let mut command = child::command("git").context("cannot run git")?;
    command.args(args).current_dir(folder).env("GIT_OPTIONAL_LOCKS", "0");
    let limits = Limits { deadline: DEADLINE, stdout_cap: MAX_OUTPUT, ..Limits::default() };
    let done = child::run(command, b"", &limits, cancel).context("cannot run git")?;
    if !done.ending.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let said = said.lines().next().unwrap_or("it gives no reason").to_owned();
        bail!("git: {said}");
    }
    if done.truncated {
        bail!("git: more output than can be used");
    }
    Ok(done.stdout)
}

/// The full name of a commit, whatever way it was given.
pub fn commit(folder: &Path, name: &str, cancel: &Cancel) -> Result<String> {
    let spec = format!("{name}^{{commit}}");
    let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &spec];
    let found = git(folder, &args, cancel);
    let found = found.with_context(|| format!("no commit {name} here"))?;
    Ok(String::from_utf8_lossy(&found).trim().to_owned())
}

/// The top of the work tree this folder lies in.
pub fn top(folder: &Path, cancel: &Cancel) -> Result<PathBuf> {
    let top = git(folder, &["rev-parse", "--show-toplevel"], cancel)?;
    Ok(PathBuf::from(String::from_utf8_lossy(&top).trim_end_matches('\n')))
}
