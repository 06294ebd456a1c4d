//! States of objects that nothing on the way to a point can have changed.
//!
//! A path takes what it finds to be in no particular state, unless a caller is known to hand
//! over something released. So a state is known wherever nothing before it can set one.

use facts::Facts;
use program::{BlockId, Body, FunctionId, InstId};
use rustc_hash::{FxHashMap, FxHashSet};
use spec::ast::{Command, ExprKind};

use crate::code::Code;
use crate::semantics::asking::any_command;
use crate::semantics::compiled::{Compiled, Contribution};

pub struct States {
    /// By function the instructions that may give an object a state, ascending.
    setters: FxHashMap<FunctionId, Vec<InstId>>,
    /// Functions that are called with something a caller released, or whose branches set states.
    doubtful: FxHashSet<FunctionId>,
}

/// Where control can have come from, by block: asked for again and again in one function.
#[derive(Default)]
pub struct Reach {
    before: FxHashMap<BlockId, FxHashSet<BlockId>>,
}

impl States {
    pub fn new(code: &Code, facts: &Facts, compiled: &Compiled) -> Self {
        let mut own: FxHashMap<FunctionId, Vec<InstId>> = FxHashMap::default();
        let sets = |contribution: &Contribution| {
            any_command(&compiled.contributing(contribution).commands, &sets_a_state)
        };
        for ((function, inst), contributions) in compiled.contributions.iter() {
            if contributions.iter().any(sets) {
                own.entry(*function).or_default().push(*inst);
            }
        }
        // Branches that set a state are few: their functions are left to the search.
        let at_ends = compiled.at_ends.iter().filter(|(_, all)| all.iter().any(sets));
        let at_ends: FxHashSet<FunctionId> = at_ends.map(|((function, _), _)| *function).collect();
        let mut setting: FxHashSet<FunctionId> = own.keys().chain(&at_ends).copied().collect();
        let mut waiting: Vec<FunctionId> = setting.iter().copied().collect();
        while let Some(function) = waiting.pop() {
            for (caller, inst) in facts.calls.callers(function) {
                own.entry(*caller).or_default().push(*inst);
                if setting.insert(*caller) {
                    waiting.push(*caller);
                }
            }
        }
        for setters in own.values_mut() {
            setters.sort_unstable();
            setters.dedup();
        }
        let mut doubtful = code.suspects().functions(code.program);
        doubtful.extend(at_ends);
        Self { setters: own, doubtful }
    }

    /// Whether something before `inst` may have given an object a state.
    pub fn may_be_set(
        &self,
        function: FunctionId,
        body: &Body,
        inst: InstId,
        reach: &mut Reach,
    ) -> bool {
        if self.doubtful.contains(&function) {
            return true;
        }
        let Some(setters) = self.setters.get(&function) else { return false };
        let block = body.insts[inst].block;
        let before = reach.before.entry(block).or_insert_with(|| blocks_before(body, block));
        setters.iter().any(|setter| {
            let from = body.insts[*setter].block;
            before.contains(&from) || (from == block && *setter < inst)
        })
    }
}

/// Whether a command gives an object an attribute that only objects have.
fn sets_a_state(command: &Command) -> bool {
    let Command::Assign { target, .. } = command else { return false };
    match &target.kind {
        ExprKind::Attr { attribute, .. } => {
            !matches!(attribute.name(), "Value" | "Size" | "Len" | "WLen" | "Init" | "Input")
        }
        _ => false,
    }
}

/// The blocks from which control can come to a block, itself only where it is in a cycle.
fn blocks_before(body: &Body, block: BlockId) -> FxHashSet<BlockId> {
    let mut predecessors: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    for (from, data) in body.blocks.iter_enumerated() {
        for to in data.terminator.successors() {
            predecessors.entry(to).or_default().push(from);
        }
    }
    let mut before = FxHashSet::default();
    let mut waiting = vec![block];
    while let Some(at) = waiting.pop() {
        for from in predecessors.get(&at).into_iter().flatten() {
            if before.insert(*from) {
                waiting.push(*from);
            }
        }
    }
    before
}
