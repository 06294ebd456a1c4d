//! Asks the queries of a search at the points its paths reach.

use std::collections::BTreeSet;

use logic::{FormulaId, SymbolId, Terms};
use program::{BlockId, FunctionId, InstId, LocId, Operand, Program};
use rustc_hash::FxHashMap;

use crate::at_insts::AtInsts;
use crate::code::Code;
use crate::demand::Demand;
use crate::describe;
use crate::lost;
use crate::machine::memory::{Content, ObjectId, ObjectKind};
use crate::machine::{Context, Feasible, State, SymbolKind};
use crate::query::{Answer, At, FaultKey, Points, Query, QueryId, Violation};
use crate::search::Observer;
use crate::settled::Settled;
use crate::steps::{Point, Relevant, place, segment};
use crate::verdict::{About, Verdict, involved_symbols, judge};

/// What the specifications say about points and calls.
pub trait Semantics<'p>: Sync {
    /// What must hold at the query's point, evaluated in the state before it.
    fn require(&self, context: &mut Context<'p>, state: &mut State, query: &Query) -> Required;

    /// The values the query's constraint speaks of.
    fn subjects(&self, _query: &Query) -> Vec<Operand> {
        Vec::new()
    }

    /// Whether nothing that follows counts once the query is violated.
    fn is_fatal(&self, query: &Query) -> bool;

    /// Whether the machine stops where the query is violated.
    fn stops_the_program(&self, query: &Query) -> bool;

    /// The message of a violated query, and the error state it leaves.
    fn message(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
    ) -> (String, String);

    /// As [`Observer::model`].
    fn model(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) -> bool;

    /// Transitions at an instruction that is no call, after it ran.
    fn after(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    );

    /// As [`Observer::passes`].
    fn passes(
        &self,
        _context: &mut Context<'p>,
        _state: &mut State,
        _target: Option<BlockId>,
        _forks: &mut Vec<State>,
    ) {
    }

    /// Whether a function may change the state of an object: then calls of it matter.
    fn is_stateful(&self, function: FunctionId) -> bool;

    /// For queries at exits: the objects to ask about now that the top frame returns.
    fn exit_objects(&self, state: &State, query: &Query, lost: &[ObjectId]) -> Vec<ObjectId>;

    /// Lets the violated query leave its error state behind: before its instruction runs,
    /// or after it.
    fn corrupt(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        has_run: bool,
    ) -> Corrupted;

    /// Whether an exit query asks of what goes out of reach, and of nothing else.
    fn asks_of_lost(&self, _query: &Query) -> bool {
        false
    }

    /// Lets a violated exit query leave its error state behind.
    fn use_up(
        &self,
        _context: &mut Context<'p>,
        _state: &mut State,
        _fault: FaultKey,
        _object: ObjectId,
        _query: &Query,
    ) {
    }

    /// What must hold of such an object, and the message where it does not.
    fn require_of(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        object: ObjectId,
    ) -> (Required, String);
}

/// What a fault leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupted {
    /// This symbol stands for the corrupted value.
    By(SymbolId),
    /// The instruction has to run first.
    Later,
    /// Nothing that can be followed.
    Nothing,
    /// The program ends.
    Ends,
}

/// What must hold, and the objects it speaks of.
pub enum Required {
    Holds(FormulaId, Vec<ObjectId>),
    /// The constraint has no value here: nothing is known about an attribute of an object.
    Unknown(String, Vec<ObjectId>),
}

/// Verdicts asked for per query and search, and refuted ones apart.
const MAX_JUDGED: u32 = 16;

/// What was trivial so often on other paths costs more to look at than it tells.
const MAX_HARMLESS: u32 = 4;

/// Queries by their points where nothing that follows counts once they are violated.
pub type Deadly = AtInsts<Vec<QueryId>>;

