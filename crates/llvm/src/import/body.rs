//! Decodes the records of one body.
//!
//! C types are inferred on the way, while variables are still in memory: each value then
//! comes straight from a place whose declaration is known, which promotion to SSA blurs.

use base::IdVec;
use program::{
    Access, BinaryOp, BlockId, Call, Callee, Const, FunctionId, InstId, LocId, Op, Operand, Param,
    Terminator, Ty, TypeId, UnknownCode, VarId, Variable,
};
use rustc_hash::FxHashMap;

use super::Unit;
use super::constants::read_ty;
use super::opcodes::{binary_op, predicate};
use super::raw::{RawBlock, RawBody, RawInst, RawOp};
use super::reader::{Corrupt, Read, Reader};
use super::shape::{Shape, Want, descend};

const IS_VOLATILE: u32 = 1;
const IS_ATOMIC: u32 = 2;
const CALL_NO_RETURN: u32 = 1;
const CALL_RETURNS_TWICE: u32 = 2;

pub struct BodyReader<'a, 'u, 'r> {
    pub unit: &'a mut Unit<'u>,
    pub reader: &'a mut Reader<'r>,
    pub function: FunctionId,
    pub params: Vec<Param>,
    pub body: RawBody,
}

impl<'a, 'u, 'r> BodyReader<'a, 'u, 'r> {
    pub fn new(unit: &'a mut Unit<'u>, reader: &'a mut Reader<'r>, function: FunctionId) -> Self {
        let params = unit.functions[function].params.clone();
        let body = RawBody {
            insts: Vec::new(),
            blocks: Vec::new(),
            variables: IdVec::new(),
            scalars: FxHashMap::default(),
            param_objects: FxHashMap::default(),
            units: FxHashMap::default(),
            guessed: Vec::new(),
        };
        Self { unit, reader, function, params, body }
    }

    /// The body, and the parameters with the variables they belong to.
    pub fn read(mut self) -> Read<(RawBody, Vec<Param>)> {
        self.read_variables()?;
        for _ in 0..self.reader.count()? {
            self.read_block()?;
        }
        self.check_ranges()?;
        self.refine_guesses();
        self.fold_bit_fields();
        Ok((self.body, self.params))
    }

    fn read_variables(&mut self) -> Read<()> {
        for _ in 0..self.reader.count()? {
            let name = self.reader.text()?;
            let ctype = self.unit.types.numbered(self.reader.small()?);
            let parameter = self.reader.small()?.checked_sub(1);
            let (line, column) = (self.reader.small()?, self.reader.small()?);
            let is_artificial = self.reader.flag()?;
            let name = if is_artificial { Box::default() } else { name };
            let loc = self.unit.locs.at(line, column);
            self.body.variables.push(Variable { name, ctype, parameter, loc });
        }
        Ok(())
    }

    fn read_block(&mut self) -> Read<()> {
        let first = self.body.insts.len() as u32;
        loop {
            let record = self.reader.byte()?;
            let loc = self.unit.locs.read(self.reader)?;
            if record == 0 {
                let terminator = self.read_terminator()?;
                let end = self.body.insts.len() as u32;
                self.body.blocks.push(RawBlock { first, end, terminator, loc });
                return Ok(());
            }
            let inst = self.read_inst(record, loc)?;
            self.body.insts.push(inst);
        }
    }

    fn read_terminator(&mut self) -> Read<Terminator> {
        Ok(match self.reader.byte()? {
            0 => Terminator::Jump(self.block()?),
            1 => Terminator::Branch {
                condition: self.operand()?,
                then: self.block()?,
                otherwise: self.block()?,
            },
            2 => {
                let (value, default) = (self.operand()?, self.block()?);
                let cases = (0..self.reader.count()?)
                    .map(|_| match self.operand()? {
                        Operand::Const(value) => Ok((value, self.block()?)),
                        _ => Err(Corrupt("a case that is no constant")),
                    })
                    .collect::<Read<_>>()?;
                Terminator::Switch { value, cases, default }
            }
            3 => {
                let address = self.operand()?;
                let targets =
                    (0..self.reader.count()?).map(|_| self.block()).collect::<Read<_>>()?;
                Terminator::Indirect { address, targets }
            }
            4 if self.reader.flag()? => Terminator::Return(Some(self.operand()?)),
            4 => Terminator::Return(None),
            5 => Terminator::Unreachable,
            _ => return Err(Corrupt("a terminator of no known kind")),
        })
    }

