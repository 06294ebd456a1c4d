//! What a test suite says about its files: places where a fault must be reported, places that
//! must stay silent, and places that say nothing about our rules.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The kinds of faults that figures are given for, as suites tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Null,
    Leak,
    Descriptor,
    UseAfterFree,
    DoubleRelease,
    InvalidFree,
    Unset,
    Bounds,
    Integer,
    Division,
    Loop,
    Lock,
    Taint,
    /// A flawed function that the suite's own tool reports nothing in: the kind is not said.
    NotSaid,
}

impl Kind {
    pub fn title(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Leak => "leak",
            Kind::Descriptor => "descriptors",
            Kind::UseAfterFree => "use after free",
            Kind::DoubleRelease => "double free or close",
            Kind::InvalidFree => "invalid free",
            Kind::Unset => "unset",
            Kind::Bounds => "bounds",
            Kind::Integer => "integers",
            Kind::Division => "division by zero",
            Kind::Loop => "infinite loop",
            Kind::Lock => "locks",
            Kind::Taint => "taint",
            Kind::NotSaid => "flawed, missed by its own tool",
        }
    }

    /// Whether tools differ so much on the line (the last use, the return, the end of the
    /// function) that any line of the function is accepted.
    pub fn is_anywhere_in_function(self) -> bool {
        matches!(self, Kind::Leak | Kind::Descriptor | Kind::Loop | Kind::NotSaid)
    }
}

/// A kind and our rules that are the right answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expect {
    pub kind: Kind,
    pub rules: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A fault must be reported here.
    Expected,
    /// No fault of these rules may be reported here.
    Silent,
    /// Something is said here that is no matter of our rules, or that is not certain:
    /// what we report here is not judged.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub role: Role,
    pub kind: Option<Kind>,
    /// Rules that answer it, or that must be silent.
    pub rules: Vec<&'static str>,
    /// As the case's `files` have it.
    pub file: String,
    pub first: u32,
    pub last: u32,
    /// The function around it, where there is one.
    pub function: Option<String>,
    /// What the suite says there.
    pub text: String,
}

/// A function's definition in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub first: u32,
    pub last: u32,
}

/// Files that are analysed together as one program.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub folder: PathBuf,
    /// Relative to the folder; places are in the first unless they say otherwise.
    pub files: Vec<String>,
    pub flags: Vec<String>,
    pub places: Vec<Place>,
    /// Functions of the first file.
    pub functions: Vec<Function>,
    /// The rules that correspond to what the suite's tool looks for in this file: a report of
    /// another rule is not judged.
    pub covered: Vec<&'static str>,
    /// Whether the suite gives the line of the call in the named function where the fault
    /// itself is in a callee.
    pub by_call: bool,
}

/// All of a suite.
#[derive(Debug, Default)]
pub struct Collected {
    pub cases: Vec<Case>,
    /// Expectations that are no matter of our rules.
    pub not_ours: usize,
    /// Expectations left out for another reason.
    pub left_out: BTreeMap<&'static str, usize>,
    /// Files that are not for this tool or target.
    pub skipped: BTreeMap<&'static str, usize>,
    /// Expectations that could not be read, with their place.
    pub malformed: Vec<String>,
}

impl Collected {
    /// Places of one line and kind are one place: one report answers them.
    pub fn finish(&mut self) {
        self.cases.sort_by(|a, b| a.name.cmp(&b.name));
        for case in &mut self.cases {
            let mut kept: Vec<Place> = Vec::new();
            for place in std::mem::take(&mut case.places) {
                let is_same = |k: &Place| {
                    (k.role, k.kind, &k.file, k.first, k.last)
                        == (place.role, place.kind, &place.file, place.first, place.last)
                };
                if !kept.iter().any(is_same) {
                    kept.push(place);
                }
            }
            kept.sort_by(|a, b| (&a.file, a.first, a.kind).cmp(&(&b.file, b.first, b.kind)));
            case.places = kept;
        }
        self.malformed.sort();
    }
}
