//! The rounds of a loop as a search goes through them: the first exactly, then one that stands
//! for all later ones.

use facts::cfg::LoopId;
use logic::FormulaId;
use program::{BlockId, Body};

use super::{Cutoff, Search};
use crate::exits;
use crate::machine::State;
use crate::machine::loops::Entry;
use crate::machine::state::{LoopRun, Phase};

/// The first iteration of a loop on one path. Later ones only come about if it ends, and
/// states that stand for later ones wait until all paths through the first are followed.
#[derive(Clone, Copy)]
pub(super) struct FirstRound {
    has_ended: bool,
    /// [`Search::n_cuts`] when it began.
    n_cuts: u32,
}

impl<'p> Search<'_, 'p> {
    /// Whether a state that starts in a later iteration follows on a first one.
    pub(super) fn comes_about(&self, state: &State) -> bool {
        let Some(LoopRun { round, phase: Phase::Earlier { .. }, .. }) = state.top().loops.last()
        else {
            return true;
        };
        let first = self.first_rounds[*round as usize];
        first.has_ended || first.n_cuts != self.n_cuts
    }

    /// A loop goes on because of something unknown: then how often it runs is unknown too.
    pub(super) fn taint_loops(&mut self, state: &mut State, formula: FormulaId, target: BlockId) {
        let function = state.top().function;
        let Some(shape) = self.code.shape(function) else { return };
        let block = state.top().block;
        let unknown = self.context.symbols_in(formula).iter().any(|symbol| {
            self.context.symbols.get(*symbol).kind.is_unknown() || state.unsure.contains(symbol)
        });
        if !unknown {
            return;
        }
        let tainted: Vec<_> = state
            .top()
            .loops
            .iter()
            .filter_map(|run| match run.phase {
                Phase::Earlier { count } => Some((run.id, count)),
                _ => None,
            })
            .filter(|(id, _)| shape.cfg.loops.contains(*id, target))
            .filter(|(id, _)| exits::decides(self.body(function), &shape.cfg, *id, block))
            .map(|(_, count)| count)
            .collect();
        state.unsure.extend(tainted);
    }

    /// Whether the state leaves a loop at its first test. That the loop may run no iteration
    /// is how loops are written, not something the program says about its values.
    pub(super) fn skips_loop(&self, state: &State, target: BlockId) -> bool {
        let frame = state.top();
        let (Some(shape), Some(run)) = (self.code.shape(frame.function), frame.loops.last()) else {
            return false;
        };
        run.phase == Phase::First { n: 0 }
            && !shape.cfg.loops.contains(run.id, target)
            && exits::tests_at_top(self.body(frame.function), &shape.cfg, run.id, frame.block)
    }

    /// The state jumps back to a loop's header; false where other states cover what follows.
    pub(super) fn next_iteration(&mut self, state: &mut State, id: LoopId) -> bool {
        let (limit, exact) = (self.limits.unroll, self.limits.exact);
        let loc = self.loc_of(state);
        let Some(run) = state.top_mut().loops.last_mut() else { return false };
        debug_assert_eq!(run.id, id, "the innermost loop is the one jumped back to");
        match &mut run.phase {
            Phase::First { n } => {
                self.first_rounds[run.round as usize].has_ended = true;
                *n += 1;
                *n < exact
            }
            Phase::Later { .. } => false,
            Phase::Unrolled { n } => {
                *n += 1;
                let goes_on = *n <= limit;
                if !goes_on {
                    self.cut(Cutoff::LongLoop, loc);
                }
                goes_on
            }
            Phase::Earlier { count } => {
                run.phase = Phase::Later { count: *count };
                true
            }
        }
    }

    /// The state comes to a loop from outside: it becomes the first iteration, and a second
    /// state stands for all later ones.
    pub(super) fn enter_loop(
        &mut self,
        state: &mut State,
        id: LoopId,
        from: BlockId,
        body: &'p Body,
    ) -> bool {
        let function = state.top().function;
        let Some(shape) = self.code.shape(function) else { return true };
        let facts = &shape.loops.loops[id];
        let short = facts.max_trips().is_some_and(|trips| trips <= u128::from(self.limits.unroll));
        let round = self.first_rounds.len() as u32;
        if short {
            state.top_mut().loops.push(LoopRun { id, round, phase: Phase::Unrolled { n: 0 } });
            return true;
        }
        self.first_rounds.push(FirstRound { has_ended: false, n_cuts: self.n_cuts });
        let mut later = state.clone();
        let entry = Entry { body, cfg: &shape.cfg, loops: &shape.loops, id, from };
        let code = self.code;
        let count = entry.generalise(&mut self.context, &mut later, &|call| code.call_effect(call));
        let header = shape.cfg.loops.loops[id].header;
        let frame = later.top_mut();
        frame.loops.push(LoopRun { id, round, phase: Phase::Earlier { count } });
        frame.block = header;
        frame.next = body.blocks[header].first;
        later.n_forks += 1;
        self.push(later);
        state.top_mut().loops.push(LoopRun { id, round, phase: Phase::First { n: 0 } });
        true
    }
}
