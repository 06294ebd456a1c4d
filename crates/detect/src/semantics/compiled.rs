//! Specifications made ready for one program: which queries to raise where, and which
//! models speak at which instruction.

use program::{BlockId, Callee, FunctionId, InstId, Op, Program};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use spec::ast::VarIndex;
use spec::lower::Bindings;
use spec::matcher::{CodePoint, Found, Shape};
use spec::rules::{Contributing, Observed, Rules};

use crate::at_insts::AtInsts;
use crate::code::Code;
use crate::observer::{SMALL_DEPTH, is_small};
use crate::ownership::Role;
use crate::query::{At, Query};
use crate::semantics::asking::assigns;

/// A query's place in the specifications.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Index into [`Rules::observed`].
    pub observed: usize,
    pub how: How,
}

#[derive(Clone, Debug)]
pub enum How {
    /// The point's own match.
    Matched(Bindings),
    /// An object at the exit of a function: all that were touched, or only those lost.
    AtExit { var: VarIndex, only_lost: bool },
}

/// A model (or a fault's own contribution) at an instruction.
#[derive(Clone, Debug)]
pub struct Contribution {
    /// Index into [`Rules::contributing`].
    pub contributing: usize,
    pub bindings: Bindings,
}

/// Everything the specifications say about one program.
pub struct Compiled<'r> {
    pub rules: &'r Rules,
    pub queries: Vec<Query>,
    /// By [`Query::point`].
    pub asked: Vec<Asked>,
    pub contributions: AtInsts<Vec<Contribution>>,
    /// What happens where a block ends: branches, switches, returns.
    pub at_ends: FxHashMap<(FunctionId, BlockId), Vec<Contribution>>,
    /// Calls of functions of the program that allocate or release.
    pub roles: FxHashMap<(FunctionId, InstId), Role>,
}

impl<'r> Compiled<'r> {
    /// Finds all points of a program. `strict` raises also what is only meant for it;
    /// `wanted` chooses among the faults.
    pub fn new(
        rules: &'r Rules,
        code: &Code,
        strict: bool,
        wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Self {
        let program = code.program;
        let functions: Vec<FunctionId> = program
            .functions
            .iter_enumerated()
            .filter(|(_, function)| function.body.is_some())
            .map(|(id, _)| id)
            .collect();
        let scanned: Vec<_> = functions
            .par_iter()
            .map(|id| {
                let mut observed = rules.observed_patterns.scan(program, *id);
                let mut contributed = rules.contributing_patterns.scan(program, *id);
                let roles = stand_ins(rules, code, *id, &mut observed, &mut contributed);
                (observed, contributed, roles)
            })
            .collect();
        let mut compiled = Self {
            rules,
            queries: Vec::new(),
            asked: Vec::new(),
            contributions: AtInsts::default(),
            at_ends: FxHashMap::default(),
            roles: FxHashMap::default(),
        };
        let raised = |observed: &Observed| {
            (strict || !observed.strict) && wanted(&rules.fault(observed.fault).id)
        };
        // What is only strictly wrong is not looked for in what macros wrote.
        let in_macro = |function: FunctionId, inst: InstId| {
            let loc = program.functions[function].body.as_ref().map(|body| body.insts[inst].loc);
            loc.is_some_and(|loc| matches!(program.locs[loc].origin, program::Origin::Body(_)))
        };
        for (function, (mut observed, contributed, roles)) in functions.into_iter().zip(scanned) {
            compiled.roles.extend(roles.into_iter().map(|(inst, role)| ((function, inst), role)));
            observed.retain(|found| match found.point {
                CodePoint::Inst(inst) => {
                    !rules.observed[found.pattern.0 as usize].strict || !in_macro(function, inst)
                }
                CodePoint::Terminator(_) => true,
            });
            compiled.add_function(function, observed, contributed, &raised);
        }
        compiled.add_special(code, &raised);
        compiled.drop_idle_exits(program);
        compiled
    }

    pub fn observed(&self, query: &Query) -> &'r Observed {
        &self.rules.observed[self.asked[query.point as usize].observed]
    }

