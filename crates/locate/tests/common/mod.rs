//! Small C programs with tests, located as a user would.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use base::Cancel;
use locate::{Ivmps, LocateError, Options, Ranked, Search, Searcher, Session, StatementId};
use run::{BuildOptions, Expected, Oracle, Program, Source, Suite, Test};
use tempfile::TempDir;

pub struct Project {
    folder: TempDir,
    pub suite: Suite,
    pub program: Program,
}

impl Project {
    /// Builds a program of one file.
    pub fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program.c");
        std::fs::write(&file, source).expect("the folder is writable");
        let scratch = folder.path().join("build");
        std::fs::create_dir(&scratch).expect("the folder is writable");
        let options =
            BuildOptions { sources: vec![Source::File(file)], jobs: 1, ..Default::default() };
        let program =
            Program::build(&options, &scratch, &Cancel::new()).expect("the program builds");
        Self { folder, suite: Suite::default(), program }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a test that compares standard output.
    pub fn test(mut self, name: &str, args: &[&str], stdin: &str, stdout: &str) -> Self {
        let expected = Expected { stdout: Some(stdout.into()), ..Expected::default() };
        self.suite.tests.push(test(name, args, stdin, Oracle::Output(expected)));
        self
    }

    #[allow(dead_code, reason = "not every test file needs it")]
    pub fn add(mut self, test: Test) -> Self {
        self.suite.tests.push(test);
        self
    }

    /// The line that holds `marker`.
    pub fn line(&self, marker: &str) -> u32 {
        let text = std::fs::read_to_string(self.path("program.c")).expect("we wrote it");
        let index = text.lines().position(|line| line.contains(marker));
        index.expect("the marker is in the program") as u32 + 1
    }
}

pub fn test(name: &str, args: &[&str], stdin: &str, oracle: Oracle) -> Test {
    Test {
        name: name.to_string(),
        args: args.iter().map(|a| a.to_string()).collect(),
        stdin: stdin.into(),
        environment: Vec::new(),
        inputs: Vec::new(),
        oracle,
        permissions: Default::default(),
    }
}

/// Runs the tests of a project.
pub fn session<'a>(project: &'a Project, cancel: &'a Cancel) -> Result<Session<'a>, LocateError> {
    let options = Options { jobs: 2, ..Options::default() };
    Session::start(&project.program, &project.suite, options, cancel)
}

/// Searches and returns the lines with IVMPs in each failing test, by name.
pub fn lines_with_ivmps(session: &Session<'_>, ivmps: &Ivmps) -> Vec<(String, BTreeSet<u32>)> {
    ivmps
        .found
        .iter()
        .map(|(test, found)| {
            let lines = found.keys().map(|s| session.statements.place(*s).line).collect();
            (session.tests[*test].test.name.clone(), lines)
        })
        .collect()
}

pub fn search(session: &Session<'_>, search: Search) -> Ivmps {
    Searcher::new(session, search).run().expect("the search runs")
}

#[allow(dead_code, reason = "not every test file ranks")]
pub fn rank_of(session: &Session<'_>, list: &[Ranked], line: u32) -> u32 {
    let is_line = |s: StatementId| session.statements.place(s).line == line;
    list.iter().find(|r| is_line(r.statement)).expect("the line is ranked").rank
}

#[allow(dead_code, reason = "not every test file writes files")]
pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the folder is writable");
}
