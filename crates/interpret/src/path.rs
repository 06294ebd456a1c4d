//! What had to hold for a run to go the way it went.

use logic::words::{WordId, Words};
use program::{BlockId, FunctionId, InstId};
use rustc_hash::FxHashSet;

use crate::FaultKind;
use crate::exec::Machine;
use crate::value::Bits;

/// A bit that is one on this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub word: WordId,
    pub why: Why,
    /// What was running.
    pub at: (FunctionId, InstId),
    /// The block that control would have gone to otherwise, where that is known.
    pub otherwise: Option<BlockId>,
}

/// Why a run depends on a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Otherwise the program would have done what C does not define.
    Check(FaultKind),
    /// The program decided by it.
    Branch,
    /// The run went on with one value of many: an address, a size.
    Pin,
    /// Inputs are taken no further.
    Limit,
}

#[derive(Default)]
pub(crate) struct PathState {
    pub path: Vec<Condition>,
    known: FxHashSet<WordId>,
    /// Why other inputs may do what the conditions do not tell.
    pub lost: Option<&'static str>,
}

impl Machine<'_> {
    /// What had to hold so far, in order.
    pub fn path(&self) -> &[Condition] {
        &self.conditions.path
    }

    /// The words of the path.
    pub fn words(&self) -> &Words {
        &self.memory.words
    }

    pub fn words_mut(&mut self) -> &mut Words {
        &mut self.memory.words
    }

    /// Whether larger bounds may let the run have more.
    pub fn is_limited(&self) -> bool {
        let is_limit = |condition: &Condition| condition.why == Why::Limit;
        self.inputs.has_objects || self.conditions.path.iter().any(is_limit)
    }

    /// Why the path does not tell everything that depends on inputs; `None` where it does.
    pub fn lost(&self) -> Option<&'static str> {
        self.conditions.lost
    }

    /// Says that this bit is one on this run.
    pub(crate) fn holds(&mut self, word: WordId, why: Why) {
        let is_news = self.memory.words.as_const(word).is_none();
        if is_news && self.conditions.known.insert(word) {
            self.conditions.path.push(Condition {
                word,
                why,
                at: self.at,
                otherwise: self.otherwise,
            });
        }
    }

    /// Whether the run said of this bit that it is one.
    pub(crate) fn is_known_to_hold(&self, word: WordId) -> bool {
        self.conditions.known.contains(&word)
    }

    pub(crate) fn is_true(&mut self, bit: Bits) -> bool {
        let is_true = bit.bits & 1 == 1;
        if let Some(word) = bit.word {
            let words = &mut self.memory.words;
            let word = words.extract(word, 0, 1);
            let held = if is_true { word } else { words.not(word) };
            self.holds(held, Why::Branch);
        }
        is_true
    }

    /// Whether a value is this number; the run depends on it.
    pub(crate) fn is_equal(&mut self, value: Bits, number: u128) -> bool {
        let is_equal = value.bits == number;
        if let Some(word) = value.word {
            let words = &mut self.memory.words;
            let number = words.constant(words.width(word), number);
            let equal = words.eq(word, number);
            let held = if is_equal { equal } else { words.not(equal) };
            self.holds(held, Why::Branch);
        }
        is_equal
    }

    /// The value of this run, on which the rest depends.
    pub(crate) fn pinned(&mut self, value: Bits) -> u128 {
        if let Some(word) = value.word {
            let words = &mut self.memory.words;
            let number = words.constant(words.width(word), value.bits);
            let equal = words.eq(word, number);
            self.holds(equal, Why::Pin);
        }
        value.bits
    }

    /// Something that followed from inputs is from here on only what it is on this run.
    pub(crate) fn lose(&mut self, what: &'static str) {
        self.conditions.lost.get_or_insert(what);
    }
}
