//! Library functions that move bytes: what they do to contents is a memory operation, not a
//! transition of attributes, and is done to the byte.

use program::{Call, InstId};

use crate::machine::exec::Exec;
use crate::machine::memory::Data;
use crate::machine::{Context, State};

/// Runs a call of this library function; false where it is none of these.
pub fn run(
    context: &mut Context,
    state: &mut State,
    name: &str,
    call: &Call,
    inst: InstId,
) -> bool {
    let scale = if name.starts_with('w') { 4 } else { 1 };
    let (to, second, size) = match (name, &*call.args) {
        ("memcpy" | "memmove" | "wmemcpy" | "wmemmove" | "memset" | "wmemset", [a, b, n, ..]) => {
            (*a, *b, *n)
        }
        _ => return false,
    };
    let mut exec = Exec { context, state };
    let loc = exec.state.top().function;
    let loc = exec.context.program.functions[loc]
        .body
        .as_ref()
        .map_or(program::LocId::UNKNOWN, |body| body.insts[inst].loc);
    let (to, second) = (exec.operand(to), exec.operand(second));
    if let Some(size) = exec.size_operand(size) {
        let size = exec.context.terms.scale(scale, size);
        if name.ends_with("set") {
            exec.write(to, size, Data::Fill { unit: second, width: scale as u64 }, loc);
        } else {
            exec.copy_bytes(to, second, size, loc);
        }
    }
    state.top_mut().set(inst, to);
    true
}
