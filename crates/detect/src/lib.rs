//! The demand-driven, path-sensitive engine.
//!
//! Specifications raise queries at observable points. Each is answered by searching the
//! paths that lead to its point, from the function that holds it outwards to callers, with
//! an interpreter that knows exactly what a path makes of every value and every object.

pub mod at_insts;
pub mod code;
pub mod demand;
pub mod describe;
mod draft;
pub mod effects;
pub mod engine;
pub mod entry;
pub mod exits;
mod lost;
pub mod machine;
pub mod observer;
pub mod outside;
pub mod ownership;
pub mod pursuit;
pub mod query;
mod repeating;
pub mod report;
pub mod search;
pub mod semantics;
pub mod settled;
mod skip;
mod slice;
pub mod steps;
pub mod suspects;
pub mod tested;
pub mod verdict;

use std::collections::BTreeSet;
use std::sync::Arc;

use facts::Facts;
use findings::Findings;
use program::{LocId, Program};
use spec::rules::Rules;

pub use engine::Settings;
pub use entry::{Entry, Parameter};
use query::{At, FaultKey};
use settled::Settled;

/// Raises and answers the queries of all rules on a program.
pub fn check(
    (program, facts): (&Program, &Facts),
    rules: &Rules,
    settings: &Settings,
    findings: &mut Findings,
) {
    with_engine((program, facts), rules, settings, |engine, infos| {
        let outcome = engine.run();
        report::add(findings, program, infos, engine.queries, &outcome);
    });
}

/// A question, and what facts alone say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub rule: String,
    pub place: findings::Place,
    pub settled: Settled,
}

/// What facts settle before any path is followed: every question of all rules, in program order.
pub fn asked(
    (program, facts): (&Program, &Facts),
    rules: &Rules,
    settings: &Settings,
) -> Vec<Asked> {
    with_engine((program, facts), rules, settings, |engine, infos| {
        let queries = engine.queries.iter().zip(engine.settled);
        let asked = queries.map(|(query, settled)| Asked {
            rule: infos[query.rule as usize].id.clone(),
            place: report::place_of(program, query.function, query.loc(program)),
            settled: *settled,
        });
        asked.collect()
    })
}

/// Makes the queries of all rules on a program ready, for those who want more than answers.
pub fn with_engine<R>(
    (program, facts): (&Program, &Facts),
    rules: &Rules,
    settings: &Settings,
    then: impl FnOnce(&engine::Engine, &[report::RuleInfo]) -> R,
) -> R {
    let settings = &settings.resolved(program);
    let code = code::Code::new(program);
    let wanted = |rule: &str| settings.wants(rule);
    let mut compiled = semantics::compiled::Compiled::new(rules, &code, settings.strict, &wanted);
    compiled.queries.retain(|query| settings.asks_in(&program.functions[query.function].name));
    let settled = settled::settle(&code, facts, &compiled);
    let settled = keep_questions(&mut compiled.queries, settled);
    let semantics = semantics::asking::Specified::new(&code, &compiled);
    let outside = Arc::new(outside::Outside::new(&code, &settings.inputs));
    let infos: Vec<report::RuleInfo> = rules.faults.iter().map(rule_info).collect();
    let corrected = corrected(program, &infos, &compiled.queries, settings);
    let deadly = observer::deadly(&semantics, &compiled.queries, &settled);
    let engine = engine::Engine {
        code: &code,
        semantics: &semantics,
        queries: &compiled.queries,
        settled: &settled,
        settings,
        corrected: &corrected,
        outside: &outside,
        deadly: &deadly,
    };
    then(&engine, &infos)
}

/// Drops the queries no specification means. What facts say of the others.
fn keep_questions(queries: &mut Vec<query::Query>, settled: Vec<Settled>) -> Vec<Settled> {
    let mut is_question = settled.iter().map(|settled| *settled != Settled::NoQuestion);
    queries.retain(|_| is_question.next().unwrap_or(true));
    settled.into_iter().filter(|settled| *settled != Settled::NoQuestion).collect()
}

/// The queries of the faults the settings take as corrected.
fn corrected(
    program: &Program,
    infos: &[report::RuleInfo],
    queries: &[query::Query],
    settings: &Settings,
) -> BTreeSet<FaultKey> {
    let mut corrected = BTreeSet::new();
    if settings.corrected.is_empty() {
        return corrected;
    }
    for (id, query) in (0..).map(query::QueryId).zip(queries) {
        let is_corrected = |loc: LocId| {
            let place = report::place_of(program, query.function, loc);
            let rule = &infos[query.rule as usize].id;
            settings.corrected.contains(&report::fault_id(rule, &place))
        };
        if query.at != At::Exit {
            corrected.extend(is_corrected(query.loc(program)).then_some(FaultKey::of(id)));
            continue;
        }
        let body = program.functions[query.function].body.iter();
        let ends = body.flat_map(|body| body.blocks.iter().map(|block| block.loc));
        let ends = ends.filter(|loc| is_corrected(*loc));
        corrected.extend(ends.map(|loc| FaultKey { query: id, loc }));
    }
    corrected
}

fn rule_info(fault: &spec::rules::Fault) -> report::RuleInfo {
    let severity = report::severity(fault.severity);
    report::RuleInfo { id: fault.id.clone(), cwe: fault.cwe.clone(), severity }
}