    fn read_inst(&mut self, record: u8, loc: LocId) -> Read<RawInst> {
        match record {
            1 => self.read_declaration(loc),
            2 => self.read_alloca(loc),
            3 => self.read_load(loc),
            4 => self.read_store(loc),
            5 => self.read_address(loc),
            6 => self.read_binary(loc),
            7 => {
                let (ty, value) = (read_ty(self.reader)?, self.operand()?);
                let ctype = self.ctype_of(value);
                self.value(Op::Negate(value), ty, ctype, loc)
            }
            8 => {
                let predicate = predicate(self.reader.number()?)?;
                let (lhs, rhs) = (self.operand()?, self.operand()?);
                let op = Op::Compare { predicate, lhs, rhs };
                self.value(op, Ty::Int(1), TypeId::UNKNOWN, loc)
            }
            9 => self.read_conversion(loc),
            10 => {
                let ty = read_ty(self.reader)?;
                let (condition, then, otherwise) =
                    (self.operand()?, self.operand()?, self.operand()?);
                let ctype = self.first_known([then, otherwise]);
                self.value(Op::Select { condition, then, otherwise }, ty, ctype, loc)
            }
            11 => self.read_phi(loc),
            12 => self.read_call(loc),
            13 | 14 => self.read_memory_operation(record, loc),
            15 => self.read_atomic_update(loc),
            16 => self.read_compare_exchange(loc),
            17 => self.value(Op::Fence, Ty::Void, TypeId::UNKNOWN, loc),
            18 | 19 => self.read_element(record, loc),
            20 => self.read_asm(loc),
            21 => {
                let (ty, name) = (read_ty(self.reader)?, self.reader.text()?);
                let args = self.operands()?;
                self.value(Op::Opaque { name, args }, ty, TypeId::UNKNOWN, loc)
            }
            _ => Err(Corrupt("a record of no known kind")),
        }
    }

    /// An instruction with its types.
    pub fn value(&self, op: Op, ty: Ty, ctype: TypeId, loc: LocId) -> Read<RawInst> {
        Ok(RawInst { op: RawOp::Op(op), ty, ctype, loc })
    }

    fn read_declaration(&mut self, loc: LocId) -> Read<RawInst> {
        let variable = VarId(self.reader.small()?);
        let storage = self.operand()?;
        let holds_address = self.reader.flag()?;
        let declared = self.body.variables.get(variable).ok_or(Corrupt("no such variable"))?;
        let (ctype, parameter) = (declared.ctype, declared.parameter);
        let mut op = RawOp::Declare { variable, storage };
        if holds_address {
            self.hold_address(storage, ctype);
            op = RawOp::Gone;
        }
        if let Operand::Param(index) = storage
            && let Some(param) = self.params.get_mut(index as usize)
        {
            param.variable = Some(variable);
            param.ctype = self.unit.types.pointer_to(ctype);
            // A named result lives in the caller's storage; a copied argument is initialised.
            match self.unit.types.size(ctype).filter(|_| param.is_struct_return) {
                Some(size) => drop(self.body.param_objects.insert(index, size)),
                None => op = RawOp::Gone,
            }
        }
        if parameter.is_some() {
            op = RawOp::Gone;
        }
        Ok(RawInst { op, ty: Ty::Void, ctype: TypeId::UNKNOWN, loc })
    }

    /// The storage holds the address of the variable, not the variable itself.
    fn hold_address(&mut self, storage: Operand, ctype: TypeId) {
        let Operand::Inst(id) = storage else { return };
        let pointer = self.unit.types.pointer_to(ctype);
        let pointer = self.unit.types.pointer_to(pointer);
        if let Some(inst) = self.body.insts.get_mut(id.0 as usize)
            && let RawOp::Op(Op::Alloca { variable, .. }) = &mut inst.op
        {
            *variable = None;
            inst.ctype = pointer;
        }
    }

