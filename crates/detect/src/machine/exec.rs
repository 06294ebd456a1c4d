//! The effect of single instructions.

use logic::{Comparison, Interval, TermId, Terms};
use program::{
    Access, Address, BinaryOp, BlockId, Body, Callee, Const, Inst, InstId, LocId, Op, Operand,
    Predicate, Terminator, Ty, TypeId,
};

use super::access::{Reader, Wanted, constant_value, make_up};
use super::aliases::Shape;
use super::arith::Arith;
use super::context::Context;
use super::memory::{Content, Data, Object, ObjectId, ObjectKind};
use super::state::{Phase, State};
use super::symbols::SymbolKind;
use super::trail::What;
use super::value::Value;
use crate::effects::is_empty_string;
use crate::outside::reach::MAX_LENGTH;
use facts::members::accessed_member;

/// Runs instructions that neither branch nor call.
pub struct Exec<'c, 'p> {
    pub context: &'c mut Context<'p>,
    pub state: &'c mut State,
}

impl<'p> Exec<'_, 'p> {
    pub fn body(&self) -> &'p Body {
        let function = self.state.top().function;
        self.context.program.functions[function].body.as_ref().expect("a frame has a body")
    }

    pub fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Inst(inst) => self.state.top().value(inst),
            Operand::Param(index) => {
                self.state.top().params.get(index as usize).copied().unwrap_or(Value::Unknown)
            }
            Operand::Const(id) => constant_value(self.context, &mut self.state.memory, id),
        }
    }

    pub fn operand_ty(&self, operand: Operand) -> Ty {
        let function = &self.context.program.functions[self.state.top().function];
        self.body().operand_ty(operand, &function.params, &self.context.program.constants)
    }

    fn arith(&mut self, loc: LocId) -> Arith<'_, 'p> {
        Arith { context: self.context, memory: &self.state.memory, loc }
    }

    /// Runs one instruction. Phis, calls and undecided selects of pointers are the search's.
    pub fn run(&mut self, id: InstId) {
        let inst = &self.body().insts[id];
        let value = match &inst.op {
            Op::Alloca { .. } => self.alloca(id, inst),
            Op::Uninit { variable } => {
                let value = Value::Uninit(self.body().variables[*variable].loc);
                let bound = What::Bound { at: id, variable: *variable, value };
                self.note(bound, self.body().variables[*variable].loc);
                value
            }
            Op::UninitMemory { ptr, size, .. } => {
                let size = self.context.constant(i128::from(*size));
                let ptr = self.operand(*ptr);
                self.write(ptr, size, Data::Uninit, inst.loc);
                Value::Unknown
            }
            Op::Load(access) => self.load(id, access, inst),
            Op::Store { access, value } => {
                self.store(id, access, *value, inst.loc);
                Value::Unknown
            }
            Op::Address(address) => self.address(address),
            Op::Binary { op, lhs, rhs, no_signed_wrap, .. } => {
                self.binary(*op, *lhs, *rhs, *no_signed_wrap, inst)
            }
            Op::Negate(value) => match self.operand(*value) {
                Value::Float(mut float) => {
                    float.known = float.known.map(|known| -known);
                    Value::Float(float)
                }
                _ => self.arith(inst.loc).unknown_float(),
            },
            Op::Compare { predicate, lhs, rhs } => {
                let bits = width(self.operand_ty(*lhs));
                let (lhs, rhs) = (self.operand(*lhs), self.operand(*rhs));
                self.note_other_holder(lhs, rhs);
                self.arith(inst.loc).compare(*predicate, lhs, rhs, bits)
            }
            Op::Convert(conversion) => {
                let from = self.operand_ty(conversion.value);
                let value = self.operand(conversion.value);
                self.arith(inst.loc).convert(conversion.kind, value, from, inst.ty)
            }
            Op::Select { condition, then, otherwise } => {
                self.select(*condition, *then, *otherwise, inst)
            }
            Op::MemCopy { to, from, size, .. } => {
                self.copy(*to, *from, *size, inst.loc);
                Value::Unknown
            }
            Op::MemSet { to, byte, size, .. } => {
                let (to, unit) = (self.operand(*to), self.operand(*byte));
                if let Some(size) = self.size_operand(*size) {
                    if let Value::Pointer { object, .. } = to {
                        self.note(What::Filled { object, byte: unit }, inst.loc);
                    }
                    self.write(to, size, Data::Fill { unit, width: 1 }, inst.loc);
                }
                Value::Unknown
            }
            Op::Bind { variable, value } => {
                let value = self.operand(*value);
                self.note(What::Bound { at: id, variable: *variable, value }, inst.loc);
                Value::Unknown
            }
            Op::AtomicUpdate { access, value, .. } => {
                let old = self.load(id, access, inst);
                let value = self.operand(*value);
                self.escape(value);
                let size = self.context.constant(i128::from(access.size));
                let ptr = self.operand(access.ptr);
                self.write(ptr, size, Data::Unknown { input: false }, inst.loc);
                old
            }
            Op::CompareExchange { access, .. } => {
                let size = self.context.constant(i128::from(access.size));
                let ptr = self.operand(access.ptr);
                self.write(ptr, size, Data::Unknown { input: false }, inst.loc);
                Value::Unknown
            }
            Op::Asm { args, .. } => {
                for arg in args {
                    let value = self.operand(*arg);
                    self.forget(value, inst.loc);
                }
                self.arith(inst.loc).unknown(inst.ty)
            }
            Op::Fence | Op::Phi(_) | Op::Call(_) => return,
            Op::Extract { aggregate, indices } => {
                match self.checked_arithmetic(*aggregate, indices, inst) {
                    Some(value) => value,
                    None => self.made_up(inst.ty, inst.ctype, inst.loc, SymbolKind::Unknown, ""),
                }
            }
            Op::Insert { .. } | Op::Opaque { .. } => {
                self.made_up(inst.ty, inst.ctype, inst.loc, SymbolKind::Unknown, "")
            }
        };
        if inst.ty != Ty::Void {
            self.state.top_mut().set(id, value);
        }
    }

    /// Who compares an allocated pointer with another one expects that others hold it, too.
    fn note_other_holder(&mut self, lhs: Value, rhs: Value) {
        let (Some((a, _)), Some((b, _))) = (lhs.as_pointer(), rhs.as_pointer()) else { return };
        if a != b {
            for (object, value) in [(a, lhs), (b, rhs)] {
                if let ObjectKind::Heap { .. } = self.state.memory.get(object).kind {
                    self.escape(value);
                }
            }
        }
    }

    /// A part of what `__builtin_add_overflow` and its like answer: the number as far as it
    /// fits, or whether it does not.
    fn checked_arithmetic(
        &mut self,
        aggregate: Operand,
        indices: &[u32],
        inst: &Inst,
    ) -> Option<Value> {
        let Operand::Inst(call) = aggregate else { return None };
        let Op::Call(call) = &self.body().insts[call].op else { return None };
        let Callee::Intrinsic(name) = &call.callee else { return None };
        let (name, _) = name.split_once(".with.overflow")?;
        let (signed, op) = name.split_at_checked(1)?;
        let (signed, [a, b]) = (signed == "s", &*call.args) else { return None };
        let bits = width(self.operand_ty(*a));
        let (a, b) = (self.operand(*a), self.operand(*b));
        let (a, b) = (self.arith(inst.loc).int(a)?, self.arith(inst.loc).int(b)?);
        let (a, b) = (self.context.wrap(a, bits, signed), self.context.wrap(b, bits, signed));
        let terms = &mut self.context.terms;
        let exact = match op {
            "add" => terms.add(a, b),
            "sub" => terms.sub(a, b),
            "mul" => terms.mul(a, b),
            _ => return None,
        };
        if indices == [0] {
            return Some(Value::Int(self.context.wrap(exact, bits, signed)));
        }
        let range = Interval::of_width(bits, signed);
        let (low, high) = (self.context.constant(range.low?), self.context.constant(range.high?));
        let fits = self.context.terms.within(exact, low, high);
        Some(Value::Bool(self.context.terms.not(fits)))
    }

    fn alloca(&mut self, id: InstId, inst: &Inst) -> Value {
        let Op::Alloca { variable, size, count } = &inst.op else { return Value::Unknown };
        let body = self.body();
        let unit = self.context.constant(i128::from(*size));
        let size = match count {
            None => Some(unit),
            Some(count) => {
                let bits = width(self.operand_ty(*count));
                let count = self.operand(*count);
                let term = self.arith(inst.loc).int(count);
                term.map(|term| {
                    let count = self.context.wrap(term, bits, false);
                    self.context.terms.mul(unit, count)
                })
            }
        };
        let (name, loc) = match variable {
            Some(variable) => {
                let variable = &body.variables[*variable];
                (&*variable.name, variable.loc)
            }
            None => ("a temporary", inst.loc),
        };
        let frame = self.state.top();
        let kind = ObjectKind::Local { frame: frame.number, function: frame.function, inst: id };
        let mut object = Object::new(kind, name, size, Content::Uninit(loc));
        object.loc = loc;
        let object = self.state.memory.add(object);
        Value::Pointer { object, offset: self.context.constant(0) }
    }

    fn load(&mut self, id: InstId, access: &Access, inst: &Inst) -> Value {
        let name = self.describe_access(access);
        let wanted = Wanted {
            ty: inst.ty,
            signed: is_signed(self.context, access.ctype),
            name: &name,
            loc: inst.loc,
            member: accessed_member(self.body(), access),
        };
        let ptr = self.operand(access.ptr);
        let Value::Pointer { object, offset } = ptr else {
            return make_up(self.context, &mut self.state.memory, wanted, SymbolKind::Unknown);
        };
        if let Ty::Aggregate(_) = inst.ty {
            // A record as a value is not followed: what it holds may be anywhere.
            self.escape_held(object);
        }
        self.assume_no_zero_passed(id, object, offset, access.size);
        let state = &mut *self.state;
        let mut reader =
            Reader { context: self.context, path: &mut state.path, memory: &mut state.memory };
        if access.is_volatile && !matches!(reader.memory.get(object).kind, ObjectKind::Local { .. })
        {
            return reader.make_up(wanted, SymbolKind::Unknown);
        }
        reader.read(object, offset, wanted)
    }

    /// A loop that goes on while it reads no zero has not gone past the end of a string.
    fn assume_no_zero_passed(&mut self, id: InstId, object: ObjectId, offset: TermId, size: u64) {
        let Some(Phase::Earlier { count } | Phase::Later { count }) =
            self.state.top().loops.last().map(|run| run.phase)
        else {
            return;
        };
        // Units that were read before stand on top of the string.
        let string = self.state.memory.get(object).writes().take(16).find_map(|write| {
            let Data::String { units, width, .. } = write.data else { return None };
            (width == size).then_some((write.offset, units))
        });
        let Some((start, units)) = string else { return };
        let bytes = self.context.terms.scale(i128::from(size), units);
        let end = self.context.terms.add(start, bytes);
        let counter = self.context.terms.symbol(count);
        let counter = self.context.terms.linear(counter).as_leaf();
        let moves = self.context.terms.linear(offset).terms.iter();
        let moves_on = moves.clone().any(|(leaf, by)| Some(*leaf) == counter && *by > 0);
        if moves_on && self.is_tested_for_zero(id) {
            let before = self.context.terms.compare(Comparison::Le, offset, end);
            self.state.path.assume(before, LocId::UNKNOWN, None);
        }
    }

    /// Whether the block that computes a value ends by asking whether it is zero.
    fn is_tested_for_zero(&self, id: InstId) -> bool {
        let body = self.body();
        let Terminator::Branch { condition: Operand::Inst(condition), .. } =
            body.blocks[body.insts[id].block].terminator
        else {
            return false;
        };
        let Op::Compare { predicate: Predicate::Eq | Predicate::Ne, lhs, rhs: Operand::Const(rhs) } =
            &body.insts[condition].op
        else {
            return false;
        };
        let mut tested = *lhs;
        while let Operand::Inst(inst) = tested
            && let Op::Convert(conversion) = &body.insts[inst].op
        {
            tested = conversion.value;
        }
        let constant = &self.context.program.constants[*rhs];
        tested == Operand::Inst(id)
            && matches!(constant, Const::Int { value: 0, .. } | Const::Zero(_))
    }

    fn store(&mut self, at: InstId, access: &Access, value: Operand, loc: LocId) {
        let ty = self.operand_ty(value);
        let (ptr, value) = (self.operand(access.ptr), self.operand(value));
        let size = self.context.constant(i128::from(access.size));
        if let Value::Pointer { object, offset } = ptr {
            let shape = Shape { ty, member: accessed_member(self.body(), access) };
            self.state.memory.stored(object, shape);
            self.note(What::Stored { at, object, offset, value }, loc);
            if self.state.memory.get(object).escaped {
                self.escape(value);
            }
        }
        self.write(ptr, size, Data::Value(value), loc);
    }

    pub fn write(&mut self, ptr: Value, len: TermId, data: Data, loc: LocId) {
        if let Value::Pointer { object, offset } = ptr {
            self.state.memory.get_mut(object).write(offset, len, data, loc);
        }
    }

    fn address(&mut self, address: &Address) -> Value {
        let base = self.operand(address.base);
        let mut sum = self.context.constant(i128::from(address.offset));
        for term in &address.terms {
            let bits = width(self.operand_ty(term.index));
            let index = self.operand(term.index);
            let Some(index) = self.arith(LocId::UNKNOWN).int(index) else {
                return Value::Unknown;
            };
            let index = self.context.wrap(index, bits, true);
            sum = self.context.terms.add_scaled(sum, i128::from(term.stride), index);
        }
        match base {
            Value::Pointer { object, offset } => {
                Value::Pointer { object, offset: self.context.terms.add(offset, sum) }
            }
            Value::Int(start) => Value::Int(self.context.terms.add(start, sum)),
            other => other,
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        lhs: Operand,
        rhs: Operand,
        nsw: bool,
        inst: &Inst,
    ) -> Value {
        let (lhs, rhs) = (self.operand(lhs), self.operand(rhs));
        if op == BinaryOp::Sub
            && let Some(distance) = self.distance(lhs, rhs, inst.loc)
        {
            return Value::Int(distance);
        }
        let value = self.arith(inst.loc).binary(op, lhs, rhs, inst.ty, nsw);
        // Where the fault itself is followed, the machine goes on with what it makes of it.
        let overflows_are_undefined = nsw
            && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
            && !self.state.wrong.iter().any(|wrong| wrong.is_pending);
        if let (true, Value::Int(term), Ty::Int(bits)) = (overflows_are_undefined, value, inst.ty) {
            let range = logic::Interval::of_width(bits, true);
            if let (false, Some(low), Some(high)) =
                (self.context.terms.range(term).is_within(range), range.low, range.high)
            {
                let (low, high) = (self.context.constant(low), self.context.constant(high));
                let within = self.context.terms.within(term, low, high);
                self.state.path.assume(within, LocId::UNKNOWN, None);
                self.context.declare_exact(term, bits);
            }
        }
        value
    }

    /// How far apart two pointers found in memory from outside are. C allows the question
    /// only where both lead into one buffer, and it is mostly asked of the later one.
    fn distance(&mut self, lhs: Value, rhs: Value, loc: LocId) -> Option<TermId> {
        let ((a, x), (b, y)) = (lhs.as_pointer()?, rhs.as_pointer()?);
        if a == b {
            return None;
        }
        let (to, from) = (self.position(a, loc)?, self.position(b, loc)?);
        let (to, from) = (self.context.terms.add(to, x), self.context.terms.add(from, y));
        let distance = self.context.terms.sub(to, from);
        let (low, high) = (self.context.constant(0), self.context.constant(MAX_LENGTH));
        let within = self.context.terms.within(distance, low, high);
        self.state.path.assume(within, LocId::UNKNOWN, None);
        Some(distance)
    }

    fn position(&mut self, object: ObjectId, loc: LocId) -> Option<TermId> {
        let info = self.state.memory.get(object);
        if !info.is_outside {
            return None;
        }
        if let Some(position) = info.position {
            return Some(position);
        }
        let name = info.name.trim_start_matches('*').to_owned();
        let range = Interval::new(0, MAX_LENGTH);
        let position = self.context.fresh(range, SymbolKind::Chosen, name, loc);
        self.state.memory.get_mut(object).position = Some(position);
        Some(position)
    }

    fn select(
        &mut self,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
        inst: &Inst,
    ) -> Value {
        let condition = self.operand(condition);
        let condition = self.arith(inst.loc).truth(condition);
        let (a, b) = (self.operand(then), self.operand(otherwise));
        let negation = self.context.terms.not(condition);
        if a == b || self.context.prove(&self.state.path, condition) {
            return a;
        }
        if self.context.prove(&self.state.path, negation) {
            return b;
        }
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => {
                let terms = &mut self.context.terms;
                let (then, otherwise) = (terms.and(&[condition, a]), terms.and(&[negation, b]));
                Value::Bool(terms.or(&[then, otherwise]))
            }
            (Value::Int(a), Value::Int(b)) if inst.ty != Ty::Ptr => {
                match self.independent_choice(condition, a, b, inst.loc) {
                    Some(value) => value,
                    None => Value::Int(self.context.terms.choice(condition, a, b)),
                }
            }
            _ => self.made_up(inst.ty, inst.ctype, inst.loc, SymbolKind::Unknown, ""),
        }
    }

    /// One of two values from outside, picked by something else from outside: any value of
    /// their range.
    fn independent_choice(
        &mut self,
        condition: logic::FormulaId,
        a: TermId,
        b: TermId,
        loc: LocId,
    ) -> Option<Value> {
        let zero = self.context.constant(0);
        let (is_a, is_b) = (
            self.context.terms.compare(Comparison::Eq, a, zero),
            self.context.terms.compare(Comparison::Eq, b, zero),
        );
        let deciding = self.context.symbols_in(condition);
        let mut picked = self.context.symbols_in(is_a).to_vec();
        picked.extend(self.context.symbols_in(is_b).iter());
        let is_chosen =
            |symbol: &logic::SymbolId| self.context.symbols.get(*symbol).kind == SymbolKind::Chosen;
        let independent = !picked.is_empty()
            && picked.iter().chain(deciding.iter()).all(is_chosen)
            && !picked.iter().any(|symbol| deciding.contains(symbol));
        let domain = self.context.terms.range(a).join(self.context.terms.range(b));
        independent.then(|| Value::Int(self.context.fresh(domain, SymbolKind::Chosen, "", loc)))
    }

    pub fn size_operand(&mut self, size: Operand) -> Option<TermId> {
        let bits = width(self.operand_ty(size));
        let value = self.operand(size);
        let term = self.arith(LocId::UNKNOWN).int(value)?;
        Some(self.context.wrap(term, bits, false))
    }

    fn copy(&mut self, to: Operand, from: Operand, size: Operand, loc: LocId) {
        let (to, from) = (self.operand(to), self.operand(from));
        let Some(size) = self.size_operand(size) else { return };
        self.copy_bytes(to, from, size, loc);
    }

    pub fn copy_bytes(&mut self, to: Value, from: Value, size: TermId, loc: LocId) {
        let data = match from {
            Value::Pointer { object, offset } => {
                Data::Copy { from: self.state.memory.snapshot(object), offset }
            }
            _ => Data::Unknown { input: false },
        };
        self.write(to, size, data, loc);
    }

    /// Whether a pointer is the null that a macro has for the case that its argument is not
    /// what it should be: `i < n ? a[i] : NULL`. It has that for all who use it.
    pub fn is_null_of_macro(&self, phi: InstId, from: BlockId) -> bool {
        let (inst, locs) = (&self.body().insts[phi], &self.context.program.locs);
        let is_in_body = |loc: LocId| matches!(locs[loc].origin, program::Origin::Body(_));
        let Op::Phi(operands) = &inst.op else { return false };
        inst.ty == Ty::Ptr
            && is_in_body(inst.loc)
            && operands.iter().any(|(block, operand)| {
                *block == from
                    && matches!(operand, Operand::Const(id)
                        if matches!(self.context.program.constants[*id],
                            Const::Null | Const::Zero(_)))
            })
    }

    /// A null pointer nobody says occurs here.
    pub fn null_without_evidence(&mut self, phi: InstId) -> Value {
        let inst = &self.body().insts[phi];
        let value = self.made_up(inst.ty, inst.ctype, inst.loc, SymbolKind::Unknown, "");
        if let Value::Pointer { object, .. } = value {
            let (null, frame) = (self.state.memory.get(object).null, self.state.top().number);
            self.state.path.assume_without_evidence(null, inst.loc, frame);
        }
        value
    }

    pub fn made_up(
        &mut self,
        ty: Ty,
        ctype: TypeId,
        loc: LocId,
        kind: SymbolKind,
        name: &str,
    ) -> Value {
        let signed = is_signed(self.context, ctype);
        let wanted = Wanted { ty, signed, name, loc, member: None };
        make_up(self.context, &mut self.state.memory, wanted, kind)
    }

    /// Code that cannot be followed got hold of this pointer and may have written to what it
    /// leads to.
    pub fn forget(&mut self, value: Value, loc: LocId) {
        if let Value::Pointer { object, .. } = value {
            self.forget_object(object, loc);
            self.escape(value);
        }
    }

    pub fn forget_object(&mut self, object: ObjectId, loc: LocId) {
        let program = self.context.program;
        let is_constant = match self.state.memory.get(object).kind {
            ObjectKind::Global(global) => {
                program.globals[global].is_constant || is_empty_string(program, global)
            }
            _ => false,
        };
        if !is_constant {
            // What it held may be held elsewhere now, or be gone.
            self.escape_held(object);
            self.state.memory.get_mut(object).forget(Content::Unknown, loc);
        }
    }

    /// Code that cannot be followed was handed the address of a pointer: what that leads to may
    /// have been written to as well.
    pub fn forget_held_pointees(&mut self, value: Value, loc: LocId) {
        let Some((holder, _)) = value.as_pointer() else { return };
        if !matches!(self.state.memory.get(holder).kind, ObjectKind::Local { .. }) {
            return;
        }
        for value in self.held_by(holder) {
            if let Value::Pointer { object, .. } = value
                && self.state.memory.get(object).kind == ObjectKind::Pointee
            {
                self.forget_object(object, loc);
            }
        }
    }

    /// The pointers an object holds.
    fn held_by(&self, object: ObjectId) -> Vec<Value> {
        let writes = self.state.memory.get(object).writes();
        let held = writes.filter_map(|write| match write.data {
            Data::Value(value @ Value::Pointer { .. }) => Some(value),
            _ => None,
        });
        held.collect()
    }

    /// The pointer is now known outside the path.
    pub fn escape(&mut self, value: Value) {
        let Value::Pointer { object, .. } = value else { return };
        if self.state.memory.get(object).escaped {
            return;
        }
        self.state.memory.get_mut(object).escaped = true;
        self.escape_held(object);
    }

    /// The pointers an object holds are now known outside the path.
    pub(super) fn escape_held(&mut self, object: ObjectId) {
        for value in self.held_by(object) {
            self.escape(value);
        }
    }

    pub fn note(&mut self, what: What, loc: LocId) {
        let (function, depth) = (self.state.top().function, self.state.depth());
        self.state.trail.push(what, loc, function, depth);
    }

    /// The pointed-to place in C terms, as far as that is cheap to say.
    fn describe_access(&mut self, access: &Access) -> String {
        describe_place(self.context, self.body(), self.state.top().function, access.ptr, 0)
    }

    /// Whether `term` is zero on the whole path.
    pub fn is_certainly_zero(&mut self, term: TermId) -> bool {
        let zero = self.context.constant(0);
        let equal = self.context.terms.compare(Comparison::Eq, term, zero);
        equal == Terms::TRUE || self.context.prove(&self.state.path, equal)
    }
}

