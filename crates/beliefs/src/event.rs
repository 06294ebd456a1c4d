//! What extraction writes down: one row per thing the code does that implies a belief.
//!
//! Rows are plain columns, so that ranking is a query over them and can be retuned, or done
//! elsewhere, without looking at the code again. What a row's columns mean depends on its
//! [`Kind`]; [`Outcome`] and the flags are what templates select by.

use rustc_hash::FxHashMap;

/// What kind of action a row describes. Templates name kinds in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The result of a call: `a` is the callee, the outcome what becomes of the result.
    Result,
    /// A call whose subject is the result or an argument: `a` is the callee. Partner rows:
    /// `b` is called with the same subject on some path afterwards.
    Pair,
    /// The same on paths that end in an error alone.
    Undo,
    /// An argument after the call `a` it was handed to.
    After,
    /// A pointer that is tested or dereferenced: `a` is the pointer as the source names it.
    Null,
    /// An access of a shared variable `a`. Partner rows: the lock `b` is held.
    Access,
    /// A lock action: `a` is the function, `b` the lock.
    Lock,
    /// A call of `a`. Partner rows: it happens only after a test of what `b` returned.
    Guard,
    /// A call of `a`. Partner rows: it happens between `b` and what ends `b`.
    Context,
    /// An argument of `a` that is the constant `b`.
    Constant,
    /// Two arguments of `a` that have the names of its parameters.
    Order,
    /// A pointer handed to a routine for data from outside.
    Taint,
    /// A parameter `b` of an implementation of the interface `a`.
    Interface,
}

impl Kind {
    pub const ALL: [Kind; 13] = [
        Kind::Result,
        Kind::Pair,
        Kind::Undo,
        Kind::After,
        Kind::Null,
        Kind::Access,
        Kind::Lock,
        Kind::Guard,
        Kind::Context,
        Kind::Constant,
        Kind::Order,
        Kind::Taint,
        Kind::Interface,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Result => "result",
            Kind::Pair => "pair",
            Kind::Undo => "undo",
            Kind::After => "after",
            Kind::Null => "null",
            Kind::Access => "access",
            Kind::Lock => "lock",
            Kind::Guard => "guard",
            Kind::Context => "context",
            Kind::Constant => "constant",
            Kind::Order => "order",
            Kind::Taint => "taint",
            Kind::Interface => "interface",
        }
    }
}

/// How the action went. Templates name outcomes with dashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// Nothing to say: the row that stands for a site with partners.
    Site,
    Checked,
    /// Checked by a function or macro made for it, named in `b`.
    CheckedBy,
    Dereferenced,
    /// Handed to a function that dereferences it at once.
    DereferencedInCall,
    Ignored,
    /// Used as a number, an index or an argument without a test.
    Used,
    /// Returned: somebody else's business.
    Passed,
    /// The partner occurs on every path.
    Every,
    /// The partner occurs on some paths and not on others.
    Some,
    Unused,
    UsedAfter,
    CheckThenUse,
    UseThenCheck,
    Redundant,
    /// A test that says something new.
    Consistent,
    Twice,
    Empty,
    Balanced,
    InOrder,
    Swapped,
    Equal,
    Careful,
    Careless,
    /// Put where others see it, without a test.
    Stored,
    /// A lock is released that the function did not take, and no caller is known to hold.
    Unpaired,
}

impl Outcome {
    pub const ALL: [Outcome; 26] = [
        Outcome::Site,
        Outcome::Checked,
        Outcome::CheckedBy,
        Outcome::Dereferenced,
        Outcome::DereferencedInCall,
        Outcome::Ignored,
        Outcome::Used,
        Outcome::Passed,
        Outcome::Every,
        Outcome::Some,
        Outcome::Unused,
        Outcome::UsedAfter,
        Outcome::CheckThenUse,
        Outcome::UseThenCheck,
        Outcome::Redundant,
        Outcome::Consistent,
        Outcome::Twice,
        Outcome::Empty,
        Outcome::Balanced,
        Outcome::InOrder,
        Outcome::Swapped,
        Outcome::Equal,
        Outcome::Careful,
        Outcome::Careless,
        Outcome::Stored,
        Outcome::Unpaired,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Outcome::Site => "site",
            Outcome::Checked => "checked",
            Outcome::CheckedBy => "checked-by",
            Outcome::Dereferenced => "dereferenced",
            Outcome::DereferencedInCall => "dereferenced-in-call",
            Outcome::Ignored => "ignored",
            Outcome::Used => "used",
            Outcome::Passed => "passed",
            Outcome::Every => "every-path",
            Outcome::Some => "some-paths",
            Outcome::Unused => "unused",
            Outcome::UsedAfter => "used-after",
            Outcome::CheckThenUse => "check-then-use",
            Outcome::UseThenCheck => "use-then-check",
            Outcome::Redundant => "redundant",
            Outcome::Consistent => "consistent",
            Outcome::Twice => "twice",
            Outcome::Empty => "empty",
            Outcome::Balanced => "balanced",
            Outcome::InOrder => "in-order",
            Outcome::Swapped => "swapped",
            Outcome::Equal => "equal",
            Outcome::Careful => "careful",
            Outcome::Careless => "careless",
            Outcome::Stored => "stored",
            Outcome::Unpaired => "unpaired",
        }
    }
}

