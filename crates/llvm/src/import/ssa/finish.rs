//! Numbers what is left of a body and lays it out as the model wants it.

use program::{Access, Block, BlockId, Body, Inst, InstId, LocId, Op, Operand, Ty, TypeId, VarId};

use super::super::raw::RawOp;
use super::super::reader::{Corrupt, Read};
use super::Flow;
use super::rename::Renamed;

pub fn finish(mut renamed: Renamed, flow: &Flow) -> Read<Body> {
    let is_used = used_values(&renamed);
    let new_ids = number(&renamed, &is_used);
    let variables = std::mem::take(&mut renamed.raw.variables);
    let mut body = Body { variables, ..Body::default() };
    for block in 0..renamed.raw.blocks.len() {
        let first = body.insts.next_id();
        Layout { renamed: &mut renamed, is_used: &is_used, body: &mut body }.block(block as u32);
        let raw = &mut renamed.raw.blocks[block];
        let (terminator, loc) = (raw.terminator.clone(), raw.loc);
        let predecessors = flow.predecessors[block].iter().map(|source| BlockId(*source)).collect();
        let end = body.insts.next_id();
        body.blocks.push(Block { first, end, terminator, loc, predecessors });
    }
    rewrite_operands(&mut body, &renamed, &new_ids)?;
    Ok(body)
}

/// Values that something reads. An indeterminate value nobody reads is not worth a word.
fn used_values(renamed: &Renamed) -> Vec<bool> {
    let n_values = renamed.entry_value(renamed.slots.len() as u32) as usize;
    let mut is_used = vec![false; n_values];
    let mut mark = |operand: Operand| {
        if let Operand::Inst(id) = renamed.resolve(operand) {
            is_used[id.0 as usize] = true;
        }
    };
    for inst in &renamed.raw.insts {
        if let RawOp::Op(op) = &inst.op {
            op.for_each_operand(&mut mark);
        }
    }
    for phi in renamed.phis.iter().flatten() {
        phi.edges.iter().for_each(|(_, value)| mark(*value));
    }
    for block in &renamed.raw.blocks {
        block.terminator.operand().into_iter().for_each(&mut mark);
    }
    is_used
}

/// What becomes of one of the stream's instructions.
enum Fate {
    Dropped,
    Kept,
    /// An indeterminate value and its store: a declared scalar that stays in memory.
    StoredUninit,
}

fn fate(renamed: &Renamed, is_used: &[bool], at: u32) -> Fate {
    match &renamed.raw.insts[at as usize].op {
        RawOp::Gone => Fate::Dropped,
        RawOp::Op(Op::Uninit { .. }) if !is_used[at as usize] => Fate::Dropped,
        RawOp::Op(_) => Fate::Kept,
        RawOp::Declare { storage, .. } => match declared_storage(renamed, *storage) {
            Some(Storage::Scalar(_)) => Fate::StoredUninit,
            Some(Storage::Object(_)) => Fate::Kept,
            None => Fate::Dropped,
        },
    }
}

enum Storage {
    Scalar(Ty),
    Object(u64),
}

fn declared_storage(renamed: &Renamed, storage: Operand) -> Option<Storage> {
    match storage {
        Operand::Inst(id) => {
            if let Some(ty) = renamed.raw.scalars.get(&id.0) {
                return Some(Storage::Scalar(*ty));
            }
            match renamed.raw.insts[id.0 as usize].op()? {
                // The memory of a variable-length array is fresh each time.
                Op::Alloca { size, count: None, .. } => Some(Storage::Object(*size)),
                _ => None,
            }
        }
        // A named result that lives in the caller's storage.
        Operand::Param(index) => {
            renamed.raw.param_objects.get(&index).copied().map(Storage::Object)
        }
        Operand::Const(_) => None,
    }
}

/// The new id of each value, in the order in which [`Layout`] lays them out.
fn number(renamed: &Renamed, is_used: &[bool]) -> Vec<Option<InstId>> {
    let mut new_ids = vec![None; is_used.len()];
    let mut next = 0u32;
    for (block, raw) in renamed.raw.blocks.iter().enumerate() {
        let phis = &renamed.phis[block];
        for index in 0..phis.len() as u32 {
            new_ids[(renamed.first_phi[block] + index) as usize] = Some(InstId(next + index));
        }
        let is_named = |slot: u32| renamed.slots[slot as usize].variable.is_some();
        let n_named = phis.iter().filter(|phi| is_named(phi.slot)).count();
        let old_phis = leading_phis(renamed, block as u32);
        next += phis.len() as u32;
        for at in raw.first..raw.first + old_phis {
            new_ids[at as usize] = Some(InstId(next));
            next += 1;
        }
        next += n_named as u32;
        if block == 0 {
            for slot in entry_slots(renamed) {
                new_ids[renamed.entry_value(slot) as usize] = Some(InstId(next));
                next += 1;
            }
        }
        for at in raw.first + old_phis..raw.end {
            match fate(renamed, is_used, at) {
                Fate::Dropped => {}
                Fate::Kept => {
                    new_ids[at as usize] = Some(InstId(next));
                    next += 1;
                }
                Fate::StoredUninit => next += 2,
            }
        }
    }
    new_ids
}

/// How many joins of the stream's own a block starts with.
fn leading_phis(renamed: &Renamed, block: u32) -> u32 {
    let raw = &renamed.raw.blocks[block as usize];
    let insts = &renamed.raw.insts[raw.first as usize..raw.end as usize];
    insts.iter().take_while(|inst| matches!(inst.op(), Some(Op::Phi(_)))).count() as u32
}

