//! The demand-driven, path-sensitive engine.
//!
//! Specifications raise queries at observable points. Each is answered by searching the
//! paths that lead to its point, from the function that holds it outwards to callers, with
//! an interpreter that knows exactly what a path makes of every value and every object.

pub mod code;
pub mod demand;
pub mod describe;
pub mod effects;
pub mod engine;
pub mod exits;
pub mod machine;
pub mod observer;
pub mod query;
pub mod reaches;
pub mod report;
pub mod search;
pub mod semantics;
pub mod steps;
pub mod suspects;
pub mod verdict;

use findings::Findings;
use program::Program;
use spec::rules::Rules;

pub use engine::Settings;

/// Raises and answers the queries of all rules on a program.
pub fn check(program: &Program, rules: &Rules, settings: &Settings, findings: &mut Findings) {
    let settings = &settings.resolved(program);
    let code = code::Code::new(program);
    let wanted = |rule: &str| settings.wants(rule);
    let compiled = semantics::compiled::Compiled::new(rules, program, settings.strict, &wanted);
    let semantics = semantics::asking::Specified::new(&code, &compiled);
    let engine =
        engine::Engine { code: &code, semantics: &semantics, queries: &compiled.queries, settings };
    let outcome = engine.run();
    let infos: Vec<report::RuleInfo> = rules.faults.iter().map(rule_info).collect();
    report::add(findings, program, &infos, &compiled.queries, &outcome);
}

fn rule_info(fault: &spec::rules::Fault) -> report::RuleInfo {
    let severity = match fault.severity {
        spec::ast::Severity::Error => findings::Severity::Error,
        spec::ast::Severity::Warning => findings::Severity::Warning,
        spec::ast::Severity::Note => findings::Severity::Note,
    };
    report::RuleInfo { id: fault.id.clone(), cwe: fault.cwe.clone(), severity }
}
