//! Dominator trees by the Semi-NCA algorithm, which stays near-linear on the shapes that
//! make iterative solutions quadratic (deep nests, computed gotos).

use crate::csr::Csr;

const NONE: u32 = u32::MAX;

/// A dominator (or post-dominator) tree over dense node numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DominatorTree {
    parent: Vec<u32>,
    /// Preorder interval of each node's subtree: `a` dominates `b` exactly when `b`
    /// enters within `a`'s interval.
    enter: Vec<u32>,
    leave: Vec<u32>,
    depth: Vec<u32>,
    /// Reached nodes, parents before children.
    preorder: Vec<u32>,
}

impl DominatorTree {
    /// The tree of the graph given by both directions of its edges.
    pub fn new(root: u32, successors: &Csr<u32>, predecessors: &Csr<u32>) -> Self {
        let n_nodes = successors.len();
        let search = Search::run(root, n_nodes, successors);
        let idoms = search.immediate_dominators(predecessors);
        let mut parent = vec![NONE; n_nodes];
        for (number, &node) in search.node_of.iter().enumerate().skip(1) {
            parent[node as usize] = search.node_of[idoms[number] as usize];
        }
        Self::from_parents(root, parent, &search.node_of)
    }

    /// `order` lists the reached nodes, each after its parent.
    fn from_parents(root: u32, parent: Vec<u32>, order: &[u32]) -> Self {
        let n_nodes = parent.len();
        let children = children(&parent, order);
        let mut tree = Self {
            parent,
            enter: vec![NONE; n_nodes],
            leave: vec![NONE; n_nodes],
            depth: vec![0; n_nodes],
            preorder: Vec::with_capacity(order.len()),
        };
        if order.is_empty() {
            return tree;
        }
        let mut clock = 0;
        let mut stack = vec![(root, 0usize)];
        while let Some((node, next_child)) = stack.pop() {
            let index = node as usize;
            if next_child == 0 {
                tree.enter[index] = clock;
                clock += 1;
                tree.preorder.push(node);
            }
            if let Some(&child) = children.row(index).get(next_child) {
                stack.push((node, next_child + 1));
                tree.depth[child as usize] = tree.depth[index] + 1;
                stack.push((child, 0));
            } else {
                tree.leave[index] = clock;
            }
        }
        tree
    }

    pub fn is_reached(&self, node: u32) -> bool {
        self.enter[node as usize] != NONE
    }

    /// The immediate dominator; none for the root and for nodes out of reach.
    pub fn parent(&self, node: u32) -> Option<u32> {
        let parent = self.parent[node as usize];
        (parent != NONE).then_some(parent)
    }

    /// Whether every path to `below` passes `above`; a node dominates itself.
    pub fn dominates(&self, above: u32, below: u32) -> bool {
        let at = self.enter[below as usize];
        at != NONE && self.enter[above as usize] <= at && at < self.leave[above as usize]
    }

    /// Steps from the root.
    pub fn depth(&self, node: u32) -> u32 {
        self.depth[node as usize]
    }

    /// Reached nodes, parents before children.
    pub fn preorder(&self) -> &[u32] {
        &self.preorder
    }

    /// The nodes each node dominates immediately.
    pub fn children(&self) -> Csr<u32> {
        children(&self.parent, &self.preorder)
    }

    /// The nearest common dominator of two reached nodes.
    pub fn meet(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            if self.depth(a) >= self.depth(b) {
                a = self.parent[a as usize];
            } else {
                b = self.parent[b as usize];
            }
        }
        a
    }
}

/// `order` starts with the root.
fn children(parent: &[u32], order: &[u32]) -> Csr<u32> {
    let below = order.iter().skip(1);
    let pairs: Vec<(u32, u32)> = below.map(|&node| (parent[node as usize], node)).collect();
    Csr::from_pairs(parent.len(), &pairs)
}

/// A depth-first search; nodes are renumbered in preorder.
struct Search {
    node_of: Vec<u32>,
    number_of: Vec<u32>,
    /// Of the search tree, in preorder numbers.
    parent: Vec<u32>,
}

impl Search {
    fn run(root: u32, n_nodes: usize, successors: &Csr<u32>) -> Self {
        let mut search = Self {
            node_of: Vec::with_capacity(n_nodes),
            number_of: vec![NONE; n_nodes],
            parent: Vec::with_capacity(n_nodes),
        };
        if n_nodes == 0 {
            return search;
        }
        let mut stack = vec![(root, 0u32)];
        while let Some((node, parent)) = stack.pop() {
            if search.number_of[node as usize] != NONE {
                continue;
            }
            let number = search.node_of.len() as u32;
            search.number_of[node as usize] = number;
            search.node_of.push(node);
            search.parent.push(parent);
            for &next in successors.row(node as usize).iter().rev() {
                if search.number_of[next as usize] == NONE {
                    stack.push((next, number));
                }
            }
        }
        search
    }

    /// Immediate dominators in preorder numbers.
    fn immediate_dominators(&self, predecessors: &Csr<u32>) -> Vec<u32> {
        let n = self.node_of.len();
        let mut semi: Vec<u32> = (0..n as u32).collect();
        let mut forest = Forest { ancestor: vec![NONE; n], label: semi.clone(), path: Vec::new() };
        for w in (1..n as u32).rev() {
            for &before in predecessors.row(self.node_of[w as usize] as usize) {
                let v = self.number_of[before as usize];
                if v != NONE {
                    let u = forest.eval(v, &semi);
                    semi[w as usize] = semi[w as usize].min(semi[u as usize]);
                }
            }
            forest.ancestor[w as usize] = self.parent[w as usize];
        }
        let mut idoms = self.parent.clone();
        for w in 1..n {
            let mut candidate = idoms[w];
            while candidate > semi[w] {
                candidate = idoms[candidate as usize];
            }
            idoms[w] = candidate;
        }
        idoms
    }
}

/// Link-eval with path compression.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The node of least semi-dominator on the linked path above `v`.
    fn eval(&mut self, v: u32, semi: &[u32]) -> u32 {
        if self.ancestor[v as usize] == NONE {
            return v;
        }
        let mut at = v;
        while self.ancestor[self.ancestor[at as usize] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at as usize];
        }
        let root = self.ancestor[at as usize];
        let mut best = self.label[at as usize];
        while let Some(below) = self.path.pop() {
            if semi[best as usize] < semi[self.label[below as usize] as usize] {
                self.label[below as usize] = best;
            }
            best = self.label[below as usize];
            self.ancestor[below as usize] = root;
        }
        self.label[v as usize]
    }
}
