//! What callers do with the results of calls: the beliefs behind "this function can fail".

use program::{BlockId, Call, Callee, Inst, InstId, Op, Operand, Terminator, Ty};

use super::exits::Exits;
use super::failing;
use super::fate::{Fate, Test, fate};
use super::function::Fun;
use super::sink::{Row, Sink};
use crate::event::{
    FAILS, GOES_ON, INTEGER, JOINED, Kind, MACRO, Outcome, POINTER, STATIC, STICKY,
};

pub fn extract(fun: &Fun, sink: &mut Sink) {
    let mut covers = None;
    let exits = Exits::new(fun);
    for (id, inst, call) in fun.calls() {
        let class = match inst.ty {
            Ty::Ptr => POINTER,
            Ty::Int(_) => INTEGER,
            _ => continue,
        };
        if !fun.cfg.is_reachable(inst.block) {
            continue;
        }
        let Some(callee) = fun.callee_or_member(call) else { continue };
        let fate = fate(fun, id);
        let (mut outcome, at) = outcome(fun, &fate, class == POINTER);
        if class == POINTER && at.is_some_and(|at| is_asked_otherwise(fun, id, call, outcome, at)) {
            outcome = Outcome::Passed;
        }
        let mut flags = class;
        if outcome == Outcome::Checked {
            flags |= match failing::fails(fun, &exits, id, &fate) {
                Some(true) => FAILS,
                Some(false) => GOES_ON,
                None => 0,
            };
        }
        if is_static(fun, call) {
            flags |= STATIC;
        }
        if outcome == Outcome::Checked
            && !fate.tests.iter().any(|test| is_sole_source(fun, id, test.of))
        {
            flags |= JOINED;
        }
        if outcome == Outcome::Ignored {
            let covers = covers.get_or_insert_with(|| Covers::new(fun));
            if covers.covers(fun, id, call) {
                flags |= STICKY;
            }
        }
        if at.is_some_and(|at| fun.macro_body(fun.body.insts[at].loc).is_some())
            && matches!(outcome, Outcome::Dereferenced | Outcome::DereferencedInCall)
        {
            flags |= MACRO;
        }
        let by = match outcome {
            Outcome::CheckedBy => fate.tests.iter().find_map(|test| test.by).unwrap_or(""),
            _ => "",
        };
        let other_line = at.map_or(0, |at| fun.line(fun.body.insts[at].loc));
        let name = fun.value(program::Operand::Inst(id)).map(|v| fun.name(v)).unwrap_or_default();
        let site = sink.site();
        let row = Row {
            b: by,
            detail: &name,
            flags,
            other_line,
            ..Row::new(Kind::Result, outcome, &callee)
        };
        sink.add(fun, inst.loc, site, row);
    }
}

/// Branches looked at between a call and the use of its result.
const MAX_ABOVE: usize = 12;

pub fn is_static(fun: &Fun, call: &Call) -> bool {
    match call.callee {
        Callee::Function(id) => fun.program.functions[id].linkage == program::Linkage::Internal,
        _ => false,
    }
}

/// What becomes of a result, and where that shows.
fn outcome(fun: &Fun, fate: &Fate, is_pointer: bool) -> (Outcome, Option<InstId>) {
    let is_after_test = |use_: InstId| {
        fate.tests.iter().any(|test| test.inst != use_ && is_decided_before(fun, test.block, use_))
    };
    if is_pointer {
        let unchecked = |use_: &InstId| !is_after_test(*use_);
        let earliest = |uses: &mut dyn Iterator<Item = InstId>| {
            uses.min_by_key(|id| (fun.cfg.position(fun.body.insts[*id].block), *id))
        };
        if let Some(at) = earliest(&mut fate.dereferences.iter().copied().filter(unchecked)) {
            return (Outcome::Dereferenced, Some(at));
        }
        let handed = fate.arguments.iter().filter(|(call, argument)| {
            let program::Op::Call(call) = &fun.body.insts[*call].op else { return false };
            fun.callee(call).is_some_and(|callee| fun.known.dereferences(callee, *argument))
        });
        if let Some(at) = earliest(&mut handed.map(|(call, _)| *call).filter(unchecked)) {
            return (Outcome::DereferencedInCall, Some(at));
        }
    }
    let first = |tests: &mut dyn Iterator<Item = &Test>| {
        tests
            .map(|test| test.inst)
            .min_by_key(|id| (fun.cfg.position(fun.body.insts[*id].block), *id))
    };
    if let Some(test) = first(&mut fate.tests.iter().filter(|test| test.by.is_some())) {
        return (Outcome::CheckedBy, Some(test));
    }
    if let Some(test) = first(&mut fate.tests.iter()) {
        return (Outcome::Checked, Some(test));
    }
    let is_used = fate.is_computed_with || !fate.arguments.is_empty();
    // Whoever gets it asks himself.
    let is_left = is_pointer && !fate.is_computed_with && is_left_to_callees(fun, fate);
    let outcome = match (fate.is_passed, fate.is_stored, is_used) {
        (true, ..) => Outcome::Passed,
        (_, false, true) if is_left => Outcome::Passed,
        (_, true, _) => Outcome::Stored,
        (_, _, true) => Outcome::Used,
        _ if !fate.dereferences.is_empty() => Outcome::Used,
        _ => Outcome::Ignored,
    };
    (outcome, None)
}

