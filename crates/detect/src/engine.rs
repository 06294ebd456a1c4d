//! Rounds of searches: each function for itself, then the callers of what they left open.
//!
//! A round reads only what earlier rounds found, and its searches do not see each other:
//! the outcome is the same however many threads run them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use facts::Facts;
use findings::Place;
use logic::{Counters, Solver};
use program::{Callee, FunctionId, LocId, Op, Program, Ty};
use rayon::prelude::*;

use crate::code::Code;
use crate::entry::{Entry, Inputs};
use crate::machine::Context;
use crate::observer::{Asking, Deadly, Semantics};
use crate::outside::{Outside, View};
use crate::pursuit::{Link, Pursuing};
use crate::query::{Answer, At, FaultKey, Points, Query, QueryId, Resolution};
use crate::report::place_of;
use crate::search::{Cutoff, Limits, Search};
use crate::settled::Settled;

/// How far and how hard to look.
#[derive(Clone, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// Callers above a point that are looked at.
    pub rounds: u32,
    /// Functions of the interface, and which of their parameters are outside input.
    pub inputs: Inputs,
    /// The same by name.
    pub entries: Vec<Entry>,
    /// Raise also what is only meant for `--strict`.
    pub strict: bool,
    /// Only these rules; all where empty.
    pub rules: Vec<String>,
    /// Faults taken as corrected, by [`crate::report::fault_id`].
    pub corrected: BTreeSet<String>,
    /// Only questions in functions of these names; in all where empty.
    pub functions: Vec<String>,
}

impl Settings {
    /// The settings with the entries of this program found.
    pub fn resolved(&self, program: &Program) -> Self {
        let mut settings = self.clone();
        for entry in &self.entries {
            for (id, function) in program.functions.iter_enumerated() {
                let body = function.body.as_ref().filter(|_| *function.name == *entry.function);
                if let Some(body) = body {
                    let inputs = settings.inputs.entry(id).or_default();
                    inputs.extend(entry.inputs(body));
                }
            }
        }
        settings
    }

    /// Facts about a program that outside code calls as the settings say.
    pub fn facts(&self, program: &Program) -> Facts {
        let entries = self.resolved(program).inputs.into_keys().collect();
        Facts::compute(program, &facts::Options { entries, ..facts::Options::default() })
    }

    pub fn wants(&self, rule: &str) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|wanted| wanted == rule)
    }

    pub fn asks_in(&self, function: &str) -> bool {
        self.functions.is_empty() || self.functions.iter().any(|wanted| wanted == function)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            rounds: 2,
            inputs: Inputs::new(),
            entries: Vec::new(),
            strict: false,
            rules: Vec::new(),
            corrected: BTreeSet::new(),
            functions: Vec::new(),
        }
    }
}

/// What a run found, query by query, and what it cost.
#[derive(Debug, Default)]
pub struct Outcome {
    pub resolutions: Vec<Resolution>,
    /// For each query the searches that found it violated.
    pub starts: Vec<BTreeSet<Start>>,
    pub n_searches: u64,
    pub n_instructions: u64,
    pub n_blocks_visited: usize,
    pub n_functions_visited: usize,
    pub counters: Counters,
    /// Functions whose search broke off, and what it said.
    pub failures: Vec<(FunctionId, String)>,
}

/// Where a search begins: its outermost function, and the functions it has to enter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    pub root: FunctionId,
    pub on_the_way: BTreeSet<FunctionId>,
}

/// One search to do: from a function, for queries in it and below.
#[derive(Clone, Debug, Default)]
struct Task {
    queries: BTreeSet<QueryId>,
    on_the_way: BTreeSet<FunctionId>,
}

/// What one search brought back.
struct Done {
    root: FunctionId,
    answers: Vec<(QueryId, Answer)>,
    visited: Vec<(FunctionId, program::BlockId)>,
    n_instructions: u64,
    counters: Counters,
    /// What it said when it broke off.
    failure: Option<String>,
}

/// What one search found to follow from a fault.
pub struct Pursued {
    pub links: BTreeMap<(FaultKey, FaultKey), Link>,
    /// Searches that would see what follows after the outermost function has returned.
    pub callers: Vec<Start>,
    pub n_instructions: u64,
}

pub struct Engine<'a, 'p> {
    pub code: &'a Code<'p>,
    pub semantics: &'a dyn Semantics<'p>,
    pub queries: &'a [Query],
    /// What facts say of the queries.
    pub settled: &'a [Settled],
    pub settings: &'a Settings,
    /// Queries taken as corrected: they hold wherever they would be asked.
    pub corrected: &'a BTreeSet<FaultKey>,
    /// Memory that functions of the interface are handed.
    pub outside: &'a Arc<Outside>,
    /// What paths must survive, asked about or not.
    pub deadly: &'a Deadly,
}

