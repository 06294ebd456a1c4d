//! Who uses a value: the def-use chains of one function.

use program::{BlockId, Body, InstId, Operand, Terminator};

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
            inst.op.for_each_operand(|operand| {
                if let Some(row) = row(operand) {
                    counts[row as usize] += 1;
                }
            });
        }
        let users = Csr::from_counts(counts, InstId(0), |place| {
            for (id, inst) in body.insts.iter_enumerated() {
                inst.op.for_each_operand(|operand| {
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
