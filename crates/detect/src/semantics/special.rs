//! Queries at points that are no instruction: where functions start, and where loops start
//! another iteration.

use std::collections::BTreeSet;

use program::{FunctionId, InstId, Terminator};
use spec::ast::{Command, Condition, ExprKind};
use spec::lower::Bindings;
use spec::rules::Observed;

use super::asking::any_command;
use super::compiled::{Compiled, How};
use crate::code::Code;
use crate::query::At;

impl Compiled<'_> {
    /// Raises the queries of `entry` and `back-edge`.
    pub fn add_special(&mut self, code: &Code, raised: &dyn Fn(&Observed) -> bool) {
        for event in ["entry", "back-edge"] {
            for pattern in self.rules.observed_patterns.special(event) {
                let index = pattern.0 as usize;
                let observed = &self.rules.observed[index];
                if !raised(observed) {
                    continue;
                }
                for function in code.program.functions.ids() {
                    for at in points(code, function, event) {
                        if !self.is_discharged(code, function, at, observed) {
                            let how = How::Matched(Bindings::with_vars(observed.vars.len()));
                            self.add(function, at, index, how, raised);
                        }
                    }
                }
            }
        }
    }

    /// A loop that can come to its exit, whatever there is to be had, needs no search.
    fn is_discharged(
        &self,
        code: &Code,
        function: FunctionId,
        at: At,
        observed: &Observed,
    ) -> bool {
        let asks_for_exit = matches!(&observed.require, Condition::Holds(expr)
            if matches!(&expr.kind, ExprKind::Attr { attribute, .. } if attribute.name() == "Exits"));
        let At::End(latch) = at else { return false };
        asks_for_exit && code.can_exit(function, latch, &|inst| self.may_refuse(function, inst))
    }

    /// Whether a call may fail to hand out a resource.
    fn may_refuse(&self, function: FunctionId, inst: InstId) -> bool {
        let here = self.contributions.get((function, inst)).into_iter().flatten();
        here.flat_map(|contribution| &self.contributing(contribution).commands).any(|command| {
            matches!(command, Command::May { otherwise, .. }
                if any_command(otherwise, &|command| assigns_state(command)))
        })
    }
}

fn assigns_state(command: &Command) -> bool {
    matches!(command, Command::Assign { target, .. }
        if matches!(&target.kind, ExprKind::Attr { attribute, .. } if attribute.name() == "State"))
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
