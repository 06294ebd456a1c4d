//! Questions to the solver: asked once, and not at all where intervals refute them.

use std::collections::BTreeSet;
use std::rc::Rc;

use interpret::Shared;
use logic::words::{Answer, UnknownId, Word, WordId, WordProver};
use rustc_hash::{FxHashMap, FxHashSet};

/// Words a question may be made of.
const MAX_WORDS: usize = 6000;
/// z3's resource units that count as one more question.
const UNITS_OF_A_QUESTION: u64 = 12_000;
/// Words that do: z3 takes them in before it counts.
const WORDS_OF_A_QUESTION: u64 = 250;

/// What searches of one program share, be different edits of it switched on: words mean the
/// same in all of them, so that a question is asked once.
pub struct Memo {
    pub shared: Shared,
    pub prover: WordProver,
    resources: u32,
    asks_again: bool,
    supports: FxHashMap<WordId, Rc<BTreeSet<UnknownId>>>,
    /// Questions the solver was asked, hard ones as many.
    pub effort: u64,
    /// By the conditions asked for together.
    answers: FxHashMap<Vec<WordId>, Answer>,
}

impl Memo {
    /// With z3's resource units for one question, and whether what it gives up on is asked anew.
    pub fn new(resources: u32, asks_again: bool) -> Self {
        Self {
            shared: Shared::default(),
            prover: WordProver::new(resources),
            resources,
            asks_again,
            supports: FxHashMap::default(),
            effort: 0,
            answers: FxHashMap::default(),
        }
    }

    pub fn renew(&mut self) {
        let (n_checks, spent) = (self.prover.n_checks, self.prover.spent);
        self.prover = WordProver::new(self.resources);
        (self.prover.n_checks, self.prover.spent) = (n_checks, spent);
    }

    pub fn answer(&mut self, mut conditions: Vec<WordId>) -> Answer {
        conditions.sort_unstable();
        conditions.dedup();
        if let Some(known) = self.answers.get(&conditions) {
            return known.clone();
        }
        let Some(n_words) = self.shared.words.n_parts(MAX_WORDS, &conditions) else {
            let answer = Answer::Unknown("the question is too long".to_owned());
            self.answers.insert(conditions, answer.clone());
            return answer;
        };
        if self.shared.words.is_refuted(&conditions) {
            self.answers.insert(conditions, Answer::Unsat);
            return Answer::Unsat;
        }
        let before = self.prover.spent;
        let mut answer = self.prover.check(&self.shared.words, &conditions);
        // A solver that has seen much gives up on what a new one decides.
        if self.asks_again && matches!(answer, Answer::Unknown(_)) {
            self.renew();
            answer = self.prover.check(&self.shared.words, &conditions);
        }
        let units = (self.prover.spent - before) / UNITS_OF_A_QUESTION;
        self.effort += 1 + units + n_words as u64 / WORDS_OF_A_QUESTION;
        self.answers.insert(conditions, answer.clone());
        answer
    }

    /// The unknowns a word is made of.
    pub fn support(&mut self, word: WordId) -> Rc<BTreeSet<UnknownId>> {
        if let Some(known) = self.supports.get(&word) {
            return known.clone();
        }
        let mut found = BTreeSet::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![word];
        while let Some(word) = stack.pop() {
            if !seen.insert(word) {
                continue;
            }
            if let Some(known) = self.supports.get(&word) {
                found.extend(known.iter().copied());
                continue;
            }
            match *self.shared.words.word(word) {
                Word::Const(_) => {}
                Word::Unknown(unknown) => drop(found.insert(unknown)),
                Word::Binary(_, a, b) | Word::Concat(a, b) => stack.extend([a, b]),
                Word::Choice(a, b, c) => stack.extend([a, b, c]),
                Word::Extract(a, _) | Word::ZeroExtend(a) | Word::SignExtend(a) => stack.push(a),
            }
        }
        let found = Rc::new(found);
        self.supports.insert(word, found.clone());
        found
    }
}
