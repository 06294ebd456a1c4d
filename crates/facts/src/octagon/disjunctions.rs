//! A disjunctive refinement: up to a few octagons for each block instead of one.
//!
//! One octagon around `k = 99` and `0 <= k < n` holds everything between; apart they keep the
//! test for the mark useful. `!=` splits into `<` and `>`, and a joined truth value (`a && b`)
//! into its cases [Sankaranarayanan et al. 2006]. When there are too many, the two nearest are
//! joined.

use program::{Body, Function, Op, Operand, Predicate, Program};

use super::proofs::ROUNDS_OF_NARROWING;
use super::transfer::{Edge, Transfer};
use super::{Linear, Octagon, holds_in};
use crate::checks::Check;

/// Octagons of one block.
const MAX_DISJUNCTS: usize = 4;
/// Rounds in which new ones are kept apart, before all must fit into what is there.
const ROUNDS_APART: usize = 3;
const ROUNDS_BEFORE_WIDENING: usize = 5;
const MAX_ROUNDS: usize = 40;
/// A bound that is lost counts as far as this.
const FAR: i64 = 1 << 12;

/// Variables and what they become.
type Assignments = Vec<(usize, Option<Linear>)>;

/// What is known about one function.
pub struct Disjunctions<'p> {
    transfer: Transfer<'p>,
    /// At the start of each block, after its joins; none where the analysis came to no end.
    states: Option<Vec<Vec<Octagon>>>,
}

impl<'p> Disjunctions<'p> {
    pub fn new(
        program: &'p Program,
        function: &Function,
        body: &'p Body,
        parameters: &[(u32, i64, i64)],
    ) -> Self {
        let transfer = Transfer::new(program, function, body, true);
        let states = forwards(&transfer, parameters);
        Self { transfer, states }
    }

    /// Whether a check holds in all states.
    pub fn proves(&self, check: &Check) -> bool {
        let Some(states) = &self.states else { return false };
        let block = self.transfer.body.insts[check.inst].block;
        states[block.0 as usize].iter().all(|state| holds_in(&self.transfer, state, check))
    }
}

fn forwards(transfer: &Transfer, parameters: &[(u32, i64, i64)]) -> Option<Vec<Vec<Octagon>>> {
    let edges = transfer.edges();
    let start = transfer.start(parameters);
    let mut states = vec![Vec::new(); transfer.body.blocks.len()];
    states.first_mut()?.push(start.clone());
    for round in 0..MAX_ROUNDS {
        let mut is_stable = true;
        for edge in &edges {
            for state in after(transfer, &states[edge.from.0 as usize], *edge) {
                let widens = round >= ROUNDS_BEFORE_WIDENING && edge.to <= edge.from;
                let is_apart = round < ROUNDS_APART;
                is_stable &= !add(&mut states[edge.to.0 as usize], state, is_apart, widens);
            }
        }
        if is_stable {
            return Some(narrowed(transfer, states, &start));
        }
    }
    None
}

/// More rounds without widening bring back bounds that conditions give.
fn narrowed(
    transfer: &Transfer,
    mut states: Vec<Vec<Octagon>>,
    start: &Octagon,
) -> Vec<Vec<Octagon>> {
    for _ in 0..ROUNDS_OF_NARROWING {
        let mut next = vec![Vec::new(); states.len()];
        next[0].push(start.clone());
        for edge in transfer.edges() {
            for state in after(transfer, &states[edge.from.0 as usize], edge) {
                add(&mut next[edge.to.0 as usize], state, true, false);
            }
        }
        states = next;
    }
    states
}

/// The states at the end of an edge.
fn after(transfer: &Transfer, before: &[Octagon], edge: Edge) -> Vec<Octagon> {
    let mut found = Vec::new();
    for state in before {
        for state in split_by_condition(transfer, state, edge) {
            found.extend(assign(transfer, state, edge));
        }
    }
    found.retain(|state| !state.is_empty());
    found
}

fn split_by_condition(transfer: &Transfer, state: &Octagon, edge: Edge) -> Vec<Octagon> {
    match transfer.condition(edge) {
        Some((condition, holds)) => cases(transfer, state, condition, holds),
        None => vec![state.clone()],
    }
}

/// The parts of a state in which a truth value is this one.
fn cases(transfer: &Transfer, state: &Octagon, value: Operand, holds: bool) -> Vec<Octagon> {
    let mut first = state.clone();
    if let Some(bit) = transfer.numbers.get(&value) {
        first.assume_eq(Linear::variable(*bit), Linear::constant(holds.into()));
        return vec![first];
    }
    match (transfer.comparison(value), holds) {
        (Some((Predicate::Ne, a, b)), true) | (Some((Predicate::Eq, a, b)), false) => {
            let mut second = first.clone();
            first.assume_le(a.plus(1), b);
            second.assume_le(b.plus(1), a);
            vec![first, second]
        }
        _ => {
            transfer.assume_value(&mut first, value, holds);
            vec![first]
        }
    }
}

/// The joins an edge decides; truth values case by case.
fn assign(transfer: &Transfer, state: Octagon, edge: Edge) -> Vec<Octagon> {
    let mut parts: Vec<(Octagon, Assignments)> = vec![(state, transfer.assignments(edge))];
    for inst in transfer.body.blocks[edge.to].inst_ids() {
        let Op::Phi(edges) = &transfer.body.insts[inst].op else { break };
        let Some(&bit) = transfer.numbers.get(&Operand::Inst(inst)) else { continue };
        let value = edges.iter().find(|(from, _)| *from == edge.from).map(|(_, value)| *value);
        let Some(value) = value.filter(|value| transfer.comparison(*value).is_some()) else {
            continue;
        };
        let mut split = Vec::new();
        for (state, assignments) in parts {
            for holds in [false, true] {
                for case in cases(transfer, &state, value, holds) {
                    let known = Some(Linear::constant(holds.into()));
                    let decided = assignments
                        .iter()
                        .map(|(to, value)| (*to, if *to == bit { known } else { *value }));
                    split.push((case, decided.collect()));
                }
            }
        }
        parts = split;
    }
    parts.into_iter().map(|(state, assignments)| state.assign(&assignments)).collect()
}

/// Adds a state to those of a block; whether that changes anything.
fn add(states: &mut Vec<Octagon>, state: Octagon, is_apart: bool, widens: bool) -> bool {
    if states.iter().any(|known| known.contains(&state)) {
        return false;
    }
    let nearest = (0..states.len()).min_by_key(|at| distance(&states[*at], &state));
    match nearest {
        Some(at) if states.len() >= MAX_DISJUNCTS || !is_apart => {
            let joined = states[at].join(&state);
            states[at] = if widens { states[at].widen(&joined) } else { joined };
        }
        _ => states.push(state),
    }
    true
}

/// How much joining two loses.
fn distance(a: &Octagon, b: &Octagon) -> i64 {
    a.bounds().zip(b.bounds()).map(|(x, y)| x.abs_diff(y).min(FAR as u64) as i64).sum()
}
