//! Inputs that are worth varying: for each feature a run ever showed, the cheapest input that
//! shows it, and how often it was shown.

use std::collections::BTreeMap;
use std::rc::Rc;

use interpret::{Features, Input, Inputs, Stream};
use rustc_hash::FxHashSet;

use crate::numbers::Numbers;

/// Inputs that were added last, and are varied more often.
const N_RECENT: usize = 16;
/// Features of which the rarest is taken.
const N_TRIED: usize = 6;
/// Entries that are joined each with each.
const MAX_JOINED: usize = 48;
const NONE: u32 = u32::MAX;

/// An input, and what a run of it cost.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub inputs: Rc<Inputs>,
    pub steps: u64,
    /// The texts its run came to.
    pub streams: Vec<Stream>,
    /// The calls of its run that could have failed.
    pub failures: Vec<Input>,
    /// It was run with words beside its values.
    pub was_followed: bool,
    /// It was run with room for its numbers.
    pub had_room: bool,
    /// It showed features for the first time, not only known ones more often.
    pub is_first: bool,
}

impl Entry {
    /// What it takes to run it, and what it takes to read about it.
    fn cost(&self) -> u64 {
        self.steps + 20 * self.inputs.0.len() as u64
    }
}

/// What a run showed that none before it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Novelty {
    /// Features.
    pub first: u32,
    /// Features that were known and met more or less often.
    pub counts: u32,
}

impl Novelty {
    pub fn is_any(self) -> bool {
        self.first + self.counts > 0
    }

    /// What it is worth.
    pub fn gain(self) -> u64 {
        u64::from(8 * self.first.min(8) + self.counts.min(8))
    }
}

pub struct Corpus {
    pub entries: Vec<Entry>,
    /// By feature, the ranges of counts that were met.
    met: Vec<u16>,
    /// By feature, the entry that shows it best, and the cost of that one.
    best: Vec<(u32, u64)>,
    /// By feature, the runs that showed it.
    n_runs: Vec<u32>,
    /// Features in the order in which they were met first.
    known: Vec<u16>,
    /// Pairs that were listed to be joined, and those still to come.
    joined: FxHashSet<(u32, u32)>,
    to_join: Vec<(u32, u32)>,
}

impl Default for Corpus {
    fn default() -> Self {
        let n = usize::from(u16::MAX) + 1;
        Self {
            entries: Vec::new(),
            met: vec![0; n],
            best: vec![(NONE, u64::MAX); n],
            n_runs: vec![0; n],
            known: Vec::new(),
            joined: FxHashSet::default(),
            to_join: Vec::new(),
        }
    }
}

impl Corpus {
    /// Keeps the input where its run showed something new.
    pub fn learn(&mut self, inputs: &Rc<Inputs>, features: &Features, steps: u64) -> Novelty {
        let mut novelty = Novelty::default();
        for (feature, count) in features.iter() {
            let at = usize::from(feature);
            self.n_runs[at] = self.n_runs[at].saturating_add(1);
            let range = 1 << range_of(count);
            if self.met[at] == 0 {
                novelty.first += 1;
                self.known.push(feature);
            } else if self.met[at] & range == 0 {
                novelty.counts += 1;
            }
            self.met[at] |= range;
        }
        if !novelty.is_any() {
            return novelty;
        }
        let new = Entry { inputs: inputs.clone(), steps, ..Entry::default() };
        let cost = new.cost();
        let entry = self.entries.len() as u32;
        for (feature, _) in features.iter() {
            let best = &mut self.best[usize::from(feature)];
            if cost < best.1 {
                *best = (entry, cost);
            }
        }
        let is_first = novelty.first > 0;
        self.entries.push(Entry { is_first, ..new });
        novelty
    }

    /// An entry to vary: one of a feature that few runs showed, or one of the last; mostly the
    /// cheaper one of two.
    pub fn choose(&self, numbers: &mut Numbers) -> Option<&Entry> {
        let (one, other) = (self.any(numbers)?, self.any(numbers)?);
        let cheaper = if one.cost() <= other.cost() { one } else { other };
        Some(if numbers.once_in(4) { one } else { cheaper })
    }

