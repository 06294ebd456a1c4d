//! What a fault causes: follows the paths on which it happens past the point where it does,
//! with its error state in place, and asks every query whose answer depends on that.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Step, Via};
use logic::{FormulaId, SymbolId, Terms};
use program::{BlockId, FunctionId, InstId, LocId};
use rustc_hash::FxHashMap;

use crate::code::Code;
use crate::demand::Demand;
use crate::lost;
use crate::machine::memory::ObjectId;
use crate::machine::state::Wrong;
use crate::machine::trail::What;
use crate::machine::{Context, Feasible, State, SymbolKind};
use crate::observer::{Corrected, Corrupted, Required, Semantics, is_worth_entering};
use crate::query::{At, FaultKey, Points, Query, QueryId, Violation};
use crate::search::Observer;
use crate::steps::{Point, Relevant, place, segment};
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

/// Verdicts asked for per query and fault that may be its cause: the ways from one fault to
/// another do not keep those from a third from being looked at.
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
    judged: FxHashMap<(Option<FaultKey>, QueryId), u32>,
    /// Somebody else says that the source goes wrong.
    pub is_given: bool,
    pub links: BTreeMap<(FaultKey, FaultKey), Link>,
    /// The outermost function returned after the fault: its callers may see what follows.
    pub leaves: bool,
}

