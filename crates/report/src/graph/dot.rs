//! The graph in Graphviz's language.

use std::collections::BTreeSet;
use std::fmt::Write;

use findings::{Fault, Findings, Via};

use super::{label, mark, nodes, roots};

pub fn render(findings: &Findings) -> String {
    let mut out = String::from(
        "digraph faults {\n  rankdir = LR;\n  node [shape = box, fontname = \"sans-serif\"];\n",
    );
    let mut line = |text: &str| writeln!(out, "{text}").expect("writing to a string cannot fail");
    let (nodes, roots): (Vec<&Fault>, _) = (nodes(findings).collect(), roots(findings));
    for group in &findings.groups {
        let members: BTreeSet<&String> = group.faults.iter().collect();
        line(&format!("  subgraph \"cluster_{0}\" {{\n    label = {0};", group.id));
        for fault in nodes.iter().filter(|fault| members.contains(&fault.id)) {
            let root = if roots.contains(&fault.id) { ", penwidth = 2" } else { "" };
            let label = quoted(&label(fault).join("\n"));
            line(&format!("    {} [label = {label}{root}];", fault.id));
        }
        line("  }");
    }
    for edge in &findings.correlations {
        let style = if edge.via == Via::Feasibility { ", style = dashed" } else { "" };
        line(&format!("  {} -> {} [label = {}{style}];", edge.from, edge.to, quoted(mark(edge))));
    }
    out.push_str("}\n");
    out
}

/// A string of the language, whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push('\u{fffd}'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
