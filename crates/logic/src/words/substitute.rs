//! Words in which some unknowns are replaced by what is known of them, folded anew.

use rustc_hash::FxHashMap;

use super::eval::parts;
use super::{Word, WordId, Words};

/// What words have become in one substitution; every word is rebuilt once.
#[derive(Clone, Debug, Default)]
pub struct Images {
    images: FxHashMap<WordId, WordId>,
}

impl Images {
    /// How many words were looked at so far.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }
}

impl Words {
    /// A word in which each part is replaced by what is `known` of it, and built anew where
    /// nothing is. Of a choice whose condition becomes a constant, only the chosen side is
    /// looked at. Without recursion, as words can be deep.
    pub fn substitute(
        &mut self,
        word: WordId,
        images: &mut Images,
        known: impl Fn(WordId) -> Option<WordId>,
    ) -> WordId {
        let done = &mut images.images;
        let mut stack = vec![word];
        while let Some(&top) = stack.last() {
            if done.contains_key(&top) {
                stack.pop();
                continue;
            }
            if let Some(image) = known(top) {
                done.insert(top, image);
                stack.pop();
                continue;
            }
            let before = stack.len();
            let needed = self.needed(top, done);
            stack.extend(needed.into_iter().flatten().filter(|part| !done.contains_key(part)));
            if stack.len() == before {
                let image = self.rebuilt(top, done);
                done.insert(top, image);
                stack.pop();
            }
        }
        done[&word]
    }

    /// The parts of a word that have a say in what it becomes.
    fn needed(&self, word: WordId, done: &FxHashMap<WordId, WordId>) -> [Option<WordId>; 3] {
        let Word::Choice(condition, then, otherwise) = *self.word(word) else {
            return parts(self.word(word));
        };
        let Some(image) = done.get(&condition) else { return [Some(condition), None, None] };
        match self.as_const(*image) {
            Some(1) => [Some(then), None, None],
            Some(_) => [Some(otherwise), None, None],
            None => [Some(then), Some(otherwise), None],
        }
    }

    fn rebuilt(&mut self, word: WordId, done: &FxHashMap<WordId, WordId>) -> WordId {
        let width = self.width(word);
        match *self.word(word) {
            Word::Const(_) | Word::Unknown(_) => word,
            Word::Binary(op, a, b) => self.binary(op, done[&a], done[&b]),
            Word::Choice(condition, then, otherwise) => {
                let condition = done[&condition];
                match self.as_const(condition) {
                    Some(1) => done[&then],
                    Some(_) => done[&otherwise],
                    None => self.choice(condition, done[&then], done[&otherwise]),
                }
            }
            Word::Extract(inner, low) => self.extract(done[&inner], low, width),
            Word::Concat(high, low) => self.concat(done[&high], done[&low]),
            Word::ZeroExtend(inner) => self.zero_extend(done[&inner], width),
            Word::SignExtend(inner) => self.sign_extend(done[&inner], width),
        }
    }
}
