//! Solves the constraints: members travel along edges in topological order, only new ones
//! are passed on, and cycles are merged before each round.

use super::calls::Calls;
use super::graph::{Complex, Graph, Location, NO_POINTER, Node, Place};
use crate::set::SparseSet;

/// A pointer to more places than this says nothing worth its cost.
const WIDE: usize = 256;

/// Runs until nothing changes.
pub(super) fn solve(graph: &mut Graph, calls: &mut Calls) {
    apply_pending(graph, calls);
    while !graph.dirty.is_empty() {
        let order = merge_cycles(graph);
        widen(graph, &order);
        for node in order {
            if graph.parent[node as usize] != node || graph.fresh[node as usize].is_empty() {
                continue;
            }
            let fresh = std::mem::take(&mut graph.fresh[node as usize]);
            apply_all(graph, calls, node, &fresh);
            let edges = std::mem::take(&mut graph.edges[node as usize]);
            for to in edges.iter() {
                let target = graph.find(to);
                if target != node {
                    graph.add_members(target, &fresh);
                }
            }
            graph.edges[node as usize] = edges;
            apply_pending(graph, calls);
        }
    }
}

/// Lets new constraints see what their nodes held before.
fn apply_pending(graph: &mut Graph, calls: &mut Calls) {
    while let Some((node, constraint)) = graph.pending.pop() {
        let node = graph.find(node);
        let known = graph.points_to[node as usize].clone();
        apply(graph, calls, constraint, &known);
    }
}

/// Applies the constraints of a node to its new members.
fn apply_all(graph: &mut Graph, calls: &mut Calls, node: Node, fresh: &SparseSet) {
    if graph.complex[node as usize].is_empty() {
        return;
    }
    let mut constraints = std::mem::take(&mut graph.complex[node as usize]);
    for &constraint in &constraints {
        apply(graph, calls, constraint, fresh);
    }
    // An edge has taken its place.
    constraints.retain(|constraint| !matches!(constraint, Complex::CopyPart { .. }));
    let added = std::mem::replace(&mut graph.complex[node as usize], constraints);
    graph.complex[node as usize].extend(added);
}

fn apply(graph: &mut Graph, calls: &mut Calls, constraint: Complex, fresh: &SparseSet) {
    match constraint {
        Complex::Load(to, pointee) => {
            for location in fresh.iter() {
                // Of bytes from outside, only the type says where their pointers lead.
                if pointee != NO_POINTER && graph.is_untyped_outside(location) {
                    let pool = graph.pool(pointee);
                    graph.add_edge(pool, to);
                }
                if location != 0 {
                    graph.add_edge(graph.places[location as usize].read, to);
                }
            }
        }
        Complex::Store(from) => {
            for location in fresh.iter() {
                if location == 0 {
                    graph.add_complex(from, Complex::Escape);
                    continue;
                }
                let write = graph.places[location as usize].write;
                graph.add_edge(from, write);
            }
        }
        Complex::Shift(shift, to) => graph.add_shifted(fresh, shift, to),
        Complex::Within(to) => {
            let mut within = SparseSet::new();
            for location in fresh.iter() {
                let object = graph.places[location as usize].object;
                within.insert(graph.anywhere(object));
            }
            graph.add_members(to, &within);
        }
        Complex::Renamed(to) => {
            let is_kept = |location: &u32| {
                let object = graph.places[*location as usize].object;
                !graph.objects[object.0 as usize].is_renamed
            };
            let kept: SparseSet = fresh.iter().filter(is_kept).collect();
            graph.add_members(to, &kept);
        }
        Complex::Call(site) => {
            for location in fresh.iter() {
                calls.resolve(graph, site, location);
            }
        }
        Complex::CopyFrom(copy) => {
            for location in fresh.iter() {
                copy_from(graph, copy, location);
            }
        }
        Complex::CopyTo(copy) => {
            for location in fresh.iter() {
                graph.copy_to(copy, location);
            }
        }
        Complex::CopyPart { copy, start, location } => graph.copy_part(copy, start, location),
        Complex::Escape => {
            for location in fresh.iter() {
                let object = graph.places[location as usize].object;
                graph.escape(object);
            }
            for function in std::mem::take(&mut graph.escaped_functions) {
                calls.enter_from_outside(graph, function);
            }
        }
    }
}

fn copy_from(graph: &mut Graph, copy: u32, location: Location) {
    let Place { object, offset, .. } = graph.places[location as usize];
    let cells = &mut graph.objects[object.0 as usize];
    if cells.copied_by.contains(&(copy, offset)) {
        return;
    }
    cells.copied_by.push((copy, offset));
    let sources: Vec<Location> = cells.at.iter().map(|(_, at)| *at).chain(cells.anywhere).collect();
    for source in sources {
        graph.copy_part(copy, offset, source);
    }
}

