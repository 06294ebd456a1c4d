//! What functions do with the pointers they are given: whether they only look at what is
//! behind them, or keep them, hand them back, or may release them.

use facts::externals::{self, Returned};
use program::{Body, Call, Callee, FunctionId, Op, Operand, Program, Terminator, Ty};

use super::targets::Targets;

/// What may become of a pointer handed to a function, or of one found behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// It is stored where others find it, or goes to code nobody sees.
    pub kept: bool,
    pub released: bool,
    /// It comes back as the result, or something behind it does.
    pub returned: bool,
}

impl Fate {
    const LOST: Self = Self { kept: true, released: true, returned: true };

    fn or(self, other: Self) -> Self {
        Self {
            kept: self.kept || other.kept,
            released: self.released || other.released,
            returned: self.returned || other.returned,
        }
    }
}

/// The fates of all parameters.
pub struct Handed {
    functions: Vec<Vec<Fate>>,
}

/// Parameters beyond these are taken to be kept.
const MAX_PARAMS: usize = 64;

impl Handed {
    pub fn new(program: &Program, targets: &Targets) -> Self {
        let functions = program.functions.iter().map(|function| match function.body {
            Some(_) => vec![Fate::default(); function.params.len()],
            None => Vec::new(),
        });
        let mut handed = Self { functions: functions.collect() };
        // Fates only get worse, a few bits for each parameter: this ends.
        loop {
            let mut changed = false;
            for (id, function) in program.functions.iter_enumerated() {
                if let Some(body) = &function.body {
                    let fates = handed.of_body(program, targets, body, function.params.len());
                    let known = &mut handed.functions[id.0 as usize];
                    changed |= *known != fates;
                    *known = fates;
                }
            }
            if !changed {
                return handed;
            }
        }
    }

    /// What a call of a function may do with an argument.
    pub fn of(&self, program: &Program, function: FunctionId, index: usize) -> Fate {
        if program.functions[function].body.is_some() {
            let fates = &self.functions[function.0 as usize];
            return fates.get(index).copied().unwrap_or(Fate::LOST);
        }
        let Some(external) = externals::lookup(&program.functions[function].name) else {
            return Fate::LOST;
        };
        let is = |listed: u8| usize::from(listed) == index;
        Fate {
            kept: external.keeps.iter().any(|k| is(*k))
                || external.stores.iter().any(|(_, value)| is(*value))
                || external.copies.iter().any(|(_, from)| is(*from))
                || external.callbacks.iter().any(|c| c.passes.iter().any(|p| is(*p))),
            released: external.frees.iter().any(|f| is(*f)),
            returned: matches!(external.returned,
                Returned::Argument(a) | Returned::Within(a) | Returned::Pointee(a) if is(a)),
        }
    }

    /// What a call may do with an argument, whichever function it reaches.
    pub fn of_argument(
        &self,
        program: &Program,
        targets: &Targets,
        body: &Body,
        call: &Call,
        index: usize,
    ) -> Fate {
        match &call.callee {
            Callee::Function(function) => self.of(program, *function, index),
            Callee::Intrinsic(_) => Fate::default(),
            // Where the program names candidates, they stand for those it does not name.
            Callee::Pointer(_) => {
                let found = targets.of_call(program, body, &call.callee);
                let fates = found.iter().map(|function| self.of(program, *function, index));
                fates.reduce(Fate::or).unwrap_or(Fate::LOST)
            }
        }
    }

