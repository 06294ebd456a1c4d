//! z3 on words: one solver for a sequence of related questions.

use rustc_hash::FxHashMap;
use z3::ast::{BV, Bool};
use z3::{Optimize, Params, SatResult, Solver, Statistics, StatisticsValue};

use super::eval::parts;
use super::{UnknownId, Values, Word, WordId, WordOp, Words};

/// What a prover says of a conjunction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Sat(Values),
    Unsat,
    /// And why.
    Unknown(String),
}

/// The best answer of [`WordProver::maximise`].
pub type Best = Answer;

/// A solver that keeps what it was told until it is popped. It belongs to the thread that made
/// it; what it answers depends on the questions before it, never on time.
pub struct WordProver {
    solver: Solver,
    encoder: Encoder,
    /// z3's resource units for one question.
    resources: u32,
    pub n_checks: u64,
    /// z3's resource units for all questions so far.
    pub spent: u64,
    /// z3 counts through; this is where it stood.
    counted: u32,
}

#[derive(Default)]
struct Encoder {
    words: FxHashMap<WordId, BV>,
    bits: FxHashMap<WordId, Bool>,
    unknowns: Vec<(UnknownId, WordId)>,
}

impl WordProver {
    pub fn new(resources: u32) -> Self {
        let solver = solver(resources);
        let counted = resource_count(&solver.get_statistics());
        Self { solver, encoder: Encoder::default(), resources, n_checks: 0, spent: 0, counted }
    }

    pub fn push(&mut self) {
        self.solver.push();
    }

    pub fn pop(&mut self) {
        self.solver.pop(1);
    }

    pub fn assert(&mut self, words: &Words, bit: WordId) {
        let bit = self.encoder.bit(words, bit);
        self.solver.assert(bit);
    }

    /// Whether what was asserted can hold together with these bits.
    pub fn check(&mut self, words: &Words, bits: &[WordId]) -> Answer {
        self.n_checks += 1;
        let assumed: Vec<Bool> = bits.iter().map(|bit| self.encoder.bit(words, *bit)).collect();
        let answer = self.solver.check_assumptions(&assumed);
        self.count(&self.solver.get_statistics());
        match answer {
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown => unknown(self.solver.get_reason_unknown()),
            SatResult::Sat => match self.solver.get_model() {
                Some(model) => self.encoder.values(words, &model),
                None => unknown(None),
            },
        }
    }

    /// The same by a solver of its own, which may rewrite the question as a whole: one that has
    /// seen much gives up on what a new one decides at once.
    pub fn check_alone(&mut self, words: &Words, bits: &[WordId]) -> Answer {
        self.n_checks += 1;
        let solver = solver(self.resources);
        for bit in bits {
            solver.assert(self.encoder.bit(words, *bit));
        }
        let answer = solver.check();
        self.count(&solver.get_statistics());
        match answer {
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown => unknown(solver.get_reason_unknown()),
            SatResult::Sat => match solver.get_model() {
                Some(model) => self.encoder.values(words, &model),
                None => unknown(None),
            },
        }
    }

    fn count(&mut self, statistics: &Statistics) {
        let now = resource_count(statistics);
        self.spent += u64::from(now.wrapping_sub(self.counted));
        self.counted = now;
    }

    /// Values that satisfy all `hard` bits and as much weight of `soft` ones as z3's
    /// optimiser can.
    pub fn maximise(&mut self, words: &Words, hard: &[WordId], soft: &[(WordId, u32)]) -> Best {
        self.n_checks += 1;
        let optimize = Optimize::new();
        let mut params = Params::new();
        params.set_u32("rlimit", self.resources);
        optimize.set_params(&params);
        for bit in hard {
            optimize.assert(self.encoder.bit(words, *bit));
        }
        for (bit, weight) in soft {
            optimize.assert_soft(&self.encoder.bit(words, *bit), *weight, None);
        }
        let answer = optimize.check(&[]);
        self.count(&optimize.get_statistics());
        match answer {
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown => unknown(optimize.get_reason_unknown()),
            SatResult::Sat => match optimize.get_model() {
                Some(model) => self.encoder.values(words, &model),
                None => unknown(None),
            },
        }
    }
}

fn solver(resources: u32) -> Solver {
    let solver = Solver::new_for_logic("QF_BV").unwrap_or_default();
    let mut params = Params::new();
    params.set_u32("rlimit", resources);
    params.set_u32("random_seed", 0);
    solver.set_params(&params);
    solver
}

/// What z3 has counted for all its solvers of this thread.
fn resource_count(statistics: &Statistics) -> u32 {
    match statistics.value("rlimit count") {
        Some(StatisticsValue::UInt(count)) => count,
        _ => 0,
    }
}

fn unknown(reason: Option<String>) -> Answer {
    Answer::Unknown(reason.unwrap_or_else(|| "unknown".to_owned()))
}

