//! Fig 5: for each branch of the repair program, all ways to leave the error trace there.

use std::collections::{BTreeMap, BTreeSet};

use interpret::{Chosen, Input, Machine, Why};
use logic::words::{Answer, Values, WordId, WordOp, WordProver, Words};

use super::budget::Budget;
use super::sites::Site;
use super::{Config, Settings};
use crate::Request;
use crate::trust::Mined;

/// A set of statements whose change avoids the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Which sites change, and an example of what to.
    pub sites: BTreeSet<u32>,
    pub values: Vec<String>,
    /// Decisions of the trace that the changed run still takes.
    pub steps: usize,
    /// Changed sites that the trace evaluates once.
    pub n_once: usize,
    /// The evaluations that choose otherwise.
    chosen: BTreeSet<Input>,
    /// Whether the changed run gets past the check that failed.
    pub is_whole: bool,
}

impl Solution {
    /// Section 5: longer runs first, then fewer changes, then more of them outside loops.
    pub fn rank_key(&self) -> (usize, usize, usize, Vec<u32>) {
        let sites = self.sites.iter().copied().collect();
        (usize::MAX - self.steps, self.sites.len(), usize::MAX - self.n_once, sites)
    }

    pub fn verified(&self) -> String {
        if self.is_whole {
            "with these values the check that failed holds".to_owned()
        } else {
            format!(
                "with these values the run leaves the error trace after {} decisions",
                self.steps
            )
        }
    }
}

struct Solver<'s> {
    words: Words,
    made: Vec<Chosen>,
    /// Conditions of the trace that depend on choices, in order.
    path: Vec<WordId>,
    sites: &'s [Site],
    settings: Settings,
    prover: WordProver,
    budget: Budget,
    counts: BTreeMap<u32, usize>,
    /// Each selector once: site, word, input.
    selectors: Vec<(u32, WordId, Input)>,
    unknowns: BTreeMap<Input, logic::words::UnknownId>,
    /// What every solution must satisfy.
    hard: Vec<WordId>,
}

/// All solutions of one trace, and what limited the search.
pub fn solve(
    machine: Machine,
    sites: &[Site],
    settings: Settings,
    mined: &Mined,
    request: &Request,
) -> (Vec<Solution>, Vec<String>) {
    let conditions = machine.path().to_vec();
    let made = machine.choices.as_ref().map(|c| c.made.clone()).unwrap_or_default();
    let violated = machine.violated;
    let shared = machine.into_shared();
    let mut selectors: Vec<(u32, WordId, Input)> = Vec::new();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    let mut unknowns = BTreeMap::new();
    for chosen in &made {
        *counts.entry(chosen.site).or_default() += 1;
        if !selectors.iter().any(|(_, _, input)| *input == chosen.selector) {
            selectors.push((chosen.site, chosen.selector_word, chosen.selector));
            unknowns.extend(shared.unknown_of(chosen.selector).map(|id| (chosen.selector, id)));
        }
    }
    let words = shared.words;
    let budget = Budget::new(settings);
    let mut solver = Solver {
        words,
        made,
        path: Vec::new(),
        sites,
        settings,
        prover: WordProver::new(settings.resources_of_a_question()),
        budget,
        counts,
        selectors,
        unknowns,
        hard: Vec::new(),
    };
    let decisions: Vec<_> = conditions.iter().filter(|c| c.why == Why::Branch).collect();
    solver.path = decisions.iter().map(|condition| condition.word).collect();
    solver.constrain(mined, request);
    solver.all(violated)
}

