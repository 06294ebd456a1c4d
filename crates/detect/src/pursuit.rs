//! What a fault causes: follows the paths on which it happens past the point where it does,
//! with its error state in place, and asks every query whose answer depends on that.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Step, Via};
use logic::{FormulaId, SymbolId, Terms};
use program::{BlockId, FunctionId, InstId, LocId};
use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::demand::Demand;
use crate::machine::memory::ObjectId;
use crate::machine::state::Wrong;
use crate::machine::trail::What;
use crate::machine::{Context, Feasible, State, SymbolKind};
use crate::observer::{Corrected, Corrupted, Required, Semantics, is_worth_entering};
use crate::query::{At, Points, Query, QueryId, Violation};
use crate::search::Observer;
use crate::steps::{Relevant, segment};
use crate::verdict::{About, Verdict, involved_symbols, judge};

/// One fault makes another happen.
#[derive(Clone, Debug)]
pub struct Link {
    pub via: Via,
    /// The second fault, as it happens after the first.
    pub violation: Violation,
    /// From the first fault to the second.
    pub path: Vec<Step>,
}

/// Verdicts asked for per query.
const MAX_JUDGED: u32 = 16;

pub struct Pursuing<'a, 'p> {
    code: &'a Code<'p>,
    semantics: &'a dyn Semantics<'p>,
    queries: &'a [Query],
    points: &'a Points,
    source: QueryId,
    on_the_way: &'a BTreeSet<FunctionId>,
    root_has_callers: bool,
    corrected: Corrected,
    demand: Demand,
    judged: FxHashMap<(bool, QueryId), u32>,
    /// Somebody else says that the source goes wrong.
    pub is_given: bool,
    pub links: BTreeMap<(QueryId, QueryId), Link>,
    /// The outermost function returned after the fault: its callers may see what follows.
    pub leaves: bool,
}

/// How a path goes on after a question.
enum Goes {
    Right(FormulaId),
    Wrong(FormulaId),
}

