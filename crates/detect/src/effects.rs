//! What calls write, function by function: enough to step over a call without forgetting
//! everything.

use std::collections::BTreeSet;

use facts::externals;
use program::{Call, Callee, Const, FunctionId, GlobalId, InstId, Op, Operand, Program};

/// Memory a call may write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// What these arguments point to.
    pub args: BTreeSet<usize>,
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

    fn of_external(name: &str) -> Option<Self> {
        let external = externals::lookup(name)?;
        let listed = external.writes.iter().chain(&external.frees).map(|index| usize::from(*index));
        let mut args: BTreeSet<usize> = listed.collect();
        if let Some(from) = external.writes_from {
            args.extend(usize::from(from)..usize::from(from) + 16);
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
        // Effects only grow, and each by at most its arguments and globals: this ends.
        loop {
            let mut changed = false;
            for (id, function) in program.functions.iter_enumerated() {
                if function.body.is_some() {
                    let effect = effects.of_body(program, id);
                    if effect != effects.functions[id.0 as usize] {
                        effects.functions[id.0 as usize] = effect;
                        changed = true;
                    }
                }
            }
            if !changed {
                return effects;
            }
        }
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
                effect.args.insert(0);
                effect
            }
            Callee::Intrinsic(_) => Effect::default(),
            Callee::Pointer(_) => Effect::anything(),
        }
    }

    fn of_body(&self, program: &Program, id: FunctionId) -> Effect {
        let mut effect = self.functions[id.0 as usize].clone();
        let Some(body) = &program.functions[id].body else { return effect };
        for inst in &body.insts {
            match &inst.op {
                Op::Store { access, .. }
                | Op::AtomicUpdate { access, .. }
                | Op::CompareExchange { access, .. } => {
                    add_root(program, id, access.ptr, &mut effect, 0);
                }
                Op::MemCopy { to, .. } | Op::MemSet { to, .. } => {
                    add_root(program, id, *to, &mut effect, 0);
                }
                Op::Asm { may_write: true, .. } => effect.anything = true,
                Op::Call(call) => {
                    let callee = self.of_call(call);
                    effect.anything |= callee.anything;
                    effect.calls_unknown |= callee.calls_unknown;
                    effect.globals.extend(callee.globals);
                    for index in callee.args {
                        if let Some(arg) = call.args.get(index) {
                            add_root(program, id, *arg, &mut effect, 0);
                        }
                    }
                }
                _ => {}
            }
        }
        effect
    }
}

/// Adds the memory behind `ptr`, seen from the callers of `function`.
fn add_root(
    program: &Program,
    function: FunctionId,
    ptr: Operand,
    effect: &mut Effect,
    depth: u32,
) {
    let Some(body) = &program.functions[function].body else { return };
    match ptr {
        Operand::Param(index) => {
            effect.args.insert(index as usize);
        }
        Operand::Const(id) => {
            if let Const::Global { global, .. } = program.constants[id] {
                effect.globals.insert(global);
            }
        }
        Operand::Inst(inst) if depth < 16 => match &body.insts[inst].op {
            Op::Alloca { .. } => {}
            Op::Address(address) => add_root(program, function, address.base, effect, depth + 1),
            Op::Convert(conversion) => {
                add_root(program, function, conversion.value, effect, depth + 1);
            }
            Op::Select { then, otherwise, .. } => {
                add_root(program, function, *then, effect, depth + 1);
                add_root(program, function, *otherwise, effect, depth + 1);
            }
            Op::Phi(operands) => {
                let deeper = depth.saturating_add(4);
                for (_, operand) in operands {
                    if *operand != ptr {
                        add_root(program, function, *operand, effect, deeper);
                    }
                }
            }
            Op::Call(call) if is_fresh(program, call) => {}
            Op::Load(access) if is_own_slot(program, function, access.ptr) => {
                add_stored(program, function, access.ptr, effect, depth + 1);
            }
            _ => effect.anything = true,
        },
        // A chain too long is mostly a pointer walked by a loop: its start was seen above.
        Operand::Inst(_) => {}
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

/// Whether `ptr` is a variable of this call, so that what it holds was stored here.
fn is_own_slot(program: &Program, function: FunctionId, ptr: Operand) -> bool {
    let (Some(body), Operand::Inst(inst)) = (&program.functions[function].body, ptr) else {
        return false;
    };
    matches!(body.insts[inst].op, Op::Alloca { .. })
}

/// Adds what the pointers stored in a variable lead to.
fn add_stored(
    program: &Program,
    function: FunctionId,
    slot: Operand,
    effect: &mut Effect,
    depth: u32,
) {
    let Some(body) = &program.functions[function].body else { return };
    for (_, inst) in body.insts.iter_enumerated() {
        if let Op::Store { access, value } = &inst.op
            && access.ptr == slot
        {
            add_root(program, function, *value, effect, depth + 3);
        }
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
        *kept = (*kept || global.is_constant) && global.init.is_some();
    }
    kept
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
