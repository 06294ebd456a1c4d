//! What callers want to know about a function, as far as its own code tells.

use program::{Callee, InstId, Op, Operand, Terminator, Ty};

use super::calls;
use super::fate::{Fate, fate_of_parameter};
use super::function::{Fun, never_returns};
use super::locks::{self, Locks};
use super::nulls;
use crate::known::{Summary, UnitSummary};
use crate::latent::LockAction;

/// Also tells the unit what is done under locks and after checks.
pub fn summarise(fun: &Fun, unit: &mut UnitSummary) -> Summary {
    let mut summary = Summary::default();
    for (_, inst, call) in fun.calls() {
        let Callee::Function(callee) = call.callee else { continue };
        let always = fun.cfg.is_reachable(inst.block)
            && fun.cfg.post_dominates(inst.block, program::Body::ENTRY);
        if always {
            summary.always_calls.insert(fun.keys.function(callee).into());
        }
    }
    let tests = nulls::tests(fun);
    for (index, param) in (0u32..).zip(&fun.function.params) {
        if param.ty == Ty::Ptr && index < 64 {
            parameter(fun, index, &tests, &mut summary);
        }
    }
    numbers(fun, &mut summary);
    under_locks(fun, unit, &mut summary);
    after_checks(fun, unit);
    summary
}

/// Says which of its numbers the function branches on, and to whom it hands them on.
fn numbers(fun: &Fun, summary: &mut Summary) {
    let parameter = |operand: Operand| match fun.unconverted(operand) {
        Operand::Param(index) if index < 64 => {
            let is_number = |param: &program::Param| matches!(param.ty, Ty::Int(_));
            fun.function.params.get(index as usize).is_some_and(is_number).then_some(index)
        }
        _ => None,
    };
    // `flags & FLAG` decides as `flags` does.
    let asked = |operand: Operand| {
        parameter(operand).or_else(|| match &fun.inst(fun.unconverted(operand))?.1.op {
            Op::Binary { op: program::BinaryOp::And, lhs, .. } => parameter(*lhs),
            _ => None,
        })
    };
    for inst in &fun.body.insts {
        match &inst.op {
            // Two numbers are compared with each other for their size, not for what they mean.
            Op::Compare { lhs, rhs, .. } if fun.constant(*rhs).is_some() => {
                summary.decides.extend(asked(*lhs));
            }
            Op::Call(call) => {
                let Some(callee) = fun.callee(call) else { continue };
                for (argument, arg) in (0u32..).zip(&call.args) {
                    if let Some(index) = parameter(*arg) {
                        summary.hands_on_numbers.insert((index, callee.into(), argument));
                    }
                }
            }
            _ => {}
        }
    }
    for block in &fun.body.blocks {
        if let Terminator::Branch { condition: of, .. } | Terminator::Switch { value: of, .. } =
            block.terminator
        {
            summary.decides.extend(asked(of));
        }
    }
}

/// Says which locks the function takes and releases, for itself or for others.
fn under_locks(fun: &Fun, unit: &mut UnitSummary, summary: &mut Summary) {
    let locks = Locks::new(fun);
    let caller: Box<str> = fun.key().into();
    if locks.is_empty() {
        for (_, _, call) in fun.calls() {
            if let Some(callee) = fun.callee(call) {
                unit.calls.insert((caller.clone(), callee.into(), Vec::new()));
            }
        }
        return;
    }
    locks.for_each(fun, |id, held| match &fun.body.insts[id].op {
        Op::Load(access) | Op::Store { access, .. } if !held.is_empty() => {
            if let Some(name) = locks::variable_name(fun, access.ptr) {
                unit.locked.insert(name.into());
            }
        }
        Op::Call(call) => {
            let Some(callee) = fun.callee(call) else { return };
            let held: Vec<Box<str>> = held.iter().map(|held| held.name.into()).collect();
            if !held.is_empty() {
                unit.locked.insert(format!("{callee}()").into());
            }
            unit.calls.insert((caller.clone(), callee.into(), held));
        }
        _ => {}
    });
    summary.takes = locks.taken_for_good(fun);
    summary.gives_back = locks.given_back();
    summary.acquires = locks.with_action(LockAction::Acquire);
    summary.releases = locks.with_action(LockAction::Release);
}

