//! What attributes follow from the program's text alone. The engine's context answers
//! [`Context::fact`](crate::lower::Context::fact) with these first and its own facts second.

use logic::Interval;
use program::{BinaryOp, CType, Const, ConversionOrigin, Function, Op, Operand, Program, TypeId};

use crate::attribute::AttributeId;
use crate::lower::Argument;

/// The names `Op` can have.
pub const OPERATIONS: &[&str] = &[
    "load",
    "store",
    "call",
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "shl",
    "shr",
    "and",
    "or",
    "xor",
    "compare",
    "convert",
    "phi",
    "select",
    "address",
    "constant",
    "parameter",
    "other",
];

/// An attribute of a value that the program's text decides. `name_code` numbers names.
pub fn from_text(
    program: &Program,
    function: &Function,
    attribute: AttributeId,
    args: &[Argument],
    name_code: &mut dyn FnMut(&str) -> i128,
) -> Option<i128> {
    let argument = args.first()?;
    match attribute.name() {
        "TMax" => type_range(program, c_type(program, function, argument)?)?.high,
        "TMin" => type_range(program, c_type(program, function, argument)?)?.low,
        "SizeOf" => {
            let ctype = c_type(program, function, argument)?;
            let measured = pointee(program, ctype).unwrap_or(ctype);
            type_size(program, measured).map(i128::from)
        }
        "Signed" => {
            let range = type_range(program, c_type(program, function, argument)?)?;
            Some(i128::from(range.low? < 0))
        }
        "IsConstStr" => Some(i128::from(is_string_literal(program, argument))),
        "IsImplicit" => {
            let Op::Convert(conversion) = operation(function, argument)? else { return Some(0) };
            Some(i128::from(conversion.origin == ConversionOrigin::Implicit))
        }
        "Op" => Some(name_code(operation_name(function, argument))),
        _ => None,
    }
}

/// The C type of what an argument stands for.
pub fn c_type(program: &Program, function: &Function, argument: &Argument) -> Option<TypeId> {
    let body = function.body.as_ref();
    let known = |ctype: TypeId| ctype.is_known().then_some(ctype);
    match argument {
        Argument::Operand(Operand::Inst(inst)) => {
            let inst = body?.insts.get(*inst)?;
            match &inst.op {
                Op::Convert(conversion) if conversion.to.is_known() => Some(conversion.to),
                _ => known(inst.ctype),
            }
        }
        Argument::Operand(Operand::Param(index)) => {
            known(function.params.get(*index as usize)?.ctype)
        }
        Argument::Operand(Operand::Const(_)) => None,
        Argument::Place(inst) => match &body?.insts.get(*inst)?.op {
            Op::Load(access) | Op::Store { access, .. } => known(access.ctype),
            _ => None,
        },
        Argument::Global(global) => known(program.globals[*global].ctype),
        Argument::Pointee(pointer) => pointee(program, c_type(program, function, pointer)?),
        _ => None,
    }
}

/// The type behind typedefs and qualifiers.
pub fn stripped(program: &Program, ctype: TypeId) -> &CType {
    let mut current = &program.types[ctype];
    // Hostile input may hold a cycle.
    for _ in 0..64 {
        match current {
            CType::Typedef { target, .. } => current = &program.types[*target],
            CType::Const(inner)
            | CType::Volatile(inner)
            | CType::Restrict(inner)
            | CType::Atomic(inner) => current = &program.types[*inner],
            _ => break,
        }
    }
    current
}

pub fn pointee(program: &Program, ctype: TypeId) -> Option<TypeId> {
    match stripped(program, ctype) {
        CType::Pointer(target) => Some(*target),
        CType::Array { element, .. } => Some(*element),
        _ => None,
    }
}

pub fn type_range(program: &Program, ctype: TypeId) -> Option<Interval> {
    match stripped(program, ctype) {
        CType::Bool => Some(Interval::new(0, 1)),
        CType::Int { bits, signed, .. } | CType::Enum { bits, signed, .. } => {
            Some(Interval::of_width(*bits, *signed))
        }
        CType::Pointer(_) => Some(Interval::of_width(64, false)),
        _ => None,
    }
}

pub fn type_size(program: &Program, ctype: TypeId) -> Option<u64> {
    sized(program, ctype, 32)
}

fn sized(program: &Program, ctype: TypeId, depth: u32) -> Option<u64> {
    let depth = depth.checked_sub(1)?;
    match stripped(program, ctype) {
        // GNU C counts `void *` in bytes.
        CType::Void | CType::Bool => Some(1),
        CType::Int { bits, .. } | CType::Enum { bits, .. } => Some(u64::from(*bits).div_ceil(8)),
        CType::Float { bits: 80, .. } => Some(16),
        CType::Float { bits, .. } => Some(u64::from(*bits) / 8),
        CType::Complex { bits } => Some(u64::from(*bits) / 4),
        CType::Pointer(_) => Some(8),
        CType::Array { element, count } => sized(program, *element, depth)?.checked_mul((*count)?),
        CType::Vector { element, count } => sized(program, *element, depth)?.checked_mul(*count),
        CType::Record(record) => {
            let record = &program.records[*record];
            record.complete.then_some(record.size)
        }
        _ => None,
    }
}

