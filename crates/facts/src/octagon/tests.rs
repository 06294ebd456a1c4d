//! The domain against its points.

use super::{Linear, Octagon};

/// A small generator: tests repeat.
fn next(state: &mut u64) -> i64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*state >> 33) % 9) as i64 - 4
}

fn holds(a: Linear, b: Linear, point: &[i64]) -> bool {
    let value = |l: Linear| l.variable.map_or(0, |v| point[v]) + l.constant;
    value(a) <= value(b)
}

fn random(state: &mut u64) -> Linear {
    match next(state).rem_euclid(3) {
        0 => Linear::constant(next(state)),
        n => Linear { variable: Some(n as usize - 1), constant: next(state) },
    }
}

fn points() -> Vec<[i64; 2]> {
    (-8..=8).flat_map(|x| (-8..=8).map(move |y| [x, y])).collect()
}

/// Whether an octagon has a point, asked by fixing it.
fn has(octagon: &Octagon, point: &[i64]) -> bool {
    let mut fixed = octagon.clone();
    for (variable, value) in point.iter().enumerate() {
        fixed.assume_eq(Linear::variable(variable), Linear::constant(*value));
    }
    !fixed.is_empty()
}

#[test]
fn an_octagon_has_exactly_the_points_of_its_constraints() {
    let mut state = 1;
    for _ in 0..60 {
        let constraints: Vec<_> =
            (0..4).map(|_| (random(&mut state), random(&mut state))).collect();
        let mut octagon = Octagon::all(2);
        constraints.iter().for_each(|(a, b)| octagon.assume_le(*a, *b));
        for point in points() {
            let expected = constraints.iter().all(|(a, b)| holds(*a, *b, &point));
            assert_eq!(has(&octagon, &point), expected, "{constraints:?} at {point:?}");
        }
    }
}

#[test]
fn joins_and_widenings_lose_no_point() {
    let mut state = 7;
    for _ in 0..40 {
        let mut both = Vec::new();
        for _ in 0..2 {
            let mut octagon = Octagon::all(2);
            (0..3).for_each(|_| octagon.assume_le(random(&mut state), random(&mut state)));
            both.push(octagon);
        }
        let (joined, met) = (both[0].join(&both[1]), both[0].meet(&both[1]));
        let widened = both[0].widen(&joined);
        for point in points() {
            let (a, b) = (has(&both[0], &point), has(&both[1], &point));
            assert!(!(a || b) || has(&joined, &point) && has(&widened, &point));
            assert_eq!(a && b, has(&met, &point));
        }
    }
}

#[test]
fn assignments_go_both_ways() {
    let mut octagon = Octagon::all(2);
    octagon.assume_le(Linear::constant(1), Linear::variable(0));
    octagon.assume_le(Linear::variable(0), Linear::constant(3));
    // x, y = y, x + 2
    let swap = [(0, Some(Linear::variable(1))), (1, Some(Linear::variable(0).plus(2)))];
    let after = octagon.assign(&swap);
    assert_eq!(after.range(1), (Some(3), Some(5)));
    assert_eq!(after.range(0), (None, None));
    assert_eq!(after.before_assign(&swap).range(0), (Some(1), Some(3)));
}

/// The paper's Fig 6: `e := 4; e := e - 2; e := e - 1; j := j + 1; assert(e <= 2)`.
#[test]
fn fig_6_projections_and_relevant_edges() {
    let (e, j) = (Linear::variable(0), Linear::variable(1));
    let updates = [
        vec![(0, Some(Linear::constant(4)))],
        vec![(0, Some(e.plus(-2)))],
        vec![(0, Some(e.plus(-1)))],
        vec![(1, Some(j.plus(1)))],
    ];
    let mut reached = vec![Octagon::all(2)];
    for update in &updates {
        reached.push(reached[reached.len() - 1].assign(update));
    }
    let backwards = |last: Octagon| {
        let mut states = vec![last];
        for update in updates.iter().rev() {
            states.insert(0, states[0].before_assign(update));
        }
        states
    };
    let (mut safe, mut error) = (Octagon::all(2), Octagon::all(2));
    safe.assume_le(e, Linear::constant(2));
    error.assume_le(Linear::constant(3), e);
    let (safe, error) = (backwards(safe), backwards(error));
    let values: Vec<_> = reached[1..].iter().map(|state| state.range(0)).collect();
    assert_eq!(values, [4, 2, 1, 1].map(|value| (Some(value), Some(value))));
    let highest: Vec<_> = safe[1..].iter().map(|state| state.range(0).1).collect();
    assert_eq!(highest, [Some(5), Some(3), Some(2), Some(2)]);
    let lowest: Vec<_> = error[1..].iter().map(|state| state.range(0).0).collect();
    assert_eq!(lowest, [Some(6), Some(4), Some(3), Some(3)]);
    assert_eq!((safe[0].range(0), error[0].is_empty()), ((None, None), true));
    let is_relevant = |to: usize| {
        reached[to].meet(&error[to]).is_empty() && !reached[to - 1].meet(&error[to]).is_empty()
    };
    let relevant: Vec<usize> = (1..=4).filter(|to| is_relevant(*to)).collect();
    assert_eq!(relevant, [1, 2]);
}
