//! A loop at some later iteration: counters in closed form, written memory forgotten as
//! far as the earlier iterations may have written it.

use facts::cfg::{Cfg, LoopId};
use facts::loops::{FunctionLoops, Induction, Step};
use logic::{Comparison, Interval, SymbolId, TermId};
use program::{
    BinaryOp, BlockId, Body, Call, InstId, LocId, Op, Operand, Predicate, Terminator, Ty,
};

use super::access::global_object;
use super::context::Context;
use super::exec::{Exec, width};
use super::memory::{Data, ObjectId};
use super::state::State;
use super::symbols::SymbolKind;
use super::value::Value;
use crate::effects::{Effect, Extent};
use crate::exits;
use facts::members::accessed_member;
use facts::wraps::constant;

/// A loop about to be entered in `state`, whose top frame stands before the header's phis.
pub struct Entry<'a> {
    pub body: &'a Body,
    pub cfg: &'a Cfg,
    pub loops: &'a FunctionLoops,
    pub id: LoopId,
    /// The block control comes from.
    pub from: BlockId,
}

impl Entry<'_> {
    /// Turns `state` into one in the middle of the loop, `count` iterations later. The
    /// header's phis have run.
    pub fn generalise(
        &self,
        context: &mut Context,
        state: &mut State,
        effects: &dyn Fn(&Call) -> Effect,
    ) -> SymbolId {
        let loc = self.body.blocks[self.header()].loc;
        let count =
            context.fresh(Interval::new(0, i128::from(i32::MAX)), SymbolKind::Iterations, "", loc);
        let symbol = context.terms.as_symbol(count).expect("a fresh symbol is a symbol");
        let mut exec = Exec { context, state };
        let later = self.phi_values(&mut exec, count);
        self.forget_written(&mut exec, count, effects);
        for (phi, value) in later {
            exec.state.top_mut().set(phi, value);
        }
        symbol
    }

    fn header(&self) -> BlockId {
        self.cfg.loops.loops[self.id].header
    }

    fn phi_values(&self, exec: &mut Exec, count: TermId) -> Vec<(InstId, Value)> {
        let mut values = Vec::new();
        for id in self.body.blocks[self.header()].inst_ids() {
            let inst = &self.body.insts[id];
            let Op::Phi(_) = &inst.op else { break };
            let value = match self.loops.loops[self.id].induction(id) {
                Some(induction) => self.closed_form(exec, induction, count),
                None => None,
            };
            let value = value.unwrap_or_else(|| {
                // A pointer that walks along a list may lead to anything its start leads to.
                if let Some(start @ Value::Pointer { .. }) = self.incoming(exec, id) {
                    exec.escape(start);
                }
                let kind = self.kind_of(exec, Operand::Inst(id));
                exec.made_up(inst.ty, inst.ctype, inst.loc, kind, "")
            });
            values.push((id, value));
        }
        values
    }

    fn incoming(&self, exec: &mut Exec, phi: InstId) -> Option<Value> {
        let Op::Phi(operands) = &self.body.insts[phi].op else { return None };
        let (_, operand) = operands.iter().find(|(from, _)| *from == self.from)?;
        Some(exec.operand(*operand))
    }

    fn closed_form(&self, exec: &mut Exec, induction: &Induction, count: TermId) -> Option<Value> {
        let start = self.incoming(exec, induction.phi)?;
        let change = match induction.step {
            Step::Constant(step) => exec.context.terms.scale(step, count),
            Step::Plus(by) | Step::Minus(by) => {
                let bits = width(exec.operand_ty(by));
                let Value::Int(by) = exec.operand(by) else { return None };
                let by = exec.context.wrap(by, bits, true);
                let change = exec.context.terms.mul(by, count);
                match induction.step {
                    Step::Minus(_) => exec.context.terms.negate(change),
                    _ => change,
                }
            }
        };
        match start {
            Value::Int(start) if !induction.is_pointer => {
                let ty = self.body.insts[induction.phi].ty;
                let signed = self.counts_signed(induction.phi);
                let start = exec.context.wrap(start, width(ty), signed);
                let term = exec.context.terms.add(start, change);
                if let Step::Constant(step) = induction.step {
                    self.assume_bound_not_passed(exec, induction.phi, (start, term), step);
                }
                if signed {
                    self.assume_no_overflow(exec, term, width(ty));
                } else if let Step::Constant(step @ ..0) = induction.step
                    && self.never_passes_zero(exec, induction.phi, -step)
                {
                    let zero = exec.context.constant(0);
                    let counts = exec.context.terms.compare(Comparison::Ge, term, zero);
                    exec.state.path.assume(counts, LocId::UNKNOWN, None);
                }
                Some(Value::Int(term))
            }
            Value::Pointer { object, offset } => {
                let moved = exec.context.terms.add(offset, change);
                if let Step::Constant(step) = induction.step {
                    self.assume_bound_not_passed(exec, induction.phi, (offset, moved), step);
                }
                Some(Value::Pointer { object, offset: moved })
            }
            _ => None,
        }
    }

    /// A counter that moves by `step` towards a value that ends the loop does not pass it.
    fn assume_bound_not_passed(
        &self,
        exec: &mut Exec,
        phi: InstId,
        (start, now): (TermId, TermId),
        step: i128,
    ) {
        let Some(bound) = self.equal_bound(exec, phi) else { return };
        let apart = exec.context.terms.sub(bound, start);
        let linear = exec.context.terms.linear(apart);
        let meets = step != 0
            && linear.constant % step == 0
            && linear.terms.iter().all(|(_, factor)| factor % step == 0);
        if !meets {
            return;
        }
        let comparison = if step < 0 { Comparison::Ge } else { Comparison::Le };
        let is_ahead = exec.context.terms.compare(comparison, start, bound);
        if exec.context.prove(&exec.state.path, is_ahead) {
            let not_passed = exec.context.terms.compare(comparison, now, bound);
            exec.state.path.assume(not_passed, LocId::UNKNOWN, None);
        }
    }

    /// What the loop compares a counter with for equality to end, in the counter's own terms:
    /// a number, or the offset of a pointer into the same object.
    fn equal_bound(&self, exec: &mut Exec, phi: InstId) -> Option<TermId> {
        for block in self.cfg.loops.blocks(self.id) {
            let Terminator::Branch { condition: Operand::Inst(condition), .. } =
                self.body.blocks[block].terminator
            else {
                continue;
            };
            let Op::Compare { predicate: Predicate::Eq | Predicate::Ne, lhs, rhs } =
                self.body.insts[condition].op
            else {
                continue;
            };
            let other = match (lhs, rhs) {
                (counter, other) | (other, counter) if counter == Operand::Inst(phi) => other,
                _ => continue,
            };
            if !exits::decides(self.body, self.cfg, self.id, block) {
                continue;
            }
            let counter = self.incoming(exec, phi)?;
            match (self.invariant(exec, other), counter) {
                (Some(Value::Int(bound)), Value::Int(_)) => return Some(bound),
                (Some(Value::Pointer { object, offset }), Value::Pointer { object: same, .. })
                    if object == same =>
                {
                    return Some(offset);
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the loop takes `step` off an unsigned counter only while there is as much left.
    fn never_passes_zero(&self, exec: &Exec, phi: InstId, step: i128) -> bool {
        let program = exec.context.program;
        self.cfg.loops.blocks(self.id).into_iter().any(|block| {
            let Terminator::Branch { condition: Operand::Inst(condition), .. } =
                self.body.blocks[block].terminator
            else {
                return false;
            };
            let Op::Compare { predicate, lhs, rhs } = &self.body.insts[condition].op else {
                return false;
            };
            let Some(bound) = constant(program, self.body, *rhs) else { return false };
            let is_enough = match predicate {
                Predicate::Eq | Predicate::Ne => bound == 0 && step == 1,
                Predicate::UnsignedGt | Predicate::UnsignedLe => bound >= step - 1,
                Predicate::UnsignedGe | Predicate::UnsignedLt => bound >= step,
                _ => false,
            };
            is_enough
                && *lhs == Operand::Inst(phi)
                && exits::decides(self.body, self.cfg, self.id, block)
        })
    }

    /// Whether the counter is one whose overflow would be undefined.
    fn counts_signed(&self, phi: InstId) -> bool {
        let Op::Phi(operands) = &self.body.insts[phi].op else { return false };
        operands.iter().any(|(_, operand)| match operand {
            Operand::Inst(next) => matches!(
                self.body.insts[*next].op,
                Op::Binary { op: BinaryOp::Add | BinaryOp::Sub, no_signed_wrap: true, .. }
            ),
            _ => false,
        })
    }

    fn assume_no_overflow(&self, exec: &mut Exec, term: TermId, bits: u32) {
        let range = Interval::of_width(bits, true);
        if exec.context.terms.range(term).is_within(range) {
            return;
        }
        let (Some(low), Some(high)) = (range.low, range.high) else { return };
        let (low, high) = (exec.context.constant(low), exec.context.constant(high));
        let within = exec.context.terms.within(term, low, high);
        exec.state.path.assume(within, LocId::UNKNOWN, None);
        exec.context.declare_exact(term, bits);
    }

    fn forget_written(&self, exec: &mut Exec, count: TermId, effects: &dyn Fn(&Call) -> Effect) {
        let mut written = Written::default();
        for block in self.cfg.loops.blocks(self.id) {
            for id in self.body.blocks[block].inst_ids() {
                match &self.body.insts[id].op {
                    Op::Store { access, value } => {
                        self.stored(
                            exec,
                            access.ptr,
                            access.size,
                            Some(*value),
                            count,
                            &mut written,
                        );
                    }
                    Op::AtomicUpdate { access, .. } | Op::CompareExchange { access, .. } => {
                        self.stored(exec, access.ptr, access.size, None, count, &mut written);
                    }
                    Op::UninitMemory { ptr, .. }
                    | Op::MemCopy { to: ptr, .. }
                    | Op::MemSet { to: ptr, .. } => self.touched(exec, *ptr, &mut written),
                    Op::Call(call) => self.called(exec, call, &effects(call), &mut written),
                    Op::Asm { .. } => written.anything = true,
                    _ => {}
                }
            }
        }
        written.apply(exec, self.body.blocks[self.header()].loc);
    }

    fn called(&self, exec: &mut Exec, call: &Call, effect: &Effect, written: &mut Written) {
        for (index, extent) in &effect.args {
            let Some(arg) = call.args.get(*index) else { continue };
            match (extent, self.invariant(exec, *arg)) {
                (Extent::Pieces(pieces), Some(Value::Pointer { object, offset })) => {
                    for (from, to) in pieces {
                        let start = exec.context.terms.add_constant(offset, i128::from(*from));
                        let size = exec.context.constant(i128::from(to - from));
                        let data = Data::Unknown { input: false };
                        written.pieces.push((object, start, size, data));
                    }
                }
                _ => self.touched(exec, *arg, written),
            }
        }
        for global in &effect.globals {
            written.objects.push(global_object(exec.context, &mut exec.state.memory, *global));
        }
        if effect.anything {
            call.args.iter().for_each(|arg| self.touched(exec, *arg, written));
            written.anything = true;
        }
    }

    /// A store in the loop, whose address may move with the counters.
    fn stored(
        &self,
        exec: &mut Exec,
        ptr: Operand,
        size: u64,
        value: Option<Operand>,
        count: TermId,
        written: &mut Written,
    ) {
        let zero = exec.context.constant(0);
        let first = self.evaluate(exec, ptr, zero, 0);
        let now = self.evaluate(exec, ptr, count, 0);
        let (
            Some(Value::Pointer { object, offset: first }),
            Some(Value::Pointer { offset: now, .. }),
        ) = (first, now)
        else {
            return self.touched(exec, ptr, written);
        };
        let moved = exec.context.terms.sub(now, first);
        let linear = exec.context.terms.linear(moved).clone();
        let counter = exec.context.terms.linear(count).as_leaf();
        let stride = match linear.terms.as_slice() {
            [] if linear.constant == 0 => 0,
            [(leaf, stride)] if linear.constant == 0 && Some(*leaf) == counter => *stride,
            _ => return self.touched(exec, ptr, written),
        };
        let bytes = exec.context.constant(i128::from(size));
        let kind = value.map_or(SymbolKind::Unknown, |value| self.kind_of(exec, value));
        let anything = match kind {
            SymbolKind::Lost => Data::Lost,
            _ => Data::Unknown { input: false },
        };
        if stride == 0 {
            written.pieces.push((object, first, bytes, anything));
            return;
        }
        let is_dense = stride.unsigned_abs() == u128::from(size);
        let unit = value.and_then(|value| self.invariant(exec, value));
        let source = match value {
            Some(value) if is_dense && stride > 0 => self.copied(exec, value, size, count),
            _ => None,
        };
        let data = match (unit, source) {
            (Some(unit), _) if is_dense => Data::Fill { unit, width: size },
            (None, Some((from, start))) if from != object => {
                written.sources.push(from);
                Data::Copy { from: exec.state.memory.snapshot(from), offset: start }
            }
            _ => anything,
        };
        let len = exec.context.terms.scale(stride.abs(), count);
        let start = if stride > 0 { first } else { exec.context.terms.add_constant(now, -stride) };
        written.pieces.push((object, start, len, data));
    }

    /// Where a value stored by the loop was read, if each iteration reads the next one:
    /// `to[i] = from[i]` copies memory.
    fn copied(
        &self,
        exec: &mut Exec,
        value: Operand,
        size: u64,
        count: TermId,
    ) -> Option<(ObjectId, TermId)> {
        let Operand::Inst(id) = value else { return None };
        let inst = &self.body.insts[id];
        let access = match &inst.op {
            Op::Load(access) if access.size == size && !access.is_volatile => access,
            _ => return None,
        };
        if !self.cfg.loops.contains(self.id, inst.block) {
            return None;
        }
        let zero = exec.context.constant(0);
        let first = self.evaluate(exec, access.ptr, zero, 0)?;
        let now = self.evaluate(exec, access.ptr, count, 0)?;
        let (object, first) = first.as_pointer()?;
        let (same, now) = now.as_pointer()?;
        let moved = exec.context.terms.sub(now, first);
        let by = exec.context.terms.scale(i128::from(size), count);
        (object == same && moved == by).then_some((object, first))
    }

    /// The value of an operand that is the same in every iteration.
    fn invariant(&self, exec: &mut Exec, operand: Operand) -> Option<Value> {
        match operand {
            Operand::Inst(inst)
                if self.cfg.loops.contains(self.id, self.body.insts[inst].block) =>
            {
                None
            }
            _ => Some(exec.operand(operand)),
        }
    }

    /// The operand's value at iteration `count`, as far as counters and invariants decide it.
    fn evaluate(
        &self,
        exec: &mut Exec,
        operand: Operand,
        count: TermId,
        depth: u32,
    ) -> Option<Value> {
        let Operand::Inst(id) = operand else { return Some(exec.operand(operand)) };
        let inst = &self.body.insts[id];
        if !self.cfg.loops.contains(self.id, inst.block) {
            return Some(exec.operand(operand));
        }
        if depth > 12 {
            return None;
        }
        match &inst.op {
            Op::Phi(_) if inst.block == self.header() => {
                let induction = self.loops.loops[self.id].induction(id)?;
                self.closed_form(exec, induction, count)
            }
            Op::Convert(conversion) => {
                let from = exec.operand_ty(conversion.value);
                let value = self.evaluate(exec, conversion.value, count, depth + 1)?;
                let Value::Int(term) = value else { return Some(value) };
                let _ = term;
                let mut arith = super::arith::Arith {
                    context: exec.context,
                    memory: &exec.state.memory,
                    loc: inst.loc,
                };
                Some(arith.convert(conversion.kind, value, from, inst.ty))
            }
            Op::Binary { op, lhs, rhs, no_signed_wrap, .. } => {
                let lhs = self.evaluate(exec, *lhs, count, depth + 1)?;
                let rhs = self.evaluate(exec, *rhs, count, depth + 1)?;
                let mut arith = super::arith::Arith {
                    context: exec.context,
                    memory: &exec.state.memory,
                    loc: inst.loc,
                };
                let value = arith.binary(*op, lhs, rhs, inst.ty, *no_signed_wrap);
                if let (true, Value::Int(term), Ty::Int(bits)) = (*no_signed_wrap, value, inst.ty) {
                    exec.context.declare_exact(term, bits);
                }
                Some(value)
            }
            Op::Address(address) => {
                let base = self.evaluate(exec, address.base, count, depth + 1)?;
                let mut sum = exec.context.constant(i128::from(address.offset));
                for term in &address.terms {
                    let bits = width(exec.operand_ty(term.index));
                    let Value::Int(index) = self.evaluate(exec, term.index, count, depth + 1)?
                    else {
                        return None;
                    };
                    let index = exec.context.wrap(index, bits, true);
                    sum = exec.context.terms.add_scaled(sum, i128::from(term.stride), index);
                }
                let Value::Pointer { object, offset } = base else { return None };
                Some(Value::Pointer { object, offset: exec.context.terms.add(offset, sum) })
            }
            _ => None,
        }
    }

    /// Something behind this pointer is written; where is not known.
    fn touched(&self, exec: &mut Exec, ptr: Operand, written: &mut Written) {
        let mut roots = Roots::default();
        self.add_roots(exec, ptr, &mut roots);
        for value in roots.found {
            if let Value::Pointer { object, .. } = value {
                written.objects.push(object);
            }
        }
        written.anything |= roots.is_open;
    }

    /// The pointers that `ptr` may be derived from, as they are outside the loop.
    pub(super) fn add_roots(&self, exec: &mut Exec, ptr: Operand, roots: &mut Roots) {
        const MAX_SEEN: usize = 32;
        let Operand::Inst(id) = ptr else { return roots.found.push(exec.operand(ptr)) };
        let inst = &self.body.insts[id];
        if !self.cfg.loops.contains(self.id, inst.block) {
            return roots.found.push(exec.operand(ptr));
        }
        if roots.seen.contains(&id) {
            return;
        }
        roots.seen.push(id);
        if roots.seen.len() > MAX_SEEN {
            roots.is_open = true;
            return;
        }
        match &inst.op {
            Op::Address(address) => self.add_roots(exec, address.base, roots),
            Op::Convert(conversion) => self.add_roots(exec, conversion.value, roots),
            Op::Phi(operands) => {
                let from_here =
                    |from: &BlockId| *from == self.from || self.cfg.loops.contains(self.id, *from);
                for (_, operand) in operands.iter().filter(|(from, _)| from_here(from)) {
                    self.add_roots(exec, *operand, roots);
                }
            }
            Op::Select { then, otherwise, .. } => {
                self.add_roots(exec, *then, roots);
                self.add_roots(exec, *otherwise, roots);
            }
            Op::Alloca { .. } => roots.found.push(exec.operand(ptr)),
            Op::Load(access) => {
                let mut holders =
                    Roots { seen: std::mem::take(&mut roots.seen), ..Roots::default() };
                self.add_roots(exec, access.ptr, &mut holders);
                roots.seen = holders.seen;
                roots.is_open |= holders.is_open;
                for holder in holders.found {
                    // A pointer variable in memory that the loop reads: what it holds now.
                    let Value::Pointer { object, offset } = holder else { continue };
                    let wanted = super::access::Wanted {
                        ty: inst.ty,
                        signed: false,
                        name: "",
                        loc: inst.loc,
                        member: accessed_member(self.body, access),
                    };
                    let state = &mut *exec.state;
                    let mut reader = super::access::Reader {
                        context: exec.context,
                        path: &mut state.path,
                        memory: &mut state.memory,
                    };
                    roots.found.push(reader.read(object, offset, wanted));
                }
            }
            _ => roots.is_open = true,
        }
    }
}

/// Where pointers of a loop come from.
#[derive(Default)]
pub(super) struct Roots {
    pub(super) found: Vec<Value>,
    seen: Vec<InstId>,
    /// They may come from elsewhere, too.
    pub(super) is_open: bool,
}

#[derive(Default)]
struct Written {
    pieces: Vec<(ObjectId, TermId, TermId, Data)>,
    objects: Vec<ObjectId>,
    /// What the loop copies from: good as long as it does not write there as well.
    sources: Vec<ObjectId>,
    anything: bool,
}

impl Written {
    fn apply(self, exec: &mut Exec, loc: LocId) {
        if self.anything {
            let escaped: Vec<ObjectId> =
                exec.state.memory.ids().filter(|id| exec.state.memory.get(*id).escaped).collect();
            for object in escaped {
                exec.forget_object(object, loc);
            }
        }
        for object in &self.objects {
            exec.forget_object(*object, loc);
        }
        let changes = |source: &ObjectId| {
            self.objects.contains(source)
                || self.pieces.iter().any(|(object, ..)| object == source)
                || (self.anything && exec.state.memory.get(*source).escaped)
        };
        let sources_change = self.sources.iter().any(changes);
        for (object, offset, len, mut data) in self.pieces {
            if sources_change && matches!(data, Data::Copy { .. }) {
                data = Data::Unknown { input: false };
            }
            if !self.objects.contains(&object) {
                if matches!(data, Data::Unknown { .. } | Data::Lost) {
                    exec.escape_held(object);
                }
                exec.state.memory.get_mut(object).write(offset, len, data, loc);
            }
        }
    }
}
