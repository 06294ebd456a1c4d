//! Asks the queries of a search at the points its paths reach.

use std::collections::BTreeSet;

use logic::{FormulaId, Terms};
use program::{FunctionId, InstId, LocId};
use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::describe;
use crate::machine::memory::ObjectId;
use crate::machine::{Context, State, SymbolKind, Value};
use crate::query::{Answer, Query, QueryId, Violation};
use crate::search::Observer;
use crate::steps::{Relevant, segment};
use crate::verdict::{Verdict, involved_symbols, judge};

/// What the specifications say about points and calls.
pub trait Semantics: Sync {
    /// What must hold at the query's point, evaluated in the state before it.
    fn require(&self, context: &mut Context, state: &mut State, query: &Query) -> Required;

    /// The message of a violated query, and the error state it leaves.
    fn message(&self, context: &mut Context, state: &mut State, query: &Query) -> (String, String);

    /// Answers a call with a model; `None` where there is none.
    fn model(
        &self,
        context: &mut Context,
        state: &mut State,
        inst: InstId,
        callee: FunctionId,
    ) -> Option<Value>;

    /// Transitions at an instruction that is no call, after it ran.
    fn after(&self, context: &mut Context, state: &mut State, inst: InstId);
}

/// What must hold, and the objects it speaks of.
pub enum Required {
    Holds(FormulaId, Vec<ObjectId>),
    /// The constraint has no value here: nothing is known about an attribute.
    Unknown(String),
}

/// Verdicts asked for per query and search, and refuted ones apart.
const MAX_JUDGED: u32 = 40;

pub struct Asking<'a, 'p> {
    pub code: &'a Code<'p>,
    pub semantics: &'a dyn Semantics,
    pub queries: &'a [Query],
    /// The queries of this search by point.
    pub points: FxHashMap<(FunctionId, InstId), Vec<QueryId>>,
    pub answers: FxHashMap<QueryId, Answer>,
    /// Functions that must be entered to reach points below.
    pub on_the_way: BTreeSet<FunctionId>,
    pub root_has_callers: bool,
    judged: FxHashMap<QueryId, u32>,
    n_open: usize,
}

/// Calls of functions up to this size are followed for their effect alone.
const SMALL_FUNCTION: usize = 120;
/// So many calls deep.
const SMALL_DEPTH: usize = 4;

impl<'a, 'p> Asking<'a, 'p> {
    pub fn new(
        code: &'a Code<'p>,
        semantics: &'a dyn Semantics,
        queries: &'a [Query],
        active: &[QueryId],
        on_the_way: BTreeSet<FunctionId>,
        root_has_callers: bool,
    ) -> Self {
        let mut points: FxHashMap<_, Vec<QueryId>> = FxHashMap::default();
        for id in active {
            let query = &queries[id.0 as usize];
            points.entry((query.function, query.inst)).or_default().push(*id);
        }
        let answers = active.iter().map(|id| (*id, Answer::default())).collect();
        Self {
            code,
            semantics,
            queries,
            points,
            answers,
            on_the_way,
            root_has_callers,
            judged: FxHashMap::default(),
            n_open: active.len(),
        }
    }

    fn ask(&mut self, context: &mut Context, state: &mut State, id: QueryId) {
        let answer = self.answers.entry(id).or_default();
        answer.reached = true;
        let judged = self.judged.entry(id).or_default();
        if answer.violation.is_some() || *judged >= MAX_JUDGED {
            return;
        }
        let query = &self.queries[id.0 as usize];
        let loc = self.loc_of(query);
        let (required, objects) = match self.semantics.require(context, state, query) {
            Required::Holds(formula, objects) => (formula, objects),
            Required::Unknown(reason) => {
                let answer = self.answers.entry(id).or_default();
                answer.open.get_or_insert((reason, loc));
                return;
            }
        };
        let violation = context.terms.not(required);
        if violation == Terms::FALSE {
            return;
        }
        *self.judged.entry(id).or_default() += 1;
        let verdict = judge(context, state, violation, self.root_has_callers);
        self.record(context, state, id, verdict, violation, objects);
        // Whatever comes after happens only if this did not go wrong.
        if context.feasible(&state.path, &[required]) == crate::machine::Feasible::Yes {
            state.path.assume(required, LocId::UNKNOWN, None);
        }
    }