impl Solver<'_> {
    fn require(&mut self, bit: WordId) {
        self.hard.push(bit);
        self.prover.assert(&self.words, bit);
    }

    /// What every solution must satisfy.
    fn constrain(&mut self, mined: &Mined, request: &Request) {
        // A selector takes its alternatives and nothing else.
        for (site, word, _) in self.selectors.clone() {
            let n = self.sites[site as usize].alternatives.len().max(1);
            let limit = self.words.constant(8, n as u128);
            let within = self.words.binary(WordOp::UnsignedLe, word, limit);
            self.require(within);
        }
        if self.settings.config >= Config::Constraints {
            self.limit_changes();
            self.use_def();
        }
        if self.settings.config >= Config::Projection {
            self.project(mined, request);
        }
    }

    fn is_changed(&mut self, selector: WordId) -> WordId {
        let zero = self.words.constant(8, 0);
        let same = self.words.eq(selector, zero);
        self.words.not(same)
    }

    fn limit_changes(&mut self) {
        let few = self.at_most(self.settings.max_changes as usize);
        self.require(few);
    }

    /// So many selectors change something, or fewer: counted in unary, which z3 decides far
    /// sooner than sums.
    fn at_most(&mut self, limit: usize) -> WordId {
        if limit >= self.selectors.len() {
            return self.words.bit(true);
        }
        // Whether more than so many of the selectors so far change something.
        let mut more_than = vec![self.words.bit(false); limit + 1];
        for (_, word, _) in self.selectors.clone() {
            let changed = self.is_changed(word);
            for count in (0..=limit).rev() {
                let before = match count {
                    0 => changed,
                    _ => self.words.and(more_than[count - 1], changed),
                };
                more_than[count] = self.words.or(more_than[count], before);
            }
        }
        self.words.not(more_than[limit])
    }

    /// What is computed from a changed value is not changed as well.
    fn use_def(&mut self) {
        let made = self.made.clone();
        let mut pairs = BTreeSet::new();
        for user in &made {
            let Some(original) = user.original else { continue };
            let used = unknowns_of(&self.words, original);
            for (_, word, input) in self.selectors.clone() {
                let Some(unknown) = self.unknowns.get(&input) else { continue };
                if used.contains(unknown) && word != user.selector_word {
                    pairs.insert((word, user.selector_word));
                }
            }
        }
        for (definition, user) in pairs.into_iter().take(2000) {
            let (a, b) = (self.is_changed(definition), self.is_changed(user));
            let both = self.words.and(a, b);
            let not_both = self.words.not(both);
            self.require(not_both);
        }
    }

    /// Results stay where no proved property can be violated.
    fn project(&mut self, mined: &Mined, request: &Request) {
        for chosen in self.made.clone() {
            let Some(result) = chosen.result else { continue };
            let site = &self.sites[chosen.site as usize];
            let file = &request.files[site.file].path;
            let key = (file.clone(), site.function.clone(), site.variable.clone());
            let Some((low, high)) = mined.projections.get(&key) else { continue };
            let low = self.words.constant(64, *low as i128 as u128);
            let high = self.words.constant(64, *high as i128 as u128);
            let above = self.words.binary(WordOp::SignedLe, low, result);
            let below = self.words.binary(WordOp::SignedLe, result, high);
            let within = self.words.and(above, below);
            self.require(within);
        }
    }

    fn all(&mut self, violated: Option<WordId>) -> (Vec<Solution>, Vec<String>) {
        let mut found: Vec<Solution> = Vec::new();
        // Past the failing check first, then from the last decision back.
        let mut exits: Vec<(usize, WordId, bool)> = Vec::new();
        exits.extend(violated.map(|inside| (self.path.len(), inside, true)));
        for index in (0..self.path.len()).rev() {
            let leaves = self.words.not(self.path[index]);
            exits.push((index, leaves, false));
        }
        // Few changes before many.
        let mut blocked: Vec<Vec<WordId>> = vec![Vec::new(); exits.len()];
        let most = match self.settings.config {
            Config::Basic => usize::MAX,
            _ => self.settings.max_changes as usize,
        };
        let mut limits = vec![1.min(most), 2.min(most), most];
        limits.dedup();
        for limit in limits {
            let few = self.at_most(limit);
            for (exit, blocked) in exits.iter().zip(&mut blocked) {
                if self.budget.is_left(found.len()) {
                    self.solutions(*exit, few, blocked, &mut found);
                }
            }
        }
        (found, self.budget.notes())
    }

    /// Ways to leave the trace at one place with few changes, until there are none or enough.
    fn solutions(
        &mut self,
        (steps, leaves, is_whole): (usize, WordId, bool),
        few: WordId,
        blocked: &mut Vec<WordId>,
        found: &mut Vec<Solution>,
    ) {
        let mut n_here = 0;
        while self.budget.is_left(found.len()) && self.budget.is_left_here(n_here) {
            let mut assumed = blocked.clone();
            assumed.extend([few, leaves]);
            match self.next(&assumed, steps) {
                Answer::Sat(values) => {
                    n_here += 1;
                    let (solution, set) = self.solution(&values, steps, is_whole);
                    blocked.push(self.block(&set));
                    let is_same = |known: &Solution| match self.settings.config {
                        Config::Basic => known.chosen == solution.chosen,
                        _ => known.sites == solution.sites,
                    };
                    if !found.iter().any(is_same) {
                        found.push(solution);
                    }
                }
                Answer::Unsat => return,
                Answer::Unknown(why) => return self.budget.gave_up(why),
            }
        }
    }

    fn next(&mut self, assumed: &[WordId], steps: usize) -> Answer {
        let answer = self.answer(assumed, steps);
        self.budget.asked(self.prover.spent);
        answer
    }

    /// The trace up to a place is assumed rather than asserted in a scope of its own: z3 takes
    /// no resources into account while it takes in what is asserted.
    fn answer(&mut self, assumed: &[WordId], steps: usize) -> Answer {
        let mut assumed = assumed.to_vec();
        assumed.extend_from_slice(&self.path[..steps]);
        if !self.settings.maxsat {
            return self.prover.check(&self.words, &assumed);
        }
        let mut hard = self.hard.clone();
        hard.extend(assumed);
        let mut soft = Vec::new();
        for (site, word, _) in self.selectors.clone() {
            let zero = self.words.constant(8, 0);
            let unchanged = self.words.eq(word, zero);
            soft.push((unchanged, 40));
            for (value, (_, weight)) in (1u128..).zip(&self.sites[site as usize].alternatives) {
                let value = self.words.constant(8, value);
                soft.push((self.words.eq(word, value), *weight));
            }
        }
        self.prover.maximise(&self.words, &hard, &soft)
    }

    /// The statements values change, and the selectors that say so.
    fn solution(
        &self,
        values: &Values,
        steps: usize,
        is_whole: bool,
    ) -> (Solution, Vec<(WordId, u128)>) {
        let mut sites = BTreeMap::new();
        let mut set = Vec::new();
        let mut chosen = BTreeSet::new();
        for (site, word, input) in &self.selectors {
            let value = values.eval(&self.words, *word);
            if value != 0 {
                sites.entry(*site).or_insert(value);
                set.push((*word, value));
                chosen.insert(*input);
            }
        }
        let text = |(site, value): (&u32, &u128)| {
            let alternatives = &self.sites[*site as usize].alternatives;
            if let Some((text, _)) = alternatives.get((*value as usize).saturating_sub(1)) {
                return text.clone();
            }
            let first = self
                .made
                .iter()
                .find(|c| c.site == *site && values.eval(&self.words, c.selector_word) != 0);
            let result = first.and_then(|chosen| chosen.result);
            let number = result.map_or(0, |word| values.eval(&self.words, word) as u64 as i64);
            if self.sites[*site as usize].is_condition() {
                i64::from(number != 0).to_string()
            } else {
                (number as i32).to_string()
            }
        };
        let once = |site: &&u32| self.counts.get(*site).copied().unwrap_or(0) == 1;
        let solution = Solution {
            values: sites.iter().map(text).collect(),
            n_once: sites.keys().filter(once).count(),
            sites: sites.keys().copied().collect(),
            steps,
            chosen,
            is_whole,
        };
        (solution, set)
    }

    /// Not this choice again; from `Constraints` on, nothing that contains it either.
    fn block(&mut self, set: &[(WordId, u128)]) -> WordId {
        let mut all = self.words.bit(true);
        if self.settings.config == Config::Basic {
            for (_, word, _) in self.selectors.clone() {
                let value = set.iter().find(|(known, _)| *known == word).map_or(0, |(_, v)| *v);
                let value = self.words.constant(8, value);
                let same = self.words.eq(word, value);
                all = self.words.and(all, same);
            }
        } else {
            for (word, value) in set {
                let value = self.words.constant(8, *value);
                let same = self.words.eq(*word, value);
                all = self.words.and(all, same);
            }
        }
        self.words.not(all)
    }
}

fn unknowns_of(words: &Words, word: WordId) -> BTreeSet<logic::words::UnknownId> {
    use logic::words::Word;
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![word];
    while let Some(word) = stack.pop() {
        if !seen.insert(word) {
            continue;
        }
        match *words.word(word) {
            Word::Const(_) => {}
            Word::Unknown(unknown) => drop(found.insert(unknown)),
            Word::Binary(_, a, b) | Word::Concat(a, b) => stack.extend([a, b]),
            Word::Choice(a, b, c) => stack.extend([a, b, c]),
            Word::Extract(a, _) | Word::ZeroExtend(a) | Word::SignExtend(a) => stack.push(a),
        }
    }
    found
}
