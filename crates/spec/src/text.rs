//! What specifications ask that the program's text alone answers, on whatever path.

use logic::Interval;
use program::{BinaryOp, CType, ConversionKind, ConversionOrigin, Function, FunctionId, InstId};
use program::{Op, Operand, Program, Ty, TypeId};

use crate::attribute::AttributeId;
use crate::facts;
use crate::lower::Argument;

/// Where values of a program go, which facts about it say.
pub trait Flow {
    /// Whether a value becomes a size, an index, a bound or the amount of an allocation.
    fn reaches_size(&self, function: FunctionId, value: Operand) -> bool;

    /// Whether a value is only combined with others bit by bit.
    fn masks(&self, function: FunctionId, value: Operand) -> bool;
}

/// A place in the text: a function and the instruction a question is about, which tells the
/// types of its constants.
pub struct Text<'c, 'p> {
    pub program: &'p Program,
    pub flow: &'c dyn Flow,
    pub function: FunctionId,
    pub inst: Option<InstId>,
}

impl<'p> Text<'_, 'p> {
    fn function(&self) -> &'p Function {
        &self.program.functions[self.function]
    }

    /// The C type of an argument; a constant has the one its instruction reads it as.
    pub fn c_type(&self, argument: &Argument) -> Option<TypeId> {
        if let Some(ctype) = self.read_as(argument) {
            return Some(ctype);
        }
        let known = facts::c_type(self.program, self.function(), argument);
        let Argument::Operand(Operand::Const(_)) = argument else { return known };
        let inst = self.function().body.as_ref()?.insts.get(self.inst?)?;
        let ctype = match &inst.op {
            Op::Binary { .. } => inst.ctype,
            _ => return known,
        };
        known.or(ctype.is_known().then_some(ctype))
    }

    /// The type the instruction reads its operand as. A cast between signed and unsigned of
    /// the same width leaves no trace on the operand itself.
    fn read_as(&self, argument: &Argument) -> Option<TypeId> {
        let Argument::Operand(operand) = argument else { return None };
        let inst = self.function().body.as_ref()?.insts.get(self.inst?)?;
        match &inst.op {
            Op::Convert(conversion) if conversion.value == *operand => {
                conversion.from.is_known().then_some(conversion.from)
            }
            _ => None,
        }
    }

    /// How a sum, difference or product of the instruction itself counts its operands and
    /// its result: width and sign. Casts of the same width leave no trace on operands, but
    /// only what is signed must not wrap.
    fn counts(&self, argument: &Argument) -> Option<Interval> {
        use BinaryOp::{Add, Mul, Sub};
        let Argument::Operand(operand) = argument else { return None };
        let id = self.inst?;
        let body = self.function().body.as_ref()?;
        let inst = body.insts.get(id)?;
        let (Op::Binary { op: Add | Sub | Mul, lhs, rhs, no_signed_wrap, .. }, Ty::Int(bits)) =
            (&inst.op, inst.ty)
        else {
            return None;
        };
        let is_address = |operand: &Operand| match operand {
            Operand::Inst(inst) => matches!(&body.insts[*inst].op, Op::Convert(conversion)
                if conversion.kind == ConversionKind::PointerToInt),
            _ => false,
        };
        // `++` on a narrow type is done in int, where it cannot wrap.
        let is_promoted = match (lhs, rhs) {
            (Operand::Inst(inst), Operand::Const(_)) => {
                matches!(&body.insts[*inst].op, Op::Convert(conversion)
                    if conversion.origin == ConversionOrigin::Compiler && bits == 32)
            }
            _ => false,
        };
        let is_part = *operand == Operand::Inst(id) || operand == lhs || operand == rhs;
        (is_part && bits >= 32 && !is_address(lhs) && !is_address(rhs))
            .then(|| Interval::of_width(bits, *no_signed_wrap || is_promoted))
    }

    /// Whether an argument is read as a signed number.
    pub fn is_signed(&self, argument: &Argument) -> bool {
        match (self.counts(argument), self.c_type(argument)) {
            (Some(range), _) => range.low != Some(0),
            (None, Some(ctype)) => is_signed_type(self.program, ctype),
            (None, None) => true,
        }
    }

    /// An attribute that is the same on every path.
    pub fn fact(&self, attribute: AttributeId, args: &[Argument]) -> Option<i128> {
        let program = self.program;
        if let [argument] = args
            && let Some(range) = self.counts(argument)
        {
            match attribute.name() {
                "Signed" => return Some(i128::from(range.low != Some(0))),
                "TMin" => return range.low,
                "TMax" => return range.high,
                _ => {}
            }
        }
        let converted = matches!(args, [argument] if self.read_as(argument).is_some());
        let known = facts::from_text(program, self.function(), attribute, args, &mut name_code);
        if known.is_some() && !converted {
            return known;
        }
        if let [argument @ Argument::Operand(operand)] = args
            && (converted || matches!(operand, Operand::Const(_)))
            && let Some(ctype) = self.c_type(argument)
        {
            let range = facts::type_range(program, ctype);
            match attribute.name() {
                "Signed" => return range.and_then(|range| range.low).map(|l| i128::from(l < 0)),
                "TMin" => return range.and_then(|range| range.low),
                "TMax" => return range.and_then(|range| range.high),
                "SizeOf" => return facts::type_size(program, ctype).map(i128::from),
                _ => {}
            }
        }
        known.or_else(|| {
            let Argument::Operand(operand) = args.first()? else { return None };
            match attribute.name() {
                "Reaches" => Some(i128::from(self.flow.reaches_size(self.function, *operand))),
                "Masks" => Some(i128::from(self.flow.masks(self.function, *operand))),
                _ => None,
            }
        })
    }
}

/// As [`is_signed`], for a type of a program.
pub fn is_signed_type(program: &Program, ctype: TypeId) -> bool {
    match &program.types[ctype] {
        CType::Int { signed, .. } | CType::Enum { signed, .. } => *signed,
        CType::Bool | CType::Pointer(_) => false,
        CType::Typedef { target, .. } => is_signed_type(program, *target),
        CType::Const(target) | CType::Volatile(target) | CType::Atomic(target) => {
            is_signed_type(program, *target)
        }
        _ => true,
    }
}

/// The number a name stands for: the same in every search and run.
pub fn name_code(name: &str) -> i128 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    i128::from(hash >> 8) + 1
}
