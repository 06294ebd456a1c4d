//! Where values go: whether an integer ends up as a size, an index, a bound or the amount
//! of an allocation, which is what makes a wrapped or narrowed number dangerous.

use facts::externals;
use program::{Callee, FunctionId, InstId, Op, Operand, Program};
use rustc_hash::FxHashSet;

/// Uses of a value, function by function.
pub struct Uses {
    /// For each instruction of a function, who reads it.
    users: Vec<Vec<Vec<InstId>>>,
}

impl Uses {
    pub fn new(program: &Program) -> Self {
        let users = program.functions.iter().map(|function| {
            let Some(body) = &function.body else { return Vec::new() };
            let mut users = vec![Vec::new(); body.insts.len()];
            for (id, inst) in body.insts.iter_enumerated() {
                inst.op.for_each_operand(&mut |operand| {
                    if let Operand::Inst(read) = operand {
                        users[read.0 as usize].push(id);
                    }
                });
            }
            users
        });
        Self { users: users.collect() }
    }

    /// Whether the value flows into a size, an index, a loop bound or an allocation.
    pub fn reaches_size(&self, program: &Program, function: FunctionId, value: Operand) -> bool {
        let Operand::Inst(start) = value else { return false };
        let Some(body) = &program.functions[function].body else { return false };
        let mut seen = FxHashSet::default();
        let mut waiting = vec![start];
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) || seen.len() > 200 {
                continue;
            }
            for user in &self.users[function.0 as usize][value.0 as usize] {
                let read = Operand::Inst(value);
                match &body.insts[*user].op {
                    Op::Address(address) if address.base != read => return true,
                    Op::Alloca { .. } => return true,
                    Op::MemCopy { size, .. } | Op::MemSet { size, .. } if *size == read => {
                        return true;
                    }
                    Op::Call(call) => {
                        if let Callee::Function(callee) = &call.callee
                            && is_size_argument(program, *callee, &call.args, read)
                        {
                            return true;
                        }
                    }
                    Op::Convert(_) | Op::Binary { .. } | Op::Phi(_) | Op::Select { .. } => {
                        waiting.push(*user);
                    }
                    _ => {}
                }
            }
        }
        false
    }
}

/// Whether a library function takes the value as an amount of memory.
fn is_size_argument(
    program: &Program,
    callee: FunctionId,
    args: &[Operand],
    value: Operand,
) -> bool {
    let function = &program.functions[callee];
    let Some(external) = externals::lookup(&function.name) else { return false };
    let touches_memory = external.is_allocator
        || (!external.writes.is_empty() && !function.is_variadic)
        || !external.copies.is_empty();
    touches_memory && args.contains(&value)
}
