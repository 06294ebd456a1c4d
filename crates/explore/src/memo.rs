//! Questions to the solver: asked once, and not at all where intervals or trying all values
//! decide them.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::distance::Distances;
use interpret::{Machine, Number, Shared};
use logic::words::{Answer, UnknownId, Word, WordId, WordProver};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::agenda::Place;

/// Words a question may be made of.
const MAX_WORDS: usize = 6000;
/// z3's resource units that count as one more question.
const UNITS_OF_A_QUESTION: u64 = 12_000;
/// Words that do: z3 takes them in before it counts.
const WORDS_OF_A_QUESTION: u64 = 250;

/// Values of words that are tried before z3 is asked, and how many count as a question.
const MAX_TRIED: u64 = 8_000_000;
const TRIED_OF_A_QUESTION: u64 = 1_000_000;
/// Words whose intervals are computed, that count as a question.
const BOUNDED_OF_A_QUESTION: u64 = 8_000;
/// A question z3 gives up on counts as so many: it has made circuits of it before it counts.
const GIVEN_UP: u64 = 8;

/// What searches of one program share, be different edits of it switched on: words mean the
/// same in all of them, so that a question is asked once.
pub struct Memo {
    pub shared: Shared,
    pub prover: WordProver,
    resources: u32,
    is_thorough: bool,
    supports: FxHashMap<WordId, Rc<BTreeSet<UnknownId>>>,
    /// Questions the solver was asked, hard ones as many.
    pub effort: u64,
    /// Words that were looked through for what they are made of, and unknowns of them.
    pub n_visited: u64,
    /// Words whose intervals were computed, as far as they do not make a question yet.
    n_bounded: u64,
    /// Questions it gave up on, by place.
    given_up: FxHashMap<Place, u32>,
    /// How far blocks are from what is asked for; of none where nothing is.
    pub distances: Distances,
    /// Whether a bit that is made of one byte holds for all digits to a base.
    any_digit: FxHashMap<(u32, WordId), bool>,
    /// By the conditions asked for together.
    answers: FxHashMap<Vec<WordId>, Reply>,
}

/// An answer, and texts that stand in place of bytes where numbers need more digits than there
/// are.
#[derive(Clone, Debug)]
pub struct Reply {
    pub answer: Answer,
    pub texts: Vec<(Vec<UnknownId>, Vec<u8>)>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, texts: Vec::new() }
    }
}

impl Memo {
    /// With z3's resource units for one question. Where it is thorough, what z3 gives up on is
    /// asked anew, at once and within larger bounds.
    pub fn new(resources: u32, is_thorough: bool) -> Self {
        Self {
            shared: Shared::default(),
            prover: WordProver::new(resources),
            resources,
            is_thorough,
            supports: FxHashMap::default(),
            effort: 0,
            n_visited: 0,
            n_bounded: 0,
            given_up: FxHashMap::default(),
            distances: Distances::default(),
            any_digit: FxHashMap::default(),
            answers: FxHashMap::default(),
        }
    }

    fn renew(&mut self) {
        let (n_checks, spent) = (self.prover.n_checks, self.prover.spent);
        self.prover = WordProver::new(self.resources);
        (self.prover.n_checks, self.prover.spent) = (n_checks, spent);
    }

    /// For a search of its own.
    pub fn begin(&mut self) {
        self.renew();
        if self.is_thorough {
            self.given_up.clear();
        }
    }

    /// How often a question of this place was given up.
    pub fn n_given_up(&self, place: Place) -> u32 {
        self.given_up.get(&place).copied().unwrap_or(0)
    }

    pub fn give_up(&mut self, place: Place) {
        *self.given_up.entry(place).or_default() += 1;
    }

    pub fn answer(&mut self, conditions: Vec<WordId>) -> Answer {
        self.reply(conditions).answer
    }

    /// The same; where it is not thorough, numbers may get more digits than there are.
    pub fn reply(&mut self, mut conditions: Vec<WordId>) -> Reply {
        conditions.sort_unstable();
        conditions.dedup();
        if let Some(known) = self.answers.get(&conditions) {
            return known.clone();
        }
        let reply = match self.shared.words.n_parts(MAX_WORDS, &conditions) {
            None => Answer::Unknown("the question is too long".to_owned()).into(),
            Some(n_words) => match self.without_digits(&conditions) {
                Some((rest, numbers)) => self.about_numbers(&conditions, rest, &numbers),
                None => self.decide(&conditions, n_words).into(),
            },
        };
        self.answers.insert(conditions, reply.clone());
        reply
    }

