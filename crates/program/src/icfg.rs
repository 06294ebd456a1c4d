//! The interprocedural control-flow graph: blocks split at calls, with edges into callees
//! and back.

use base::{IdVec, define_id};

use crate::{BlockId, Callee, FunctionId, InstId, Op, Program, Terminator};

define_id!(/// A node of an [`Icfg`].
    NodeId);

/// A stretch of a block that no call into the program interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub function: FunctionId,
    pub block: BlockId,
    /// The instructions are `first..end`; the last may be the call that ends the stretch.
    pub first: InstId,
    pub end: InstId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub kind: EdgeKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// Within one function, calls of code outside the program included.
    Flow,
    /// From a call to the entry of a callee.
    Call(InstId),
    /// From a return of the callee to behind the call.
    Return(InstId),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Icfg {
    pub nodes: IdVec<NodeId, Node>,
    /// In the order of the nodes they leave.
    pub edges: Vec<Edge>,
    /// The first node of each function with a body.
    pub entries: IdVec<FunctionId, Option<NodeId>>,
}

/// Says which functions a call through a pointer may reach.
pub type Resolver<'a> = &'a dyn Fn(FunctionId, InstId) -> Vec<FunctionId>;

impl Icfg {
    pub fn new(program: &Program, indirect: Resolver) -> Self {
        let mut building = Building {
            program,
            indirect,
            graph: Icfg::default(),
            calls: Vec::new(),
            first_nodes: Vec::new(),
        };
        for function in program.functions.ids() {
            building.nodes_of(function);
        }
        building.edges();
        building.graph
    }
}

struct Building<'a> {
    program: &'a Program,
    indirect: Resolver<'a>,
    graph: Icfg,
    /// Calls into the program: the node each ends, and its callees.
    calls: Vec<(NodeId, InstId, Vec<FunctionId>)>,
    /// For each function the first node of each block.
    first_nodes: Vec<IdVec<BlockId, NodeId>>,
}

impl Building<'_> {
    fn nodes_of(&mut self, function: FunctionId) {
        let mut first_nodes = IdVec::new();
        let body = self.program.functions[function].body.as_ref();
        for (block, content) in body.iter().flat_map(|body| body.blocks.iter_enumerated()) {
            let mut first = content.first;
            first_nodes.push(self.graph.nodes.next_id());
            for inst in content.inst_ids() {
                let callees = self.callees(function, inst);
                if !callees.is_empty() {
                    let end = InstId(inst.0 + 1);
                    let node = self.graph.nodes.push(Node { function, block, first, end });
                    self.calls.push((node, inst, callees));
                    first = end;
                }
            }
            self.graph.nodes.push(Node { function, block, first, end: content.end });
        }
        self.graph.entries.push(first_nodes.iter().next().copied());
        self.first_nodes.push(first_nodes);
    }

    /// The functions with bodies that an instruction calls.
    fn callees(&self, function: FunctionId, inst: InstId) -> Vec<FunctionId> {
        let Some(body) = &self.program.functions[function].body else { return Vec::new() };
        let Op::Call(call) = &body.insts[inst].op else { return Vec::new() };
        let mut callees = match call.callee {
            Callee::Function(callee) => vec![callee],
            Callee::Pointer(_) => (self.indirect)(function, inst),
            Callee::Intrinsic(_) => Vec::new(),
        };
        callees.retain(|callee| self.program.functions[*callee].body.is_some());
        callees.sort();
        callees.dedup();
        callees
    }

    fn edges(&mut self) {
        let returns = self.returns();
        let mut edges = Vec::new();
        let ends_in_call: rustc_hash::FxHashSet<NodeId> =
            self.calls.iter().map(|(node, ..)| *node).collect();
        for (node, content) in self.graph.nodes.iter_enumerated() {
            let body = self.program.functions[content.function].body.as_ref();
            let Some(body) = body.filter(|_| !ends_in_call.contains(&node)) else { continue };
            let targets = body.blocks[content.block].terminator.successors();
            edges.extend(targets.into_iter().map(|block| Edge {
                from: node,
                to: self.first_nodes[content.function.0 as usize][block],
                kind: EdgeKind::Flow,
            }));
        }
        for (node, inst, callees) in &self.calls {
            let behind = NodeId(node.0 + 1);
            for callee in callees {
                if let Some(entry) = self.graph.entries[*callee] {
                    edges.push(Edge { from: *node, to: entry, kind: EdgeKind::Call(*inst) });
                }
                for exit in &returns[callee.0 as usize] {
                    edges.push(Edge { from: *exit, to: behind, kind: EdgeKind::Return(*inst) });
                }
            }
        }
        edges.sort_by_key(|edge| (edge.from, edge.to));
        edges.dedup();
        self.graph.edges = edges;
    }

    /// The nodes each function returns from.
    fn returns(&self) -> Vec<Vec<NodeId>> {
        let mut returns = vec![Vec::new(); self.program.functions.len()];
        for (node, content) in self.graph.nodes.iter_enumerated() {
            let Some(body) = &self.program.functions[content.function].body else { continue };
            let block = &body.blocks[content.block];
            if content.end == block.end && matches!(block.terminator, Terminator::Return(_)) {
                returns[content.function.0 as usize].push(node);
            }
        }
        returns
    }
}
