//! Other analysers on the same programs, and their diagnostics.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use base::Cancel;
use base::child::{self, Limits};

use super::parts::{Subject, Task};
use super::peer_rules::{self, CLANG, CPPCHECK, GCC, Row, SANITIZERS};
use super::said::{At, Reported, Said};
use super::sanitizers;
use crate::bench::juliet::hash;
use crate::bench::subject::{PATIENCE, limited};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    Clang,
    ClangAlpha,
    Gcc,
    Cppcheck,
    /// AddressSanitizer and UndefinedBehaviorSanitizer, on the inputs of the set.
    Address,
    /// ThreadSanitizer, likewise.
    Thread,
}

/// The checkers of clang that are no part of its default and concern C.
const ALPHA: &str = "-analyzer-checker=alpha.core,alpha.security,alpha.unix";

impl Peer {
    pub const ALL: [Peer; 6] =
        [Peer::Clang, Peer::ClangAlpha, Peer::Gcc, Peer::Cppcheck, Peer::Address, Peer::Thread];

    pub fn name(self) -> &'static str {
        match self {
            Peer::Clang => "clang-19",
            Peer::ClangAlpha => "clang-19 alpha",
            Peer::Gcc => "gcc",
            Peer::Cppcheck => "cppcheck",
            Peer::Address => "ASan+UBSan",
            Peer::Thread => "TSan",
        }
    }

    pub fn told(self) -> &'static str {
        match self {
            Peer::Clang => "clang-19 --analyze",
            Peer::ClangAlpha => "clang-19 --analyze with alpha.core, alpha.security and alpha.unix",
            Peer::Gcc => "gcc -fanalyzer -O2 -Wall",
            Peer::Cppcheck => "cppcheck --enable=warning",
            Peer::Address => {
                "clang-19 -fsanitize=address,undefined, run on the input that shows the fault \
                 (the twin on the others, too)"
            }
            Peer::Thread => "clang-19 -fsanitize=thread, three runs on the failing arguments",
        }
    }

    /// Why it cannot be run here.
    pub fn missing(self) -> Option<String> {
        let programs: &[&str] = match self {
            Peer::Clang | Peer::ClangAlpha | Peer::Address => &["clang-19"],
            Peer::Gcc => &["gcc"],
            Peer::Cppcheck => &["cppcheck"],
            Peer::Thread => &["clang-19", "setarch"],
        };
        let is_missing = |name: &&&str| child::find_program(name.as_ref()).is_err();
        let missing = programs.iter().find(is_missing)?;
        Some(format!("{missing} is not installed; scripts/setup bench installs it"))
    }

    /// Whether it has anything to say about such a program.
    pub fn applies(self, subject: &Subject) -> bool {
        match (&subject.task, self) {
            (Task::Check { inputs }, Peer::Address) => !inputs.is_empty(),
            (Task::Check { .. }, Peer::Thread) => false,
            (Task::Check { .. }, _) => true,
            (Task::Crash { threads, .. }, Peer::Address) => !threads,
            (Task::Crash { threads, .. }, Peer::Thread) => *threads,
            (Task::Crash { .. } | Task::Beliefs, _) => false,
        }
    }

    /// The first line of what it says of itself.
    pub fn version(self) -> String {
        let program = match self {
            Peer::Gcc => "gcc",
            Peer::Cppcheck => "cppcheck",
            _ => "clang-19",
        };
        let run = || -> Result<String> {
            let mut command = child::command(program)?;
            command.arg("--version");
            let done = child::run(command, b"", &Limits::default(), &Cancel::new())?;
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            Ok(text.lines().next().unwrap_or_default().to_owned())
        };
        run().unwrap_or_else(|_| "unknown version".to_owned())
    }

    fn table(self) -> &'static [Row] {
        match self {
            Peer::Clang | Peer::ClangAlpha => CLANG,
            Peer::Gcc => GCC,
            Peer::Cppcheck => CPPCHECK,
            Peer::Address | Peer::Thread => SANITIZERS,
        }
    }

    /// What an answer of it depends on, besides the program.
    pub fn identity(self) -> String {
        format!("{} {:016x}", self.told(), hash(1, &format!("{:?}", self.table())))
    }

    pub fn ask(self, folder: &Path, subject: &Subject, cpu_limit: Duration) -> Result<Said> {
        match self {
            Peer::Address => sanitizers::address(folder, subject, cpu_limit),
            Peer::Thread => sanitizers::thread(folder, subject, cpu_limit),
            _ => self.look(folder, subject, cpu_limit),
        }
    }

    /// Looks at every file of the program.
    fn look(self, folder: &Path, subject: &Subject, cpu_limit: Duration) -> Result<Said> {
        let mut said = Said::default();
        for file in &subject.files {
            let mut command = limited(cpu_limit, Some(6 << 30))?;
            match self {
                Peer::Gcc => {
                    command.args(["gcc", "-fanalyzer", "-O2", "-Wall", "-c", "-o", "/dev/null"])
                }
                Peer::Cppcheck => command.args([
                    "cppcheck",
                    "--quiet",
                    "--enable=warning",
                    "--template={file}:{line}: {severity}: {message} [{id}]",
                ]),
                _ => {
                    command.args(["clang-19", "--analyze", "-Xclang", "-analyzer-output=text"]);
                    if self == Peer::ClangAlpha {
                        command.args(["-Xclang", ALPHA]);
                    }
                    command.arg("-w")
                }
            };
            command.arg(file).current_dir(folder).env("LC_ALL", "C");
            let limits = Limits { deadline: PATIENCE * cpu_limit, ..Limits::default() };
            let done = child::run(command, b"", &limits, &Cancel::new())?;
            said.cpu += done.cpu.as_secs_f64();
            if !done.ending.success() {
                said.failed = Some(format!("{}: {}", file.display(), done.ending));
            }
            read(self.table(), &String::from_utf8_lossy(&done.stderr), &mut said);
        }
        Ok(said)
    }
}