/// Whether the value goes only to functions that test it before they do anything with it.
fn is_left_to_callees(fun: &Fun, fate: &Fate) -> bool {
    let tests = |(call, argument): &(InstId, u32)| match &fun.body.insts[*call].op {
        Op::Call(call) => fun.callee(call).is_some_and(|callee| fun.known.tests(callee, *argument)),
        _ => false,
    };
    fate.dereferences.is_empty() && fate.arguments.iter().all(tests)
}

/// Whether the use comes only after a branch on something the call may have set through one of its
/// arguments: an error that sticks to the object, a count, a length.
fn is_asked_otherwise(fun: &Fun, id: InstId, call: &Call, outcome: Outcome, at: InstId) -> bool {
    if !matches!(outcome, Outcome::Dereferenced | Outcome::DereferencedInCall) {
        return false;
    }
    let values = &fun.values;
    let args: Vec<u32> = call
        .args
        .iter()
        .filter(|arg| fun.ty(**arg) == Ty::Ptr)
        .filter_map(|arg| fun.value(*arg))
        .collect();
    let from = fun.body.insts[id].block;
    let mut block = fun.body.insts[at].block;
    for _ in 0..MAX_ABOVE {
        if block == from {
            return false;
        }
        let Some(above) = fun.cfg.immediate_dominator(block) else { return false };
        block = above;
        let Terminator::Branch { condition, .. } = fun.body.blocks[block].terminator else {
            continue;
        };
        let Some((_, Inst { op: Op::Compare { lhs, rhs, .. }, .. })) =
            fun.inst(fun.unconverted(condition))
        else {
            continue;
        };
        let is_told = |operand: &Operand| match fun.inst(fun.unconverted(*operand)) {
            Some((read, Inst { op: Op::Load(_), .. })) => {
                fun.cfg.inst_dominates(fun.body, id, read)
                    && fun
                        .value(Operand::Inst(read))
                        .is_some_and(|value| values.is_reached_from(value, &args))
            }
            _ => false,
        };
        if [lhs, rhs].into_iter().any(is_told) {
            return true;
        }
    }
    false
}

/// Whether what is tested comes from this call and from nowhere else.
fn is_sole_source(fun: &Fun, call: InstId, tested: Operand) -> bool {
    let mut seen: Vec<InstId> = Vec::new();
    let mut work = vec![tested];
    while let Some(operand) = work.pop() {
        let Operand::Inst(id) = operand else { return false };
        if id == call || seen.contains(&id) {
            continue;
        }
        seen.push(id);
        match &fun.body.insts[id].op {
            Op::Convert(conversion) => work.push(conversion.value),
            Op::Phi(edges) => {
                let edges = edges.iter().filter(|(from, _)| fun.cfg.is_reachable(*from));
                work.extend(edges.map(|(_, operand)| *operand));
            }
            // Read back from where the result was put.
            Op::Load(_) if fun.cfg.inst_dominates(fun.body, call, id) => {}
            _ => return false,
        }
    }
    true
}

/// Whether a test's outcome is known when control gets to `use_`.
fn is_decided_before(fun: &Fun, test: BlockId, use_: InstId) -> bool {
    let use_ = fun.body.insts[use_].block;
    test != use_ && fun.cfg.dominates(test, use_)
}

/// Calls whose tested result tells of earlier calls on the same object as well: an error
/// that sticks to the object until somebody asks.
struct Covers {
    /// First arguments of calls whose result is tested or returned.
    tested: Vec<(InstId, u32)>,
}

impl Covers {
    fn new(fun: &Fun) -> Self {
        let mut tested = Vec::new();
        for (id, inst, call) in fun.calls() {
            let Some(subject) = call.args.first().and_then(|arg| fun.value(*arg)) else { continue };
            if !matches!(inst.ty, Ty::Int(_)) || fun.ty(call.args[0]) != Ty::Ptr {
                continue;
            }
            let fate = fate(fun, id);
            if !fate.tests.is_empty() || fate.is_passed || fate.is_stored {
                tested.push((id, subject));
            }
        }
        Self { tested }
    }

    fn covers(&self, fun: &Fun, id: InstId, call: &Call) -> bool {
        let Some(subject) = call.args.first().and_then(|arg| fun.value(*arg)) else { return false };
        let at = fun.cfg.position(fun.body.insts[id].block);
        self.tested.iter().any(|&(other, other_subject)| {
            let other_at = fun.cfg.position(fun.body.insts[other].block);
            other_subject == subject && (other_at, other) > (at, id)
        })
    }
}
