//! What is true of a call where it stands: the checks it comes after, the locks it is under,
//! the constants it is handed, the order of its arguments.

use program::{BlockId, Call, Callee, InstId, Op, Operand, Terminator, Ty};
use rustc_hash::FxHashSet;

use super::function::Fun;
use super::locks::Locks;
use super::sink::{Row, Sink};
use crate::event::{INTEGER, Kind, Outcome, SETTLED};
use crate::known::shown;
use crate::latent;

/// Shorter names, `a` and `b`, say nothing about what they stand for.
const MIN_NAME: usize = 3;
/// Branches looked at above a call.
const MAX_GUARDS: usize = 12;

pub fn extract(fun: &Fun, locks: &Locks, sink: &mut Sink) {
    let mut orders = Vec::new();
    for (id, inst, call) in fun.calls() {
        let Callee::Function(callee_id) = call.callee else { continue };
        if !fun.cfg.is_reachable(inst.block) {
            continue;
        }
        let callee = fun.keys.function(callee_id);
        guards(fun, id, callee, sink);
        constants(fun, id, call, callee, sink);
        if let Some((outcome, swapped)) = order(fun, call, callee) {
            orders.push((id, callee, outcome, swapped));
        }
    }
    for (id, callee, outcome, swapped) in &orders {
        // Who also hands them over in order knows it, and means the other order here.
        let is_straight = |other: &(InstId, &str, Outcome, String)| {
            other.1 == *callee && other.2 == Outcome::InOrder
        };
        if *outcome == Outcome::Swapped && orders.iter().any(is_straight) {
            continue;
        }
        let site = sink.site();
        let row = Row { detail: swapped, ..Row::new(Kind::Order, *outcome, callee) };
        sink.add(fun, fun.body.insts[*id].loc, site, row);
    }
    if !locks.is_empty() {
        contexts(fun, locks, sink);
    } else {
        unlocked_calls(fun, sink);
    }
}

/// The routines whose answers let control get to the call.
fn guards(fun: &Fun, id: InstId, callee: &str, sink: &mut Sink) {
    let block = fun.body.insts[id].block;
    let mut routines: Vec<&str> = Vec::new();
    let mut at = block;
    for _ in 0..MAX_GUARDS {
        let Some(above) = fun.cfg.immediate_dominator(at) else { break };
        if let Terminator::Branch { condition, then, otherwise } = fun.body.blocks[above].terminator
            && let Some(guard) = tested_call(fun, condition)
            && is_one_way(fun, (then, otherwise), block)
            && !routines.contains(&guard)
        {
            routines.push(guard);
        }
        at = above;
    }
    let is_of_interest = !routines.is_empty() || fun.known.is_guarded_somewhere(callee);
    if !is_of_interest {
        return;
    }
    let loc = fun.body.insts[id].loc;
    let site = sink.site();
    sink.add(fun, loc, site, Row::new(Kind::Guard, Outcome::Site, callee));
    for guard in routines {
        let row = Row { b: guard, with: 1, ..Row::new(Kind::Guard, Outcome::Every, callee) };
        sink.add(fun, loc, site, row);
    }
}

/// Whether only one answer of a branch leads to the block.
fn is_one_way(fun: &Fun, (then, otherwise): (BlockId, BlockId), block: BlockId) -> bool {
    let leads = |to: BlockId| fun.cfg.dominates(to, block);
    leads(then) != leads(otherwise)
}

/// The check whose answer a branch tests.
pub fn tested_call<'a>(fun: &Fun<'a>, condition: Operand) -> Option<&'a str> {
    let (_, inst) = fun.inst(fun.unconverted(condition))?;
    let answer = match &inst.op {
        Op::Compare { lhs, rhs, .. } if fun.constant(*rhs).is_some() => *lhs,
        Op::Call(_) => fun.unconverted(condition),
        _ => return None,
    };
    let (_, inst) = fun.inst(fun.unconverted(answer))?;
    let Op::Call(call) = &inst.op else { return None };
    let callee = fun.callee(call)?;
    (matches!(inst.ty, Ty::Int(_)) && latent::is_check(shown(callee))).then_some(callee)
}

