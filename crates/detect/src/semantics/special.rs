//! Queries at points that are no instruction: where functions and threads start, and where
//! loops start another iteration.

use std::collections::BTreeSet;

use program::{Callee, Const, FunctionId, Op, Operand, Program, Terminator};
use spec::ast::{Condition, ExprKind, VarIndex};
use spec::lower::{Argument, Bindings};
use spec::matcher::Shape;
use spec::rules::Observed;

use super::compiled::{Compiled, How};
use crate::code::Code;
use crate::query::At;

/// Functions that start a thread, and which argument is the function it runs.
const STARTERS: [(&str, usize); 2] = [("pthread_create", 2), ("thrd_create", 1)];

impl Compiled<'_> {
    /// Raises the queries of `entry`, `thread-entry` and `back-edge`.
    pub fn add_special(&mut self, code: &Code, raised: &dyn Fn(&Observed) -> bool) {
        let program = code.program;
        let threads = thread_functions(program);
        for event in ["entry", "thread-entry", "back-edge"] {
            let patterns = self.rules.observed_patterns.special(event).to_vec();
            for pattern in patterns {
                if !raised(&self.rules.observed[pattern.0 as usize]) {
                    continue;
                }
                let shapes = &self.rules.observed_patterns.get(pattern).shapes;
                let argument = shapes.iter().find_map(|shape| match shape {
                    Shape::Event { name, args } if name == event => args.first().copied(),
                    _ => None,
                });
                for (function, info) in program.functions.iter_enumerated() {
                    if info.body.is_none()
                        || event == "thread-entry" && !threads.contains(&function)
                    {
                        continue;
                    }
                    for at in points(code, function, event) {
                        if is_discharged(
                            code,
                            function,
                            at,
                            &self.rules.observed[pattern.0 as usize],
                        ) {
                            continue;
                        }
                        let how = How::Matched(self.bound(pattern.0 as usize, argument));
                        self.add(function, at, pattern.0 as usize, how, raised);
                    }
                }
            }
        }
    }

    /// The variable of an event at a function's start is its first parameter.
    fn bound(&self, observed: usize, argument: Option<VarIndex>) -> Bindings {
        let mut bindings = Bindings::with_vars(self.rules.observed[observed].vars.len());
        if let Some(var) = argument {
            bindings.bind(var, Argument::Operand(Operand::Param(0)));
        }
        bindings
    }
}

/// A loop that can come to its exit needs no search.
fn is_discharged(code: &Code, function: FunctionId, at: At, observed: &Observed) -> bool {
    let asks_for_exit = matches!(&observed.require, Condition::Holds(expr)
        if matches!(&expr.kind, ExprKind::Attr { attribute, .. } if attribute.name() == "Exits"));
    matches!(at, At::End(latch) if asks_for_exit && code.can_exit(function, latch))
}

fn points(code: &Code, function: FunctionId, event: &str) -> Vec<At> {
    let (Some(body), Some(shape)) =
        (code.program.functions[function].body.as_ref(), code.shape(function))
    else {
        return Vec::new();
    };
    if event != "back-edge" {
        let entry = &body.blocks[program::Body::ENTRY];
        return match entry.inst_ids().next() {
            Some(first) => vec![At::Inst(first)],
            None => vec![At::End(program::Body::ENTRY)],
        };
    }
    let latches: BTreeSet<_> =
        shape.cfg.loops.loops.iter().flat_map(|found| found.latches.iter().copied()).collect();
    // A branch that jumps back has an exit of its own.
    let jumps = |latch: &_| matches!(body.blocks[*latch].terminator, Terminator::Jump(_));
    latches.into_iter().filter(jumps).map(At::End).collect()
}

/// Functions that are handed to something that starts threads.
fn thread_functions(program: &Program) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        for inst in &body.insts {
            let Op::Call(call) = &inst.op else { continue };
            let Callee::Function(callee) = call.callee else { continue };
            let name = &*program.functions[callee].name;
            let started = STARTERS.iter().find(|(starter, _)| *starter == name);
            if let Some(Operand::Const(constant)) =
                started.and_then(|(_, index)| call.args.get(*index))
                && let Const::Function(function) = program.constants[*constant]
            {
                found.insert(function);
            }
        }
    }
    found
}
