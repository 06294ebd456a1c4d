//! Intervals, then octagons, then disjunctions: each stage gets what those before leave open.

use std::collections::BTreeMap;

use program::{BinaryOp, Body, FunctionId, Op, Operand, Program, Ty};

use super::{Check, CheckKind, Checks};
use crate::Facts;
use crate::octagon::{Disjunctions, Proofs};
use crate::ranges::{Interval, Nullness};

/// What proved a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    Intervals,
    Octagons,
    Disjunctions,
}

/// The checks of one function and what proved each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    pub by: BTreeMap<Check, Option<Stage>>,
}

impl Proved {
    pub fn is_proved(&self, check: &Check) -> bool {
        self.by.get(check).is_some_and(Option::is_some)
    }

    /// How many checks a stage proved; `None` for those that are left.
    pub fn count(&self, stage: Option<Stage>) -> usize {
        self.by.values().filter(|by| **by == stage).count()
    }

    fn open(&self) -> Vec<Check> {
        self.by.iter().filter(|(_, by)| by.is_none()).map(|(check, _)| *check).collect()
    }

    fn set(&mut self, stage: Stage, proves: impl Fn(&Check) -> bool) {
        for (check, by) in self.by.iter_mut().filter(|(_, by)| by.is_none()) {
            if proves(check) {
                *by = Some(stage);
            }
        }
    }
}

/// Proves what can be proved of one function, given its octagons.
pub fn prove(
    (program, facts): (&Program, &Facts),
    id: FunctionId,
    checks: &Checks,
    proofs: &Proofs,
) -> Proved {
    let mut proved = Proved { by: checks.all.iter().map(|check| (*check, None)).collect() };
    let function = &program.functions[id];
    let Some(body) = &function.body else { return proved };
    let intervals = Intervals { program, facts, id, body };
    proved.set(Stage::Intervals, |check| intervals.prove(check));
    if proved.open().iter().any(|check| proofs.can_say(check)) {
        proved.set(Stage::Octagons, |check| proofs.proves(check));
    }
    if proved.open().iter().any(|check| proofs.can_say(check)) {
        let disjunctions = Disjunctions::new(program, function, body, &parameters(facts, id));
        proved.set(Stage::Disjunctions, |check| disjunctions.proves(check));
    }
    proved
}

/// Bounds of the parameters that all callers keep.
pub fn parameters(facts: &Facts, id: FunctionId) -> Vec<(u32, i64, i64)> {
    let Some(known) = facts.ranges.of_function(id) else { return Vec::new() };
    let bounds = (0..).zip(&known.params);
    bounds.map(|(index, range)| (index, range.signed_min, range.signed_max)).collect()
}

struct Intervals<'a> {
    program: &'a Program,
    facts: &'a Facts,
    id: FunctionId,
    body: &'a Body,
}

impl Intervals<'_> {
    fn range(&self, check: &Check, operand: Operand) -> Option<Interval> {
        let block = self.body.insts[check.inst].block;
        self.facts.range_at(self.program, self.id, block, operand)
    }

    fn prove(&self, check: &Check) -> bool {
        let block = self.body.insts[check.inst].block;
        if !self.facts.ranges.can_reach(self.id, block) {
            return true;
        }
        let range = |operand| self.range(check, operand);
        match check.kind {
            CheckKind::Lower { index } => range(index).is_some_and(|r| r.signed_min >= 0),
            CheckKind::Upper { index, last } => range(index).is_some_and(|r| r.signed_max <= last),
            CheckKind::NotNull { pointer } => {
                let found = self.facts.nullness_at(self.program, self.id, check.inst, pointer);
                matches!(found, Nullness::NotNull | Nullness::Unreachable)
            }
            CheckKind::NotZero { divisor } => {
                range(divisor).is_some_and(|r| !r.contains_signed(0) || !r.contains_unsigned(0))
            }
            CheckKind::Fits => self.fits(check).unwrap_or(false),
            CheckKind::Unreached => false,
        }
    }

    fn fits(&self, check: &Check) -> Option<bool> {
        let inst = &self.body.insts[check.inst];
        let (Op::Binary { op, lhs, rhs, .. }, Ty::Int(bits)) = (&inst.op, inst.ty) else {
            return None;
        };
        let (a, b) = (self.range(check, *lhs)?, self.range(check, *rhs)?);
        let ends = |r: Interval| [i128::from(r.signed_min), i128::from(r.signed_max)];
        let top = Interval::all(bits);
        let is_in = |value: i128| {
            (i128::from(top.signed_min)..=i128::from(top.signed_max)).contains(&value)
        };
        // Extremes of sums, differences and products lie at ends of the operands.
        let all = ends(a).into_iter().flat_map(|x| ends(b).map(|y| (x, y)));
        let mut results = all.map(|(x, y)| match op {
            BinaryOp::Add => x + y,
            BinaryOp::Sub => x - y,
            _ => x * y,
        });
        Some(results.all(is_in))
    }
}
