//! Which functions never return to their caller, wrappers included.
//!
//! The declared and the well-known ones come first; a function whose every path ends in
//! such a call (or spins forever) is one as well, and so on up the callers.

use program::{BlockId, Body, Callee, FunctionId, Inst, Op, Program, Terminator};

use crate::csr::Csr;
use crate::externals;

/// The functions of a program from which control does not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoReturn {
    functions: Vec<bool>,
}

impl NoReturn {
    pub fn compute(program: &Program) -> Self {
        let functions = program
            .functions
            .iter()
            .map(|function| {
                function.is_noreturn
                    || (function.body.is_none() && externals::never_returns(&function.name))
            })
            .collect();
        let mut inferred = Self { functions };
        let callers = direct_callers(program);
        let mut work: Vec<FunctionId> = program.functions.ids().collect();
        while let Some(id) = work.pop() {
            let Some(body) = &program.functions[id].body else { continue };
            if !inferred.functions[id.0 as usize] && !inferred.can_return(body) {
                inferred.functions[id.0 as usize] = true;
                work.extend(callers.row(id.0 as usize).iter().map(|&caller| FunctionId(caller)));
            }
        }
        inferred
    }

    pub fn function(&self, id: FunctionId) -> bool {
        self.functions[id.0 as usize]
    }

    /// Whether control never gets past this instruction.
    pub fn ends_flow(&self, inst: &Inst) -> bool {
        let Op::Call(call) = &inst.op else { return false };
        call.is_noreturn || matches!(call.callee, Callee::Function(id) if self.function(id))
    }

    fn can_return(&self, body: &Body) -> bool {
        let mut seen = vec![false; body.blocks.len()];
        let mut work = vec![Body::ENTRY];
        while let Some(id) = work.pop() {
            let Some(block) = body.blocks.get(id) else { continue };
            if std::mem::replace(&mut seen[id.0 as usize], true)
                || block.inst_ids().any(|inst| self.ends_flow(&body.insts[inst]))
            {
                continue;
            }
            match &block.terminator {
                Terminator::Return(_) => return true,
                Terminator::Jump(target) => work.push(*target),
                terminator => {
                    work.extend(terminator.successors().into_iter().filter(is_new(&seen)))
                }
            }
        }
        false
    }
}

fn is_new(seen: &[bool]) -> impl Fn(&BlockId) -> bool {
    |block| seen.get(block.0 as usize) == Some(&false)
}

fn direct_callers(program: &Program) -> Csr<u32> {
    let mut pairs = Vec::new();
    for (caller, function) in program.functions.iter_enumerated() {
        let Some(body) = &function.body else { continue };
        for inst in &body.insts {
            if let Op::Call(call) = &inst.op
                && let Callee::Function(callee) = call.callee
            {
                pairs.push((callee.0, caller.0));
            }
        }
    }
    Csr::from_pairs(program.functions.len(), &pairs)
}