/// The deadly ones among queries that facts leave open.
pub fn deadly<'p>(semantics: &dyn Semantics<'p>, queries: &[Query], settled: &[Settled]) -> Deadly {
    let mut deadly = Deadly::default();
    for (index, (query, settled)) in queries.iter().zip(settled).enumerate() {
        if let At::Inst(inst) = query.at
            && *settled == Settled::Open
            && semantics.is_fatal(query)
        {
            deadly.get_or_default((query.function, inst)).push(QueryId(index as u32));
        }
    }
    deadly
}

pub struct Asking<'a, 'p> {
    pub code: &'a Code<'p>,
    pub semantics: &'a dyn Semantics<'p>,
    pub queries: &'a [Query],
    /// The queries of this search by point.
    pub points: Points,
    /// What must not have gone wrong on the way, asked about or not.
    deadly: Option<&'a Deadly>,
    pub answers: FxHashMap<QueryId, Answer>,
    /// Functions that must be entered to reach points below.
    pub on_the_way: BTreeSet<FunctionId>,
    pub root_has_callers: bool,
    corrected: Corrected,
    judged: FxHashMap<QueryId, u32>,
    /// How often queries that are not asked, only to be survived, were trivial.
    harmless: FxHashMap<QueryId, u32>,
    n_open: usize,
    root: FunctionId,
    demand: Demand,
}

/// Calls of functions up to this size are followed for their effect alone.
const SMALL_FUNCTION: usize = 120;
/// So many calls deep.
pub const SMALL_DEPTH: usize = 4;

/// Whether calls of a function are followed for their effect alone.
pub fn is_small(program: &Program, function: FunctionId) -> bool {
    let body = program.functions[function].body.as_ref();
    body.is_some_and(|body| body.insts.len() <= SMALL_FUNCTION)
}

/// Queries taken as corrected, by point: they hold wherever they would be asked.
#[derive(Default)]
pub struct Corrected {
    points: Points,
    /// Those of exits, each for one statement.
    exits: BTreeSet<FaultKey>,
}

impl Corrected {
    pub fn new(queries: &[Query], corrected: &BTreeSet<FaultKey>) -> Self {
        let mut points = Points::default();
        for FaultKey { query: id, .. } in corrected {
            let query = &queries[id.0 as usize];
            if query.at != At::Exit {
                points.entry((query.function, query.at)).or_default().push(*id);
            }
        }
        Self { points, exits: corrected.clone() }
    }

    /// Whether what is lost at this statement is released there.
    pub fn releases(&self, fault: FaultKey) -> bool {
        self.exits.contains(&fault)
    }

    /// The path goes on only where the queries of this point hold.
    pub fn apply<'p>(
        &self,
        semantics: &dyn Semantics<'p>,
        queries: &[Query],
        context: &mut Context<'p>,
        state: &mut State,
        point: (FunctionId, At),
    ) {
        for id in self.points.get(&point).into_iter().flatten() {
            let required = semantics.require(context, state, &queries[id.0 as usize]);
            if let Required::Holds(formula, _) = required {
                state.path.is_dead |= context.feasible(&state.path, &[formula]) == Feasible::No;
                state.path.assume(formula, LocId::UNKNOWN, None);
            }
        }
    }
}

/// What a query that did not go wrong says of the path that goes on.
enum Held {
    /// It can hold, and nothing later needs to be asked where it does not.
    Known(FormulaId),
    /// It must hold for the path to be reported later.
    Survived(FormulaId),
}

impl Default for Held {
    fn default() -> Self {
        Held::Known(Terms::TRUE)
    }
}

/// Whether a call is followed for its effect, with nothing asked in it.
pub fn is_worth_entering<'p>(
    code: &Code<'p>,
    semantics: &dyn Semantics<'p>,
    state: &State,
    callee: FunctionId,
) -> bool {
    let is_idle = code.effects().of_function(callee).is_none()
        && code.program.functions[callee].result == program::Ty::Void
        && !semantics.is_stateful(callee);
    !is_idle && is_small(code.program, callee) && state.frames.len() <= SMALL_DEPTH
}

