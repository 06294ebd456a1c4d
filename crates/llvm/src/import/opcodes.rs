//! LLVM's numbers for operators and predicates, in this model's words.

use program::inst::FloatPredicate;
use program::{BinaryOp, ConversionKind, Predicate};

use super::reader::{Corrupt, Read};

/// In the order of LLVM's `Instruction::BinaryOps`.
pub fn binary_op(number: u64) -> Read<BinaryOp> {
    use BinaryOp::*;
    const OPS: [BinaryOp; 18] = [
        Add,
        FloatAdd,
        Sub,
        FloatSub,
        Mul,
        FloatMul,
        UnsignedDiv,
        SignedDiv,
        FloatDiv,
        UnsignedRem,
        SignedRem,
        FloatRem,
        Shl,
        LogicalShr,
        ArithmeticShr,
        And,
        Or,
        Xor,
    ];
    OPS.get(number as usize).copied().ok_or(Corrupt("an operator of no known kind"))
}

/// In the order of LLVM's `CmpInst::Predicate`: floating point from 0, integers from 32.
pub fn predicate(number: u64) -> Read<Predicate> {
    use FloatPredicate as F;
    use Predicate::*;
    Ok(match number {
        1 => FloatOrdered(F::Eq),
        2 => FloatOrdered(F::Gt),
        3 => FloatOrdered(F::Ge),
        4 => FloatOrdered(F::Lt),
        5 => FloatOrdered(F::Le),
        6 => FloatOrdered(F::Ne),
        7 => FloatOrdered(F::NumbersOnly),
        8 => FloatUnordered(F::NumbersOnly),
        9 => FloatUnordered(F::Eq),
        10 => FloatUnordered(F::Gt),
        11 => FloatUnordered(F::Ge),
        12 => FloatUnordered(F::Lt),
        13 => FloatUnordered(F::Le),
        14 => FloatUnordered(F::Ne),
        15 => FloatUnordered(F::Always),
        32 => Eq,
        33 => Ne,
        34 => UnsignedGt,
        35 => UnsignedGe,
        36 => UnsignedLt,
        37 => UnsignedLe,
        38 => SignedGt,
        39 => SignedGe,
        40 => SignedLt,
        41 => SignedLe,
        _ => return Err(Corrupt("a predicate of no known kind")),
    })
}

/// 0 keeps the bits of an integer; the others in the order of LLVM's `Instruction::CastOps`.
pub fn conversion_kind(number: u64) -> Read<ConversionKind> {
    use ConversionKind::*;
    const KINDS: [ConversionKind; 14] = [
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
        Bits,
        Bits,
    ];
    KINDS.get(number as usize).copied().ok_or(Corrupt("a conversion of no known kind"))
}
