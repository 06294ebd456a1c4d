//! Instructions: one operation each, operands by id.

use base::define_id;
use serde::{Deserialize, Serialize};

use crate::{BlockId, ConstId, FunctionId, LocId, RecordId, Ty, TypeId, VarId};

define_id!(/// An instruction of one function body; also the value it computes. Ids ascend in
    /// block order, so the instructions of a block are one contiguous range.
    InstId);

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Operand {
    Inst(InstId),
    /// The machine-level parameter of this index.
    Param(u32),
    Const(ConstId),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inst {
    pub op: Op,
    /// The machine type of the result; [`Ty::Void`] where there is none.
    pub ty: Ty,
    /// The C type of the result where known. For a pointer, a pointer type.
    pub ctype: TypeId,
    pub loc: LocId,
    pub block: BlockId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Op {
    /// Storage for a variable, a compiler temporary (`variable` is `None`), a VLA or a
    /// call of `alloca` (`count` is `Some`). Evaluates to its address. `size` is the
    /// bytes of one element. With a count, the memory is fresh and indeterminate each time;
    /// without, it is so from each [`Op::UninitMemory`] or stored [`Op::Uninit`] on.
    Alloca {
        variable: Option<VarId>,
        size: u64,
        count: Option<Operand>,
    },
    /// The indeterminate value a scalar variable holds from its declaration on. It stands at
    /// the declaration, or at function entry where control can jump over that; one that
    /// nothing reads is left out. The variable has no name where the compiler tells none. A variable
    /// that stays in memory has a [`Op::Store`] of this value, or for arrays and records a
    /// [`Op::UninitMemory`].
    Uninit {
        variable: VarId,
    },
    /// The object at `ptr` becomes indeterminate: the declaration of an array or record.
    UninitMemory {
        ptr: Operand,
        size: u64,
        variable: VarId,
    },
    Load(Box<Access>),
    Store {
        access: Box<Access>,
        value: Operand,
    },
    /// Pointer arithmetic: `base + offset + sum(stride * index)`.
    Address(Box<Address>),
    Binary {
        op: BinaryOp,
        lhs: Operand,
        rhs: Operand,
        no_signed_wrap: bool,
        no_unsigned_wrap: bool,
    },
    /// Floating-point negation.
    Negate(Operand),
    Compare {
        predicate: Predicate,
        lhs: Operand,
        rhs: Operand,
    },
    Convert(Box<Conversion>),
    Select {
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    },
    /// One operand per predecessor edge, in the order of the block's predecessors' ids.
    Phi(Box<[(BlockId, Operand)]>),
    Call(Box<Call>),
    /// A copy the compiler made for a struct assignment, initialiser or argument, or a
    /// `__builtin_memcpy`/`__builtin_memmove`. Calls of `memcpy` itself stay calls.
    MemCopy {
        to: Operand,
        from: Operand,
        size: Operand,
        is_volatile: bool,
    },
    /// As [`Op::MemCopy`], for `__builtin_memset` and zeroed initialisers.
    MemSet {
        to: Operand,
        byte: Operand,
        size: Operand,
        is_volatile: bool,
    },
    /// A source-level assignment (or definition) of a variable that lives in SSA values:
    /// from here on, `variable` has `value`. Computes nothing. Where values of a variable
    /// join, its phi is bound too, with an unknown location.
    Bind {
        variable: VarId,
        value: Operand,
    },
    /// `__atomic_fetch_*` and the like; `op` is LLVM's name ("add", "xchg", ...).
    AtomicUpdate {
        access: Box<Access>,
        op: Box<str>,
        value: Operand,
    },
    /// Yields an aggregate of the old value and whether it was exchanged.
    CompareExchange {
        access: Box<Access>,
        expected: Operand,
        new: Operand,
    },
    Fence,
    /// Element of a first-class aggregate.
    Extract {
        aggregate: Operand,
        indices: Box<[u32]>,
    },
    Insert {
        aggregate: Operand,
        element: Operand,
        indices: Box<[u32]>,
    },
    /// Inline assembler: effects unknown.
    Asm {
        text: Box<str>,
        args: Box<[Operand]>,
        may_write: bool,
    },
    /// An operation outside this model (SIMD and the like): reads `args`, writes no memory.
    Opaque {
        name: Box<str>,
        args: Box<[Operand]>,
    },
}

/// A read or write of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    pub ptr: Operand,
    /// Bytes read or written; for a bit-field, of its storage unit.
    pub size: u64,
    /// The C type of the object accessed.
    pub ctype: TypeId,
    /// Steps below what `ptr` points to that the access itself implies: the members of a
    /// union that fit, or a bit-field.
    pub path: Box<[PathStep]>,
    pub bit_field: Option<BitField>,
    pub is_volatile: bool,
    pub is_atomic: bool,
}

/// Which bits of the accessed storage unit are meant. A load yields the field's value in
/// its declared type (`_Bool` as one bit), extended by its sign; a store stores the low
/// `width` bits of its value, which has the declared type too. No other bit of the unit is
/// read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BitField {
    /// From the least significant bit of the storage unit.
    pub offset: u32,
    pub width: u32,
}