impl<'a, 'p> Asking<'a, 'p> {
    pub fn new(
        code: &'a Code<'p>,
        semantics: &'a dyn Semantics<'p>,
        queries: &'a [Query],
        active: &[QueryId],
        root: FunctionId,
        on_the_way: BTreeSet<FunctionId>,
        root_has_callers: bool,
    ) -> Self {
        let mut points = Points::default();
        for id in active {
            let query = &queries[id.0 as usize];
            points.entry((query.function, query.at)).or_default().push(*id);
        }
        let at_exit = |id: &QueryId| queries[id.0 as usize].at == At::Exit;
        // Queries at exits are never done: the next path may lose another object.
        let n_open = if active.iter().any(at_exit) { usize::MAX } else { active.len() };
        let answers = active.iter().map(|id| (*id, Answer::default())).collect();
        let mut asking = Self {
            code,
            semantics,
            queries,
            points,
            deadly: None,
            answers,
            on_the_way,
            root_has_callers,
            corrected: Corrected::default(),
            judged: FxHashMap::default(),
            harmless: FxHashMap::default(),
            n_open,
            root,
            demand: Demand::everywhere(),
        };
        asking.demand = asking.demand();
        asking
    }

    /// Reports only paths on which none of these goes wrong before.
    pub fn surviving(mut self, deadly: &'a Deadly) -> Self {
        self.deadly = Some(deadly);
        self
    }

    /// Takes these queries as corrected.
    pub fn correcting(mut self, corrected: &BTreeSet<FaultKey>) -> Self {
        self.corrected = Corrected::new(self.queries, corrected);
        self
    }

    /// Where paths of the outermost function still have to go.
    fn demand(&self) -> Demand {
        let Some(body) = &self.code.program.functions[self.root].body else {
            return Demand::everywhere();
        };
        if self.points.contains_key(&(self.root, At::Exit)) {
            return Demand::everywhere();
        }
        let mut points = BTreeSet::new();
        for ((function, at), ids) in &self.points {
            let block = match at {
                At::Inst(inst) if *function == self.root => body.insts[*inst].block,
                At::End(block) => *block,
                _ => continue,
            };
            if *function == self.root && ids.iter().any(|id| !self.is_closed(*id)) {
                points.insert(block);
            }
        }
        Demand::new(self.code, self.root, points.into_iter(), &self.on_the_way)
    }

    /// Whether further paths would add nothing to the answer.
    fn is_closed(&self, id: QueryId) -> bool {
        self.judged.get(&id).is_some_and(|judged| *judged >= MAX_JUDGED)
            || self.answers.get(&id).is_some_and(|answer| !answer.violations.is_empty())
    }

    /// Asks one query; what holds from here on because it did not go wrong.
    fn ask(&mut self, context: &mut Context<'p>, state: &mut State, id: QueryId) -> Held {
        self.answers.entry(id).or_default().reached = true;
        let query = &self.queries[id.0 as usize];
        if self.is_closed(id) {
            return Held::default();
        }
        let loc = self.loc_of(query);
        let (required, objects) = match self.semantics.require(context, state, query) {
            Required::Holds(formula, objects) => (formula, objects),
            Required::Unknown(reason, objects) => {
                let is_entry = |object: ObjectId| {
                    let object = state.memory.get(object);
                    object.kind == ObjectKind::Pointee && object.content == Content::Entry
                };
                let answer = self.answers.entry(id).or_default();
                answer.open.get_or_insert((reason, loc));
                // Callers may know what kind of memory they hand over.
                answer.needs_callers |= objects.into_iter().any(is_entry);
                return Held::default();
            }
        };
        let violation = context.terms.not(required);
        if violation == Terms::FALSE {
            return Held::default();
        }
        *self.judged.entry(id).or_default() += 1;
        let about = About { objects: &objects, hangs_on_path: false, is_loss: false };
        let verdict = judge(context, state, violation, &about, self.root_has_callers);
        let is_unsafe = matches!(verdict, Verdict::Unsafe { .. });
        self.record(context, state, id, verdict, violation, objects);
        if self.is_closed(id) {
            self.demand = self.demand();
        }
        // Whatever comes after happens only if this did not go wrong. A number that lost its
        // sign or its upper half goes on as another number.
        let query = &self.queries[id.0 as usize];
        if !self.semantics.is_fatal(query) {
            return Held::default();
        }
        match context.feasible(&state.path, &[required]) {
            Feasible::Yes => Held::Known(required),
            // What else goes wrong on this path is a consequence.
            Feasible::No if is_unsafe || self.semantics.stops_the_program(query) => {
                Held::Known(Terms::FALSE)
            }
            _ => Held::Survived(required),
        }
    }

