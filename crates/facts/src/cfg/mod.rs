//! Control flow of one function: the edges that can be taken, an order to visit blocks
//! in, dominance both ways, control dependence and loops.
//!
//! Flow ends at a call that never returns, wherever the block's terminator leads.

mod control;
mod dominance;
mod flow;
mod nest;
mod noreturn;
#[cfg(test)]
mod tests;

pub use control::ControlEdge;
pub use dominance::DominatorTree;
pub use nest::{Loop, LoopId, LoopNest};
pub use noreturn::NoReturn;

use std::borrow::Cow;

use program::{BlockId, Body, InstId};

use crate::csr::Csr;

/// Control flow of one function body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// Distinct successors that control can reach, in the terminator's order.
    successors: Csr<BlockId>,
    predecessors: Csr<BlockId>,
    /// Reachable blocks in reverse post-order.
    order: Vec<BlockId>,
    position: Vec<u32>,
    /// Calls at which the flow of their block ends, sorted by block.
    stops: Vec<(BlockId, InstId)>,
    /// Reachable blocks that return to the caller.
    returns: Vec<BlockId>,
    dominators: DominatorTree,
    post_dominators: DominatorTree,
    frontiers: Option<Csr<BlockId>>,
    controls: Option<Csr<ControlEdge>>,
    pub loops: LoopNest,
}

const OUT_OF_REACH: u32 = u32::MAX;

impl Cfg {
    /// `ends_flow` says of an instruction that control does not come back from it.
    pub fn new(body: &Body, ends_flow: impl Fn(InstId) -> bool) -> Self {
        let flow = flow::Flow::new(body, ends_flow);
        let dominators = DominatorTree::new(0, &flow.successors, &flow.predecessors);
        let (post_dominators, _) = flow.post_dominators();
        let frontiers = control::frontiers(&flow, &dominators);
        let controls = control::control_edges(&flow, &post_dominators);
        let loops = LoopNest::new(&flow, &dominators);
        Self {
            successors: blocks(&flow.successors),
            predecessors: blocks(&flow.predecessors),
            order: flow.order.iter().map(|&node| BlockId(node)).collect(),
            position: flow.position,
            stops: flow.stops,
            returns: flow.returns,
            dominators,
            post_dominators,
            frontiers,
            controls,
            loops,
        }
    }

    pub fn n_blocks(&self) -> usize {
        self.position.len()
    }

    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        self.successors.row(block.0 as usize)
    }

    /// Predecessors from which control can come; blocks out of reach are left out.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.predecessors.row(block.0 as usize)
    }

    /// Reachable blocks in reverse post-order.
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// The block's place in [`order`](Self::order).
    pub fn position(&self, block: BlockId) -> Option<usize> {
        let position = self.position[block.0 as usize];
        (position != OUT_OF_REACH).then_some(position as usize)
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.0 as usize] != OUT_OF_REACH
    }

    /// The call at which the block's flow ends, if control never reaches its terminator.
    pub fn stop(&self, block: BlockId) -> Option<InstId> {
        let index = self.stops.binary_search_by_key(&block, |(at, _)| *at).ok()?;
        Some(self.stops[index].1)
    }

    /// Reachable blocks that return to the caller.
    pub fn returns(&self) -> &[BlockId] {
        &self.returns
    }

    /// Whether every path from the entry to `below` passes `above`.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        self.dominators.dominates(above.0, below.0)
    }

    /// Whether every path from `before` out of the function passes `after`.
    pub fn post_dominates(&self, after: BlockId, before: BlockId) -> bool {
        self.post_dominators.dominates(after.0, before.0)
    }

    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        self.dominators.parent(block.0).map(BlockId)
    }

    /// None where paths part for good: the meeting point is the function's exit.
    pub fn immediate_post_dominator(&self, block: BlockId) -> Option<BlockId> {
        let parent = self.post_dominators.parent(block.0)?;
        ((parent as usize) < self.n_blocks()).then_some(BlockId(parent))
    }

    pub fn dominators(&self) -> &DominatorTree {
        &self.dominators
    }

    /// Node `n_blocks()` is the virtual exit.
    pub fn post_dominators(&self) -> &DominatorTree {
        &self.post_dominators
    }

    /// Where the dominance of `block` ends: the blocks a definition in it meets others at.
    pub fn frontier(&self, block: BlockId) -> Cow<'_, [BlockId]> {
        if let Some(stored) = &self.frontiers {
            return Cow::Borrowed(stored.row(block.0 as usize));
        }
        let ends_at = |&join: &BlockId| {
            let strictly = join != block && self.dominates(block, join);
            !strictly && self.predecessors(join).iter().any(|&from| self.dominates(block, from))
        };
        let mut joins: Vec<BlockId> = self.order.iter().copied().filter(ends_at).collect();
        joins.sort_unstable();
        Cow::Owned(joins)
    }

    /// The branch decisions that decide directly whether `block` runs.
    pub fn controls(&self, block: BlockId) -> Cow<'_, [ControlEdge]> {
        if let Some(stored) = &self.controls {
            return Cow::Borrowed(stored.row(block.0 as usize));
        }
        let mut edges = Vec::new();
        for &branch in self.order.iter().filter(|&&branch| self.successors(branch).len() > 1) {
            if branch != block && self.post_dominates(block, branch) {
                continue;
            }
            let decides = |&target: &BlockId| self.post_dominates(block, target);
            let targets = self.successors(branch).iter().copied().filter(decides);
            edges.extend(targets.map(|target| ControlEdge { branch, target }));
        }
        Cow::Owned(edges)
    }

    /// Whether `at` comes before `other` on every path that reaches `other`.
    pub fn inst_dominates(&self, body: &Body, at: InstId, other: InstId) -> bool {
        let (above, below) = (body.insts[at].block, body.insts[other].block);
        if above == below { at < other } else { self.dominates(above, below) }
    }

    /// The iterated dominance frontier of `defining`: where memory or variable versions
    /// defined there merge. Sorted.
    pub fn merge_points(&self, defining: &[BlockId]) -> Vec<BlockId> {
        let Some(frontiers) = &self.frontiers else {
            let children = self.dominators.children();
            return control::merge_points(defining, &self.dominators, &children, &self.successors);
        };
        let mut is_merge = vec![false; self.n_blocks()];
        let mut work: Vec<BlockId> = defining.to_vec();
        let mut merges = Vec::new();
        while let Some(block) = work.pop() {
            for &merge in frontiers.row(block.0 as usize) {
                if !std::mem::replace(&mut is_merge[merge.0 as usize], true) {
                    merges.push(merge);
                    work.push(merge);
                }
            }
        }
        merges.sort_unstable();
        merges
    }
}

fn blocks(edges: &Csr<u32>) -> Csr<BlockId> {
    Csr::from_rows((0..edges.len()).map(|row| edges.row(row).iter().map(|&node| BlockId(node))))
}
