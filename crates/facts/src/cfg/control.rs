//! Dominance frontiers and control dependence.
//!
//! Both are lists that real code keeps short and hostile code (thousands of nested
//! loops) makes quadratic. Beyond a limit they are not stored but worked out when asked.

use std::collections::BinaryHeap;

use program::BlockId;

use super::dominance::DominatorTree;
use super::flow::Flow;
use crate::csr::Csr;

/// The decision at the end of `branch` to go to `target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlEdge {
    pub branch: BlockId,
    pub target: BlockId,
}

/// How many entries a stored relation may have.
fn limit(flow: &Flow) -> usize {
    4096 + 16 * (flow.order.len() + flow.successors.n_items())
}

/// For each block, the joins where its dominance ends; none where that is too much.
pub(super) fn frontiers(flow: &Flow, dominators: &DominatorTree) -> Option<Csr<BlockId>> {
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    for &join in &flow.order {
        let before = flow.predecessors.row(join as usize);
        let is_entry = dominators.parent(join).is_none();
        // The function's start counts as one more way into the entry.
        if before.len() + usize::from(is_entry) < 2 {
            continue;
        }
        let stop = dominators.parent(join);
        for &start in before {
            let mut runner = Some(start);
            while runner != stop {
                let Some(at) = runner else { break };
                pairs.push((at, join));
                runner = dominators.parent(at);
            }
            if pairs.len() > limit(flow) {
                return None;
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let rows: Vec<(u32, BlockId)> =
        pairs.into_iter().map(|(at, join)| (at, BlockId(join))).collect();
    Some(from_block_pairs(flow.position.len(), &rows))
}

/// For each block, the decisions it depends on directly: it post-dominates the target of
/// the edge but not the branch. None where that is too much.
pub(super) fn control_edges(
    flow: &Flow,
    post_dominators: &DominatorTree,
) -> Option<Csr<ControlEdge>> {
    let mut pairs = Vec::new();
    for &branch in &flow.order {
        let targets = flow.successors.row(branch as usize);
        if targets.len() < 2 {
            continue;
        }
        let stop = post_dominators.parent(branch);
        for &target in targets {
            let edge = ControlEdge { branch: BlockId(branch), target: BlockId(target) };
            let mut runner = Some(target);
            while runner != stop {
                let Some(at) = runner else { break };
                pairs.push((at, edge));
                runner = post_dominators.parent(at);
            }
            if pairs.len() > limit(flow) {
                return None;
            }
        }
    }
    Some(Csr::from_pairs(flow.position.len() + 1, &pairs))
}

/// Iterated dominance frontiers without stored ones (Sreedhar and Gao): from the deepest
/// definition up, each subtree of the dominator tree is searched once.
pub(super) fn merge_points(
    defining: &[BlockId],
    dominators: &DominatorTree,
    children: &Csr<u32>,
    successors: &Csr<BlockId>,
) -> Vec<BlockId> {
    let n_blocks = successors.len();
    let mut is_merge = vec![false; n_blocks];
    let mut is_searched = vec![false; n_blocks];
    let reached = defining.iter().filter(|block| dominators.is_reached(block.0));
    let mut queue: BinaryHeap<(u32, u32)> =
        reached.map(|block| (dominators.depth(block.0), block.0)).collect();
    let mut merges = Vec::new();
    while let Some((depth, root)) = queue.pop() {
        let mut work = vec![root];
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut is_searched[at as usize], true) {
                continue;
            }
            for &next in successors.row(at as usize) {
                let leaves =
                    dominators.depth(next.0) <= depth && dominators.parent(next.0) != Some(at);
                if leaves && !std::mem::replace(&mut is_merge[next.0 as usize], true) {
                    merges.push(next);
                    queue.push((dominators.depth(next.0), next.0));
                }
            }
            work.extend(children.row(at as usize));
        }
    }
    merges.sort_unstable();
    merges
}

fn from_block_pairs(n_rows: usize, pairs: &[(u32, BlockId)]) -> Csr<BlockId> {
    let mut rows = Csr::default();
    let mut at = 0;
    for row in 0..n_rows as u32 {
        let end = at + pairs[at..].partition_point(|(owner, _)| *owner == row);
        rows.push_row(pairs[at..end].iter().map(|(_, block)| *block));
        at = end;
    }
    rows
}
