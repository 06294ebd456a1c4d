//! What calls write, function by function: enough to step over a call without forgetting
//! everything.

mod extent;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use facts::externals;
use program::{CType, Call, Callee, Const, FunctionId, GlobalId, InstId, Op, Operand, Program};
use rustc_hash::FxHashMap;

pub use extent::Extent;
use extent::Step;

/// Rounds after which extents that still grow, with a recursion, are given up.
const MAX_ROUNDS: u32 = 8;

/// Memory a call may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// What these arguments point to, as far as is said.
    pub args: BTreeMap<usize, Extent>,
    pub globals: BTreeSet<GlobalId>,
    /// Memory reached in ways not followed here.
    pub anything: bool,
    /// Calls code outside the program or through a pointer that nothing describes.
    pub calls_unknown: bool,
}

impl Effect {
    pub fn anything() -> Self {
        Self { anything: true, calls_unknown: true, ..Self::default() }
    }

    pub fn is_none(&self) -> bool {
        self.args.is_empty() && self.globals.is_empty() && !self.anything
    }

    /// Adds writes to so much of the memory behind a pointer.
    fn add_at(&mut self, root: &Root, extent: &Extent) {
        for (index, step) in &root.args {
            self.writes(*index, &extent.behind(step));
        }
        self.globals.extend(&root.globals);
        self.anything |= root.anything;
    }

    fn add(&mut self, other: &Effect) {
        for (index, extent) in &other.args {
            self.writes(*index, extent);
        }
        self.globals.extend(&other.globals);
        self.anything |= other.anything;
        self.calls_unknown |= other.calls_unknown;
    }

    fn writes(&mut self, index: usize, extent: &Extent) {
        self.args.entry(index).or_default().join(extent);
    }

    fn of_external(name: &str) -> Option<Self> {
        let external = externals::lookup(name)?;
        let listed = external.writes.iter().chain(&external.frees).map(|index| usize::from(*index));
        let mut args: BTreeMap<usize, Extent> =
            listed.map(|index| (index, Extent::Everything)).collect();
        if let Some(from) = external.writes_from {
            let further = usize::from(from)..usize::from(from) + 16;
            args.extend(further.map(|index| (index, Extent::Everything)));
        }
        Some(Self { args, ..Self::default() })
    }
}

/// The effects of all functions.
pub struct Effects {
    functions: Vec<Effect>,
}

