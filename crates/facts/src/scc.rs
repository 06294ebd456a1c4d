//! Strongly connected components (Tarjan), without recursion: inputs nest deeper than
//! stacks reach.

const UNSEEN: u32 = u32::MAX;
const DONE: u32 = u32::MAX - 1;

/// The components of the graph over `0..n_nodes`, each before those that lead to it
/// (callees before callers). Members keep the order they were found in.
pub fn components(n_nodes: usize, successors: impl Fn(u32) -> Vec<u32>) -> Vec<Vec<u32>> {
    let mut low = vec![UNSEEN; n_nodes];
    let mut number = vec![UNSEEN; n_nodes];
    let mut open: Vec<u32> = Vec::new();
    let mut found = Vec::new();
    let mut clock = 0;
    for root in 0..n_nodes as u32 {
        if number[root as usize] != UNSEEN {
            continue;
        }
        let mut stack = vec![(root, Vec::new().into_iter(), true)];
        while let Some((node, mut rest, is_new)) = stack.pop() {
            let at = node as usize;
            if is_new {
                number[at] = clock;
                low[at] = clock;
                clock += 1;
                open.push(node);
                rest = successors(node).into_iter();
            }
            match rest.next() {
                Some(next) => {
                    let is_unseen = number[next as usize] == UNSEEN;
                    if !is_unseen && number[next as usize] != DONE {
                        low[at] = low[at].min(number[next as usize]);
                    }
                    stack.push((node, rest, false));
                    if is_unseen {
                        stack.push((next, Vec::new().into_iter(), true));
                    }
                }
                None => {
                    if low[at] == number[at] {
                        found.push(close(node, &mut open, &mut number));
                    }
                    if let Some((parent, ..)) = stack.last() {
                        let parent = *parent as usize;
                        low[parent] = low[parent].min(low[at]);
                    }
                }
            }
        }
    }
    found
}

/// Takes the component of `root` off the open nodes.
fn close(root: u32, open: &mut Vec<u32>, number: &mut [u32]) -> Vec<u32> {
    let start = open.iter().rposition(|&node| node == root).unwrap_or(0);
    let members = open.split_off(start);
    for &member in &members {
        number[member as usize] = DONE;
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_before_callers_and_cycles_are_one_component() {
        let edges = [vec![1], vec![2], vec![1, 3], vec![], vec![0]];
        let found = components(5, |node| edges[node as usize].clone());
        assert_eq!(found, vec![vec![3], vec![1, 2], vec![0], vec![4]]);
    }
}
