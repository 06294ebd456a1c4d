//! Memory in SSA form: which writes reach a load.
//!
//! Each function has a group for every distinct set of cells its loads read. A group has
//! versions: the one on entry, one after each instruction that may write it, and one
//! where different versions merge. A query goes from a load to its version and on through
//! the versions before, without looking at instructions in between. For cells that a
//! function does not load itself, [`MemoryTrace`] gives the same on demand.

mod index;
mod trace;
mod writers;

pub use trace::MemoryTrace;
pub use writers::{Writer, Writers};

use program::{BlockId, Body, FunctionId, InstId, Op, Operand};
use rustc_hash::FxHashMap;

use crate::cfg::Cfg;
use crate::effects::{EffectContext, Effects};
use crate::loops::constant_value;
use crate::set::SparseSet;

/// A state of a group of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// What the caller left.
    Entry,
    /// An instruction that may write some of the cells.
    Write {
        inst: InstId,
        previous: u32,
        /// It writes all of them for sure: nothing before it matters.
        is_certain: bool,
    },
    /// Versions from several predecessors meet.
    Merge { block: BlockId, operands: Box<[(BlockId, u32)]> },
}

/// The versions of one set of cells in one function. Version 0 is the entry. As in
/// points-to sets, memory from outside stands for what escaped as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub cells: SparseSet,
    pub versions: Vec<Version>,
}

/// What a load reads: a version of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reaching {
    pub inst: InstId,
    pub group: u32,
    pub version: u32,
}

/// Memory SSA of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionMemory {
    pub groups: Vec<Group>,
    /// Sorted by instruction.
    reaching: Vec<Reaching>,
}

impl FunctionMemory {
    /// The version a load, or the source of a copy of memory, sees.
    pub fn reaching(&self, inst: InstId) -> Option<Reaching> {
        let at = self.reaching.binary_search_by_key(&inst, |reaching| reaching.inst).ok()?;
        Some(self.reaching[at])
    }

    pub fn version(&self, reaching: Reaching) -> &Version {
        &self.groups[reaching.group as usize].versions[reaching.version as usize]
    }

    pub fn all_reaching(&self) -> &[Reaching] {
        &self.reaching
    }

    pub(crate) fn new(
        context: &EffectContext,
        effects: &Effects,
        function: FunctionId,
        body: &Body,
        cfg: &Cfg,
    ) -> Self {
        let (group_cells, reads) = read_groups(context, function, body, cfg);
        if group_cells.is_empty() {
            return Self::default();
        }
        let writers = Writers::new(context, function, body, cfg);
        let writes = writers.by_group(context, effects, &group_cells);
        let mut memory = Self::default();
        let mut reads_of = vec![Vec::new(); group_cells.len()];
        for (inst, group) in reads {
            reads_of[group as usize].push(inst);
        }
        for (((cells, _), writes), reads) in group_cells.into_iter().zip(writes).zip(reads_of) {
            let group = memory.groups.len() as u32;
            let trace = MemoryTrace::new(body, cfg, writes);
            let first = memory.reaching.len();
            memory.reaching.extend(reads.into_iter().map(|inst| Reaching {
                inst,
                group,
                version: trace.before(body, inst),
            }));
            let roots = memory.reaching[first..].iter_mut().map(|reaching| &mut reaching.version);
            let versions = trace.into_needed(roots.collect());
            memory.groups.push(Group { cells, versions });
        }
        memory.reaching.sort_unstable_by_key(|reaching| reaching.inst);
        memory
    }
}

/// A set of cells that is read, with the size of the reads where it is known.
type ReadGroup = (SparseSet, Option<u64>);

/// The distinct sets of cells that the function reads, and who reads which.
fn read_groups(
    context: &EffectContext,
    function: FunctionId,
    body: &Body,
    cfg: &Cfg,
) -> (Vec<ReadGroup>, Vec<(InstId, u32)>) {
    let mut groups: Vec<ReadGroup> = Vec::new();
    let mut by_cells: FxHashMap<ReadGroup, u32> = FxHashMap::default();
    let mut by_access: FxHashMap<(u32, Option<u64>), u32> = FxHashMap::default();
    let mut reads = Vec::new();
    for &block in cfg.order() {
        for id in body.blocks[block].inst_ids() {
            let Some((pointer, size)) = read_by(context, body, &body.insts[id].op) else {
                continue;
            };
            let set = context.pointers.set_of(function, pointer);
            let group = *by_access.entry((set.0, size)).or_insert_with(|| {
                let cells = context.pointers.touched(context.pointers.set(set), size);
                *by_cells.entry((cells, size)).or_insert_with_key(|group| {
                    groups.push(group.clone());
                    groups.len() as u32 - 1
                })
            });
            reads.push((id, group));
        }
    }
    (groups, reads)
}

/// The pointer an instruction reads through, and how many bytes.
fn read_by(context: &EffectContext, body: &Body, op: &Op) -> Option<(Operand, Option<u64>)> {
    match op {
        Op::Load(access) | Op::AtomicUpdate { access, .. } | Op::CompareExchange { access, .. } => {
            Some((access.ptr, Some(access.size)))
        }
        Op::MemCopy { from, size, .. } => {
            let size = constant_value(*size, body, &context.program.constants);
            Some((*from, size.and_then(|size| u64::try_from(size).ok())))
        }
        _ => None,
    }
}
