//! Checks of one function proved by octagons, and what the proofs rest on.
//!
//! Forwards octagons give invariants; backwards, from a proved bound of an index, its safety and
//! error projections and the relevant edges of the paper (4.1): those without which the error
//! could be reached.

use program::{Body, Function, InstId, Op, Operand, Program};

use super::transfer::{Edge, Transfer};
use super::{Octagon, holds_in, violated};
use crate::checks::{Check, CheckKind};

/// Rounds over the blocks before bounds are given up.
const ROUNDS_BEFORE_WIDENING: usize = 3;
pub(super) const ROUNDS_OF_NARROWING: usize = 3;
const MAX_ROUNDS: usize = 40;

/// What is known about one function.
pub struct Proofs<'p> {
    transfer: Transfer<'p>,
    /// At the start of each block, after its joins.
    invariants: Vec<Octagon>,
}

impl<'p> Proofs<'p> {
    /// `parameters` are bounds of parameters, where all callers keep them.
    pub fn new(
        program: &'p Program,
        function: &Function,
        body: &'p Body,
        parameters: &[(u32, i64, i64)],
    ) -> Self {
        let transfer = Transfer::new(program, function, body, false);
        let invariants = forwards(&transfer, parameters);
        Self { transfer, invariants }
    }

    /// Whether octagons can say anything about a check.
    pub fn can_say(&self, check: &Check) -> bool {
        violated(&self.transfer, check).is_some()
    }

    pub fn proves(&self, check: &Check) -> bool {
        let block = self.transfer.body.insts[check.inst].block;
        holds_in(&self.transfer, &self.invariants[block.0 as usize], check)
    }

    /// Whether the paper's mining applies: a bound of an index that octagons prove.
    pub fn is_bound_proved(&self, check: &Check) -> bool {
        matches!(check.kind, CheckKind::Lower { .. } | CheckKind::Upper { .. })
            && self.proves(check)
    }

    /// Backwards from a bound of an index: at each block, what its states must satisfy
    /// (`is_safe`) or may satisfy when it is violated.
    pub fn projection(&self, bound: &Check, is_safe: bool) -> Vec<Octagon> {
        let body = self.transfer.body;
        let n = self.transfer.n_variables();
        let mut states = vec![Octagon::none(n); body.blocks.len()];
        let at = body.insts[bound.inst].block;
        let mut start = Octagon::all(n);
        let Some(&[(a, b)]) = violated(&self.transfer, bound).as_deref() else { return states };
        // What does not satisfy `a <= b` satisfies `b + 1 <= a`.
        let (a, b) = if is_safe { (b.plus(1), a) } else { (a, b) };
        start.assume_le(a, b);
        states[at.0 as usize] = start.clone();
        let edges = self.transfer.edges();
        for round in 0..MAX_ROUNDS {
            let mut is_stable = true;
            for edge in edges.iter().rev() {
                let mut state =
                    states[edge.to.0 as usize].before_assign(&self.transfer.assignments(*edge));
                self.transfer.assume(&mut state, *edge);
                // What passes the check once more has to satisfy it then, too.
                if is_safe && edge.from == at {
                    state = state.meet(&start);
                }
                let old = &states[edge.from.0 as usize];
                if old.contains(&state) {
                    continue;
                }
                is_stable = false;
                let joined = old.join(&state);
                let widens = round >= ROUNDS_BEFORE_WIDENING;
                states[edge.from.0 as usize] = if widens { old.widen(&joined) } else { joined };
            }
            if is_stable {
                break;
            }
        }
        states
    }

    /// Edges without which a proved bound could be violated.
    pub fn relevant_edges(&self, bound: &Check) -> Vec<Edge> {
        let error = self.projection(bound, false);
        let is_relevant = |edge: &Edge| {
            let after = &self.invariants[edge.to.0 as usize];
            let before = &self.invariants[edge.from.0 as usize];
            let psi = &error[edge.to.0 as usize];
            !psi.is_empty()
                && !before.is_empty()
                && after.meet(psi).is_empty()
                && !before.meet(psi).is_empty()
        };
        self.transfer.edges().into_iter().filter(is_relevant).collect()
    }

    /// The joins that an edge decides, and what they become.
    pub fn decided(&self, edge: Edge) -> Vec<(InstId, Operand)> {
        let mut found = Vec::new();
        for inst in self.transfer.body.blocks[edge.to].inst_ids() {
            let Op::Phi(edges) = &self.transfer.body.insts[inst].op else { break };
            let value = edges.iter().find(|(from, _)| *from == edge.from);
            found.extend(value.map(|(_, value)| (inst, *value)));
        }
        found
    }

    /// Each join with its range in the states of its block.
    pub fn ranges(&self, states: &[Octagon]) -> Vec<(InstId, Option<i64>, Option<i64>)> {
        let mut found = Vec::new();
        for (operand, variable) in &self.transfer.numbers {
            let Operand::Inst(inst) = operand else { continue };
            let state = &states[self.transfer.body.insts[*inst].block.0 as usize];
            if !state.is_empty() {
                let (low, high) = state.range(*variable);
                found.push((*inst, low, high));
            }
        }
        found
    }

    /// Whether an edge is one of several ways out of its block.
    pub fn is_decision(&self, edge: Edge) -> bool {
        self.transfer.body.blocks[edge.from].terminator.successors().len() > 1
    }
}

fn forwards(transfer: &Transfer, parameters: &[(u32, i64, i64)]) -> Vec<Octagon> {
    let n = transfer.n_variables();
    let edges = transfer.edges();
    let mut states = vec![Octagon::none(n); transfer.body.blocks.len()];
    if let Some(entry) = states.first_mut() {
        *entry = transfer.start(parameters);
    }
    for round in 0..MAX_ROUNDS {
        let mut is_stable = true;
        for edge in &edges {
            let state = after(transfer, &states, *edge);
            let old = &states[edge.to.0 as usize];
            if old.contains(&state) {
                continue;
            }
            is_stable = false;
            let joined = old.join(&state);
            let widens = round >= ROUNDS_BEFORE_WIDENING && edge.to <= edge.from;
            states[edge.to.0 as usize] = if widens { old.widen(&joined) } else { joined };
        }
        if is_stable {
            return narrowed(transfer, states, &edges);
        }
    }
    vec![Octagon::all(n); transfer.body.blocks.len()]
}

/// More rounds without widening bring back bounds that conditions give.
fn narrowed(transfer: &Transfer, mut states: Vec<Octagon>, edges: &[Edge]) -> Vec<Octagon> {
    for _ in 0..ROUNDS_OF_NARROWING {
        let mut next = vec![Octagon::none(transfer.n_variables()); states.len()];
        if let (Some(first), Some(known)) = (next.first_mut(), states.first()) {
            *first = known.clone();
        }
        for edge in edges {
            let at = edge.to.0 as usize;
            next[at] = next[at].join(&after(transfer, &states, *edge));
        }
        states = next;
    }
    states
}

/// The state at the end of an edge.
fn after(transfer: &Transfer, states: &[Octagon], edge: Edge) -> Octagon {
    let mut state = states[edge.from.0 as usize].clone();
    if state.is_empty() {
        return state;
    }
    transfer.assume(&mut state, edge);
    state.assign(&transfer.assignments(edge))
}