    fn of_body(
        &self,
        program: &Program,
        targets: &Targets,
        body: &Body,
        n_params: usize,
    ) -> Vec<Fate> {
        let mut fates = vec![Fate::default(); n_params];
        let sources = self.sources(program, targets, body);
        let mut add = |mask: u64, fate: Fate| {
            for (index, known) in fates.iter_mut().enumerate().take(MAX_PARAMS) {
                if mask >> index & 1 == 1 {
                    *known = known.or(fate);
                }
            }
        };
        let kept = Fate { kept: true, ..Fate::default() };
        for inst in &body.insts {
            match &inst.op {
                Op::Store { access, value } if sources.root_is_foreign(body, access.ptr) => {
                    add(sources.of(*value), kept);
                }
                Op::MemCopy { to, from, .. } if sources.root_is_foreign(body, *to) => {
                    add(sources.of(*from), kept);
                }
                Op::AtomicUpdate { value, .. } => add(sources.of(*value), kept),
                Op::CompareExchange { new, .. } => add(sources.of(*new), kept),
                Op::Asm { args, .. } | Op::Opaque { args, .. } => {
                    args.iter().for_each(|arg| add(sources.of(*arg), kept));
                }
                Op::Call(call) => {
                    for (index, arg) in call.args.iter().enumerate() {
                        let mask = sources.of(*arg);
                        if mask != 0 {
                            let fate = self.of_argument(program, targets, body, call, index);
                            add(mask, Fate { returned: false, ..fate });
                        }
                    }
                }
                _ => {}
            }
        }
        for block in &body.blocks {
            if let Terminator::Return(Some(value)) = block.terminator {
                add(sources.of(value), Fate { returned: true, ..Fate::default() });
            }
        }
        fates
    }

    /// For each instruction, the parameters its value may be derived from, as bits.
    fn sources(&self, program: &Program, targets: &Targets, body: &Body) -> Sources {
        let mut sources = Sources { masks: vec![0; body.insts.len()] };
        loop {
            let mut changed = false;
            for (id, inst) in body.insts.iter_enumerated() {
                let mask = match &inst.op {
                    Op::Address(address) => sources.of(address.base),
                    Op::Convert(conversion) => sources.of(conversion.value),
                    Op::Phi(operands) => operands.iter().fold(0, |m, (_, o)| m | sources.of(*o)),
                    Op::Select { then, otherwise, .. } => {
                        sources.of(*then) | sources.of(*otherwise)
                    }
                    Op::Load(access) if inst.ty == Ty::Ptr => sources.of(access.ptr),
                    // Into a variable of this call, which may lead on from there.
                    Op::Store { access, value } => {
                        changed |= sources.add_to_variable(body, access.ptr, *value);
                        continue;
                    }
                    Op::MemCopy { to, from, .. } => {
                        changed |= sources.add_to_variable(body, *to, *from);
                        continue;
                    }
                    Op::Call(call) if inst.ty == Ty::Ptr => {
                        let mut mask = 0;
                        for (index, arg) in call.args.iter().enumerate() {
                            let of_arg = sources.of(*arg);
                            if of_arg != 0
                                && self.of_argument(program, targets, body, call, index).returned
                            {
                                mask |= of_arg;
                            }
                        }
                        mask
                    }
                    _ => continue,
                };
                let known = &mut sources.masks[id.0 as usize];
                changed |= *known | mask != *known;
                *known |= mask;
            }
            if !changed {
                return sources;
            }
        }
    }
}

struct Sources {
    masks: Vec<u64>,
}

impl Sources {
    fn of(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Param(index) if (index as usize) < MAX_PARAMS => 1 << index,
            Operand::Inst(inst) => self.masks[inst.0 as usize],
            _ => 0,
        }
    }

    /// Whether memory behind the address is not a variable of this call alone.
    fn root_is_foreign(&self, body: &Body, ptr: Operand) -> bool {
        variable_behind(body, ptr).is_none()
    }

    fn add_to_variable(&mut self, body: &Body, ptr: Operand, value: Operand) -> bool {
        let mask = self.of(value);
        let Some(variable) = variable_behind(body, ptr) else { return false };
        let known = &mut self.masks[variable.0 as usize];
        let changed = *known | mask != *known;
        *known |= mask;
        changed
    }
}

/// The variable of the call whose memory an address leads to.
fn variable_behind(body: &Body, mut ptr: Operand) -> Option<program::InstId> {
    for _ in 0..16 {
        let Operand::Inst(inst) = ptr else { return None };
        match &body.insts[inst].op {
            Op::Alloca { .. } => return Some(inst),
            Op::Address(address) => ptr = address.base,
            Op::Convert(conversion) => ptr = conversion.value,
            _ => return None,
        }
    }
    None
}
