//! The last lines of a text report: what was analysed, what was not, what was found.

use std::fmt::Write;

use findings::{Findings, Severity};

use super::paint::Paint;
use crate::Options;
use crate::sources::one_line;

/// Programs listed one by one; a project with more gets a total.
const MAX_PROGRAMS: usize = 20;

/// Notices listed before the rest is only counted.
const MAX_NOTICES: usize = 10;

/// Counters of what was found and is not shown, and why it is not.
const LEFT_OUT: [(&str, &str); 5] = [
    ("below_limit", "less plausible; --limit 0 shows all"),
    ("ignored", "silenced by comments"),
    ("in_baseline", "in the baseline"),
    ("unchanged", "nothing on their path was edited"),
    ("known_before", "not new"),
];

pub fn write(out: &mut String, findings: &Findings, paint: &Paint, options: Options) {
    let mut line = |text: &str| writeln!(out, "{text}").expect("writing to a string cannot fail");
    if !options.brief {
        for text in programs(findings) {
            line(&text);
        }
        for text in notices(findings) {
            line(&text);
        }
    }
    for missing in &findings.incomplete {
        let word = paint.bad("not analysed");
        line(&format!("{word}: {}: {}", one_line(&missing.what), one_line(&missing.reason)));
    }
    line(&verdict(findings, paint));
    for (name, words) in LEFT_OUT {
        let n = findings.stats.get(name).and_then(serde_json::Value::as_u64).unwrap_or(0);
        if n > 0 {
            line(&format!("{} left out: {words}", count(n, "finding")));
        }
    }
    if !findings.dont_knows.is_empty() && !options.dont_knows {
        let open = count(findings.dont_knows.len() as u64, "question");
        line(&format!("{open} stayed undecided; --dont-knows lists them"));
    }
    if !findings.contracts.is_empty() && !options.contracts {
        let contracts = count(findings.contracts.len() as u64, "contract");
        line(&format!("{contracts} on callers outside the program; --contracts lists them"));
    }
}

fn programs(findings: &Findings) -> Vec<String> {
    let programs = &findings.programs;
    let describe = |units: u64, functions: u64, calls: u64| {
        format!(
            "{}, {}, {}",
            count(units, "unit"),
            count(functions, "function"),
            count(calls, "call")
        )
    };
    if programs.len() > MAX_PROGRAMS {
        let sum = |of: fn(&findings::Program) -> u64| programs.iter().map(of).sum();
        let total = describe(sum(|p| p.units), sum(|p| p.functions), sum(|p| p.calls));
        return vec![format!("analysed {} programs: {total}", programs.len())];
    }
    let line = |p: &findings::Program| {
        format!("analysed {}: {}", one_line(&p.name), describe(p.units, p.functions, p.calls))
    };
    programs.iter().map(line).collect()
}

fn notices(findings: &Findings) -> Vec<String> {
    let notices = &findings.notices;
    let mut lines: Vec<String> = notices
        .iter()
        .take(MAX_NOTICES)
        .map(|notice| {
            let message = one_line(&notice.message);
            match notice.place.file.is_empty() {
                true => format!("note: {message}"),
                false => format!("{}: note: {message}", super::position(&notice.place)),
            }
        })
        .collect();
    if notices.len() > MAX_NOTICES {
        lines.push(format!(
            "note: and {} more notes like these; --format json has them all",
            notices.len() - MAX_NOTICES
        ));
    }
    lines
}

fn verdict(findings: &Findings, paint: &Paint) -> String {
    let mut parts = Vec::new();
    for (severity, word) in
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
    {
        let n = findings.faults.iter().filter(|fault| fault.severity == severity).count();
        if n > 0 {
            parts.push(count(n as u64, word));
        }
    }
    if !findings.deviations.is_empty() {
        parts.push(count(findings.deviations.len() as u64, "deviation"));
    }
    if !findings.statements.is_empty() {
        parts.push(count(findings.statements.len() as u64, "suspicious statement"));
    }
    if findings.corruption.is_some() {
        parts.push("1 first corruption".to_owned());
    }
    if !findings.repairs.is_empty() {
        parts.push(count(findings.repairs.len() as u64, "repair"));
    }
    if !findings.suggestions.is_empty() {
        parts.push(count(findings.suggestions.len() as u64, "suggestion"));
    }
    match (parts.is_empty(), findings.rules.is_empty()) {
        // Silence must not look like a clean bill of health.
        (true, true) => "no faults were looked for: no rule was applied".to_owned(),
        (true, false) => paint.good("nothing found"),
        (false, _) => paint.bad(&format!("found {}", parts.join(", "))),
    }
}

/// `1 unit`, `2 units`.
fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
