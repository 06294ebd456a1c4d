//! Shapes of control flow, written as lists of successors, checked against definitions.

use program::{
    Block, BlockId, Body, ConstId, Inst, InstId, LocId, Op, Operand, Terminator, Ty, TypeId,
};

use super::Cfg;

/// A body whose block `i` branches to `edges[i]`; each block holds one instruction.
pub(crate) fn body(edges: &[Vec<u32>]) -> Body {
    let condition = Operand::Const(ConstId(0));
    let mut body = Body::default();
    for (at, targets) in edges.iter().enumerate() {
        let block = BlockId(at as u32);
        let inst = body.insts.push(Inst {
            op: Op::Fence,
            ty: Ty::Void,
            ctype: TypeId::UNKNOWN,
            loc: LocId::UNKNOWN,
            block,
        });
        let terminator = match targets[..] {
            [] => Terminator::Return(None),
            [target] => Terminator::Jump(BlockId(target)),
            [a, b] => Terminator::Branch { condition, then: BlockId(a), otherwise: BlockId(b) },
            [ref cases @ .., default] => Terminator::Switch {
                value: condition,
                cases: cases.iter().map(|&case| (ConstId(0), BlockId(case))).collect(),
                default: BlockId(default),
            },
        };
        body.blocks.push(Block {
            first: inst,
            end: InstId(inst.0 + 1),
            terminator,
            loc: LocId::UNKNOWN,
            predecessors: Vec::new(),
        });
    }
    body
}

fn cfg(edges: &[Vec<u32>]) -> Cfg {
    Cfg::new(&body(edges), |_| false)
}

fn blocks(ids: &[u32]) -> Vec<BlockId> {
    ids.iter().map(|&id| BlockId(id)).collect()
}

/// Blocks reached from `from` when `without` is taken away.
fn reach(edges: &[Vec<u32>], from: u32, without: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if Some(at) != without && !std::mem::replace(&mut seen[at as usize], true) {
            work.extend(&edges[at as usize]);
        }
    }
    seen
}