    fn read_alloca(&mut self, loc: LocId) -> Read<RawInst> {
        let variable = self.reader.small()?.checked_sub(1).map(VarId);
        let scalar = read_ty(self.reader)?;
        let size = self.reader.number()?;
        let shape = Shape::read(self.reader)?;
        let count = if self.reader.flag()? { Some(self.operand()?) } else { None };
        let ctype = match variable.and_then(|variable| self.body.variables.get(variable)) {
            Some(variable) => self.unit.types.pointer_to(variable.ctype),
            None if variable.is_some() => return Err(Corrupt("no such variable")),
            None => self.temporary_type(&shape),
        };
        let op = Op::Alloca { variable, size, count };
        if matches!(scalar, Ty::Int(_) | Ty::Float(_) | Ty::Ptr) && count.is_none() {
            self.body.scalars.insert(self.body.insts.len() as u32, scalar);
        }
        self.value(op, Ty::Ptr, ctype, loc)
    }

    fn temporary_type(&mut self, shape: &Shape) -> TypeId {
        let Shape::Struct { name, size } = shape else { return TypeId::UNKNOWN };
        let record = self.unit.struct_names.record(*name, *size, &self.unit.types);
        let Some(record) = record else { return TypeId::UNKNOWN };
        let record = self.unit.types.record_type(record);
        self.unit.types.pointer_to(record)
    }

    fn read_load(&mut self, loc: LocId) -> Read<RawInst> {
        let (ty, ptr) = (read_ty(self.reader)?, self.operand()?);
        let access = self.read_access(ptr, ty)?;
        let ctype = self.unit.types.unqualified(access.ctype);
        self.value(Op::Load(Box::new(access)), ty, ctype, loc)
    }

    fn read_store(&mut self, loc: LocId) -> Read<RawInst> {
        let (ty, ptr, value) = (read_ty(self.reader)?, self.operand()?, self.operand()?);
        let mut access = self.read_access(ptr, ty)?;
        if !access.ctype.is_known() {
            access.ctype = self.learn_temporary(ptr, value, access.size);
        }
        self.bind_parameter(ptr, value, access.ctype);
        let op = Op::Store { access: Box::new(access), value };
        self.value(op, ty, TypeId::UNKNOWN, loc)
    }

    /// A compiler's temporary has the type of the first value stored into it.
    fn learn_temporary(&mut self, ptr: Operand, value: Operand, size: u64) -> TypeId {
        let ctype = self.ctype_of(value);
        let Operand::Inst(id) = ptr else { return TypeId::UNKNOWN };
        if self.unit.types.size(ctype) != Some(size) {
            return TypeId::UNKNOWN;
        }
        let pointer = self.unit.types.pointer_to(ctype);
        match self.body.insts.get_mut(id.0 as usize) {
            Some(RawInst {
                op: RawOp::Op(Op::Alloca { variable: None, .. }), ctype: old, ..
            }) if !old.is_known() => {
                *old = pointer;
                ctype
            }
            _ => TypeId::UNKNOWN,
        }
    }

    /// The prologue stores each machine-level parameter into the variable it is, or is a
    /// piece of; old-style definitions convert it first.
    fn bind_parameter(&mut self, ptr: Operand, value: Operand, ctype: TypeId) {
        let index = match value {
            Operand::Param(index) => index,
            Operand::Inst(id) => match self.body.insts.get(id.0 as usize).and_then(RawInst::op) {
                Some(Op::Convert(conversion)) => match conversion.value {
                    Operand::Param(index) => index,
                    _ => return,
                },
                _ => return,
            },
            Operand::Const(_) => return,
        };
        let is_whole = value == Operand::Param(index);
        let Some(variable) = self.stored_variable(ptr) else { return };
        if self.body.variables[variable].parameter.is_none() {
            return;
        }
        let Some(param) = self.params.get_mut(index as usize) else { return };
        param.variable = Some(variable);
        if is_whole && !param.ctype.is_known() {
            param.ctype = ctype;
        }
    }

    fn stored_variable(&self, mut ptr: Operand) -> Option<VarId> {
        loop {
            let Operand::Inst(id) = ptr else { return None };
            match self.body.insts.get(id.0 as usize)?.op()? {
                Op::Alloca { variable, .. } => return *variable,
                // Addresses build on earlier ones; a garbled stream's may go in circles.
                Op::Address(address) if address.base < ptr => ptr = address.base,
                _ => return None,
            }
        }
    }

