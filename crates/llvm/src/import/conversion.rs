//! Conversions: which the language made, which the programmer wrote, which the compiler
//! needed.

use program::{
    BinaryOp, CType, Conversion, ConversionKind, ConversionOrigin, LocId, Op, Operand, Predicate,
    Terminator, Ty, TypeId,
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
        let from_ty = self.ty_of(value);
        let from = self.source_type(kind, value);
        let to = self.guess_target(kind, from_ty, ty, from);
        let is_boolean = from_ty == Ty::Int(1) || ty == Ty::Int(1);
        let origin = if is_boolean || keeps_values(kind, from_ty, ty) {
            ConversionOrigin::Compiler
        } else if has_no_check(kind)
            && self.unit.casts.is_written(self.unit.locs.last_place) == Some(false)
        {
            ConversionOrigin::Implicit
        } else {
            ConversionOrigin::Explicit
        };
        if !is_boolean {
            self.body.guessed.push(self.body.insts.len() as u32);
        }
        Conversion { value, kind, from, to, origin, bit_field_width: None }
    }

    /// The C type of what is widened. A cast that changes only the sign leaves no
    /// instruction, but shows here: what is extended by its sign has one.
    pub fn source_type(&mut self, kind: ConversionKind, value: Operand) -> TypeId {
        let from = self.ctype_of(value);
        let wanted = match kind {
            ConversionKind::SignExtend | ConversionKind::SignedToFloat => true,
            ConversionKind::ZeroExtend | ConversionKind::UnsignedToFloat => false,
            _ => return from,
        };
        match self.unit.types.integer(from) {
            Some((bits, signed)) if signed != wanted => {
                self.unit.types.standard_integer(bits, wanted)
            }
            _ => from,
        }
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
        self.refine_joins(&wishes);
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
        // Backwards, so that what is asked of a join is asked of what it joins.
        for (index, inst) in self.body.insts.iter().enumerate().rev() {
            match inst.op() {
                Some(Op::Convert(conversion))
                    if conversion.origin == ConversionOrigin::Implicit
                        && !has_no_check(conversion.kind) =>
                {
                    wish_type(&mut wishes, conversion.value, conversion.from);
                }
                Some(Op::Phi(edges)) => {
                    let wanted = wishes[index].ctype.unwrap_or(TypeId::UNKNOWN);
                    edges.iter().for_each(|(_, value)| wish_type(&mut wishes, *value, wanted));
                }
                Some(Op::Select { then, otherwise, .. }) => {
                    let wanted = wishes[index].ctype.unwrap_or(TypeId::UNKNOWN);
                    wish_type(&mut wishes, *then, wanted);
                    wish_type(&mut wishes, *otherwise, wanted);
                }
                Some(Op::Binary { op, lhs, rhs, .. }) if !self.is_pointer_as_int(*lhs) => {
                    wish_type(&mut wishes, *lhs, inst.ctype);
                    if !matches!(op, BinaryOp::Shl | BinaryOp::LogicalShr | BinaryOp::ArithmeticShr)
                    {
                        wish_type(&mut wishes, *rhs, inst.ctype);
                    }
                }
                Some(Op::Store { access, value }) => wish_type(&mut wishes, *value, access.ctype),
                Some(Op::Call(call)) => {
                    let args = call.args.iter().zip(&call.arg_ctypes);
                    args.for_each(|(arg, ctype)| wish_type(&mut wishes, *arg, *ctype));
                }
                Some(Op::Compare { predicate, lhs, rhs }) => {
                    for (side, other) in [(*lhs, *rhs), (*rhs, *lhs)] {
                        let ctype = self.known_type(other);
                        let signed = self.unit.types.integer(ctype).map(|(_, signed)| signed);
                        if sign_of(*predicate).is_none_or(|sign| signed == Some(sign)) {
                            wish_type(&mut wishes, side, ctype);
                        }
                    }
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

    /// The C type of a value that was read from somewhere.
    fn known_type(&self, operand: Operand) -> TypeId {
        match operand {
            Operand::Inst(id) => self.body.insts[id.0 as usize].ctype,
            Operand::Param(index) => self.params[index as usize].ctype,
            Operand::Const(_) => TypeId::UNKNOWN,
        }
    }

    fn is_pointer_as_int(&self, operand: Operand) -> bool {
        let Operand::Inst(id) = operand else { return false };
        matches!(self.body.insts[id.0 as usize].op(),
            Some(Op::Convert(conversion)) if conversion.kind == ConversionKind::PointerToInt)
    }

    /// A join of guessed values has the type its users know it by.
    fn refine_joins(&mut self, wishes: &[Wish]) {
        for (inst, wish) in self.body.insts.iter_mut().zip(wishes) {
            let is_join = matches!(inst.op(), Some(Op::Phi(_) | Op::Select { .. }));
            if let (true, Some(wanted), Ty::Int(bits)) = (is_join, wish.ctype, inst.ty)
                && self.unit.types.integer(wanted).is_some_and(|(width, _)| width == bits)
            {
                inst.ctype = self.unit.types.unqualified(wanted);
            }
        }
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

/// Whether every value of one machine type is one of the other.
fn keeps_values(kind: ConversionKind, from: Ty, to: Ty) -> bool {
    use ConversionKind::*;
    let digits = match to {
        Ty::Float(16) => 11,
        Ty::Float(32) => 24,
        Ty::Float(64) => 53,
        Ty::Float(80) => 64,
        Ty::Float(128) => 113,
        _ => 0,
    };
    match (kind, from) {
        (ZeroExtend | SignExtend | FloatExtend, _) => true,
        (UnsignedToFloat, Ty::Int(bits)) => bits <= digits,
        (SignedToFloat, Ty::Int(bits)) => bits <= digits + 1,
        _ => false,
    }
}

/// Conversions between kinds of types: the compiler checks none of them.
fn has_no_check(kind: ConversionKind) -> bool {
    use ConversionKind::*;
    matches!(
        kind,
        FloatToUnsigned
            | FloatToSigned
            | UnsignedToFloat
            | SignedToFloat
            | FloatTruncate
            | PointerToInt
            | IntToPointer
    )
}

/// Whether a comparison is one of numbers with a sign, where it tells.
fn sign_of(predicate: Predicate) -> Option<bool> {
    use Predicate::*;
    match predicate {
        SignedLt | SignedLe | SignedGt | SignedGe => Some(true),
        UnsignedLt | UnsignedLe | UnsignedGt | UnsignedGe => Some(false),
        _ => None,
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