/// A question that was answered with a fault.
struct Found {
    violation: FormulaId,
    objects: Vec<ObjectId>,
    input_dependent: bool,
    /// The message and the error state.
    said: (String, String),
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
            (At::End(block), _) if query.function == root => Some(block),
            _ => None,
        };
        let demand = match query.at {
            At::Exit => Demand::everywhere(),
            _ => Demand::new(code, root, point.into_iter(), on_the_way),
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
            demand,
            judged: FxHashMap::default(),
            is_given: false,
            links: BTreeMap::new(),
            leaves: false,
        }
    }

    /// Takes these queries as corrected.
    pub fn correcting(mut self, corrected: &BTreeSet<FaultKey>) -> Self {
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
            false => {
                let refused = self.refusal(context, state, query, required);
                refused.or_else(|| self.cause(context, state, violation)).map(Some)
            }
        };
        if self.is_given
            && state.wrong.is_empty()
            && id == self.source
            && context.feasible(&state.path, &[violation]) != Feasible::No
        {
            return Goes::Wrong(violation);
        }
        let fault = FaultKey::of(id);
        let known = state.wrong.iter().any(|wrong| wrong.fault == fault);
        if let Some(cause) = cause
            && !known
            && self.may_judge(cause.map(|(fault, _)| fault), id)
        {
            let about = About { objects: &objects, hangs_on_path: false, is_loss: false };
            let verdict = judge(context, state, violation, &about, self.root_has_callers);
            if let Verdict::Unsafe { input_dependent } = verdict {
                if let Some(cause) = cause {
                    let mut wrong = state.clone();
                    wrong.path.assume(violation, LocId::UNKNOWN, None);
                    let said = self.semantics.message(context, &mut wrong, query);
                    let found = Found { violation, objects, input_dependent, said };
                    self.add_link(context, state, cause, fault, found);
                }
                return Goes::Wrong(violation);
            }
        }
        let stops = self.semantics.is_fatal(query)
            && context.feasible(&state.path, &[required]) == Feasible::Yes;
        Goes::Right(if stops { required } else { Terms::TRUE })
    }

    fn may_judge(&mut self, cause: Option<FaultKey>, id: QueryId) -> bool {
        let judged = self.judged.entry((cause, id)).or_default();
        *judged += 1;
        *judged <= MAX_JUDGED
    }

    /// The fault on the path that what is asked depends on, the newest first: by a value it
    /// corrupted, or perhaps by a branch such a value decided. Whether the branch would have
    /// been closed without the fault is for those to say who correct it.
    fn cause(
        &self,
        context: &mut Context<'p>,
        state: &State,
        violation: FormulaId,
    ) -> Option<(FaultKey, Via)> {
        let symbols = context.symbols_in(violation);
        let followed = || {
            let followed = state.wrong.iter().rev();
            followed.filter_map(|wrong| Some((wrong, wrong.symbol?)))
        };
        if let Some((wrong, _)) = followed().find(|(_, symbol)| symbols.contains(symbol)) {
            return Some((wrong.fault, Via::Direct));
        }
        let (wrong, symbol) =
            followed().find(|(wrong, symbol)| self.decides(context, state, wrong, *symbol))?;
        let is_direct = symbols.iter().any(|other| follows(context, state, *other, symbol));
        Some((wrong.fault, if is_direct { Via::Direct } else { Via::Feasibility }))
    }

    /// The leak that makes this go wrong: what is required would hold if what was used up could
    /// still be had.
    fn refusal(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        required: FormulaId,
    ) -> Option<(FaultKey, Via)> {
        let by = state.used_up.last()?.by;
        let refused = std::mem::take(&mut state.refused);
        let otherwise = match refused.is_empty() {
            true => None,
            false => Some(self.semantics.require(context, state, query)),
        };
        state.refused = refused;
        match otherwise? {
            Required::Holds(formula, _) if formula != required => Some((by, Via::Direct)),
            _ => None,
        }
    }

    fn add_link(
        &mut self,
        context: &mut Context<'p>,
        state: &State,
        (from, via): (FaultKey, Via),
        to: FaultKey,
        found: Found,
    ) {
        if self.links.get(&(from, to)).is_none_or(|known| via < known.via) {
            let link = self.link(context, state, via, to, found);
            self.links.insert((from, to), link);
        }
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
        via: Via,
        to: FaultKey,
        found: Found,
    ) -> Link {
        let query = &self.queries[to.query.0 as usize];
        let (message, error_state) = found.said;
        let mut symbols = involved_symbols(context, state, found.violation);
        symbols.extend(state.wrong.iter().filter_map(|wrong| wrong.symbol));
        symbols.sort_unstable();
        symbols.dedup();
        let relevant = Relevant { symbols, objects: found.objects };
        let loc = if to.loc.is_known() { to.loc } else { query.loc(self.code.program) };
        let subjects = self.semantics.subjects(query);
        let point = Point { function: query.function, at: query.at, loc, subjects };
        let segment = segment(context, state, &relevant, &point, &message);
        let since = segment.steps.iter().rposition(|step| step.note.starts_with(HAPPENS));
        let path = segment.steps[since.unwrap_or(0)..].to_vec();
        let place = to.loc.is_known().then(|| place(context, query.function, to.loc));
        let input_dependent = found.input_dependent;
        let violation =
            Violation { message, input_dependent, segment, error_state, place, origin: None };
        Link { via, violation, path }
    }

    /// Asks an exit query about one object; whether it goes wrong.
    fn ask_of(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        fault: FaultKey,
        object: ObjectId,
    ) -> bool {
        let id = fault.query;
        let query = self.queries[id.0 as usize];
        let known = state.wrong.iter().any(|wrong| wrong.fault == fault);
        if known || self.corrected.releases(fault) {
            return false;
        }
        let is_first = state.wrong.is_empty();
        if is_first && id != self.source {
            return false;
        }
        let question = lost::question(self.semantics, context, state, &query, object);
        let Some((violation, message)) = question else { return false };
        let cause = if is_first { None } else { self.cause(context, state, violation) };
        if violation == Terms::FALSE
            || (!is_first && cause.is_none())
            || !self.may_judge(cause.map(|(fault, _)| fault), id)
        {
            return false;
        }
        let about = About { objects: &[object], hangs_on_path: true, is_loss: true };
        let verdict = judge(context, state, violation, &about, self.root_has_callers);
        let Verdict::Unsafe { input_dependent } = verdict else { return false };
        if let Some(cause) = cause {
            let (objects, said) = (vec![object], (message.clone(), String::new()));
            let found = Found { violation, objects, input_dependent, said };
            self.add_link(context, state, cause, fault, found);
        }
        state.path.assume(violation, LocId::UNKNOWN, None);
        self.happens(state, fault, &query, &message);
        let n_conditions = state.path.iter().count();
        state.wrong.push(Wrong { fault, symbol: None, is_pending: false, n_conditions });
        self.semantics.use_up(context, state, fault, object, &query);
        true
    }

    /// Asks about objects that go out of reach at a statement.
    fn lose(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        lost: &[ObjectId],
        (loc, is_return): (LocId, bool),
    ) {
        let point = (state.top().function, At::Exit);
        for id in self.points.get(&point).into_iter().flatten() {
            let query = self.queries[id.0 as usize];
            let objects = match is_return {
                true => self.semantics.exit_objects(state, &query, lost),
                false if self.semantics.asks_of_lost(&query) => lost.to_vec(),
                false => Vec::new(),
            };
            for object in objects {
                self.ask_of(context, state, FaultKey { query: *id, loc }, object);
            }
        }
        for object in lost {
            state.memory.get_mut(*object).is_lost = true;
        }
    }

    fn happens(&self, state: &mut State, fault: FaultKey, query: &Query, message: &str) {
        let note = What::Effect(format!("{HAPPENS}{message}").into(), None);
        let (function, depth) = (state.top().function, state.depth());
        let loc = if fault.loc.is_known() { fault.loc } else { query.loc(self.code.program) };
        state.trail.push(note, loc, function, depth);
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
        let fault = FaultKey::of(id);
        self.happens(state, fault, query, &message);
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
        state.wrong.push(Wrong { fault, symbol, is_pending, n_conditions });
    }

    /// Whoever says that something goes wrong says that values for it can be had.
    fn taken(&self, context: &mut Context<'p>, symbol: SymbolId) -> SymbolId {
        if self.is_given {
            context.symbols.set_kind(symbol, SymbolKind::Chosen);
        }
        symbol
    }

    /// Asks all queries of a point of the same state, and lets those go wrong that do.
    fn ask_at(&mut self, context: &mut Context<'p>, state: &mut State, point: (FunctionId, At)) {
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

    /// The instruction of a fault has run.
    fn corrupt_what_is_pending(&self, context: &mut Context<'p>, state: &mut State) {
        for index in 0..state.wrong.len() {
            if !std::mem::replace(&mut state.wrong[index].is_pending, false) {
                continue;
            }
            let query = self.queries[state.wrong[index].fault.query.0 as usize];
            if query.function != state.top().function {
                continue;
            }
            if let Corrupted::By(symbol) = self.semantics.corrupt(context, state, &query, true) {
                state.wrong[index].symbol = Some(self.taken(context, symbol));
            }
        }
    }
}

