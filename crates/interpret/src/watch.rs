//! What is watched in the runs of a program besides what the language leaves undefined:
//! specifications, compiled to what has to hold before an instruction and what it does to the
//! state of objects.

use base::IdVec;
use program::{BlockId, Body, Function, FunctionId, GlobalId, InstId, Op, Operand, Program, Ty};
use rustc_hash::FxHashMap;

use crate::FaultKind;
use crate::liveness::Liveness;

/// Of a whole program; shared by its runs.
#[derive(Debug, Default)]
pub struct Watch {
    /// Memory and streams that nothing leads to any more.
    pub leaks: bool,
    /// The attribute and the code that say that a stream is open, where leaks of these are
    /// watched.
    pub open: Option<(u16, i128)>,
    /// What these hold is not known where a run starts in a function that others call: somebody
    /// may have written it.
    pub written: Vec<GlobalId>,
    functions: IdVec<FunctionId, Watched>,
}

/// One function's.
#[derive(Debug, Default)]
struct Watched {
    /// One more than the place in `points`, by instruction, and behind these by block.
    at: Vec<u32>,
    n_insts: usize,
    /// What is to be done at each instruction, and at the end of each block, in a few bits.
    tasks: Vec<u8>,
    points: Vec<Points>,
    /// Operands of calls that are sizes.
    sizes: FxHashMap<InstId, Vec<Operand>>,
    /// Values and parameters that may be descriptors.
    descriptors: Vec<InstId>,
    descriptor_parameters: Vec<u32>,
    liveness: std::cell::OnceCell<Liveness>,
}

/// What is watched at one place.
#[derive(Clone, Debug, Default)]
pub struct Points {
    pub checks: Vec<Check>,
    pub effects: Vec<Effect>,
}

/// What has to hold when control comes to a place.
#[derive(Clone, Debug)]
pub struct Check {
    pub kind: FaultKind,
    /// Where it is not asked: the part of a point's condition that the text does not decide.
    pub when: Formula,
    pub require: Formula,
    /// The number that was meant, where it is a fault only once a wrong one does harm.
    pub meant: Option<Term>,
}

/// What an instruction does to the state of objects, once it is done.
#[derive(Clone, Debug)]
pub enum Effect {
    Set {
        attribute: u16,
        of: Operand,
        value: Term,
    },
    /// The first of these whose guard holds.
    Choose(Vec<(Formula, Vec<Effect>)>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    Known(bool),
    Compare(Comparison, Term, Term),
    Not(Box<Formula>),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Eq,
    Lt,
    Le,
}

/// A number without bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    Number(i128),
    /// The value of an operand of so many bits, read with a sign or without.
    Value(Operand, u32, bool),
    /// The state of the object a pointer leads to, or a number stands for.
    State(u16, Operand),
    /// Bytes from where a pointer leads to the end of its object.
    Size(Operand),
    /// Bytes from the start of its object to where a pointer leads.
    Offset(Operand),
    /// How long the string is that a pointer leads to.
    Length(Operand),
    Sum(Box<Term>, Box<Term>),
    Difference(Box<Term>, Box<Term>),
    Product(Box<Term>, Box<Term>),
}

impl Watch {
    /// Nothing is watched so far.
    pub fn new(program: &Program) -> Self {
        let watched = |function: &Function| {
            let Some(body) = &function.body else { return Watched::default() };
            let n_insts = body.insts.len();
            let at = vec![0; n_insts + body.blocks.len()];
            let tasks = tasks_of(body);
            Watched { at, n_insts, tasks, ..Watched::default() }
        };
        let functions = program.functions.iter().map(watched).collect();
        Self { functions, ..Self::default() }
    }

    /// Also watches this before an instruction.
    pub fn check(&mut self, function: FunctionId, inst: InstId, check: Check) {
        if let Some(points) = self.points(function, Some(inst), None) {
            points.checks.push(check);
        }
    }

    /// Also watches this at the end of a block.
    pub fn check_end(&mut self, function: FunctionId, block: BlockId, check: Check) {
        if let Some(points) = self.points(function, None, Some(block)) {
            points.checks.push(check);
        }
    }

    /// Also does this after an instruction.
    pub fn effects(&mut self, function: FunctionId, inst: InstId, effects: Vec<Effect>) {
        if let Some(points) = self.points(function, Some(inst), None) {
            points.effects.extend(effects);
        }
    }

    /// Says that a value may be a descriptor.
    pub fn descriptor(&mut self, function: FunctionId, inst: InstId) {
        if self.functions.get(function).is_some() {
            self.functions[function].descriptors.push(inst);
        }
    }

    pub fn descriptor_parameter(&mut self, function: FunctionId, index: u32) {
        if self.functions.get(function).is_some() {
            self.functions[function].descriptor_parameters.push(index);
        }
    }