/// Merges the cycles reachable from dirty nodes; returns the reachable nodes in
/// topological order.
fn merge_cycles(graph: &mut Graph) -> Vec<Node> {
    let dirty = std::mem::take(&mut graph.dirty);
    let mut search = Search {
        number: vec![0; graph.parent.len()],
        clock: 0,
        open: Vec::new(),
        order: Vec::new(),
    };
    for node in dirty {
        let root = graph.find(node);
        if search.number[root as usize] == 0 && !graph.fresh[root as usize].is_empty() {
            search.run(graph, root);
        }
    }
    search.order.reverse();
    search.order
}

const CLOSED: u32 = u32::MAX;

/// Tarjan's search (in Pearce's form), merging components as they close.
struct Search {
    /// 0 for nodes not seen; else a number or `CLOSED`.
    number: Vec<u32>,
    clock: u32,
    open: Vec<Node>,
    order: Vec<Node>,
}

struct Visit {
    node: Node,
    targets: Vec<Node>,
    next: usize,
    first_seen: u32,
}

impl Search {
    fn run(&mut self, graph: &mut Graph, root: Node) {
        let mut stack = vec![self.open_node(graph, root)];
        while let Some(visit) = stack.last_mut() {
            let Some(&raw) = visit.targets.get(visit.next) else {
                let visit = stack.pop().expect("the visit just looked at");
                let low = self.number[visit.node as usize];
                if low == visit.first_seen {
                    self.close(graph, visit.node);
                } else {
                    self.open.push(visit.node);
                }
                if let Some(above) = stack.last() {
                    let low = self.number[visit.node as usize];
                    let number = &mut self.number[above.node as usize];
                    *number = (*number).min(low);
                }
                continue;
            };
            visit.next += 1;
            let (node, target) = (visit.node, graph.find(raw));
            match self.number[target as usize] {
                0 => {
                    let visit = self.open_node(graph, target);
                    stack.push(visit);
                }
                seen => {
                    let number = &mut self.number[node as usize];
                    *number = (*number).min(seen);
                }
            }
        }
    }

    fn open_node(&mut self, graph: &Graph, node: Node) -> Visit {
        self.clock += 1;
        self.number[node as usize] = self.clock;
        let targets = graph.edges[node as usize].iter().collect();
        Visit { node, targets, next: 0, first_seen: self.clock }
    }

    /// `root` is the first node of its component; the others lie on top of `open`.
    fn close(&mut self, graph: &mut Graph, root: Node) {
        let first = self.number[root as usize];
        while let Some(&member) = self.open.last() {
            if self.number[member as usize] < first || self.number[member as usize] == CLOSED {
                break;
            }
            self.open.pop();
            self.number[member as usize] = CLOSED;
            merge(graph, root, member);
        }
        self.number[root as usize] = CLOSED;
        self.order.push(root);
    }
}

/// Makes `member` stand for the same node as `root`.
fn merge(graph: &mut Graph, root: Node, member: Node) {
    graph.parent[member as usize] = root;
    let edges = std::mem::take(&mut graph.edges[member as usize]);
    let complex = std::mem::take(&mut graph.complex[member as usize]);
    let members = std::mem::take(&mut graph.points_to[member as usize]);
    // Each side's constraints and edges have yet to see what only the other side held.
    let mut unseen = members.clone();
    unseen.subtract(&graph.points_to[root as usize]);
    unseen.union(&std::mem::take(&mut graph.fresh[member as usize]));
    if !edges.is_empty() || !complex.is_empty() {
        let mut unseen_by_member = graph.points_to[root as usize].clone();
        unseen_by_member.subtract(&members);
        unseen.union(&unseen_by_member);
    }
    graph.is_wide[root as usize] |= graph.is_wide[member as usize];
    graph.points_to[root as usize].union(&members);
    graph.fresh[root as usize].union(&unseen);
    graph.edges[root as usize].union(&edges);
    for constraint in complex {
        if graph.constrained.insert((root, constraint)) {
            graph.complex[root as usize].push(constraint);
        }
    }
}

/// Widens the nodes whose sets have grown too large, or that were merged with a wide one.
fn widen(graph: &mut Graph, order: &[Node]) {
    for &node in order {
        let size = graph.points_to[node as usize].len();
        if size > WIDE || (size > 1 && graph.is_wide[node as usize]) {
            graph.widen(node);
        }
    }
}
