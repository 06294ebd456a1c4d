//! The graph as an outline: each group from its roots on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use findings::{Fault, Findings};

use super::{mark, witness};
use crate::sources::one_line;

pub fn render(findings: &Findings) -> String {
    let mut out = String::new();
    let faults: BTreeMap<&str, &Fault> =
        findings.faults.iter().map(|fault| (fault.id.as_str(), fault)).collect();
    for group in &findings.groups {
        let roots = group.roots.join(", ");
        let n = group.faults.len();
        writeln!(out, "{}: {n} faults; fix first: {roots}", group.id)
            .expect("writing to a string cannot fail");
        let mut told = BTreeSet::new();
        for root in &group.roots {
            tell(&mut out, findings, &faults, root, "", 1, &mut told);
        }
    }
    if findings.groups.is_empty() {
        out.push_str("no fault causes another\n");
    }
    out
}

fn tell<'a>(
    out: &mut String,
    findings: &'a Findings,
    faults: &BTreeMap<&str, &Fault>,
    id: &'a str,
    mark_of_edge: &str,
    depth: usize,
    told: &mut BTreeSet<&'a str>,
) {
    let Some(fault) = faults.get(id) else { return };
    let (indent, place) = ("  ".repeat(depth), &fault.place);
    let arrow = if depth > 1 { "-> " } else { "" };
    let mark_of_edge = match mark_of_edge {
        "" => String::new(),
        text => format!(" ({text})"),
    };
    let is_new = told.insert(id);
    let again = if is_new { "" } else { ", see above" };
    writeln!(
        out,
        "{indent}{arrow}{id} {}:{}:{} {}{mark_of_edge}{again}",
        one_line(&place.file),
        place.line,
        place.column,
        one_line(&fault.rule),
    )
    .expect("writing to a string cannot fail");
    if is_new && depth < 50 {
        for edge in findings.correlations.iter().filter(|edge| edge.from == id) {
            if let Some(command) = witness(edge) {
                let indent = "  ".repeat(depth + 1);
                writeln!(out, "{indent}both happen with: {command}")
                    .expect("writing to a string cannot fail");
            }
            tell(out, findings, faults, &edge.to, mark(edge), depth + 1, told);
        }
    }
}