/// Flags of a row, by the names templates use.
pub const FLAGS: [&str; 23] = [
    "pointer",        // the value is a pointer
    "integer",        // the value is an integer
    "macro",          // the action, or what contradicts it, stands in the body of a macro
    "system",         // the code stands in a header of the system
    "capped",         // the walk along paths was cut off
    "sticky",         // a later test of the same object covers this call
    "far",            // further away than the distance threshold
    "subject-result", // the subject of a pair is the call's result
    "subject-none",   // the subject of a pair is nothing: calls without arguments
    "outside",        // the subject belongs to the caller or to shared memory
    "frees",          // evidence in code that the argument is freed
    "write",          // the access writes
    "private",        // the object is not yet shared, or no longer
    "static",         // the callee is a static function
    "alone",          // the only variable that its critical section is about
    "believed",       // the lock is held because a later release says so, not because it was taken
    "release",        // the action releases a lock
    "handed",         // the object of a pair was handed in by the caller
    "joined",         // what is tested may come from elsewhere, too
    "settled",        // on every path the object is released or somebody else's
    "conditional",    // other conditions decide, too, on the way between the two places
    "fails",          // where the test says so, the function fails as well
    "goes-on",        // where the test says so, the function goes on all the same
];

pub fn flag(name: &str) -> Option<u32> {
    FLAGS.iter().position(|flag| *flag == name).map(|bit| 1 << bit)
}

pub const POINTER: u32 = 1 << 0;
pub const INTEGER: u32 = 1 << 1;
pub const MACRO: u32 = 1 << 2;
pub const SYSTEM: u32 = 1 << 3;
pub const CAPPED: u32 = 1 << 4;
pub const STICKY: u32 = 1 << 5;
pub const FAR: u32 = 1 << 6;
pub const SUBJECT_RESULT: u32 = 1 << 7;
pub const SUBJECT_NONE: u32 = 1 << 8;
pub const OUTSIDE: u32 = 1 << 9;
pub const FREES: u32 = 1 << 10;
pub const WRITE: u32 = 1 << 11;
pub const PRIVATE: u32 = 1 << 12;
pub const STATIC: u32 = 1 << 13;
pub const ALONE: u32 = 1 << 14;
pub const BELIEVED: u32 = 1 << 15;
pub const RELEASE: u32 = 1 << 16;
pub const HANDED: u32 = 1 << 17;
pub const JOINED: u32 = 1 << 18;
pub const SETTLED: u32 = 1 << 19;
pub const CONDITIONAL: u32 = 1 << 20;
pub const FAILS: u32 = 1 << 21;
pub const GOES_ON: u32 = 1 << 22;

/// An interned string of one unit's events. 0 is the empty one.
pub type Symbol = u32;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub kind: Kind,
    pub outcome: Outcome,
    /// Rows of one place in the code share it; a site and its partners above all.
    pub site: u32,
    pub function: Symbol,
    pub file: Symbol,
    pub line: u32,
    pub column: u32,
    pub a: Symbol,
    pub b: Symbol,
    /// What the source calls the value, or another word for people.
    pub detail: Symbol,
    pub flags: u32,
    /// Paths with the partner and without it; lines between the two places otherwise.
    pub with: u32,
    pub without: u32,
    /// The line of the second place: the check, the use, the exit. 0 for none.
    pub other_line: u32,
}

/// The events of one unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    pub strings: Strings,
    pub rows: Vec<Event>,
}

impl Events {
    /// The rows that are wanted, with the same texts.
    pub fn only(&self, is_wanted: impl Fn(&Event) -> bool) -> Events {
        let rows = self.rows.iter().filter(|row| is_wanted(row)).cloned().collect();
        Events { strings: self.strings.clone(), rows }
    }
}

/// Strings by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strings {
    texts: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, Symbol>,
}

impl Default for Strings {
    fn default() -> Self {
        let mut strings = Self { texts: Vec::new(), numbers: FxHashMap::default() };
        strings.intern("");
        strings
    }
}

impl Strings {
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as Symbol;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    /// The number of a text, if it has one.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.numbers.get(text).copied()
    }

    pub fn get(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol as usize).map_or("", |text| text)
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_kinds_and_outcomes_are_their_places_in_the_lists() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index, "{}", kind.name());
        }
        for (index, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, index, "{}", outcome.name());
        }
        assert_eq!(flag("static"), Some(STATIC));
        assert_eq!(flag("subject-none"), Some(SUBJECT_NONE));
        assert_eq!(flag("nonsense"), None);
    }
}