/// Reads `file:line[:column]: severity: message [check]` lines.
fn read(table: &[Row], text: &str, said: &mut Said) {
    for diagnostic in text.lines().filter_map(diagnostic) {
        let (at, message, check) = diagnostic;
        match peer_rules::rule(table, check, message) {
            Some(rule) => {
                let report = Reported {
                    rule: rule.to_owned(),
                    places: vec![at],
                    message: message.to_owned(),
                    ..Reported::default()
                };
                // Checks that share a rule say the same twice.
                let is_known = said
                    .reports
                    .iter()
                    .any(|known| known.rule == report.rule && known.places == report.places);
                if !is_known {
                    said.reports.push(report);
                }
            }
            None => said.unmapped.push(check.to_owned()),
        }
    }
}

fn diagnostic(line: &str) -> Option<(At, &str, &str)> {
    let (place, rest) = ["warning", "error"]
        .iter()
        .find_map(|severity| line.split_once(&format!(": {severity}: ")))?;
    let (message, check) = rest.strip_suffix(']')?.rsplit_once(" [")?;
    let mut parts = place.split(':');
    let file = parts.next()?;
    let line = parts.next()?.parse().ok()?;
    // gcc says `-Wanalyzer-double-free`, `-Wformat-overflow=`; clang may name several.
    let check = check.strip_prefix("-W").unwrap_or(check).trim_end_matches('=');
    Some((At::new(file, line), message, check.split(',').next().unwrap_or(check)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(table: &[Row], text: &str) -> (Vec<(String, String)>, Vec<String>) {
        let mut said = Said::default();
        read(table, text, &mut said);
        let told = |report: &Reported| (report.rule.clone(), report.places[0].to_string());
        (said.reports.iter().map(told).collect(), said.unmapped)
    }

    #[test]
    fn diagnostics_of_each_tool_are_read() {
        let clang = "d/a.c:7:3: warning: Use of memory after it is freed [unix.Malloc]\n\
                     d/a.c:6:3: note: Memory is released\n\
                     d/a.c:8:1: warning: Value stored to 'x' is never read [deadcode.DeadStores]\n\
                     2 warnings generated.\n";
        let (found, other) = reports(CLANG, clang);
        assert_eq!(found, [("use-after-free".to_owned(), "a.c:7".to_owned())]);
        assert_eq!(other, ["deadcode.DeadStores"]);
        let gcc = "a.c:9:5: warning: leak of 'p' [CWE-401] [-Wanalyzer-malloc-leak]\n";
        assert_eq!(reports(GCC, gcc).0, [("leak".to_owned(), "a.c:9".to_owned())]);
        let bounds = "a.c:9:5: warning: '%s' writes past the end [-Wformat-overflow=]\n";
        assert_eq!(reports(GCC, bounds).0, [("buffer-overflow".to_owned(), "a.c:9".to_owned())]);
        let cppcheck = "a.c:3: error: Memory leak: p [memleak]\n";
        assert_eq!(reports(CPPCHECK, cppcheck).0, [("leak".to_owned(), "a.c:3".to_owned())]);
    }

    #[test]
    fn other_lines_are_passed_over() {
        let text = "In file included from a.c:1:\na.c: In function 'f':\nwarning: odd [x]\n\
                    a.c:x:1: warning: odd [memleak]\na.c:1: warning: no check named\n";
        let (found, other) = reports(CPPCHECK, text);
        assert!(found.is_empty() && other.is_empty());
    }
}
