//! A mistake of our own costs one function: the others are analysed, and it is said.

mod compiled;

use detect::engine::Engine;
use detect::machine::memory::ObjectId;
use detect::machine::{Context, State};
use detect::observer::{Corrupted, Required, Semantics};
use detect::query::Query;
use findings::Findings;
use program::{FunctionId, InstId};

const TEXT: &str = "
int fine(void) { int *p = 0; return *p; }
int breaks(void) { int *p = 0; return *p; }
";

/// Breaks down in one function and is another's words elsewhere.
struct Broken<'a, 'p> {
    inner: &'a dyn Semantics<'p>,
    at: FunctionId,
}

impl<'p> Semantics<'p> for Broken<'_, 'p> {
    fn require(&self, context: &mut Context<'p>, state: &mut State, query: &Query) -> Required {
        assert_ne!(query.function, self.at, "a mistake of our own");
        self.inner.require(context, state, query)
    }
    fn is_fatal(&self, query: &Query) -> bool {
        self.inner.is_fatal(query)
    }
    fn stops_the_program(&self, query: &Query) -> bool {
        self.inner.stops_the_program(query)
    }
    fn message(&self, c: &mut Context<'p>, s: &mut State, query: &Query) -> (String, String) {
        self.inner.message(c, s, query)
    }
    fn model(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        inst: InstId,
        forks: &mut Vec<State>,
    ) -> bool {
        self.inner.model(context, state, inst, forks)
    }
    fn after(&self, c: &mut Context<'p>, s: &mut State, inst: InstId, forks: &mut Vec<State>) {
        self.inner.after(c, s, inst, forks);
    }
    fn is_stateful(&self, function: FunctionId) -> bool {
        self.inner.is_stateful(function)
    }
    fn exit_objects(&self, state: &State, query: &Query, lost: &[ObjectId]) -> Vec<ObjectId> {
        self.inner.exit_objects(state, query, lost)
    }
    fn corrupt(&self, c: &mut Context<'p>, s: &mut State, q: &Query, has_run: bool) -> Corrupted {
        self.inner.corrupt(c, s, q, has_run)
    }
    fn require_of(
        &self,
        context: &mut Context<'p>,
        state: &mut State,
        query: &Query,
        object: ObjectId,
    ) -> (Required, String) {
        self.inner.require_of(context, state, query, object)
    }
}

#[test]
fn a_search_that_breaks_down_costs_its_function_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.c");
    std::fs::write(&path, TEXT).unwrap();
    let program = program::link::link(vec![compiled::unit(&path).unwrap()]).program;
    let rules = spec::discover::rules(&[]).unwrap();
    let settings = detect::Settings::default();
    let mut findings = Findings::new();
    let (at, _) = program.functions.iter_enumerated().find(|(_, f)| &*f.name == "breaks").unwrap();
    let facts = settings.facts(&program);
    detect::with_engine((&program, &facts), &rules, &settings, |engine, infos| {
        let broken = Broken { inner: engine.semantics, at };
        let engine = Engine { semantics: &broken, ..*engine };
        let outcome = engine.run();
        detect::report::add(&mut findings, &program, infos, engine.queries, &outcome);
    });
    let faulty: Vec<&str> = findings.faults.iter().map(|f| f.place.function.as_str()).collect();
    assert_eq!(faulty, ["fine"]);
    let missing: Vec<&str> = findings.incomplete.iter().map(|i| i.what.as_str()).collect();
    assert_eq!(missing, ["function breaks"]);
    assert!(findings.incomplete[0].reason.contains("a mistake of our own"));
    let open: Vec<&str> = findings
        .dont_knows
        .iter()
        .filter(|open| open.place.function == "breaks")
        .map(|open| open.reason.as_str())
        .collect();
    assert!(!open.is_empty() && open.iter().all(|reason| *reason == "an internal error"));
}