    /// Size and flags of an access, and what of the object at `ptr` it means.
    fn read_access(&mut self, ptr: Operand, ty: Ty) -> Read<Access> {
        let size = self.reader.number()?;
        let flags = self.reader.small()?;
        let (object, offset) = self.object(ptr);
        let mut path = Vec::new();
        let ctype = match offset {
            Some(offset) if object.is_known() => {
                descend(&self.unit.types, object, offset, Want::Scalar(ty, size), &mut path)
            }
            _ => None,
        };
        Ok(Access {
            ptr,
            size,
            ctype: ctype.unwrap_or(TypeId::UNKNOWN),
            path: path.into(),
            bit_field: None,
            is_volatile: flags & IS_VOLATILE != 0,
            is_atomic: flags & IS_ATOMIC != 0,
        })
    }

    /// The C object an address lies in, and the byte it leads to there.
    pub fn object(&mut self, ptr: Operand) -> (TypeId, Option<u64>) {
        if let Operand::Const(id) = ptr
            && let Const::Global { global, offset } = self.unit.constants.constants[id]
        {
            return (self.unit.globals[global].ctype, u64::try_from(offset).ok());
        }
        let pointer = self.ctype_of(ptr);
        (self.unit.types.pointee(pointer), Some(0))
    }

    fn read_binary(&mut self, loc: LocId) -> Read<RawInst> {
        let op = binary_op(self.reader.number()?)?;
        let flags = self.reader.number()?;
        let (ty, lhs, rhs) = (read_ty(self.reader)?, self.operand()?, self.operand()?);
        let no_signed_wrap = flags & 1 != 0;
        let ctype = self.arithmetic_type(op, ty, lhs, rhs, no_signed_wrap);
        let (op, rhs) = self.decrement(op, rhs, ctype).unwrap_or((op, rhs));
        let op = Op::Binary { op, lhs, rhs, no_signed_wrap, no_unsigned_wrap: flags & 2 != 0 };
        self.value(op, ty, ctype, loc)
    }

    /// Compilers turn `n - 1` and `n--` into the sum of `n` and the largest unsigned number:
    /// read as written, it would wrap around whenever `n` is not zero.
    fn decrement(
        &mut self,
        op: BinaryOp,
        rhs: Operand,
        ctype: TypeId,
    ) -> Option<(BinaryOp, Operand)> {
        let (BinaryOp::Add, Operand::Const(id)) = (op, rhs) else { return None };
        let Const::Int { bits, value } = self.unit.constants.constants[id] else { return None };
        let is_unsigned = self.unit.types.integer(ctype).is_some_and(|(_, signed)| !signed);
        if !is_unsigned || !(2..=64).contains(&bits) || value >= 0 || value == -1 << (bits - 1) {
            return None;
        }
        let less = self.unit.constants.intern(Const::Int { bits, value: -value });
        Some((BinaryOp::Sub, Operand::Const(less)))
    }

    fn read_phi(&mut self, loc: LocId) -> Read<RawInst> {
        let ty = read_ty(self.reader)?;
        let mut edges = (0..self.reader.count()?)
            .map(|_| Ok((self.block()?, self.operand()?)))
            .collect::<Read<Vec<_>>>()?;
        edges.sort_by_key(|(block, _)| *block);
        edges.dedup_by_key(|(block, _)| *block);
        let ctype = self.first_known(edges.iter().map(|(_, value)| *value));
        self.value(Op::Phi(edges.into()), ty, ctype, loc)
    }