/// Hard questions are asked many times: better a quick don't-know. Four times the steps at
/// branches (bzip2, xz, Lua) and two checks by the prover per search (zlib and a sample of Juliet
/// as well) took half as long again and changed no finding. What is about to be reported is
/// confirmed with more.
const QUICK: logic::Limits =
    logic::Limits { steps: 50, evidence_steps: 200, prover_resources: 20_000, prover_checks: 0 };

/// For what the user points at.
const THOROUGH: logic::Limits =
    logic::Limits { steps: 200, evidence_steps: 200, prover_resources: 20_000, prover_checks: 2 };

/// How much harder to look where only some functions are asked about.
const FOCUS: u64 = 10;

impl<'p> Engine<'_, 'p> {
    /// Answers all queries.
    pub fn run(&self) -> Outcome {
        self.answer(&|_| true)
    }

    /// Answers the queries of these functions.
    pub fn answer(&self, wanted: &dyn Fn(FunctionId) -> bool) -> Outcome {
        let mut outcome = Outcome::default();
        let mut states: Vec<QueryState> = vec![QueryState::default(); self.queries.len()];
        let mut visited = BTreeSet::new();
        let mut tasks: BTreeMap<FunctionId, Task> = BTreeMap::new();
        let is_open = |index: usize| self.settled[index] == Settled::Open;
        let wanted = |(index, query): &(usize, &Query)| is_open(*index) && wanted(query.function);
        for (index, query) in self.queries.iter().enumerate().filter(wanted) {
            tasks.entry(query.function).or_default().queries.insert(QueryId(index as u32));
        }
        for round in 0..=self.settings.rounds {
            if tasks.is_empty() {
                break;
            }
            let is_last = round == self.settings.rounds;
            let batch: Vec<(FunctionId, Task)> = std::mem::take(&mut tasks).into_iter().collect();
            let done: Vec<Done> =
                batch.par_iter().map(|(root, task)| self.guarded(*root, task)).collect();
            for (done, (_, task)) in done.into_iter().zip(&batch) {
                outcome.n_searches += 1;
                outcome.n_instructions += done.n_instructions;
                outcome.counters.add(done.counters);
                visited.extend(done.visited);
                outcome.failures.extend(done.failure.map(|what| (done.root, what)));
                self.take_in(&mut states, &mut tasks, done.root, done.answers, task, is_last);
            }
            // What was proven a fault meanwhile needs no more callers.
            for task in tasks.values_mut() {
                task.queries.retain(|id| states[id.0 as usize].violations.is_empty());
            }
            tasks.retain(|_, task| !task.queries.is_empty());
        }
        outcome.n_blocks_visited = visited.len();
        let functions: BTreeSet<FunctionId> = visited.iter().map(|(f, _)| *f).collect();
        outcome.n_functions_visited = functions.len();
        outcome.starts = states.iter_mut().map(|state| std::mem::take(&mut state.starts)).collect();
        for (state, settled) in states.iter_mut().zip(self.settled) {
            state.reached |= *settled == Settled::Safe;
        }
        outcome.resolutions = states.into_iter().map(QueryState::resolve).collect();
        outcome
    }

    /// A mistake of our own costs the search that came upon it, and nothing else.
    fn guarded(&self, root: FunctionId, task: &Task) -> Done {
        let searched = catch_unwind(AssertUnwindSafe(|| self.search(root, task)));
        searched.unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            let cut = Some(("an internal error".to_owned(), LocId::UNKNOWN));
            let open = Answer { cut, ..Answer::default() };
            Done {
                root,
                answers: task.queries.iter().map(|id| (*id, open.clone())).collect(),
                visited: Vec::new(),
                n_instructions: 0,
                counters: Counters::default(),
                failure: Some(said.unwrap_or("no message").to_owned()),
            }
        })
    }

    fn search(&self, root: FunctionId, task: &Task) -> Done {
        let (initialized, limits) = (self.code.initialized(root), self.limits(root, task));
        let mut done = self.search_from(root, task, initialized, limits);
        if self.settings.inputs.contains_key(&root) {
            self.search_first_call(&mut done, task);
        }
        done
    }

    /// A function of the interface may be the first that is ever called: globals are as they
    /// were initialised, and what its callees then answer is worth following. That adds
    /// faults; what else happens, later calls may see otherwise.
    fn search_first_call(&self, done: &mut Done, task: &Task) {
        let mut deeper = task.clone();
        deeper.on_the_way.extend(self.answering_callees(done.root));
        let limits = Limits { exact: 4, ..self.limits(done.root, &deeper) };
        let first = self.search_from(done.root, &deeper, self.code.defined(), limits);
        done.n_instructions += first.n_instructions;
        done.counters.add(first.counters);
        done.visited.extend(first.visited);
        for (id, answer) in first.answers {
            if let Some((_, known)) = done.answers.iter_mut().find(|(known, _)| *known == id)
                && known.violations.is_empty()
            {
                known.violations = answer.violations;
            }
        }
    }

    /// Functions whose answers a function works with, and that are not too long to follow.
    fn answering_callees(&self, function: FunctionId) -> Vec<FunctionId> {
        const MAX_SIZE: usize = 800;
        let program = self.code.program;
        let Some(body) = &program.functions[function].body else { return Vec::new() };
        let callees = body.insts.iter().filter_map(|inst| match &inst.op {
            Op::Call(call) => match call.callee {
                Callee::Function(callee) => Some(callee),
                _ => None,
            },
            _ => None,
        });
        let answers = |callee: &FunctionId| {
            let callee = &program.functions[*callee];
            callee.result != Ty::Void
                && callee.body.as_ref().is_some_and(|body| body.insts.len() <= MAX_SIZE)
        };
        callees.filter(answers).collect()
    }

    fn search_from(
        &self,
        root: FunctionId,
        task: &Task,
        initialized: Arc<[bool]>,
        limits: Limits,
    ) -> Done {
        let mut search = self.new_search(root, initialized, limits);
        let active: Vec<QueryId> = task.queries.iter().copied().collect();
        let inputs = self.settings.inputs.get(&root);
        let has_callers = inputs.is_none() && !self.code.callers(root).is_empty();
        let mut asking = Asking::new(
            self.code,
            self.semantics,
            self.queries,
            &active,
            root,
            task.on_the_way.clone(),
            has_callers,
        )
        .surviving(self.deadly)
        .correcting(self.corrected);
        search.run(root, inputs.map_or(&[], Vec::as_slice), &mut asking);
        let cut = search.cutoff.map(|(cutoff, loc)| (cutoff_reason(cutoff).to_owned(), loc));
        let mut answers: Vec<(QueryId, Answer)> = asking.answers.into_iter().collect();
        answers.sort_by_key(|(id, _)| *id);
        for (_, answer) in &mut answers {
            answer.cut = cut.clone();
        }
        let visited = search.visited();
        let n_instructions = search.n_instructions;
        let counters = search.context.solver.counters;
        Done { root, answers, visited, n_instructions, counters, failure: None }
    }

    /// What follows from one fault, on the paths of one search. One that is given happens
    /// wherever it can.
    pub fn pursue(
        &self,
        source: QueryId,
        start: &Start,
        is_given: bool,
        points: &Points,
    ) -> Pursued {
        let Start { root, on_the_way } = start;
        let inputs = self.settings.inputs.get(root);
        let has_callers = inputs.is_none() && !self.code.callers(*root).is_empty();
        let task = Task { queries: BTreeSet::new(), on_the_way: on_the_way.clone() };
        let (initialized, mut limits) = (self.code.initialized(*root), self.limits(*root, &task));
        if self.queries[source.0 as usize].at == At::Exit {
            // What is lost in one iteration is missing in the next.
            limits.exact = limits.exact.max(3);
        }
        let mut search = self.new_search(*root, initialized, limits);
        let mut pursuing = Pursuing::new(
            self.code,
            self.semantics,
            (self.queries, points),
            source,
            (*root, on_the_way),
            has_callers,
        )
        .correcting(self.corrected);
        pursuing.is_given = is_given;
        search.run(*root, inputs.map_or(&[], Vec::as_slice), &mut pursuing);
        let mut callers = Vec::new();
        if pursuing.leaves && inputs.is_none() {
            for caller in self.code.callers(*root) {
                if !on_the_way.contains(caller) && caller != root {
                    let mut on_the_way = on_the_way.clone();
                    on_the_way.insert(*root);
                    callers.push(Start { root: *caller, on_the_way });
                }
            }
        }
        Pursued { links: pursuing.links, callers, n_instructions: search.n_instructions }
    }

    fn new_search(
        &self,
        root: FunctionId,
        initialized: Arc<[bool]>,
        limits: Limits,
    ) -> Search<'_, 'p> {
        let is_asked_for =
            !self.settings.functions.is_empty() || self.settings.inputs.contains_key(&root);
        let solver = Solver::new(if is_asked_for { THOROUGH } else { QUICK });
        let mut context = Context::new(self.code.program, solver, initialized);
        context.suspects = self.code.suspects();
        context.outside = self.outside(root);
        Search::new(context, self.code, limits)
    }

    /// What the search may believe of memory from outside. A function of the interface is
    /// called with it as it is; others are called by functions that may have looked at it.
    fn outside(&self, root: FunctionId) -> View {
        let is_entry = self.settings.inputs.contains_key(&root);
        let doubtful = if is_entry { BTreeSet::new() } else { self.outside.doubtful(root) };
        View { outside: self.outside.clone(), doubtful }
    }

    /// Work in proportion to the code a search is about, up to the limit of the settings.
    fn limits(&self, root: FunctionId, task: &Task) -> Limits {
        let size = |function: &FunctionId| {
            let body = self.code.program.functions[*function].body.as_ref();
            body.map_or(0, |body| body.insts.len() as u64)
        };
        let size: u64 = size(&root) + task.on_the_way.iter().map(size).sum::<u64>();
        let limits = self.settings.limits;
        if self.settings.functions.is_empty() {
            return Limits { instructions: limits.instructions.min(1_000 + 3 * size), ..limits };
        }
        // Asked about a few functions alone, there is time to look harder.
        Limits {
            instructions: (FOCUS * limits.instructions).min(FOCUS * (1_000 + 5 * size)),
            waiting: 4 * limits.waiting,
            visits: 4 * limits.visits,
            ..limits
        }
    }

    /// Books the answers of a search and hands on to callers what it left to them.
    fn take_in(
        &self,
        states: &mut [QueryState],
        tasks: &mut BTreeMap<FunctionId, Task>,
        root: FunctionId,
        answers: Vec<(QueryId, Answer)>,
        task: &Task,
        is_last: bool,
    ) {
        let callers = self.code.callers(root);
        for (id, answer) in answers {
            let state = &mut states[id.0 as usize];
            state.reached |= answer.reached;
            if !answer.violations.is_empty() {
                state.starts.insert(Start { root, on_the_way: task.on_the_way.clone() });
            }
            for violation in answer.violations {
                if !state.violations.iter().any(|known| known.origin == violation.origin) {
                    state.violations.push(violation);
                }
            }
            let place = |loc: LocId| place_of(self.code.program, root, loc);
            if let Some((reason, loc)) = answer.open.or(answer.cut) {
                state.open.get_or_insert((reason, place(loc)));
            }
            if !answer.needs_callers {
                continue;
            }
            let is_input = self.settings.inputs.contains_key(&root);
            if callers.is_empty() || is_input {
                state.contract.get_or_insert((root, answer.requires));
            } else if is_last {
                let reason = "it depends on callers further away".to_owned();
                state.open.get_or_insert((reason, place(LocId::UNKNOWN)));
            } else {
                for caller in callers {
                    if task.on_the_way.contains(caller) || *caller == root {
                        continue;
                    }
                    let next = tasks.entry(*caller).or_default();
                    next.queries.insert(id);
                    next.on_the_way.insert(root);
                    next.on_the_way.extend(task.on_the_way.iter().copied());
                }
            }
        }
    }
}

/// What the rounds so far say of a query.
#[derive(Clone, Debug, Default)]
struct QueryState {
    reached: bool,
    violations: Vec<crate::query::Violation>,
    starts: BTreeSet<Start>,
    contract: Option<(FunctionId, Option<String>)>,
    open: Option<(String, Place)>,
}

impl QueryState {
    fn resolve(self) -> Resolution {
        if !self.violations.is_empty() {
            return Resolution::Unsafe(self.violations);
        }
        match (self.open, self.contract) {
            (Some((reason, at)), _) => Resolution::DontKnow { reason, at },
            (None, Some((function, requires))) => Resolution::Contract { function, requires },
            (None, None) if self.reached => Resolution::Safe,
            (None, None) => Resolution::Infeasible,
        }
    }
}

fn cutoff_reason(cutoff: Cutoff) -> &'static str {
    match cutoff {
        Cutoff::Budget => "the step budget of the search",
        Cutoff::Depth => "calls nested too deeply",
        Cutoff::LongLoop => "the iteration limit of a loop",
        Cutoff::ComputedGoto => "a computed goto",
    }
}
