//! Which fault causes which.
//!
//! Every fault that detection found is pursued: the paths on which it happens are followed
//! on with its error state in place, and whatever goes wrong because of that is linked to
//! it. Then each cause is taken as corrected: what goes away with it is its doing alone.

pub mod graph;
mod import;
pub mod proved;
mod pursue;
mod tell;

use std::collections::{BTreeMap, BTreeSet};

use detect::Settings;
use detect::engine::{Engine, Outcome};
use detect::query::{FaultKey, QueryId, Resolution};
use detect::report::{RuleInfo, fault_id, fault_of};
use facts::Facts;
use findings::{Fault, FaultOrigin, Findings};
use graph::{Edge, Graph};
pub use import::{Imported, why_unplaced};
use program::{FunctionId, Program};
use spec::rules::Rules;

/// Detects faults and correlates them.
pub fn check(
    program: (&Program, &Facts),
    rules: &Rules,
    settings: &Settings,
    findings: &mut Findings,
) {
    check_with(program, rules, settings, &Imported::default(), findings, &|_, work| work());
}

/// Runs a phase of the work, by name.
pub type Phase<'a> = &'a dyn Fn(&'static str, &mut dyn FnMut());

/// As [`check`], together with faults other tools reported. Returns which of them, by
/// position, belong to a point of this program.
pub fn check_with(
    (program, facts): (&Program, &Facts),
    rules: &Rules,
    settings: &Settings,
    imported: &Imported,
    findings: &mut Findings,
    phase: Phase,
) -> BTreeSet<usize> {
    detect::with_engine((program, facts), rules, settings, |engine, infos| {
        let mut outcome = Outcome::default();
        phase("detect", &mut || {
            outcome = engine.answer(&|_| !imported.alone);
            detect::report::add(findings, program, infos, engine.queries, &outcome);
        });
        let mut placed = BTreeSet::new();
        phase("correlate", &mut || {
            let correlating = Correlating { engine, infos };
            let given = correlating.add_imported(imported, findings);
            let sources = given.values().copied().collect();
            let links = pursue::links(engine, &outcome, &sources);
            correlating.run(&links, &sources, findings);
            placed = given.into_keys().collect();
        });
        placed
    })
}

struct Correlating<'a, 'p> {
    engine: &'a Engine<'a, 'p>,
    infos: &'a [RuleInfo],
}

impl Correlating<'_, '_> {
    /// Foreign faults under the names of ours; by position the query of each.
    fn add_imported(
        &self,
        imported: &Imported,
        findings: &mut Findings,
    ) -> BTreeMap<usize, QueryId> {
        let mut given = BTreeMap::new();
        for (index, fault) in imported.faults.iter().enumerate() {
            let Some(id) = import::nearest(self.engine, self.infos, fault) else { continue };
            given.insert(index, id);
            let name = self.name(FaultKey::of(id));
            if findings.faults.iter().any(|known| known.id == name) {
                continue;
            }
            let query = &self.engine.queries[id.0 as usize];
            let info = &self.infos[query.rule as usize];
            let place = detect::report::query_place(self.engine.code.program, query);
            let (rule, cwe) = (info.id.clone(), info.cwe.clone());
            findings.faults.push(Fault { id: name, rule, cwe, place, ..fault.clone() });
        }
        given
    }

    fn run(&self, links: &pursue::Links, given: &BTreeSet<QueryId>, findings: &mut Findings) {
        let mut edges: BTreeMap<(String, String), Edge> = BTreeMap::new();
        for ((from, to), link) in links {
            let (from, id) = (self.name(*from), self.name(*to));
            if from == id {
                continue;
            }
            if !findings.faults.iter().any(|fault| fault.id == id) {
                let query = &self.engine.queries[to.query.0 as usize];
                let info = &self.infos[query.rule as usize];
                let mut fault = fault_of(self.engine.code.program, query, info, &link.violation);
                fault.origin = FaultOrigin::Correlation;
                findings.faults.push(fault);
            }
            let edge = Edge { via: link.via, unique: false, path: link.path.clone() };
            let known = edges.entry((from, id)).or_insert_with(|| edge.clone());
            if edge.via < known.via {
                *known = edge;
            }
        }
        let remaining = self.remaining(links, given);
        let graph = Graph::new(edges, &remaining);
        tell::add(findings, &graph);
    }

    fn name(&self, fault: FaultKey) -> String {
        let query = &self.engine.queries[fault.query.0 as usize];
        let program = self.engine.code.program;
        let loc = if fault.loc.is_known() { fault.loc } else { query.loc(program) };
        let place = detect::report::place_of(program, query.function, loc);
        fault_id(&self.infos[query.rule as usize].id, &place)
    }

    /// For every fault that takes part what is still found once it is corrected.
    fn remaining(
        &self,
        links: &pursue::Links,
        given: &BTreeSet<QueryId>,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let mut parts: BTreeMap<String, BTreeSet<FaultKey>> = BTreeMap::new();
        for id in links.keys().flat_map(|(from, to)| [*from, *to]) {
            parts.entry(self.name(id)).or_default().insert(id);
        }
        // What a fault has to do with lies in its own part of the graph.
        let pairs = links.keys().map(|(from, to)| (self.name(*from), self.name(*to)));
        let mut remaining = BTreeMap::new();
        for faults in graph::connected(pairs) {
            let ids = faults.iter().filter_map(|name| parts.get(name)).flatten();
            let functions: BTreeSet<FunctionId> =
                ids.map(|id| self.engine.queries[id.query.0 as usize].function).collect();
            for name in faults {
                let found = self.found_without(&parts[&name], &functions, given);
                remaining.insert(name, found);
            }
        }
        remaining
    }

    /// What is found in these functions once the queries are corrected.
    fn found_without(
        &self,
        corrected: &BTreeSet<FaultKey>,
        functions: &BTreeSet<FunctionId>,
        given: &BTreeSet<QueryId>,
    ) -> BTreeSet<String> {
        let corrected = corrected.union(self.engine.corrected).copied().collect();
        let engine = Engine { corrected: &corrected, ..*self.engine };
        let outcome = engine.answer(&|function| functions.contains(&function));
        let mut found = BTreeSet::new();
        for (id, resolution) in (0..).map(QueryId).zip(&outcome.resolutions) {
            let Resolution::Unsafe(violations) = resolution else { continue };
            let rule = &self.infos[self.engine.queries[id.0 as usize].rule as usize].id;
            found.extend(violations.iter().map(|violation| match &violation.place {
                Some(place) => fault_id(rule, place),
                None => self.name(FaultKey::of(id)),
            }));
        }
        // What another tool reported is there as long as nobody corrects it.
        let is_left = |id: &&QueryId| !corrected.contains(&FaultKey::of(**id));
        let given: BTreeSet<QueryId> = given.iter().filter(is_left).copied().collect();
        found.extend(given.iter().map(|id| self.name(FaultKey::of(*id))));
        found.extend(pursue::links(&engine, &outcome, &given).keys().map(|(_, to)| self.name(*to)));
        found
    }
}
