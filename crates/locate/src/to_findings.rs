//! The ranked list as findings.

use std::collections::BTreeMap;

use findings::{Findings, Incomplete, Statement};

use crate::evidence::{self, Sources};
use crate::{Formula, Ivmps, Ranked, Session, StatementId};

/// Sentences of evidence per statement.
const MAX_SENTENCES: usize = 5;

/// Puts a ranked list into the `statements` section, with the IVMPs in words.
pub fn to_findings(session: &Session<'_>, ivmps: Option<&Ivmps>, list: &[Ranked]) -> Findings {
    let mut findings = Findings::new();
    let mut sources = Sources::default();
    let has_consistency = list.iter().any(|ranked| ranked.support.n_consistent > 0);
    for ranked in list {
        let mut evidence = Vec::new();
        if let Some(ivmps) = ivmps {
            evidence = sentences(session, ivmps, ranked.statement, &mut sources);
        }
        let support = ranked.support;
        if support.n_explained > 1 {
            evidence.push(format!(
                "one change of what it computes turns {} failing tests around and no passing one",
                support.n_explained
            ));
        } else if ranked.n_tests > 0 && has_consistency && support.n_consistent == 0 {
            evidence.push("every such change breaks a passing test".to_string());
        }
        let spectrum = session.spectrum(ranked.statement);
        evidence.push(format!(
            "executed by {} of {} failing and {} of {} passing tests",
            spectrum.failed, spectrum.total_failed, spectrum.passed, spectrum.total_passed
        ));
        if ivmps.is_some()
            && ranked.n_tests == 0
            && session.statements.is_constant(ranked.statement)
        {
            evidence.push(
                "uses nothing but constants, so no other value is known for it: look at the \
                 statements that use what it computes"
                    .to_string(),
            );
        }
        findings.statements.push(Statement {
            rank: ranked.rank,
            place: session.statements.place(ranked.statement).clone(),
            suspiciousness: ranked.as_number(),
            evidence,
            measures: measures(session, ivmps, ranked),
        });
    }
    for aside in &session.set_aside {
        findings.incomplete.push(Incomplete {
            what: format!("test {}", aside.name),
            reason: aside.reason.clone(),
            details: Vec::new(),
        });
    }
    if let Some(ivmps) = ivmps {
        findings.incomplete.extend(ivmps.unfinished.iter().map(|test| {
            Incomplete {
                what: format!("search of test {}", session.tests[*test].test.name),
                reason: "ended early: no memory for it, or more than 256 files or 16 MiB in the \
                     program's working folder"
                    .to_string(),
                details: Vec::new(),
            }
        }));
        add_stats(session, ivmps, &mut findings);
    }
    findings
}

/// What a list by another measure can be made from.
fn measures(
    session: &Session<'_>,
    ivmps: Option<&Ivmps>,
    ranked: &Ranked,
) -> BTreeMap<String, f64> {
    let mut measures = BTreeMap::new();
    let spectrum = session.spectrum(ranked.statement);
    for formula in Formula::ALL {
        measures.insert(formula.name().to_string(), finite(formula.suspiciousness(&spectrum)));
    }
    if ivmps.is_some() {
        measures.insert("ivmp_tests".to_string(), ranked.n_tests as f64);
        measures.insert("consistent_tests".to_string(), ranked.support.n_consistent as f64);
        measures.insert("explained_tests".to_string(), ranked.support.n_explained as f64);
    }
    measures
}

/// Formulas may be unbounded; an infinite value is the largest number JSON can hold.
fn finite(value: f64) -> f64 {
    value.min(f64::MAX)
}

fn sentences(
    session: &Session<'_>,
    ivmps: &Ivmps,
    statement: StatementId,
    sources: &mut Sources,
) -> Vec<String> {
    // Tests that the same replacement at the same execution turns around share a sentence.
    let mut by_replacement: BTreeMap<(String, u64), Vec<&str>> = BTreeMap::new();
    let mut order = Vec::new();
    for ivmp in ivmps.of(statement) {
        let what = evidence::replacement(ivmp, session, sources);
        let key = (what, ivmp.hit.instance);
        let names = by_replacement.entry(key.clone()).or_default();
        let name = session.tests[ivmp.test].test.name.as_str();
        if names.is_empty() {
            order.push(key);
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    order.sort_by_key(|key| std::cmp::Reverse(by_replacement[key].len()));
    order
        .iter()
        .take(MAX_SENTENCES)
        .map(|key| {
            let (what, instance) = key;
            let tests = evidence::tests(&by_replacement[key]);
            format!("with {what} at the {} execution, {tests}", evidence::ordinal(*instance))
        })
        .collect()
}

fn add_stats(session: &Session<'_>, ivmps: &Ivmps, findings: &mut Findings) {
    let failing = session.tests.iter().filter(|test| !test.passed).count() as u64;
    findings.count("locate.failing_tests", failing);
    findings.count("locate.passing_tests", session.tests.len() as u64 - failing);
    findings.count("locate.searched_tests", ivmps.found.len() as u64);
    findings.count("locate.replacements", ivmps.stats.n_replacements);
    findings.count("locate.equivalent_alternates_skipped", ivmps.stats.n_equivalents);
    findings.count("locate.ivmps_found", ivmps.stats.n_hits);
    findings.count("locate.unstable_ivmps_dropped", ivmps.stats.n_unstable);
    findings.count("locate.crashes_under_replacement", ivmps.stats.n_crashes);
    findings.count("locate.hangs_under_replacement", ivmps.stats.n_hangs);
}
