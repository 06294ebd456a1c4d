//! Natural loops and how they nest; flow that jumps into a loop's middle is flagged.

use base::{IdVec, define_id};
use program::BlockId;

use super::OUT_OF_REACH;
use super::dominance::DominatorTree;
use super::flow::Flow;

define_id!(/// A loop of one function; inner loops have smaller ids than those around them.
    LoopId);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub header: BlockId,
    /// Blocks that jump back to the header.
    pub latches: Vec<BlockId>,
    pub parent: Option<LoopId>,
    pub children: Vec<LoopId>,
    /// 1 for a loop that lies in no other.
    pub depth: u32,
    /// Blocks of this loop that belong to no inner one, the header first.
    pub own_blocks: Vec<BlockId>,
    /// Edges that leave the loop.
    pub exits: Vec<(BlockId, BlockId)>,
}

/// The loops of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopNest {
    pub loops: IdVec<LoopId, Loop>,
    innermost: Vec<Option<LoopId>>,
    /// Blocks that lie on a cycle which can be entered at more than one place, sorted.
    irreducible: Vec<BlockId>,
}

impl LoopNest {
    pub(super) fn new(flow: &Flow, dominators: &DominatorTree) -> Self {
        let mut nest = Self { innermost: vec![None; flow.position.len()], ..LoopNest::default() };
        let mut has_other_cycles = false;
        let mut outermost = Outermost::default();
        for &header in flow.order.iter().rev() {
            let mut latches = Vec::new();
            for &before in flow.predecessors.row(header as usize) {
                if dominators.dominates(header, before) {
                    latches.push(BlockId(before));
                } else if flow.position[before as usize] >= flow.position[header as usize] {
                    has_other_cycles = true;
                }
            }
            if !latches.is_empty() {
                nest.add_loop(BlockId(header), latches, flow, &mut outermost);
            }
        }
        nest.finish(flow);
        if has_other_cycles {
            nest.irreducible = irreducible_blocks(flow, dominators);
        }
        nest
    }

    /// Walks backwards from the latches; loops found before lie inside and are entered
    /// only through their outermost header.
    fn add_loop(
        &mut self,
        header: BlockId,
        latches: Vec<BlockId>,
        flow: &Flow,
        outermost: &mut Outermost,
    ) {
        let id = self.loops.next_id();
        outermost.around.push(id);
        self.loops.push(Loop {
            header,
            latches: latches.clone(),
            parent: None,
            children: Vec::new(),
            depth: 0,
            own_blocks: Vec::new(),
            exits: Vec::new(),
        });
        let mut work = latches;
        while let Some(block) = work.pop() {
            let inner = self.innermost(block).map(|inner| outermost.find(inner));
            let entered_at = match inner {
                None => {
                    self.innermost[block.0 as usize] = Some(id);
                    block
                }
                Some(inner) if inner != id => {
                    self.loops[inner].parent = Some(id);
                    outermost.around[inner.0 as usize] = id;
                    self.loops[inner].header
                }
                Some(_) => continue,
            };
            if entered_at != header {
                let before = flow.predecessors.row(entered_at.0 as usize);
                work.extend(before.iter().map(|&node| BlockId(node)));
            }
        }
    }

    fn finish(&mut self, flow: &Flow) {
        // Parents have larger ids, so descending order sees them first.
        for id in self.loops.ids().rev() {
            let parent = self.loops[id].parent;
            self.loops[id].depth = 1 + parent.map_or(0, |parent| self.loops[parent].depth);
        }
        for id in self.loops.ids() {
            if let Some(parent) = self.loops[id].parent {
                self.loops[parent].children.push(id);
            }
        }
        for &node in &flow.order {
            let block = BlockId(node);
            let Some(inner) = self.innermost(block) else { continue };
            self.loops[inner].own_blocks.push(block);
            for &target in flow.successors.row(node as usize) {
                self.note_exits(inner, block, BlockId(target));
            }
        }
    }

    /// Notes the edge in every loop it leaves: climbs from both ends until they meet.
    fn note_exits(&mut self, inner: LoopId, from: BlockId, to: BlockId) {
        let mut left = Some(inner);
        let mut around_target = self.innermost(to);
        while let Some(id) = left
            && around_target != left
        {
            match around_target {
                Some(other) if other < id => around_target = self.loops[other].parent,
                _ => {
                    self.loops[id].exits.push((from, to));
                    left = self.loops[id].parent;
                }
            }
        }
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block.0 as usize]
    }

    pub fn contains(&self, id: LoopId, block: BlockId) -> bool {
        let mut at = self.innermost(block);
        while let Some(inner) = at
            && inner < id
        {
            at = self.loops[inner].parent;
        }
        at == Some(id)
    }

    /// How many loops lie around a block.
    pub fn depth(&self, block: BlockId) -> u32 {
        self.innermost(block).map_or(0, |id| self.loops[id].depth)
    }

    /// The loop whose header this block is.
    pub fn headed_by(&self, block: BlockId) -> Option<LoopId> {
        self.innermost(block).filter(|&id| self.loops[id].header == block)
    }

    /// Every block of a loop, those of inner loops included; sorted.
    pub fn blocks(&self, id: LoopId) -> Vec<BlockId> {
        let mut blocks = Vec::new();
        let mut work = vec![id];
        while let Some(at) = work.pop() {
            blocks.extend_from_slice(&self.loops[at].own_blocks);
            work.extend_from_slice(&self.loops[at].children);
        }
        blocks.sort_unstable();
        blocks
    }

    /// Blocks on a cycle that has several entries and is therefore no natural loop.
    pub fn irreducible(&self) -> &[BlockId] {
        &self.irreducible
    }
}

/// The outermost loop found so far around each loop, with paths halved on the way.
#[derive(Default)]
struct Outermost {
    around: Vec<LoopId>,
}

impl Outermost {
    fn find(&mut self, mut id: LoopId) -> LoopId {
        while self.around[id.0 as usize] != id {
            let next = self.around[id.0 as usize];
            self.around[id.0 as usize] = self.around[next.0 as usize];
            id = next;
        }
        id
    }
}

/// Blocks that still lie on cycles once the back edges of natural loops are taken away.
fn irreducible_blocks(flow: &Flow, dominators: &DominatorTree) -> Vec<BlockId> {
    let n_blocks = flow.position.len();
    let forward = |node: u32| {
        let targets = flow.successors.row(node as usize).iter().copied();
        targets.filter(move |&target| !dominators.dominates(target, node))
    };
    let components = crate::scc::components(n_blocks, |node| forward(node).collect());
    let mut blocks: Vec<BlockId> = components
        .into_iter()
        .filter(|component| component.len() > 1)
        .flatten()
        .map(BlockId)
        .filter(|block| flow.position[block.0 as usize] != OUT_OF_REACH)
        .collect();
    blocks.sort_unstable();
    blocks
}
