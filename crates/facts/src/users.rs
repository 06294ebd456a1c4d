//! Who uses a value: the def-use chains of one function.

use program::{Address, BlockId, Body, Callee, InstId, Op, Operand, Terminator};

use crate::csr::Csr;

/// The instructions that read each value of a body.
#[derive(Clone, Debug, Default)]
pub struct Users {
    /// Rows: instructions, then parameters.
    users: Csr<InstId>,
    n_insts: usize,
    returned: Vec<Operand>,
    /// Blocks that end with a branch or switch on an instruction's value, sorted.
    branches: Vec<(InstId, BlockId)>,
}

impl Users {
    pub fn new(body: &Body, n_params: usize) -> Self {
        let n_insts = body.insts.len();
        let row = |operand: Operand| match operand {
            Operand::Inst(inst) => Some(inst.0),
            Operand::Param(index) if (index as usize) < n_params => Some(n_insts as u32 + index),
            Operand::Param(_) | Operand::Const(_) => None,
        };
        let mut counts = vec![0u32; n_insts + n_params];
        for inst in &body.insts {
            for_operands(&inst.op, |operand| {
                if let Some(row) = row(operand) {
                    counts[row as usize] += 1;
                }
            });
        }
        let users = Csr::from_counts(counts, InstId(0), |place| {
            for (id, inst) in body.insts.iter_enumerated() {
                for_operands(&inst.op, |operand| {
                    if let Some(row) = row(operand) {
                        place(row, id);
                    }
                });
            }
        });
        let mut returned: Vec<Operand> = body
            .blocks
            .iter()
            .filter_map(|block| match block.terminator {
                Terminator::Return(value) => value,
                _ => None,
            })
            .collect();
        returned.sort_unstable();
        returned.dedup();
        let mut branches: Vec<(InstId, BlockId)> = body
            .blocks
            .iter_enumerated()
            .filter_map(|(block, ended)| match ended.terminator.operand() {
                Some(Operand::Inst(inst)) => Some((inst, block)),
                _ => None,
            })
            .collect();
        branches.sort_unstable();
        Self { users, n_insts, returned, branches }
    }

    /// Users in ascending order; an instruction that reads the value twice stands twice.
    pub fn of_inst(&self, inst: InstId) -> &[InstId] {
        self.users.row(inst.0 as usize)
    }

    pub fn of_param(&self, index: u32) -> &[InstId] {
        self.users.row(self.n_insts + index as usize)
    }

    pub fn of(&self, operand: Operand) -> &[InstId] {
        match operand {
            Operand::Inst(inst) => self.of_inst(inst),
            Operand::Param(index) => self.of_param(index),
            Operand::Const(_) => &[],
        }
    }

    /// Blocks whose terminator reads an instruction's value.
    pub fn branches_on(&self, inst: InstId) -> impl Iterator<Item = BlockId> + '_ {
        let first = self.branches.partition_point(|(at, _)| *at < inst);
        let rest = self.branches[first..].iter();
        rest.take_while(move |(at, _)| *at == inst).map(|(_, block)| *block)
    }

    /// Whether some path returns exactly this value.
    pub fn returns(&self, operand: Operand) -> bool {
        self.returned.binary_search(&operand).is_ok()
    }
}

/// Calls `visit` for each operand of an operation.
pub fn for_operands(op: &Op, mut visit: impl FnMut(Operand)) {
    match op {
        Op::Uninit { .. } | Op::Fence => {}
        Op::Alloca { count, .. } => count.iter().for_each(|operand| visit(*operand)),
        Op::UninitMemory { ptr, .. } => visit(*ptr),
        Op::Load(access) => visit(access.ptr),
        Op::Store { access, value } => {
            visit(access.ptr);
            visit(*value);
        }
        Op::Address(address) => {
            let Address { base, terms, .. } = &**address;
            visit(*base);
            terms.iter().for_each(|term| visit(term.index));
        }
        Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
            visit(*lhs);
            visit(*rhs);
        }
        Op::Negate(value) | Op::Bind { value, .. } => visit(*value),
        Op::Convert(conversion) => visit(conversion.value),
        Op::Select { condition, then, otherwise } => {
            visit(*condition);
            visit(*then);
            visit(*otherwise);
        }
        Op::Phi(operands) => operands.iter().for_each(|(_, operand)| visit(*operand)),
        Op::Call(call) => {
            if let Callee::Pointer(pointer) = call.callee {
                visit(pointer);
            }
            call.args.iter().for_each(|arg| visit(*arg));
        }
        Op::MemCopy { to, from, size, .. } => {
            visit(*to);
            visit(*from);
            visit(*size);
        }
        Op::MemSet { to, byte, size, .. } => {
            visit(*to);
            visit(*byte);
            visit(*size);
        }
        Op::AtomicUpdate { access, value, .. } => {
            visit(access.ptr);
            visit(*value);
        }
        Op::CompareExchange { access, expected, new } => {
            visit(access.ptr);
            visit(*expected);
            visit(*new);
        }
        Op::Extract { aggregate, .. } => visit(*aggregate),
        Op::Insert { aggregate, element, .. } => {
            visit(*aggregate);
            visit(*element);
        }
        Op::Asm { args, .. } | Op::Opaque { args, .. } => args.iter().for_each(|arg| visit(*arg)),
    }
}