    fn record(
        &mut self,
        context: &mut Context,
        state: &mut State,
        id: QueryId,
        verdict: Verdict,
        violation: FormulaId,
        objects: Vec<ObjectId>,
    ) {
        let query = self.queries[id.0 as usize];
        let loc = self.loc_of(&query);
        match verdict {
            Verdict::Refuted => {}
            Verdict::Unsafe { input_dependent } => {
                let (message, error_state) = self.semantics.message(context, state, &query);
                let symbols = involved_symbols(context, state, violation);
                let relevant = Relevant { symbols, objects };
                let segment = segment(context, state, &relevant, (query.function, loc), &message);
                let answer = self.answers.entry(id).or_default();
                answer.violation =
                    Some(Violation { message, input_dependent, segment, error_state });
                self.n_open = self.n_open.saturating_sub(1);
            }
            Verdict::NeedsCallers => {
                let requires = self.contract(context, violation);
                let answer = self.answers.entry(id).or_default();
                answer.needs_callers = true;
                if answer.requires.is_none() {
                    answer.requires = requires;
                }
            }
            Verdict::DependsOn(symbol) => {
                let info = context.symbols.get(symbol);
                let what = if info.name.is_empty() { "a value" } else { &info.name };
                let reason = format!("{what} is unknown");
                let at = if info.loc.is_known() { info.loc } else { loc };
                self.answers.entry(id).or_default().open.get_or_insert((reason, at));
            }
            Verdict::Undecided(reason) => {
                self.answers.entry(id).or_default().open.get_or_insert((reason, loc));
            }
        }
    }

    /// What callers must see to, where the violation speaks of the entry alone.
    fn contract(&self, context: &mut Context, violation: FormulaId) -> Option<String> {
        let symbols = context.symbols_in(violation);
        let of_entry =
            |symbol: &logic::SymbolId| context.symbols.get(*symbol).kind == SymbolKind::Entry;
        if symbols.is_empty() || !symbols.iter().all(of_entry) {
            return None;
        }
        let required = context.terms.not(violation);
        describe::condition(context, required)
    }

    fn loc_of(&self, query: &Query) -> LocId {
        let function = &self.code.program.functions[query.function];
        function.body.as_ref().map_or(function.loc, |body| body.insts[query.inst].loc)
    }
}

impl Observer for Asking<'_, '_> {
    fn observe(&mut self, context: &mut Context, state: &mut State, inst: InstId) {
        let point = (state.top().function, inst);
        let Some(queries) = self.points.get(&point) else { return };
        for id in queries.clone() {
            self.ask(context, state, id);
        }
    }

    fn model(
        &mut self,
        context: &mut Context,
        state: &mut State,
        inst: InstId,
        callee: FunctionId,
    ) -> Option<Value> {
        self.semantics.model(context, state, inst, callee)
    }

    fn after(&mut self, context: &mut Context, state: &mut State, inst: InstId) {
        self.semantics.after(context, state, inst);
    }

    fn enters(&mut self, state: &State, callee: FunctionId) -> bool {
        if self.on_the_way.contains(&callee) {
            return true;
        }
        let Some(body) = &self.code.program.functions[callee].body else { return false };
        let function = &self.code.program.functions[callee];
        let effect = self.code.effects().of_function(callee);
        let is_idle = effect.is_none() && function.result == program::Ty::Void;
        !is_idle && body.insts.len() <= SMALL_FUNCTION && state.frames.len() <= SMALL_DEPTH
    }

    fn returns(&mut self, _context: &mut Context, _state: &mut State, _loc: LocId) {}

    fn is_done(&self) -> bool {
        self.n_open == 0
    }
}