    pub fn contributing(&self, contribution: &Contribution) -> &'r Contributing {
        &self.rules.contributing[contribution.contributing]
    }

    /// Where no object is made or changes its state, there is nothing to ask at an exit.
    fn drop_idle_exits(&mut self, program: &Program) {
        let mut busy: FxHashSet<FunctionId> = self
            .contributions
            .iter()
            .filter(|(_, all)| {
                all.iter().any(|c| assigns(self.contributing(c), &["State", "Held", "Size"]))
            })
            .map(|((function, _), _)| *function)
            .collect();
        // A few calls deep, as far as a search enters calls for their effect.
        for _ in 0..SMALL_DEPTH {
            let calls_busy = |body: &program::Body| {
                body.insts.iter().any(|inst| match &inst.op {
                    Op::Call(call) => match call.callee {
                        Callee::Function(callee) => {
                            busy.contains(&callee) && is_small(program, callee)
                        }
                        _ => false,
                    },
                    _ => false,
                })
            };
            let more: Vec<FunctionId> = program
                .functions
                .iter_enumerated()
                .filter(|(id, _)| !busy.contains(id))
                .filter(|(_, function)| function.body.as_ref().is_some_and(calls_busy))
                .map(|(id, _)| id)
                .collect();
            busy.extend(more);
        }
        self.queries.retain(|query| query.at != At::Exit || busy.contains(&query.function));
    }

    fn add_function(
        &mut self,
        function: FunctionId,
        observed: Vec<Found>,
        contributed: Vec<Found>,
        raised: &dyn Fn(&Observed) -> bool,
    ) {
        for found in observed {
            let at = match found.point {
                CodePoint::Inst(inst) => At::Inst(inst),
                CodePoint::Terminator(block) => {
                    // What a branch uses was computed, and is asked about there; `if` names
                    // an edge, which contributes but is no place to observe.
                    let shapes = &self.rules.observed_patterns.get(found.pattern).shapes;
                    let is_statement =
                        |shape: &Shape| matches!(shape, Shape::Switch(_) | Shape::Return(_));
                    if !shapes.iter().any(is_statement) {
                        continue;
                    }
                    At::End(block)
                }
            };
            let how = How::Matched(found.bindings);
            self.add(function, at, found.pattern.0 as usize, how, raised);
        }
        for found in contributed {
            let contributing = found.pattern.0 as usize;
            let contribution = Contribution { contributing, bindings: found.bindings };
            let here = match found.point {
                CodePoint::Inst(inst) => self.contributions.get_or_default((function, inst)),
                CodePoint::Terminator(block) => self.at_ends.entry((function, block)).or_default(),
            };
            here.push(contribution);
        }
        for (event, only_lost) in [("lost", true), ("exit", false)] {
            for pattern in self.rules.observed_patterns.special(event) {
                let shapes = &self.rules.observed_patterns.get(*pattern).shapes;
                let var = shapes.iter().find_map(|shape| match shape {
                    Shape::Event { name, args } if name == event => args.first().copied(),
                    _ => None,
                });
                if let Some(var) = var {
                    let how = How::AtExit { var, only_lost };
                    self.add(function, At::Exit, pattern.0 as usize, how, raised);
                }
            }
        }
    }

    pub(super) fn add(
        &mut self,
        function: FunctionId,
        at: At,
        observed: usize,
        how: How,
        raised: &dyn Fn(&Observed) -> bool,
    ) {
        let rule = &self.rules.observed[observed];
        if raised(rule) {
            let point = self.asked.len() as u32;
            self.queries.push(Query { rule: rule.fault.0, point, function, at });
            self.asked.push(Asked { observed, how });
        }
    }
}

/// Adds the matches of calls that are answered as calls of library functions would be, and
/// says which calls these are.
fn stand_ins(
    rules: &Rules,
    code: &Code,
    function: FunctionId,
    observed: &mut Vec<Found>,
    contributed: &mut Vec<Found>,
) -> Vec<(InstId, Role)> {
    let mut roles = Vec::new();
    let Some(body) = &code.program.functions[function].body else { return roles };
    for (inst, at) in body.insts.iter_enumerated() {
        let Op::Call(call) = &at.op else { continue };
        let Some(role) = code.ownership().role_of_call(code.program, body, call) else { continue };
        // How much a small function allocates is seen by following it.
        if let (Role::Allocates { size: None, .. }, Callee::Function(callee)) = (role, &call.callee)
            && is_small(code.program, *callee)
        {
            continue;
        }
        let Some(stand) = code.ownership().stand_in(code.program, body, call) else { continue };
        let find = |patterns: &spec::matcher::PatternSet| {
            patterns.standing_for(code.program, function, inst, stand.name, &stand.args)
        };
        let found = find(&rules.contributing_patterns);
        if !found.is_empty() {
            roles.push((inst, role));
            contributed.extend(found);
            observed.extend(find(&rules.observed_patterns));
        }
    }
    roles
}
