//! Other orders of variables, to make a corruption fail that otherwise goes unseen.
//!
//! A crash needs something that addresses are computed from right behind a buffer that
//! overflows. With n buffers and m such variables, max(n, m) runs put each variable behind
//! each buffer once: in run k, variable i + k lies behind buffer i.

use llvm::suppress::Frame;
use run::suppressed::Layout;

/// The k-th order of a frame, for k below [`n_orders`]; the return address counts as a
/// variable to be put behind buffers. `None` where the frame has no buffer.
pub(crate) fn frame_order(id: u32, frame: &Frame, k: usize) -> Option<Layout> {
    let return_word = frame.variables.len();
    let buffers = indices(frame, |variable| variable.is_buffer);
    let targets = targets(frame);
    let pairs = pairs(buffers.len(), targets.len(), k);
    if pairs.is_empty() {
        return None;
    }
    let mut offsets = vec![0; return_word + 1];
    let mut placed = vec![false; return_word + 1];
    let mut end = 0u32;
    for (buffer, target) in pairs {
        let (buffer, target) = (buffers[buffer], targets[target]);
        let variable = &frame.variables[buffer];
        offsets[buffer] = end.next_multiple_of(variable.align.max(1));
        // At once, whatever its alignment.
        offsets[target] = offsets[buffer] + variable.size;
        end = offsets[target] + frame.variables.get(target).map_or(8, |v| v.size);
        (placed[buffer], placed[target]) = (true, true);
    }
    for index in 0..=return_word {
        if placed[index] {
            continue;
        }
        let (size, align) = frame.variables.get(index).map_or((8, 8), |v| (v.size, v.align.max(1)));
        offsets[index] = end.next_multiple_of(align);
        end = offsets[index] + size;
    }
    Some(Layout { frame: id, offsets })
}

/// How many orders a frame needs.
pub(crate) fn n_orders(frame: &Frame) -> usize {
    match indices(frame, |variable| variable.is_buffer).len() {
        0 => 0,
        n_buffers => n_buffers.max(targets(frame).len()),
    }
}

/// The order in words: each buffer with what lies behind it.
pub(crate) fn describe(frame: &Frame, layout: &Layout) -> String {
    let mut order: Vec<usize> = (0..layout.offsets.len()).collect();
    order.sort_by_key(|index| layout.offsets[*index]);
    let name = |index: &usize| match frame.variables.get(*index) {
        Some(variable) => variable.name.clone(),
        None => "the return address".to_string(),
    };
    let names: Vec<String> = order.iter().map(name).collect();
    format!("{}: {}", frame.function, names.join(", "))
}

fn indices(frame: &Frame, keep: impl Fn(&llvm::suppress::Variable) -> bool) -> Vec<usize> {
    (0..frame.variables.len()).filter(|index| keep(&frame.variables[*index])).collect()
}

/// The return address first: it is what overflows of the stack reach.
fn targets(frame: &Frame) -> Vec<usize> {
    let mut targets = vec![frame.variables.len()];
    targets.extend(indices(frame, |variable| variable.is_address && !variable.is_buffer));
    targets
}

/// Which target lies behind which buffer in run k. Each pair comes up once in max(n, m) runs.
pub(crate) fn pairs(n_buffers: usize, n_targets: usize, k: usize) -> Vec<(usize, usize)> {
    let runs = n_buffers.max(n_targets);
    (0..n_buffers)
        .filter_map(|buffer| {
            let target = (buffer + k) % runs;
            (target < n_targets).then_some((buffer, target))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_pair_comes_up_in_as_many_runs_as_the_larger_number() {
        for (n, m) in [(1, 1), (5, 5), (3, 7), (7, 3), (1, 4), (4, 1)] {
            let mut seen = BTreeSet::new();
            for k in 0..n.max(m) {
                let of_run = pairs(n, m, k);
                let targets: BTreeSet<usize> = of_run.iter().map(|(_, target)| *target).collect();
                assert_eq!(targets.len(), of_run.len(), "one variable lies in one place");
                seen.extend(of_run);
            }
            assert_eq!(seen.len(), n * m, "{n} buffers, {m} variables");
        }
    }

    #[test]
    fn nothing_overlaps_in_a_new_order() {
        let variable = |name: &str, size, align, is_buffer| llvm::suppress::Variable {
            name: name.to_string(),
            size,
            align,
            is_buffer,
            is_address: !is_buffer,
        };
        let variables = vec![
            variable("a", 4, 4, false),
            variable("b", 13, 1, true),
            variable("p", 8, 8, false),
            variable("c", 32, 16, true),
        ];
        let frame = Frame { function: "f".to_string(), variables };
        assert_eq!(n_orders(&frame), 3);
        for k in 0..3 {
            let layout = frame_order(0, &frame, k).expect("it has buffers");
            let mut ranges: Vec<(u32, u32)> = layout
                .offsets
                .iter()
                .enumerate()
                .map(|(i, at)| (*at, at + frame.variables.get(i).map_or(8, |v| v.size)))
                .collect();
            ranges.sort_unstable();
            assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{ranges:?}");
            // As much as the instrumentation leaves room for.
            assert!(ranges.last().is_some_and(|range| range.1 <= 64 + 32 + 16 * 4));
        }
    }
}
