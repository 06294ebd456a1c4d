//! Builds a package as Debian does, watched by `firstfault capture`, and reads what was compiled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};
use serde::Deserialize;

use crate::bench::code_lines;

/// A unit of C that the build compiled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    pub directory: PathBuf,
    /// Relative to the directory, or absolute.
    pub source: PathBuf,
    pub flags: Vec<String>,
}

/// The largest file a build may write.
const MAX_FILE: u64 = 1 << 30;

/// Where Debian's own builds look for programs.
const DEBIAN_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs the build without network and tests. The first target that there is counts.
pub fn watch(
    firstfault: &Path,
    tree: &Path,
    state: &Path,
    cpu: Duration,
    jobs: usize,
) -> Result<()> {
    if !tree.join("debian/rules").exists() {
        bail!("there is no debian/rules");
    }
    let home = state.with_file_name("home");
    std::fs::create_dir_all(&home)?;
    let mut log = String::new();
    for target in ["build-arch", "build"] {
        let mut command = child::command("unshare").context("cannot run unshare")?;
        command
            .args(["--net", "--", "prlimit", &format!("--fsize={MAX_FILE}"), "--"])
            .arg(firstfault)
            .args(["capture", "--state"])
            .arg(state)
            .args(["--", "debian/rules", target])
            // Other interpreters before Debian's lack the modules that dependencies bring.
            .env_clear()
            .env("PATH", DEBIAN_PATH)
            .env("DEB_BUILD_OPTIONS", format!("nocheck parallel={jobs}"))
            .env("DEB_BUILD_PROFILES", "nocheck")
            .env("HOME", &home)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(tree);
        let limits = Limits { stdout_cap: 1 << 20, ..Limits::of_processor_time(cpu) };
        let finished = child::run(command, b"", &limits, &Cancel::new())?;
        log = String::from_utf8_lossy(&finished.stderr).into_owned();
        std::fs::write(state.with_file_name("build.log"), &finished.stderr)?;
        if finished.ending.success() {
            return Ok(());
        }
        if !log.contains("No rule to make target 'build-arch'") {
            bail!("the build {}: {}", finished.ending, last_error(&log));
        }
    }
    bail!("there is no target to build: {}", last_error(&log))
}

/// The line that most likely says what went wrong.
fn last_error(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let telling = ["error:", "Error:", "not found", "fatal"];
    let line = lines
        .iter()
        .find(|line| telling.iter().any(|word| line.contains(word)))
        .or(lines.last())
        .map_or("it printed nothing", |line| line.trim());
    line.chars().take(200).collect()
}

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    compiles: Vec<Compile>,
}

#[derive(Deserialize)]
struct Compile {
    command: Command,
}

#[derive(Deserialize)]
struct Command {
    directory: PathBuf,
    source: PathBuf,
    language: String,
    flags: Flags,
}

#[derive(Deserialize)]
struct Flags {
    #[serde(default)]
    preprocess: Vec<String>,
    #[serde(default)]
    compile: Vec<String>,
}

/// The units of C below the tree whose files are still there, each once, sorted. A file that is
/// compiled in several ways (for a shared and a static library, for example) counts with the first.
pub fn units(state: &Path, tree: &Path) -> Result<Vec<Unit>> {
    let records = state.join("capture/records");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&records)
        .with_context(|| format!("cannot read {}", records.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    paths.sort();
    let mut seen = BTreeSet::new();
    let mut units = Vec::new();
    for path in paths {
        let text = std::fs::read(&path)?;
        let record: Record = serde_json::from_slice(&text)
            .with_context(|| format!("{} is no record of a build", path.display()))?;
        for Compile { command } in record.compiles {
            let file = command.directory.join(&command.source);
            let Ok(file) = file.canonicalize() else { continue };
            if command.language == "C" && file.starts_with(tree) && seen.insert(file) {
                let mut flags = command.flags.preprocess;
                flags.extend(command.flags.compile);
                units.push(Unit { directory: command.directory, source: command.source, flags });
            }
        }
    }
    units.sort();
    Ok(units)
}

/// Lines of code in the files of the units, and in files of C that these include: some packages
/// compile all of their code as one unit. Each file counts once, headers do not count.
pub fn lines(units: &[Unit]) -> u64 {
    let mut left: Vec<PathBuf> =
        units.iter().map(|unit| unit.directory.join(&unit.source)).collect();
    let mut seen = BTreeSet::new();
    let mut lines = 0;
    while let Some(path) = left.pop() {
        let Ok(path) = path.canonicalize() else { continue };
        let Ok(text) = std::fs::read(&path) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        lines += code_lines::count(&text);
        let folder = path.parent().unwrap_or(&path);
        left.extend(included(&text).into_iter().map(|name| folder.join(name)));
    }
    lines
}

/// The files of C that a text includes by `#include "NAME.c"`.
fn included(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let names = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let name = rest.trim_start().strip_prefix('"')?.split_once('"')?.0;
        name.ends_with(".c").then(|| name.to_owned())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_units_include_counts_once_and_headers_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write("all.c", "#include \"a.h\"\n#include \"a.c\"\n # include \"b.c\"\n").unwrap();
        write("a.h", "int h;\nint h;\n").unwrap();
        write("a.c", "#include \"b.c\"\n#include <c.c>\nint a;\n").unwrap();
        write("b.c", "#include \"b.c\"\n#include \"gone.c\"\nint b;\n").unwrap();
        let unit = |name: &str| Unit {
            directory: folder.path().to_owned(),
            source: name.into(),
            flags: Vec::new(),
        };
        assert_eq!(lines(&[unit("all.c")]), 9);
        assert_eq!(lines(&[unit("all.c"), unit("b.c")]), 9);
        assert_eq!(lines(&[unit("a.h"), unit("missing.c")]), 2);
    }

    #[test]
    fn units_are_read_from_the_records() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap();
        let records = tree.join("state/capture/records");
        std::fs::create_dir_all(&records).unwrap();
        std::fs::write(tree.join("a.c"), "int x;\nint y;\n").unwrap();
        std::fs::write(tree.join("b.cc"), "int x;\n").unwrap();
        let compile = |source: &str, language: &str| {
            serde_json::json!({"command": {"directory": tree, "source": source,
                "language": language, "flags": {"preprocess": ["-DX"], "compile": ["-O2"]},
                "object": null}, "outcome": "other"})
        };
        let record = serde_json::json!({"compiles": [
            compile("a.c", "C"), compile("./a.c", "C"), compile("b.cc", "Cxx"), compile("gone.c", "C")
        ]});
        std::fs::write(records.join("1.json"), record.to_string()).unwrap();
        let flags = vec!["-DX".to_owned(), "-O2".to_owned()];
        let expected = Unit { directory: tree.clone(), source: "a.c".into(), flags };
        let found = units(&tree.join("state"), &tree).unwrap();
        assert_eq!(found, [expected]);
        assert_eq!(lines(&found), 2);

        std::fs::write(records.join("2.json"), "{\"compiles\": [{}]}").unwrap();
        let error = units(&tree.join("state"), &tree).unwrap_err().to_string();
        assert!(error.ends_with("2.json is no record of a build"), "{error}");
    }

    #[test]
    fn the_telling_line_of_a_log_is_shown() {
        assert_eq!(last_error("cc x\na.c:1: error: no y\nmake: *** [a.o]\n"), "a.c:1: error: no y");
        assert_eq!(last_error("one\ntwo\n\n"), "two");
        assert_eq!(last_error(""), "it printed nothing");
    }
}
