//! What holds of tested pointers on every path to a point, and which tests that makes needless.

use program::{BlockId, InstId, Op, Operand};
use rustc_hash::FxHashMap;

use super::{Test, add};
use crate::event::Outcome;
use crate::extract::function::Fun;
use crate::extract::sink::Sink;
use crate::extract::values::{Shape, Value};

/// Why a pointer is believed to be null or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Because {
    Dereferenced(InstId),
    Tested(InstId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Belief {
    is_null: bool,
    because: Because,
}

/// What holds on every path to a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// For each tested pointer.
    beliefs: Vec<Option<Belief>>,
    /// For each read of one from memory: the place may have changed since.
    stale: Vec<bool>,
}

pub struct Beliefs<'f, 'a> {
    fun: &'f Fun<'a>,
    tests: &'f [Test],
    /// Positions in a state.
    slots: FxHashMap<Value, usize>,
    values: Vec<Value>,
    /// The reads of tested pointers from memory, in the order of the code.
    reads: Vec<InstId>,
}

impl<'f, 'a> Beliefs<'f, 'a> {
    pub fn new(fun: &'f Fun<'a>, tests: &'f [Test]) -> Self {
        let mut slots = FxHashMap::default();
        let mut values = Vec::new();
        for test in tests.iter().filter(|test| !test.in_macro) {
            slots.entry(test.value).or_insert_with(|| {
                values.push(test.value);
                values.len() - 1
            });
        }
        let is_read = |(id, inst): &(InstId, &program::Inst)| {
            matches!(inst.op, Op::Load(_))
                && fun.value(Operand::Inst(*id)).is_some_and(|value| slots.contains_key(&value))
        };
        let reads = match slots.is_empty() {
            true => Vec::new(),
            false => fun.body.insts.iter_enumerated().filter(is_read).map(|(id, _)| id).collect(),
        };
        Self { fun, tests, slots, values, reads }
    }

    /// Meets over all paths; a state that does not exist yet agrees with everything. Nothing where
    /// there is nothing to know.
    pub fn solve(&self) -> Option<Vec<Option<State>>> {
        if self.values.is_empty() {
            return None;
        }
        let n_blocks = self.fun.body.blocks.len();
        let mut before: Vec<Option<State>> = vec![None; n_blocks];
        let nothing =
            State { beliefs: vec![None; self.values.len()], stale: vec![false; self.reads.len()] };
        before[program::Body::ENTRY.0 as usize] = Some(nothing);
        for _round in 0..8 {
            let mut changed = false;
            for &block in self.fun.cfg.order() {
                let Some(state) = before[block.0 as usize].clone() else { continue };
                let after = self.through(block, state);
                for &to in self.fun.cfg.successors(block) {
                    let state = self.over_edge(block, to, &after);
                    changed |= meet(&mut before[to.0 as usize], state);
                }
            }
            if !changed {
                return Some(before);
            }
        }
        // No fixed point within the rounds of any real loop nest: say nothing.
        None
    }

    /// The reads of the tested pointer's place that no longer say what it holds.
    pub fn stale_at(&self, test: &Test, before: Option<&[Option<State>]>) -> Vec<InstId> {
        let Some(state) = before.and_then(|before| before[test.block.0 as usize].clone()) else {
            return Vec::new();
        };
        let state = self.through(test.block, state);
        let is_stale = |(id, is_stale): &(&InstId, &bool)| {
            **is_stale && self.fun.value(Operand::Inst(**id)) == Some(test.value)
        };
        self.reads.iter().zip(&state.stale).filter(is_stale).map(|(id, _)| *id).collect()
    }

    fn through(&self, block: BlockId, mut state: State) -> State {
        let fun = self.fun;
        for id in fun.body.blocks[block].inst_ids() {
            let inst = &fun.body.insts[id];
            match &inst.op {
                Op::Load(access) => {
                    self.dereferenced(&mut state, access.ptr, id);
                    if let Ok(read) = self.reads.binary_search(&id) {
                        state.stale[read] = false;
                    }
                }
                Op::Store { access, .. } => {
                    self.dereferenced(&mut state, access.ptr, id);
                    let Some(address) = fun.value(access.ptr) else { continue };
                    self.change(&mut state, |value| fun.values.depends_on_load(value, address));
                }
                Op::Call(call) if !matches!(call.callee, program::Callee::Intrinsic(_)) => {
                    self.change(&mut state, |value| fun.values.is_from_memory(value));
                }
                _ => {}
            }
            let computed = |value: Value| *fun.values.shape_of(value) == Shape::Inst(id);
            self.forget(&mut state, computed);
        }
        state
    }

