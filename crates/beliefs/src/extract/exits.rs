//! How a path leaves its function: with an error, as the function itself says it, or not.

use std::collections::BTreeSet;

use program::{BlockId, InstId, Op, Operand, Terminator, Ty};
use rustc_hash::FxHashSet;

use super::env::Env;
use super::function::Fun;
use super::interest::Interest;
use super::walk::{End, Flow, Visitor, walk};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Error,
    Success,
    Unknown,
}

/// How a function tells errors.
pub struct Exits {
    convention: Convention,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Convention {
    Null,
    Negative,
    /// 1 or more is success, 0 is not.
    Zero,
    /// 0 is success, and so is nothing else.
    NotZero,
    None,
}

impl Exits {
    pub fn new(fun: &Fun) -> Self {
        Self { convention: convention(fun) }
    }

    /// Whether the function tells errors at all.
    pub fn has_convention(&self) -> bool {
        self.convention != Convention::None
    }

    pub fn classify(&self, fun: &Fun, env: &Env, value: Option<Operand>) -> Exit {
        let Some(value) = value else { return Exit::Unknown };
        let fact = env.fact_of(fun, value);
        let (is_zero, not_zero, negative) =
            (fact.is_zero(), fact.is_not_zero(), fact.is_negative());
        let error = match self.convention {
            Convention::Null | Convention::Zero => (is_zero, not_zero),
            Convention::Negative => (negative, is_zero || (not_zero && !negative)),
            Convention::NotZero => (not_zero, is_zero),
            Convention::None => (false, false),
        };
        match error {
            (true, _) => Exit::Error,
            (_, true) => Exit::Success,
            // A pointer that nobody found to be null is what was asked for.
            _ if self.convention == Convention::Null => Exit::Success,
            _ => Exit::Unknown,
        }
    }

    /// The line of the statement that returned, where the path's last join tells it.
    pub fn line(&self, fun: &Fun, _env: &Env, block: BlockId) -> u32 {
        fun.line(fun.body.blocks[block].loc)
    }
}

/// Collects calls by the path they are on.
struct ErrorPaths<'f, 'a> {
    fun: &'f Fun<'a>,
    exits: Exits,
    calls: BTreeSet<InstId>,
}

impl Visitor for ErrorPaths<'_, '_> {
    type State = Vec<InstId>;

    fn inst(&mut self, calls: &mut Vec<InstId>, _env: &Env, id: InstId) -> Flow {
        if matches!(self.fun.body.insts[id].op, Op::Call(_)) && !calls.contains(&id) {
            calls.push(id);
        }
        Flow::On
    }

    fn end(&mut self, calls: Vec<InstId>, env: &Env, _block: BlockId, end: End) {
        if let End::Return(value) = end
            && self.exits.classify(self.fun, env, value) == Exit::Error
        {
            self.calls.extend(calls);
        }
    }
}

/// The calls after `start` on paths that end in an error.
pub fn calls_on_error_paths(fun: &Fun, interest: &Interest, start: InstId) -> BTreeSet<InstId> {
    let block = fun.body.insts[start].block;
    let mut paths = ErrorPaths { fun, exits: Exits::new(fun), calls: BTreeSet::new() };
    let from = (block, InstId(start.0 + 1));
    let starts = Env::before(fun, interest, block, from.1);
    let starts = starts.into_iter().map(|env| (env, Vec::new())).collect();
    walk(fun, interest, from, starts, &mut paths);
    paths.calls
}

fn convention(fun: &Fun) -> Convention {
    if fun.function.result == Ty::Ptr {
        return Convention::Null;
    }
    if !matches!(fun.function.result, Ty::Int(_)) {
        return Convention::None;
    }
    let mut constants = FxHashSet::default();
    let mut joins = FxHashSet::default();
    for &block in fun.cfg.returns() {
        if let Terminator::Return(Some(value)) = fun.body.blocks[block].terminator {
            returned(fun, value, &mut constants, &mut joins);
        }
    }
    let has_negative = constants.iter().any(|number| *number < 0);
    match (has_negative, constants.contains(&0), constants.iter().any(|number| *number > 0)) {
        (true, ..) => Convention::Negative,
        (false, true, true) => Convention::Zero,
        (false, true, false) => Convention::NotZero,
        _ => Convention::None,
    }
}

fn returned(
    fun: &Fun,
    value: Operand,
    constants: &mut FxHashSet<i64>,
    joins: &mut FxHashSet<program::InstId>,
) {
    let value = fun.unconverted(value);
    if let Some(number) = fun.constant(value) {
        constants.insert(number);
    } else if let Some((id, inst)) = fun.inst(value)
        && let Op::Phi(edges) = &inst.op
        && joins.insert(id)
    {
        edges.iter().for_each(|(_, value)| returned(fun, *value, constants, joins));
    }
}
