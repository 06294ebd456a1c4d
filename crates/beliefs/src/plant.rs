//! Breaks places that follow a rule, one at a time, and sees whether the deviation is found.
//!
//! The program is changed as it was imported, never its source: a branch that checks becomes
//! a jump, a call that releases or locks becomes nothing.

use program::{BlockId, Callee, FunctionId, InstId, Op, Operand, Program, Terminator};
use rayon::prelude::*;
use serde::Serialize;

use crate::aggregate::{Follower, deviations, followers};
use crate::event::{Event, Events, Kind, Outcome};
use crate::extract::extract;
use crate::known::{Known, shown};
use crate::template::Template;

/// Rules with fewer examples are not planted against.
const MIN_EXAMPLES: u64 = 10;
/// Seeds the order in which candidates are drawn.
const SEED: u64 = 0x2545_f491_4f6c_dd1d;

/// How one template did.
#[derive(Clone, Debug, Serialize)]
pub struct Planted {
    pub template: String,
    /// Places that could have been broken.
    pub candidates: usize,
    pub planted: usize,
    pub found: usize,
    /// For each found: its rank among the deviations of its rule, and of its template.
    pub ranks_in_rule: Vec<usize>,
    pub ranks_in_template: Vec<usize>,
    /// Places that were broken and not reported, for people to look at.
    pub missed: Vec<String>,
}

/// Plants against every template that has something to break.
pub fn plant(
    units: &[Program],
    known: &Known,
    events: &[Events],
    templates: &[Template],
    n_plants: usize,
) -> Vec<Planted> {
    let is_breakable = |template: &&Template| match template.kind {
        Kind::Pair | Kind::Undo | Kind::Access | Kind::Guard => true,
        // A check that is gone is what these two look for.
        Kind::Result => template.breaks(Outcome::Ignored) && template.follows(Outcome::Checked),
        _ => false,
    };
    let chosen: Vec<&Template> = templates.iter().filter(is_breakable).collect();
    chosen.iter().map(|template| against(units, known, events, template, n_plants)).collect()
}

fn against(
    units: &[Program],
    known: &Known,
    events: &[Events],
    template: &Template,
    n_plants: usize,
) -> Planted {
    let all: Vec<&Events> = events.iter().collect();
    let mut candidates = followers(&all, template, MIN_EXAMPLES);
    shuffle(&mut candidates);
    let n_candidates = candidates.len();
    let mut edits = Vec::new();
    for candidate in candidates {
        if edits.len() == n_plants {
            break;
        }
        let event = &events[candidate.unit].rows[candidate.row];
        let at = Site { program: &units[candidate.unit], events: &events[candidate.unit], event };
        if let Some(edit) = at.edit(template.kind, &candidate) {
            edits.push((candidate, edit));
        }
    }
    let alone = std::slice::from_ref(template);
    let outcomes: Vec<_> = edits
        .par_iter()
        .map(|(candidate, edit)| {
            let mut program = units[candidate.unit].clone();
            edit.apply(&mut program);
            let changed = extract(&program, known);
            let mut all = all.clone();
            all[candidate.unit] = &changed;
            let event = &events[candidate.unit].rows[candidate.row];
            let text = |symbol| events[candidate.unit].strings.get(symbol);
            let mut in_rule = 0;
            for (index, deviation) in deviations(&all, alone).iter().enumerate() {
                let is_rule = deviation.slots.get(&template.slots[0]).map(String::as_str)
                    == Some(&candidate.a)
                    && (template.slots.len() < 2
                        || deviation.slots.get(&template.slots[1]).map(String::as_str)
                            == Some(&candidate.b));
                in_rule += usize::from(is_rule);
                if is_rule
                    && deviation.place.function == text(event.function)
                    && deviation.place.file == text(event.file)
                {
                    return Ok((in_rule, index + 1));
                }
            }
            let rule = (shown(&candidate.a), shown(&candidate.b));
            Err(format!("{}:{} {rule:?}", text(event.file), event.line))
        })
        .collect();
    let mut planted = Planted {
        template: template.id.clone(),
        candidates: n_candidates,
        planted: outcomes.len(),
        found: 0,
        ranks_in_rule: Vec::new(),
        ranks_in_template: Vec::new(),
        missed: Vec::new(),
    };
    for outcome in outcomes {
        match outcome {
            Ok((in_rule, in_template)) => {
                planted.found += 1;
                planted.ranks_in_rule.push(in_rule);
                planted.ranks_in_template.push(in_template);
            }
            Err(missed) => planted.missed.push(missed),
        }
    }
    planted
}