    fn dereferenced(&self, state: &mut State, address: Operand, at: InstId) {
        let fun = self.fun;
        let Some(value) = fun.value(address) else { return };
        if let Some(&slot) = self.slots.get(&fun.values.base(value))
            && !self.is_stale(state, fun.base_operand(address))
        {
            let because = Because::Dereferenced(at);
            state.beliefs[slot] = Some(Belief { is_null: false, because });
        }
    }

    /// Whether the pointer was read before its place changed for the last time.
    fn is_stale(&self, state: &State, pointer: Operand) -> bool {
        let Operand::Inst(id) = pointer else { return false };
        self.reads.binary_search(&id).is_ok_and(|read| state.stale[read])
    }

    fn forget(&self, state: &mut State, which: impl Fn(Value) -> bool) {
        for (belief, value) in state.beliefs.iter_mut().zip(&self.values) {
            if belief.is_some() && which(*value) {
                *belief = None;
            }
        }
    }

    /// As [`forget`](Self::forget), where the places hold something else from now on.
    fn change(&self, state: &mut State, which: impl Fn(Value) -> bool) {
        for (is_stale, read) in state.stale.iter_mut().zip(&self.reads) {
            *is_stale |= self.fun.value(Operand::Inst(*read)).is_some_and(&which);
        }
        self.forget(state, which);
    }

    fn over_edge(&self, from: BlockId, to: BlockId, after: &State) -> State {
        let mut state = after.clone();
        for test in self.tests.iter().filter(|test| test.block == from) {
            let Some(&slot) = self.slots.get(&test.value) else { continue };
            if self.is_stale(after, test.pointer) {
                continue;
            }
            // What a macro tests is not what its user believes.
            let because = Because::Tested(test.inst);
            state.beliefs[slot] =
                (!test.in_macro).then_some(Belief { is_null: to == test.if_null, because });
        }
        state
    }

    pub fn tell(&self, before: &[Option<State>], sink: &mut Sink) {
        let fun = self.fun;
        for test in self.tests.iter().filter(|test| !test.in_macro) {
            let Some(state) = &before[test.block.0 as usize] else { continue };
            let state = self.through(test.block, state.clone());
            let Some(belief) = state.beliefs[self.slots[&test.value]] else { continue };
            if self.is_stale(&state, test.pointer) {
                continue;
            }
            let (outcome, because) = match belief.because {
                Because::Dereferenced(at) => (Outcome::UseThenCheck, at),
                Because::Tested(at) => (Outcome::Redundant, at),
            };
            if because == test.inst {
                continue;
            }
            if outcome == Outcome::Redundant && self.guards_a_release(test) {
                continue;
            }
            add(fun, sink, test.value, outcome, test.inst, (because, 0));
        }
    }

    /// Clean-up code tests what it releases, whether it must or not.
    fn guards_a_release(&self, test: &Test) -> bool {
        let fun = self.fun;
        let block = &fun.body.blocks[test.otherwise];
        block.inst_ids().any(|id| match &fun.body.insts[id].op {
            Op::Call(call) => fun.callee(call).is_some_and(|callee| {
                (0u32..).zip(&call.args).any(|(index, arg)| {
                    fun.value(*arg) == Some(test.value)
                        && (fun.known.frees(callee, index)
                            || crate::latent::is_release(crate::known::shown(callee)))
                })
            }),
            _ => false,
        })
    }
}

/// Keeps what both agree on. Says whether anything changed.
fn meet(into: &mut Option<State>, state: State) -> bool {
    let Some(known) = into else {
        *into = Some(state);
        return true;
    };
    let mut changed = false;
    for (known, new) in known.stale.iter_mut().zip(state.stale) {
        changed |= new && !*known;
        *known |= new;
    }
    for (known, new) in known.beliefs.iter_mut().zip(state.beliefs) {
        let agree = match (*known, new) {
            (Some(a), Some(b)) if a == b => Some(a),
            (Some(a), Some(b)) if a.is_null == b.is_null => match (a.because, b.because) {
                (Because::Dereferenced(x), Because::Dereferenced(y)) => {
                    Some(Belief { because: Because::Dereferenced(x.min(y)), ..a })
                }
                (Because::Tested(x), Because::Tested(y)) => {
                    Some(Belief { because: Because::Tested(x.min(y)), ..a })
                }
                _ => None,
            },
            _ => None,
        };
        changed |= agree != *known;
        *known = agree;
    }
    changed
}