fn entry_slots(renamed: &Renamed) -> impl Iterator<Item = u32> {
    let slots = renamed.indeterminate_at_entry.iter().enumerate();
    slots.filter(|(_, is_read)| **is_read).map(|(slot, _)| slot as u32)
}

struct Layout<'a> {
    renamed: &'a mut Renamed,
    is_used: &'a [bool],
    body: &'a mut Body,
}

impl Layout<'_> {
    fn push(&mut self, op: Op, ty: Ty, ctype: TypeId, loc: LocId, block: BlockId) -> InstId {
        self.body.insts.push(Inst { op, ty, ctype, loc, block })
    }

    /// Joins first, then what they bind, then the rest.
    fn block(&mut self, number: u32) {
        let block = BlockId(number);
        let phis = std::mem::take(&mut self.renamed.phis[number as usize]);
        let mut bound = Vec::new();
        for mut phi in phis {
            let slot = &self.renamed.slots[phi.slot as usize];
            let (ty, ctype, variable) = (slot.ty, slot.ctype, slot.variable);
            phi.edges.sort_by_key(|(source, _)| *source);
            let id = self.push(Op::Phi(phi.edges.into()), ty, ctype, LocId::UNKNOWN, block);
            bound.extend(variable.map(|variable| (variable, id)));
        }
        let (first, end) = {
            let raw = &self.renamed.raw.blocks[number as usize];
            (raw.first, raw.end)
        };
        let old_phis = leading_phis(self.renamed, number);
        for at in first..first + old_phis {
            self.inst(at, block);
        }
        for (variable, id) in bound {
            self.bind(variable, id, block);
        }
        if number == 0 {
            self.entry_values(block);
        }
        for at in first + old_phis..end {
            self.inst(at, block);
        }
    }

    /// Says which variable a join is. The operand is final already.
    fn bind(&mut self, variable: VarId, id: InstId, block: BlockId) {
        let value = Operand::Inst(InstId(id.0 | FINAL));
        let op = Op::Bind { variable, value };
        self.push(op, Ty::Void, TypeId::UNKNOWN, LocId::UNKNOWN, block);
    }

    fn entry_values(&mut self, block: BlockId) {
        let read: Vec<u32> = entry_slots(self.renamed).collect();
        for slot in read {
            let slot = &self.renamed.slots[slot as usize];
            let (ty, ctype, variable) = (slot.ty, slot.ctype, slot.variable.unwrap_or(VarId(0)));
            let loc = self.body.variables[variable].loc;
            self.push(Op::Uninit { variable }, ty, ctype, loc, block);
        }
    }

    fn inst(&mut self, at: u32, block: BlockId) {
        let fate = fate(self.renamed, self.is_used, at);
        let (ty, ctype, loc) = {
            let inst = &self.renamed.raw.insts[at as usize];
            (inst.ty, inst.ctype, inst.loc)
        };
        if matches!(fate, Fate::Dropped) {
            return;
        }
        match std::mem::replace(&mut self.renamed.raw.insts[at as usize].op, RawOp::Gone) {
            RawOp::Op(op) => {
                // Storage is looked up by later declarations.
                if let Op::Alloca { variable, size, count } = &op {
                    let (variable, size, count) = (*variable, *size, *count);
                    self.renamed.raw.insts[at as usize].op =
                        RawOp::Op(Op::Alloca { variable, size, count });
                }
                let is_void = matches!(op, Op::Store { .. } | Op::Bind { .. });
                self.push(op, if is_void { Ty::Void } else { ty }, ctype, loc, block);
            }
            RawOp::Declare { variable, storage } => match declared_storage(self.renamed, storage) {
                Some(Storage::Object(size)) => {
                    let op = Op::UninitMemory { ptr: storage, size, variable };
                    self.push(op, Ty::Void, TypeId::UNKNOWN, loc, block);
                }
                Some(Storage::Scalar(ty)) => self.stored_uninit(variable, storage, ty, loc, block),
                None => {}
            },
            RawOp::Gone => {}
        }
    }

    fn stored_uninit(
        &mut self,
        variable: VarId,
        storage: Operand,
        ty: Ty,
        loc: LocId,
        block: BlockId,
    ) {
        let ctype = self.body.variables[variable].ctype;
        let id = self.push(Op::Uninit { variable }, ty, ctype, loc, block);
        let access = Access {
            ptr: storage,
            size: ty.size(),
            ctype,
            path: Box::default(),
            bit_field: None,
            is_volatile: false,
            is_atomic: false,
        };
        let value = Operand::Inst(InstId(id.0 | FINAL));
        let op = Op::Store { access: Box::new(access), value };
        self.push(op, Ty::Void, TypeId::UNKNOWN, loc, block);
    }
}

/// Marks an operand that has its new number already.
const FINAL: u32 = 1 << 31;

fn rewrite_operands(body: &mut Body, renamed: &Renamed, ids: &[Option<InstId>]) -> Read<()> {
    let mut is_sound = true;
    let mut rewrite = |operand: &mut Operand| {
        if let Operand::Inst(id) = *operand
            && id.0 & FINAL != 0
        {
            *operand = Operand::Inst(InstId(id.0 & !FINAL));
            return;
        }
        *operand = renamed.resolve(*operand);
        if let Operand::Inst(id) = operand {
            match ids[id.0 as usize] {
                Some(new) => *id = new,
                None => is_sound = false,
            }
        }
    };
    for inst in body.insts.iter_mut() {
        inst.op.for_each_operand_mut(&mut rewrite);
    }
    for block in body.blocks.iter_mut() {
        if let Some(operand) = block.terminator.operand_mut() {
            rewrite(operand);
        }
    }
    if is_sound { Ok(()) } else { Err(Corrupt("a value that does not exist is used")) }
}
