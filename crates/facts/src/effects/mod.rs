//! What functions and calls may read, write and free (mod/ref), on cells.
//!
//! A function's effects come in two parts: through its pointer parameters, relative to
//! them, and all others, as cells. A call turns the first part into cells of its own
//! arguments, so that a helper called everywhere does not seem to touch everything.

mod external;
mod origin;
mod summary;

pub use origin::{Origin, Origins};

use program::{Access, FunctionId, InstId, Op, Operand, Program};

use crate::callgraph::CallGraph;
use crate::pointsto::{PointsTo, Shift, Types};
use crate::set::SparseSet;

/// Cells read and written, and objects freed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellEffects {
    pub reads: SparseSet,
    pub writes: SparseSet,
    /// By object number.
    pub frees: SparseSet,
}

impl CellEffects {
    pub fn union(&mut self, other: &CellEffects) {
        self.reads.union(&other.reads);
        self.writes.union(&other.writes);
        self.frees.union(&other.frees);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    Read,
    Write,
    Free,
}

/// An access through a parameter: `size` bytes at the parameter plus `shift`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParamEffect {
    pub param: u32,
    pub shift: Shift,
    /// In bytes; none where unknown.
    pub size: Option<u64>,
    pub kind: EffectKind,
}

/// The effects of every function of a program.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Functions that call each other share one.
    cells: Vec<CellEffects>,
    cells_of: Vec<u32>,
    params: Vec<Vec<ParamEffect>>,
    /// Cells that code outside the program may touch at any call of it.
    escaped: SparseSet,
}

/// What effects are worked out from.
pub struct EffectContext<'a> {
    pub program: &'a Program,
    pub pointers: &'a PointsTo,
    pub calls: &'a CallGraph,
    pub types: &'a Types<'a>,
}

impl Effects {
    pub(crate) fn compute(context: &EffectContext, cfgs: &[Option<crate::cfg::Cfg>]) -> Self {
        summary::compute(context, cfgs)
    }

    /// What a function may do other than through its parameters; its own locals, which
    /// die with it, are left out.
    pub fn of_function(&self, function: FunctionId) -> &CellEffects {
        &self.cells[self.cells_of[function.0 as usize] as usize]
    }

    /// What a function may do through its parameters.
    pub fn through_params(&self, function: FunctionId) -> &[ParamEffect] {
        &self.params[function.0 as usize]
    }

    /// Cells that code outside the program may touch.
    pub fn escaped(&self) -> &SparseSet {
        &self.escaped
    }

    /// Everything a call may do, as cells.
    pub fn of_call(
        &self,
        context: &EffectContext,
        caller: FunctionId,
        inst: InstId,
    ) -> CellEffects {
        let mut all = CellEffects::default();
        self.for_call(context, caller, inst, |kind, cells, _| match kind {
            EffectKind::Read => drop(all.reads.union(cells)),
            EffectKind::Write => drop(all.writes.union(cells)),
            EffectKind::Free => drop(all.frees.union(cells)),
        });
        all
    }

    /// Visits the sets that together are what a call may do. Frees come as cells of the
    /// freed objects' numbers. Sets that belong to these effects, and not to the one call,
    /// come with a number of their own.
    pub fn for_call(
        &self,
        context: &EffectContext,
        caller: FunctionId,
        inst: InstId,
        mut visit: impl FnMut(EffectKind, &SparseSet, Option<u32>),
    ) {
        let body = context.program.functions[caller].body.as_ref();
        let Some(Op::Call(instruction)) = body.and_then(|b| b.insts.get(inst)).map(|i| &i.op)
        else {
            return;
        };
        if let Some(allocated) = context.allocated_by(caller, inst) {
            visit(EffectKind::Write, &allocated, None);
        }
        for call in context.calls.calls_at(caller, inst) {
            if call.is_open {
                visit(EffectKind::Read, &self.escaped, Some(u32::MAX));
                visit(EffectKind::Write, &self.escaped, Some(u32::MAX));
            }
            for &target in context.calls.targets(call) {
                let cells = self.of_function(target);
                let number = Some(self.cells_of[target.0 as usize]);
                visit(EffectKind::Read, &cells.reads, number);
                visit(EffectKind::Write, &cells.writes, number);
                visit(EffectKind::Free, &cells.frees, number);
                let size = external::known_size(context.program, caller, inst, target);
                let is_direct = !matches!(
                    call.kind,
                    crate::callgraph::CallKind::Callback | crate::callgraph::CallKind::Thread
                );
                for effect in self.through_params(target) {
                    // A callback's arguments are not the call's own: fall back on what
                    // its parameter may point to at all.
                    let pointer = match instruction.args.get(effect.param as usize) {
                        Some(arg) if is_direct => context.pointers.of(caller, *arg),
                        Some(_) | None if is_direct => continue,
                        _ => context.pointers.of(target, Operand::Param(effect.param)),
                    };
                    if effect.size.is_none() && size.is_some() {
                        let sized = ParamEffect { size, ..effect.clone() };
                        visit(effect.kind, &context.reached(pointer, &sized), None);
                    } else {
                        visit(effect.kind, &context.reached(pointer, effect), None);
                    }
                }
            }
        }
    }
}

impl EffectContext<'_> {
    /// The cells (or freed objects) an effect through a pointer to `cells` touches.
    pub fn reached(&self, cells: &SparseSet, effect: &ParamEffect) -> SparseSet {
        let shifted = if effect.shift == Shift::default() {
            None
        } else {
            Some(self.pointers.shifted(self.types, cells, &effect.shift))
        };
        let cells = shifted.as_ref().unwrap_or(cells);
        match effect.kind {
            EffectKind::Free => {
                self.pointers.objects_in(cells).into_iter().map(|object| object.0).collect()
            }
            EffectKind::Read | EffectKind::Write => self.pointers.touched(cells, effect.size),
        }
    }

    /// The memory that is new at a call: whoever allocates it, or wraps who does, fills it.
    pub(crate) fn allocated_by(&self, caller: FunctionId, inst: InstId) -> Option<SparseSet> {
        let kind = crate::pointsto::ObjectKind::Heap { function: caller, inst };
        let cells = self.pointers.cells_of(self.pointers.object_named(kind)?);
        let mut allocated = SparseSet::new();
        allocated.insert_range(cells.start, cells.end);
        Some(allocated)
    }

    /// The cells a load, store or copy touches.
    pub fn accessed(&self, function: FunctionId, access: &Access) -> SparseSet {
        let cells = self.pointers.of(function, access.ptr);
        self.pointers.touched(cells, Some(access.size))
    }
}