/// The lvalue that an address leads to, in C terms; empty where it has no short name.
pub fn describe_place(
    context: &Context,
    body: &Body,
    function: program::FunctionId,
    ptr: Operand,
    depth: u32,
) -> String {
    match ptr {
        Operand::Const(id) => match &context.program.constants[id] {
            program::Const::Global { global, offset: 0 } => {
                context.program.globals[*global].name.to_string()
            }
            _ => String::new(),
        },
        Operand::Inst(inst) if depth < 4 => match &body.insts[inst].op {
            Op::Alloca { variable: Some(variable), .. } => {
                body.variables[*variable].name.to_string()
            }
            Op::Address(address) => {
                let Some(program::PathStep::Field { record, member }) = address.path.last() else {
                    return String::new();
                };
                let record = &context.program.records[*record];
                let Some(member) = record.members.get(*member as usize) else {
                    return String::new();
                };
                let base = describe_value(context, body, function, address.base, depth + 1);
                if base.is_empty() {
                    member.name.to_string()
                } else {
                    format!("{base}->{}", member.name)
                }
            }
            _ => {
                let base = describe_value(context, body, function, ptr, depth + 1);
                if base.is_empty() { base } else { format!("*{base}") }
            }
        },
        _ => {
            let base = describe_value(context, body, function, ptr, depth + 1);
            if base.is_empty() { base } else { format!("*{base}") }
        }
    }
}