    fn any(&self, numbers: &mut Numbers) -> Option<&Entry> {
        let n = self.entries.len();
        let index = match numbers.below(8) {
            0 | 1 => n.checked_sub(1 + numbers.below(n.min(N_RECENT)))?,
            2 => numbers.below(n),
            3 | 4 => self.best_of(*numbers.one_of(&self.known)?)?,
            _ => {
                let tried = (0..N_TRIED).filter_map(|_| numbers.one_of(&self.known).copied());
                self.best_of(tried.min_by_key(|f| self.n_runs[usize::from(*f)])?)?
            }
        };
        self.entries.get(index)
    }

    fn best_of(&self, feature: u16) -> Option<usize> {
        let (entry, _) = self.best[usize::from(feature)];
        (entry != NONE).then_some(entry as usize)
    }

    /// The next entry that was not run with words, or not with room for its numbers: those that
    /// showed something first, and the latest of them. As it was before, and whether it was
    /// without room.
    pub fn unfollowed(&mut self, max_steps: u64, has_first: bool) -> Option<(Entry, bool)> {
        let entries = self.entries.iter_mut();
        let open = entries.filter(|entry| {
            let is_open = !entry.was_followed || (entry.is_first && !entry.had_room);
            is_open && entry.steps <= max_steps && (entry.is_first || !has_first)
        });
        let (_, entry) = open.enumerate().max_by_key(|(index, entry)| (entry.is_first, *index))?;
        let before = (entry.clone(), !entry.had_room);
        (entry.was_followed, entry.had_room) = (true, true);
        Some(before)
    }

    /// Two entries that each show some feature best, which were not asked for together.
    pub fn unjoined(&mut self) -> Option<(Entry, Entry)> {
        if self.to_join.is_empty() {
            self.pair();
        }
        let (first, second) = self.to_join.pop()?;
        Some((self.entries[first as usize].clone(), self.entries[second as usize].clone()))
    }

    /// Lists the pairs of entries that show a feature best, the cheapest last.
    fn pair(&mut self) {
        let mut n_best: BTreeMap<u32, usize> = BTreeMap::new();
        for feature in &self.known {
            let entry = self.best_of(*feature).map(|entry| entry as u32);
            let entry = entry.filter(|entry| self.entries[*entry as usize].is_first);
            *n_best.entry(entry.unwrap_or(NONE)).or_default() += 1;
        }
        n_best.remove(&NONE);
        let mut best: Vec<u32> = n_best.keys().copied().collect();
        best.sort_by_key(|entry| (std::cmp::Reverse(n_best[entry]), *entry));
        best.truncate(MAX_JOINED);
        for first in &best {
            for second in &best {
                if self.joined.insert((*first, *second)) {
                    self.to_join.push((*first, *second));
                }
            }
        }
        let cost = |entry: u32| self.entries[entry as usize].cost();
        self.to_join.sort_by_key(|(a, b)| std::cmp::Reverse((cost(*a) + cost(*b), *a, *b)));
    }
}

/// Counts of one range are alike.
fn range_of(count: u16) -> u32 {
    match count {
        0..=3 => u32::from(count),
        4..=5 => 4,
        6..=8 => 5,
        9..=16 => 6,
        17..=32 => 7,
        33..=64 => 8,
        65..=128 => 9,
        129..=512 => 10,
        _ => 11,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_one_range_are_alike() {
        assert_eq!(range_of(9), range_of(16));
        let ends = [1, 2, 3, 4, 6, 9, 17, 33, 65, 129, 513];
        assert!(ends.windows(2).all(|pair| range_of(pair[0]) < range_of(pair[1])));
    }

    #[test]
    fn nothing_is_chosen_where_nothing_was_kept() {
        let mut corpus = Corpus::default();
        assert!((0..50).all(|seed| corpus.choose(&mut Numbers::new(seed)).is_none()));
        assert!(corpus.unfollowed(u64::MAX, false).is_none() && corpus.unjoined().is_none());
    }

    #[test]
    fn a_run_that_shows_nothing_is_not_kept() {
        let mut corpus = Corpus::default();
        let inputs = Rc::new(Inputs::default());
        assert!(!corpus.learn(&inputs, &Features::default(), 1).is_any());
        assert!(corpus.entries.is_empty());
    }
}