impl<'a, 'p> Pursuing<'a, 'p> {
    pub fn new(
        code: &'a Code<'p>,
        semantics: &'a dyn Semantics<'p>,
        (queries, points): (&'a [Query], &'a Points),
        source: QueryId,
        (root, on_the_way): (FunctionId, &'a BTreeSet<FunctionId>),
        root_has_callers: bool,
    ) -> Self {
        let query = &queries[source.0 as usize];
        let body = code.program.functions[root].body.as_ref();
        let point = match (query.at, body) {
            (At::Inst(inst), Some(body)) if query.function == root => Some(body.insts[inst].block),
            _ => None,
        };
        Self {
            code,
            semantics,
            queries,
            points,
            source,
            on_the_way,
            root_has_callers,
            corrected: Corrected::default(),
            demand: Demand::new(code, root, point.into_iter(), on_the_way),
            judged: FxHashMap::default(),
            is_given: false,
            links: BTreeMap::new(),
            leaves: false,
        }
    }

    /// Takes these queries as corrected.
    pub fn correcting(mut self, corrected: &BTreeSet<QueryId>) -> Self {
        self.corrected = Corrected::new(self.queries, corrected);
        self
    }

    fn ask(&mut self, context: &mut Context<'p>, state: &mut State, id: QueryId) -> Goes {
        let query = &self.queries[id.0 as usize];
        let required = self.semantics.require(context, state, query);
        let Required::Holds(required, objects) = required else { return Goes::Right(Terms::TRUE) };
        let violation = context.terms.not(required);
        if violation == Terms::FALSE {
            return Goes::Right(Terms::TRUE);
        }
        let cause = match state.wrong.is_empty() {
            true => (id == self.source).then_some(None),
            false => self.cause(context, state, violation).map(Some),
        };
        if self.is_given
            && state.wrong.is_empty()
            && id == self.source
            && context.feasible(&state.path, &[violation]) != Feasible::No
        {
            return Goes::Wrong(violation);
        }
        let known = state.wrong.iter().any(|wrong| wrong.query == id);
        let judged = self.judged.entry((state.wrong.is_empty(), id)).or_default();
        if let Some(cause) = cause
            && !known
            && *judged < MAX_JUDGED
        {
            *judged += 1;
            let about = About { objects: &objects, hangs_on_path: false };
            let verdict = judge(context, state, violation, &about, self.root_has_callers);
            if let Verdict::Unsafe { input_dependent } = verdict {
                if let Some((from, via)) = cause {
                    let key = (from, id);
                    let link = || (violation, objects, input_dependent, via);
                    if self.links.get(&key).is_none_or(|known| via < known.via) {
                        let link = self.link(context, state, query, link());
                        self.links.insert(key, link);
                    }
                }
                return Goes::Wrong(violation);
            }
        }
        let stops = self.semantics.is_fatal(query)
            && context.feasible(&state.path, &[required]) == Feasible::Yes;
        Goes::Right(if stops { required } else { Terms::TRUE })
    }

    /// The fault on the path that what is asked depends on, the newest first: by a value it
    /// corrupted, or perhaps by a branch such a value decided. Whether the branch would have
    /// been closed without the fault is for those to say who correct it.
    fn cause(
        &self,
        context: &mut Context<'p>,
        state: &State,
        violation: FormulaId,
    ) -> Option<(QueryId, Via)> {
        let symbols = context.symbols_in(violation);
        let followed = || {
            let followed = state.wrong.iter().rev();
            followed.filter_map(|wrong| Some((wrong, wrong.symbol?)))
        };
        if let Some((wrong, _)) = followed().find(|(_, symbol)| symbols.contains(symbol)) {
            return Some((wrong.query, Via::Direct));
        }
        followed()
            .find(|(wrong, symbol)| self.decides(context, state, wrong, *symbol))
            .map(|(wrong, _)| (wrong.query, Via::Feasibility))
    }

    /// Whether the path has passed a branch on the corrupted value.
    fn decides(
        &self,
        context: &mut Context<'p>,
        state: &State,
        wrong: &Wrong,
        symbol: SymbolId,
    ) -> bool {
        let n_since = state.path.iter().count().saturating_sub(wrong.n_conditions);
        state.path.iter().take(n_since).any(|condition| {
            condition.frame.is_some() && context.symbols_in(condition.formula).contains(&symbol)
        })
    }

    fn link(
        &self,
        context: &mut Context<'p>,
        state: &State,
        query: &Query,
        (violation, objects, input_dependent, via): (FormulaId, Vec<ObjectId>, bool, Via),
    ) -> Link {
        let mut wrong = state.clone();
        wrong.path.assume(violation, LocId::UNKNOWN, None);
        let (message, error_state) = self.semantics.message(context, &mut wrong, query);
        let mut symbols = involved_symbols(context, state, violation);
        symbols.extend(state.wrong.iter().filter_map(|wrong| wrong.symbol));
        symbols.sort_unstable();
        symbols.dedup();
        let relevant = Relevant { symbols, objects };
        let at = (query.function, query.loc(self.code.program));
        let segment = segment(context, state, &relevant, at, &message);
        let since = segment.steps.iter().rposition(|step| step.note.starts_with(HAPPENS));
        let path = segment.steps[since.unwrap_or(0)..].to_vec();
        let violation =
            Violation { message, input_dependent, segment, error_state, place: None, origin: None };
        Link { via, violation, path }
    }

    /// The fault happens: the path goes on with its error state.
    fn go_wrong(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        id: QueryId,
        violation: FormulaId,
    ) {
        let query = &self.queries[id.0 as usize];
        state.path.assume(violation, LocId::UNKNOWN, None);
        let (message, _) = self.semantics.message(context, state, query);
        let note = What::Effect(format!("{HAPPENS}{message}").into(), None);
        let (function, depth) = (state.top().function, state.depth());
        state.trail.push(note, query.loc(self.code.program), function, depth);
        let n_conditions = state.path.iter().count();
        let corrupted = self.semantics.corrupt(context, state, query, false);
        let (symbol, is_pending) = match corrupted {
            Corrupted::By(symbol) => (Some(self.taken(context, symbol)), false),
            Corrupted::Later => (None, true),
            Corrupted::Nothing => (None, false),
            Corrupted::Ends => {
                state.path.is_dead = true;
                (None, false)
            }
        };
        state.wrong.push(Wrong { query: id, symbol, is_pending, n_conditions });
    }

    /// Whoever says that something goes wrong says that values for it can be had.
    fn taken(&self, context: &mut Context<'p>, symbol: SymbolId) -> SymbolId {
        if self.is_given {
            context.symbols.set_kind(symbol, SymbolKind::Chosen);
        }
        symbol
    }

    /// The instruction of a fault has run.
    fn corrupt_what_is_pending(&self, context: &mut Context<'p>, state: &mut State) {
        for index in 0..state.wrong.len() {
            if !std::mem::replace(&mut state.wrong[index].is_pending, false) {
                continue;
            }
            let query = self.queries[state.wrong[index].query.0 as usize];
            if query.function != state.top().function {
                continue;
            }
            if let Corrupted::By(symbol) = self.semantics.corrupt(context, state, &query, true) {
                state.wrong[index].symbol = Some(self.taken(context, symbol));
            }
        }
    }
}

/// How the step of a fault begins that others follow from.
pub const HAPPENS: &str = "it goes wrong: ";

impl<'p> Observer<'p> for Pursuing<'_, 'p> {
    fn observe(&mut self, context: &mut Context<'p>, state: &mut State, inst: InstId) {
        if state.sets_the_scene() {
            return;
        }
        let point = (state.top().function, At::Inst(inst));
        self.corrected.apply(self.semantics, self.queries, context, state, point);
        let Some(ids) = self.points.get(&point) else { return };
        let (mut right, mut wrong) = (Vec::new(), Vec::new());
        for id in ids {
            match self.ask(context, state, *id) {
                Goes::Right(formula) => right.push(formula),
                Goes::Wrong(formula) => wrong.push((*id, formula)),
            }
        }
        for (id, violation) in &wrong {
            if context.feasible(&state.path, &[*violation]) != Feasible::No {
                self.go_wrong(context, state, *id, *violation);
            }
        }
        for formula in right {
            if wrong.is_empty() || context.feasible(&state.path, &[formula]) == Feasible::Yes {
                state.path.assume(formula, LocId::UNKNOWN, None);
            }
        }
    }

    fn model(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) -> bool {
        let modelled = self.semantics.model(context, state, inst, forks);
        for state in forks.iter_mut().chain([state]) {
            self.corrupt_what_is_pending(context, state);
        }
        modelled
    }

    fn after(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) {
        self.semantics.after(context, state, inst, forks);
        for state in forks.iter_mut().chain([state]) {
            self.corrupt_what_is_pending(context, state);
        }
    }

    fn passes(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        target: Option<BlockId>,
        forks: &mut Vec<State>,
    ) {
        self.semantics.passes(context, state, target, forks);
    }

    fn enters(&mut self, state: &State, callee: FunctionId) -> bool {
        !state.wrong.is_empty()
            || self.on_the_way.contains(&callee)
            || is_worth_entering(self.code, self.semantics, state, callee)
    }

    fn returns(&mut self, _: &mut Context<'p>, state: &mut State, _: LocId) {
        self.leaves |= state.depth() == 0 && !state.wrong.is_empty();
    }

    fn wants(&self, block: BlockId) -> bool {
        self.demand.leads(block)
    }

    fn is_done(&self) -> bool {
        false
    }
}