impl Effects {
    pub fn new(program: &Program) -> Self {
        let mut effects = Self {
            functions: program
                .functions
                .iter()
                .map(|function| match function.body {
                    Some(_) => Effect::default(),
                    None => Effect::of_external(&function.name).unwrap_or_else(Effect::anything),
                })
                .collect(),
        };
        let bodies: Vec<(usize, BodyEffects)> = program
            .functions
            .iter_enumerated()
            .filter(|(_, function)| function.body.is_some())
            .map(|(id, _)| (id.0 as usize, BodyEffects::new(program, id)))
            .collect();
        // Effects only grow, each by at most its arguments and globals, and extents by a bounded
        // number of rounds: this ends.
        for round in 0.. {
            let mut changed = false;
            for (id, body) in &bodies {
                let mut effect = effects.of_body(*id, body);
                if effect != effects.functions[*id] {
                    if round >= MAX_ROUNDS {
                        effect.args.values_mut().for_each(|extent| *extent = Extent::Everything);
                    }
                    effects.functions[*id] = effect;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        effects
    }

    pub fn of_function(&self, function: FunctionId) -> &Effect {
        &self.functions[function.0 as usize]
    }

    pub fn of_call(&self, call: &Call) -> Effect {
        match &call.callee {
            Callee::Function(function) => self.of_function(*function).clone(),
            // The arguments beyond the named ones become readable through the list.
            Callee::Intrinsic(name) if name.contains("va_start") || name.contains("va_copy") => {
                let mut effect = Effect::default();
                effect.writes(0, &Extent::Everything);
                effect
            }
            Callee::Intrinsic(_) => Effect::default(),
            Callee::Pointer(_) => Effect::anything(),
        }
    }

    fn of_body(&self, id: usize, body: &BodyEffects) -> Effect {
        let mut effect = self.functions[id].clone();
        effect.add(&body.own);
        for (call, args) in &body.calls {
            let callee = self.of_call(call);
            effect.anything |= callee.anything;
            effect.calls_unknown |= callee.calls_unknown;
            effect.globals.extend(callee.globals);
            for (index, extent) in callee.args {
                if let (Some(arg), Some(known)) = (call.args.get(index), args.get(index)) {
                    effect.add_at(known.get_or_init(|| body.stored.root_of(*arg)), &extent);
                }
            }
        }
        effect
    }
}

/// What a function does by itself, and what its calls are given; none of it depends on what
/// other functions do.
struct BodyEffects<'a> {
    own: Effect,
    /// Each with the memory behind its arguments, worked out when first asked for.
    calls: Vec<(&'a Call, Vec<OnceCell<Root>>)>,
    stored: Stored<'a>,
}

impl<'a> BodyEffects<'a> {
    fn new(program: &'a Program, function: FunctionId) -> Self {
        let stored = Stored::new(program, function);
        let (mut own, mut calls) = (Effect::default(), Vec::new());
        for inst in program.functions[function].body.iter().flat_map(|body| &body.insts) {
            match &inst.op {
                Op::Store { access, .. }
                | Op::AtomicUpdate { access, .. }
                | Op::CompareExchange { access, .. } => {
                    own.add_at(&stored.root_of(access.ptr), &Extent::bytes(access.size));
                }
                Op::MemCopy { to, size, .. } | Op::MemSet { to, size, .. } => {
                    own.add_at(&stored.root_of(*to), &extent::of_size(program, *size));
                }
                Op::Asm { may_write: true, .. } => own.anything = true,
                Op::Call(call) => calls.push((&**call, vec![OnceCell::new(); call.args.len()])),
                _ => {}
            }
        }
        Self { own, calls, stored }
    }
}

/// Where a pointer may have come from, seen from the callers of its function.
#[derive(Clone, Debug, Default)]
struct Root {
    /// Arguments, and how the pointer was got from each.
    args: Vec<(usize, Step)>,
    globals: BTreeSet<GlobalId>,
    anything: bool,
}

/// A function with what it stores into its variables.
struct Stored<'a> {
    program: &'a Program,
    function: FunctionId,
    of_slot: FxHashMap<InstId, Vec<Operand>>,
}

impl<'a> Stored<'a> {
    fn new(program: &'a Program, function: FunctionId) -> Self {
        let mut of_slot: FxHashMap<InstId, Vec<Operand>> = FxHashMap::default();
        for inst in program.functions[function].body.iter().flat_map(|body| &body.insts) {
            if let Op::Store { access, value } = &inst.op
                && let Operand::Inst(slot) = access.ptr
            {
                of_slot.entry(slot).or_default().push(*value);
            }
        }
        Self { program, function, of_slot }
    }

    /// The memory behind a pointer, seen from the callers of the function.
    fn root_of(&self, ptr: Operand) -> Root {
        let mut root = Root::default();
        self.add_root(ptr, &mut root, &Step::default(), 0, &mut FxHashMap::default());
        root
    }

    /// `seen` has the least depth at which each instruction was met by each step: from deeper
    /// on, nothing new is found. Without it, values that join hundreds of branches cost their
    /// power.
    fn add_root(
        &self,
        ptr: Operand,
        root: &mut Root,
        step: &Step,
        depth: u32,
        seen: &mut FxHashMap<(InstId, Step), u32>,
    ) {
        let Some(body) = &self.program.functions[self.function].body else { return };
        if let Operand::Inst(inst) = ptr {
            let before = seen.entry((inst, step.clone())).or_insert(u32::MAX);
            if *before <= depth {
                return;
            }
            *before = depth;
        }
        match ptr {
            Operand::Param(index) => root.args.push((index as usize, step.clone())),
            Operand::Const(id) => {
                if let Const::Global { global, .. } = self.program.constants[id] {
                    root.globals.insert(global);
                }
            }
            Operand::Inst(inst) if depth < 16 => match &body.insts[inst].op {
                Op::Alloca { .. } => {}
                Op::Address(address) => {
                    let step = step.through(self.program, address);
                    self.add_root(address.base, root, &step, depth + 1, seen);
                }
                Op::Convert(conversion) => {
                    self.add_root(conversion.value, root, step, depth + 1, seen)
                }
                Op::Select { then, otherwise, .. } => {
                    self.add_root(*then, root, step, depth + 1, seen);
                    self.add_root(*otherwise, root, step, depth + 1, seen);
                }
                // A pointer that may walk.
                Op::Phi(operands) => {
                    let deeper = depth.saturating_add(4);
                    for (_, operand) in operands.iter().filter(|(_, operand)| *operand != ptr) {
                        self.add_root(*operand, root, &Step::Anywhere, deeper, seen);
                    }
                }
                Op::Call(call) if is_fresh(self.program, call) => {}
                Op::Load(access) => match self.own_slot(access.ptr) {
                    // What a variable of this call holds was stored here.
                    Some(slot) => {
                        for value in self.of_slot.get(&slot).into_iter().flatten() {
                            self.add_root(*value, root, &Step::Anywhere, depth + 4, seen);
                        }
                    }
                    None => root.anything = true,
                },
                _ => root.anything = true,
            },
            // A chain too long is mostly a pointer walked by a loop: its start was seen above.
            Operand::Inst(_) => {}
        }
    }

    /// The variable of this call that a pointer is.
    fn own_slot(&self, ptr: Operand) -> Option<InstId> {
        let body = self.program.functions[self.function].body.as_ref()?;
        let slot = as_inst(ptr)?;
        matches!(body.insts[slot].op, Op::Alloca { .. }).then_some(slot)
    }
}

fn is_fresh(program: &Program, call: &Call) -> bool {
    match &call.callee {
        Callee::Function(function) => {
            externals::lookup(&program.functions[*function].name).is_some_and(|e| e.is_allocator)
        }
        _ => false,
    }
}

/// Globals that keep their initialiser for the whole run: nothing stores to them, and
/// their address goes nowhere a store could come from.
pub fn never_written(program: &Program) -> Vec<bool> {
    let mut kept = vec![true; program.globals.len()];
    let mut expose = |program: &Program, operand: Operand| {
        if let Operand::Const(id) = operand
            && let Const::Global { global, .. } = program.constants[id]
        {
            kept[global.0 as usize] = false;
        }
    };
    for function in &program.functions {
        let Some(body) = &function.body else { continue };
        for inst in &body.insts {
            exposed_operands(inst, &mut |operand| expose(program, operand));
        }
        for block in &body.blocks {
            if let Some(operand) = block.terminator.operand() {
                expose(program, operand);
            }
        }
    }
    for global in &program.globals {
        for piece in global.init.iter().flatten() {
            if let Const::Global { global, .. } = program.constants[piece.value] {
                kept[global.0 as usize] = false;
            }
        }
    }
    for (id, global) in program.globals.iter_enumerated() {
        let kept = &mut kept[id.0 as usize];
        *kept =
            (*kept || global.is_constant || is_empty_string(program, id)) && global.init.is_some();
    }
    kept
}

/// Whether a global is the empty string: of one character, which is zero, and the place that
/// texts without memory of their own point to. Any other character would be a text without end.
pub fn is_empty_string(program: &Program, global: GlobalId) -> bool {
    let global = &program.globals[global];
    let is_zero = |piece: &program::InitPiece| match &program.constants[piece.value] {
        Const::Int { value, .. } => *value == 0,
        Const::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        constant => matches!(constant, Const::Zero(_)),
    };
    let is_array =
        matches!(spec::facts::stripped(program, global.ctype), CType::Array { count: Some(1), .. });
    global.size == 1
        && is_array
        && global.init.as_ref().is_some_and(|init| init.iter().all(is_zero))
}

/// Operands through which memory could be written: all but the address of a load, and of
/// pointer arithmetic that only loads use (not followed: it counts as exposed).
fn exposed_operands(inst: &program::Inst, expose: &mut dyn FnMut(Operand)) {
    match &inst.op {
        Op::Load(_) => {}
        Op::Store { access, value } => {
            expose(access.ptr);
            expose(*value);
        }
        Op::Address(address) => expose(address.base),
        Op::Convert(conversion) => expose(conversion.value),
        Op::Select { then, otherwise, .. } => {
            expose(*then);
            expose(*otherwise);
        }
        Op::Phi(operands) => operands.iter().for_each(|(_, operand)| expose(*operand)),
        Op::Call(call) => call.args.iter().for_each(|arg| expose(*arg)),
        Op::MemCopy { to, .. } | Op::MemSet { to, .. } => expose(*to),
        Op::AtomicUpdate { access, value, .. } => {
            expose(access.ptr);
            expose(*value);
        }
        Op::CompareExchange { access, expected, new } => {
            expose(access.ptr);
            expose(*expected);
            expose(*new);
        }
        Op::Asm { args, .. } | Op::Opaque { args, .. } => args.iter().for_each(|arg| expose(*arg)),
        Op::Insert { element, .. } => expose(*element),
        Op::Bind { .. } | Op::Compare { .. } | Op::Binary { .. } => {}
        _ => {}
    }
}

/// The instruction an operand is, where it is one.
pub fn as_inst(operand: Operand) -> Option<InstId> {
    match operand {
        Operand::Inst(inst) => Some(inst),
        _ => None,
    }
}
