//! From variables in memory to SSA values.
//!
//! Done here and not by LLVM, so that each declaration yields an explicit indeterminate
//! value, each assignment a [`Op::Bind`], and nothing is simplified on the way.

mod dominators;
mod finish;
mod rename;
mod slots;

use program::{Body, Const, Op, Operand, Ty, TypeId, VarId};

use super::constants::Constants;
use super::raw::RawBody;
use super::reader::{Corrupt, Read};
use super::types::Types;
use dominators::Dominators;

/// The body with its scalar variables in SSA form wherever their addresses stay private.
/// `result` is the C type the function returns.
pub fn promote(
    raw: RawBody,
    result: TypeId,
    constants: &mut Constants,
    types: &Types,
) -> Read<Body> {
    let successors: Vec<Vec<u32>> = raw
        .blocks
        .iter()
        .map(|block| {
            let mut targets: Vec<u32> =
                block.terminator.successors().iter().map(|target| target.0).collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        })
        .collect();
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (block, targets) in successors.iter().enumerate() {
        for &target in targets {
            predecessors[target as usize].push(block as u32);
        }
    }
    let dominators = Dominators::compute(&successors, &predecessors)
        .ok_or(Corrupt("a block that cannot be reached"))?;
    let slots = slots::find(&raw, result, types);
    let phis = slots::place_phis(&slots, &predecessors, &dominators);
    let flow = Flow { successors, predecessors, dominators };
    let renamed = rename::rename(raw, slots, phis, &flow, constants);
    finish::finish(renamed, &flow)
}

/// Control flow between the blocks of one body; edges sorted, without duplicates.
struct Flow {
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
    dominators: Dominators,
}

/// A storage whose content becomes SSA values.
struct Slot {
    ty: Ty,
    ctype: TypeId,
    /// Named variables only; the compiler's temporaries have none.
    variable: Option<VarId>,
    /// Holds what the function returns: undefined where a path returns nothing.
    is_result: bool,
    /// Blocks that write it.
    defined_in: Vec<u32>,
    /// Blocks that read it before they write it.
    read_in: Vec<u32>,
}

/// A join of the values a slot has at the ends of the predecessors.
struct NewPhi {
    slot: u32,
    edges: Vec<(program::BlockId, Operand)>,
}

fn undefined(constants: &mut Constants, ty: Ty) -> Operand {
    Operand::Const(constants.intern(Const::Undef(ty)))
}

/// The storage an instruction reads or writes as a whole, with the type of the access.
fn plain_access(op: &Op) -> Option<(Operand, u64)> {
    match op {
        Op::Load(access) | Op::Store { access, .. } => {
            let is_plain = !access.is_volatile && !access.is_atomic && access.bit_field.is_none();
            is_plain.then_some((access.ptr, access.size))
        }
        _ => None,
    }
}
