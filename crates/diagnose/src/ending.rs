//! How runs end, and where.

use interpret::{FaultKind, Stop};
use program::{FunctionId, InstId, LocId, Program};

/// What ended a run that violates a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    Fault(FaultKind),
    /// `assert`, or `abort`.
    Assertion,
}

/// How a run ended, as far as properties go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Fine,
    Violates(Property),
    /// And why.
    Unclear(String),
}

pub fn ending<T>(result: &Result<T, Stop>) -> Ending {
    match result {
        Ok(_) | Err(Stop::Exit(_)) => Ending::Fine,
        Err(Stop::Fault(kind)) => Ending::Violates(Property::Fault(*kind)),
        Err(Stop::Abort) => Ending::Violates(Property::Assertion),
        Err(stop) => Ending::Unclear(describe_stop(stop)),
    }
}

pub fn describe_stop(stop: &Stop) -> String {
    match stop {
        Stop::Unsupported(what) => format!("not modelled: {what}"),
        Stop::OutOfSteps => "a run took too many steps".to_owned(),
        Stop::Bound(what) => format!("a bound was reached: {what}"),
        other => format!("{other:?}"),
    }
}

/// Where an instruction, or the end of its block, stands in the source.
pub fn loc_of(program: &Program, (function, inst): (FunctionId, InstId)) -> LocId {
    let Some(body) = program.functions.get(function).and_then(|f| f.body.as_ref()) else {
        return LocId::UNKNOWN;
    };
    // An instruction behind the end of a block stands for its terminator.
    let ends = |block: &&program::Block| block.end == inst && block.first <= inst;
    match body.blocks.iter().find(ends) {
        Some(block) if body.insts.get(inst).is_none_or(|i| i.loc != block.loc) => block.loc,
        _ => body.insts.get(inst).map_or(LocId::UNKNOWN, |inst| inst.loc),
    }
}
