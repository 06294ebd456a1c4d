//! Works out every function's effects, callees first.

use program::{Body, FunctionId, InstId, Op, Operand};
use rustc_hash::FxHashSet;

use super::external;
use super::origin::{Origin, Origins};
use super::{CellEffects, EffectContext, EffectKind, Effects, ParamEffect};
use crate::callgraph::CallKind;
use crate::cfg::Cfg;
use crate::externals;
use crate::loops::constant_value;
use crate::pointsto::{ObjectKind, Shift};
use crate::set::SparseSet;

/// More effects through parameters than this are told as cells.
const MAX_PARAM_EFFECTS: usize = 256;

pub(super) fn compute(context: &EffectContext, cfgs: &[Option<Cfg>]) -> Effects {
    let n = context.program.functions.len();
    let escaped = escaped_cells(context);
    let mut effects = Effects {
        cells: vec![CellEffects::default()],
        written_classes: vec![SparseSet::new()],
        escaped_classes: context.pointers.classes(&escaped),
        cells_of: vec![0; n],
        params: vec![Vec::new(); n],
        escaped,
    };
    for component in context.calls.bottom_up() {
        let mut cells = CellEffects::default();
        let mut any_body = false;
        for &function in component {
            match (&context.program.functions[function].body, &cfgs[function.0 as usize]) {
                (Some(body), Some(cfg)) => {
                    any_body = true;
                    let mut collect = Collect::new(context, &effects, function, body, cfg);
                    collect.body();
                    let Collect { cells: own, params, .. } = collect;
                    cells.union(&own);
                    effects.params[function.0 as usize] = params;
                }
                _ => effects.params[function.0 as usize] = of_external(context, function),
            }
        }
        if !any_body {
            continue;
        }
        let is_recursive = component.iter().any(|&f| context.calls.is_recursive(f));
        if is_recursive {
            params_as_cells(context, &mut effects, component, &mut cells);
        } else {
            forget_locals(context, component[0], &mut cells);
        }
        let index = effects.cells.len() as u32;
        effects.written_classes.push(context.pointers.classes(&cells.writes));
        effects.cells.push(cells);
        for &function in component {
            effects.cells_of[function.0 as usize] = index;
        }
    }
    effects
}

fn escaped_cells(context: &EffectContext) -> SparseSet {
    let mut escaped = SparseSet::new();
    for (id, object) in context.pointers.objects.iter_enumerated() {
        if object.escapes && !matches!(object.kind, ObjectKind::Function(_)) {
            let cells = context.pointers.cells_of(id);
            escaped.insert_range(cells.start, cells.end);
        }
    }
    escaped
}

fn of_external(context: &EffectContext, function: FunctionId) -> Vec<ParamEffect> {
    let called = &context.program.functions[function];
    match externals::lookup(&called.name) {
        Some(model) => {
            let n_args = if called.is_variadic { 16 } else { called.params.len() };
            external::param_effects(model, n_args)
        }
        None => Vec::new(),
    }
}

/// In a cycle of calls, parameters stand for many arguments at once: their effects are
/// told as cells to everybody.
fn params_as_cells(
    context: &EffectContext,
    effects: &mut Effects,
    component: &[FunctionId],
    cells: &mut CellEffects,
) {
    for &function in component {
        for effect in std::mem::take(&mut effects.params[function.0 as usize]) {
            let pointer = context.pointers.of(function, Operand::Param(effect.param));
            add(cells, effect.kind, &context.reached(pointer, &effect));
        }
    }
}

/// Locals die with their function; nobody outside can see what happened to them.
fn forget_locals(context: &EffectContext, function: FunctionId, cells: &mut CellEffects) {
    let mut locals = SparseSet::new();
    for cell in cells.reads.iter().chain(cells.writes.iter()) {
        let object = context.pointers.cells[crate::pointsto::CellId(cell)].object;
        if context.pointers.objects[object].kind.is_local_to(function) {
            locals.insert(cell);
        }
    }
    cells.reads.subtract(&locals);
    cells.writes.subtract(&locals);
}

fn add(cells: &mut CellEffects, kind: EffectKind, touched: &SparseSet) {
    match kind {
        EffectKind::Read => cells.reads.union(touched),
        EffectKind::Write => cells.writes.union(touched),
        EffectKind::Free => cells.frees.union(touched),
    };
}

/// Collects the effects of one function.
struct Collect<'a> {
    context: &'a EffectContext<'a>,
    known: &'a Effects,
    function: FunctionId,
    body: &'a Body,
    cfg: &'a Cfg,
    origins: Origins,
    cells: CellEffects,
    params: Vec<ParamEffect>,
    seen: FxHashSet<ParamEffect>,
    /// Points-to sets whose cells were added already, with size and kind.
    added: FxHashSet<(u32, Option<u64>, EffectKind)>,
}

