//! Words: bit-vectors of fixed width, as machines compute them.
//!
//! The terms of the rest of this crate are integers with wrap-around written out, which suits
//! conditions on paths. A run of a program whose inputs are unknown computes on words instead:
//! every operator of the machine has its own term here, folded as far as constants and
//! reassembled bytes allow, and z3 decides conjunctions of them by bit-blasting.

mod eval;
mod fold;
mod lanes;
mod prover;
mod range;
mod substitute;
mod trial;

pub use eval::Values;
pub use prover::{Answer, Best, WordProver};
pub use substitute::Images;

use base::{IdVec, define_id};
use rustc_hash::{FxHashMap, FxHashSet};

define_id!(/// An interned word.
    WordId);
define_id!(/// An unknown word.
    UnknownId);

/// Operators of two words of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WordOp {
    Add,
    Sub,
    Mul,
    UnsignedDiv,
    SignedDiv,
    UnsignedRem,
    SignedRem,
    Shl,
    LogicalShr,
    ArithmeticShr,
    And,
    Or,
    Xor,
    /// The rest yield one bit.
    Eq,
    UnsignedLt,
    UnsignedLe,
    SignedLt,
    SignedLe,
    /// Whether the product of numbers with signs fits their width.
    SignedMulFits,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    Const(u128),
    Unknown(UnknownId),
    Binary(WordOp, WordId, WordId),
    /// Of a condition of one bit.
    Choice(WordId, WordId, WordId),
    /// Bits `low..low + width` of a word.
    Extract(WordId, u32),
    /// The first word holds the high bits.
    Concat(WordId, WordId),
    ZeroExtend(WordId),
    SignExtend(WordId),
}

/// The arena of words; ids depend only on the order of calls.
#[derive(Clone, Debug, Default)]
pub struct Words {
    words: IdVec<WordId, (Word, u32)>,
    ids: FxHashMap<(Word, u32), WordId>,
    unknowns: IdVec<UnknownId, u32>,
}

impl WordOp {
    pub fn is_comparison(self) -> bool {
        use WordOp::*;
        matches!(self, Eq | UnsignedLt | UnsignedLe | SignedLt | SignedLe | SignedMulFits)
    }
}

impl Words {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn word(&self, id: WordId) -> &Word {
        &self.words[id].0
    }

    /// In bits.
    pub fn width(&self, id: WordId) -> u32 {
        self.words[id].1
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn as_const(&self, id: WordId) -> Option<u128> {
        match self.words[id].0 {
            Word::Const(value) => Some(value),
            _ => None,
        }
    }

    /// A new unknown of so many bits.
    pub fn unknown(&mut self, width: u32) -> (UnknownId, WordId) {
        let unknown = self.unknowns.push(width);
        (unknown, self.intern(Word::Unknown(unknown), width))
    }

    /// The word of an unknown.
    pub fn word_of(&mut self, unknown: UnknownId) -> WordId {
        let width = self.unknowns[unknown];
        self.intern(Word::Unknown(unknown), width)
    }

    pub fn constant(&mut self, width: u32, value: u128) -> WordId {
        self.intern(Word::Const(value & mask(width)), width)
    }

    pub fn bit(&mut self, value: bool) -> WordId {
        self.constant(1, u128::from(value))
    }

    pub fn not(&mut self, bit: WordId) -> WordId {
        let no = self.bit(false);
        self.binary(WordOp::Eq, bit, no)
    }

    pub fn and(&mut self, a: WordId, b: WordId) -> WordId {
        self.binary(WordOp::And, a, b)
    }

    pub fn or(&mut self, a: WordId, b: WordId) -> WordId {
        self.binary(WordOp::Or, a, b)
    }

    pub fn eq(&mut self, a: WordId, b: WordId) -> WordId {
        self.binary(WordOp::Eq, a, b)
    }

    /// How many words these are made of; `None` where more than a limit.
    pub fn n_parts(&self, limit: usize, of: &[WordId]) -> Option<usize> {
        self.all_parts(of, limit).map(|parts| parts.len())
    }

    /// The words these are made of and they themselves, parts first; `None` where more than a
    /// limit.
    fn all_parts(&self, of: &[WordId], limit: usize) -> Option<Vec<WordId>> {
        let mut seen: FxHashSet<WordId> = FxHashSet::default();
        let mut stack = of.to_vec();
        while let Some(word) = stack.pop() {
            if seen.insert(word) {
                stack.extend(eval::parts(self.word(word)).into_iter().flatten());
            }
            if seen.len() > limit {
                return None;
            }
        }
        // A word is interned after its parts.
        let mut all: Vec<WordId> = seen.into_iter().collect();
        all.sort_unstable();
        Some(all)
    }

    /// Cut or extended to a width.
    pub fn resize(&mut self, word: WordId, width: u32, signed: bool) -> WordId {
        match self.width(word) {
            from if from == width => word,
            from if from > width => self.extract(word, 0, width),
            _ if signed => self.sign_extend(word, width),
            _ => self.zero_extend(word, width),
        }
    }

    fn intern(&mut self, word: Word, width: u32) -> WordId {
        if let Some(id) = self.ids.get(&(word.clone(), width)) {
            return *id;
        }
        let id = self.words.push((word.clone(), width));
        self.ids.insert((word, width), id);
        id
    }
}

/// Ones in the lowest `width` bits.
pub(crate) fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// The lowest `width` bits as a number with a sign.
pub(crate) fn signed(bits: u128, width: u32) -> i128 {
    let unused = 128 - width.clamp(1, 128);
    ((bits << unused) as i128) >> unused
}

#[cfg(test)]
mod tests;
