//! Which violated property is meant, and how it is told.

use interpret::FaultKind;
use program::Program;

use crate::ending::{Property, loc_of};
use crate::explore::Violation;

/// The property to diagnose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Where it is violated; anywhere by default.
    pub lines: Vec<u32>,
    /// The end of the file's path, where the line is of one file.
    pub file: Option<String>,
}

impl Target {
    /// The same for each line alone.
    pub fn singly(&self) -> Vec<Target> {
        let one = |line: &u32| Target { lines: vec![*line], file: self.file.clone() };
        self.lines.iter().map(one).collect()
    }

    pub fn matches(&self, program: &Program, violation: &Violation) -> bool {
        if self.lines.is_empty() {
            return true;
        }
        let loc = &program.locs[loc_of(program, violation.at)];
        let path = program.files.get(loc.file).map_or("", |file| &file.path);
        let is_file = self.file.as_ref().is_none_or(|file| path.ends_with(file.as_str()));
        self.lines.contains(&loc.line) && is_file
    }
}

impl Property {
    /// What is violated is that an instruction reads or writes where it may.
    pub fn is_access(self) -> bool {
        use FaultKind::{Null, OutOfBounds, UseAfterEnd};
        matches!(self, Property::Fault(OutOfBounds | Null | UseAfterEnd))
    }

    /// The rule `check` would report it under.
    pub fn rule(self) -> &'static str {
        match self {
            Property::Assertion => "assertion",
            Property::Fault(kind) => match kind {
                FaultKind::OutOfBounds => "buffer-overflow",
                FaultKind::Null => "null-dereference",
                FaultKind::UseAfterEnd => "use-after-free",
                FaultKind::DoubleFree => "double-free",
                FaultKind::InvalidFree => "invalid-free",
                FaultKind::Uninitialised => "uninitialized-read",
                FaultKind::DivideByZero => "divide-by-zero",
                FaultKind::SignedOverflow | FaultKind::Shift => "integer-overflow",
                FaultKind::Unreachable => "unreachable",
            },
        }
    }

    /// What happened, in a sentence without a full stop.
    pub fn message(self) -> &'static str {
        match self {
            Property::Assertion => "the assertion fails",
            Property::Fault(kind) => match kind {
                FaultKind::OutOfBounds => "an access outside the bounds of its object",
                FaultKind::Null => "a null pointer is dereferenced",
                FaultKind::UseAfterEnd => "an object is used after its life",
                FaultKind::DoubleFree => "memory is freed twice",
                FaultKind::InvalidFree => "what is freed was not allocated",
                FaultKind::Uninitialised => "a value that was never set decides",
                FaultKind::DivideByZero => "a division by zero",
                FaultKind::SignedOverflow => "a signed number overflows",
                FaultKind::Shift => "a shift by more bits than there are",
                FaultKind::Unreachable => "control comes where it cannot",
            },
        }
    }
}