impl<'a> Collect<'a> {
    fn new(
        context: &'a EffectContext<'a>,
        known: &'a Effects,
        function: FunctionId,
        body: &'a Body,
        cfg: &'a Cfg,
    ) -> Self {
        let params = &context.program.functions[function].params;
        Self {
            context,
            known,
            function,
            body,
            cfg,
            origins: Origins::new(context.program, body, params, cfg),
            cells: CellEffects::default(),
            params: Vec::new(),
            seen: FxHashSet::default(),
            added: FxHashSet::default(),
        }
    }

    fn body(&mut self) {
        for &block in self.cfg.order() {
            for inst in self.body.blocks[block].inst_ids() {
                self.instruction(inst);
            }
        }
    }

    fn instruction(&mut self, id: InstId) {
        let constant = |operand: Operand| {
            let value = constant_value(operand, self.body, &self.context.program.constants)?;
            u64::try_from(value).ok()
        };
        match &self.body.insts[id].op {
            Op::Load(access) => self.access(access.ptr, Some(access.size), EffectKind::Read),
            Op::Store { access, .. } => {
                self.access(access.ptr, Some(access.size), EffectKind::Write);
            }
            Op::UninitMemory { ptr, size, .. } => {
                self.access(*ptr, Some(*size), EffectKind::Write);
            }
            Op::MemCopy { to, from, size, .. } => {
                let size = constant(*size);
                self.access(*from, size, EffectKind::Read);
                self.access(*to, size, EffectKind::Write);
            }
            Op::MemSet { to, size, .. } => self.access(*to, constant(*size), EffectKind::Write),
            Op::AtomicUpdate { access, .. } | Op::CompareExchange { access, .. } => {
                self.access(access.ptr, Some(access.size), EffectKind::Read);
                self.access(access.ptr, Some(access.size), EffectKind::Write);
            }
            Op::Asm { may_write: true, .. } => {
                self.cells.reads.union(&self.known.escaped);
                self.cells.writes.union(&self.known.escaped);
            }
            Op::Call(_) => self.call(id),
            _ => {}
        }
    }

    fn access(&mut self, pointer: Operand, size: Option<u64>, kind: EffectKind) {
        let effect = |param, shift| ParamEffect { param, shift, size, kind };
        match self.origins.of(pointer) {
            Origin::Param { index, shift } => self.through_param(effect(index, shift)),
            _ => self.through_pointer(pointer, &effect(0, Shift::default())),
        }
    }

    fn through_param(&mut self, effect: ParamEffect) {
        if self.seen.contains(&effect) {
            return;
        }
        if self.params.len() >= MAX_PARAM_EFFECTS {
            let pointer = Operand::Param(effect.param);
            self.through_pointer(pointer, &effect);
            return;
        }
        self.seen.insert(effect.clone());
        self.params.push(effect);
    }

    fn through_pointer(&mut self, pointer: Operand, effect: &ParamEffect) {
        let context = self.context;
        let set = context.pointers.set_of(self.function, pointer);
        let is_plain = effect.shift == Shift::default();
        if is_plain && !self.added.insert((set.0, effect.size, effect.kind)) {
            return;
        }
        let touched = context.reached(context.pointers.set(set), effect);
        add(&mut self.cells, effect.kind, &touched);
    }

    fn call(&mut self, id: InstId) {
        let context = self.context;
        let Op::Call(instruction) = &self.body.insts[id].op else { return };
        if let Some(allocated) = context.allocated_by(self.function, id) {
            self.cells.writes.union(&allocated);
        }
        for call in context.calls.calls_at(self.function, id) {
            if call.is_open {
                self.cells.reads.union(&self.known.escaped);
                self.cells.writes.union(&self.known.escaped);
            }
            let is_own = matches!(call.kind, CallKind::Direct | CallKind::Pointer);
            for &target in context.calls.targets(call) {
                self.cells.union(self.known.of_function(target));
                let size = external::known_size(context.program, self.function, id, target);
                for effect in self.known.through_params(target) {
                    let mut effect = effect.clone();
                    effect.size = effect.size.or(size);
                    if is_own {
                        if let Some(&arg) = instruction.args.get(effect.param as usize) {
                            self.through_argument(arg, effect);
                        }
                    } else {
                        let pointer = context.pointers.of(target, Operand::Param(effect.param));
                        let touched = context.reached(pointer, &effect);
                        add(&mut self.cells, effect.kind, &touched);
                    }
                }
            }
        }
    }

    /// An effect of a callee through its parameter, seen from here.
    fn through_argument(&mut self, arg: Operand, effect: ParamEffect) {
        match self.origins.of(arg) {
            Origin::Param { index, shift } => {
                match super::origin::plus(index, shift, &effect.shift) {
                    Origin::Param { index, shift } => {
                        self.through_param(ParamEffect { param: index, shift, ..effect });
                    }
                    _ => self.through_pointer(arg, &effect),
                }
            }
            _ => self.through_pointer(arg, &effect),
        }
    }
}
