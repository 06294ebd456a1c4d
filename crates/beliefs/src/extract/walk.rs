//! Walks along the paths from a point of a function, leaving out those that contradict
//! themselves.
//!
//! A path knows which constants its joins chose and what its branches decided, so that
//! `if (err) goto out; ... out: if (err)` is one path and not two. Only what is tested again
//! is remembered; that keeps the number of different paths small. Walks are bounded, and say
//! so when the bound was reached.

use std::hash::{Hash, Hasher};

use program::{BlockId, InstId, Operand, Terminator};
use rustc_hash::{FxHashSet, FxHasher};

use super::env::Env;
use super::function::Fun;
use super::interest::Interest;

/// Blocks one walk may enter.
const MAX_STEPS: u32 = 250;
/// Times one path may go back to the head of a loop.
const MAX_BACK_EDGES: u8 = 2;

/// Whether the path goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    On,
    /// The path is of no more interest.
    Stop,
}

/// How a path ended.
pub enum End {
    Return(Option<Operand>),
    /// It went round a loop more often than is followed.
    Loop,
}

/// What a walk does on its way. `State` is what a path carries.
pub trait Visitor {
    type State: Clone + Hash + Eq;
    fn inst(&mut self, state: &mut Self::State, env: &Env, inst: InstId) -> Flow;
    /// Control goes over an edge on which the path's knowledge may have grown.
    fn edge(&mut self, _state: &mut Self::State, _env: &Env, _from: BlockId, _to: BlockId) -> Flow {
        Flow::On
    }
    fn end(&mut self, state: Self::State, env: &Env, block: BlockId, end: End);
}

struct Job<S> {
    block: BlockId,
    /// Instructions before this one are behind us.
    next: InstId,
    env: Env,
    state: S,
    n_back_edges: u8,
}

/// Walks every path from `start` on, with what may be known there. Says whether all of them
/// were walked to the end.
pub fn walk<V: Visitor>(
    fun: &Fun,
    interest: &Interest,
    (block, next): (BlockId, InstId),
    starts: Vec<(Env, V::State)>,
    visitor: &mut V,
) -> bool {
    let mut seen = FxHashSet::default();
    let start = |(env, state)| Job { block, next, env, state, n_back_edges: 0 };
    let mut jobs: Vec<_> = starts.into_iter().rev().map(start).collect();
    let mut steps = 0;
    while let Some(mut job) = jobs.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return false;
        }
        if go_through(fun, interest, &mut job, visitor) == Flow::Stop {
            continue;
        }
        leave(fun, interest, job, visitor, &mut jobs, &mut seen);
    }
    true
}

fn go_through<V: Visitor>(
    fun: &Fun,
    interest: &Interest,
    job: &mut Job<V::State>,
    visitor: &mut V,
) -> Flow {
    let end = fun.body.blocks[job.block].end;
    let stop = fun.cfg.stop(job.block);
    for id in (job.next.0..end.0).map(InstId) {
        if visitor.inst(&mut job.state, &job.env, id) == Flow::Stop || stop == Some(id) {
            return Flow::Stop;
        }
        job.env.after(fun, interest, id);
    }
    Flow::On
}

fn leave<V: Visitor>(
    fun: &Fun,
    interest: &Interest,
    job: Job<V::State>,
    visitor: &mut V,
    jobs: &mut Vec<Job<V::State>>,
    seen: &mut FxHashSet<u64>,
) {
    let terminator = &fun.body.blocks[job.block].terminator;
    if let Terminator::Return(value) = terminator {
        let value = value.map(|value| job.env.resolve(fun, value));
        return visitor.end(job.state, &job.env, job.block, End::Return(value));
    }
    let successors = terminator.successors();
    // The last successor is pushed first, so that paths come in the order of the source.
    for (index, &to) in successors.iter().enumerate().rev() {
        let mut env = job.env.clone();
        let feasible = match terminator {
            Terminator::Branch { condition, then, otherwise } if then != otherwise => {
                env.assume(fun, interest, *condition, index == 0)
            }
            Terminator::Switch { value, cases, .. } => switch(fun, &mut env, *value, cases, index),
            _ => true,
        };
        let mut state = job.state.clone();
        if !feasible || visitor.edge(&mut state, &env, job.block, to) == Flow::Stop {
            continue;
        }
        let is_back = fun.cfg.position(to) <= fun.cfg.position(job.block);
        let n_back_edges = job.n_back_edges + u8::from(is_back);
        if n_back_edges > MAX_BACK_EDGES {
            visitor.end(state, &env, job.block, End::Loop);
            continue;
        }
        if is_back {
            env.back_to(fun, to);
        }
        env.join(fun, interest, job.block, to);
        // Paths that come over one edge were told apart where they last met.
        let is_meeting =
            fun.cfg.predecessors(to).len() > 1 || matches!(terminator, Terminator::Switch { .. });
        let mut is_new = || {
            let mut hasher = FxHasher::default();
            (to, &env, &state, n_back_edges).hash(&mut hasher);
            seen.insert(hasher.finish())
        };
        if !is_meeting || is_new() {
            let next = fun.body.blocks[to].first;
            jobs.push(Job { block: to, next, env, state, n_back_edges });
        }
    }
}

/// Whether this case of a switch can be taken.
fn switch(
    fun: &Fun,
    env: &mut Env,
    value: Operand,
    cases: &[(program::ConstId, BlockId)],
    index: usize,
) -> bool {
    let Some(number) = env.fact_of(fun, value).number() else { return true };
    let case = |id: program::ConstId| fun.constant(Operand::Const(id)) == Some(number);
    match cases.get(index) {
        Some((id, _)) => case(*id),
        None => !cases.iter().any(|(id, _)| case(*id)),
    }
}
