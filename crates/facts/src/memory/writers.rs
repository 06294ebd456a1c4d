//! The instructions of a function that may write memory, and which cells each may write.

use program::{Body, FunctionId, InstId, Op, Operand};

use super::index::GroupIndex;
use crate::cfg::Cfg;
use crate::effects::{ESCAPED, EffectContext, EffectKind, Effects, Part};
use crate::loops::constant_value;
use crate::pointsto::{CellId, ObjectKind};
use crate::set::SparseSet;

/// An instruction that may write memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Writes so many bytes (none: unknown) through a pointer.
    Direct {
        inst: InstId,
        pointer: Operand,
        size: Option<u64>,
    },
    Call {
        inst: InstId,
    },
    /// Inline assembler.
    Unknown {
        inst: InstId,
    },
}

impl Writer {
    pub fn inst(&self) -> InstId {
        match *self {
            Writer::Direct { inst, .. } | Writer::Call { inst } | Writer::Unknown { inst } => inst,
        }
    }
}

/// The writers of a function, sorted by instruction.
pub struct Writers<'a> {
    function: FunctionId,
    body: &'a Body,
    cfg: &'a Cfg,
    pub all: Vec<Writer>,
}

impl<'a> Writers<'a> {
    pub fn new(
        context: &EffectContext,
        function: FunctionId,
        body: &'a Body,
        cfg: &'a Cfg,
    ) -> Self {
        let mut all = Vec::new();
        for (block, _) in body.blocks.iter_enumerated().filter(|(b, _)| cfg.is_reachable(*b)) {
            for inst in body.blocks[block].inst_ids() {
                if let Some(writer) = writer(context, function, body, inst) {
                    all.push(writer);
                }
            }
        }
        all.sort_unstable_by_key(Writer::inst);
        Self { function, body, cfg, all }
    }

    /// The writers that may write any of these cells, and whether they certainly write all
    /// of what a read of so many bytes sees.
    pub fn of(
        &self,
        context: &EffectContext,
        effects: &Effects,
        cells: &SparseSet,
        read_size: Option<u64>,
    ) -> Vec<(InstId, bool)> {
        let groups = [(cells.clone(), read_size)];
        self.by_group(context, effects, &groups).pop().unwrap_or_default()
    }

    /// For each group of cells, with the size of its reads, the writers that may
    /// write any of it.
    pub(super) fn by_group(
        &self,
        context: &EffectContext,
        effects: &Effects,
        groups: &[(SparseSet, Option<u64>)],
    ) -> Vec<Vec<(InstId, bool)>> {
        let mut index = GroupIndex::new(context.pointers, groups);
        let mut writes = vec![Vec::new(); groups.len()];
        for writer in &self.all {
            let inst = writer.inst();
            index.start();
            match *writer {
                Writer::Direct { pointer, size, .. } => {
                    index.add_access(context.pointers.set_of(self.function, pointer), size);
                    let certain = self.certain_cell(context, pointer);
                    for &group in index.hit() {
                        let (cells, read_size) = &groups[group as usize];
                        let is_certain = certain.is_some()
                            && cells.single() == certain
                            && read_size.is_some_and(|read| size.is_some_and(|s| s >= read))
                            && is_full_write(context, certain, size);
                        writes[group as usize].push((inst, is_certain));
                    }
                    continue;
                }
                Writer::Call { .. } => {
                    effects.for_call(context, self.function, inst, |kind, part| {
                        if kind == EffectKind::Write {
                            index.add_part(context, effects, part);
                        }
                    });
                }
                Writer::Unknown { .. } => {
                    let escaped = Part::Shared(ESCAPED, effects.escaped());
                    index.add_part(context, effects, escaped);
                }
            }
            index.hit().iter().for_each(|&g| writes[g as usize].push((inst, false)));
        }
        writes
    }

    /// The one cell, of an object that exists once, that a pointer points to.
    fn certain_cell(&self, context: &EffectContext, pointer: Operand) -> Option<u32> {
        let cell = context.pointers.of(self.function, pointer).single()?;
        let object = context.pointers.cells[CellId(cell)].object;
        let exists_once = match context.pointers.objects[object].kind {
            ObjectKind::Global(_) => true,
            ObjectKind::Local { function, inst } => {
                // In recursion or a loop the name may stand for an older object.
                let block = self.body.insts.get(inst).map(|inst| inst.block);
                function == self.function
                    && !context.calls.is_recursive(function)
                    && block.is_some_and(|block| self.cfg.loops.innermost(block).is_none())
            }
            ObjectKind::ParamCopy { function, .. } => {
                function == self.function && !context.calls.is_recursive(function)
            }
            _ => false,
        };
        exists_once.then_some(cell)
    }
}

/// Whether writing so many bytes at a cell replaces all of it: the cell is no array
/// element and no wider. A read that is wider than the write is the caller's business.
fn is_full_write(context: &EffectContext, cell: Option<u32>, size: Option<u64>) -> bool {
    let Some(cell) = cell else { return false };
    let cell = context.pointers.cells[CellId(cell)];
    let Some(offset) = cell.offset else { return false };
    let layout = context.pointers.objects[cell.object].layout;
    let (Some(width), Some(size)) = (context.types.lone_scalar(layout, offset), size) else {
        return false;
    };
    size >= width
}

fn writer(
    context: &EffectContext,
    function: FunctionId,
    body: &Body,
    inst: InstId,
) -> Option<Writer> {
    let constant = |operand: Operand| {
        let value = constant_value(operand, body, &context.program.constants)?;
        u64::try_from(value).ok()
    };
    let direct = |pointer, size| Some(Writer::Direct { inst, pointer, size });
    match &body.insts[inst].op {
        Op::Store { access, .. }
        | Op::AtomicUpdate { access, .. }
        | Op::CompareExchange { access, .. } => direct(access.ptr, Some(access.size)),
        Op::UninitMemory { ptr, size, .. } => direct(*ptr, Some(*size)),
        Op::MemCopy { to, size, .. } | Op::MemSet { to, size, .. } => direct(*to, constant(*size)),
        Op::Call(_) => {
            let is_call = !context.calls.calls_at(function, inst).is_empty();
            is_call.then_some(Writer::Call { inst })
        }
        Op::Asm { may_write: true, .. } => Some(Writer::Unknown { inst }),
        _ => None,
    }
}