    /// The same question without the digits of numbers of which nothing else is known, and these
    /// numbers, of which it has to be said how large they may be; `None` where there are no such numbers.
    fn without_digits(&mut self, conditions: &[WordId]) -> Option<(Vec<WordId>, Vec<Number>)> {
        let numbers = self.shared.numbers();
        let asked = numbers.filter(|number| conditions.binary_search(&number.definition).is_ok());
        let mut asked: Vec<Number> = asked.cloned().collect();
        let mut dropped: FxHashSet<WordId> = FxHashSet::default();
        asked.retain(|number| {
            let mut of_digits = vec![number.definition];
            of_digits.extend(&number.sides);
            let is_free = conditions.iter().all(|condition| {
                let support = self.support(*condition);
                let is_apart = !number.bytes.iter().any(|byte| support.contains(byte));
                if is_apart || of_digits.contains(condition) {
                    return true;
                }
                // What any digit fulfils goes with the digits.
                of_digits.push(*condition);
                let one = support.first().filter(|_| support.len() == 1);
                one.is_some_and(|byte| self.is_any_digit(number, *byte, *condition))
            });
            dropped.extend(of_digits.into_iter().filter(|_| is_free));
            is_free
        });
        if asked.is_empty() {
            return None;
        }
        let is_dropped = |word: &WordId| dropped.contains(word);
        let rest = conditions.iter().copied().filter(|word| !is_dropped(word)).collect();
        Some((rest, asked))
    }

    fn is_any_digit(&mut self, number: &Number, byte: UnknownId, bit: WordId) -> bool {
        let words = &self.shared.words;
        let key = (number.base(), bit);
        *self.any_digit.entry(key).or_insert_with(|| number.is_any_digit(words, byte, bit))
    }

    fn about_numbers(
        &mut self,
        conditions: &[WordId],
        rest: Vec<WordId>,
        numbers: &[Number],
    ) -> Reply {
        let with = |room: &dyn Fn(&Number) -> WordId| {
            let mut asked = rest.clone();
            asked.extend(numbers.iter().map(room));
            asked
        };
        let mut answer = self.decide_all(&with(&|number| number.within));
        if let Answer::Sat(values) = &mut answer {
            numbers.iter().for_each(|number| number.write(values));
            let is_right = values.satisfy(&self.shared.words, conditions);
            debug_assert!(is_right, "the digits of a number make that number");
        }
        let may_grow = numbers.iter().any(|number| number.elsewhere.is_some());
        if answer != Answer::Unsat || self.is_thorough || !may_grow {
            return answer.into();
        }
        answer = self.decide_all(&with(&|number| number.elsewhere.unwrap_or(number.within)));
        let Answer::Sat(values) = &mut answer else { return answer.into() };
        let mut texts = Vec::new();
        for number in numbers {
            match number.longer(&self.shared.words, values) {
                Some(text) => texts.push((number.bytes.clone(), text)),
                None => number.write(values),
            }
        }
        Reply { answer, texts }
    }

    fn decide_all(&mut self, conditions: &[WordId]) -> Answer {
        let n_words = self.shared.words.n_parts(MAX_WORDS, conditions).unwrap_or(MAX_WORDS);
        self.decide(conditions, n_words)
    }

    /// By the cheapest means that will do: intervals, trying all values, z3.
    fn decide(&mut self, conditions: &[WordId], n_words: usize) -> Answer {
        self.n_bounded += n_words as u64;
        self.effort += self.n_bounded / BOUNDED_OF_A_QUESTION;
        self.n_bounded %= BOUNDED_OF_A_QUESTION;
        let (decided, work) = self.shared.words.try_all(conditions, MAX_TRIED);
        self.effort += work / TRIED_OF_A_QUESTION;
        if let Some(answer) = decided {
            return answer;
        }
        let before = self.prover.spent;
        let mut answer = match self.is_thorough {
            true => self.prover.check(&self.shared.words, conditions),
            false => self.prover.check_alone(&self.shared.words, conditions),
        };
        // A solver that has seen much gives up on what a new one decides.
        if self.is_thorough && matches!(answer, Answer::Unknown(_)) {
            self.renew();
            answer = self.prover.check(&self.shared.words, conditions);
        }
        let units = (self.prover.spent - before) / UNITS_OF_A_QUESTION;
        self.effort += 1 + units + n_words as u64 / WORDS_OF_A_QUESTION;
        if matches!(answer, Answer::Unknown(_)) {
            self.effort += GIVEN_UP;
        }
        answer
    }

    /// How many words there are, of which a running machine has taken them.
    pub fn n_words(machine: &Machine) -> u64 {
        machine.words().len() as u64
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
            self.n_visited += 1;
            if let Some(known) = self.supports.get(&word) {
                self.n_visited += known.len() as u64;
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
