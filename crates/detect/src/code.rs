//! The program with what the search needs to know of its functions.

use std::sync::Arc;

use facts::cfg::{Cfg, NoReturn};
use facts::externals;
use facts::loops::FunctionLoops;
use program::{
    BlockId, CType, Call, Callee, Const, FunctionId, GlobalId, Inst, InstId, LocId, Op, Operand,
    Program, TypeId,
};

use crate::effects::{Effect, Effects, never_written};
use crate::outside::Members;
use crate::ownership::Ownership;
use crate::ownership::handed::Fate;
use crate::suspects::Suspects;
use crate::tested::Tested;
use facts::reaches::Uses;

pub struct Code<'p> {
    pub program: &'p Program,
    no_return: NoReturn,
    shapes: Vec<Option<Shape>>,
    callers: Vec<Vec<FunctionId>>,
    effects: Effects,
    uses: Uses,
    tested: Tested,
    members: Members,
    suspects: Arc<Suspects>,
    ownership: Ownership,
    never_written: Arc<[bool]>,
    defined: Arc<[bool]>,
}

/// Control flow of one function.
pub struct Shape {
    pub cfg: Cfg,
    pub loops: FunctionLoops,
}

impl<'p> Code<'p> {
    pub fn new(program: &'p Program) -> Self {
        let no_return = NoReturn::compute(program);
        let shapes = program.functions.iter().map(|function| {
            let body = function.body.as_ref()?;
            let cfg = Cfg::new(body, |inst| no_return.ends_flow(&body.insts[inst]));
            let loops = FunctionLoops::new(body, &cfg, &program.constants);
            Some(Shape { cfg, loops })
        });
        let shapes: Vec<Option<Shape>> = shapes.collect();
        let suspects = Suspects::new(program, &|function: FunctionId| {
            shapes[function.0 as usize].as_ref().map(|shape| &shape.cfg)
        });
        let members = Members::new(program);
        let ownership = Ownership::new(program, &|function: FunctionId| {
            shapes[function.0 as usize].as_ref().map(|shape| &shape.cfg)
        });
        let uses = Uses::new(program, &members);
        Self {
            ownership,
            program,
            no_return,
            shapes,
            callers: callers(program),
            effects: Effects::new(program),
            tested: Tested::new(program, &uses),
            uses,
            members,
            suspects: Arc::new(suspects),
            never_written: never_written(program).into(),
            defined: program.globals.iter().map(|global| global.init.is_some()).collect(),
        }
    }

    pub fn shape(&self, function: FunctionId) -> Option<&Shape> {
        self.shapes[function.0 as usize].as_ref()
    }

    /// Where a block ends in the text.
    pub fn end_of(&self, function: FunctionId, block: BlockId) -> LocId {
        let body = self.program.functions[function].body.as_ref();
        body.map_or(LocId::UNKNOWN, |body| body.blocks[block].loc)
    }

    /// Functions that call this one directly, ascending.
    pub fn callers(&self, function: FunctionId) -> &[FunctionId] {
        &self.callers[function.0 as usize]
    }

    pub fn never_returns(&self, inst: &Inst) -> bool {
        self.no_return.ends_flow(inst)
    }

    /// What a call that is not entered may write.
    pub fn call_effect(&self, call: &Call) -> Effect {
        self.effects.of_call(call)
    }

    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// Pointers that callers may hand over spoilt.
    pub fn suspects(&self) -> Arc<Suspects> {
        self.suspects.clone()
    }

    /// What the program stores to members of its records.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Which functions allocate and release memory for their callers.
    pub fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// What a call may do with a pointer it is given.
    pub fn fate(&self, caller: FunctionId, call: &Call, index: usize) -> Fate {
        let Ownership { targets, handed, .. } = &self.ownership;
        match &self.program.functions[caller].body {
            Some(body) => handed.of_argument(self.program, targets, body, call, index),
            None => Fate::default(),
        }
    }

    /// Whether a library function holds on to an argument, or hands it to another thread.
    pub fn is_kept_outside(&self, call: &Call, index: usize) -> bool {
        let Callee::Function(function) = call.callee else { return false };
        let Some(external) = externals::lookup(&self.program.functions[function].name) else {
            return false;
        };
        let is = |listed: &u8| usize::from(*listed) == index;
        let passes = external.callbacks.iter().flat_map(|callback| &callback.passes);
        external.keeps.iter().any(is) || passes.into_iter().any(is)
    }

    /// Whether the code of `caller` decides by what a call of it came back with.
    pub fn is_tested(&self, caller: FunctionId, call: InstId) -> bool {
        self.tested.contains(caller, call)
    }

    /// Whether anything reads what an instruction computes.
    pub fn is_used(&self, function: FunctionId, inst: InstId) -> bool {
        !self.uses.users(function, inst).is_empty()
    }

    /// Globals that hold their initialiser when `root` starts.
    pub fn initialized(&self, root: FunctionId) -> Arc<[bool]> {
        let function = &self.program.functions[root];
        if &*function.name == "main" && self.callers(root).is_empty() {
            self.defined.clone()
        } else {
            self.never_written.clone()
        }
    }

    /// Whether a global keeps its initialiser for the whole run.
    pub fn is_never_written(&self, global: GlobalId) -> bool {
        self.never_written[global.0 as usize]
    }

    /// Globals that hold their initialiser before anything ran.
    pub fn defined(&self) -> Arc<[bool]> {
        self.defined.clone()
    }

    pub fn callee_name<'a>(&'a self, call: &'a Call) -> Option<&'a str> {
        match &call.callee {
            Callee::Function(function) => Some(&self.program.functions[*function].name),
            Callee::Intrinsic(name) => Some(name),
            Callee::Pointer(_) => None,
        }
    }

    /// Whether a C type is a pointer to something that is not to be written.
    pub fn points_to_const(&self, ctype: TypeId) -> bool {
        match &self.program.types[ctype] {
            CType::Pointer(target) => self.is_const(*target),
            CType::Typedef { target, .. } | CType::Const(target) | CType::Restrict(target) => {
                self.points_to_const(*target)
            }
            _ => false,
        }
    }

    fn is_const(&self, ctype: TypeId) -> bool {
        match &self.program.types[ctype] {
            CType::Const(_) => true,
            CType::Typedef { target, .. } | CType::Volatile(target) => self.is_const(*target),
            _ => false,
        }
    }
}

fn callers(program: &Program) -> Vec<Vec<FunctionId>> {
    let mut callers = vec![Vec::new(); program.functions.len()];
    for (id, function) in program.functions.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        let mut add = |callee: FunctionId| {
            let list: &mut Vec<FunctionId> = &mut callers[callee.0 as usize];
            if list.last() != Some(&id) {
                list.push(id);
            }
        };
        for inst in &body.insts {
            if let Op::Call(call) = &inst.op
                && let Callee::Function(callee) = call.callee
            {
                add(callee);
            }
            // Who takes a function's address most likely calls it, or hands it on.
            inst.op.for_each_operand(|operand| {
                if let Operand::Const(constant) = operand
                    && let Const::Function(callee) = program.constants[constant]
                {
                    add(callee);
                }
            });
        }
    }
    callers
}

impl spec::text::Flow for Code<'_> {
    fn reaches_size(&self, function: FunctionId, value: Operand) -> bool {
        self.uses.reaches_size(self.program, &self.members, function, value)
    }

    fn masks(&self, function: FunctionId, value: Operand) -> bool {
        facts::reaches::masks(&self.uses, self.program, function, value)
    }
}
