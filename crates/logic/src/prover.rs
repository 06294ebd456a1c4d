//! The solver the analyses call: our own procedure first, a prover for the rest.

use crate::decide::{MIN_STEPS, Outcome, Reason, Single, decide};
use crate::model::Model;
use crate::term::{FormulaId, Terms};

/// How a prover represents integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theory {
    /// Mathematical integers: fast, weak on bit operations.
    #[default]
    Integers,
    /// Bit-vectors wide enough that nothing wraps; symbols need bounded domains.
    BitVectors,
}

/// A decision procedure outside this crate's own.
pub trait Prover {
    /// Whether all formulas can hold together. A model must satisfy our own evaluator.
    fn check(&mut self, terms: &Terms, formulas: &[FormulaId], theory: Theory) -> Outcome;
}

/// Limits that count work, so that answers do not depend on the machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of our own procedure per check. Default 20,000.
    pub steps: u64,
    /// The same per check of [`Solver::check_evidence`], which are few and decide more.
    pub evidence_steps: u64,
    /// z3's resource units per check. Default 400,000, some 10 to 100 ms.
    pub prover_resources: u32,
    /// Checks handed to the prover in the life of a solver; the rest stay undecided.
    pub prover_checks: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 20_000,
            evidence_steps: 20_000,
            prover_resources: 400_000,
            prover_checks: u32::MAX,
        }
    }
}

/// How checks were decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counters {
    pub checks: u64,
    /// Decided by our own procedure.
    pub decided_here: u64,
    pub decided_by_prover: u64,
    pub undecided: u64,
}

impl Counters {
    pub fn add(&mut self, other: Counters) {
        self.checks += other.checks;
        self.decided_here += other.decided_here;
        self.decided_by_prover += other.decided_by_prover;
        self.undecided += other.undecided;
    }

    /// The share of checks decided without the prover, 1 where there were none.
    pub fn share_decided_here(&self) -> f64 {
        if self.checks == 0 { 1.0 } else { self.decided_here as f64 / self.checks as f64 }
    }
}

/// Models of the last checks. A path asks about conditions that differ little from one check
/// to the next, so most satisfiable ones are satisfied by a model already found.
#[derive(Default)]
struct Recent {
    /// Least recently useful first.
    models: Vec<Model>,
}

impl Recent {
    const MAX: usize = 12;

    fn find(&mut self, satisfies: impl Fn(&Model) -> bool) -> Option<&Model> {
        let index = self.models.iter().rposition(satisfies)?;
        let model = self.models.remove(index);
        self.models.push(model);
        self.models.last()
    }

    fn add(&mut self, model: &Model) {
        if self.models.len() == Self::MAX {
            self.models.remove(0);
        }
        self.models.push(model.clone());
    }
}

/// Decides conjunctions. One per thread.
pub struct Solver {
    prover: Option<Box<dyn Prover>>,
    recent: Recent,
    pub limits: Limits,
    pub counters: Counters,
}

impl Solver {
    /// Our own procedure alone.
    pub fn without_prover(limits: Limits) -> Self {
        Self { prover: None, recent: Recent::default(), limits, counters: Counters::default() }
    }

    pub fn with_prover(limits: Limits, prover: Box<dyn Prover>) -> Self {
        Self { prover: Some(prover), ..Self::without_prover(limits) }
    }

    /// Our own procedure with z3 behind it.
    pub fn new(limits: Limits) -> Self {
        let z3 = crate::z3_prover::Z3Prover { resources: limits.prover_resources };
        Self::with_prover(limits, Box::new(z3))
    }

    /// Whether all formulas can hold together.
    pub fn check(&mut self, terms: &Terms, formulas: &[FormulaId]) -> Outcome {
        let outcome = self.check_here(terms, formulas);
        self.settle(terms, formulas, outcome)
    }

    /// What [`check_here`](Self::check_here) left undecided, the prover decides.
    pub(crate) fn settle(
        &mut self,
        terms: &Terms,
        formulas: &[FormulaId],
        outcome: Outcome,
    ) -> Outcome {
        let Outcome::Unknown(reason) = outcome else { return outcome };
        let outcome = self.prove(terms, formulas, reason);
        if let Outcome::Sat(model) = &outcome {
            self.recent.add(model);
        }
        if !matches!(outcome, Outcome::Unknown(_)) {
            self.counters.undecided -= 1;
            self.counters.decided_by_prover += 1;
        }
        outcome
    }

    /// The same by our own procedure alone.
    pub fn check_here(&mut self, terms: &Terms, formulas: &[FormulaId]) -> Outcome {
        self.counters.checks += 1;
        let single = match self.limits.steps >= MIN_STEPS {
            true => Single::new(terms, formulas),
            false => None,
        };
        let known = match &single {
            Some(single) => self.recent.find(|model| single.holds_in(terms, model)),
            None => self.recent.find(|model| model.satisfies_all(terms, formulas)),
        };
        if let Some(model) = known {
            self.counters.decided_here += 1;
            return Outcome::Sat(model.clone());
        }
        let outcome = match single {
            Some(single) => single.decide(),
            None => decide(terms, formulas, self.limits.steps),
        };
        match &outcome {
            Outcome::Unknown(_) => self.counters.undecided += 1,
            Outcome::Unsat => self.counters.decided_here += 1,
            Outcome::Sat(model) => {
                self.counters.decided_here += 1;
                self.recent.add(model);
            }
        }
        outcome
    }

    /// Whether the conclusion holds wherever all premises do; `None` where undecided.
    pub fn entails(
        &mut self,
        terms: &mut Terms,
        premises: &[FormulaId],
        conclusion: FormulaId,
    ) -> Option<bool> {
        let mut formulas = premises.to_vec();
        formulas.push(terms.not(conclusion));
        match self.check(terms, &formulas) {
            Outcome::Unsat => Some(true),
            Outcome::Sat(_) => Some(false),
            Outcome::Unknown(_) => None,
        }
    }

    /// Asks the prover, as bit-vectors where bits are what stopped us.
    fn prove(&mut self, terms: &Terms, formulas: &[FormulaId], reason: Reason) -> Outcome {
        let Some(prover) = &mut self.prover else { return Outcome::Unknown(reason) };
        if self.limits.prover_checks == 0 {
            return Outcome::Unknown(reason);
        }
        let theory = match reason {
            Reason::Overflow => return Outcome::Unknown(reason),
            Reason::Bits => Theory::BitVectors,
            _ => Theory::Integers,
        };
        self.limits.prover_checks -= 1;
        prover.check(terms, formulas, theory)
    }
}
