//! Machine types, which say what an operation does, and C types, which say what the
//! programmer meant.

use base::define_id;
use serde::{Deserialize, Serialize};

define_id!(/// An interned [`CType`]. Id 0 is [`CType::Unknown`].
    TypeId);
define_id!(/// A struct or union.
    RecordId);

/// The machine type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ty {
    Void,
    /// An integer of so many bits, without a sign of its own.
    Int(u32),
    /// A floating-point number of so many bits (80 for x87's extended format).
    Float(u32),
    Ptr,
    /// A first-class struct or array of so many bytes; arises where the calling
    /// convention passes structs in registers.
    Aggregate(u64),
    /// A SIMD vector of so many bytes.
    Vector(u64),
}

impl Ty {
    /// Bytes a value of this type occupies in memory.
    pub fn size(self) -> u64 {
        match self {
            Ty::Void => 0,
            Ty::Int(bits) => u64::from(bits).div_ceil(8).next_power_of_two(),
            Ty::Float(80) => 16,
            Ty::Float(bits) => u64::from(bits) / 8,
            Ty::Ptr => 8,
            Ty::Aggregate(bytes) | Ty::Vector(bytes) => bytes,
        }
    }
}

/// A C type as the source spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CType {
    /// Nothing is known; never a fact about the program.
    Unknown,
    Void,
    Bool,
    /// `char` included; `name` is C's spelling ("unsigned int", "long").
    Int {
        name: Box<str>,
        bits: u32,
        signed: bool,
    },
    Float {
        name: Box<str>,
        bits: u32,
    },
    Complex {
        bits: u32,
    },
    Pointer(TypeId),
    /// `count` is `None` for a flexible, incomplete or variable-length array.
    Array {
        element: TypeId,
        count: Option<u64>,
    },
    Record(RecordId),
    Enum {
        name: Box<str>,
        bits: u32,
        signed: bool,
        enumerators: Vec<(Box<str>, i64)>,
    },
    Function {
        result: TypeId,
        params: Vec<TypeId>,
        variadic: bool,
    },
    Typedef {
        name: Box<str>,
        target: TypeId,
    },
    Const(TypeId),
    Volatile(TypeId),
    Restrict(TypeId),
    Atomic(TypeId),
    Vector {
        element: TypeId,
        count: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RecordKind {
    Struct,
    Union,
}

/// The layout of a struct or union.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    pub kind: RecordKind,
    /// The tag, or the typedef that names an untagged record; empty where it has neither.
    pub name: Box<str>,
    /// In bytes; 0 where only declared.
    pub size: u64,
    /// In declaration order.
    pub members: Vec<Member>,
    /// False where the unit only declares the record.
    pub complete: bool,
    /// Where it was defined: tells untagged records of equal layout apart.
    pub loc: crate::LocId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// Empty for an anonymous struct or union member.
    pub name: Box<str>,
    pub ctype: TypeId,
    /// From the start of the record.
    pub offset_bits: u64,
    /// Of the member itself: a bit-field's width, otherwise 8 x the type's size
    /// (0 for a flexible array member).
    pub size_bits: u64,
    pub is_bit_field: bool,
}

impl TypeId {
    pub const UNKNOWN: TypeId = TypeId(0);

    pub fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }
}
