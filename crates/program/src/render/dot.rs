//! Graphs in Graphviz's language.

use std::fmt::Write;

/// A directed graph in the making.
pub struct Dot {
    text: String,
    is_in_cluster: bool,
}

impl Dot {
    pub fn new(name: &str) -> Self {
        let mut text = format!("digraph {} {{\n", quoted(name));
        text.push_str("  node [shape=box, fontname=\"monospace\"];\n");
        Self { text, is_in_cluster: false }
    }

    /// Nodes from here to [`end_cluster`](Self::end_cluster) are drawn together.
    pub fn begin_cluster(&mut self, id: &str, label: &str) {
        let id = quoted(&format!("cluster_{id}"));
        let _ = writeln!(self.text, "  subgraph {id} {{\n    label={};", quoted(label));
        self.is_in_cluster = true;
    }

    pub fn end_cluster(&mut self) {
        self.text.push_str("  }\n");
        self.is_in_cluster = false;
    }

    /// A node; the lines of its label are left-aligned.
    pub fn node(&mut self, id: &str, label: &str) {
        let indent = if self.is_in_cluster { "    " } else { "  " };
        let _ = writeln!(self.text, "{indent}{} [label={}];", quoted(id), label_lines(label));
    }

    pub fn edge(&mut self, from: &str, to: &str, label: &str, style: &str) {
        let mut attributes = Vec::new();
        if !label.is_empty() {
            attributes.push(format!("label={}", quoted(label)));
        }
        if !style.is_empty() {
            attributes.push(format!("style={style}"));
        }
        let attributes = match attributes.is_empty() {
            true => String::new(),
            false => format!(" [{}]", attributes.join(", ")),
        };
        let _ = writeln!(self.text, "  {} -> {}{attributes};", quoted(from), quoted(to));
    }

    pub fn finish(mut self) -> String {
        self.text.push_str("}\n");
        self.text
    }
}

/// A quoted string of the language: backslashes and quotes stand for themselves.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", escape(text).replace('\n', "\\n"))
}

fn label_lines(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("{}\\l", escape(line))).collect();
    format!("\"{lines}\"")
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "")
}
