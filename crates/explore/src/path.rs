//! The conditions of a run, and which of them share unknowns.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use logic::words::{UnknownId, WordId};
use rustc_hash::FxHashMap;

use crate::memo::Memo;

/// What had to hold for a run, in order.
pub struct Path {
    words: Vec<WordId>,
    /// The conditions that each unknown is part of, as far as they were asked for.
    by_unknown: OnceCell<FxHashMap<UnknownId, Vec<u32>>>,
}

impl Path {
    pub fn new(words: Vec<WordId>) -> Self {
        Self { words, by_unknown: OnceCell::new() }
    }

    fn by_unknown(&self, memo: &mut Memo) -> &FxHashMap<UnknownId, Vec<u32>> {
        self.by_unknown.get_or_init(|| {
            let mut by_unknown: FxHashMap<UnknownId, Vec<u32>> = FxHashMap::default();
            for (index, word) in (0..).zip(&self.words) {
                for unknown in memo.support(*word).iter() {
                    by_unknown.entry(*unknown).or_default().push(index);
                }
            }
            by_unknown
        })
    }

    /// Those of the first `n` conditions and of `others` that share unknowns with a condition,
    /// be it through one another, that condition first, and these unknowns.
    pub fn relevant(
        &self,
        memo: &mut Memo,
        n: usize,
        others: &[WordId],
        condition: WordId,
    ) -> (Vec<WordId>, BTreeSet<UnknownId>) {
        let mut needed = BTreeSet::new();
        let mut relevant = vec![condition];
        let mut open: Vec<UnknownId> = memo.support(condition).iter().copied().collect();
        let mut is_taken = vec![false; n.min(self.words.len())];
        let mut others: Vec<(WordId, _)> =
            others.iter().map(|word| (*word, memo.support(*word))).collect();
        let by_unknown = self.by_unknown(memo);
        while let Some(unknown) = open.pop() {
            if !needed.insert(unknown) {
                continue;
            }
            for index in by_unknown.get(&unknown).into_iter().flatten() {
                let Some(is_taken) = is_taken.get_mut(*index as usize) else { break };
                if !std::mem::replace(is_taken, true) {
                    let word = self.words[*index as usize];
                    relevant.push(word);
                    open.extend(memo.support(word).iter().copied());
                }
            }
            others.retain(|(word, support)| {
                let touches = support.contains(&unknown);
                if touches {
                    relevant.push(*word);
                    open.extend(support.iter().copied());
                }
                !touches
            });
        }
        (relevant, needed)
    }
}