    /// What the path survives at this point without being asked, or asked no more.
    fn survive(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        is_asked: bool,
    ) -> Vec<FormulaId> {
        let point = (state.top().function, inst);
        let Some(deadly) = self.deadly.and_then(|deadly| deadly.get(point)) else {
            return Vec::new();
        };
        let mut survived = Vec::new();
        for id in deadly {
            if is_asked && self.answers.contains_key(id) && !self.is_closed(*id) {
                continue;
            }
            let harmless = self.harmless.entry(*id).or_default();
            if *harmless >= MAX_HARMLESS {
                continue;
            }
            match self.semantics.require(context, state, &self.queries[id.0 as usize]) {
                Required::Holds(Terms::TRUE, _) => *harmless += 1,
                Required::Holds(formula, _) => {
                    *harmless = 0;
                    survived.push(formula);
                }
                Required::Unknown(..) => *harmless = MAX_HARMLESS,
            }
        }
        survived
    }

    fn record(
        &mut self,
        context: &mut Context<'p>,
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
                // The message is about what happens where it goes wrong.
                let mut wrong = state.clone();
                wrong.path.assume(violation, LocId::UNKNOWN, None);
                let (message, error_state) = self.semantics.message(context, &mut wrong, &query);
                let symbols = involved_symbols(context, state, violation);
                let relevant = Relevant { symbols, objects };
                let subjects = self.semantics.subjects(&query);
                let point = Point { function: query.function, at: query.at, loc, subjects };
                let segment = segment(context, state, &relevant, &point, &message);
                let answer = self.answers.entry(id).or_default();
                answer.violations.push(Violation {
                    message,
                    input_dependent,
                    segment,
                    error_state,
                    place: None,
                    origin: None,
                });
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

    /// Asks an exit query about one object.
    fn ask_at_exit(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        id: QueryId,
        object: ObjectId,
        loc: LocId,
    ) {
        let query = self.queries[id.0 as usize];
        if self.corrected.releases(FaultKey { query: id, loc }) {
            return;
        }
        let origin = place(context, query.function, state.memory.get(object).loc);
        let known = self.answers.get(&id).is_some_and(|answer| {
            answer.violations.iter().any(|known| known.origin == Some(origin.clone()))
        });
        let judged = self.judged.entry(id).or_default();
        if known || *judged >= MAX_JUDGED {
            return;
        }
        *judged += 1;
        let question = lost::question(self.semantics, context, state, &query, object);
        let Some((violation, message)) = question else { return };
        let about = About { objects: &[object], hangs_on_path: true, is_loss: true };
        if let Verdict::Unsafe { input_dependent } =
            judge(context, state, violation, &about, self.root_has_callers)
        {
            let symbols = involved_symbols(context, state, violation);
            let relevant = Relevant { symbols, objects: vec![object] };
            let function = query.function;
            let point = Point { function, at: At::Exit, loc, subjects: Vec::new() };
            let segment = segment(context, state, &relevant, &point, &message);
            let place = place(context, query.function, loc);
            self.answers.entry(id).or_default().violations.push(Violation {
                message,
                input_dependent,
                segment,
                error_state: String::new(),
                place: Some(place),
                origin: Some(origin),
            });
        }
    }

    /// Asks about what goes out of reach where a loop starts its next iteration.
    fn starts_again(&mut self, context: &mut Context<'p>, state: &mut State, target: BlockId) {
        let point = (state.top().function, At::Exit);
        if state.sets_the_scene() || !self.points.contains_key(&point) {
            return;
        }
        let lost = lost::at_back_edge(self.code, context, state, target);
        if lost.is_empty() {
            return;
        }
        let loc = self.code.end_of(state.top().function, state.top().block);
        for id in self.points.get(&point).cloned().unwrap_or_default() {
            if self.semantics.asks_of_lost(&self.queries[id.0 as usize]) {
                for object in &lost {
                    self.ask_at_exit(context, state, id, *object, loc);
                }
            }
        }
        for object in lost {
            state.memory.get_mut(object).is_lost = true;
        }
    }

    /// What callers must see to, where the violation speaks of the entry alone.
    fn contract(&self, context: &mut Context<'p>, violation: FormulaId) -> Option<String> {
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
        query.loc(self.code.program)
    }
}

impl<'p> Observer<'p> for Asking<'_, 'p> {
    fn observe(&mut self, context: &mut Context<'p>, state: &mut State, inst: InstId) {
        let point = (state.top().function, At::Inst(inst));
        self.corrected.apply(self.semantics, self.queries, context, state, point);
        // All queries of a point are asked of the same state: what one of them rules out may
        // be what another is about. Iterations that only set the scene are not asked about.
        let is_asked = !state.sets_the_scene();
        let survived = self.survive(context, state, inst, is_asked);
        let queries = self.points.get(&point).filter(|_| is_asked).cloned().unwrap_or_default();
        let held: Vec<Held> = queries.into_iter().map(|id| self.ask(context, state, id)).collect();
        for held in held {
            match held {
                Held::Known(formula) => state.path.assume(formula, LocId::UNKNOWN, None),
                Held::Survived(formula) => state.path.survive(formula),
            }
        }
        for formula in survived {
            state.path.survive(formula);
        }
    }

