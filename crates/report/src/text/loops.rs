//! Paths through loops, without most of what only happens again.

use std::collections::BTreeSet;
use std::ops::Range;

use findings::{Place, Step};

/// Iterations shown of a long loop, at its beginning and at its end.
const SHOWN: usize = 2;

/// So many iterations that are left out make a line shorter than what it stands for.
const LEAST_LEFT_OUT: usize = 2;

/// What is shown of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The step of this index.
    Step(usize),
    /// So many iterations of a loop, from its first line to its last.
    More { n: usize, first: u32, last: u32 },
}

/// The pieces of a path. An iteration is what happens from one time at a place to the next.
pub fn pieces(steps: &[Step]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    fold(steps, 0..steps.len(), &mut pieces);
    pieces
}

fn fold(steps: &[Step], range: Range<usize>, pieces: &mut Vec<Piece>) {
    let mut passed: BTreeSet<(&Place, u32)> = BTreeSet::new();
    let mut at = range.start;
    while at < range.end {
        let head = key(&steps[at]);
        // A loop ends where the run returns, or comes back to what was before the loop.
        let is_behind = |step: &Step| step.depth < steps[at].depth || passed.contains(&key(step));
        let behind = steps[at + 1..range.end].iter().position(is_behind);
        let end = behind.map_or(range.end, |behind| at + 1 + behind);
        let mut starts: Vec<usize> =
            (at..end).filter(|index| key(&steps[*index]) == head).collect();
        let Some(n) = starts.len().checked_sub(2 * SHOWN).filter(|n| *n >= LEAST_LEFT_OUT) else {
            pieces.push(Piece::Step(at));
            passed.insert(head);
            at += 1;
            continue;
        };
        starts.push(end);
        let iteration = |index: usize| starts[index]..starts[index + 1];
        (0..SHOWN).for_each(|index| fold(steps, iteration(index), pieces));
        let left_out = &steps[starts[SHOWN]..starts[SHOWN + n]];
        let here = left_out.iter().filter(|step| is_beside(step, &steps[at]));
        let lines: BTreeSet<u32> = here.map(|step| step.place.line).collect();
        let line = steps[at].place.line;
        let (first, last) = (lines.first().unwrap_or(&line), lines.last().unwrap_or(&line));
        pieces.push(Piece::More { n, first: *first, last: *last });
        (SHOWN + n..2 * SHOWN + n).for_each(|index| fold(steps, iteration(index), pieces));
        at = end;
    }
}

fn key(step: &Step) -> (&Place, u32) {
    (&step.place, step.depth)
}

fn is_beside(step: &Step, head: &Step) -> bool {
    step.depth == head.depth && step.place.file == head.place.file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path through these lines, all in one function.
    fn path(lines: &[u32]) -> Vec<Step> {
        let step = |line: &u32| Step {
            place: Place { file: "a.c".to_owned(), line: *line, ..Place::default() },
            note: String::new(),
            impact: false,
            depth: 0,
        };
        lines.iter().map(step).collect()
    }

    fn shown(lines: &[u32]) -> Vec<String> {
        let steps = path(lines);
        let told = |piece: Piece| match piece {
            Piece::Step(index) => steps[index].place.line.to_string(),
            Piece::More { n, first, last } => format!("{n}*{first}-{last}"),
        };
        pieces(&steps).into_iter().map(told).collect()
    }

    #[test]
    fn the_first_and_the_last_iterations_of_a_loop_are_shown() {
        let short = [1, 2, 3, 2, 3, 2, 3, 2, 3, 2, 9];
        assert_eq!(shown(&short).len(), short.len());
        let long = [&[1][..], &[2, 3].repeat(7), &[9]].concat();
        let expected = ["1", "2", "3", "2", "3", "3*2-3", "2", "3", "2", "3", "9"];
        assert_eq!(shown(&long), expected);
    }

    #[test]
    fn loops_inside_of_others_are_folded_by_themselves() {
        let inner = [2, 3].repeat(8);
        let outer = [&[1][..], &inner, &[4]].concat();
        let two = shown(&outer.repeat(2));
        assert_eq!(two.iter().filter(|text| *text == "4*2-3").count(), 2, "{two:?}");
        assert_eq!(two.iter().filter(|text| *text == "4").count(), 2, "{two:?}");
        let many = shown(&outer.repeat(9));
        assert_eq!(many.iter().filter(|text| *text == "5*1-4").count(), 1, "{many:?}");
        assert_eq!(many.iter().filter(|text| *text == "4*2-3").count(), 4, "{many:?}");
    }
}
