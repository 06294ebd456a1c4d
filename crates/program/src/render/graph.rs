//! Control-flow, call and interprocedural graphs, as text and for Graphviz.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::dot::Dot;
use super::{Renderer, ir, place_of};
use crate::icfg::{EdgeKind, Icfg, Node, NodeId, Resolver};
use crate::{BlockId, Callee, FunctionId, InstId, Op, Program, Terminator};

/// The blocks of a function: their source lines and where they lead.
pub fn cfg(program: &Program, function: FunctionId) -> String {
    let mut text = format!("{}\n", ir::head(program, function));
    let Some(body) = &program.functions[function].body else { return text };
    let renderer = Renderer::new(program, function);
    for block in body.blocks.ids() {
        let lines = source_lines(program, function, block);
        let _ = writeln!(text, "  b{}{lines}", block.0);
        for (label, target) in labelled_successors(&renderer, block) {
            let label = if label.is_empty() { label } else { format!("{label}: ") };
            let _ = writeln!(text, "    -> {label}b{}", target.0);
        }
    }
    text
}

pub fn cfg_dot(program: &Program, function: FunctionId) -> String {
    let mut dot = Dot::new(&program.functions[function].name);
    let Some(body) = &program.functions[function].body else { return dot.finish() };
    let blocks = ir::blocks(program, function);
    let renderer = Renderer::new(program, function);
    for (block, label) in body.blocks.ids().zip(&blocks) {
        dot.node(&format!("b{}", block.0), label);
    }
    for block in body.blocks.ids() {
        for (label, target) in labelled_successors(&renderer, block) {
            dot.edge(&format!("b{}", block.0), &format!("b{}", target.0), &label, "");
        }
    }
    dot.finish()
}

/// Who calls whom, or whom `only` calls; calls through pointers as `indirect` resolves them.
pub fn callgraph(program: &Program, indirect: Resolver, only: Option<FunctionId>) -> String {
    let mut text = String::new();
    for (id, function) in program.functions.iter_enumerated() {
        if function.body.is_none() || only.is_some_and(|only| only != id) {
            continue;
        }
        let _ = writeln!(text, "{} ({})", function.name, place_of(program, function.loc));
        for call in calls(program, id, indirect) {
            let name = call.callee.map_or("<unknown>", |callee| &*program.functions[callee].name);
            let note = match (call.is_indirect, call.callee.map(|c| &program.functions[c].body)) {
                (true, _) => " (through a pointer)",
                (_, Some(None)) => " (outside the program)",
                _ => "",
            };
            let _ = writeln!(text, "  -> {name}{note}");
        }
    }
    text
}

pub fn callgraph_dot(program: &Program, indirect: Resolver, only: Option<FunctionId>) -> String {
    let mut dot = Dot::new("callgraph");
    let id_of = |function: FunctionId| format!("f{}", function.0);
    let mut has_unknown = false;
    let mut shown: BTreeSet<FunctionId> = match only {
        Some(only) => BTreeSet::from([only]),
        None => program.functions.ids().collect(),
    };
    for id in shown.clone() {
        for call in calls(program, id, indirect) {
            shown.extend(call.callee);
            has_unknown |= call.callee.is_none();
            let target = call.callee.map_or_else(|| "unknown".to_owned(), id_of);
            dot.edge(&id_of(id), &target, "", if call.is_indirect { "dashed" } else { "" });
        }
    }
    for id in shown {
        dot.node(&id_of(id), &program.functions[id].name);
    }
    if has_unknown {
        dot.node("unknown", "<unknown>");
    }
    dot.finish()
}

/// The interprocedural graph, one node a line; of `only` one function, its nodes and where
/// they lead.
pub fn icfg(program: &Program, indirect: Resolver, only: Option<FunctionId>) -> String {
    let graph = Icfg::new(program, indirect);
    let mut text = String::new();
    let mut edges = graph.edges.iter().peekable();
    for (id, node) in graph.nodes.iter_enumerated() {
        if only.is_some_and(|only| only != node.function) {
            while edges.next_if(|edge| edge.from == id).is_some() {}
            continue;
        }
        let _ = writeln!(text, "n{} {}", id.0, node_label(program, node));
        while let Some(edge) = edges.next_if(|edge| edge.from == id) {
            let target = node_label(program, &graph.nodes[edge.to]);
            let _ = writeln!(text, "  {} n{} {target}", edge_name(edge.kind), edge.to.0);
        }
    }
    text
}

