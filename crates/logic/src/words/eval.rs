//! What words are worth where the unknowns have values.

use rustc_hash::FxHashMap;

use super::{UnknownId, Word, WordId, WordOp, Words, mask, signed};

/// Values of unknowns; zero where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    values: std::collections::BTreeMap<UnknownId, u128>,
}

impl Values {
    pub fn set(&mut self, unknown: UnknownId, value: u128) {
        self.values.insert(unknown, value);
    }

    pub fn get(&self, unknown: UnknownId) -> u128 {
        self.values.get(&unknown).copied().unwrap_or(0)
    }

    pub fn retain(&mut self, keep: impl Fn(UnknownId) -> bool) {
        self.values.retain(|unknown, _| keep(*unknown));
    }

    pub fn iter(&self) -> impl Iterator<Item = (UnknownId, u128)> {
        self.values.iter().map(|(unknown, value)| (*unknown, *value))
    }

    pub fn eval(&self, words: &Words, word: WordId) -> u128 {
        self.eval_with(words, word, &mut FxHashMap::default())
    }

    /// Whether all bits hold.
    pub fn satisfy(&self, words: &Words, bits: &[WordId]) -> bool {
        let known = &mut FxHashMap::default();
        bits.iter().all(|bit| self.eval_with(words, *bit, known) == 1)
    }

    /// Words can be deep (a sum over a long loop): evaluated without recursion.
    fn eval_with(&self, words: &Words, word: WordId, known: &mut FxHashMap<WordId, u128>) -> u128 {
        let mut stack = vec![word];
        while let Some(&top) = stack.last() {
            if known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let parts = parts(words.word(top));
            let missing = parts.iter().flatten().filter(|part| !known.contains_key(part));
            let before = stack.len();
            stack.extend(missing);
            if stack.len() == before {
                let value = self.one(words, top, known);
                known.insert(top, value);
                stack.pop();
            }
        }
        known[&word]
    }

    fn one(&self, words: &Words, id: WordId, known: &FxHashMap<WordId, u128>) -> u128 {
        let width = words.width(id);
        let value = match *words.word(id) {
            Word::Const(value) => value,
            Word::Unknown(unknown) => self.get(unknown),
            Word::Binary(op, a, b) => compute(op, words.width(a), known[&a], known[&b]),
            Word::Choice(condition, a, b) => known[if known[&condition] == 1 { &a } else { &b }],
            Word::Extract(word, low) => known[&word] >> low,
            Word::Concat(high, low) => known[&high] << words.width(low) | known[&low],
            Word::ZeroExtend(word) => known[&word],
            Word::SignExtend(word) => signed(known[&word], words.width(word)) as u128,
        };
        value & mask(width)
    }
}

/// The words a word is made of.
pub(super) fn parts(word: &Word) -> [Option<WordId>; 3] {
    match *word {
        Word::Const(_) | Word::Unknown(_) => [None; 3],
        Word::Binary(_, a, b) | Word::Concat(a, b) => [Some(a), Some(b), None],
        Word::Choice(c, a, b) => [Some(c), Some(a), Some(b)],
        Word::Extract(a, _) | Word::ZeroExtend(a) | Word::SignExtend(a) => [Some(a), None, None],
    }
}

/// An operator on constants, with z3's meaning of division by zero.
pub(super) fn compute(op: WordOp, width: u32, x: u128, y: u128) -> u128 {
    use WordOp::*;
    let (a, b) = (signed(x, width), signed(y, width));
    let by = u32::try_from(y).ok().filter(|by| *by < width);
    let value = match op {
        Add => x.wrapping_add(y),
        Sub => x.wrapping_sub(y),
        Mul => x.wrapping_mul(y),
        UnsignedDiv => x.checked_div(y).unwrap_or(u128::MAX),
        UnsignedRem => x.checked_rem(y).unwrap_or(x),
        SignedDiv if b == 0 => (if a < 0 { 1i128 } else { -1 }) as u128,
        SignedDiv => a.wrapping_div(b) as u128,
        SignedRem if b == 0 => x,
        SignedRem => a.wrapping_rem(b) as u128,
        Shl => by.map_or(0, |by| x << by),
        LogicalShr => by.map_or(0, |by| x >> by),
        ArithmeticShr => (a >> by.unwrap_or(width - 1).min(127)) as u128,
        And => x & y,
        Or => x | y,
        Xor => x ^ y,
        Eq => u128::from(x == y),
        UnsignedLt => u128::from(x < y),
        UnsignedLe => u128::from(x <= y),
        SignedLt => u128::from(a < b),
        SignedLe => u128::from(a <= b),
        SignedMulFits => {
            let fits = |product: i128| signed(product as u128, width) == product;
            u128::from(a.checked_mul(b).is_some_and(fits))
        }
    };
    value & mask(width)
}
