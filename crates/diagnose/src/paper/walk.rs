//! One set of changes along the error trace: with the other choices as they were, what is left
//! of the repair program mentions only the results of the set, and falls apart.

use std::collections::BTreeMap;

use interpret::Shared;
use logic::words::{Answer, Images, UnknownId, Values, WordId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cone::{Cone, Mask};
use super::formula::{Formula, Projection, unknown};
use super::guess;
use explore::memo::Memo;

/// z3's resource units that a question is worth; a word that is rebuilt or evaluated is worth one.
const UNITS_OF_A_QUESTION: u64 = 12_000;

/// Words that are evaluated to guess what a question is answered with.
const MAX_GUESSED: usize = 30_000;

/// Walks the error trace with sets of changes.
pub struct Walker<'f, 's> {
    pub formula: &'f Formula<'s>,
    pub memo: Memo,
    pub cone: Cone,
    /// The selector of each result.
    owners: FxHashMap<UnknownId, usize>,
    /// What must hold of results.
    projections: BTreeMap<UnknownId, Projection>,
    /// Words that were rebuilt or evaluated so far.
    n_words: u64,
}

/// The trace with some changes.
pub struct Walk {
    /// Where it can be left, in its order.
    pub exits: Vec<Exit>,
    /// Results with which everything up to the last exit holds.
    values: Values,
    /// Whether these are the run's own.
    is_original: bool,
    /// Why the solver did not go further.
    pub gave_up: Option<String>,
}

pub struct Exit {
    pub step: usize,
    /// What must hold to leave there; the rest of what must hold has other unknowns.
    conditions: Vec<WordId>,
    unknowns: FxHashSet<UnknownId>,
}

/// Conditions that share unknowns with one another, and with no others.
#[derive(Default)]
struct Part {
    unknowns: FxHashSet<UnknownId>,
    conditions: Vec<WordId>,
}

impl<'f, 's> Walker<'f, 's> {
    pub fn new(
        formula: &'f Formula<'s>,
        shared: Shared,
        projections: BTreeMap<UnknownId, Projection>,
        resources: u32,
    ) -> Self {
        let mut memo = Memo::new(resources, false);
        memo.shared = shared;
        let cone = Cone::new(formula, &mut memo.shared.words);
        let mut owners = FxHashMap::default();
        for (number, selector) in formula.selectors.iter().enumerate() {
            let results = selector.made.iter().filter_map(|at| formula.made[*at].result);
            let unknowns = results.filter_map(|word| unknown(&memo.shared.words, word));
            owners.extend(unknowns.map(|id| (id, number)));
        }
        Self { formula, memo, cone, owners, projections, n_words: 0 }
    }

    /// Follows the trace with these selectors changed, as far as it can be followed.
    pub fn walk(&mut self, set: &[usize]) -> Walk {
        let (values, is_original) = self.first_values(set);
        let mut walk = Walk { exits: Vec::new(), values, is_original, gave_up: None };
        let mut parts: Vec<Part> = Vec::new();
        let mut images = Images::default();
        let mask = self.cone.mask(set);
        for (step, condition) in self.formula.conditions.iter().enumerate() {
            if !self.cone.depends(*condition, &mask) {
                continue;
            }
            let image = self.image(*condition, (set, &mask), &mut images);
            if self.memo.shared.words.as_const(image) == Some(1) {
                continue;
            }
            let leaves = self.memo.shared.words.not(image);
            let part = self.joined(&mut parts, image);
            let mut conditions = part.conditions.clone();
            conditions.push(leaves);
            walk.exits.push(Exit { step, conditions, unknowns: part.unknowns.clone() });
            part.conditions.push(image);
            // With the values of the run, its decisions are what they were.
            if !is_original && !self.goes_on(&mut walk, part, image) {
                break;
            }
        }
        self.n_words += images.len() as u64;
        walk
    }

    /// A word of the run where a set is changed.
    fn image(&mut self, word: WordId, (set, mask): (&[usize], &Mask), done: &mut Images) -> WordId {
        let (cone, formula) = (&self.cone, self.formula);
        let words = &mut self.memo.shared.words;
        let one = words.constant(8, 1);
        words.substitute(word, done, |word| match cone.depends(word, mask) {
            false => Some(cone.unchanged(word)),
            true => set.iter().any(|s| formula.selectors[*s].word == word).then_some(one),
        })
    }

    /// Whether there are values with which the trace is followed past a decision as well.
    fn goes_on(&mut self, walk: &mut Walk, part: &Part, decision: WordId) -> bool {
        if walk.values.satisfy(&self.memo.shared.words, &[decision]) {
            return true;
        }
        match self.memo.answer(part.conditions.clone()) {
            Answer::Sat(found) => {
                part.unknowns.iter().for_each(|id| walk.values.set(*id, found.get(*id)));
                return true;
            }
            Answer::Unsat => {}
            Answer::Unknown(why) => walk.gave_up = Some(why),
        }
        false
    }

    /// Results of a set: those of the run, or the closest that are allowed; whether all are the
    /// run's.
    fn first_values(&self, set: &[usize]) -> (Values, bool) {
        let mut values = Values::default();
        let mut is_original = true;
        for made in set.iter().flat_map(|selector| &self.formula.selectors[*selector].made) {
            let chosen = &self.formula.made[*made];
            let result = chosen.result.and_then(|word| unknown(&self.memo.shared.words, word));
            let Some(id) = result else { continue };
            let original = chosen.value as i64;
            let allowed = match self.projections.get(&id) {
                Some(projection) => original.min(projection.high).max(projection.low),
                None => original,
            };
            is_original &= allowed == original;
            values.set(id, allowed as u64 as u128);
        }
        (values, is_original)
    }

    /// The part a word belongs to; those it has unknowns of become one.
    fn joined<'p>(&mut self, parts: &'p mut Vec<Part>, word: WordId) -> &'p mut Part {
        let support = self.memo.support(word);
        let mut joined = Part::default();
        let is_apart = |part: &Part| support.iter().all(|id| !part.unknowns.contains(id));
        let mut index = 0;
        while index < parts.len() {
            if is_apart(&parts[index]) {
                index += 1;
                continue;
            }
            let mut part = parts.swap_remove(index);
            if part.conditions.len() > joined.conditions.len() {
                std::mem::swap(&mut part, &mut joined);
            }
            joined.unknowns.extend(part.unknowns);
            joined.conditions.extend(part.conditions);
        }
        for id in support.iter() {
            if joined.unknowns.insert(*id) {
                joined
                    .conditions
                    .extend(self.projections.get(id).iter().flat_map(|p| p.conditions));
            }
        }
        let at = parts.len();
        parts.push(joined);
        &mut parts[at]
    }

    /// What was done so far, in z3's resource units.
    pub fn work(&self) -> u64 {
        self.memo.effort * UNITS_OF_A_QUESTION + self.n_words
    }

    /// One result other than it was on the run, which often does.
    fn guess(&mut self, walk: &Walk, exit: &Exit) -> Option<Values> {
        let leaves = *exit.conditions.last()?;
        let words = &self.memo.shared.words;
        let n_all = words.n_parts(MAX_GUESSED, &exit.conditions)? as u64;
        let n_leaves = words.n_parts(MAX_GUESSED, &[leaves])? as u64;
        let sides = guess::compared(words, leaves);
        let until = self.n_words + MAX_GUESSED as u64;
        let mut values = walk.values.clone();
        for id in self.memo.support(leaves).iter() {
            let words = &self.memo.shared.words;
            let original = values.get(*id);
            for other in guess::others(words, &mut values, *id, &sides) {
                values.set(*id, other);
                self.n_words += n_leaves;
                if values.satisfy(words, &[leaves]) {
                    self.n_words += n_all;
                    if values.satisfy(words, &exit.conditions) {
                        return Some(values);
                    }
                }
                if self.n_words > until {
                    return None;
                }
            }
            values.set(*id, original);
        }
        None
    }

    /// Whether leaving there takes results of all selectors of a set.
    pub fn takes_all(&self, walk: &Walk, exit: &Exit, set: &[usize]) -> bool {
        let takes = |selector: &usize| exit.unknowns.iter().any(|id| self.owners[id] == *selector);
        !walk.is_original || set.iter().all(takes)
    }

    /// Values with which the trace is left at an exit.
    pub fn leave(&mut self, walk: &Walk, exit: &Exit) -> Answer {
        if let Some(values) = self.guess(walk, exit) {
            return Answer::Sat(values);
        }
        match self.memo.answer(exit.conditions.clone()) {
            Answer::Sat(found) => {
                let mut values = walk.values.clone();
                exit.unknowns.iter().for_each(|id| values.set(*id, found.get(*id)));
                Answer::Sat(values)
            }
            other => other,
        }
    }
}
