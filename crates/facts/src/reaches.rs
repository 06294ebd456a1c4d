//! Where values go: whether an integer ends up as a size, an index, a bound or the amount
//! of an allocation, which is what makes a wrapped or narrowed number dangerous.

use program::{
    BinaryOp, Body, Call, Callee, FunctionId, InstId, Op, Operand, Predicate, Program, Ty,
};
use rustc_hash::FxHashSet;

use crate::members::Members;
use crate::{externals, wraps};

/// Uses of a value, function by function.
pub struct Uses {
    /// For each instruction of a function, who reads it.
    users: Vec<Vec<Vec<InstId>>>,
    /// Parameters of the program's own functions that become the amount of an allocation.
    amounts: FxHashSet<(FunctionId, usize)>,
}

/// Functions between the one that computes an amount and the one that allocates it.
const MAX_WRAPPERS: usize = 4;

impl Uses {
    pub fn new(program: &Program, members: &Members) -> Self {
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
        let mut uses = Self { users: users.collect(), amounts: FxHashSet::default() };
        for _ in 0..MAX_WRAPPERS {
            let more = uses.handed_on(program, members);
            let before = uses.amounts.len();
            uses.amounts.extend(more);
            if uses.amounts.len() == before {
                break;
            }
        }
        uses
    }

    /// Parameters that functions pass on as the amount of an allocation.
    fn handed_on(&self, program: &Program, members: &Members) -> Vec<(FunctionId, usize)> {
        let mut found = Vec::new();
        for (id, function) in program.functions.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for inst in &body.insts {
                let Op::Call(call) = &inst.op else { continue };
                for arg in call
                    .args
                    .iter()
                    .filter(|arg| self.is_amount(program, members, body, call, **arg))
                {
                    found.extend(parameters_of(body, *arg, 0).into_iter().map(|index| (id, index)));
                }
            }
        }
        found
    }

    /// Whether a call makes the value the amount of an allocation.
    fn is_amount(
        &self,
        program: &Program,
        members: &Members,
        body: &Body,
        call: &Call,
        value: Operand,
    ) -> bool {
        let is_number = |operand: Operand| match operand {
            Operand::Inst(inst) => body.insts[inst].ty != Ty::Ptr,
            _ => true,
        };
        members.callees(body, &call.callee).iter().any(|callee| {
            let function = &program.functions[*callee];
            let is_allocator = function.body.is_none()
                && externals::lookup(&function.name).is_some_and(|e| e.is_allocator);
            let passes = |(index, arg): (usize, &Operand)| {
                *arg == value && (is_allocator || self.amounts.contains(&(*callee, index)))
            };
            is_number(value) && call.args.iter().enumerate().any(passes)
        })
    }

    /// The instructions that read what an instruction computes.
    pub fn users(&self, function: FunctionId, inst: InstId) -> &[InstId] {
        &self.users[function.0 as usize][inst.0 as usize]
    }

    /// Whether the value flows into a size, an index, a loop bound or an allocation.
    pub fn reaches_size(
        &self,
        program: &Program,
        members: &Members,
        function: FunctionId,
        value: Operand,
    ) -> bool {
        let Operand::Inst(start) = value else { return false };
        let Some(body) = &program.functions[function].body else { return false };
        if wraps::restores(program, body, start) {
            return false;
        }
        let where_wrapped = wraps::blocks_after_wrap(program, body, start);
        let mut seen = FxHashSet::default();
        let mut waiting = vec![start];
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) || seen.len() > 200 {
                continue;
            }
            for user in &self.users[function.0 as usize][value.0 as usize] {
                let read = Operand::Inst(value);
                if where_wrapped.as_ref().is_some_and(|after| !after.sees(body, *user, value)) {
                    continue;
                }
                match &body.insts[*user].op {
                    Op::Address(address) if address.base != read => return true,
                    Op::Alloca { .. } => return true,
                    Op::MemCopy { size, .. } | Op::MemSet { size, .. } if *size == read => {
                        return true;
                    }
                    Op::Call(call) => {
                        if self.is_amount(program, members, body, call, read) {
                            return true;
                        }
                        if let Callee::Function(callee) = &call.callee
                            && is_size_argument(program, *callee, &call.args, read)
                        {
                            return true;
                        }
                    }
                    // Of a number under a mask only those bits are wanted.
                    Op::Binary { op: BinaryOp::And, rhs: Operand::Const(_), .. } => {}
                    _ if wraps::takes_top_bit(program, body, *user, read) => {}
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

/// Whether a value is only combined with others bit by bit, or compared for equality.
pub fn masks(uses: &Uses, program: &Program, function: FunctionId, value: Operand) -> bool {
    let (Operand::Inst(inst), Some(body)) = (value, &program.functions[function].body) else {
        return false;
    };
    uses.users(function, inst).iter().all(|user| match &body.insts[*user].op {
        Op::Binary { op, .. } => {
            matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
        }
        Op::Compare { predicate, .. } => {
            matches!(predicate, Predicate::Eq | Predicate::Ne)
        }
        _ => false,
    })
}

/// The parameters that a value is computed from.
fn parameters_of(body: &Body, value: Operand, depth: u32) -> Vec<usize> {
    match value {
        Operand::Param(index) => vec![index as usize],
        Operand::Inst(inst) if depth < 6 => match &body.insts[inst].op {
            Op::Convert(conversion) => parameters_of(body, conversion.value, depth + 1),
            Op::Binary { lhs, rhs, .. } => {
                let mut found = parameters_of(body, *lhs, depth + 1);
                found.extend(parameters_of(body, *rhs, depth + 1));
                found
            }
            Op::Phi(operands) => operands
                .iter()
                .flat_map(|(_, operand)| parameters_of(body, *operand, depth + 3))
                .collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
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
