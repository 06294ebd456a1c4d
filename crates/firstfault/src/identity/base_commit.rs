//! `--diff`: the state of the project at a commit, analysed in the same way, to tell what is
//! new since.
//!
//! The commit is unpacked into a scratch folder and this program runs there with the options it
//! was given itself. Comparing fingerprints of two whole analyses is dearer than looking at the
//! changed lines, but says the truth: an edit far away can make a fault, and an edited line may
//! have had its fault before.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Ending, Limits};

use super::{baseline, git};

/// As long as a day: an analysis is never cut short.
const DEADLINE: Duration = Duration::from_secs(24 * 3600);

/// Options that say where a report goes and what is left out of it, with a value each.
const DROPPED: [&str; 9] = [
    "--diff",
    "--changed-since",
    "--baseline",
    "--save-baseline",
    "--output",
    "-o",
    "--format",
    "--state",
    "--timings",
];

/// The fingerprints of what is found at a commit.
pub fn known(commit: &str, cancel: &Cancel) -> Result<BTreeSet<String>> {
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    let here = here.canonicalize().unwrap_or(here);
    let id = git::commit(&here, commit, cancel)?;
    let top = git::top(&here, cancel)?;
    let scratch = base::Scratch::new()?;
    let tree = scratch.path().join("tree");
    unpack(&top, &id, &tree, cancel)?;
    let below = here.strip_prefix(&top).unwrap_or(Path::new(""));
    let folder = tree.join(below);
    if !folder.is_dir() {
        // The project is younger than the commit: everything is new.
        return Ok(BTreeSet::new());
    }
    let moved = Moved { from: &top, to: &tree };
    let args = arguments(std::env::args_os().skip(1), &moved);
    moved.database(&args, &here, &folder)?;
    let report = scratch.path().join("report.json");
    run(&args, &folder, &report, scratch.path(), commit, cancel)?;
    baseline::read(&report)
}

fn unpack(top: &Path, commit: &str, tree: &Path, cancel: &Cancel) -> Result<()> {
    std::fs::create_dir(tree)?;
    let archive = tree.with_extension("tar");
    let mut output = OsString::from("--output=");
    output.push(&archive);
    let args = [OsStr::new("archive"), OsStr::new("--format=tar"), &output, OsStr::new(commit)];
    git::git(top, &args, cancel)?;
    let mut tar = child::command("tar").context("cannot run tar")?;
    tar.arg("-xf").arg(&archive).arg("-C").arg(tree);
    let done = child::run(tar, b"", &Limits::default(), cancel).context("cannot run tar")?;
    if !done.ending.success() {
        bail!("cannot unpack {commit}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}

fn run(
    args: &[OsString],
    folder: &Path,
    report: &Path,
    scratch: &Path,
    commit: &str,
    cancel: &Cancel,
) -> Result<()> {
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let mut command = child::command(program)?;
    // What comes after `--` is the build or its flags.
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    command.args(&args[..end]).args(["--format", "json", "-o"]).arg(report);
    command.args(&args[end..]).current_dir(folder);
    // The captured build of the project stays that of today.
    command.env("FIRSTFAULT_STATE", scratch.join("state"));
    let limits = Limits { deadline: DEADLINE, ..Limits::default() };
    let done = child::run(command, b"", &limits, cancel).context("cannot start firstfault")?;
    let said = String::from_utf8_lossy(&done.stderr);
    match done.ending {
        Ending::Exited(0 | 1) => Ok(()),
        Ending::Exited(3) => {
            crate::log::warning(&format!(
                "part of {commit} could not be analysed: what was there before may seem new"
            ));
            Ok(())
        }
        _ => bail!(
            "cannot analyse {commit}: {}",
            said.lines().last().unwrap_or("firstfault ended without a word")
        ),
    }
}

/// The arguments for the run in the scratch folder.
fn arguments(args: impl Iterator<Item = OsString>, moved: &Moved) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut args = args;
    while let Some(arg) = args.next() {
        if arg == "--" {
            kept.push(arg);
            kept.extend(args.by_ref().map(|arg| moved.path(&arg)));
            break;
        }
        let text = arg.to_string_lossy();
        if DROPPED.contains(&&*text) {
            args.next();
        } else if !DROPPED.iter().any(|option| is_joined(option, &text)) {
            kept.push(moved.path(&arg));
        }
    }
    kept
}

/// `--option=value` or `-ovalue`.
fn is_joined(option: &str, text: &str) -> bool {
    let rest = text.strip_prefix(option);
    rest.is_some_and(|rest| rest.starts_with('=') || !option.starts_with("--"))
}

/// Paths below the project's top become paths below the scratch folder's.
struct Moved<'a> {
    from: &'a Path,
    to: &'a Path,
}

impl Moved<'_> {
    fn path(&self, arg: &OsStr) -> OsString {
        match Path::new(arg).strip_prefix(self.from) {
            Ok(below) => self.to.join(below).into_os_string(),
            Err(_) => arg.to_owned(),
        }
    }

    /// A compilation database is made by a build and no part of the commit: it is used with
    /// the paths that exist there moved.
    fn database(&self, args: &[OsString], here: &Path, folder: &Path) -> Result<()> {
        const NAME: &str = "compile_commands.json";
        let at = args.iter().position(|arg| arg == "-p" || arg == "--project");
        let project = at.and_then(|at| args.get(at + 1)).map_or(PathBuf::from("."), PathBuf::from);
        let source = if project.is_absolute() {
            self.from.join(project.strip_prefix(self.to).unwrap_or(&project))
        } else {
            here.join(&project)
        };
        let target = folder.join(&project);
        let Ok(text) = std::fs::read_to_string(source.join(NAME)) else { return Ok(()) };
        if target.join(NAME).exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&target)?;
        std::fs::write(target.join(NAME), self.rewritten(&text))?;
        Ok(())
    }

    /// Every mention of a file or folder that is part of the commit, moved.
    fn rewritten(&self, text: &str) -> String {
        let from = self.from.to_string_lossy();
        let mut parts = text.split(&*from);
        let mut moved = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(['"', ' ', '\\', ':', ',']).unwrap_or(part.len());
            let below = part[..end].trim_start_matches('/');
            let is_there = self.to.join(below).exists() && (end == 0 || part.starts_with('/'));
            let top = if is_there { self.to.to_string_lossy() } else { from.clone() };
            moved.push_str(&top);
            moved.push_str(part);
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_about_the_report_are_left_out_and_paths_move() {
        let moved = Moved { from: Path::new("/project"), to: Path::new("/tmp/x") };
        let given = "check --diff main --format=sarif -oout.sarif --rule leak /project/a.c \
                     --state s -- -I/elsewhere --format /project/include";
        let args = arguments(given.split_whitespace().map(OsString::from), &moved);
        let expected = "check --rule leak /tmp/x/a.c -- -I/elsewhere --format /tmp/x/include";
        assert_eq!(args, expected.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn a_database_keeps_what_only_the_build_has() {
        let scratch = tempfile::tempdir().unwrap();
        std::fs::write(scratch.path().join("a.c"), "").unwrap();
        let moved = Moved { from: Path::new("/project"), to: scratch.path() };
        let text = r#"{"directory": "/project", "command": "cc -I/project/gen /project/a.c"}"#;
        let to = scratch.path().display();
        let expected =
            format!(r#"{{"directory": "{to}", "command": "cc -I/project/gen {to}/a.c"}}"#);
        assert_eq!(moved.rewritten(text), expected);
    }
}
