//! Which code a search has to pass: blocks of its outermost function from which control can
//! still come to a point that is asked about. A path that leaves them is of no use.

use std::collections::BTreeSet;

use program::{BlockId, Callee, FunctionId, Op};

use crate::code::Code;

/// Blocks of one function that lead to something.
pub struct Demand {
    /// `None` where every block does.
    leading: Option<Vec<bool>>,
}

impl Demand {
    pub fn everywhere() -> Self {
        Self { leading: None }
    }

    /// Blocks of `root` that lead to one of `points` or to a call of `below`.
    pub fn new(
        code: &Code,
        root: FunctionId,
        points: impl Iterator<Item = BlockId>,
        below: &BTreeSet<FunctionId>,
    ) -> Self {
        let (Some(body), Some(shape)) = (&code.program.functions[root].body, code.shape(root))
        else {
            return Self::everywhere();
        };
        let mut leading = vec![false; body.blocks.len()];
        let mut waiting: Vec<BlockId> = points.collect();
        if !below.is_empty() {
            let calls_below = body.insts.iter().filter(|inst| match &inst.op {
                Op::Call(call) => match call.callee {
                    Callee::Function(callee) => below.contains(&callee),
                    Callee::Pointer(_) => true,
                    Callee::Intrinsic(_) => false,
                },
                _ => false,
            });
            waiting.extend(calls_below.map(|inst| inst.block));
        }
        while let Some(block) = waiting.pop() {
            if !std::mem::replace(&mut leading[block.0 as usize], true) {
                waiting.extend_from_slice(shape.cfg.predecessors(block));
            }
        }
        Self { leading: Some(leading) }
    }

    pub fn leads(&self, block: BlockId) -> bool {
        self.leading.as_ref().is_none_or(|leading| leading[block.0 as usize])
    }
}
