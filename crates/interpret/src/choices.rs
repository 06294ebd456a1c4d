//! The functions a repair program calls where a statement could have another value.
//!
//! `firstfault_choose(site, value)` yields `value`, and beside it the word *selector ? result :
//! value* with a new result at each evaluation. `firstfault_pick(site, n, value, alternatives...)`
//! chooses among alternatives by the selector instead. Selectors are zero on the run itself,
//! which therefore goes the way of the original.

use std::collections::{BTreeMap, BTreeSet};

use logic::words::{WordId, WordOp};

use crate::exec::Machine;
use crate::inputs::Input;
use crate::library::{Given, Known};
use crate::value::{Bits, signed};

/// How sites choose, and what they did.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// One selector for all evaluations of a site.
    pub is_consistent: bool,
    /// Sites that keep their value.
    pub trusted: BTreeSet<u32>,
    /// Every evaluation, in order.
    pub made: Vec<Chosen>,
    counts: BTreeMap<u32, u32>,
}

impl Choices {
    pub fn new(is_consistent: bool, trusted: BTreeSet<u32>) -> Self {
        Self { is_consistent, trusted, ..Self::default() }
    }
}

/// One evaluation of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub site: u32,
    pub selector: Input,
    /// The selector's word, and that of the value it may have instead.
    pub selector_word: WordId,
    pub result: Option<WordId>,
    /// How the original value follows from earlier choices.
    pub original: Option<WordId>,
    /// What the original value is on the run.
    pub value: i128,
    /// Conditions recorded before.
    pub at: usize,
}

impl Machine<'_> {
    pub(crate) fn call_choice(&mut self, name: &str, given: &Given) -> Known {
        let picks = match name {
            "firstfault_choose" => false,
            "firstfault_pick" => true,
            _ => return Ok(None),
        };
        let site = given.bits(0)?.bits as u32;
        let value = given.bits(if picks { 2 } else { 1 })?;
        let Some(choices) = &mut self.choices else { return Ok(Some(Some(value.into()))) };
        if choices.trusted.contains(&site) {
            return Ok(Some(Some(value.into())));
        }
        let instance = choices.counts.entry(site).or_default();
        *instance += 1;
        let number = *instance;
        let selector =
            Input::Choice { site, instance: if choices.is_consistent { 0 } else { number } };
        let selector_word = self.unknown(selector, 8);
        let original = self.word(value, 64);
        let mut chosen = original;
        let mut result = None;
        if picks {
            for at in 0..given.bits(1)?.bits {
                // An alternative that reads what was never set is none.
                let Some(alternative) = given.known(3 + at as usize) else { continue };
                let alternative = self.word(alternative, 64);
                let words = &mut self.memory.words;
                let wanted = words.constant(8, at + 1);
                let is_this = words.binary(WordOp::Eq, selector_word, wanted);
                chosen = words.choice(is_this, alternative, chosen);
            }
        } else {
            let free = self.unknown(Input::Result { site, instance: number }, 64);
            result = Some(free);
            let words = &mut self.memory.words;
            let one = words.constant(8, 1);
            let is_changed = words.binary(WordOp::Eq, selector_word, one);
            chosen = words.choice(is_changed, free, original);
        }
        let at = self.conditions.path.len();
        let made = Chosen {
            site,
            selector,
            selector_word,
            result,
            original: value.word,
            value: signed(value.bits, 64),
            at,
        };
        if let Some(choices) = &mut self.choices {
            choices.made.push(made);
        }
        Ok(Some(Some(Bits::known(value.bits).with_word(Some(chosen)).into())))
    }
}