    /// Says that a store keeps what may be a descriptor.
    pub fn descriptor_store(&mut self, function: FunctionId, inst: InstId) {
        if self.functions.get(function).is_some()
            && let Some(tasks) = self.functions[function].tasks.get_mut(inst.0 as usize)
        {
            *tasks |= REFERENCES | DESCRIPTOR;
        }
    }

    /// Says that references come and go at an instruction: a variable for descriptors changes.
    pub fn reference(&mut self, function: FunctionId, inst: InstId) {
        if self.functions.get(function).is_some()
            && let Some(tasks) = self.functions[function].tasks.get_mut(inst.0 as usize)
        {
            *tasks |= REFERENCES;
        }
    }

    pub(crate) fn is_descriptor(&self, function: FunctionId, operand: Operand) -> bool {
        let watched = &self.functions[function];
        match operand {
            Operand::Inst(inst) => watched.descriptors.contains(&inst),
            Operand::Param(index) => watched.descriptor_parameters.contains(&index),
            Operand::Const(_) => false,
        }
    }

    /// Says which operands of a call are sizes.
    pub fn size_operands(&mut self, function: FunctionId, call: InstId, sizes: Vec<Operand>) {
        if self.functions.get(function).is_some() && !sizes.is_empty() {
            self.functions[function].sizes.insert(call, sizes);
        }
    }

    pub(crate) fn sizes(&self, function: FunctionId, call: InstId) -> &[Operand] {
        self.functions[function].sizes.get(&call).map_or(&[], Vec::as_slice)
    }

    fn points(
        &mut self,
        function: FunctionId,
        inst: Option<InstId>,
        block: Option<BlockId>,
    ) -> Option<&mut Points> {
        self.functions.get(function)?;
        let watched = &mut self.functions[function];
        let index = match (inst, block) {
            (Some(inst), _) => inst.0 as usize,
            (None, block) => watched.n_insts + block?.0 as usize,
        };
        let at = watched.at.get_mut(index)?;
        if *at == 0 {
            watched.points.push(Points::default());
            *at = watched.points.len() as u32;
            watched.tasks[index] |= POINTS;
        }
        watched.points.get_mut(*at as usize - 1)
    }

    /// What is to be done at an instruction.
    pub(crate) fn tasks(&self, function: FunctionId, inst: InstId) -> u8 {
        self.functions[function].tasks[inst.0 as usize]
    }

    /// What is to be done at the end of a block.
    pub(crate) fn tasks_at_end(&self, function: FunctionId, block: BlockId) -> u8 {
        let watched = &self.functions[function];
        watched.tasks[watched.n_insts + block.0 as usize]
    }

    pub(crate) fn at(&self, function: FunctionId, inst: InstId) -> Option<&Points> {
        let watched = &self.functions[function];
        let at = watched.at[inst.0 as usize];
        if at == 0 { None } else { watched.points.get(at as usize - 1) }
    }

    pub(crate) fn at_end(&self, function: FunctionId, block: BlockId) -> Option<&Points> {
        let watched = &self.functions[function];
        let at = watched.at[watched.n_insts + block.0 as usize];
        if at == 0 { None } else { watched.points.get(at as usize - 1) }
    }

    /// Which values of a function are still read, computed when it is first asked for.
    pub(crate) fn liveness(&self, function: FunctionId, body: &Body) -> &Liveness {
        let watched = &self.functions[function];
        watched.liveness.get_or_init(|| Liveness::new(body, &watched.descriptors))
    }
}

/// Something is asked or done at this place.
pub(crate) const POINTS: u8 = 1;
/// References to memory may come and go there.
pub(crate) const REFERENCES: u8 = 2;
/// A descriptor is kept in memory.
pub(crate) const DESCRIPTOR: u8 = 4;

/// Where references come and go: pointers are stored, variables are overwritten, calls.
fn tasks_of(body: &Body) -> Vec<u8> {
    let is_pointer = |operand: &Operand| match operand {
        Operand::Inst(inst) => matches!(body.insts[*inst].ty, Ty::Ptr | Ty::Aggregate(_)),
        _ => true,
    };
    // Variables that hold pointers.
    let mut holds = vec![false; body.variables.len()];
    for inst in &body.insts {
        if let Op::Bind { variable, value: value @ Operand::Inst(_) } = &inst.op
            && is_pointer(value)
        {
            holds[variable.0 as usize] = true;
        }
    }
    let of_inst = |op: &Op| match op {
        Op::Call(_) | Op::MemCopy { .. } | Op::MemSet { .. } => REFERENCES,
        Op::Store { access, .. } if access.size == 8 => REFERENCES,
        Op::Bind { variable, .. } if holds[variable.0 as usize] => REFERENCES,
        _ => 0,
    };
    let insts = body.insts.iter().map(|inst| of_inst(&inst.op));
    let again = crate::liveness::blocks_that_start_again(body);
    let ends = again.into_iter().map(|starts| if starts { REFERENCES } else { 0 });
    insts.chain(ends).collect()
}
