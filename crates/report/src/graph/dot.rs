//! The graph in Graphviz's language.

use std::fmt::Write;

use findings::{Findings, Via};

use super::{is_root, label, mark, nodes};

pub fn render(findings: &Findings) -> String {
    let mut out = String::from(
        "digraph faults {\n  rankdir = LR;\n  node [shape = box, fontname = \"sans-serif\"];\n",
    );
    let mut line = |text: &str| writeln!(out, "{text}").expect("writing to a string cannot fail");
    for group in &findings.groups {
        line(&format!("  subgraph \"cluster_{0}\" {{\n    label = {0};", group.id));
        for fault in nodes(findings).filter(|fault| group.faults.contains(&fault.id)) {
            let root = if is_root(findings, fault) { ", penwidth = 2" } else { "" };
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
