//! Bytes nobody has set, as inputs of a run.
//!
//! Where a search is after another property than reading such bytes, a run goes on with any
//! value they may have. A byte keeps its value until it is stored to, also where it is copied.

use std::collections::{BTreeMap, BTreeSet};

use logic::words::{UnknownId, WordId, WordOp, Words};

use crate::inputs::{Input, Inputs};

/// Which byte of which object, counted as they were made.
pub type Origin = (u32, u32);

/// What unset bytes hold on a run.
pub struct UnsetBytes {
    values: BTreeMap<Origin, u8>,
    /// They follow from unknowns instead of being numbers.
    are_unknown: bool,
    unknowns: BTreeMap<Origin, (UnknownId, WordId)>,
    /// Only these objects have such bytes: what others hold and nobody has set stays unset.
    only: Option<BTreeSet<u32>>,
}

impl UnsetBytes {
    pub fn new(inputs: &Inputs, are_unknown: bool) -> Self {
        let values = inputs.0.iter().filter_map(|(input, value)| match input {
            Input::Unset { object, byte } => Some(((*object, *byte), *value as u8)),
            _ => None,
        });
        Self { values: values.collect(), are_unknown, unknowns: BTreeMap::new(), only: None }
    }

    /// From here on only objects that are named have such bytes; what these held is their default.
    pub fn restrict(&mut self) {
        self.only = Some(BTreeSet::new());
    }

    pub fn name(&mut self, object: u32) {
        self.only.get_or_insert_default().insert(object);
    }

    /// Whether unset bytes of an object are inputs.
    pub fn has(&self, origin: Origin) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&origin.0))
    }

    /// Goes on with unknowns of an earlier run.
    pub fn adopt(&mut self, known: &BTreeMap<Input, (UnknownId, WordId)>) {
        for (input, unknown) in known {
            if let Input::Unset { object, byte } = input {
                self.unknowns.insert((*object, *byte), *unknown);
            }
        }
    }

    /// The unknowns that were asked for, as inputs.
    pub fn into_unknowns(self) -> impl Iterator<Item = (Input, (UnknownId, WordId))> {
        self.unknowns
            .into_iter()
            .map(|((object, byte), unknown)| (Input::Unset { object, byte }, unknown))
    }

    /// A byte of which the bits in `unset` are not set: its value, and its word.
    pub fn byte(
        &mut self,
        words: &mut Words,
        origin: Origin,
        (set, set_word): (u8, Option<WordId>),
        unset: u8,
    ) -> (u8, Option<WordId>) {
        let mut value = self.values.get(&origin).copied().unwrap_or(0);
        // An input of zero means what the object held by itself.
        let default = if self.only.is_some() { set } else { 0 };
        value ^= default;
        let whole = set & !unset | value & unset;
        if !self.are_unknown {
            return (whole, set_word);
        }
        let (_, mut word) = *self.unknowns.entry(origin).or_insert_with(|| words.unknown(8));
        if default != 0 {
            let default = words.constant(8, default.into());
            word = words.binary(WordOp::Xor, word, default);
        }
        if unset == 0xff {
            return (whole, Some(word));
        }
        let set_word = set_word.unwrap_or_else(|| words.constant(8, set.into()));
        let masks = [!unset, unset].map(|mask| words.constant(8, mask.into()));
        let parts = [(set_word, masks[0]), (word, masks[1])];
        let [kept, guessed] = parts.map(|(part, mask)| words.binary(WordOp::And, part, mask));
        (whole, Some(words.binary(WordOp::Or, kept, guessed)))
    }
}