/// A value in C terms: the variable it was assigned to, or the place it was read from.
pub fn describe_value(
    context: &Context,
    body: &Body,
    function: program::FunctionId,
    value: Operand,
    depth: u32,
) -> String {
    match value {
        Operand::Param(index) => {
            let param = context.program.functions[function].params.get(index as usize);
            match param.and_then(|param| param.variable) {
                Some(variable) => body.variables[variable].name.to_string(),
                None => String::new(),
            }
        }
        Operand::Inst(inst) if depth < 4 => match &body.insts[inst].op {
            Op::Load(access) => describe_place(context, body, function, access.ptr, depth + 1),
            Op::Convert(conversion) => {
                describe_value(context, body, function, conversion.value, depth + 1)
            }
            _ => match bound_variable(body, inst) {
                Some(variable) => body.variables[variable].name.to_string(),
                None => String::new(),
            },
        },
        _ => String::new(),
    }
}

/// The variable an instruction's value is assigned to right after it.
fn bound_variable(body: &Body, inst: InstId) -> Option<program::VarId> {
    let end = body.blocks[body.insts[inst].block].end;
    (inst.0..end.0.min(inst.0 + 6)).find_map(|id| match &body.insts[InstId(id)].op {
        Op::Bind { variable, value: Operand::Inst(value) } if *value == inst => Some(*variable),
        _ => None,
    })
}

pub fn width(ty: Ty) -> u32 {
    match ty {
        Ty::Int(bits) => bits,
        _ => 64,
    }
}

/// Whether a C type is read as a signed number; unknown types are.
pub fn is_signed(context: &Context, ctype: TypeId) -> bool {
    spec::text::is_signed_type(context.program, ctype)
}
