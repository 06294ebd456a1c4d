//! Replaces reads of promoted storage by the values that reach them.

use program::{BlockId, InstId, LocId, Op, Operand, Variable};

use super::super::constants::Constants;
use super::super::raw::{RawBody, RawInst, RawOp};
use super::slots::Slots;
use super::{Flow, NewPhi, Slot, undefined};

/// A body whose promoted storage is gone. Values are numbered: the stream's instructions,
/// then the new joins block by block, then one indeterminate value at entry for each slot.
pub struct Renamed {
    pub raw: RawBody,
    pub slots: Vec<Slot>,
    pub by_storage: Vec<Option<u32>>,
    pub phis: Vec<Vec<NewPhi>>,
    /// The number of each block's first join.
    pub first_phi: Vec<u32>,
    pub n_phis: u32,
    /// What stands for an instruction that is gone.
    pub replaced: Vec<Option<Operand>>,
    /// Slots read before anything was stored: control jumped over the declaration.
    pub indeterminate_at_entry: Vec<bool>,
}

impl Renamed {
    pub fn resolve(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Inst(id) => {
                self.replaced.get(id.0 as usize).copied().flatten().unwrap_or(operand)
            }
            _ => operand,
        }
    }

    pub fn entry_value(&self, slot: u32) -> u32 {
        self.raw.insts.len() as u32 + self.n_phis + slot
    }
}

pub fn rename(
    raw: RawBody,
    slots: Slots,
    phis: Vec<Vec<NewPhi>>,
    flow: &Flow,
    constants: &mut Constants,
) -> Renamed {
    let mut n_phis = 0;
    let first_phi = phis
        .iter()
        .map(|block| {
            let first = raw.insts.len() as u32 + n_phis;
            n_phis += block.len() as u32;
            first
        })
        .collect();
    let n_slots = slots.slots.len();
    let replaced = vec![None; raw.insts.len()];
    let renamed = Renamed {
        raw,
        slots: slots.slots,
        by_storage: slots.by_storage,
        phis,
        first_phi,
        n_phis,
        replaced,
        indeterminate_at_entry: vec![false; n_slots],
    };
    let mut walk = Walk { renamed, constants, current: vec![None; n_slots], undo: Vec::new() };
    walk.run(flow);
    walk.renamed
}

struct Walk<'a> {
    renamed: Renamed,
    constants: &'a mut Constants,
    /// The value of each slot here; `None` where nothing was stored yet.
    current: Vec<Option<Operand>>,
    undo: Vec<(u32, Option<Operand>)>,
}

impl Walk<'_> {
    /// Down the dominator tree; what a subtree stored is undone on the way up.
    fn run(&mut self, flow: &Flow) {
        let mut stack = vec![(0u32, 0usize, 0usize)];
        while let Some((block, next, undo_to)) = stack.pop() {
            if next == 0 {
                self.block(block, flow);
            }
            match flow.dominators.children[block as usize].get(next) {
                Some(&child) => {
                    stack.push((block, next + 1, undo_to));
                    stack.push((child, 0, self.undo.len()));
                }
                None => {
                    while self.undo.len() > undo_to {
                        let Some((slot, old)) = self.undo.pop() else { break };
                        self.current[slot as usize] = old;
                    }
                }
            }
        }
    }

    fn set(&mut self, slot: u32, value: Operand) {
        let old = self.current[slot as usize].replace(value);
        self.undo.push((slot, old));
    }

    fn get(&mut self, slot: u32) -> Operand {
        if let Some(value) = self.current[slot as usize] {
            return value;
        }
        let storage = &mut self.renamed.slots[slot as usize];
        if storage.variable.is_none() && storage.is_result {
            return undefined(self.constants, storage.ty);
        }
        // A variable without a name: its declaration stands where control never comes, as in
        // a switch before the first case, and the compiler does not tell of it.
        storage.variable.get_or_insert_with(|| {
            let (name, loc) = (Box::default(), LocId::UNKNOWN);
            let ctype = storage.ctype;
            self.renamed.raw.variables.push(Variable { name, ctype, parameter: None, loc })
        });
        self.renamed.indeterminate_at_entry[slot as usize] = true;
        Operand::Inst(InstId(self.renamed.entry_value(slot)))
    }

    fn block(&mut self, block: u32, flow: &Flow) {
        for index in 0..self.renamed.phis[block as usize].len() {
            let slot = self.renamed.phis[block as usize][index].slot;
            let value = self.renamed.first_phi[block as usize] + index as u32;
            self.set(slot, Operand::Inst(InstId(value)));
        }
        let range = &self.renamed.raw.blocks[block as usize];
        for at in range.first..range.end {
            self.inst(at);
        }
        for &successor in &flow.successors[block as usize] {
            for index in 0..self.renamed.phis[successor as usize].len() {
                let value = self.get(self.renamed.phis[successor as usize][index].slot);
                self.renamed.phis[successor as usize][index].edges.push((BlockId(block), value));
            }
        }
    }

    fn inst(&mut self, at: u32) {
        let slot_of = |operand: Operand| match operand {
            Operand::Inst(id) => self.renamed.by_storage[id.0 as usize],
            _ => None,
        };
        match &self.renamed.raw.insts[at as usize].op {
            RawOp::Op(Op::Load(access)) => {
                let Some(slot) = slot_of(access.ptr) else { return };
                self.renamed.replaced[at as usize] = Some(self.get(slot));
                self.renamed.raw.insts[at as usize].op = RawOp::Gone;
            }
            RawOp::Op(Op::Store { access, value }) => {
                let Some(slot) = slot_of(access.ptr) else { return };
                let value = self.renamed.resolve(*value);
                self.set(slot, value);
                self.renamed.raw.insts[at as usize].op = self.assignment(slot, value);
                self.place_at_declaration(at, slot);
            }
            RawOp::Declare { variable, storage } => {
                let (variable, Some(slot)) = (*variable, slot_of(*storage)) else { return };
                let Slot { ty, ctype, .. } = self.renamed.slots[slot as usize];
                let inst: &mut RawInst = &mut self.renamed.raw.insts[at as usize];
                (inst.ty, inst.ctype) = (ty, ctype);
                inst.op = RawOp::Op(Op::Uninit { variable });
                self.set(slot, Operand::Inst(InstId(at)));
            }
            RawOp::Op(Op::Alloca { .. }) if self.renamed.by_storage[at as usize].is_some() => {
                self.renamed.raw.insts[at as usize].op = RawOp::Gone;
            }
            _ => {}
        }
    }

    /// Parameters are bound without a place of their own: where they are declared.
    fn place_at_declaration(&mut self, at: u32, slot: u32) {
        let inst = &mut self.renamed.raw.insts[at as usize];
        if let Some(variable) = self.renamed.slots[slot as usize].variable
            && !inst.loc.is_known()
        {
            inst.loc = self.renamed.raw.variables[variable].loc;
        }
    }

    /// What is left of a store: the source-level assignment, if a variable was assigned.
    fn assignment(&self, slot: u32, value: Operand) -> RawOp {
        match self.renamed.slots[slot as usize].variable {
            Some(variable) => RawOp::Op(Op::Bind { variable, value }),
            None => RawOp::Gone,
        }
    }
}
