//! What callers want to know about a function, as far as its own code tells.

use program::{Callee, InstId, Op, Operand, Ty};

use super::fate::{Fate, fate_of_parameter};
use super::function::Fun;
use crate::known::Summary;

pub fn summarise(fun: &Fun) -> Summary {
    let mut summary = Summary::default();
    for (id, inst, call) in fun.calls() {
        let Callee::Function(callee) = call.callee else { continue };
        let always = fun.cfg.is_reachable(inst.block)
            && fun.cfg.post_dominates(inst.block, program::Body::ENTRY);
        if always {
            summary.always_calls.insert(fun.keys.function(callee).into());
        }
        // What is always called after a call that never returns is called never.
        if fun.cfg.stop(inst.block).is_some_and(|stop| stop < id) {
            continue;
        }
    }
    for (index, param) in (0u32..).zip(&fun.function.params) {
        if param.ty == Ty::Ptr && index < 64 {
            parameter(fun, index, &mut summary);
        }
    }
    summary
}

fn parameter(fun: &Fun, index: u32, summary: &mut Summary) {
    let fate = fate_of_parameter(fun, index);
    let is_first = |at: InstId| is_before_tests(fun, &fate, at);
    if fate.dereferences.iter().any(|&at| is_first(at)) {
        summary.dereferences.insert(index);
    }
    if fate.is_passed || is_stored(fun, index) {
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

/// Whether the parameter gets used there whatever it is: on every path, and before a test.
fn is_before_tests(fun: &Fun, fate: &Fate, at: InstId) -> bool {
    let block = fun.body.insts[at].block;
    fun.cfg.post_dominates(block, program::Body::ENTRY)
        && !fate.tests.iter().any(|test| {
            let tested = fun.body.insts[test.inst].block;
            tested != block && fun.cfg.dominates(tested, block)
        })
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
