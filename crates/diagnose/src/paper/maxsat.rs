//! The library's alternatives, chosen by weighted MaxSAT: z3's optimiser finds the selectors,
//! each solution is blocked, and it is asked again.

use std::collections::BTreeMap;

use logic::words::{Answer, UnknownId, Values, WordId, WordOp, WordProver, Words};

use super::budget::Budget;
use super::cone::Cone;
use super::formula::{Formula, Projection};
use super::solution::Solution;
use super::solve::Solved;
use super::{Config, Settings};

/// Optimising asks z3 many questions in one, and gets the resources of as many.
pub const QUESTIONS: u64 = 20;

/// Questions of one trace.
const MAX_QUESTIONS: u64 = 40;

/// Branches with a question the solver gave up on before no more is asked.
const MAX_GIVEN_UP: usize = 6;

/// The weight of leaving a statement as it is.
const UNCHANGED: u32 = 40;

struct Optimiser<'f, 's> {
    formula: &'f Formula<'s>,
    words: Words,
    settings: Settings,
    prover: WordProver,
    budget: Budget,
    n_given_up: usize,
    /// What every solution must satisfy.
    hard: Vec<WordId>,
    found: Vec<(Solution, Changed)>,
}

/// Selectors, with the alternatives they take.
type Changed = Vec<(usize, u128)>;

/// All solutions of one trace, within limits.
pub fn solve(
    formula: &Formula,
    words: Words,
    projections: &BTreeMap<UnknownId, Projection>,
    settings: Settings,
) -> Solved {
    let mut optimiser = Optimiser {
        formula,
        words,
        settings,
        prover: WordProver::new(settings.resources_of_a_question()),
        budget: Budget::new(settings),
        n_given_up: 0,
        hard: Vec::new(),
        found: Vec::new(),
    };
    optimiser.constrain();
    optimiser.hard.extend(projections.values().flat_map(|projection| projection.conditions));
    optimiser.all();
    let solutions = optimiser.found.into_iter().map(|(solution, _)| solution).collect();
    Solved { solutions, notes: optimiser.budget.notes(), work: optimiser.prover.spent }
}

impl Optimiser<'_, '_> {
    fn constrain(&mut self) {
        // A selector takes its alternatives and nothing else.
        for selector in &self.formula.selectors {
            let n = self.formula.sites[selector.site as usize].alternatives.len().max(1);
            let limit = self.words.constant(8, n as u128);
            self.hard.push(self.words.binary(WordOp::UnsignedLe, selector.word, limit));
        }
        let few = self.at_most(self.settings.max_changes as usize);
        self.hard.push(few);
        if self.settings.config >= Config::Constraints {
            self.use_def();
        }
    }

    fn is_changed(&mut self, selector: WordId) -> WordId {
        let zero = self.words.constant(8, 0);
        let same = self.words.eq(selector, zero);
        self.words.not(same)
    }

    /// So many selectors change something, or fewer: counted in unary, which z3 decides far
    /// sooner than sums.
    fn at_most(&mut self, limit: usize) -> WordId {
        if limit >= self.formula.selectors.len() {
            return self.words.bit(true);
        }
        // Whether more than so many of the selectors so far change something.
        let mut more_than = vec![self.words.bit(false); limit + 1];
        for selector in &self.formula.selectors {
            let changed = self.is_changed(selector.word);
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
        for (a, b) in Cone::new(self.formula, &mut self.words).use_def(self.formula) {
            let words = [a, b].map(|selector| self.formula.selectors[selector].word);
            let [a, b] = words.map(|word| self.is_changed(word));
            let both = self.words.and(a, b);
            self.hard.push(self.words.not(both));
        }
    }

    /// Past the failing check first, then from the last decision back; few changes before many.
    fn all(&mut self) {
        let n_exits = self.formula.conditions.len();
        let mut blocked: Vec<Vec<WordId>> = vec![Vec::new(); n_exits];
        let most = self.settings.max_changes as usize;
        let mut limits = vec![1.min(most), 2.min(most), most];
        limits.dedup();
        for limit in limits {
            let few = self.at_most(limit);
            for step in (0..n_exits).rev() {
                self.solutions(step, few, &mut blocked[step]);
            }
        }
    }

    fn is_left(&mut self) -> bool {
        let is_asked = self.prover.n_checks < MAX_QUESTIONS && self.n_given_up < MAX_GIVEN_UP;
        let work = if is_asked { self.prover.spent } else { u64::MAX };
        self.budget.is_left(self.found.len(), work)
    }

    /// Ways to leave the trace at one place with few changes, until there are none or enough.
    fn solutions(&mut self, step: usize, few: WordId, blocked: &mut Vec<WordId>) {
        let leaves = self.words.not(self.formula.conditions[step]);
        let mut n_here = 0;
        while self.is_left() && self.budget.is_left_here(n_here) {
            let mut hard = self.hard.clone();
            hard.extend_from_slice(blocked);
            hard.extend([few, leaves]);
            hard.extend_from_slice(&self.formula.conditions[..step]);
            let soft = self.soft();
            match self.prover.maximise(&self.words, &hard, &soft) {
                Answer::Sat(values) => {
                    n_here += 1;
                    let changed = self.changed(&values);
                    blocked.push(self.block(&changed));
                    let solution = self.formula.solution(&self.words, &changed, &values, step);
                    let is_same = |(known, choice): &(Solution, Changed)| match self.settings.config
                    {
                        Config::Basic => choice.iter().eq(&changed),
                        _ => known.sites == solution.sites,
                    };
                    if !self.found.iter().any(is_same) {
                        self.found.push((solution, changed));
                    }
                }
                Answer::Unsat => return,
                Answer::Unknown(why) => {
                    self.n_given_up += 1;
                    return self.budget.gave_up(why);
                }
            }
        }
    }

    fn soft(&mut self) -> Vec<(WordId, u32)> {
        let mut soft = Vec::new();
        for selector in &self.formula.selectors {
            let zero = self.words.constant(8, 0);
            soft.push((self.words.eq(selector.word, zero), UNCHANGED));
            let alternatives = &self.formula.sites[selector.site as usize].alternatives;
            for (value, (_, weight)) in (1u128..).zip(alternatives) {
                let value = self.words.constant(8, value);
                soft.push((self.words.eq(selector.word, value), *weight));
            }
        }
        soft
    }

    fn changed(&self, values: &Values) -> Changed {
        let selectors = self.formula.selectors.iter().enumerate();
        let value = selectors.map(|(at, s)| (at, values.eval(&self.words, s.word)));
        value.filter(|(_, value)| *value != 0).collect()
    }

    /// Not this choice again; from `Constraints` on, nothing that contains it either.
    fn block(&mut self, changed: &[(usize, u128)]) -> WordId {
        let mut choice: BTreeMap<usize, u128> = changed.iter().copied().collect();
        if self.settings.config == Config::Basic {
            for at in 0..self.formula.selectors.len() {
                choice.entry(at).or_default();
            }
        }
        let mut all = self.words.bit(true);
        for (at, value) in choice {
            let value = self.words.constant(8, value);
            let same = self.words.eq(self.formula.selectors[at].word, value);
            all = self.words.and(all, same);
        }
        self.words.not(all)
    }
}
