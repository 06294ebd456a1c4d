//! The versions of one set of cells through one function.

use program::{BlockId, Body, InstId};

use super::Version;
use crate::cfg::Cfg;

const NONE: u32 = u32::MAX;

/// Versions of some cells, for every point of a function.
#[derive(Clone, Debug)]
pub struct MemoryTrace {
    pub versions: Vec<Version>,
    /// The version on entry of each block, and at its end.
    at_start: Vec<u32>,
    at_end: Vec<u32>,
    /// Versions of writes, by instruction.
    writes: Vec<(InstId, u32)>,
}

impl MemoryTrace {
    /// `writes` lists the instructions that may write the cells, sorted, and whether each
    /// writes them for certain.
    pub fn new(body: &Body, cfg: &Cfg, writes: Vec<(InstId, bool)>) -> Self {
        let mut trace = Self {
            versions: vec![Version::Entry],
            at_start: Vec::new(),
            at_end: Vec::new(),
            writes: Vec::with_capacity(writes.len()),
        };
        if writes.is_empty() {
            return trace;
        }
        let mut defining: Vec<BlockId> =
            writes.iter().map(|(inst, _)| body.insts[*inst].block).collect();
        defining.dedup();
        let n_blocks = cfg.n_blocks();
        trace.at_start = vec![NONE; n_blocks];
        trace.at_end = vec![NONE; n_blocks];
        for merge in cfg.merge_points(&defining) {
            trace.at_start[merge.0 as usize] = trace.versions.len() as u32;
            trace.versions.push(Version::Merge { block: merge, operands: Box::new([]) });
        }
        trace.number_writes(body, cfg, &writes);
        trace.fill_merges(cfg);
        trace
    }

    /// Visits blocks from the top of the dominator tree.
    fn number_writes(&mut self, body: &Body, cfg: &Cfg, writes: &[(InstId, bool)]) {
        for &node in cfg.dominators().preorder() {
            let at = node as usize;
            if self.at_start[at] == NONE {
                let above = cfg.immediate_dominator(BlockId(node));
                self.at_start[at] = above.map_or(0, |above| self.at_end[above.0 as usize]);
            }
            let mut version = self.at_start[at];
            let block = &body.blocks[BlockId(node)];
            let first = writes.partition_point(|(inst, _)| *inst < block.first);
            for &(inst, is_certain) in &writes[first..] {
                if inst >= block.end {
                    break;
                }
                let next = self.versions.len() as u32;
                self.versions.push(Version::Write { inst, previous: version, is_certain });
                self.writes.push((inst, next));
                version = next;
            }
            self.at_end[at] = version;
        }
        self.writes.sort_unstable_by_key(|(inst, _)| *inst);
    }

    fn fill_merges(&mut self, cfg: &Cfg) {
        for version in &mut self.versions {
            if let Version::Merge { block, operands } = version {
                let before = cfg.predecessors(*block).iter();
                let entry = (*block == program::Body::ENTRY).then_some((*block, 0));
                *operands =
                    before.map(|&from| (from, self.at_end[from.0 as usize])).chain(entry).collect();
            }
        }
    }

    /// The version that holds just before an instruction.
    pub fn before(&self, body: &Body, inst: InstId) -> u32 {
        if self.writes.is_empty() {
            return 0;
        }
        let block = body.insts[inst].block;
        let after = self.writes.partition_point(|(write, _)| *write < inst);
        match self.writes[..after].last() {
            Some(&(write, version)) if write >= body.blocks[block].first => version,
            _ => self.at_start(block),
        }
    }

    /// The version on entry to a block.
    pub fn at_start(&self, block: BlockId) -> u32 {
        self.at_start.get(block.0 as usize).copied().filter(|&v| v != NONE).unwrap_or(0)
    }

    /// The version at the end of a block.
    pub fn at_end(&self, block: BlockId) -> u32 {
        self.at_end.get(block.0 as usize).copied().filter(|&v| v != NONE).unwrap_or(0)
    }

    /// Keeps only versions that lead to the given ones, which are renumbered.
    pub(super) fn into_needed(self, roots: Vec<&mut u32>) -> Vec<Version> {
        let mut number = vec![NONE; self.versions.len()];
        number[0] = 0;
        let mut work: Vec<u32> = Vec::new();
        let mut need = |version: u32, work: &mut Vec<u32>| {
            if number[version as usize] == NONE {
                number[version as usize] = 0;
                work.push(version);
            }
        };
        roots.iter().for_each(|root| need(**root, &mut work));
        while let Some(version) = work.pop() {
            match &self.versions[version as usize] {
                Version::Entry => {}
                // A certain write hides what came before it.
                Version::Write { is_certain: true, .. } => {}
                Version::Write { previous, .. } => need(*previous, &mut work),
                Version::Merge { operands, .. } => {
                    operands.iter().for_each(|(_, operand)| need(*operand, &mut work));
                }
            }
        }
        for (at, kept) in number.iter_mut().filter(|kept| **kept != NONE).enumerate() {
            *kept = at as u32;
        }
        for root in roots {
            *root = number[*root as usize];
        }
        let renumbered = |version: u32| match number[version as usize] {
            NONE => 0,
            kept => kept,
        };
        let versions = self.versions.into_iter().zip(&number);
        versions
            .filter(|(_, kept)| **kept != NONE)
            .map(|(version, _)| match version {
                Version::Entry => Version::Entry,
                Version::Write { inst, previous, is_certain } => {
                    Version::Write { inst, previous: renumbered(previous), is_certain }
                }
                Version::Merge { block, operands } => Version::Merge {
                    block,
                    operands: operands.iter().map(|&(from, v)| (from, renumbered(v))).collect(),
                },
            })
            .collect()
    }
}
