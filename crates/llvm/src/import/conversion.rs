//! Conversions: which the language made, which the programmer wrote, which the compiler
//! needed.

use program::{
    BinaryOp, CType, Conversion, ConversionKind, ConversionOrigin, LocId, Op, Operand, Terminator,
    Ty, TypeId,
};

use super::body::BodyReader;
use super::constants::read_ty;
use super::opcodes::conversion_kind;
use super::raw::{RawInst, RawOp};
use super::reader::Read;

impl BodyReader<'_, '_, '_> {
    pub fn read_conversion(&mut self, loc: LocId) -> Read<RawInst> {
        let kind = conversion_kind(self.reader.number()?)?;
        let (ty, value) = (read_ty(self.reader)?, self.operand()?);
        let conversion = if self.reader.flag()? {
            self.read_checked(kind, value)?
        } else {
            self.unchecked(kind, ty, value)
        };
        let to = conversion.to;
        self.value(Op::Convert(Box::new(conversion)), ty, to, loc)
    }

    /// A conversion the language makes on its own: the check that guarded it says what of.
    fn read_checked(&mut self, kind: ConversionKind, value: Operand) -> Read<Conversion> {
        let (from, to) = (self.read_checked_type()?, self.read_checked_type()?);
        let width = self.reader.small()?;
        let bit_field_width = (width != 0).then_some(width);
        // A bit-field narrows even where its declared type does not.
        let kind = if width == 0 { kind } else { ConversionKind::Truncate };
        let origin = ConversionOrigin::Implicit;
        Ok(Conversion { value, kind, from, to, origin, bit_field_width })
    }

    fn read_checked_type(&mut self) -> Read<TypeId> {
        let (name, bits, signed) = (self.reader.text()?, self.reader.small()?, self.reader.flag()?);
        Ok(self.unit.types.checked(&name, bits, signed))
    }

    /// A conversion without a check: an explicit one, one that keeps every value, or one
    /// between kinds of types that no check covers.
    fn unchecked(&mut self, kind: ConversionKind, ty: Ty, value: Operand) -> Conversion {
        let from = self.ctype_of(value);
        let from_ty = self.ty_of(value);
        let to = self.guess_target(kind, from_ty, ty, from);
        let is_boolean = from_ty == Ty::Int(1) || ty == Ty::Int(1);
        let widens = matches!(kind, ConversionKind::ZeroExtend | ConversionKind::SignExtend);
        let origin = if is_boolean || widens {
            ConversionOrigin::Compiler
        } else {
            ConversionOrigin::Explicit
        };
        if !is_boolean {
            self.body.guessed.push(self.body.insts.len() as u32);
        }
        Conversion { value, kind, from, to, origin, bit_field_width: None }
    }

    /// The C type a conversion most likely has, going by its width; who uses the value may
    /// know better.
    fn guess_target(&mut self, kind: ConversionKind, from_ty: Ty, ty: Ty, from: TypeId) -> TypeId {
        use ConversionKind::*;
        let types = &mut self.unit.types;
        match (kind, ty) {
            (_, Ty::Int(1)) => types.intern(CType::Bool),
            (ZeroExtend, Ty::Int(8)) if from_ty == Ty::Int(1) => types.intern(CType::Bool),
            // Everything narrower than an int is promoted to int.
            (ZeroExtend | SignExtend, Ty::Int(32)) => types.standard_integer(32, true),
            (SignExtend | FloatToSigned, Ty::Int(bits)) => types.standard_integer(bits, true),
            (ZeroExtend, Ty::Int(bits)) if from_ty == Ty::Int(1) => {
                types.standard_integer(bits, true)
            }
            (ZeroExtend | FloatToUnsigned | PointerToInt, Ty::Int(bits)) => {
                types.standard_integer(bits, false)
            }
            (Truncate, Ty::Int(bits)) => {
                let signed = types.integer(from).is_none_or(|(_, signed)| signed);
                types.standard_integer(bits, signed)
            }
            (_, Ty::Float(bits)) => {
                let (name, bits) = match bits {
                    16 => ("_Float16", 16),
                    32 => ("float", 32),
                    64 => ("double", 64),
                    _ => ("long double", 128),
                };
                types.intern(CType::Float { name: name.into(), bits })
            }
            _ => TypeId::UNKNOWN,
        }
    }

    /// Asks the users of guessed conversions what they are for.
    pub fn refine_guesses(&mut self) {
        if self.body.guessed.is_empty() {
            return;
        }
        let wishes = self.wishes();
        for at in std::mem::take(&mut self.body.guessed) {
            let wish = wishes[at as usize];
            self.refine(at as usize, wish);
        }
    }

    /// What the users of each value say of it: the place it is stored to, the parameter it is
    /// passed to, the result it becomes; addresses and differences of pointers widen and
    /// convert for themselves.
    fn wishes(&self) -> Vec<Wish> {
        let mut wishes = vec![Wish::default(); self.body.insts.len()];
        for inst in &self.body.insts {
            match inst.op() {
                Some(Op::Store { access, value }) => wish_type(&mut wishes, *value, access.ctype),
                Some(Op::Call(call)) => {
                    let args = call.args.iter().zip(&call.arg_ctypes);
                    args.for_each(|(arg, ctype)| wish_type(&mut wishes, *arg, *ctype));
                }
                Some(Op::Address(address)) => {
                    let indices = address.terms.iter().map(|term| term.index);
                    indices.for_each(|index| mark_plumbing(&mut wishes, index));
                }
                Some(Op::Binary { op: BinaryOp::Sub, lhs, rhs, .. })
                    if self.is_pointer_as_int(*lhs) && self.is_pointer_as_int(*rhs) =>
                {
                    mark_plumbing(&mut wishes, *lhs);
                    mark_plumbing(&mut wishes, *rhs);
                }
                _ => {}
            }
        }
        let function = self.unit.functions[self.function].ctype;
        if let CType::Function { result, .. } = *self.unit.types.strip(function) {
            for block in &self.body.blocks {
                if let Terminator::Return(Some(value)) = block.terminator {
                    wish_type(&mut wishes, value, result);
                }
            }
        }
        wishes
    }

    fn is_pointer_as_int(&self, operand: Operand) -> bool {
        let Operand::Inst(id) = operand else { return false };
        matches!(self.body.insts[id.0 as usize].op(),
            Some(Op::Convert(conversion)) if conversion.kind == ConversionKind::PointerToInt)
    }

    fn refine(&mut self, at: usize, wish: Wish) {
        let inst = &mut self.body.insts[at];
        let RawOp::Op(Op::Convert(conversion)) = &mut inst.op else { return };
        let types = &self.unit.types;
        let fits = |ctype: &TypeId| match (types.strip(*ctype), inst.ty) {
            (CType::Pointer(_), Ty::Ptr) | (CType::Float { .. }, Ty::Float(_)) => true,
            (_, Ty::Int(bits)) => types.integer(*ctype).is_some_and(|(width, _)| width == bits),
            _ => false,
        };
        if let Some(wanted) = wish.ctype.filter(fits) {
            conversion.to = types.unqualified(wanted);
            inst.ctype = conversion.to;
        }
        let becomes_unsigned = types.integer(conversion.to).is_some_and(|(_, signed)| !signed);
        let widens_sign = conversion.kind == ConversionKind::SignExtend && becomes_unsigned;
        if widens_sign {
            conversion.origin = ConversionOrigin::Explicit;
        }
        if wish.is_plumbing && conversion.kind != ConversionKind::Truncate {
            conversion.origin = ConversionOrigin::Compiler;
        }
    }
}

/// What the users of a value say of it.
#[derive(Clone, Copy, Default)]
struct Wish {
    ctype: Option<TypeId>,
    /// Only the compiler's own arithmetic uses it.
    is_plumbing: bool,
}

fn wish_type(wishes: &mut [Wish], operand: Operand, ctype: TypeId) {
    if let Operand::Inst(id) = operand
        && ctype.is_known()
    {
        wishes[id.0 as usize].ctype.get_or_insert(ctype);
    }
}

fn mark_plumbing(wishes: &mut [Wish], operand: Operand) {
    if let Operand::Inst(id) = operand {
        wishes[id.0 as usize].is_plumbing = true;
    }
}
