//! What is explored, and what came of it.

use std::collections::BTreeSet;

use findings::{Place, RunInput, Step};
use interpret::FaultKind;
use program::{FunctionId, InstId, Program};
use rustc_hash::FxHashSet;

use crate::target::Line;

/// What to explore, and how much of it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the program begins: `main`, or a function that is given any arguments.
    pub entry: FunctionId,
    /// Where the sequence of variations starts.
    pub seed: u64,
    /// Work in all: an instruction is one unit, questions to the solver are as many as take the
    /// same time. Never time itself, so that results do not depend on the machine.
    pub work: u64,
    pub rules: Rules,
    /// Lines that matter most: decisions that lead there come first.
    pub targets: Vec<Line>,
    /// What is proved never to happen, and not asked for.
    pub safe: FxHashSet<(FunctionId, InstId, FaultKind)>,
}

impl Options {
    /// About three seconds of work from this function on, all rules watched.
    pub fn new(entry: FunctionId) -> Self {
        Self {
            entry,
            seed: 0,
            work: Self::WORK,
            rules: Rules::default(),
            targets: Vec::new(),
            safe: FxHashSet::default(),
        }
    }

    /// The function of this name with a body, `main` mostly.
    pub fn entry_named(program: &Program, name: &str) -> Option<FunctionId> {
        let mut functions = program.functions.iter_enumerated();
        functions.find(|(_, f)| *f.name == *name && f.body.is_some()).map(|(id, _)| id)
    }

    /// Chosen so that most small programs take less than three seconds.
    pub const WORK: u64 = 60_000_000;
}

/// Which rules are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// By their names; all where there are none.
    pub only: BTreeSet<String>,
    /// What `--strict` reports besides.
    pub is_strict: bool,
}

impl Rules {
    pub fn watch(&self, rule: &str) -> bool {
        self.only.is_empty() || self.only.contains(rule)
    }
}

/// A fault, and the input that makes it happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The rule `check` reports it under.
    pub rule: String,
    /// With the function it is in.
    pub place: Place,
    /// What happens, with the values it happens with, in a sentence without a full stop.
    pub message: String,
    /// Made as small as it gets.
    pub input: RunInput,
    /// The failing run: assignments, decisions and calls that lead to the fault, which is last.
    pub steps: Vec<Step>,
    /// Other places of the same fault: where a leaked object was allocated, where one used after
    /// its life was freed.
    pub related: Vec<Step>,
    /// All that decided came from the program's own inputs: `false` where a call that is not
    /// modelled had a made-up result.
    pub is_proved: bool,
    /// It was found only behind another fault.
    pub is_behind: bool,
}

/// What a fault is known by: its file, line and rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultName {
    pub file: String,
    pub line: u32,
    pub rule: String,
}

impl FaultName {
    pub fn of(found: &Found) -> Self {
        let (file, line) = (found.place.file.clone(), found.place.line);
        Self { file, line, rule: found.rule.clone() }
    }
}

/// One fault causes another, as runs show.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultLink {
    pub from: FaultName,
    pub to: FaultName,
    /// No run has the second without the first.
    pub is_unique: bool,
    /// With which both happen.
    pub input: RunInput,
    /// That run, up to the second.
    pub steps: Vec<Step>,
    /// It says nothing that C and the layout of records leave open.
    pub is_certain: bool,
}

/// What exploring came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One for each rule and line, in the order of the program's files and lines.
    pub found: Vec<Found>,
    /// Which of them causes which.
    pub links: Vec<FaultLink>,
    pub blocks_reached: usize,
    pub blocks_total: usize,
    /// Functions that are not modelled, with the place of a call: what they do was made up.
    pub unmodelled: Vec<(String, Place)>,
    /// What could not be followed, in words, such as floating-point numbers.
    pub limits: Vec<String>,
    pub ended: Ended,
    pub n_runs: u64,
    pub work: u64,
}

/// Why exploring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All paths were run: there are no other faults as far as the model goes.
    AllPaths,
    Budget,
    Cancelled,
    /// The program cannot be run, and why is said in [`Outcome::limits`].
    CannotRun,
}