/// A fixed sequence that looks random.
fn noise(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

fn random_graph(seed: u64) -> Vec<Vec<u32>> {
    let mut next = noise(seed + 1);
    let n_blocks = 2 + next(12);
    (0..n_blocks)
        .map(|_| {
            let degree = next(4);
            (0..degree).map(|_| next(n_blocks) as u32).collect()
        })
        .collect()
}

#[test]
fn dominance_agrees_with_its_definition_on_random_graphs() {
    for seed in 0..400 {
        let edges = random_graph(seed);
        let cfg = cfg(&edges);
        let reached = reach(&edges, 0, None);
        for above in 0..edges.len() as u32 {
            let without = reach(&edges, 0, Some(above));
            for below in 0..edges.len() as u32 {
                let expected = reached[below as usize] && !without[below as usize];
                let got = cfg.dominates(BlockId(above), BlockId(below));
                assert_eq!(got, expected, "seed {seed}: {above} over {below} in {edges:?}");
            }
        }
    }
}

#[test]
fn post_dominance_agrees_with_its_definition_where_all_paths_end() {
    for seed in 0..400 {
        let edges = random_graph(seed);
        let reached = reach(&edges, 0, None);
        let ends: Vec<u32> =
            (0..edges.len() as u32).filter(|&at| edges[at as usize].is_empty()).collect();
        let reaches_end = |from: u32, without: Option<u32>| {
            let seen = reach(&edges, from, without);
            ends.iter().any(|&end| seen[end as usize])
        };
        if (0..edges.len() as u32).any(|at| reached[at as usize] && !reaches_end(at, None)) {
            continue;
        }
        let cfg = cfg(&edges);
        for before in (0..edges.len() as u32).filter(|&at| reached[at as usize]) {
            for after in (0..edges.len() as u32).filter(|&at| reached[at as usize]) {
                let expected = before == after || !reaches_end(before, Some(after));
                let got = cfg.post_dominates(BlockId(after), BlockId(before));
                assert_eq!(got, expected, "seed {seed}: {after} after {before} in {edges:?}");
            }
        }
    }
}

#[test]
fn frontiers_agree_with_their_definition_on_random_graphs() {
    for seed in 0..400 {
        let edges = random_graph(seed);
        let cfg = cfg(&edges);
        let ids: Vec<BlockId> = (0..edges.len() as u32).map(BlockId).collect();
        for &block in ids.iter().filter(|&&block| cfg.is_reachable(block)) {
            let expected: Vec<BlockId> = ids
                .iter()
                .copied()
                .filter(|&join| {
                    let strictly = join != block && cfg.dominates(block, join);
                    let mut before = cfg.predecessors(join).iter();
                    !strictly && before.any(|&from| cfg.dominates(block, from))
                })
                .collect();
            assert_eq!(*cfg.frontier(block), expected, "seed {seed}: {block:?} in {edges:?}");
        }
    }
}

#[test]
fn nested_loops_have_depths_exits_and_latches() {
    // 0 -> outer 1 -> inner 2 <-> 3, inner leaves to 4, which jumps back to 1 or out to 5.
    let cfg = cfg(&[vec![1], vec![2], vec![3, 4], vec![2], vec![1, 5], vec![]]);
    let nest = &cfg.loops;
    assert_eq!(nest.loops.len(), 2);
    let inner = nest.headed_by(BlockId(2)).unwrap();
    let outer = nest.headed_by(BlockId(1)).unwrap();
    assert_eq!(nest.loops[inner].parent, Some(outer));
    assert_eq!((nest.loops[inner].depth, nest.loops[outer].depth), (2, 1));
    assert_eq!(nest.loops[inner].latches, blocks(&[3]));
    assert_eq!(nest.loops[inner].exits, [(BlockId(2), BlockId(4))]);
    assert_eq!(nest.loops[outer].exits, [(BlockId(4), BlockId(5))]);
    assert_eq!(nest.blocks(outer), blocks(&[1, 2, 3, 4]));
    assert!(nest.contains(outer, BlockId(3)) && !nest.contains(inner, BlockId(4)));
    assert!(nest.irreducible().is_empty());
}

#[test]
fn a_cycle_with_two_entries_is_flagged_and_no_loop() {
    let cfg = cfg(&[vec![1, 2], vec![2], vec![1, 3], vec![]]);
    assert!(cfg.loops.loops.is_empty());
    assert_eq!(cfg.loops.irreducible(), blocks(&[1, 2]));
}

#[test]
fn control_dependence_names_the_branch_and_the_side() {
    // if (c) 1 else 2; join 3.
    let cfg = cfg(&[vec![1, 2], vec![3], vec![3], vec![]]);
    let edge = |target| super::ControlEdge { branch: BlockId(0), target: BlockId(target) };
    assert_eq!(*cfg.controls(BlockId(1)), [edge(1)]);
    assert_eq!(*cfg.controls(BlockId(2)), [edge(2)]);
    assert!(cfg.controls(BlockId(3)).is_empty());
    assert_eq!(cfg.immediate_post_dominator(BlockId(0)), Some(BlockId(3)));
}

#[test]
fn code_after_a_guard_that_never_returns_depends_on_the_guard() {
    // if (!p) die(); use(p): block 1 dies, so 2 runs only because the branch chose it.
    let body = body(&[vec![1, 2], vec![2], vec![]]);
    let cfg = Cfg::new(&body, |inst| inst == InstId(1));
    assert_eq!(cfg.stop(BlockId(1)), Some(InstId(1)));
    assert!(cfg.successors(BlockId(1)).is_empty());
    assert_eq!(cfg.predecessors(BlockId(2)), blocks(&[0]));
    assert!(cfg.dominates(BlockId(0), BlockId(2)));
    assert_eq!(cfg.controls(BlockId(2)).len(), 1);
}

#[test]
fn endless_loops_still_have_post_dominators() {
    let cfg = cfg(&[vec![1], vec![2], vec![1]]);
    assert!(cfg.returns().is_empty());
    assert_eq!(cfg.immediate_post_dominator(BlockId(0)), Some(BlockId(1)));
    assert_eq!(cfg.immediate_post_dominator(BlockId(1)), Some(BlockId(2)));
}

/// The relations that hostile shapes keep from being stored are the same when worked out.
#[test]
fn stored_and_computed_relations_agree() {
    for seed in 0..400 {
        let stored = cfg(&random_graph(seed));
        let mut computed = stored.clone();
        (computed.frontiers, computed.controls) = (None, None);
        for &block in stored.order() {
            assert_eq!(stored.frontier(block), computed.frontier(block), "seed {seed}");
            assert_eq!(stored.merge_points(&[block]), computed.merge_points(&[block]));
            let sorted = |cfg: &Cfg| {
                let mut edges = cfg.controls(block).into_owned();
                edges.sort_unstable();
                edges
            };
            assert_eq!(sorted(&stored), sorted(&computed), "seed {seed}: {block:?}");
        }
    }
}

#[test]
fn large_and_hostile_shapes_finish() {
    let n = 10_000u32;
    let chain: Vec<Vec<u32>> = (0..n).map(|at| vec![(at + 1).min(n), n]).collect();
    let ladder: Vec<Vec<u32>> = (0..n).map(|at| vec![at + 1, at / 2]).collect();
    let mut switch = vec![(1..=n).collect::<Vec<u32>>()];
    switch.extend((1..=n).map(|_| vec![0, n + 1]));
    for mut edges in [chain, ladder, switch] {
        edges.push(vec![]);
        let cfg = cfg(&edges);
        assert_eq!(cfg.order().len(), edges.len());
        let merges = cfg.merge_points(&[BlockId(3)]);
        assert!(merges.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

#[test]
fn targets_that_do_not_exist_and_empty_bodies_are_survived() {
    let broken = cfg(&[vec![1, 99], vec![]]);
    assert_eq!(broken.successors(BlockId(0)), blocks(&[1]));
    assert!(cfg(&[]).order().is_empty());
}
