//! Which storage can live in SSA values, and where values of it have to be joined.

use program::{Op, Operand, Terminator, TypeId};

use super::super::raw::{RawBody, RawOp};
use super::super::types::Types;
use super::dominators::Dominators;
use super::{NewPhi, Slot, plain_access};

pub struct Slots {
    pub slots: Vec<Slot>,
    /// The slot of each instruction that is a promotable storage.
    pub by_storage: Vec<Option<u32>>,
}

impl Slots {
    pub fn of(&self, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Inst(id) => self.by_storage[id.0 as usize],
            _ => None,
        }
    }
}

/// Scalars that are only read and written as a whole, and whose address goes nowhere else.
pub fn find(raw: &RawBody, result: TypeId, types: &Types) -> Slots {
    let mut is_private = vec![false; raw.insts.len()];
    for storage in raw.scalars.keys() {
        is_private[*storage as usize] = true;
    }
    exclude_escaping(raw, &mut is_private);
    let mut slots = Slots { slots: Vec::new(), by_storage: vec![None; raw.insts.len()] };
    for (at, _) in is_private.iter().enumerate().filter(|(_, is_private)| **is_private) {
        let inst = &raw.insts[at];
        let Some(Op::Alloca { variable, .. }) = inst.op() else { continue };
        let pointee = types.pointee(inst.ctype);
        slots.by_storage[at] = Some(slots.slots.len() as u32);
        slots.slots.push(Slot {
            ty: raw.scalars[&(at as u32)],
            ctype: if pointee.is_known() { types.unqualified(pointee) } else { TypeId::UNKNOWN },
            variable: *variable,
            is_result: false,
            defined_in: Vec::new(),
            read_in: Vec::new(),
        });
    }
    find_accesses(raw, &mut slots);
    find_results(raw, result, &mut slots);
    slots
}

/// Slots whose content is returned.
fn find_results(raw: &RawBody, result: TypeId, slots: &mut Slots) {
    for block in &raw.blocks {
        let Terminator::Return(Some(Operand::Inst(value))) = block.terminator else { continue };
        if let Some(Op::Load(access)) = raw.insts[value.0 as usize].op()
            && let Some(slot) = slots.of(access.ptr)
        {
            let slot = &mut slots.slots[slot as usize];
            slot.is_result = true;
            if slot.variable.is_none() {
                slot.ctype = result;
            }
        }
    }
}

fn exclude_escaping(raw: &RawBody, is_private: &mut [bool]) {
    let mut exclude = |operand: Operand| {
        if let Operand::Inst(id) = operand {
            is_private[id.0 as usize] = false;
        }
    };
    for inst in &raw.insts {
        let RawOp::Op(op) = &inst.op else { continue };
        let fits = |storage: Operand, ty| match storage {
            Operand::Inst(id) => raw.scalars.get(&id.0) == Some(&ty),
            _ => false,
        };
        match op {
            Op::Load(access) if plain_access(op).is_some() && fits(access.ptr, inst.ty) => {}
            Op::Store { access, value }
                if plain_access(op).is_some() && fits(access.ptr, inst.ty) =>
            {
                exclude(*value);
            }
            _ => op.for_each_operand(&mut exclude),
        }
    }
    for block in &raw.blocks {
        block.terminator.operand().into_iter().for_each(&mut exclude);
    }
}

fn find_accesses(raw: &RawBody, slots: &mut Slots) {
    for (at, block) in (0u32..).zip(&raw.blocks) {
        for inst in &raw.insts[block.first as usize..block.end as usize] {
            let (storage, reads) = match &inst.op {
                RawOp::Op(Op::Load(access)) => (access.ptr, true),
                RawOp::Op(Op::Store { access, .. }) => (access.ptr, false),
                RawOp::Declare { storage, .. } => (*storage, false),
                _ => continue,
            };
            let Some(slot) = slots.of(storage) else { continue };
            let slot = &mut slots.slots[slot as usize];
            if slot.defined_in.last() == Some(&at) {
                continue;
            }
            if !reads {
                slot.defined_in.push(at);
            } else if slot.read_in.last() != Some(&at) {
                slot.read_in.push(at);
            }
        }
    }
}

/// The joins each block needs: where different values meet and one is read later.
pub fn place_phis(
    slots: &Slots,
    predecessors: &[Vec<u32>],
    dominators: &Dominators,
) -> Vec<Vec<NewPhi>> {
    let n_blocks = predecessors.len();
    let mut phis: Vec<Vec<NewPhi>> = (0..n_blocks).map(|_| Vec::new()).collect();
    // Stamped with the slot, so that nothing has to be cleared between slots.
    let mut live = vec![u32::MAX; n_blocks];
    let mut defined = vec![u32::MAX; n_blocks];
    let mut placed = vec![u32::MAX; n_blocks];
    for (number, slot) in (0u32..).zip(&slots.slots) {
        if slot.read_in.is_empty() {
            continue;
        }
        for &block in &slot.defined_in {
            defined[block as usize] = number;
        }
        let mut pending = slot.read_in.clone();
        while let Some(block) = pending.pop() {
            if std::mem::replace(&mut live[block as usize], number) == number {
                continue;
            }
            let sources = predecessors[block as usize].iter();
            pending.extend(sources.filter(|source| defined[**source as usize] != number));
        }
        let mut pending = slot.defined_in.clone();
        while let Some(block) = pending.pop() {
            for &join in &dominators.frontiers[block as usize] {
                if live[join as usize] != number
                    || std::mem::replace(&mut placed[join as usize], number) == number
                {
                    continue;
                }
                phis[join as usize].push(NewPhi { slot: number, edges: Vec::new() });
                pending.push(join);
            }
        }
    }
    phis
}
