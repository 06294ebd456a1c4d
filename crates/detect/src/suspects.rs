//! Pointers that some caller may hand over spoilt: freed before, or moved back before the
//! start of their object.
//!
//! A function takes the pointers it is given, and those it finds in globals, to be good:
//! asking every caller about every access would cost far more than it finds. Where the code
//! of a caller itself releases or moves back what it then hands over, it is asked.

use std::collections::BTreeMap;

use facts::cfg::Cfg;
use facts::externals;
use program::{
    BinaryOp, BlockId, Body, Callee, Const, FunctionId, GlobalId, InstId, Op, Operand, PathStep,
    Program,
};
use rustc_hash::FxHashSet;

/// What may be wrong with a pointer that comes from elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspicion {
    /// It was passed to something that frees it.
    pub released: bool,
    /// It was moved towards lower addresses.
    pub moved_back: bool,
}

impl Suspicion {
    fn or(self, other: Self) -> Self {
        Self {
            released: self.released || other.released,
            moved_back: self.moved_back || other.moved_back,
        }
    }
}

/// The suspicious pointers of a program.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    parameters: BTreeMap<(FunctionId, usize), Suspicion>,
    globals: BTreeMap<GlobalId, Suspicion>,
}

/// Functions between the one that spoils a pointer and the one that is asked.
const MAX_PASSES: usize = 4;

impl Suspects {
    pub fn new<'c>(program: &Program, cfg: &dyn Fn(FunctionId) -> Option<&'c Cfg>) -> Self {
        let releasing = releasing_parameters(program);
        let mut suspects = Self::default();
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for (id, function) in program.functions.iter_enumerated() {
                if let (Some(body), Some(cfg)) = (&function.body, cfg(id)) {
                    let scan = Scan { program, function: id, body, cfg, releasing: &releasing };
                    changed |= scan.run(&mut suspects);
                }
            }
            if !changed {
                break;
            }
        }
        suspects
    }

    /// What may be wrong with a parameter of pointer type.
    pub fn of_parameter(&self, function: FunctionId, index: usize) -> Suspicion {
        self.parameters.get(&(function, index)).copied().unwrap_or_default()
    }

    /// Functions that may meet a pointer that was released: in a parameter, or in a global
    /// they read themselves.
    pub fn functions(&self, program: &Program) -> FxHashSet<FunctionId> {
        let released = self.parameters.iter().filter(|(_, suspicion)| suspicion.released);
        let mut functions: FxHashSet<FunctionId> = released.map(|((id, _), _)| *id).collect();
        let suspect_global = |id: &GlobalId| self.of_global(*id).released;
        if self.globals.keys().any(suspect_global) {
            for (id, function) in program.functions.iter_enumerated() {
                if function
                    .body
                    .as_ref()
                    .is_some_and(|body| reads_any(program, body, &suspect_global))
                {
                    functions.insert(id);
                }
            }
        }
        functions
    }

    /// What may be wrong with a pointer found in a global.
    pub fn of_global(&self, global: GlobalId) -> Suspicion {
        self.globals.get(&global).copied().unwrap_or_default()
    }
}

/// Whether a function reads a global of this kind by name.
fn reads_any(program: &Program, body: &Body, wanted: &dyn Fn(&GlobalId) -> bool) -> bool {
    body.insts.iter().any(|inst| match &inst.op {
        Op::Load(access) => match access.ptr {
            Operand::Const(id) => matches!(&program.constants[id],
                Const::Global { global, .. } if wanted(global)),
            _ => false,
        },
        _ => false,
    })
}

/// Parameters that a function passes to something that frees them.
fn releasing_parameters(program: &Program) -> FxHashSet<(FunctionId, usize)> {
    let mut releasing = FxHashSet::default();
    for (id, function) in program.functions.iter_enumerated() {
        if function.body.is_none()
            && let Some(external) = externals::lookup(&function.name)
        {
            releasing.extend(external.frees.iter().map(|index| (id, usize::from(*index))));
        }
    }
    for _ in 0..MAX_PASSES {
        let before = releasing.len();
        for (id, function) in program.functions.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for (_, operand) in released(program, body, &releasing) {
                for root in roots(body, operand).0 {
                    if let Operand::Param(index) = root {
                        releasing.insert((id, index as usize));
                    }
                }
            }
        }
        if releasing.len() == before {
            break;
        }
    }
    releasing
}

/// The calls of a body that free an argument, with the argument.
fn released(
    program: &Program,
    body: &Body,
    releasing: &FxHashSet<(FunctionId, usize)>,
) -> Vec<(InstId, Operand)> {
    let mut found = Vec::new();
    for (id, inst) in body.insts.iter_enumerated() {
        let Op::Call(call) = &inst.op else { continue };
        let Some(callee) = direct_callee(program, &call.callee) else { continue };
        for (index, arg) in call.args.iter().enumerate() {
            if releasing.contains(&(callee, index)) {
                found.push((id, *arg));
            }
        }
    }
    found
}