/// A fixed order without pattern, the same on every machine.
fn shuffle(candidates: &mut [Follower]) {
    let mut state = SEED;
    for index in (1..candidates.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        candidates.swap(index, (state % (index as u64 + 1)) as usize);
    }
}

/// A change of one function.
struct Edit {
    function: FunctionId,
    what: What,
}

enum What {
    /// The branch at the end of the block goes only there, and its test is gone.
    Jump(BlockId, BlockId, Option<InstId>),
    /// The call does nothing.
    Remove(InstId),
}

impl Edit {
    fn apply(&self, program: &mut Program) {
        let Some(body) = &mut program.functions[self.function].body else { return };
        match self.what {
            What::Remove(inst) => {
                body.insts[inst].op = Op::Opaque { name: "removed".into(), args: Box::new([]) };
            }
            What::Jump(block, to, test) => {
                if let Some(test) = test {
                    body.insts[test].op = Op::Opaque { name: "removed".into(), args: Box::new([]) };
                }
                let lost: Vec<BlockId> = body.blocks[block].terminator.successors();
                body.blocks[block].terminator = Terminator::Jump(to);
                for lost in lost.into_iter().filter(|lost| *lost != to) {
                    body.blocks[lost].predecessors.retain(|from| *from != block);
                    for id in body.blocks[lost].inst_ids() {
                        if let Op::Phi(edges) = &mut body.insts[id].op {
                            *edges =
                                edges.iter().filter(|(from, _)| *from != block).copied().collect();
                        }
                    }
                }
            }
        }
    }
}

/// The place of an event in its program.
struct Site<'a> {
    program: &'a Program,
    events: &'a Events,
    event: &'a Event,
}

impl Site<'_> {
    fn edit(&self, kind: Kind, candidate: &Follower) -> Option<Edit> {
        let function = self.function()?;
        let what = match kind {
            Kind::Result => self.without_check(function, &candidate.a),
            Kind::Pair | Kind::Undo => self.without_call(function, &candidate.b),
            Kind::Access => self.without_lock(function),
            Kind::Guard => self.without_guard(function, &candidate.b),
            _ => None,
        }?;
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

    /// Takes one call of the second half away.
    fn without_call(&self, function: FunctionId, callee: &str) -> Option<What> {
        let body = self.program.functions[function].body.as_ref()?;
        let start = body
            .insts
            .iter_enumerated()
            .find(|(id, inst)| matches!(inst.op, Op::Call(_)) && self.is_here(function, *id));
        let (start, _) = start?;
        let uses = program::query::Uses::new(body);
        let mut objects = vec![Operand::Inst(start)];
        if let Op::Call(call) = &body.insts[start].op {
            objects.extend(call.args.first().map(|arg| place(body, *arg)));
        }
        let is_about = |call: InstId| match &body.insts[call].op {
            Op::Call(call) => call
                .args
                .iter()
                .any(|arg| objects.contains(&place(body, *arg)) || objects.contains(arg)),
            _ => false,
        };
        let calls = self.calls(function, callee).into_iter();
        let mut after = calls.filter(|call| *call > start && uses.of(*call).is_empty());
        after.find(|call| is_about(*call)).map(What::Remove)
    }

    /// Takes away the last lock taken before the access.
    fn without_lock(&self, function: FunctionId) -> Option<What> {
        let body = self.program.functions[function].body.as_ref()?;
        let access = body.insts.iter_enumerated().find(|(id, inst)| {
            matches!(inst.op, Op::Load(_) | Op::Store { .. }) && self.is_here(function, *id)
        });
        let (access, _) = access?;
        let uses = program::query::Uses::new(body);
        let takes = |id: InstId| match &body.insts[id].op {
            Op::Call(call) => match call.callee {
                Callee::Function(callee) => {
                    let name = &self.program.functions[callee].name;
                    crate::latent::lock_action(name) == Some(crate::latent::LockAction::Acquire)
                }
                _ => false,
            },
            _ => false,
        };
        let found = (0..access.0).rev().map(InstId).find(|id| takes(*id))?;
        // A lock whose answer is tested goes with its test.
        if let [test] = uses.of(found)
            && let [block] = uses.in_terminators(*test)
            && let Terminator::Branch { .. } = body.blocks[*block].terminator
        {
            return None;
        }
        uses.of(found).is_empty().then_some(What::Remove(found))
    }

    /// Makes the branch on a check's answer a jump to where the call is.
    fn without_guard(&self, function: FunctionId, guard: &str) -> Option<What> {
        let body = self.program.functions[function].body.as_ref()?;
        let call = body
            .insts
            .iter_enumerated()
            .find(|(id, inst)| matches!(inst.op, Op::Call(_)) && self.is_here(function, *id));
        let block = call?.1.block;
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
