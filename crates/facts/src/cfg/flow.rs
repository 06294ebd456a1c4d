//! The edges control can take, and the order they put blocks in.

use program::{BlockId, Body, InstId, Terminator};

use super::OUT_OF_REACH;
use super::dominance::DominatorTree;
use crate::csr::Csr;

/// Edges between reachable blocks, as dense numbers.
pub(super) struct Flow {
    pub successors: Csr<u32>,
    pub predecessors: Csr<u32>,
    pub order: Vec<u32>,
    pub position: Vec<u32>,
    pub stops: Vec<(BlockId, InstId)>,
    pub returns: Vec<BlockId>,
}

impl Flow {
    pub fn new(body: &Body, ends_flow: impl Fn(InstId) -> bool) -> Self {
        let n_blocks = body.blocks.len();
        let mut successors = Csr::default();
        let mut stops = Vec::new();
        let mut row = Vec::new();
        for (id, block) in body.blocks.iter_enumerated() {
            row.clear();
            if let Some(stop) = block.inst_ids().find(|&inst| ends_flow(inst)) {
                stops.push((id, stop));
            } else {
                distinct_successors(&block.terminator, n_blocks, &mut row);
            }
            successors.push_row(row.iter().copied());
        }
        let order = reverse_post_order(&successors);
        let mut position = vec![OUT_OF_REACH; n_blocks];
        for (at, &node) in order.iter().enumerate() {
            position[node as usize] = at as u32;
        }
        let returns = order
            .iter()
            .map(|&node| BlockId(node))
            .filter(|&block| {
                matches!(body.blocks[block].terminator, Terminator::Return(_))
                    && stops.binary_search_by_key(&block, |(at, _)| *at).is_err()
            })
            .collect();
        let predecessors = reachable_predecessors(&successors, &position);
        Self { successors, predecessors, order, position, stops, returns }
    }

    /// The post-dominator tree over the blocks and a virtual exit. Paths that end or spin
    /// forever count as leading to the exit: a loop without way out gets an edge to it
    /// from its last block. Also the number of such loops.
    pub fn post_dominators(&self) -> (DominatorTree, usize) {
        let n_blocks = self.position.len();
        let exit = n_blocks as u32;
        let mut leaves_to_exit: Vec<u32> = Vec::new();
        let mut reaches_exit = vec![false; n_blocks];
        let mut work = Vec::new();
        let mut n_endless = 0;
        let ends = self.order.iter().filter(|&&node| self.successors.row(node as usize).is_empty());
        let endless = self.order.iter().rev();
        for (&node, is_end) in ends.map(|end| (end, true)).chain(endless.map(|node| (node, false)))
        {
            if reaches_exit[node as usize] {
                continue;
            }
            n_endless += usize::from(!is_end);
            leaves_to_exit.push(node);
            reaches_exit[node as usize] = true;
            work.push(node);
            while let Some(at) = work.pop() {
                for &before in self.predecessors.row(at as usize) {
                    if !std::mem::replace(&mut reaches_exit[before as usize], true) {
                        work.push(before);
                    }
                }
            }
        }
        leaves_to_exit.sort_unstable();
        let mut forward = Csr::default();
        for node in 0..n_blocks {
            let leaves = leaves_to_exit.binary_search(&(node as u32)).is_ok();
            let row =
                if self.position[node] == OUT_OF_REACH { &[] } else { self.successors.row(node) };
            forward.push_row(row.iter().copied().chain(leaves.then_some(exit)));
        }
        forward.push_row([]);
        let mut backward = Csr::default();
        for node in 0..n_blocks {
            backward.push_row(self.predecessors.row(node).iter().copied());
        }
        backward.push_row(leaves_to_exit.iter().copied());
        (DominatorTree::new(exit, &backward, &forward), n_endless)
    }
}

/// A terminator may name a block several times (a switch); an edge counts once. Targets
/// that do not exist are dropped: a broken body must not break the run.
fn distinct_successors(terminator: &Terminator, n_blocks: usize, row: &mut Vec<u32>) {
    match terminator {
        Terminator::Jump(target) => row.push(target.0),
        Terminator::Branch { then, otherwise, .. } => {
            row.push(then.0);
            if then != otherwise {
                row.push(otherwise.0);
            }
        }
        Terminator::Switch { .. } | Terminator::Indirect { .. } => {
            let mut seen = vec![false; n_blocks];
            for target in terminator.successors() {
                if let Some(seen) = seen.get_mut(target.0 as usize)
                    && !std::mem::replace(seen, true)
                {
                    row.push(target.0);
                }
            }
        }
        Terminator::Return(_) | Terminator::Unreachable => {}
    }
    row.retain(|&target| (target as usize) < n_blocks);
}

fn reverse_post_order(successors: &Csr<u32>) -> Vec<u32> {
    let mut order = Vec::with_capacity(successors.len());
    if successors.is_empty() {
        return order;
    }
    let mut seen = vec![false; successors.len()];
    seen[0] = true;
    let mut stack = vec![(0u32, 0usize)];
    while let Some((node, next)) = stack.pop() {
        match successors.row(node as usize).get(next) {
            Some(&target) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[target as usize], true) {
                    stack.push((target, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    order
}

/// Rows in ascending order of the predecessor.
fn reachable_predecessors(successors: &Csr<u32>, position: &[u32]) -> Csr<u32> {
    let mut pairs = Vec::with_capacity(successors.n_items());
    for (node, _) in position.iter().enumerate().filter(|(_, at)| **at != OUT_OF_REACH) {
        pairs.extend(successors.row(node).iter().map(|&target| (target, node as u32)));
    }
    Csr::from_pairs(successors.len(), &pairs)
}
