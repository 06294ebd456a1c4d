//! What the run of a repair program says: the choices it made and the decisions that follow.

use std::collections::BTreeMap;

use interpret::{Chosen, Input, Machine, Shared, Why};
use logic::words::{UnknownId, Values, WordId, WordOp, Words};

use super::sites::Site;
use super::solution::{New, Solution};
use crate::Request;
use crate::trust::Mined;

/// A choice, which one or more evaluations of a site share.
pub struct Selector {
    pub site: u32,
    pub word: WordId,
    /// The evaluations it chooses for.
    pub made: Vec<usize>,
}

/// The repair program along one error trace.
pub struct Formula<'s> {
    pub sites: &'s [Site],
    /// Every evaluation of a site.
    pub made: Vec<Chosen>,
    pub selectors: Vec<Selector>,
    /// What held on the run: decisions that depend on choices, in order, and in the end that
    /// the check failed. Where one of them does not hold the error is avoided.
    pub conditions: Vec<WordId>,
    /// Whether the last condition is the failing check.
    has_check: bool,
    counts: BTreeMap<u32, usize>,
}

/// The values a result may have, as numbers and as conditions.
pub struct Projection {
    pub low: i64,
    pub high: i64,
    pub conditions: [WordId; 2],
}

impl<'s> Formula<'s> {
    pub fn of(machine: Machine, sites: &'s [Site]) -> (Self, Shared) {
        let branches = machine.path().iter().filter(|condition| condition.why == Why::Branch);
        let mut conditions: Vec<WordId> = branches.map(|condition| condition.word).collect();
        let made = machine.choices.as_ref().map(|c| c.made.clone()).unwrap_or_default();
        let violated = machine.violated;
        let mut shared = machine.into_shared();
        conditions.extend(violated.map(|inside| shared.words.not(inside)));
        (Self::new(sites, made, conditions, violated.is_some()), shared)
    }

    pub fn new(
        sites: &'s [Site],
        made: Vec<Chosen>,
        conditions: Vec<WordId>,
        has_check: bool,
    ) -> Self {
        let mut selectors: Vec<Selector> = Vec::new();
        let mut known: BTreeMap<Input, usize> = BTreeMap::new();
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, chosen) in made.iter().enumerate() {
            *counts.entry(chosen.site).or_default() += 1;
            let at = *known.entry(chosen.selector).or_insert(selectors.len());
            if at == selectors.len() {
                let (site, word) = (chosen.site, chosen.selector_word);
                selectors.push(Selector { site, word, made: Vec::new() });
            }
            selectors[at].made.push(index);
        }
        Self { sites, made, selectors, conditions, has_check, counts }
    }

    /// Whether leaving the trace there is getting past the check that failed.
    pub fn is_whole(&self, step: usize) -> bool {
        self.has_check && step + 1 == self.conditions.len()
    }

    /// 4.1: where each result stays, so that no proved property can be violated.
    pub fn projections(
        &self,
        words: &mut Words,
        mined: &Mined,
        request: &Request,
    ) -> BTreeMap<UnknownId, Projection> {
        let mut projections = BTreeMap::new();
        for chosen in &self.made {
            let Some(result) = chosen.result else { continue };
            let site = &self.sites[chosen.site as usize];
            let file = &request.files[site.file].path;
            let key = (file.clone(), site.function.clone(), site.variable.clone());
            let Some((low, high)) = mined.projections.get(&key).copied() else { continue };
            let Some(unknown) = unknown(words, result) else { continue };
            let [least, most] = [low, high].map(|end| words.constant(64, end as i128 as u128));
            let above = words.binary(WordOp::SignedLe, least, result);
            let below = words.binary(WordOp::SignedLe, result, most);
            projections.insert(unknown, Projection { low, high, conditions: [above, below] });
        }
        projections
    }

    /// Some selectors with their values, as a solution that leaves the trace there.
    pub fn solution(
        &self,
        words: &Words,
        changed: &[(usize, u128)],
        values: &Values,
        steps: usize,
    ) -> Solution {
        let mut sites: BTreeMap<u32, (u128, Vec<usize>)> = BTreeMap::new();
        for (selector, value) in changed {
            let Selector { site, made, .. } = &self.selectors[*selector];
            sites.entry(*site).or_insert((*value, Vec::new())).1.extend(made);
        }
        let new = |(site, (value, made)): (&u32, &(u128, Vec<usize>))| {
            let site = &self.sites[*site as usize];
            if let Some((text, _)) = alternative(site, *value) {
                return New::Text(text.clone());
            }
            match (self.example(words, made, values), site.is_condition()) {
                (number, true) => New::Condition(number != 0),
                (number, false) => New::Number(number),
            }
        };
        let news: Vec<New> = sites.iter().map(new).collect();
        let turned = sites.iter().zip(&news).filter_map(|((site, (_, made)), new)| match new {
            New::Condition(decides) => {
                let was = self.made[*made.first()?].value;
                let is_always = made.iter().all(|at| self.made[*at].value == was);
                is_always.then_some((*site, *decides))
            }
            _ => None,
        });
        let turned = turned.collect();
        let weights = sites.iter().map(|(site, (value, _))| {
            alternative(&self.sites[*site as usize], *value).map(|(_, weight)| *weight)
        });
        let weights: Vec<Option<u32>> = weights.collect();
        let once = |site: &&u32| self.counts.get(*site).copied().unwrap_or(0) == 1;
        Solution {
            values: news,
            turned,
            n_free: weights.iter().filter(|weight| weight.is_none()).count(),
            weight: weights.iter().flatten().sum(),
            n_once: sites.keys().filter(once).count(),
            sites: sites.keys().copied().collect(),
            steps,
            is_whole: self.is_whole(steps),
        }
    }

    /// The first result of some evaluations that is not what it was on the run.
    fn example(&self, words: &Words, made: &[usize], values: &Values) -> i64 {
        let results = made.iter().filter_map(|at| {
            let chosen = &self.made[*at];
            let result = values.eval(words, chosen.result?) as u64 as i64;
            Some((result, i128::from(result) != chosen.value))
        });
        let mut first = None;
        for (result, is_other) in results {
            if is_other {
                return result;
            }
            first = first.or(Some(result));
        }
        first.unwrap_or(0)
    }
}

/// The alternative of the library that a selector takes.
fn alternative(site: &Site, value: u128) -> Option<&(String, u32)> {
    site.alternatives.get((value as usize).checked_sub(1)?)
}

/// The unknown a word is, if it is one.
pub fn unknown(words: &Words, word: WordId) -> Option<UnknownId> {
    match *words.word(word) {
        logic::words::Word::Unknown(unknown) => Some(unknown),
        _ => None,
    }
}
