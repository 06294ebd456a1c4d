//! How far blocks are from a place that is asked for, along jumps and calls.

use std::collections::VecDeque;

use program::{BlockId, Body, Callee, FunctionId, Op, Program, Terminator};
use rustc_hash::FxHashMap;

pub type Node = (FunctionId, BlockId);
pub type Distances = FxHashMap<Node, u32>;

/// The steps from each block to the nearest that holds such a line, where there is a way.
pub fn distances(program: &Program, is_target: &dyn Fn(program::LocId) -> bool) -> Distances {
    let mut before: FxHashMap<Node, Vec<Node>> = FxHashMap::default();
    let mut found = Distances::default();
    let mut queue = VecDeque::new();
    for (function, body) in bodies(program) {
        for (block, content) in body.blocks.iter_enumerated() {
            let here = (function, block);
            for next in successors(&content.terminator) {
                before.entry((function, next)).or_default().push(here);
            }
            for inst in content.inst_ids().map(|inst| &body.insts[inst]) {
                if let Op::Call(call) = &inst.op
                    && let Callee::Function(callee) = &call.callee
                {
                    before.entry((*callee, Body::ENTRY)).or_default().push(here);
                }
                if is_target(inst.loc) && found.insert(here, 0).is_none() {
                    queue.push_back(here);
                }
            }
        }
    }
    while let Some(node) = queue.pop_front() {
        let steps = found[&node] + 1;
        for previous in before.get(&node).into_iter().flatten() {
            if !found.contains_key(previous) {
                found.insert(*previous, steps);
                queue.push_back(*previous);
            }
        }
    }
    found
}

fn bodies(program: &Program) -> impl Iterator<Item = (FunctionId, &Body)> {
    let functions = program.functions.iter_enumerated();
    functions.filter_map(|(id, function)| Some((id, function.body.as_ref()?)))
}

fn successors(terminator: &Terminator) -> Vec<BlockId> {
    match terminator {
        Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        Terminator::Jump(target) => vec![*target],
        Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Terminator::Switch { cases, default, .. } => {
            cases.iter().map(|(_, target)| *target).chain([*default]).collect()
        }
        Terminator::Indirect { targets, .. } => targets.to_vec(),
    }
}
