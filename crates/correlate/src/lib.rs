//! Which fault causes which.
//!
//! Every fault that detection found is pursued: the paths on which it happens are followed
//! on with its error state in place, and whatever goes wrong because of that is linked to
//! it. Then each cause is taken as corrected: what goes away with it is its doing alone.

pub mod graph;
mod pursue;
mod tell;

use std::collections::{BTreeMap, BTreeSet};

use detect::Settings;
use detect::engine::{Engine, Outcome};
use detect::query::{QueryId, Resolution};
use detect::report::{RuleInfo, fault_id, fault_of};
use findings::{FaultOrigin, Findings};
use graph::{Edge, Graph};
use program::{FunctionId, Program};
use spec::rules::Rules;

/// Detects faults and correlates them.
pub fn check(program: &Program, rules: &Rules, settings: &Settings, findings: &mut Findings) {
    detect::with_engine(program, rules, settings, |engine, infos| {
        let outcome = engine.run();
        detect::report::add(findings, program, infos, engine.queries, &outcome);
        Correlating { engine, infos, outcome: &outcome }.run(findings);
    });
}

struct Correlating<'a, 'p> {
    engine: &'a Engine<'a, 'p>,
    infos: &'a [RuleInfo],
    outcome: &'a Outcome,
}

impl Correlating<'_, '_> {
    fn run(&self, findings: &mut Findings) {
        let links = pursue::links(self.engine, self.outcome);
        let mut edges: BTreeMap<(String, String), Edge> = BTreeMap::new();
        let known: BTreeSet<String> =
            findings.faults.iter().map(|fault| fault.id.clone()).collect();
        for ((from, to), link) in &links {
            let (from, id) = (self.name(*from), self.name(*to));
            if from == id {
                continue;
            }
            if !known.contains(&id) && !findings.faults.iter().any(|fault| fault.id == id) {
                let query = &self.engine.queries[to.0 as usize];
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
        let remaining = self.remaining(&links);
        let graph = Graph::new(edges, &remaining);
        tell::add(findings, &graph);
    }

    fn name(&self, id: QueryId) -> String {
        let query = &self.engine.queries[id.0 as usize];
        let info = &self.infos[query.rule as usize];
        fault_id(&info.id, &detect::report::query_place(self.engine.code.program, query))
    }

    /// For every fault that takes part what is still found once it is corrected.
    fn remaining(&self, links: &pursue::Links) -> BTreeMap<String, BTreeSet<String>> {
        let mut parts: BTreeMap<String, BTreeSet<QueryId>> = BTreeMap::new();
        for id in links.keys().flat_map(|(from, to)| [*from, *to]) {
            parts.entry(self.name(id)).or_default().insert(id);
        }
        let functions: BTreeSet<FunctionId> = parts
            .values()
            .flatten()
            .map(|id| self.engine.queries[id.0 as usize].function)
            .collect();
        let named = parts.iter();
        named.map(|(name, ids)| (name.clone(), self.found_without(ids, &functions))).collect()
    }

    /// What is found in these functions once the queries are corrected.
    fn found_without(
        &self,
        corrected: &BTreeSet<QueryId>,
        functions: &BTreeSet<FunctionId>,
    ) -> BTreeSet<String> {
        let corrected = corrected.union(self.engine.corrected).copied().collect();
        let engine = Engine { corrected: &corrected, ..*self.engine };
        let outcome = engine.answer(&|function| functions.contains(&function));
        let is_wrong =
            |(_, resolution): &(QueryId, &Resolution)| matches!(resolution, Resolution::Unsafe(_));
        let all = (0..).map(QueryId).zip(&outcome.resolutions);
        let mut found: BTreeSet<String> =
            all.filter(is_wrong).map(|(id, _)| self.name(id)).collect();
        found.extend(pursue::links(&engine, &outcome).keys().map(|(_, to)| self.name(*to)));
        found
    }
}
