//! How a path leaves its function: with an error, as the function itself says it, or not.

use program::{BlockId, Op, Operand, Terminator, Ty};
use rustc_hash::FxHashSet;

use super::function::Fun;
use super::walk::Env;

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
