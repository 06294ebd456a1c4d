//! Resolutions of queries as findings.

use std::collections::BTreeMap;

use findings::{Contract, DontKnow, Fault, FaultOrigin, Findings, Incomplete, Place, Verdict};
use program::{FunctionId, LocId, Program};

use crate::engine::Outcome;
use crate::query::{Query, Resolution, Violation};

/// What a report says about a rule.
#[derive(Clone, Debug)]
pub struct RuleInfo {
    pub id: String,
    pub cwe: Vec<u32>,
    pub severity: findings::Severity,
}

/// A specification's severity as findings have it.
pub fn severity(severity: spec::ast::Severity) -> findings::Severity {
    match severity {
        spec::ast::Severity::Error => findings::Severity::Error,
        spec::ast::Severity::Warning => findings::Severity::Warning,
        spec::ast::Severity::Note => findings::Severity::Note,
    }
}

/// Adds what a run found. Equal faults at one place are one, with several segments.
pub fn add(
    findings: &mut Findings,
    program: &Program,
    rules: &[RuleInfo],
    queries: &[Query],
    outcome: &Outcome,
) {
    let mut faults: BTreeMap<(u32, Place), Fault> = BTreeMap::new();
    for (query, resolution) in queries.iter().zip(&outcome.resolutions) {
        let rule = &rules[query.rule as usize];
        let place = query_place(program, query);
        match resolution {
            Resolution::Safe | Resolution::Infeasible => {}
            Resolution::Unsafe(violations) => {
                for violation in violations {
                    let place = violation.place.clone().unwrap_or_else(|| place.clone());
                    add_fault(&mut faults, query.rule, rule, place, violation);
                }
            }
            Resolution::Contract { function, requires } => {
                if let Some(requires) = requires {
                    let at = place_of(program, *function, LocId::UNKNOWN);
                    findings.contracts.push(Contract {
                        place: at,
                        requires: requires.clone(),
                        rule: rule.id.clone(),
                    });
                }
            }
            Resolution::DontKnow { reason, at } => findings.dont_knows.push(DontKnow {
                place,
                rule: rule.id.clone(),
                reason: reason.clone(),
                at: at.clone(),
                resolve: String::new(),
            }),
        }
    }
    for (function, said) in &outcome.failures {
        findings.incomplete.push(Incomplete {
            what: format!("function {}", program.functions[*function].name),
            reason: format!("internal error, please report it: {said}"),
            details: Vec::new(),
        });
    }
    findings.faults.extend(faults.into_values());
    findings.contracts.sort();
    findings.contracts.dedup();
    findings.dont_knows.sort();
    findings.dont_knows.dedup();
    count(findings, program, queries, outcome);
}

fn add_fault(
    faults: &mut BTreeMap<(u32, Place), Fault>,
    rule_index: u32,
    rule: &RuleInfo,
    place: Place,
    violation: &Violation,
) {
    /// Segments shown per fault.
    const MAX_SEGMENTS: usize = 5;
    let fault = faults
        .entry((rule_index, place.clone()))
        .or_insert_with(|| new_fault(rule, place, violation));
    fault.input_dependent |= violation.input_dependent;
    if fault.segments.len() < MAX_SEGMENTS && !fault.segments.contains(&violation.segment) {
        fault.segments.push(violation.segment.clone());
    }
}

/// The name of a fault until all faults of a run are numbered.
pub fn fault_id(rule: &str, place: &Place) -> String {
    format!("{rule}@{}:{}:{}", place.file, place.line, place.column)
}

/// The place a query is about.
pub fn query_place(program: &Program, query: &Query) -> Place {
    place_of(program, query.function, query.loc(program))
}

/// A violated query as a fault of its own.
pub fn fault_of(program: &Program, query: &Query, rule: &RuleInfo, violation: &Violation) -> Fault {
    let place = violation.place.clone().unwrap_or_else(|| query_place(program, query));
    let mut fault = new_fault(rule, place, violation);
    fault.input_dependent = violation.input_dependent;
    fault.segments.push(violation.segment.clone());
    fault
}

fn new_fault(rule: &RuleInfo, place: Place, violation: &Violation) -> Fault {
    Fault {
        id: fault_id(&rule.id, &place),
        rule: rule.id.clone(),
        cwe: rule.cwe.clone(),
        severity: rule.severity,
        verdict: Verdict::Unsafe,
        place,
        message: violation.message.clone(),
        input_dependent: false,
        level: findings::Level::Likely,
        witness: None,
        origin: FaultOrigin::Detection,
        segments: Vec::new(),
        n_paths: None,
        error_state: violation.error_state.clone(),
        fingerprint: String::new(),
        group: None,
    }
}

fn count(findings: &mut Findings, program: &Program, queries: &[Query], outcome: &Outcome) {
    let mut tally = |name: &str, n: usize| findings.count(name, n as u64);
    let resolved = |wanted: fn(&Resolution) -> bool| {
        outcome.resolutions.iter().filter(|resolution| wanted(resolution)).count()
    };
    tally("queries", queries.len());
    tally("queries_safe", resolved(|r| matches!(r, Resolution::Safe)));
    tally("queries_infeasible", resolved(|r| matches!(r, Resolution::Infeasible)));
    tally("queries_unsafe", resolved(|r| matches!(r, Resolution::Unsafe(_))));
    tally("queries_contract", resolved(|r| matches!(r, Resolution::Contract { .. })));
    tally("queries_dont_know", resolved(|r| matches!(r, Resolution::DontKnow { .. })));
    tally("searches", outcome.n_searches as usize);
    tally("instructions", outcome.n_instructions as usize);
    let bodies = || program.functions.iter().filter_map(|function| function.body.as_ref());
    tally("procedures", bodies().count());
    tally("procedures_visited", outcome.n_functions_visited);
    tally("blocks", bodies().map(|body| body.blocks.len()).sum());
    tally("blocks_visited", outcome.n_blocks_visited);
    tally("checks", outcome.counters.checks as usize);
    tally("checks_decided_here", outcome.counters.decided_here as usize);
    tally("checks_decided_by_prover", outcome.counters.decided_by_prover as usize);
    tally("checks_undecided", outcome.counters.undecided as usize);
}

pub fn place_of(program: &Program, function: FunctionId, loc: LocId) -> Place {
    let function = &program.functions[function];
    let position = program.locs[if loc.is_known() { loc } else { function.loc }];
    Place {
        file: program.files.get(position.file).map_or(String::new(), |file| file.path.clone()),
        line: position.line,
        column: position.column,
        function: function.name.to_string(),
    }
}
