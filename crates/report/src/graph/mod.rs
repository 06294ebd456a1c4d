//! The correlation graph by itself: as an outline, for Graphviz, and as a picture.

mod dot;
mod outline;
mod svg;

pub use dot::render as dot;
pub use outline::render as outline;
pub use svg::render as svg;

use findings::{Correlation, Fault, FaultOrigin, Findings, Via};

/// Faults that take part, in printing order.
fn nodes(findings: &Findings) -> impl Iterator<Item = &Fault> {
    findings.faults.iter().filter(|fault| {
        findings.correlations.iter().any(|edge| edge.from == fault.id || edge.to == fault.id)
    })
}

fn is_root(findings: &Findings, fault: &Fault) -> bool {
    findings.groups.iter().any(|group| group.roots.contains(&fault.id))
}

/// What stands in a node: name and rule, place, what is corrupted.
fn label(fault: &Fault) -> Vec<String> {
    let place = &fault.place;
    let mut lines = vec![
        format!("{} {}", fault.id, fault.rule),
        match place.function.is_empty() {
            true => format!("{}:{}", place.file, place.line),
            false => format!("{}:{} in {}", place.file, place.line, place.function),
        },
    ];
    if !fault.error_state.is_empty() {
        lines.push(fault.error_state.clone());
    }
    if fault.origin == FaultOrigin::Correlation {
        lines.push("only after another".to_owned());
    }
    lines
}

/// As in the paper, `+` marks what has other causes, too.
fn mark(edge: &Correlation) -> &'static str {
    match (edge.unique, edge.via) {
        (true, Via::Direct) => "",
        (true, Via::Feasibility) => "opens the path",
        (false, Via::Direct) => "+",
        (false, Via::Feasibility) => "+ opens the path",
    }
}
