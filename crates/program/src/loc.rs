//! Source positions inside a program.

use base::define_id;
use serde::{Deserialize, Serialize};

define_id!(/// A source file of the program.
    FileId);
define_id!(/// An interned name (of a macro).
    NameId);
define_id!(/// An interned [`Loc`]. Id 0 is the unknown location.
    LocId);

pub type Origin = base::Origin<NameId>;

/// A file that code of the program was written in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceFile {
    /// Relative to the project where possible, else absolute.
    pub path: String,
    /// Found in a directory the compiler treats as the system's.
    pub is_system: bool,
}

/// A position in the user's sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Loc {
    pub file: FileId,
    /// Counted from 1; 0 for code the compiler made up.
    pub line: u32,
    /// Counted in bytes from 1; 0 where unknown.
    pub column: u32,
    pub origin: Origin,
}

impl LocId {
    /// The location of code that stands nowhere in the sources.
    pub const UNKNOWN: LocId = LocId(0);

    pub fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }
}
