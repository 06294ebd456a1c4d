//! Pointers from outside: handed to a routine made for such pointers, and dereferenced all the
//! same.
//!
//! Which functions hand a parameter to such a routine, and which dereference one, are closed
//! over calls; implementations of one interface must agree on it.

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator};
use rustc_hash::FxHashMap;

use super::function::Fun;
use super::nulls::{dereferenced_by_callee, dereferences};
use super::sink::{Row, Sink};
use super::values::Value;
use crate::event::{Kind, Outcome, POINTER};
use crate::known::shown;

pub fn extract(fun: &Fun, sink: &mut Sink) {
    let mut tainted: FxHashMap<Value, (InstId, &str)> = FxHashMap::default();
    for (id, _, call) in fun.calls() {
        let Some(callee) = fun.callee(call) else { continue };
        for (index, arg) in (0u32..).zip(&call.args) {
            if fun.known.taints(callee, index)
                && let Some(value) = fun.value(*arg)
                && fun.constant(*arg).is_none()
            {
                tainted.entry(value).or_insert((id, callee));
            }
        }
    }
    // The interface says that the parameter comes from outside.
    for (index, _) in (0u32..).zip(&fun.function.params) {
        if let Some(other) = fun.known.tainted_by_class(fun.key(), index)
            && let Some(value) = fun.value(Operand::Param(index))
        {
            tainted.entry(value).or_insert((InstId(u32::MAX), other));
        }
    }
    let mut values: Vec<_> = tainted.into_iter().collect();
    values.sort_unstable();
    for (value, (at, routine)) in values {
        check(fun, value, at, routine, sink);
    }
}

fn check(fun: &Fun, value: Value, at: InstId, routine: &str, sink: &mut Sink) {
    let used = fun.body.insts.iter_enumerated().find(|(_, inst)| {
        fun.cfg.is_reachable(inst.block)
            && !is_behind_backdoor(fun, inst.block)
            && (dereferences(fun, inst, value)
                || (dereferenced_by_callee(fun, inst, value) && !is_tainting(fun, inst, value)))
    });
    let name = fun.name(value);
    let other_line = fun.body.insts.get(at).map_or(0, |inst| fun.line(inst.loc));
    let (outcome, loc) = match used {
        Some((_, inst)) => (Outcome::Careless, inst.loc),
        None => (Outcome::Careful, fun.body.insts.get(at).map_or(fun.function.loc, |i| i.loc)),
    };
    let site = sink.site();
    let row = Row {
        b: shown(routine),
        detail: &name,
        flags: POINTER,
        other_line,
        ..Row::new(Kind::Taint, outcome, &name)
    };
    sink.add(fun, loc, site, row);
}

/// Whether the block is reached only where a flag says that the pointer is the program's own.
fn is_behind_backdoor(fun: &Fun, block: BlockId) -> bool {
    let mut at = block;
    while let Some(above) = fun.cfg.immediate_dominator(at) {
        if let Terminator::Branch { condition, then, otherwise } = fun.body.blocks[above].terminator
            && let Some((_, inst)) = fun.inst(fun.unconverted(condition))
            && let Op::Compare { predicate, lhs, rhs } = &inst.op
            && fun.constant(*rhs) == Some(0)
            && let Some(flag) = fun.value(fun.unconverted(*lhs))
        {
            let own = if *predicate == Predicate::Eq { then } else { otherwise };
            let name = fun.name(flag);
            // What a routine answers is no flag, whatever the routine is called.
            let is_flag = !name.contains('(')
                && fun.known.settings.backdoors.iter().any(|part| name.contains(part));
            if is_flag && fun.cfg.dominates(own, block) {
                return true;
            }
        }
        at = above;
    }
    false
}

/// A routine for pointers from outside may well dereference others.
fn is_tainting(fun: &Fun, inst: &program::Inst, value: Value) -> bool {
    let Op::Call(call) = &inst.op else { return false };
    let Some(callee) = fun.callee(call) else { return false };
    (0u32..)
        .zip(&call.args)
        .any(|(index, arg)| fun.value(*arg) == Some(value) && fun.known.taints(callee, index))
}
