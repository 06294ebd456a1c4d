//! Dominators and dominance frontiers of a body (Cooper, Harvey and Kennedy).

const NONE: u32 = u32::MAX;

pub struct Dominators {
    /// The blocks each block dominates immediately.
    pub children: Vec<Vec<u32>>,
    pub frontiers: Vec<Vec<u32>>,
}

impl Dominators {
    /// `None` where some block cannot be reached from block 0.
    pub fn compute(successors: &[Vec<u32>], predecessors: &[Vec<u32>]) -> Option<Self> {
        let order = reverse_postorder(successors);
        if order.len() != successors.len() {
            return None;
        }
        let parents = immediate_dominators(&order, predecessors);
        let mut children = vec![Vec::new(); order.len()];
        for &block in order.iter().skip(1) {
            children[parents[block as usize] as usize].push(block);
        }
        let frontiers = frontiers(&parents, predecessors);
        Some(Self { children, frontiers })
    }
}

fn reverse_postorder(successors: &[Vec<u32>]) -> Vec<u32> {
    let mut is_seen = vec![false; successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    let mut stack = vec![(0u32, 0usize)];
    is_seen[0] = true;
    while let Some((block, next)) = stack.pop() {
        match successors[block as usize].get(next) {
            Some(&successor) => {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut is_seen[successor as usize], true) {
                    stack.push((successor, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// The parent of each block in the dominator tree; the entry is its own.
fn immediate_dominators(order: &[u32], predecessors: &[Vec<u32>]) -> Vec<u32> {
    let mut position = vec![0u32; order.len()];
    for (index, &block) in order.iter().enumerate() {
        position[block as usize] = index as u32;
    }
    let mut parents = vec![NONE; order.len()];
    parents[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let known =
                predecessors[block as usize].iter().filter(|p| parents[**p as usize] != NONE);
            let parent = known.copied().reduce(|a, b| common(a, b, &parents, &position));
            let Some(parent) = parent else { continue };
            if parents[block as usize] != parent {
                parents[block as usize] = parent;
                changed = true;
            }
        }
    }
    parents
}

fn common(mut a: u32, mut b: u32, parents: &[u32], position: &[u32]) -> u32 {
    while a != b {
        while position[a as usize] > position[b as usize] {
            a = parents[a as usize];
        }
        while position[b as usize] > position[a as usize] {
            b = parents[b as usize];
        }
    }
    a
}

fn frontiers(parents: &[u32], predecessors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut frontiers: Vec<Vec<u32>> = vec![Vec::new(); parents.len()];
    for (block, sources) in predecessors.iter().enumerate() {
        // The entry has an edge of its own from outside.
        if sources.len() < 2 && block != 0 {
            continue;
        }
        for &source in sources {
            let mut runner = source;
            while runner != parents[block] || (block == 0 && runner == 0) {
                let frontier = &mut frontiers[runner as usize];
                if frontier.last() == Some(&(block as u32)) {
                    break;
                }
                frontier.push(block as u32);
                if runner == 0 {
                    break;
                }
                runner = parents[runner as usize];
            }
        }
    }
    frontiers
}
