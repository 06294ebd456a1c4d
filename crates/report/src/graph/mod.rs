//! The correlation graph by itself: as an outline, for Graphviz, and as a picture.

mod dot;
mod outline;
mod svg;

pub use dot::render as dot;
pub use outline::render as outline;
pub use svg::render as svg;

use std::collections::BTreeSet;

use findings::{Correlation, Fault, FaultOrigin, Findings, Level, Via};

/// Faults that take part, in printing order.
fn nodes(findings: &Findings) -> impl Iterator<Item = &Fault> {
    let ends = findings.correlations.iter().flat_map(|edge| [&edge.from, &edge.to]);
    let taking_part: BTreeSet<&String> = ends.collect();
    findings.faults.iter().filter(move |fault| taking_part.contains(&fault.id))
}

/// Names of what to fix first.
fn roots(findings: &Findings) -> BTreeSet<&String> {
    findings.groups.iter().flat_map(|group| &group.roots).collect()
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

/// What both faults of an edge happen with, on one line that is not too long.
pub fn witness(edge: &Correlation) -> Option<String> {
    const MOST: usize = 120;
    let command = crate::sources::one_line(&edge.witness.as_ref()?.command);
    let is_long = command.chars().count() > MOST;
    let short: String = command.chars().take(MOST).collect();
    Some(if is_long { format!("{short}...") } else { short }).filter(|command| !command.is_empty())
}

/// As in the paper, `+` marks what has other causes, too.
fn mark(edge: &Correlation) -> &'static str {
    if edge.level > Level::Likely {
        return if edge.unique { "proved" } else { "+ proved" };
    }
    match (edge.unique, edge.via) {
        (true, Via::Direct) => "",
        (true, Via::Feasibility) => "opens the path",
        (false, Via::Direct) => "+",
        (false, Via::Feasibility) => "+ opens the path",
    }
}
