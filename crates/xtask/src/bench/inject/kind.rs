//! The kinds of faults, which reports show each, and what an injection is.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A kind of fault. What must hold in the text for it to be put in stands with its mutator.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A test for null is removed.
    NullTest,
    /// An allocation is one byte or element short.
    Allocation,
    /// `<` becomes `<=`.
    Bound,
    /// A test of a length is removed.
    LengthTest,
    /// A release on an error path is dropped.
    ReleaseDropped,
    /// What is released is released again.
    ReleaseTwice,
    /// A use is moved behind the release.
    UseAfter,
    /// An initialisation is dropped.
    Initialisation,
    /// A variable gets a narrower type.
    Narrower,
}

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::NullTest,
        Kind::Allocation,
        Kind::Bound,
        Kind::LengthTest,
        Kind::ReleaseDropped,
        Kind::ReleaseTwice,
        Kind::UseAfter,
        Kind::Initialisation,
        Kind::Narrower,
    ];

    /// As tables have it.
    pub fn title(self) -> &'static str {
        match self {
            Kind::NullTest => "null test removed",
            Kind::Allocation => "allocation one short",
            Kind::Bound => "`<` made `<=`",
            Kind::LengthTest => "length test removed",
            Kind::ReleaseDropped => "release on an error path dropped",
            Kind::ReleaseTwice => "second release added",
            Kind::UseAfter => "use moved behind a release",
            Kind::Initialisation => "initialisation dropped",
            Kind::Narrower => "narrower type",
        }
    }

    /// The rules whose reports show the fault. Where one fault has several symptoms (a freed
    /// record that is given to its release function again is used there), each of them counts.
    pub fn rules(self) -> &'static [&'static str] {
        match self {
            Kind::NullTest => &["null-dereference"],
            Kind::Allocation | Kind::Bound => &["buffer-overflow", "buffer-overread"],
            Kind::LengthTest => {
                &["buffer-overflow", "buffer-overread", "buffer-underflow", "integer-overflow"]
            }
            Kind::ReleaseDropped => &["leak"],
            Kind::ReleaseTwice => {
                &["double-free", "use-after-free", "invalid-free", "write-after-close"]
            }
            Kind::UseAfter => &["use-after-free", "write-after-close"],
            Kind::Initialisation => &["uninitialized-read"],
            Kind::Narrower => &[
                "integer-truncation",
                "integer-overflow",
                "integer-signedness",
                "buffer-overflow",
                "buffer-overread",
                "infinite-loop",
            ],
        }
    }

    /// The checkers of clang's analyzer that show the same, by the start of their names.
    pub fn clang_checkers(self) -> &'static [&'static str] {
        match self {
            Kind::NullTest => &["core.NullDereference", "core.NonNullParamChecker", "unix.cstring"],
            Kind::Allocation | Kind::Bound | Kind::LengthTest | Kind::Narrower => &[
                "core.uninitialized",
                "security.ArrayBound",
                "alpha.security",
                "unix.cstring",
                "core.Undefined",
            ],
            Kind::ReleaseDropped => &["unix.Malloc", "unix.Stream"],
            Kind::ReleaseTwice | Kind::UseAfter => &["unix.Malloc", "unix.Stream"],
            Kind::Initialisation => {
                &["core.uninitialized", "core.Undefined", "core.CallAndMessage"]
            }
        }
    }

    /// Whether an optimiser may be asked if the change means anything. What is undefined after
    /// the change it may do as before, so there only unoptimised code is compared.
    pub fn is_compared_optimised(self) -> bool {
        matches!(
            self,
            Kind::NullTest | Kind::Allocation | Kind::Bound | Kind::LengthTest | Kind::Narrower
        )
    }
}

/// Bytes of the text and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub bytes: Range<usize>,
    pub new: String,
}

impl Edit {
    pub fn new(bytes: Range<usize>, new: impl Into<String>) -> Self {
        Self { bytes, new: new.into() }
    }
}

/// A change of one function of one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    pub kind: Kind,
    pub function: String,
    /// In source order, apart from each other.
    pub edits: Vec<Edit>,
}

impl Injection {
    /// The changed text. Each edit keeps the number of lines, so that every other line keeps its
    /// number; `None` where an edit would not, or where directives are in it.
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut changed = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for edit in &self.edits {
            let old = text.get(edit.bytes.clone())?;
            let has_directive = old.lines().any(|line| line.trim_start().starts_with('#'));
            if edit.bytes.start < at || has_directive {
                return None;
            }
            let (before, after) = (old.matches('\n').count(), edit.new.matches('\n').count());
            changed += text.get(at..edit.bytes.start)?;
            changed += &edit.new;
            changed += &"\n".repeat(before.checked_sub(after)?);
            at = edit.bytes.end;
        }
        changed += text.get(at..)?;
        (changed != text).then_some(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injection(edits: Vec<Edit>) -> Injection {
        Injection { kind: Kind::Bound, function: "f".to_owned(), edits }
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "a\nbc\nd\n";
        let changed = injection(vec![Edit::new(0..3, "x"), Edit::new(5..6, "yy")]);
        assert_eq!(changed.apply(text).unwrap(), "x\nc\nyy\n");
    }

    #[test]
    fn what_cannot_be_applied_is_left() {
        let none = |edits| assert_eq!(injection(edits).apply("a\n#if X\nb\n"), None);
        none(vec![Edit::new(0..9, "")]);
        none(vec![Edit::new(0..1, "x\ny")]);
        none(vec![Edit::new(8..99, "")]);
        none(vec![Edit::new(8..9, ""), Edit::new(0..1, "")]);
        none(vec![Edit::new(0..1, "a")]);
    }

    #[test]
    fn every_kind_has_rules_that_exist() {
        let faults = crate::repository().join("faults");
        for kind in Kind::ALL {
            assert!(!kind.rules().is_empty());
            for rule in kind.rules() {
                assert!(faults.join(rule).is_dir(), "{kind:?}: {rule}");
            }
        }
    }
}
