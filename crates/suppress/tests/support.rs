//! Programs of one file, and what was found in a run of them.

#![allow(dead_code, reason = "each test file uses what it needs")]

use std::path::PathBuf;

use base::Cancel;
use findings::{Corruption, Findings};
use suppress::{BuildOptions, Expected, Limits, Oracle, Request, Source, Test, find};

pub struct Case {
    text: String,
    args: Vec<String>,
    stdin: Vec<u8>,
    expected: Option<Vec<u8>>,
    limits: Limits,
    schedules: u64,
}

impl Case {
    pub fn new(text: &str) -> Self {
        Case {
            text: text.to_string(),
            args: Vec::new(),
            stdin: Vec::new(),
            expected: None,
            limits: Limits::default(),
            schedules: 0,
        }
    }

    /// How many orders of threads may be tried.
    pub fn schedules(mut self, schedules: u64) -> Self {
        self.schedules = schedules;
        self
    }

    pub fn args(mut self, args: &[&str]) -> Self {
        self.args = args.iter().map(|arg| arg.to_string()).collect();
        self
    }

    pub fn stdin(mut self, text: &str) -> Self {
        self.stdin = text.as_bytes().to_vec();
        self
    }

    pub fn expect(mut self, text: &str) -> Self {
        self.expected = Some(text.as_bytes().to_vec());
        self
    }

    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub fn find(self) -> Found {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file: PathBuf = folder.path().join("program.c");
        std::fs::write(&file, &self.text).expect("the folder is writable");
        let request = Request {
            build: BuildOptions { sources: vec![Source::File(file)], ..BuildOptions::default() },
            test: Test {
                name: "the run".to_string(),
                args: self.args,
                stdin: self.stdin,
                environment: Vec::new(),
                inputs: Vec::new(),
                oracle: Oracle::Output(Expected { stdout: self.expected, ..Expected::default() }),
                permissions: Default::default(),
            },
            limits: self.limits,
            schedules: self.schedules,
        };
        let findings = find(&request, &Cancel::new()).expect("the program builds and runs");
        Found { text: self.text, findings }
    }
}

pub struct Found {
    text: String,
    pub findings: Findings,
}

impl Found {
    pub fn corruption(&self) -> Option<&Corruption> {
        self.findings.corruption.as_ref()
    }

    fn known(&self) -> &Corruption {
        self.corruption().unwrap_or_else(|| panic!("nothing was found: {:?}", self.findings))
    }

    pub fn kind(&self) -> &str {
        &self.known().kind
    }

    pub fn line(&self) -> u32 {
        self.known().place.line
    }

    pub fn message(&self) -> &str {
        &self.known().message
    }

    /// Lines and notes from the corruption to the first failure.
    pub fn chain(&self) -> Vec<(u32, &str)> {
        self.known().chain.iter().map(|step| (step.place.line, step.note.as_str())).collect()
    }

    /// The reason why nothing could be said.
    pub fn incomplete(&self) -> &str {
        self.findings.incomplete.first().map_or("", |incomplete| incomplete.reason.as_str())
    }

    /// The line of the program that holds some text.
    pub fn line_with(&self, text: &str) -> u32 {
        let line = self.text.lines().position(|line| line.contains(text));
        line.map_or_else(|| panic!("no line holds {text}"), |line| line as u32 + 1)
    }
}