/// Whether the path leaves a value no choice but the corrupted one or its neighbours, such as
/// the index at which a loop over a text ended.
fn follows(context: &mut Context, state: &State, value: SymbolId, corrupted: SymbolId) -> bool {
    let is_linked = state.path.iter().any(|condition| {
        let symbols = context.symbols_in(condition.formula);
        symbols.contains(&value) && symbols.contains(&corrupted)
    });
    let (value, corrupted) = (context.terms.symbol(value), context.terms.symbol(corrupted));
    is_linked
        && (-1..=1).any(|shift| {
            let shifted = context.terms.add_constant(corrupted, shift);
            let is_equal = context.terms.compare(logic::Comparison::Eq, value, shifted);
            context.prove(&state.path, is_equal)
        })
}

/// How the step of a fault begins that others follow from.
pub const HAPPENS: &str = "it goes wrong: ";

impl<'p> Observer<'p> for Pursuing<'_, 'p> {
    fn observe(&mut self, context: &mut Context<'p>, state: &mut State, inst: InstId) {
        if state.sets_the_scene() {
            return;
        }
        self.ask_at(context, state, (state.top().function, At::Inst(inst)));
    }

    fn ends(&mut self, context: &mut Context<'p>, state: &mut State) {
        self.ask_at(context, state, (state.top().function, At::End(state.top().block)));
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
        if let Some(target) = target.filter(|_| !state.sets_the_scene()) {
            let lost = lost::at_back_edge(self.code, context, state, target);
            let loc = self.code.end_of(state.top().function, state.top().block);
            self.lose(context, state, &lost, (loc, false));
        }
    }

    fn enters(&mut self, state: &State, callee: FunctionId) -> bool {
        !state.wrong.is_empty()
            || self.on_the_way.contains(&callee)
            || is_worth_entering(self.code, self.semantics, state, callee)
    }

    fn returns(&mut self, context: &mut Context<'p>, state: &mut State, loc: LocId) {
        let lost = lost::at_return(state);
        self.lose(context, state, &lost, (loc, true));
        self.leaves |= state.depth() == 0 && !state.wrong.is_empty();
    }

    fn wants(&self, block: BlockId) -> bool {
        self.demand.leads(block)
    }

    fn is_done(&self) -> bool {
        false
    }
}
