//! Unsigned numbers that wrap on purpose: `while (n--)` takes one off zero and goes away, and
//! `++n` after it makes good what that did.

use program::{
    BinaryOp, BlockId, Body, Const, InstId, Op, Operand, Predicate, Program, Terminator, Ty,
};
use rustc_hash::FxHashSet;

/// Blocks that are come to after a number wrapped.
pub struct AfterWrap {
    /// The block that takes one off.
    from: BlockId,
    /// The block that tests whether there was something to take off.
    tests: BlockId,
    /// Where it goes if there was nothing to take off.
    to: BlockId,
    blocks: FxHashSet<BlockId>,
}

impl AfterWrap {
    /// Whether a use of the number, or of what was made of it, happens where it wrapped.
    pub fn sees(&self, body: &Body, user: InstId, number: InstId) -> bool {
        let inst = &body.insts[user];
        // Control does not come back to the block that takes one off.
        let is_there = body.insts[number].block == self.from;
        let comes_from = |from: BlockId| {
            self.blocks.contains(&from)
                || (is_there && from == self.from && inst.block == self.tests)
                || (from == self.tests && inst.block == self.to)
        };
        match &inst.op {
            Op::Phi(operands) => operands
                .iter()
                .any(|(from, operand)| *operand == Operand::Inst(number) && comes_from(*from)),
            _ => {
                self.blocks.contains(&inst.block)
                    || inst.block == self.tests
                    || (is_there && inst.block == self.from)
            }
        }
    }
}

/// Where control goes once `number`, one less than another, wrapped: only known where its
/// block, or the one control comes to next, tests the other for zero.
pub fn blocks_after_wrap(program: &Program, body: &Body, number: InstId) -> Option<AfterWrap> {
    let (before, 1) = decrement(program, body, number)? else { return None };
    let from = body.insts[number].block;
    let tests = match &body.blocks[from].terminator {
        Terminator::Jump(next) => *next,
        _ => from,
    };
    let Terminator::Branch { condition: Operand::Inst(test), then, otherwise } =
        &body.blocks[tests].terminator
    else {
        return None;
    };
    let Op::Compare { predicate, lhs, rhs } = &body.insts[*test].op else { return None };
    let is_before = *lhs == before || arrives(body, *lhs, from, tests) == Some(before);
    if !is_before || constant(program, body, *rhs) != Some(0) {
        return None;
    }
    let to = match predicate {
        Predicate::Ne | Predicate::UnsignedGt => *otherwise,
        Predicate::Eq | Predicate::UnsignedLe => *then,
        _ => return None,
    };
    let (mut blocks, mut waiting) = (FxHashSet::default(), vec![to]);
    while let Some(block) = waiting.pop() {
        // There it is taken off anew.
        if block != from && blocks.insert(block) {
            waiting.extend(body.blocks[block].terminator.successors());
        }
    }
    Some(AfterWrap { from, tests, to, blocks })
}

/// What a variable of the block `to` is when control comes there from another.
fn arrives(body: &Body, variable: Operand, from: BlockId, to: BlockId) -> Option<Operand> {
    let Operand::Inst(phi) = variable else { return None };
    let Op::Phi(operands) = &body.insts[phi].op else { return None };
    let incoming = operands.iter().find(|(block, _)| *block == from)?;
    (body.insts[phi].block == to).then_some(incoming.1)
}

/// Whether `sum` adds no more than was taken off on every way to it, or is taken off zero.
pub fn restores(program: &Program, body: &Body, sum: InstId) -> bool {
    if let Op::Binary { op: BinaryOp::Sub, lhs, .. } = &body.insts[sum].op {
        // `0 - n` is how negative numbers and masks are made.
        return constant(program, body, *lhs) == Some(0);
    }
    let Op::Binary { op: BinaryOp::Add, lhs, rhs, .. } = &body.insts[sum].op else { return false };
    let Some(added) = constant(program, body, *rhs).filter(|added| *added > 0) else {
        return false;
    };
    let Operand::Inst(start) = lhs else { return false };
    let (mut seen, mut waiting) = (FxHashSet::default(), vec![*start]);
    while let Some(inst) = waiting.pop() {
        if !seen.insert(inst) {
            continue;
        }
        match &body.insts[inst].op {
            Op::Phi(operands) => {
                for (_, operand) in operands {
                    let Operand::Inst(operand) = operand else { return false };
                    waiting.push(*operand);
                }
            }
            _ => match decrement(program, body, inst) {
                Some((_, taken)) if taken >= added => {}
                _ => return false,
            },
        }
    }
    true
}

/// Whether only the top bit of a number is wanted: `(a - b) >> 63` asks without a branch which
/// of the two is larger.
pub fn takes_top_bit(program: &Program, body: &Body, user: InstId, number: Operand) -> bool {
    let inst = &body.insts[user];
    let (Op::Binary { op, lhs, rhs, .. }, Ty::Int(bits)) = (&inst.op, inst.ty) else {
        return false;
    };
    matches!(op, BinaryOp::LogicalShr | BinaryOp::ArithmeticShr)
        && *lhs == number
        && constant(program, body, *rhs) == Some(i128::from(bits) - 1)
}

/// A number less a constant, whichever way it was compiled.
fn decrement(program: &Program, body: &Body, inst: InstId) -> Option<(Operand, i128)> {
    match &body.insts[inst].op {
        Op::Binary { op: BinaryOp::Sub, lhs, rhs, .. } => {
            constant(program, body, *rhs).filter(|by| *by > 0).map(|by| (*lhs, by))
        }
        Op::Binary { op: BinaryOp::Add, lhs, rhs, .. } => {
            constant(program, body, *rhs).filter(|by| *by < 0).map(|by| (*lhs, -by))
        }
        _ => None,
    }
}

/// The number an operand is in the source. Converting one that is not negative changes nothing.
pub fn constant(program: &Program, body: &Body, operand: Operand) -> Option<i128> {
    match operand {
        Operand::Const(id) => match program.constants[id] {
            Const::Int { value, .. } => Some(value),
            Const::Zero(_) => Some(0),
            _ => None,
        },
        Operand::Inst(inst) => match &body.insts[inst].op {
            Op::Convert(conversion) => {
                let converted = matches!(conversion.value, Operand::Const(_));
                let value = constant(program, body, conversion.value)?;
                (converted && value >= 0).then_some(value)
            }
            _ => None,
        },
        Operand::Param(_) => None,
    }
}
