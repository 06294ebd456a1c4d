//! Constants, interned over the whole program.

use base::define_id;
use serde::{Deserialize, Serialize};

use crate::{BlockId, FunctionId, GlobalId, Ty};

define_id!(/// An interned [`Const`].
    ConstId);

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Const {
    /// `value` is the bit pattern sign-extended; wider than 128 bits is [`Const::Opaque`].
    Int {
        bits: u32,
        value: i128,
    },
    /// The bits of the value as an `f64`; `exact` is false where that loses digits.
    Float {
        bits: u32,
        as_f64_bits: u64,
        exact: bool,
    },
    Null,
    /// The address of a global object plus a byte offset.
    Global {
        global: GlobalId,
        offset: i64,
    },
    Function(FunctionId),
    /// A label whose address is taken for a computed goto.
    Label {
        function: FunctionId,
        block: BlockId,
    },
    /// Zero of any type, aggregates included.
    Zero(Ty),
    /// No particular value: LLVM's undef and poison. Uninitialised variables are
    /// [`Op::Uninit`](crate::Op::Uninit), not this.
    Undef(Ty),
    /// A first-class aggregate or vector, element by element.
    Aggregate {
        ty: Ty,
        elements: Vec<ConstId>,
    },
    /// Bytes of a string literal or character array; only in initialisers.
    Bytes(Vec<u8>),
    /// A constant expression this model has no form for.
    Opaque {
        ty: Ty,
        text: Box<str>,
    },
}

impl Const {
    pub fn ty(&self) -> Ty {
        match self {
            Const::Int { bits, .. } => Ty::Int(*bits),
            Const::Float { bits, .. } => Ty::Float(*bits),
            Const::Null | Const::Global { .. } | Const::Function(_) | Const::Label { .. } => {
                Ty::Ptr
            }
            Const::Zero(ty) | Const::Undef(ty) => *ty,
            Const::Aggregate { ty, .. } | Const::Opaque { ty, .. } => *ty,
            Const::Bytes(bytes) => Ty::Aggregate(bytes.len() as u64),
        }
    }
}