fn contexts(fun: &Fun, locks: &Locks, sink: &mut Sink) {
    locks.for_each(fun, |id, held| {
        let inst = &fun.body.insts[id];
        let Op::Call(call) = &inst.op else { return };
        let Some(callee) = fun.callee(call) else { return };
        if !fun.known.is_locked_somewhere(&format!("{callee}()")) {
            return;
        }
        let site = sink.site();
        sink.add(fun, inst.loc, site, Row::new(Kind::Context, Outcome::Site, callee));
        for held in held {
            let row =
                Row { b: held.name, with: 1, ..Row::new(Kind::Context, Outcome::Every, callee) };
            sink.add(fun, inst.loc, site, row);
        }
    });
}

fn unlocked_calls(fun: &Fun, sink: &mut Sink) {
    for (_, inst, call) in fun.calls() {
        let Some(callee) = fun.callee(call) else { continue };
        if fun.cfg.is_reachable(inst.block) && fun.known.is_locked_somewhere(&format!("{callee}()"))
        {
            let site = sink.site();
            sink.add(fun, inst.loc, site, Row::new(Kind::Context, Outcome::Site, callee));
        }
    }
}

/// Numbers that choose what the callee does. Which byte a buffer is filled with, or how long it is,
/// is data and no habit.
fn constants(fun: &Fun, id: InstId, call: &Call, callee: &str, sink: &mut Sink) {
    for (index, arg) in (0u32..).zip(&call.args) {
        if !fun.known.decides(callee, index) {
            continue;
        }
        let number = fun.constant(*arg);
        let value = number.map_or("something else".to_owned(), |number| number.to_string());
        let slot = format!("{} of {}", ordinal(index), callee);
        let site = sink.site();
        let loc = fun.body.insts[id].loc;
        // Who hands over a variable has not chosen, but shows that there is a choice.
        let flags = INTEGER | if number.is_none() { SETTLED } else { 0 };
        let site_row =
            Row { detail: &value, flags, ..Row::new(Kind::Constant, Outcome::Site, &slot) };
        sink.add(fun, loc, site, site_row);
        if number.is_none() {
            continue;
        }
        let row = Row {
            b: &value,
            detail: &value,
            flags,
            with: 1,
            ..Row::new(Kind::Constant, Outcome::Every, &slot)
        };
        sink.add(fun, loc, site, row);
    }
}

fn ordinal(index: u32) -> String {
    format!("argument {}", index + 1)
}

/// Arguments that have the names of the callee's parameters, in their order or not.
fn order(fun: &Fun, call: &Call, callee: &str) -> Option<(Outcome, String)> {
    let parameters = fun.known.parameter_names(callee);
    if parameters.len() < 2 || parameters.len() != call.args.len() {
        return None;
    }
    let names: Vec<String> = call.args.iter().map(|arg| argument_name(fun, *arg)).collect();
    let distinct: FxHashSet<&str> = parameters.iter().map(|name| &**name).collect();
    if distinct.len() != parameters.len() {
        return None;
    }
    let mut outcome = None;
    let mut swapped = String::new();
    for first in 0..parameters.len() {
        for second in first + 1..parameters.len() {
            let is = |arg: usize, parameter: usize| {
                names[arg].len() >= MIN_NAME && names[arg] == *parameters[parameter]
            };
            if fun.ty(call.args[first]) != fun.ty(call.args[second]) {
                continue;
            }
            if is(first, second) && is(second, first) {
                outcome = Some(Outcome::Swapped);
                swapped = format!("{} and {}", names[first], names[second]);
            } else if is(first, first) && is(second, second) && outcome.is_none() {
                outcome = Some(Outcome::InOrder);
            }
        }
    }
    outcome.map(|outcome| (outcome, swapped))
}

/// The last part of an argument's name: `s->width` is `width`.
fn argument_name(fun: &Fun, arg: Operand) -> String {
    let name = fun.value(arg).map(|value| fun.name(value)).unwrap_or_default();
    let name = name.trim_start_matches(['&', '*']);
    let start = name.rfind([']', '.', '>']).map_or(0, |at| at + 1);
    name[start..].to_owned()
}