    fn ends(&mut self, context: &mut Context<'p>, state: &mut State) {
        let point = (state.top().function, At::End(state.top().block));
        self.corrected.apply(self.semantics, self.queries, context, state, point);
        for id in self.points.get(&point).cloned().unwrap_or_default() {
            self.ask(context, state, id);
        }
    }

    fn model(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) -> bool {
        self.semantics.model(context, state, inst, forks)
    }

    fn after(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) {
        self.semantics.after(context, state, inst, forks);
    }

    fn passes(
        &mut self,
        context: &mut Context<'p>,
        state: &mut State,
        target: Option<BlockId>,
        forks: &mut Vec<State>,
    ) {
        self.semantics.passes(context, state, target, forks);
        if let Some(target) = target {
            self.starts_again(context, state, target);
        }
    }

    fn enters(&mut self, state: &State, callee: FunctionId) -> bool {
        if self.on_the_way.contains(&callee) {
            return true;
        }
        is_worth_entering(self.code, self.semantics, state, callee)
    }

    fn returns(&mut self, context: &mut Context<'p>, state: &mut State, loc: LocId) {
        let lost = lost::at_return(state);
        let point = (state.top().function, At::Exit);
        for id in self.points.get(&point).cloned().unwrap_or_default() {
            let query = self.queries[id.0 as usize];
            self.answers.entry(id).or_default().reached = true;
            for object in self.semantics.exit_objects(state, &query, &lost) {
                self.ask_at_exit(context, state, id, object, loc);
            }
        }
        for object in lost {
            state.memory.get_mut(object).is_lost = true;
        }
    }

    fn wants(&self, block: BlockId) -> bool {
        self.demand.leads(block)
    }

    fn is_done(&self) -> bool {
        self.n_open == 0
    }
}
