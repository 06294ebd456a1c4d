//! Whether the package's own tests show a fault when they are built with sanitizers.
//!
//! The command (`--tests`) builds the package and runs its tests in a copy of its folder, with `CC`,
//! `CFLAGS` and `LDFLAGS` in the environment. What sanitizers say goes to files of ours, so it does
//! not matter what the tests do with their output.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Limits};

use super::draw::Injected;
use super::project::Project;

pub struct Tests {
    command: String,
    /// The folder of the package, and our copy of it.
    original: PathBuf,
    copy: PathBuf,
    logs: PathBuf,
    /// What is said about the unchanged package.
    before: BTreeSet<String>,
    limit: Duration,
}

const SANITIZERS: &str = "-fsanitize=address,undefined -fno-omit-frame-pointer -g -O1";

impl Tests {
    /// Copies the package and runs its tests once.
    pub fn new(project: &Project, command: &str, scratch: &Path, limit: Duration) -> Result<Self> {
        let (copy, logs) = (scratch.join("package"), scratch.join("logs"));
        if copy.exists() {
            std::fs::remove_dir_all(&copy)?;
        }
        let copied = Command::new("cp").arg("-a").arg(&project.folder).arg(&copy).status();
        if !copied.context("cannot run cp")?.success() {
            bail!("cannot copy {}", project.folder.display());
        }
        let mut tests = Self {
            command: command.to_owned(),
            original: project.folder.clone(),
            copy,
            logs,
            before: BTreeSet::new(),
            limit,
        };
        tests.before = tests.run()?;
        Ok(tests)
    }

    /// Whether something is said about the changed package that was not said before. `None` where
    /// the source lies outside the package's folder.
    pub fn show(&self, injected: &Injected) -> Result<Option<bool>> {
        let Ok(relative) = injected.source.strip_prefix(&self.original) else { return Ok(None) };
        let file = self.copy.join(relative);
        super::draw::write(&file, &injected.text)?;
        let said = self.run();
        std::fs::copy(&injected.source, &file)
            .with_context(|| format!("cannot restore {}", file.display()))?;
        Ok(Some(said?.difference(&self.before).next().is_some()))
    }

    fn run(&self) -> Result<BTreeSet<String>> {
        if self.logs.exists() {
            std::fs::remove_dir_all(&self.logs)?;
        }
        std::fs::create_dir_all(&self.logs)?;
        let log = |name: &str| format!("log_path={}", self.logs.join(name).display());
        let mut command = child::command("sh").context("cannot run sh")?;
        command
            .args(["-c", &self.command])
            .current_dir(&self.copy)
            .env("CFLAGS", SANITIZERS)
            .env("LDFLAGS", "-fsanitize=address,undefined")
            .env("ASAN_OPTIONS", format!("{}:detect_leaks=1", log("asan")))
            .env("UBSAN_OPTIONS", log("ubsan"));
        if std::env::var_os("CC").is_none() {
            command.env("CC", "cc");
        }
        let limits = Limits { deadline: self.limit, ..Limits::default() };
        child::run(command, b"", &limits, &Cancel::new())
            .with_context(|| format!("cannot run {}", self.command))?;
        let mut said = BTreeSet::new();
        for entry in std::fs::read_dir(&self.logs)? {
            let text = std::fs::read(entry?.path())?;
            said.extend(complaints(&String::from_utf8_lossy(&text)));
        }
        Ok(said)
    }
}

/// What sanitizers say in a text, without the addresses and sizes that differ from run to run.
fn complaints(text: &str) -> Vec<String> {
    let is_complaint =
        |line: &&str| line.starts_with("SUMMARY:") || line.contains("runtime error:");
    text.lines()
        .filter(is_complaint)
        .map(|line| {
            let is_same = |word: &&str| !word.starts_with("0x") && word.parse::<u64>().is_err();
            line.split_whitespace().filter(is_same).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::inject::draw::{draw, write};
    use crate::bench::inject::kind::Kind;

    #[test]
    fn addresses_do_not_make_a_complaint_another() {
        let text = "==7==ERROR\nSUMMARY: AddressSanitizer: 12 byte(s) leaked in 1 allocation(s).\n\
                    a.c:3:4: runtime error: load of null pointer 0x0001\n";
        let expected = [
            "SUMMARY: AddressSanitizer: byte(s) leaked in allocation(s).",
            "a.c:3:4: runtime error: load of null pointer",
        ];
        assert_eq!(complaints(text), expected);
    }

    /// A string that is copied in the test, and one that is not.
    #[test]
    fn tests_show_what_they_reach() {
        let source = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
            int reached(const char *s) {\n  char *p = malloc(strlen(s) + 1);\n  strcpy(p, s);\n  \
            puts(p);\n  free(p);\n  return 0;\n}\n\
            int missed(const char *s) {\n  char *p = malloc(strlen(s) + 1);\n  strcpy(p, s);\n  \
            puts(p);\n  free(p);\n  return 0;\n}\n\
            int main(int n, char **v) { return n > 3 ? missed(v[1]) : reached(v[0]); }\n";
        let folder = tempfile::tempdir().unwrap();
        let scratch = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.c"), source).unwrap();
        let database = r#"[{"directory": ".", "file": "a.c", "command": "cc -c a.c"}]"#;
        write(&folder.path().join("compile_commands.json"), database).unwrap();
        let project = Project::load("x", folder.path()).unwrap();
        let drawn = draw(&project, &[Kind::Allocation], 1, 9, scratch.path()).unwrap();
        assert_eq!(drawn.injected.len(), 2);
        let command = "$CC $CFLAGS $LDFLAGS -o a a.c && ./a >/dev/null 2>&1";
        let limit = Duration::from_secs(60);
        let tests = Tests::new(&project, command, scratch.path(), limit).unwrap();
        assert_eq!(tests.before, BTreeSet::new());
        for injected in &drawn.injected {
            let is_reached = injected.function == "reached";
            assert_eq!(tests.show(injected).unwrap(), Some(is_reached), "{}", injected.function);
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("a.c")).unwrap(), source);
    }
}
