//! A body as the stream has it: variables still in memory, instructions numbered by the
//! stream, declarations among them.

use base::IdVec;
use program::{LocId, Op, Operand, RecordId, Terminator, Ty, TypeId, VarId, Variable};
use rustc_hash::FxHashMap;

pub struct RawBody {
    pub insts: Vec<RawInst>,
    pub blocks: Vec<RawBlock>,
    pub variables: IdVec<VarId, Variable>,
    /// What each storage of a scalar holds.
    pub scalars: FxHashMap<u32, Ty>,
    /// Bytes of the objects that parameters are the storage of.
    pub param_objects: FxHashMap<u32, u64>,
    /// Addresses that lead to the storage unit of bit-fields: the record and the byte in it.
    pub units: FxHashMap<u32, (RecordId, u64)>,
    /// Conversions whose target type was only guessed from their width.
    pub guessed: Vec<u32>,
}

pub struct RawInst {
    pub op: RawOp,
    /// Of the result; for a store, of what is stored.
    pub ty: Ty,
    pub ctype: TypeId,
    pub loc: LocId,
}

pub enum RawOp {
    Op(Op),
    /// Control passes the declaration of a variable, which becomes indeterminate.
    Declare {
        variable: VarId,
        storage: Operand,
    },
    /// Folded into another instruction.
    Gone,
}

pub struct RawBlock {
    pub first: u32,
    pub end: u32,
    pub terminator: Terminator,
    pub loc: LocId,
}

impl RawInst {
    pub fn op(&self) -> Option<&Op> {
        match &self.op {
            RawOp::Op(op) => Some(op),
            _ => None,
        }
    }
}
