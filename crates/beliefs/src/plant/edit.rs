//! The changes that make a place break a rule: a branch that checks becomes a jump, a call that
//! releases or locks becomes nothing.

use program::{BlockId, Body, Callee, FunctionId, InstId, Op, Operand, Program, Terminator};

use crate::aggregate::Follower;
use crate::event::{Event, Events, Kind};
use crate::extract;
use crate::known::{Keys, Known, shown};
use crate::latent::LockAction;

/// A change of one function.
pub struct Edit {
    pub function: FunctionId,
    what: Vec<What>,
}

enum What {
    /// The branch at the end of the block goes only there, and its test is gone.
    Jump(BlockId, BlockId, Option<InstId>),
    /// The call does nothing.
    Remove(InstId),
}

impl Edit {
    pub fn apply(&self, body: &mut Body) {
        for what in &self.what {
            match *what {
                What::Remove(inst) => remove(body, inst),
                What::Jump(block, to, test) => {
                    test.into_iter().for_each(|test| remove(body, test));
                    jump(body, block, to);
                }
            }
        }
    }
}

fn remove(body: &mut Body, inst: InstId) {
    body.insts[inst].op = Op::Opaque { name: "removed".into(), args: Box::new([]) };
}

fn jump(body: &mut Body, block: BlockId, to: BlockId) {
    let lost: Vec<BlockId> = body.blocks[block].terminator.successors();
    body.blocks[block].terminator = Terminator::Jump(to);
    for lost in lost.into_iter().filter(|lost| *lost != to) {
        body.blocks[lost].predecessors.retain(|from| *from != block);
        for id in body.blocks[lost].inst_ids() {
            if let Op::Phi(edges) = &mut body.insts[id].op {
                *edges = edges.iter().filter(|(from, _)| *from != block).copied().collect();
            }
        }
    }
}

/// The place of an event in its program.
pub struct Site<'a> {
    pub program: &'a Program,
    pub keys: &'a Keys,
    pub known: &'a Known,
    pub events: &'a Events,
    pub event: &'a Event,
}

