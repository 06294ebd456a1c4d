//! Which numbers of a program are descriptors: what opens one returns, and where that goes. A run
//! tells a descriptor from other small numbers by this.

use facts::members::{Member, accessed_member};
use program::{
    Body, Callee, Const, FunctionId, GlobalId, InstId, Op, Operand, Program, Terminator,
};
use rustc_hash::FxHashSet;

/// Values that may be descriptors.
#[derive(Debug, Default)]
pub struct Descriptors {
    pub values: FxHashSet<(FunctionId, InstId)>,
    pub parameters: FxHashSet<(FunctionId, u32)>,
    results: FxHashSet<FunctionId>,
    members: FxHashSet<Member>,
    globals: FxHashSet<GlobalId>,
    locals: FxHashSet<(FunctionId, InstId)>,
}

/// Where a descriptor may be kept.
enum Kept {
    Member(Member),
    Global(GlobalId),
    Local(InstId),
}

impl Descriptors {
    /// What follows from the calls that open them.
    pub fn new(program: &Program, opening: FxHashSet<(FunctionId, InstId)>) -> Self {
        let mut found = Self { values: opening, ..Self::default() };
        // Sets only grow, so this ends.
        while found.spread(program) {}
        found
    }

    fn size(&self) -> usize {
        let kept = self.members.len() + self.globals.len() + self.locals.len();
        self.values.len() + self.parameters.len() + self.results.len() + kept
    }

    fn spread(&mut self, program: &Program) -> bool {
        let before = self.size();
        if self.values.is_empty() {
            return false;
        }
        for (function, data) in program.functions.iter_enumerated() {
            let Some(body) = &data.body else { continue };
            for (id, inst) in body.insts.iter_enumerated() {
                let is = |operand: &Operand| self.has(function, *operand);
                let is_one = match &inst.op {
                    Op::Convert(conversion) => is(&conversion.value),
                    Op::Phi(edges) => edges.iter().any(|(_, operand)| is(operand)),
                    Op::Select { then, otherwise, .. } => is(then) || is(otherwise),
                    Op::Load(access) => match kept(program, body, access) {
                        Some(Kept::Member(member)) => self.members.contains(&member),
                        Some(Kept::Global(global)) => self.globals.contains(&global),
                        Some(Kept::Local(local)) => self.locals.contains(&(function, local)),
                        None => false,
                    },
                    Op::Call(call) => match &call.callee {
                        Callee::Function(callee) => self.results.contains(callee),
                        _ => false,
                    },
                    _ => false,
                };
                if is_one {
                    self.values.insert((function, id));
                }
                self.spread_on(program, function, body, &inst.op);
            }
            for block in &body.blocks {
                if let Terminator::Return(Some(value)) = &block.terminator
                    && self.has(function, *value)
                {
                    self.results.insert(function);
                }
            }
        }
        self.size() != before
    }

    fn spread_on(&mut self, program: &Program, function: FunctionId, body: &Body, op: &Op) {
        match op {
            Op::Store { access, value } if self.has(function, *value) => {
                match kept(program, body, access) {
                    Some(Kept::Member(member)) => drop(self.members.insert(member)),
                    Some(Kept::Global(global)) => drop(self.globals.insert(global)),
                    Some(Kept::Local(local)) => drop(self.locals.insert((function, local))),
                    None => {}
                }
            }
            Op::Call(call) => {
                let Callee::Function(callee) = &call.callee else { return };
                if program.functions.get(*callee).is_none_or(|callee| callee.body.is_none()) {
                    return;
                }
                for (index, argument) in (0..).zip(&call.args) {
                    if self.has(function, *argument) {
                        self.parameters.insert((*callee, index));
                    }
                }
            }
            _ => {}
        }
    }

    pub fn has(&self, function: FunctionId, operand: Operand) -> bool {
        match operand {
            Operand::Inst(inst) => self.values.contains(&(function, inst)),
            Operand::Param(index) => self.parameters.contains(&(function, index)),
            Operand::Const(_) => false,
        }
    }
}

fn kept(program: &Program, body: &Body, access: &program::Access) -> Option<Kept> {
    if let Some(member) = accessed_member(body, access) {
        return Some(Kept::Member(member));
    }
    match access.ptr {
        Operand::Const(id) => match program.constants.get(id)? {
            Const::Global { global, .. } => Some(Kept::Global(*global)),
            _ => None,
        },
        Operand::Inst(inst) => match &body.insts[inst].op {
            Op::Alloca { .. } => Some(Kept::Local(inst)),
            Op::Address(address) => match address.base {
                Operand::Inst(base) if matches!(body.insts[base].op, Op::Alloca { .. }) => {
                    Some(Kept::Local(base))
                }
                _ => None,
            },
            _ => None,
        },
        Operand::Param(_) => None,
    }
}