impl Encoder {
    fn values(&self, words: &Words, model: &z3::Model) -> Answer {
        let mut values = Values::default();
        for (unknown, word) in &self.unknowns {
            let Some(value) = model.eval(&self.words[word], true) else { continue };
            match number(&value, words.width(*word)) {
                Some(value) => values.set(*unknown, value),
                None => return Answer::Unknown("a value could not be read".to_owned()),
            }
        }
        Answer::Sat(values)
    }

    fn bit(&mut self, words: &Words, id: WordId) -> Bool {
        if let Some(done) = self.bits.get(&id) {
            return done.clone();
        }
        let bit = match *words.word(id) {
            Word::Binary(op, a, b) if op.is_comparison() => self.comparison(words, op, a, b),
            Word::Binary(WordOp::And, a, b) => {
                let (a, b) = (self.bit(words, a), self.bit(words, b));
                Bool::and(&[a, b])
            }
            Word::Binary(WordOp::Or, a, b) => {
                let (a, b) = (self.bit(words, a), self.bit(words, b));
                Bool::or(&[a, b])
            }
            _ => {
                let one = BV::from_u64(1, 1);
                self.encode(words, id).eq(&one)
            }
        };
        self.bits.insert(id, bit.clone());
        bit
    }

    fn comparison(&mut self, words: &Words, op: WordOp, a: WordId, b: WordId) -> Bool {
        if op == WordOp::Eq && words.width(a) == 1 {
            let (a, b) = (self.bit(words, a), self.bit(words, b));
            return a.eq(&b);
        }
        let (a, b) = (self.encode(words, a), self.encode(words, b));
        compare(op, &a, &b)
    }

    /// Without recursion over long chains: parts first.
    fn encode(&mut self, words: &Words, id: WordId) -> BV {
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            if self.words.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let parts = parts(words.word(top));
            stack.extend(parts.iter().flatten().filter(|part| !self.words.contains_key(part)));
            if stack.len() == before {
                let encoded = self.one(words, top);
                self.words.insert(top, encoded);
                stack.pop();
            }
        }
        self.words[&id].clone()
    }

    fn one(&mut self, words: &Words, id: WordId) -> BV {
        let width = words.width(id);
        let done = |id: &WordId| self.words[id].clone();
        match words.word(id) {
            Word::Const(value) => {
                BV::from_str(width, &value.to_string()).expect("decimal digits make a numeral")
            }
            Word::Unknown(unknown) => {
                self.unknowns.push((*unknown, id));
                BV::new_const(format!("w{}", unknown.0), width)
            }
            Word::Binary(op, a, b) if op.is_comparison() => {
                let (a, b) = (done(a), done(b));
                compare(*op, &a, &b).ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1))
            }
            Word::Binary(op, a, b) => binary(*op, &done(a), &done(b)),
            Word::Choice(c, a, b) => {
                let (a, b) = (done(a), done(b));
                self.bit(words, *c).ite(&a, &b)
            }
            Word::Extract(word, low) => done(word).extract(low + width - 1, *low),
            Word::Concat(high, low) => done(high).concat(done(low)),
            Word::ZeroExtend(word) => done(word).zero_ext(width - words.width(*word)),
            Word::SignExtend(word) => done(word).sign_ext(width - words.width(*word)),
        }
    }
}

fn compare(op: WordOp, a: &BV, b: &BV) -> Bool {
    match op {
        WordOp::UnsignedLt => a.bvult(b),
        WordOp::UnsignedLe => a.bvule(b),
        WordOp::SignedLt => a.bvslt(b),
        WordOp::SignedLe => a.bvsle(b),
        WordOp::SignedMulFits => {
            Bool::and(&[a.bvmul_no_overflow(b, true), a.bvmul_no_underflow(b)])
        }
        _ => a.eq(b),
    }
}

fn binary(op: WordOp, a: &BV, b: &BV) -> BV {
    match op {
        WordOp::Add => a.bvadd(b),
        WordOp::Sub => a.bvsub(b),
        WordOp::Mul => a.bvmul(b),
        WordOp::UnsignedDiv => a.bvudiv(b),
        WordOp::SignedDiv => a.bvsdiv(b),
        WordOp::UnsignedRem => a.bvurem(b),
        WordOp::SignedRem => a.bvsrem(b),
        WordOp::Shl => a.bvshl(b),
        WordOp::LogicalShr => a.bvlshr(b),
        WordOp::ArithmeticShr => a.bvashr(b),
        WordOp::And => a.bvand(b),
        WordOp::Or => a.bvor(b),
        WordOp::Xor => a.bvxor(b),
        _ => unreachable!("comparisons yield one bit and are encoded elsewhere"),
    }
}

/// The value of a numeral, 64 bits at a time.
fn number(value: &BV, width: u32) -> Option<u128> {
    if width <= 64 {
        return value.as_u64().map(u128::from);
    }
    let part = |high: u32, low: u32| {
        use z3::ast::Ast;
        value.extract(high, low).simplify().as_u64().map(u128::from)
    };
    Some(part(width - 1, 64)? << 64 | part(63, 0)?)
}
