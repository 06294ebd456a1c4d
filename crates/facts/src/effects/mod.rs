//! What functions and calls may read, write and free (mod/ref), on cells.
//!
//! A function's effects come in two parts: through its pointer parameters, relative to
//! them, and all others, as cells. A call turns the first part into cells of its own
//! arguments, so that a helper called everywhere does not seem to touch everything.
//!
//! As in points-to sets, cells of memory from outside stand for what escaped as well;
//! see [`PointsTo::with_aliases`].

mod external;
mod origin;
mod summary;

pub use origin::{Origin, Origins};

use program::{Access, FunctionId, InstId, Op, Operand, Program};

use crate::callgraph::CallGraph;
use crate::pointsto::{PointsTo, SetId, Shift, Types};
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

/// A part of what a call does.
pub(crate) enum Part<'a> {
    /// Cells (or freed objects) that other calls touch as well, and the number they go by.
    Shared(u32, &'a SparseSet),
    /// Cells of this call alone.
    Own(SparseSet),
    /// An effect of one of the functions called, through a pointer.
    Through(Through<'a>),
}

/// An effect through a pointer that points to the cells of a set.
#[derive(Clone, Copy)]
pub(crate) struct Through<'a> {
    pub pointer: SetId,
    pub effect: &'a ParamEffect,
    /// Of the effect, or of this call where only that tells.
    pub size: Option<u64>,
}

/// The number of the cells that code outside the program may touch.
pub(crate) const ESCAPED: u32 = u32::MAX;

/// The effects of every function of a program.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Functions that call each other share one.
    cells: Vec<CellEffects>,
    /// The classes of escaped cells that each writes.
    written_classes: Vec<SparseSet>,
    escaped_classes: SparseSet,
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

    /// The classes of the written cells that go by a number.
    pub(crate) fn written_classes(&self, number: u32) -> &SparseSet {
        self.written_classes.get(number as usize).unwrap_or(&self.escaped_classes)
    }

    /// Everything a call may do, as cells, with all that memory from outside may be.
    pub fn of_call(
        &self,
        context: &EffectContext,
        caller: FunctionId,
        inst: InstId,
    ) -> CellEffects {
        let mut all = CellEffects::default();
        self.for_call(context, caller, inst, |kind, part| {
            let to = match kind {
                EffectKind::Read => &mut all.reads,
                EffectKind::Write => &mut all.writes,
                EffectKind::Free => &mut all.frees,
            };
            match part {
                Part::Shared(_, cells) => to.union(cells),
                Part::Own(cells) => to.union(&cells),
                Part::Through(through) => to.union(&context.reached_through(through)),
            };
        });
        all.reads = context.pointers.with_aliases(&all.reads);
        all.writes = context.pointers.with_aliases(&all.writes);
        all
    }

    /// Visits the parts that together are what a call may do. Frees come as numbers of the
    /// freed objects.
    pub(crate) fn for_call<'a>(
        &'a self,
        context: &EffectContext,
        caller: FunctionId,
        inst: InstId,
        mut visit: impl FnMut(EffectKind, Part<'a>),
    ) {
        let body = context.program.functions[caller].body.as_ref();
        let Some(Op::Call(instruction)) = body.and_then(|b| b.insts.get(inst)).map(|i| &i.op)
        else {
            return;
        };
        if let Some(allocated) = context.allocated_by(caller, inst) {
            visit(EffectKind::Write, Part::Own(allocated));
        }
        for call in context.calls.calls_at(caller, inst) {
            if call.is_open {
                visit(EffectKind::Read, Part::Shared(ESCAPED, &self.escaped));
                visit(EffectKind::Write, Part::Shared(ESCAPED, &self.escaped));
            }
            let is_direct = !matches!(
                call.kind,
                crate::callgraph::CallKind::Callback | crate::callgraph::CallKind::Thread
            );
            for &target in context.calls.targets(call) {
                let cells = self.of_function(target);
                let number = self.cells_of[target.0 as usize];
                visit(EffectKind::Read, Part::Shared(number, &cells.reads));
                visit(EffectKind::Write, Part::Shared(number, &cells.writes));
                visit(EffectKind::Free, Part::Shared(number, &cells.frees));
                let size = external::known_size(context.program, caller, inst, target);
                for effect in self.through_params(target) {
                    // A callback's arguments are not the call's own: fall back on what
                    // its parameter may point to at all.
                    let pointer = match instruction.args.get(effect.param as usize) {
                        Some(arg) if is_direct => context.pointers.set_of(caller, *arg),
                        Some(_) | None if is_direct => continue,
                        _ => context.pointers.set_of(target, Operand::Param(effect.param)),
                    };
                    let size = effect.size.or(size);
                    visit(effect.kind, Part::Through(Through { pointer, effect, size }));
                }
            }
        }
    }
}

impl EffectContext<'_> {
    /// The cells (or freed objects) an effect through a pointer to `cells` touches.
    pub fn reached(&self, cells: &SparseSet, effect: &ParamEffect) -> SparseSet {
        self.reached_by(cells, effect, effect.size)
    }

    pub(crate) fn reached_through(&self, through: Through) -> SparseSet {
        self.reached_by(self.pointers.set(through.pointer), through.effect, through.size)
    }

    fn reached_by(&self, cells: &SparseSet, effect: &ParamEffect, size: Option<u64>) -> SparseSet {
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
            EffectKind::Read | EffectKind::Write => self.pointers.touched(cells, size),
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

    /// The cells a load, store or copy touches, with all that memory from outside may be.
    pub fn accessed(&self, function: FunctionId, access: &Access) -> SparseSet {
        let cells = self.pointers.of(function, access.ptr);
        self.pointers.with_aliases(&self.pointers.touched(cells, Some(access.size)))
    }
}
