//! Which violated property is meant, and how it is told.

use interpret::FaultKind;
use program::{LocId, Program};

use crate::ending::{Property, loc_of};
use crate::search::Violation;

/// The property to diagnose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Where it is violated; anywhere by default.
    pub places: Vec<Line>,
    /// The rule it is reported under, one of [`RULES`]; any by default.
    pub rule: Option<String>,
}

/// A line of the sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The file, or the end of its path; any by default.
    pub file: Option<String>,
    pub line: u32,
}

/// What violated properties are reported under.
pub const RULES: [&str; 9] = [
    "assertion",
    "buffer-overflow",
    "null-dereference",
    "use-after-free",
    "double-free",
    "invalid-free",
    UNINITIALIZED,
    "divide-by-zero",
    "integer-overflow",
];

const UNINITIALIZED: &str = "uninitialized-read";

impl Target {
    /// The same for each place alone.
    pub fn singly(&self) -> Vec<Target> {
        let one = |place: &Line| Target { places: vec![place.clone()], rule: self.rule.clone() };
        self.places.iter().map(one).collect()
    }

    pub fn matches(&self, program: &Program, violation: &Violation) -> bool {
        if self.rule.as_ref().is_some_and(|rule| rule != violation.property.rule()) {
            return false;
        }
        if self.places.is_empty() {
            return true;
        }
        self.is_at(program, loc_of(program, violation.at))
    }

    /// Whether something stands in one of the lines.
    pub fn is_at(&self, program: &Program, loc: LocId) -> bool {
        let loc = &program.locs[loc];
        let path = program.files.get(loc.file).map_or("", |file| &file.path);
        self.places.iter().any(|place| {
            let is_file = place.file.as_ref().is_none_or(|file| is_meant(path, file));
            place.line == loc.line && is_file
        })
    }

    /// Values nobody has set are not what is looked for: they may be anything.
    pub fn passes_over_unset(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| rule != UNINITIALIZED)
    }
}

/// Whether a file of the program is the one somebody names, with more or less of its path.
pub fn is_meant(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./");
    let ends = |whole: &str, end: &str| {
        whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    !path.is_empty() && !named.is_empty() && (ends(path, named) || ends(named, path))
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
                FaultKind::Uninitialised => UNINITIALIZED,
                FaultKind::DivideByZero => "divide-by-zero",
                FaultKind::SignedOverflow | FaultKind::Shift => "integer-overflow",
                FaultKind::WriteToConstant => "write-to-constant",
                FaultKind::Unreachable => "unreachable",
                FaultKind::Leak => "leak",
                FaultKind::Wrap => "integer-overflow",
                FaultKind::Truncation => "integer-truncation",
                FaultKind::SignChange => "integer-signedness",
                FaultKind::Endless => "infinite-loop",
                FaultKind::Rule(_) => "user-rule",
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
                FaultKind::WriteToConstant => "a constant is written",
                FaultKind::Unreachable => "control comes where it cannot",
                FaultKind::Leak => "a resource is never released",
                FaultKind::Wrap => "an unsigned number wraps around",
                FaultKind::Truncation => "a conversion loses part of the value",
                FaultKind::SignChange => "a conversion changes the sign of the value",
                FaultKind::Endless => "a loop never ends: nothing it depends on changes any more",
                FaultKind::Rule(_) => "a rule is broken",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_meant;

    #[test]
    fn files_are_meant_by_whole_names() {
        assert!(is_meant("src/a.c", "a.c") && is_meant("a.c", "./a.c"));
        assert!(is_meant("a.c", "/tmp/x/a.c"));
        assert!(!is_meant("ba.c", "a.c") && !is_meant("a.c", "ba.c") && !is_meant("a.c", ""));
    }
}
