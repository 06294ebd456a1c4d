//! How runs end, and where.

use interpret::{FaultKind, Machine, Point, Stop};
use program::{FunctionId, LocId, Program};

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
        // Whoever waits for more input has violated nothing so far.
        Ok(_) | Err(Stop::Exit(_) | Stop::EndOfInput) => Ending::Fine,
        Err(Stop::Fault(kind)) => Ending::Violates(Property::Fault(*kind)),
        Err(Stop::Abort) => Ending::Violates(Property::Assertion),
        Err(stop) => Ending::Unclear(describe_stop(stop)),
    }
}

/// What a run violated: what it noted, and what ended it.
pub fn violations<T>(
    machine: &Machine,
    result: &Result<T, Stop>,
) -> impl Iterator<Item = ((FunctionId, Point), Property)> {
    let notes = machine.notes().iter().map(|note| (note.at, Property::Fault(note.kind)));
    let last = match ending(result) {
        Ending::Violates(property) => machine.stopped_at.map(|at| (at, property)),
        _ => None,
    };
    notes.chain(last)
}

pub fn describe_stop(stop: &Stop) -> String {
    match stop {
        Stop::Unsupported(what) => format!("not modelled: {what}"),
        Stop::OutOfSteps => "a run took too many steps".to_owned(),
        Stop::Bound(what) => format!("a bound was reached: {what}"),
        other => format!("{other:?}"),
    }
}

/// Where an instruction, or the end of a block, stands in the source.
pub fn loc_of(program: &Program, (function, point): (FunctionId, Point)) -> LocId {
    let body = program.functions.get(function).and_then(|f| f.body.as_ref());
    let loc = body.and_then(|body| match point {
        Point::Inst(inst) => body.insts.get(inst).map(|inst| inst.loc),
        Point::End(block) => body.blocks.get(block).map(|block| block.loc),
    });
    loc.unwrap_or(LocId::UNKNOWN)
}
