//! Questions about function bodies.

use base::IdVec;

use crate::{BlockId, Body, InstId, Operand};

/// Which instructions read a value: an index from definitions to uses.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// The users of instruction `i` are `users[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    users: Vec<InstId>,
    /// The blocks whose terminator reads each instruction.
    terminators: IdVec<InstId, Vec<BlockId>>,
}

impl Uses {
    pub fn new(body: &Body) -> Self {
        let n_insts = body.insts.len();
        let mut starts = vec![0u32; n_insts + 1];
        let each_use = |visit: &mut dyn FnMut(InstId, InstId)| {
            for (user, inst) in body.insts.iter_enumerated() {
                inst.op.for_each_operand(|operand| {
                    if let Operand::Inst(used) = operand {
                        visit(used, user);
                    }
                });
            }
        };
        each_use(&mut |used, _| starts[used.0 as usize + 1] += 1);
        for index in 0..n_insts {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut users = vec![InstId(0); starts[n_insts] as usize];
        each_use(&mut |used, user| {
            let slot = &mut next[used.0 as usize];
            users[*slot as usize] = user;
            *slot += 1;
        });
        let mut terminators = IdVec::filled(Vec::new(), n_insts);
        for (block, content) in body.blocks.iter_enumerated() {
            if let Some(Operand::Inst(used)) = content.terminator.operand() {
                terminators[used].push(block);
            }
        }
        Self { starts, users, terminators }
    }

    /// The instructions that read `inst`, ascending; one that reads it twice is there twice.
    pub fn of(&self, inst: InstId) -> &[InstId] {
        let index = inst.0 as usize;
        &self.users[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The blocks that branch, switch or return on `inst`.
    pub fn in_terminators(&self, inst: InstId) -> &[BlockId] {
        &self.terminators[inst]
    }
}

/// Blocks reachable from the entry, each before its successors except along back edges.
pub fn reverse_post_order(body: &Body) -> Vec<BlockId> {
    if body.blocks.is_empty() {
        return Vec::new();
    }
    let mut visited: IdVec<BlockId, bool> = IdVec::filled(false, body.blocks.len());
    let mut order = Vec::with_capacity(body.blocks.len());
    let successors = |block: BlockId| body.blocks[block].terminator.successors().into_iter();
    visited[Body::ENTRY] = true;
    let mut stack = vec![(Body::ENTRY, successors(Body::ENTRY))];
    while let Some((block, remaining)) = stack.last_mut() {
        match remaining.next() {
            Some(next) if !visited[next] => {
                visited[next] = true;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