fn direct_callee(program: &Program, callee: &Callee) -> Option<FunctionId> {
    match callee {
        Callee::Function(function) => Some(*function),
        Callee::Pointer(Operand::Const(id)) => match program.constants[*id] {
            Const::Function(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

/// One function, looked through for what it hands over.
struct Scan<'a> {
    program: &'a Program,
    function: FunctionId,
    body: &'a Body,
    cfg: &'a Cfg,
    releasing: &'a FxHashSet<(FunctionId, usize)>,
}

impl Scan<'_> {
    /// Adds the function's own findings; whether there were new ones.
    fn run(&self, suspects: &mut Suspects) -> bool {
        let released: Vec<(InstId, Vec<Operand>)> =
            released(self.program, self.body, self.releasing)
                .into_iter()
                .map(|(inst, operand)| (inst, roots(self.body, operand).0))
                .collect();
        let mut changed = false;
        for (id, inst) in self.body.insts.iter_enumerated() {
            match &inst.op {
                Op::Call(call) => {
                    let Some(callee) = direct_callee(self.program, &call.callee) else { continue };
                    if self.program.functions[callee].body.is_none() {
                        continue;
                    }
                    for (index, arg) in call.args.iter().enumerate() {
                        let suspicion = self.suspicion(suspects, &released, id, *arg);
                        let known = suspects.parameters.get(&(callee, index)).copied();
                        let joined = suspicion.or(known.unwrap_or_default());
                        if joined != known.unwrap_or_default() {
                            suspects.parameters.insert((callee, index), joined);
                            changed = true;
                        }
                    }
                }
                Op::Store { access, value } => {
                    let Operand::Const(place) = access.ptr else { continue };
                    let Const::Global { global, .. } = self.program.constants[place] else {
                        continue;
                    };
                    let suspicion = self.suspicion(suspects, &released, id, *value);
                    let known = suspects.globals.get(&global).copied().unwrap_or_default();
                    let joined = suspicion.or(known);
                    if joined != known {
                        suspects.globals.insert(global, joined);
                        changed = true;
                    }
                }
                _ => {}
            }
        }
        changed
    }

    /// What may be wrong with an operand of `at`, which hands it over.
    fn suspicion(
        &self,
        suspects: &Suspects,
        released: &[(InstId, Vec<Operand>)],
        at: InstId,
        operand: Operand,
    ) -> Suspicion {
        let (roots, moved_back) = roots(self.body, operand);
        let was_released = released.iter().any(|(by, freed)| {
            *by != at && freed.iter().any(|root| roots.contains(root)) && self.follows(*by, at)
        });
        let mut suspicion = Suspicion { released: was_released, moved_back };
        for root in roots {
            if let Operand::Param(index) = root {
                suspicion = suspicion.or(suspects.of_parameter(self.function, index as usize));
            }
        }
        suspicion
    }

    /// Whether control can come from one instruction to another.
    fn follows(&self, first: InstId, then: InstId) -> bool {
        let (from, to) = (self.body.insts[first].block, self.body.insts[then].block);
        if from == to && first < then {
            return true;
        }
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut waiting = self.cfg.successors(from).to_vec();
        while let Some(block) = waiting.pop() {
            if block == to {
                return true;
            }
            if seen.insert(block) {
                waiting.extend(self.cfg.successors(block));
            }
        }
        false
    }
}

/// What a pointer is derived from inside its function, and whether it was moved back.
/// Constants are left out: the null pointer has no object.
fn roots(body: &Body, operand: Operand) -> (Vec<Operand>, bool) {
    const MAX_ROOTS: usize = 16;
    let (mut found, mut moved_back) = (Vec::new(), false);
    let mut seen: FxHashSet<InstId> = FxHashSet::default();
    let mut waiting = vec![operand];
    while let Some(operand) = waiting.pop() {
        let Operand::Inst(inst) = operand else {
            if matches!(operand, Operand::Param(_)) {
                found.push(operand);
            }
            continue;
        };
        if !seen.insert(inst) || seen.len() > MAX_ROOTS {
            continue;
        }
        match &body.insts[inst].op {
            Op::Convert(conversion) => waiting.push(conversion.value),
            Op::Address(address) => {
                let enters_member =
                    address.path.iter().any(|step| matches!(step, PathStep::Field { .. }));
                let subtracts = address.terms.iter().any(|term| is_negated(body, term.index));
                moved_back |= !enters_member && (address.offset < 0 || subtracts);
                waiting.push(address.base);
            }
            Op::Phi(operands) => waiting.extend(operands.iter().map(|(_, operand)| *operand)),
            Op::Select { then, otherwise, .. } => waiting.extend([*then, *otherwise]),
            _ => found.push(operand),
        }
    }
    (found, moved_back)
}

/// `p - n` is `p` plus `0 - n`.
fn is_negated(body: &Body, index: Operand) -> bool {
    let Operand::Inst(inst) = index else { return false };
    match &body.insts[inst].op {
        Op::Binary { op: BinaryOp::Sub, lhs: Operand::Const(_), .. } => true,
        Op::Convert(conversion) => is_negated(body, conversion.value),
        _ => false,
    }
}