pub fn icfg_dot(program: &Program, indirect: Resolver, only: Option<FunctionId>) -> String {
    let graph = Icfg::new(program, indirect);
    let leaves = |from: NodeId| only.is_none_or(|only| only == graph.nodes[from].function);
    let edges = || graph.edges.iter().filter(|edge| leaves(edge.from));
    let ids = graph.nodes.iter_enumerated().map(|(id, _)| id);
    let shown: BTreeSet<NodeId> =
        ids.filter(|id| leaves(*id)).chain(edges().map(|edge| edge.to)).collect();
    let mut dot = Dot::new("icfg");
    let mut nodes = shown.iter().map(|id| (*id, &graph.nodes[*id])).peekable();
    while let Some(&(_, first)) = nodes.peek() {
        let function = first.function;
        let name = &program.functions[function].name;
        dot.begin_cluster(&function.0.to_string(), name);
        while let Some((id, node)) = nodes.next_if(|(_, node)| node.function == function) {
            dot.node(&format!("n{}", id.0), &node_label(program, node));
        }
        dot.end_cluster();
    }
    for edge in edges() {
        let (label, style) = match edge.kind {
            EdgeKind::Flow => ("", ""),
            EdgeKind::Call(_) => ("call", "bold"),
            EdgeKind::Return(_) => ("return", "dashed"),
        };
        dot.edge(&format!("n{}", edge.from.0), &format!("n{}", edge.to.0), label, style);
    }
    dot.finish()
}

fn edge_name(kind: EdgeKind) -> String {
    match kind {
        EdgeKind::Flow => "->".to_owned(),
        EdgeKind::Call(_) => "calls".to_owned(),
        EdgeKind::Return(inst) => format!("returns to the call %{} before", inst.0),
    }
}

fn node_label(program: &Program, node: &Node) -> String {
    let name = &program.functions[node.function].name;
    let insts = node.first.0..node.end.0;
    let lines = lines_of(program, node.function, insts.map(InstId));
    format!("{name} b{}{lines}", node.block.0)
}

struct FoundCall {
    callee: Option<FunctionId>,
    is_indirect: bool,
}

/// The distinct callees of a function, in the order of their ids; unknown ones last.
fn calls(program: &Program, function: FunctionId, indirect: Resolver) -> Vec<FoundCall> {
    let mut direct = BTreeSet::new();
    let mut through_pointers = BTreeSet::new();
    let mut has_unknown = false;
    let insts = program.functions[function].body.iter().flat_map(|b| b.insts.iter_enumerated());
    for (id, inst) in insts {
        let Op::Call(call) = &inst.op else { continue };
        match call.callee {
            Callee::Function(callee) => {
                direct.insert(callee);
            }
            Callee::Pointer(_) => {
                let callees = indirect(function, id);
                has_unknown |= callees.is_empty();
                through_pointers.extend(callees);
            }
            Callee::Intrinsic(_) => {}
        }
    }
    let call = |callee, is_indirect| FoundCall { callee, is_indirect };
    let direct = direct.into_iter().map(|callee| call(Some(callee), false));
    let indirect = through_pointers.into_iter().map(|callee| call(Some(callee), true));
    direct.chain(indirect).chain(has_unknown.then(|| call(None, true))).collect()
}

/// Successors with what leads to them: `if x`, a case's value.
fn labelled_successors(renderer: &Renderer, block: BlockId) -> Vec<(String, BlockId)> {
    match &renderer.body().blocks[block].terminator {
        Terminator::Branch { condition, then, otherwise } => {
            let condition = renderer.expr(*condition);
            vec![(format!("if {condition}"), *then), ("else".to_owned(), *otherwise)]
        }
        Terminator::Switch { value, cases, default } => {
            let ctype = renderer.ctype(*value);
            let case = |id| format!("case {}", renderer.constant(id, ctype).text);
            let cases = cases.iter().map(|(id, target)| (case(*id), *target));
            cases.chain([("default".to_owned(), *default)]).collect()
        }
        other => other.successors().into_iter().map(|target| (String::new(), target)).collect(),
    }
}

fn source_lines(program: &Program, function: FunctionId, block: BlockId) -> String {
    let Some(body) = &program.functions[function].body else { return String::new() };
    lines_of(program, function, body.blocks[block].inst_ids())
}

/// ` a.c:3-7`: the source lines of instructions, as far as they are in one file.
fn lines_of(
    program: &Program,
    function: FunctionId,
    insts: impl Iterator<Item = InstId>,
) -> String {
    let Some(body) = &program.functions[function].body else { return String::new() };
    let mut file = None;
    let (mut first, mut last) = (u32::MAX, 0);
    for inst in insts {
        let Some(loc) = program.locs.get(body.insts[inst].loc).filter(|loc| loc.line > 0) else {
            continue;
        };
        if *file.get_or_insert(loc.file) == loc.file {
            first = first.min(loc.line);
            last = last.max(loc.line);
        }
    }
    let Some(path) = file.and_then(|file| program.files.get(file)).map(|file| &file.path) else {
        return String::new();
    };
    if first == last { format!(" {path}:{first}") } else { format!(" {path}:{first}-{last}") }
}