/// A step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PathStep {
    Field {
        record: RecordId,
        member: u32,
    },
    /// Every member of a union that the access could mean.
    UnionMembers {
        record: RecordId,
        members: Box<[u32]>,
    },
    /// An element of an array (or of the memory a pointer walks through); `term` indexes
    /// [`Address::terms`], or is `None` where the index is the constant given.
    Index {
        term: Option<u32>,
        constant: i64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Address {
    pub base: Operand,
    /// In bytes.
    pub offset: i64,
    pub terms: Box<[AddressTerm]>,
    pub path: Box<[PathStep]>,
    /// The source promises that the result stays within the object.
    pub in_bounds: bool,
}

/// `stride * index`, the index a signed number of the pointer's width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AddressTerm {
    pub stride: i64,
    pub index: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UnsignedDiv,
    SignedDiv,
    UnsignedRem,
    SignedRem,
    Shl,
    LogicalShr,
    ArithmeticShr,
    And,
    Or,
    Xor,
    FloatAdd,
    FloatSub,
    FloatMul,
    FloatDiv,
    FloatRem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Predicate {
    Eq,
    Ne,
    SignedLt,
    SignedLe,
    SignedGt,
    SignedGe,
    UnsignedLt,
    UnsignedLe,
    UnsignedGt,
    UnsignedGe,
    /// Floating point, false where an operand is not a number.
    FloatOrdered(FloatPredicate),
    /// Floating point, true where an operand is not a number.
    FloatUnordered(FloatPredicate),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatPredicate {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Says only whether both are numbers.
    NumbersOnly,
    Always,
}

/// A change of type, with both C types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    pub value: Operand,
    pub kind: ConversionKind,
    pub from: TypeId,
    pub to: TypeId,
    pub origin: ConversionOrigin,
    /// The width of the bit-field converted into. The kind is then [`ConversionKind::Truncate`]:
    /// the value keeps so many bits, extended to the result's width by the sign of `to`.
    pub bit_field_width: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConversionKind {
    /// Same width, other signedness: the bits stay.
    SignChange,
    Truncate,
    ZeroExtend,
    SignExtend,
    FloatToUnsigned,
    FloatToSigned,
    UnsignedToFloat,
    SignedToFloat,
    FloatTruncate,
    FloatExtend,
    PointerToInt,
    IntToPointer,
    /// Other reinterpretations of the same bits.
    Bits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConversionOrigin {
    /// A cast the programmer wrote that may change the value. Explicit changes of sign alone
    /// leave no instruction.
    Explicit,
    /// The language converts on its own, and values may change.
    Implicit,
    /// Changes no value, whoever wrote it: promotions and other widenings that keep the sign,
    /// integers as floating-point numbers with room for all their digits,
    /// indices widened for address arithmetic, booleans as bits and bytes.
    Compiler,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub callee: Callee,
    pub args: Box<[Operand]>,
    /// C types of the arguments where known (aligned with `args`).
    pub arg_ctypes: Box<[TypeId]>,
    /// Arguments that are structs passed in memory, by index: a pointer to what the callee
    /// gets a copy of, and how many bytes of it. In ascending order.
    pub by_value: Box<[(u32, u64)]>,
    /// The function type at the call.
    pub ctype: TypeId,
    pub is_noreturn: bool,
    /// `setjmp` and the like: control may come back here more than once.
    pub returns_twice: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Callee {
    Function(FunctionId),
    Pointer(Operand),
    /// A compiler builtin without a body, by LLVM's name ("sadd.with.overflow.i32").
    Intrinsic(Box<str>),
}
