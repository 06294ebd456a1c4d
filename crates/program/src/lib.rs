//! The program model every analysis reads: typed SSA over the C program's own names,
//! types and positions, without a trace of LLVM.
//!
//! A [`Program`] is immutable, `Sync`, and made of index-based arenas. One translation
//! unit is a `Program` of its own; [`link`](link::link) joins units into the program a
//! linker would have made.

pub mod check;
pub mod constant;
pub mod function;
pub mod icfg;
pub mod inst;
pub mod link;
pub mod loc;
pub mod query;
pub mod render;
pub mod types;
pub mod visit;

mod model;
#[cfg(test)]
mod testing;

pub use constant::{Const, ConstId};
pub use function::{
    Block, BlockId, Body, Function, FunctionId, Linkage, Param, Terminator, VarId, Variable,
};
pub use inst::{
    Access, Address, AddressTerm, BinaryOp, BitField, Call, Callee, Conversion, ConversionKind,
    ConversionOrigin, FloatPredicate, Inst, InstId, Op, Operand, PathStep, Predicate,
};
pub use loc::{FileId, Loc, LocId, NameId, Origin, SourceFile};
pub use model::{Global, GlobalId, InitPiece, Program, UnitId, UnitInfo, UnknownCode};
pub use types::{CType, Member, Record, RecordId, RecordKind, Ty, TypeId};
