//! C types of values, from the types of what they are computed of.

use program::{BinaryOp, CType, Callee, Const, Op, Operand, Terminator, Ty, TypeId};

use super::body::BodyReader;
use super::raw::RawOp;
use super::reader::{Corrupt, Read};

impl BodyReader<'_, '_, '_> {
    pub fn ctype_of(&mut self, operand: Operand) -> TypeId {
        match operand {
            Operand::Inst(id) => {
                self.body.insts.get(id.0 as usize).map_or(TypeId::UNKNOWN, |inst| inst.ctype)
            }
            Operand::Param(index) => self.params[index as usize].ctype,
            Operand::Const(id) => match self.unit.constants.constants[id] {
                Const::Global { global, offset: 0 } => {
                    let object = self.unit.globals[global].ctype;
                    self.unit.types.pointer_to(object)
                }
                Const::Function(function) => {
                    let function = self.unit.functions[function].ctype;
                    self.unit.types.pointer_to(function)
                }
                _ => TypeId::UNKNOWN,
            },
        }
    }

    pub fn ty_of(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Inst(id) => {
                self.body.insts.get(id.0 as usize).map_or(Ty::Void, |inst| inst.ty)
            }
            Operand::Param(index) => self.params[index as usize].ty,
            Operand::Const(id) => self.unit.constants.constants[id].ty(),
        }
    }

    pub fn first_known(&mut self, operands: impl IntoIterator<Item = Operand>) -> TypeId {
        for operand in operands {
            let ctype = self.ctype_of(operand);
            if ctype.is_known() {
                return ctype;
            }
        }
        TypeId::UNKNOWN
    }

    /// The usual arithmetic conversions have been made already, so the operands that have a
    /// type of the result's width agree, but for signs that explicit casts left no trace of
    /// and for widened values, whose sign is a guess. Where the operation itself has a sign,
    /// it decides.
    pub fn arithmetic_type(
        &mut self,
        op: BinaryOp,
        ty: Ty,
        lhs: Operand,
        rhs: Operand,
        no_signed_wrap: bool,
    ) -> TypeId {
        let Ty::Int(width) = ty else { return self.first_known([lhs, rhs]) };
        let left = self.fitting_integer(lhs, width);
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::LogicalShr | BinaryOp::ArithmeticShr);
        let right = if is_shift { None } else { self.fitting_integer(rhs, width) };
        if let Some(sign) = sign_of(op, no_signed_wrap) {
            let mut fitting = [left, right].into_iter().flatten();
            return match fitting.find(|(_, signed)| *signed == sign) {
                Some((known, _)) => known,
                None => self.unit.types.standard_integer(width, sign),
            };
        }
        match (left, right) {
            (Some((_, true)), Some((unsigned, false))) => unsigned,
            (Some((left, _)), _) => left,
            (None, Some((right, _))) => right,
            (None, None) => TypeId::UNKNOWN,
        }
    }

    /// The integer type of an operand as arithmetic sees it, with its sign: enumerations are
    /// integers there.
    fn fitting_integer(&mut self, operand: Operand, width: u32) -> Option<(TypeId, bool)> {
        let ctype = self.ctype_of(operand);
        let (bits, signed) = self.unit.types.integer(ctype)?;
        if bits != width {
            return None;
        }
        let is_enum = matches!(self.unit.types.strip(ctype), CType::Enum { .. });
        let ctype = if is_enum { self.unit.types.standard_integer(bits, signed) } else { ctype };
        Some((ctype, signed))
    }

    pub fn callee_type(&mut self, callee: &Callee) -> Read<TypeId> {
        Ok(match callee {
            Callee::Function(id) => {
                self.unit.functions.get(*id).ok_or(Corrupt("no such function"))?.ctype
            }
            Callee::Pointer(operand) => {
                let pointer = self.ctype_of(*operand);
                self.unit.types.pointee(pointer)
            }
            Callee::Intrinsic(_) => TypeId::UNKNOWN,
        })
    }

    /// The C types of a call's result and arguments. Arguments have the types of the
    /// parameters they are converted to; those of `...` have their own.
    pub fn call_types(
        &mut self,
        function: TypeId,
        callee: &Callee,
        args: &[Operand],
        ty: Ty,
    ) -> (TypeId, Box<[TypeId]>) {
        let (result, declared) = match self.unit.types.strip(function) {
            CType::Function { result, params, .. } => (*result, params.clone()),
            _ => (TypeId::UNKNOWN, Vec::new()),
        };
        let declared = match callee {
            // The header knows which parameters are pieces of structs.
            Callee::Function(id) => {
                self.unit.functions[*id].params.iter().map(|param| param.ctype).collect()
            }
            _ => declared,
        };
        let is_record = self.unit.types.record_of(result).is_some();
        let result = match ty {
            Ty::Void => TypeId::UNKNOWN,
            Ty::Aggregate(_) => result,
            _ if is_record => TypeId::UNKNOWN,
            _ => self.unit.types.unqualified(result),
        };
        let arg_ctypes = (0..args.len())
            .map(|index| {
                let declared = declared.get(index).copied().unwrap_or(TypeId::UNKNOWN);
                if declared.is_known() { declared } else { self.ctype_of(args[index]) }
            })
            .collect();
        (result, arg_ctypes)
    }

    /// Every value and block that is named must exist.
    pub fn check_ranges(&self) -> Read<()> {
        let values = self.body.insts.len();
        let blocks = self.body.blocks.len();
        let is_value = |operand: &Operand| match operand {
            Operand::Inst(id) => (id.0 as usize) < values,
            _ => true,
        };
        let mut is_sound = blocks > 0;
        for inst in &self.body.insts {
            match &inst.op {
                RawOp::Op(op) => {
                    op.for_each_operand(|operand| is_sound &= is_value(&operand));
                    if let Op::Phi(edges) = op {
                        is_sound &= edges.iter().all(|(block, _)| (block.0 as usize) < blocks);
                    }
                }
                RawOp::Declare { storage, .. } => is_sound &= is_value(storage),
                RawOp::Gone => {}
            }
        }
        for block in &self.body.blocks {
            is_sound &= block.terminator.operand().as_ref().is_none_or(is_value);
            let targets = block.terminator.successors();
            is_sound &= targets.iter().all(|target| (target.0 as usize) < blocks);
            is_sound &= !matches!(&block.terminator, Terminator::Indirect { targets, .. }
                if targets.is_empty() && blocks == 0);
        }
        if is_sound { Ok(()) } else { Err(Corrupt("a value or block out of range")) }
    }
}

/// Whether an operation is one of numbers with a sign, where it tells.
fn sign_of(op: BinaryOp, no_signed_wrap: bool) -> Option<bool> {
    match op {
        BinaryOp::SignedDiv | BinaryOp::SignedRem | BinaryOp::ArithmeticShr => Some(true),
        BinaryOp::UnsignedDiv | BinaryOp::UnsignedRem | BinaryOp::LogicalShr => Some(false),
        _ => no_signed_wrap.then_some(true),
    }
}
