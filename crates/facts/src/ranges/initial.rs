//! Globals that nothing writes keep their initialisers, lookup tables included.

use program::{Const, ConstId, FunctionId, Op, Operand, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::domain::Domain;
use super::interval::Interval;
use super::solver::{not_null, width};
use crate::effects::{EffectContext, EffectKind, Effects};
use crate::loops::int_constant;
use crate::pointsto::{CellId, ObjectKind};
use crate::set::SparseSet;

/// What never-written cells hold, with the width they are initialised in.
#[derive(Clone, Debug, Default)]
pub struct InitialValues {
    cells: FxHashMap<u32, (u32, Interval)>,
}

impl InitialValues {
    pub(crate) fn compute(context: &EffectContext, effects: &Effects) -> Self {
        let written = written_cells(context, effects);
        let mut initial = Self::default();
        for (id, object) in context.pointers.objects.iter_enumerated() {
            let ObjectKind::Global(global) = object.kind else { continue };
            let Some(global) = context.program.globals.get(global) else { continue };
            let cells = context.pointers.cells_of(id);
            let is_kept =
                |cell: u32| global.is_constant || (!object.escapes && !written.contains(cell));
            if global.init.is_none() || !cells.clone().any(is_kept) {
                continue;
            }
            let mut by_offset = initialised(context, global, object);
            for cell in cells.filter(|&cell| is_kept(cell)) {
                let Some(offset) = context.pointers.cells[CellId(cell)].offset else { continue };
                let scalar = context.types.lone_scalar(object.layout, offset);
                let value = match (by_offset.remove(&offset), scalar) {
                    (Some(Some(known)), Some(_)) => known,
                    // Elements of an array that no piece covers are zero.
                    (Some(Some((bits, known))), None) => {
                        (bits, known.join(&Interval::constant(bits, 0)))
                    }
                    (None, Some(bytes @ 1..=8)) => {
                        let bits = 8 * bytes as u32;
                        (bits, Interval::constant(bits, 0))
                    }
                    _ => continue,
                };
                initial.cells.insert(cell, value);
            }
        }
        initial
    }

    /// The value of a load of so many bits that can only read cells known here.
    pub fn of_load(&self, cells: &SparseSet, bits: u32) -> Option<Interval> {
        let mut joined = Interval::EMPTY;
        for (n_cells, cell) in cells.iter().enumerate() {
            let (width, value) = self.cells.get(&cell)?;
            if *width != bits || n_cells >= 64 {
                return None;
            }
            joined = joined.join(value);
        }
        (!joined.is_bottom()).then_some(joined)
    }
}

/// The initial value by canonical offset; `None` where pieces of different widths meet.
fn initialised(
    context: &EffectContext,
    global: &program::Global,
    object: &crate::pointsto::Object,
) -> FxHashMap<i64, Option<(u32, Interval)>> {
    let mut by_offset: FxHashMap<i64, Option<(u32, Interval)>> = FxHashMap::default();
    for piece in global.init.iter().flatten() {
        let offset = piece.offset as i64;
        let Some(at) = context.types.canonical(object.layout, offset, object.size) else {
            continue;
        };
        let value = piece_value(context.program, piece.value);
        by_offset
            .entry(at)
            .and_modify(|known| {
                *known = match (*known, value) {
                    (Some((bits, a)), Some((other, b))) if bits == other => {
                        Some((bits, a.join(&b)))
                    }
                    _ => None,
                };
            })
            .or_insert(value);
    }
    by_offset
}

fn piece_value(program: &Program, id: ConstId) -> Option<(u32, Interval)> {
    let constant = program.constants.get(id)?;
    match constant {
        Const::Bytes(bytes) => {
            let values = bytes.iter().map(|&byte| Interval::constant(8, byte.into()));
            values.reduce(|a, b| a.join(&b)).map(|range| (8, range))
        }
        Const::Global { .. } | Const::Function(_) => Some((64, not_null::<Interval>())),
        _ => {
            let bits = width(constant.ty())?;
            let value = int_constant(Operand::Const(id), &program.constants)?;
            Some((bits, Interval::constant(bits, value)))
        }
    }
}

/// Every cell some instruction of the program may write.
fn written_cells(context: &EffectContext, effects: &Effects) -> SparseSet {
    let mut written = effects.escaped().clone();
    let mut seen: FxHashSet<(u32, Option<u64>)> = FxHashSet::default();
    let mut note = |function: FunctionId, pointer: Operand, size: Option<u64>| {
        let set = context.pointers.set_of(function, pointer);
        if seen.insert((set.0, size)) {
            written.union(&context.pointers.touched(context.pointers.set(set), size));
        }
    };
    for (function, called) in context.program.functions.iter_enumerated() {
        let Some(body) = &called.body else { continue };
        for inst in &body.insts {
            match &inst.op {
                Op::Store { access, .. }
                | Op::AtomicUpdate { access, .. }
                | Op::CompareExchange { access, .. } => {
                    note(function, access.ptr, Some(access.size));
                }
                Op::UninitMemory { ptr, size, .. } => note(function, *ptr, Some(*size)),
                Op::MemCopy { to, size, .. } | Op::MemSet { to, size, .. } => {
                    let size = int_constant(*size, &context.program.constants);
                    note(function, *to, size.and_then(|size| u64::try_from(size).ok()));
                }
                _ => {}
            }
        }
        for call in context.calls.calls(function) {
            let Op::Call(instruction) = &body.insts[call.inst].op else { continue };
            for &target in context.calls.targets(call) {
                if context.program.functions[target].body.is_some() {
                    continue;
                }
                for effect in effects.through_params(target) {
                    if effect.kind == EffectKind::Write
                        && let Some(&arg) = instruction.args.get(effect.param as usize)
                    {
                        note(function, arg, effect.size);
                    }
                }
            }
        }
    }
    written
}
