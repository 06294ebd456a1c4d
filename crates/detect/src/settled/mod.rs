//! Questions that facts settle before any path is followed.
//!
//! Most points are harmless for reasons no path can change: the pointer is the address of a
//! variable, the index a counter with known bounds, nothing before the point releases
//! anything. Such questions are answered here from facts over the whole program, by the same
//! conditions of the same specifications, with ranges in place of values.

mod extent;
mod known;
mod states;
mod unset;

use facts::Facts;
use logic::{Limits, Solver, Terms};
use program::FunctionId;
use rayon::prelude::*;
use spec::lower::Lowering;

use crate::code::Code;
use crate::query::{At, Query};
use crate::semantics::asking::is_operand_match;
use crate::semantics::compiled::{Compiled, How};
use known::Known;
use states::States;
use unset::Unset;

/// What facts say of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Paths have to tell.
    Open,
    /// The specification does not speak of this place.
    NoQuestion,
    Safe,
    /// Control never comes here.
    Infeasible,
}

/// Our own procedure needs few steps for ranges.
const LIMITS: Limits =
    Limits { steps: 50, evidence_steps: 0, prover_resources: 0, prover_checks: 0 };

/// What facts say of each query, in their order.
pub fn settle(code: &Code, facts: &Facts, compiled: &Compiled) -> Vec<Settled> {
    let unset = Unset::new(code, facts);
    let states = States::new(code, facts, compiled);
    // Queries stand function by function.
    let functions: Vec<&[Query]> =
        compiled.queries.chunk_by(|a, b| a.function == b.function).collect();
    let settle_function = |queries: &&[Query]| {
        let function = queries[0].function;
        let settling = Settling { code, facts, compiled, unset: &unset, states: &states, function };
        settling.run(queries)
    };
    functions.par_iter().flat_map_iter(settle_function).collect()
}

/// The questions of one function.
struct Settling<'a, 'p> {
    code: &'a Code<'p>,
    facts: &'a Facts,
    compiled: &'a Compiled<'a>,
    unset: &'a Unset<'a, 'p>,
    states: &'a States,
    function: FunctionId,
}

impl Settling<'_, '_> {
    fn run(&self, queries: &[Query]) -> Vec<Settled> {
        let mut terms = Terms::new();
        let mut solver = Solver::without_prover(LIMITS);
        let mut reading = known::Reading::default();
        let mut reach = states::Reach::default();
        queries
            .iter()
            .map(|query| self.settle(query, &mut terms, &mut solver, &mut reading, &mut reach))
            .collect()
    }

    fn settle(
        &self,
        query: &Query,
        terms: &mut Terms,
        solver: &mut Solver,
        reading: &mut known::Reading,
        reach: &mut states::Reach,
    ) -> Settled {
        let At::Inst(inst) = query.at else { return Settled::Open };
        let How::Matched(bindings) = &self.compiled.asked[query.point as usize].how else {
            return Settled::Open;
        };
        let Some(body) = &self.code.program.functions[self.function].body else {
            return Settled::Open;
        };
        let block = body.insts[inst].block;
        if !self.facts.ranges.can_reach(self.function, block) {
            return Settled::Infeasible;
        }
        let observed = self.compiled.observed(query);
        let mut known = Known {
            code: self.code,
            facts: self.facts,
            unset: self.unset,
            states: self.states,
            function: self.function,
            body,
            inst,
            speaks_of_memory: observed.via.is_some(),
            terms,
            reading,
            reach,
        };
        let mut premise = Terms::TRUE;
        if let Some(condition) = &observed.condition
            && !is_operand_match(condition)
        {
            match Lowering::new(bindings, &mut known).condition(condition) {
                Ok(Terms::FALSE) => return Settled::NoQuestion,
                Ok(formula) => premise = formula,
                Err(_) => return Settled::Open,
            }
        }
        let Ok(required) = Lowering::new(bindings, &mut known).condition(&observed.require) else {
            return Settled::Open;
        };
        let violated = known.terms.not(required);
        let asked = known.terms.and(&[premise, violated]);
        if solver.check_here(known.terms, &[asked]).is_unsat() {
            return Settled::Safe;
        }
        Settled::Open
    }
}
