//! What of the repair program depends on which choices.

use std::collections::BTreeSet;

use base::id::Id;
use logic::words::{Images, Word, WordId, Words};

use super::formula::Formula;

/// For each word of the run the choices it depends on, and what it is where nothing is changed.
pub struct Cone {
    n_blocks: usize,
    /// One bit for each selector, in blocks for each word.
    supports: Vec<u64>,
    unchanged: Vec<WordId>,
}

/// Some selectors, as bits.
pub struct Mask(Vec<u64>);

impl Cone {
    pub fn new(formula: &Formula, words: &mut Words) -> Self {
        let n_words = words.len();
        let n_blocks = formula.selectors.len().div_ceil(64).max(1);
        let mut supports = vec![0; n_words * n_blocks];
        for (number, selector) in formula.selectors.iter().enumerate() {
            supports[selector.word.index() * n_blocks + number / 64] |= 1 << (number % 64);
        }
        // Words come after their parts.
        for index in 0..n_words {
            for part in parts(words.word(WordId::from_index(index))).into_iter().flatten() {
                for block in 0..n_blocks {
                    let of_part = supports[part.index() * n_blocks + block];
                    supports[index * n_blocks + block] |= of_part;
                }
            }
        }
        let zero = words.constant(8, 0);
        let is_selector: Vec<bool> = {
            let mut is_selector = vec![false; n_words];
            formula.selectors.iter().for_each(|s| is_selector[s.word.index()] = true);
            is_selector
        };
        let mut images = Images::default();
        let known = |word: WordId| is_selector[word.index()].then_some(zero);
        let all = (0..n_words).map(WordId::from_index);
        let unchanged = all.map(|word| words.substitute(word, &mut images, known)).collect();
        Self { n_blocks, supports, unchanged }
    }

    pub fn mask(&self, selectors: &[usize]) -> Mask {
        let mut mask = vec![0; self.n_blocks];
        selectors.iter().for_each(|number| mask[number / 64] |= 1 << (number % 64));
        Mask(mask)
    }

    pub fn depends(&self, word: WordId, on: &Mask) -> bool {
        let at = word.index() * self.n_blocks;
        self.supports[at..at + self.n_blocks].iter().zip(&on.0).any(|(a, b)| a & b != 0)
    }

    /// The selectors a word depends on.
    fn selectors(&self, word: WordId) -> impl Iterator<Item = usize> {
        let at = word.index() * self.n_blocks;
        let blocks = self.supports[at..at + self.n_blocks].iter().enumerate();
        blocks.flat_map(|(block, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| block * 64 + bit)
        })
    }

    /// 4.3: pairs of selectors of which one's value is computed from the other's, so that not both are
    /// changed; the smaller one first.
    pub fn use_def(&self, formula: &Formula) -> BTreeSet<(usize, usize)> {
        let mut pairs = BTreeSet::new();
        for (user, selector) in formula.selectors.iter().enumerate() {
            let originals = selector.made.iter().filter_map(|at| formula.made[*at].original);
            for definition in originals.flat_map(|word| self.selectors(word)) {
                if definition != user {
                    pairs.insert((definition.min(user), definition.max(user)));
                }
            }
        }
        pairs
    }

    /// A word of the run where nothing is changed.
    pub fn unchanged(&self, word: WordId) -> WordId {
        self.unchanged[word.index()]
    }
}

fn parts(word: &Word) -> [Option<WordId>; 3] {
    match *word {
        Word::Const(_) | Word::Unknown(_) => [None; 3],
        Word::Binary(_, a, b) | Word::Concat(a, b) => [Some(a), Some(b), None],
        Word::Choice(c, a, b) => [Some(c), Some(a), Some(b)],
        Word::Extract(a, _) | Word::ZeroExtend(a) | Word::SignExtend(a) => [Some(a), None, None],
    }
}
