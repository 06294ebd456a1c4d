//! Objects that go out of reach where a function returns or a loop starts again, and what
//! queries about them ask.

use logic::{FormulaId, Terms};
use program::{BlockId, Op};

use crate::code::Code;
use crate::machine::exec::Exec;
use crate::machine::memory::{ObjectId, ObjectKind};
use crate::machine::reach::{lost_but_for, lost_objects};
use crate::machine::{Context, State, Value};
use crate::observer::{Required, Semantics};
use crate::query::Query;

/// Objects nothing leads to once the top frame is gone, each told once.
pub fn at_return(state: &State) -> Vec<ObjectId> {
    lost_objects(state)
}

/// Objects nothing leads to once control is at `target`, where that starts a loop again. What an
/// iteration computes is computed anew in the next: only what the loop got from outside, and
/// what it hands on to its next iteration, is still there.
pub fn at_back_edge<'p>(
    code: &Code<'p>,
    context: &mut Context<'p>,
    state: &mut State,
    target: BlockId,
) -> Vec<ObjectId> {
    let (function, from) = (state.top().function, state.top().block);
    let (Some(body), Some(shape)) =
        (code.program.functions[function].body.as_ref(), code.shape(function))
    else {
        return Vec::new();
    };
    let nest = &shape.cfg.loops;
    let Some(id) = nest.headed_by(target).filter(|id| nest.contains(*id, from)) else {
        return Vec::new();
    };
    let is_candidate = |object: &ObjectId| {
        let object = state.memory.get(*object);
        matches!(object.kind, ObjectKind::Heap { .. } | ObjectKind::Handle(_))
            && !object.is_lost
            && !object.escaped
    };
    if !state.memory.ids().any(|object| is_candidate(&object)) {
        return Vec::new();
    }
    let mut kept: Vec<Value> = state.top().given().collect();
    for (inst, data) in body.insts.iter_enumerated() {
        if !nest.contains(id, data.block) {
            kept.push(state.top().value(inst));
        } else if let (true, Op::Phi(incoming)) = (data.block == target, &data.op) {
            let next = incoming.iter().find(|(block, _)| *block == from);
            kept.extend(next.map(|(_, next)| Exec { context, state }.operand(*next)));
        }
    }
    lost_but_for(state, &kept)
}

/// What goes wrong with one object, and how that is said. None where nobody knows.
pub fn question<'p>(
    semantics: &dyn Semantics<'p>,
    context: &mut Context<'p>,
    state: &mut State,
    query: &Query,
    object: ObjectId,
) -> Option<(FormulaId, String)> {
    let (required, message) = semantics.require_of(context, state, query, object);
    let Required::Holds(required, _) = required else { return None };
    let (null, violated) = (state.memory.get(object).null, context.terms.not(required));
    // Of a failed allocation there is nothing to lose.
    let is_own = matches!(state.memory.get(object).kind, ObjectKind::Heap { .. });
    let exists = if is_own { context.terms.not(null) } else { Terms::TRUE };
    Some((context.terms.and(&[violated, exists]), message))
}
