//! What an SSA value or a memory cell holds on a path.

use logic::{FormulaId, TermId};
use program::{FunctionId, LocId};

use super::memory::ObjectId;

/// A symbolic value. Copied freely: everything inside is an id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer congruent to the value's bits. Whoever cares for sign or width wraps it.
    /// A pointer that is an integer (null above all) is one too.
    Int(TermId),
    /// A truth value of one bit.
    Bool(FormulaId),
    /// An address `offset` bytes into an object; null where the object says so.
    Pointer {
        object: ObjectId,
        offset: TermId,
    },
    Function(FunctionId),
    Float(Float),
    /// The indeterminate value of a variable or object declared at this place.
    Uninit(LocId),
    /// Nothing is known, not even a name for it: aggregates, vectors, opaque operations.
    Unknown,
}

/// A floating-point number: exactly known, or known only by whether it is zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Float {
    pub known: Option<f64>,
    /// Holds where the number is zero.
    pub is_zero: FormulaId,
    /// A symbol standing for the number, so that equal numbers compare equal. It has no
    /// arithmetic; only its sign is the number's.
    pub name: Option<TermId>,
}

impl Value {
    pub fn as_pointer(self) -> Option<(ObjectId, TermId)> {
        match self {
            Value::Pointer { object, offset } => Some((object, offset)),
            _ => None,
        }
    }
}