    fn read_call(&mut self, loc: LocId) -> Read<RawInst> {
        let ty = read_ty(self.reader)?;
        let callee = match self.reader.byte()? {
            0 => Callee::Function(FunctionId(self.reader.small()?)),
            1 => Callee::Pointer(self.operand()?),
            2 => Callee::Intrinsic(self.reader.text()?),
            _ => return Err(Corrupt("a callee of no known kind")),
        };
        let args = self.operands()?;
        let flags = self.reader.small()?;
        let by_value = (0..self.reader.count()?)
            .map(|_| Ok((self.reader.small()?, self.reader.number()?)))
            .collect::<Read<Box<[_]>>>()?;
        if by_value.iter().any(|(index, _)| *index as usize >= args.len()) {
            return Err(Corrupt("a copied argument out of range"));
        }
        let ctype = self.callee_type(&callee)?;
        let (result, arg_ctypes) = self.call_types(ctype, &callee, &args, ty);
        let call = Call {
            callee,
            args,
            arg_ctypes,
            by_value,
            ctype,
            is_noreturn: flags & CALL_NO_RETURN != 0,
            returns_twice: flags & CALL_RETURNS_TWICE != 0,
        };
        self.value(Op::Call(Box::new(call)), ty, result, loc)
    }

    fn read_memory_operation(&mut self, record: u8, loc: LocId) -> Read<RawInst> {
        let (to, second, size) = (self.operand()?, self.operand()?, self.operand()?);
        let is_volatile = self.reader.flag()?;
        let op = match record {
            13 => Op::MemCopy { to, from: second, size, is_volatile },
            _ => Op::MemSet { to, byte: second, size, is_volatile },
        };
        self.value(op, Ty::Void, TypeId::UNKNOWN, loc)
    }

    fn read_atomic_update(&mut self, loc: LocId) -> Read<RawInst> {
        let (ty, ptr, value) = (read_ty(self.reader)?, self.operand()?, self.operand()?);
        let access = Box::new(self.read_access(ptr, ty)?);
        let op = self.reader.text()?;
        let ctype = self.unit.types.unqualified(access.ctype);
        self.value(Op::AtomicUpdate { access, op, value }, ty, ctype, loc)
    }

    fn read_compare_exchange(&mut self, loc: LocId) -> Read<RawInst> {
        let (ty, ptr) = (read_ty(self.reader)?, self.operand()?);
        let (expected, new) = (self.operand()?, self.operand()?);
        let exchanged = self.ty_of(new);
        let access = Box::new(self.read_access(ptr, exchanged)?);
        let op = Op::CompareExchange { access, expected, new };
        self.value(op, ty, TypeId::UNKNOWN, loc)
    }

    fn read_element(&mut self, record: u8, loc: LocId) -> Read<RawInst> {
        let (ty, aggregate) = (read_ty(self.reader)?, self.operand()?);
        let element = if record == 19 { Some(self.operand()?) } else { None };
        let indices =
            (0..self.reader.count()?).map(|_| self.reader.small()).collect::<Read<Box<_>>>()?;
        let op = match element {
            Some(element) => Op::Insert { aggregate, element, indices },
            None => Op::Extract { aggregate, indices },
        };
        self.value(op, ty, TypeId::UNKNOWN, loc)
    }

    fn read_asm(&mut self, loc: LocId) -> Read<RawInst> {
        let (ty, text) = (read_ty(self.reader)?, self.reader.text()?);
        let args = self.operands()?;
        let may_write = self.reader.flag()?;
        let what = "inline assembler".to_string();
        self.unit.unknown_code.push(UnknownCode { what, loc });
        self.value(Op::Asm { text, args, may_write }, ty, TypeId::UNKNOWN, loc)
    }

    pub fn operand(&mut self) -> Read<Operand> {
        let code = self.reader.number()?;
        let payload = code >> 2;
        match code & 3 {
            0 => {
                let distance = (payload >> 1) as i64 ^ -((payload & 1) as i64);
                let index = (self.body.insts.len() as i64).wrapping_sub(distance);
                let index = u32::try_from(index).map_err(|_| Corrupt("a value out of range"))?;
                Ok(Operand::Inst(InstId(index)))
            }
            1 if payload < self.params.len() as u64 => Ok(Operand::Param(payload as u32)),
            2 => Ok(Operand::Const(self.unit.constants.numbered(payload)?)),
            3 => Ok(Operand::Const(self.unit.constants.intern(Const::Undef(Ty::Void)))),
            _ => Err(Corrupt("a parameter out of range")),
        }
    }

    fn operands(&mut self) -> Read<Box<[Operand]>> {
        (0..self.reader.count()?).map(|_| self.operand()).collect()
    }

    fn block(&mut self) -> Read<BlockId> {
        Ok(BlockId(self.reader.small()?))
    }
}
