//! How far runs of a search went: to which blocks, and how often.

use program::{BlockId, FunctionId};
use rustc_hash::FxHashMap;

pub type Counts = FxHashMap<(FunctionId, BlockId), u32>;

/// From here on a loop that is run once more is nothing new, but one that is run a third more
/// often is.
const OFTEN: u32 = 24;
/// Runs that came to a block as often as any before, and are followed first, too.
const MAX_AS_FAR: u32 = 12;

/// How far a run went, compared with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    LessFar,
    /// It may take more than one decision to get further, of which one alone shows nothing new.
    AsFar,
    /// To a block for the first time, or more often.
    Further,
}

/// How often a run came to each block at most, and how many others came as often.
type Most = FxHashMap<(FunctionId, BlockId), (u32, u32)>;

#[derive(Default)]
pub struct Frontier {
    most: Most,
    /// What is done for each of many lines is nothing new with the next.
    most_in_one_call: Most,
}

impl Frontier {
    /// Whether a run that came to blocks so often went further than all before.
    pub fn is_further(&self, counts: &Counts, in_one_call: &Counts) -> bool {
        let exceeds = |most: &Most, counts: &Counts| {
            let most = |block| most.get(block).map_or(0, |(most, _)| *most);
            counts.iter().any(|(block, count)| is_more(*count, most(block)))
        };
        exceeds(&self.most, counts) || exceeds(&self.most_in_one_call, in_one_call)
    }

    /// How far a run went that came to blocks so often, in all and in one call.
    pub fn reached(&mut self, counts: &Counts, in_one_call: &Counts) -> Reached {
        reached(&mut self.most, counts).max(reached(&mut self.most_in_one_call, in_one_call))
    }
}

fn is_more(count: u32, most: u32) -> bool {
    count > most && (most < OFTEN || count > most + most / 3)
}

fn reached(most: &mut Most, counts: &Counts) -> Reached {
    let mut reached = Reached::LessFar;
    for (block, &count) in counts {
        let (most, n_others) = most.entry(*block).or_default();
        if is_more(count, *most) {
            (*most, *n_others) = (count, 0);
            reached = Reached::Further;
        } else if count >= *most && *n_others < MAX_AS_FAR {
            *n_others += 1;
            reached = reached.max(Reached::AsFar);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(n: u32) -> Counts {
        [((FunctionId(0), BlockId(1)), n)].into_iter().collect()
    }

    #[test]
    fn a_loop_run_once_more_is_further_until_that_is_often() {
        let mut frontier = Frontier::default();
        let none = Counts::default();
        assert_eq!(frontier.reached(&counts(3), &none), Reached::Further);
        assert_eq!(frontier.reached(&counts(4), &none), Reached::Further);
        assert_eq!(frontier.reached(&counts(3), &none), Reached::LessFar);
        assert_eq!(frontier.reached(&counts(30), &none), Reached::Further);
        assert_eq!(frontier.reached(&counts(31), &none), Reached::AsFar);
        assert_eq!(frontier.reached(&counts(41), &none), Reached::Further);
    }

    #[test]
    fn one_call_counts_beside_all_calls() {
        let mut frontier = Frontier::default();
        assert_eq!(frontier.reached(&counts(20), &counts(2)), Reached::Further);
        assert_eq!(frontier.reached(&counts(5), &counts(3)), Reached::Further);
    }

    #[test]
    fn a_few_runs_that_come_as_far_are_followed() {
        let mut frontier = Frontier::default();
        let none = Counts::default();
        frontier.reached(&counts(3), &none);
        let again: Vec<Reached> = (0..20).map(|_| frontier.reached(&counts(3), &none)).collect();
        assert_eq!(again.iter().filter(|r| **r == Reached::AsFar).count(), 12);
    }
}
