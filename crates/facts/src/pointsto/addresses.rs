//! Which numbers may be addresses, and what address arithmetic means for the layout.

use program::{Address, BinaryOp, Body, ConversionKind, Op, Operand, Param, PathStep, Program, Ty};

use super::generate::NO_NODE;
use super::graph::Node;
use super::shift::Shift;

/// Whether an integer of pointer width may be an address.
pub(super) fn carries_address(op: &Op, nodes: &[Node], body: &Body, params: &[Param]) -> bool {
    match op {
        Op::Load(_)
        | Op::Phi(_)
        | Op::Select { .. }
        | Op::Call(_)
        | Op::Extract { .. }
        | Op::AtomicUpdate { .. } => true,
        Op::Convert(conversion) => matches!(
            conversion.kind,
            ConversionKind::PointerToInt | ConversionKind::Bits | ConversionKind::SignChange
        ),
        // Sums and masks of addresses are addresses, the distance of two is none.
        Op::Binary { op, lhs, rhs, .. } => {
            let may_be = |operand: &Operand| match operand {
                Operand::Inst(inst) => nodes[inst.0 as usize] != NO_NODE,
                Operand::Param(index) => {
                    params.get(*index as usize).is_some_and(|param| param.ty == Ty::Int(64))
                }
                Operand::Const(_) => false,
            };
            let was_pointer = |operand: &Operand| {
                matches!(operand, Operand::Inst(inst) if matches!(&body.insts[*inst].op,
                    Op::Convert(conversion) if conversion.kind == ConversionKind::PointerToInt))
            };
            let is_distance = *op == BinaryOp::Sub && was_pointer(lhs) && was_pointer(rhs);
            let moves = matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor
            );
            moves && !is_distance && (may_be(lhs) || may_be(rhs))
        }
        _ => false,
    }
}

/// Whether an integer plainly is a pointer of this function, so that making it a pointer
/// again leads nowhere unknown.
pub(super) fn is_pointer_again(body: &Body, operand: Operand) -> bool {
    let mut operand = operand;
    for _ in 0..16 {
        let Operand::Inst(inst) = operand else { return false };
        match &body.insts[inst].op {
            Op::Convert(conversion) => match conversion.kind {
                ConversionKind::PointerToInt => return true,
                ConversionKind::Bits | ConversionKind::SignChange => operand = conversion.value,
                _ => return false,
            },
            Op::Binary { lhs, rhs: Operand::Const(_), .. } => operand = *lhs,
            _ => return false,
        }
    }
    false
}

/// Pointer arithmetic as the layout sees it: a leading constant index walks over elements
/// like a variable one, what follows selects a part.
pub(crate) fn shift_of(program: &Program, address: &Address) -> Shift {
    let strides: Vec<i64> = address.terms.iter().map(|term| term.stride).collect();
    // Only a member step at the front, or after walking over elements, tells what the
    // base itself points to.
    let record = match &*address.path {
        [PathStep::Field { record, .. }, ..]
        | [PathStep::Index { .. }, PathStep::Field { record, .. }, ..] => Some(*record),
        _ => None,
    };
    let mut shift = Shift { offset: address.offset, strides, is_bytewise: false, record };
    let Some(PathStep::Index { constant, .. }) = address.path.first() else {
        shift.is_bytewise = address.path.is_empty() && shift.strides.is_empty();
        return shift;
    };
    if *constant == 0 {
        return shift;
    }
    let inside = offset_of_path(program, &address.path[1..]);
    let walked = address.offset - inside;
    let element = walked / constant;
    if element.abs() <= 1 {
        shift.is_bytewise = address.path.len() == 1 && shift.strides.is_empty();
    } else {
        shift.offset = inside;
        shift.strides.push(element);
    }
    shift
}

/// The offset that member steps add up to; constant indices further in count as zero
/// because the layout folds arrays anyway.
fn offset_of_path(program: &Program, path: &[PathStep]) -> i64 {
    path.iter()
        .map(|step| match step {
            PathStep::Field { record, member } => program
                .records
                .get(*record)
                .and_then(|record| record.members.get(*member as usize))
                .map_or(0, |member| (member.offset_bits / 8) as i64),
            PathStep::UnionMembers { .. } | PathStep::Index { .. } => 0,
        })
        .sum()
}
