//! Going on past what is not looked for.
//!
//! A run that violates one property never comes to what is wrong behind it. Where that is asked
//! for, runs pass over the violations of some lines: what is read there is zero, what is written
//! is dropped, a sum that overflows wraps, and an assertion counts as if it held.

use program::{BlockId, Body, InstId, Op, Terminator, Ty};

use crate::arithmetic::binary;
use crate::exec::{Frame, Machine};
use crate::record::Point;
use crate::value::{Bits, Value};
use crate::{FaultKind, Stop, Why};

/// Violations that runs pass over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassedOver {
    pub line: u32,
    /// `None` for assertions.
    pub kind: Option<FaultKind>,
}

/// How many of them there may be.
pub const MAX_PASSED: usize = 8;

impl<'p> Machine<'p> {
    /// Whether the run goes on though this instruction did what C does not define, or failed an
    /// assertion. Where it does, what the instruction yields is set.
    pub(crate) fn passes_over(&mut self, frame: &mut Frame<'p>, inst: InstId, stop: &Stop) -> bool {
        if self.inputs.passed[0].is_none() || self.stopped_at.is_some() {
            return false;
        }
        let kind = match stop {
            Stop::Fault(kind) => Some(*kind),
            Stop::Abort => None,
            _ => return false,
        };
        let body = frame.body;
        let line = self.program.locs[body.insts[inst].loc].line;
        let passed = PassedOver { line, kind };
        if !self.inputs.passed.contains(&Some(passed)) {
            return false;
        }
        let Some(value) = self.instead(frame, inst) else { return false };
        frame.values[inst] = value;
        self.passed_over.push((frame.id, Point::Inst(inst)));
        if let Some((inside, kind)) = self.violated.take().zip(kind) {
            let outside = self.memory.words.not(inside);
            self.holds(outside, Why::Check(kind));
        }
        true
    }

    /// What an instruction yields whose own result is not defined.
    fn instead(&mut self, frame: &Frame<'p>, id: InstId) -> Option<Value> {
        let inst = &frame.body.insts[id];
        match &inst.op {
            Op::Binary { op, lhs, rhs, .. } => {
                let operands = (self.bits(frame, *lhs).ok()?, self.bits(frame, *rhs).ok()?);
                let wrapped = binary(*op, inst.ty, operands, false).ok();
                let wrapped =
                    wrapped.map(|result| self.shadow_binary(*op, inst.ty, operands, false, result));
                Some(wrapped.unwrap_or(Bits::known(0)).into())
            }
            // Functions that write to memory return where they were told to write.
            Op::Call(call) if inst.ty == Ty::Ptr => match call.args.first() {
                Some(first) if self.ty(frame, *first) == Ty::Ptr => {
                    self.operand(frame, *first).ok()
                }
                _ => Some(Value::known(0)),
            },
            _ if matches!(inst.ty, Ty::Aggregate(_)) => None,
            _ => Some(Value::known(0)),
        }
    }
}

/// Where control goes instead of the block of a failed assertion.
pub(crate) fn other_way(body: &Body, from: Option<BlockId>, failed: BlockId) -> Option<BlockId> {
    match &body.blocks[from?].terminator {
        Terminator::Branch { then, otherwise, .. } => {
            Some(if *then == failed { *otherwise } else { *then })
        }
        _ => None,
    }
}