fn after_checks(fun: &Fun, unit: &mut UnitSummary) {
    let is_guard = |block: &program::Block| match block.terminator {
        Terminator::Branch { condition, .. } => calls::tested_call(fun, condition).is_some(),
        _ => false,
    };
    if !fun.body.blocks.iter().any(is_guard) {
        return;
    }
    for (_, _, call) in fun.calls() {
        if let Some(callee) = fun.callee(call) {
            unit.guarded.insert(callee.into());
        }
    }
}

fn parameter(fun: &Fun, index: u32, tests: &[nulls::Test], summary: &mut Summary) {
    let fate = fate_of_parameter(fun, index);
    may_be_null(fun, index, &fate, tests, summary);
    let is_first = |at: InstId| is_before_tests(fun, &fate, at);
    if fate.dereferences.iter().any(|&at| is_first(at)) {
        summary.dereferences.insert(index);
    }
    if fate.is_passed || fate.is_stored || is_stored(fun, index) {
        summary.keeps.insert(index);
    }
    for &(at, argument) in &fate.arguments {
        let Op::Call(call) = &fun.body.insts[at].op else { continue };
        match fun.callee(call) {
            Some(callee) => {
                summary.passes.insert((index, callee.into(), argument));
                if is_first(at) {
                    summary.hands_on.insert((index, callee.into(), argument));
                }
            }
            // Who calls through a pointer may do anything with it.
            None => drop(summary.keeps.insert(index)),
        }
    }
}

/// Says whether the function asks before it does anything with the parameter, or leaves that to
/// the one callee that it hands the parameter to.
fn may_be_null(fun: &Fun, index: u32, fate: &Fate, tests: &[nulls::Test], summary: &mut Summary) {
    let value = fun.value(Operand::Param(index));
    // An assertion asks, too, but does not put up with the answer.
    let goes_on = |test: &&nulls::Test| {
        let block = &fun.body.blocks[test.if_null];
        let ends = |id: InstId| never_returns(&fun.body.insts[id], fun.keys, fun.known);
        Some(test.value) == value
            && block.terminator != Terminator::Unreachable
            && !block.inst_ids().any(ends)
    };
    let tests: Vec<&nulls::Test> = tests.iter().filter(goes_on).collect();
    let is_unasked = |at: InstId| {
        let block = fun.body.insts[at].block;
        !tests.iter().any(|test| test.block != block && fun.cfg.dominates(test.block, block))
    };
    if fate.is_stored || fate.dereferences.iter().any(|at| is_unasked(*at)) {
        return;
    }
    let mut unasked = fate.arguments.iter().filter(|(at, _)| is_unasked(*at));
    match (unasked.next(), unasked.next()) {
        (None, _) if !tests.is_empty() => drop(summary.tests.insert(index)),
        (Some((at, argument)), None) if !fate.is_computed_with => {
            let Op::Call(call) = &fun.body.insts[*at].op else { return };
            if let Some(callee) = fun.callee(call) {
                summary.leaves_to.insert((index, callee.into(), *argument));
            }
        }
        _ => {}
    }
}

/// Whether the parameter gets used there whatever it is: on every path, and before a test.
pub fn is_before_tests(fun: &Fun, fate: &Fate, at: InstId) -> bool {
    let block = fun.body.insts[at].block;
    fun.cfg.post_dominates(block, program::Body::ENTRY)
        && !fate
            .tests
            .iter()
            .any(|test| test.block != block && fun.cfg.dominates(test.block, block))
}

fn is_stored(fun: &Fun, index: u32) -> bool {
    let parameter = Operand::Param(index);
    fun.body.insts.iter().any(|inst| match &inst.op {
        Op::Store { access, value } if *value == parameter => {
            fun.value(access.ptr).is_none_or(|address| !fun.is_alloca(address))
        }
        _ => false,
    })
}