impl Site<'_> {
    /// The change that makes the place break the rule it follows; none where it cannot be made
    /// without changing anything else.
    pub fn edit(&self, kind: Kind, candidate: &Follower) -> Option<Edit> {
        let function = self.function()?;
        let what = match kind {
            Kind::Result => vec![self.without_check(function, &candidate.a)?],
            Kind::Pair => vec![What::Remove(*self.releases(function, &candidate.b)?.first()?)],
            Kind::Undo => vec![What::Remove(self.undoing_call(function, &candidate.b)?)],
            Kind::Access | Kind::Context => self.without_lock(function, &candidate.b, true)?,
            Kind::Lock => {
                self.without_lock(function, self.events.strings.get(self.event.b), false)?
            }
            Kind::Guard => vec![self.without_guard(function, &candidate.b)?],
            _ => return None,
        };
        Some(Edit { function, what })
    }

    fn function(&self) -> Option<FunctionId> {
        let name = self.events.strings.get(self.event.function);
        let functions = self.program.functions.iter_enumerated();
        functions
            .filter(|(_, f)| f.body.is_some())
            .find(|(_, f)| &*f.name == name)
            .map(|(id, _)| id)
    }

    /// Calls of a function by name, in the order of the code.
    fn calls(&self, function: FunctionId, callee: &str) -> Vec<InstId> {
        let Some(body) = &self.program.functions[function].body else { return Vec::new() };
        let is_call = |op: &Op| match op {
            Op::Call(call) => match call.callee {
                Callee::Function(id) => &*self.program.functions[id].name == shown(callee),
                _ => false,
            },
            _ => false,
        };
        body.insts
            .iter_enumerated()
            .filter(|(_, inst)| is_call(&inst.op))
            .map(|(id, _)| id)
            .collect()
    }

    fn is_here(&self, function: FunctionId, inst: InstId) -> bool {
        let Some(body) = &self.program.functions[function].body else { return false };
        let loc = &self.program.locs[body.insts[inst].loc];
        (loc.line, loc.column) == (self.event.line, self.event.column)
    }

    /// Makes the branch on the only test of the result a jump to the side where work goes on.
    fn without_check(&self, function: FunctionId, callee: &str) -> Option<What> {
        let calls = self.calls(function, callee);
        let call = calls.into_iter().find(|call| self.is_here(function, *call))?;
        let body = self.program.functions[function].body.as_ref()?;
        let uses = program::query::Uses::new(body);
        let tests: Vec<InstId> = uses
            .of(call)
            .iter()
            .copied()
            .filter(|user| matches!(body.insts[*user].op, Op::Compare { .. }))
            .collect();
        let [test] = tests[..] else { return None };
        let [block] = *uses.in_terminators(test) else { return None };
        let Terminator::Branch { then, otherwise, .. } = body.blocks[block].terminator else {
            return None;
        };
        let goes_on = self.larger(function, then, otherwise, &body.insts[test].op)?;
        Some(What::Jump(block, goes_on, Some(test)))
    }

    /// For a pointer, the side where it is not null; for a number, the side where it is not
    /// negative, or else the one with more code of its own.
    fn larger(
        &self,
        function: FunctionId,
        then: BlockId,
        otherwise: BlockId,
        test: &Op,
    ) -> Option<BlockId> {
        let body = self.program.functions[function].body.as_ref()?;
        if self.event.flags & crate::event::POINTER != 0
            && let Op::Compare { predicate, .. } = test
        {
            return match predicate {
                program::Predicate::Eq => Some(otherwise),
                program::Predicate::Ne => Some(then),
                _ => None,
            };
        }
        match test {
            Op::Compare { predicate: program::Predicate::SignedLt, .. } => return Some(otherwise),
            Op::Compare { predicate: program::Predicate::SignedGe, .. } => return Some(then),
            _ => {}
        }
        let cfg = facts::Cfg::new(body, |_| false);
        let size = |head: BlockId| match cfg.predecessors(head) {
            [_] => cfg.order().iter().filter(|block| cfg.dominates(head, **block)).count(),
            _ => 0,
        };
        Some(if size(then) > size(otherwise) { then } else { otherwise })
    }

    /// The instruction at the place that a predicate accepts.
    fn here(&self, function: FunctionId, is_it: impl Fn(&Op) -> bool) -> Option<InstId> {
        let body = self.program.functions[function].body.as_ref()?;
        let mut insts = body.insts.iter_enumerated();
        insts.find(|(id, inst)| is_it(&inst.op) && self.is_here(function, *id)).map(|(id, _)| id)
    }

    /// Calls of the second half that are about the same object.
    fn releases(&self, function: FunctionId, callee: &str) -> Option<Vec<InstId>> {
        let body = self.program.functions[function].body.as_ref()?;
        let start = self.here(function, |op| matches!(op, Op::Call(_)))?;
        let uses = program::query::Uses::new(body);
        let mut objects = vec![Operand::Inst(start)];
        let mut has_arguments = false;
        if let Op::Call(call) = &body.insts[start].op {
            objects.extend(call.args.first().map(|arg| place(body, *arg)));
            has_arguments = !call.args.is_empty();
        }
        // What was stored somewhere is released from there.
        for user in uses.of(start) {
            if let Op::Store { access, .. } = &body.insts[*user].op {
                objects.push(access.ptr);
            }
        }
        let is_about = |call: InstId| match &body.insts[call].op {
            Op::Call(call) if call.args.is_empty() => !has_arguments,
            Op::Call(call) => call
                .args
                .iter()
                .any(|arg| objects.contains(&place(body, *arg)) || objects.contains(arg)),
            _ => false,
        };
        let calls = self.calls(function, callee).into_iter();
        let after = calls.filter(|call| *call > start && uses.of(*call).is_empty());
        Some(after.filter(|call| is_about(*call)).collect())
    }

    /// A call of the second half on a path that ends in an error.
    fn undoing_call(&self, function: FunctionId, callee: &str) -> Option<InstId> {
        let start = self.here(function, |op| matches!(op, Op::Call(_)))?;
        let calls = self.releases(function, callee)?;
        let on_error_path =
            extract::calls_on_error_paths(self.program, self.keys, self.known, function, start);
        calls.into_iter().find(|call| on_error_path.contains(call))
    }

    /// Takes away what takes a lock, and what releases it too if `both`.
    fn without_lock(&self, function: FunctionId, lock: &str, both: bool) -> Option<Vec<What>> {
        let body = self.program.functions[function].body.as_ref()?;
        let access =
            self.here(function, |op| matches!(op, Op::Load(_) | Op::Store { .. } | Op::Call(_)))?;
        let uses = program::query::Uses::new(body);
        let actions = extract::lock_actions(self.program, self.keys, self.known, function, lock);
        let mut what = Vec::new();
        let mut takes = false;
        for (inst, action) in actions {
            takes |= action == LockAction::Acquire;
            if action == LockAction::Release && !both {
                continue;
            }
            // A lock whose answer is tested goes with its test.
            match uses.of(inst) {
                [] => {}
                [test] => what.push(self.towards(function, *test, access)?),
                _ => return None,
            }
            what.push(What::Remove(inst));
        }
        takes.then_some(what)
    }

    /// Makes the branch on a test a jump to the side from which control gets to the access.
    fn towards(&self, function: FunctionId, test: InstId, access: InstId) -> Option<What> {
        let body = self.program.functions[function].body.as_ref()?;
        let uses = program::query::Uses::new(body);
        let [block] = *uses.in_terminators(test) else { return None };
        let Terminator::Branch { then, otherwise, .. } = body.blocks[block].terminator else {
            return None;
        };
        let cfg = facts::Cfg::new(body, |_| false);
        let leads = |to: BlockId| cfg.dominates(to, body.insts[access].block);
        match (leads(then), leads(otherwise)) {
            (true, false) => Some(What::Jump(block, then, Some(test))),
            (false, true) => Some(What::Jump(block, otherwise, Some(test))),
            _ => None,
        }
    }

    /// Makes the branch on a check's answer a jump to where the call is.
    fn without_guard(&self, function: FunctionId, guard: &str) -> Option<What> {
        let body = self.program.functions[function].body.as_ref()?;
        let call = self.here(function, |op| matches!(op, Op::Call(_)))?;
        let block = body.insts[call].block;
        let cfg = facts::Cfg::new(body, |_| false);
        let uses = program::query::Uses::new(body);
        for check in self.calls(function, guard) {
            let tests = uses.of(check).iter().copied().chain([check]);
            for branch in tests.flat_map(|test| uses.in_terminators(test)) {
                let Terminator::Branch { then, otherwise, .. } = body.blocks[*branch].terminator
                else {
                    continue;
                };
                for to in [then, otherwise] {
                    if then != otherwise && cfg.dominates(to, block) {
                        return Some(What::Jump(*branch, to, None));
                    }
                }
            }
        }
        None
    }
}

/// Where the object is held that an operand is, or points to.
fn place(body: &program::Body, mut operand: Operand) -> Operand {
    while let Operand::Inst(id) = operand {
        operand = match &body.insts[id].op {
            Op::Load(access) => return access.ptr,
            Op::Convert(conversion) => conversion.value,
            _ => return operand,
        };
    }
    operand
}