/// An operand of the operation that computes a value, counted from 1.
pub fn source(function: &Function, args: &[Argument]) -> Option<Argument> {
    let [of, Argument::Number(index @ 1..)] = args else { return None };
    let mut operands = Vec::new();
    operation(function, of)?.for_each_operand(|operand| operands.push(operand));
    operands.get(*index as usize - 1).map(|operand| Argument::Operand(*operand))
}

fn operation<'f>(function: &'f Function, argument: &Argument) -> Option<&'f Op> {
    match argument {
        Argument::Operand(Operand::Inst(inst)) | Argument::Place(inst) => {
            Some(&function.body.as_ref()?.insts.get(*inst)?.op)
        }
        _ => None,
    }
}

fn operation_name(function: &Function, argument: &Argument) -> &'static str {
    let Some(op) = operation(function, argument) else {
        return match argument {
            Argument::Operand(Operand::Const(_)) | Argument::Number(_) => "constant",
            Argument::Operand(Operand::Param(_)) => "parameter",
            _ => "other",
        };
    };
    match op {
        Op::Load(_) => "load",
        Op::Store { .. } => "store",
        Op::Call(_) => "call",
        Op::Compare { .. } => "compare",
        Op::Convert(_) => "convert",
        Op::Phi(_) => "phi",
        Op::Select { .. } => "select",
        Op::Address(_) => "address",
        Op::Binary { op, .. } => match op {
            BinaryOp::Add | BinaryOp::FloatAdd => "add",
            BinaryOp::Sub | BinaryOp::FloatSub => "sub",
            BinaryOp::Mul | BinaryOp::FloatMul => "mul",
            BinaryOp::UnsignedDiv | BinaryOp::SignedDiv | BinaryOp::FloatDiv => "div",
            BinaryOp::UnsignedRem | BinaryOp::SignedRem | BinaryOp::FloatRem => "rem",
            BinaryOp::Shl => "shl",
            BinaryOp::LogicalShr | BinaryOp::ArithmeticShr => "shr",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
        },
        _ => "other",
    }
}

fn is_string_literal(program: &Program, argument: &Argument) -> bool {
    let Argument::Operand(Operand::Const(id)) = argument else { return false };
    match program.constants.get(*id) {
        Some(Const::Global { global, .. }) => program.globals[*global].is_string_literal,
        _ => false,
    }
}

/// The bytes of a string literal up to its terminating zero.
pub fn literal_bytes(program: &Program, argument: &Argument) -> Option<Vec<u8>> {
    let Argument::Operand(Operand::Const(id)) = argument else { return None };
    let Some(Const::Global { global, offset }) = program.constants.get(*id) else { return None };
    let global = &program.globals[*global];
    if !global.is_constant && !global.is_string_literal {
        return None;
    }
    let start = usize::try_from(*offset).ok()?;
    for piece in global.init.as_ref()? {
        if let Some(Const::Bytes(bytes)) = program.constants.get(piece.value)
            && piece.offset == 0
        {
            let rest = bytes.get(start..)?;
            let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
            return Some(rest[..end].to_vec());
        }
    }
    // An empty literal has no pieces: everything it holds is zero.
    global.init.as_ref().filter(|pieces| pieces.is_empty()).map(|_| Vec::new())
}

/// Whether a type is the one these words spell (`unsigned`, `struct s`, `size_t`).
pub fn type_is_named(program: &Program, ctype: TypeId, words: &[String]) -> bool {
    let wanted: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !matches!(*word, "const" | "volatile" | "static" | "extern" | "register"))
        .collect();
    // Typedef names first, then what they stand for.
    let mut current = ctype;
    for _ in 0..64 {
        match &program.types[current] {
            CType::Typedef { name, .. } if wanted == [&**name] => return true,
            CType::Typedef { target: inner, .. }
            | CType::Const(inner)
            | CType::Volatile(inner)
            | CType::Restrict(inner)
            | CType::Atomic(inner) => current = *inner,
            _ => break,
        }
    }
    match &program.types[current] {
        CType::Void => wanted == ["void"],
        CType::Bool => matches!(wanted[..], ["_Bool"] | ["bool"]),
        CType::Int { name, .. } | CType::Float { name, .. } => {
            canonical(&wanted) == canonical(&name.split(' ').collect::<Vec<_>>())
        }
        CType::Record(record) => match wanted[..] {
            ["struct" | "union", tag] => *program.records[*record].name == *tag,
            _ => false,
        },
        CType::Enum { name, .. } => matches!(wanted[..], ["enum", tag] if **name == *tag),
        _ => false,
    }
}

/// The words of an arithmetic type without those that say nothing, sorted.
fn canonical<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let has_length = words.iter().any(|w| matches!(*w, "long" | "short" | "char" | "double"));
    let is_char = words.contains(&"char");
    let mut kept: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| match *word {
            "int" => !has_length,
            "signed" => is_char,
            _ => true,
        })
        .collect();
    if kept.is_empty() || kept == ["unsigned"] {
        kept.push("int");
    }
    kept.sort_unstable();
    kept
}
