//! Trip counts: how often a loop jumps back before an exit test ends it.

use program::{
    BinaryOp, BlockId, ConversionKind as Kind, InstId, Op, Operand, Predicate, Terminator,
};

use super::induction::Induction;
use super::linear::Linear;
use super::{LoopView, sign_extended};
use crate::ranges::conditions::{comparison, swapped};

/// An exit test that compares an induction variable with something that stays the same.
///
/// The loop goes on while `scale * phi + offset  <predicate>  bound`, tested in `exit.0`
/// once each time round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TripCount {
    pub exit: (BlockId, BlockId),
    pub phi: InstId,
    pub scale: i128,
    pub offset: i128,
    pub predicate: Predicate,
    /// A sum of loop invariants.
    pub bound: Linear,
    /// How many times the test lets the loop go on, where all numbers are known.
    pub constant: Option<u128>,
    /// No other way leads out of the loop, so the count is exact and not only a limit.
    pub is_only_exit: bool,
}

pub(super) fn find(view: &LoopView, inductions: &[Induction]) -> Vec<TripCount> {
    let nest = &view.cfg.loops.loops[view.id];
    let is_only_exit = nest.exits.len() == 1;
    let every_round = |block: BlockId| nest.latches.iter().all(|&l| view.cfg.dominates(block, l));
    nest.exits
        .iter()
        .filter(|(from, _)| every_round(*from))
        .filter_map(|&exit| {
            let (predicate, lhs, rhs) = stay_condition(view, exit)?;
            let mut count = orient(view, inductions, exit, predicate, lhs, rhs)
                .or_else(|| orient(view, inductions, exit, swapped(predicate), rhs, lhs))?;
            count.is_only_exit = is_only_exit;
            Some(count)
        })
        .collect()
}

/// The comparison that keeps control inside at this exit.
fn stay_condition(
    view: &LoopView,
    exit: (BlockId, BlockId),
) -> Option<(Predicate, Operand, Operand)> {
    let Terminator::Branch { condition, then, otherwise } = &view.body.blocks[exit.0].terminator
    else {
        return None;
    };
    if then == otherwise {
        return None;
    }
    comparison(view.body, view.constants, *condition, *then != exit.1)
}

/// Reads `lhs <predicate> rhs` with the induction variable on the left.
fn orient(
    view: &LoopView,
    inductions: &[Induction],
    exit: (BlockId, BlockId),
    predicate: Predicate,
    lhs: Operand,
    rhs: Operand,
) -> Option<TripCount> {
    let is_phi = |operand: Operand| {
        inductions.iter().any(|induction| Operand::Inst(induction.phi) == operand)
    };
    let is_leaf = |operand: Operand| is_phi(operand) || view.is_invariant(operand);
    let moving = Linear::of(lhs, view.body, view.constants, &is_leaf);
    let bound = Linear::of(rhs, view.body, view.constants, &|operand| view.is_invariant(operand));
    let [(operand, scale)] = moving.terms[..] else { return None };
    let induction = inductions.iter().find(|induction| Operand::Inst(induction.phi) == operand)?;
    if !bound.terms.iter().all(|(term, _)| view.is_invariant(*term)) {
        return None;
    }
    let mut count = TripCount {
        exit,
        phi: induction.phi,
        scale,
        offset: moving.constant,
        predicate,
        bound,
        constant: None,
        is_only_exit: false,
    };
    count.constant = constant_count(view, induction, &count, lhs);
    Some(count)
}

fn constant_count(
    view: &LoopView,
    induction: &Induction,
    count: &TripCount,
    tested: Operand,
) -> Option<u128> {
    if !count.bound.is_constant() {
        return None;
    }
    let start = view.constant(induction.start?)?;
    let step = induction.constant_step()?;
    let program::Ty::Int(bits) = view.body.insts[induction.phi].ty else { return None };
    let test = Test { view, phi: induction.phi, tested, count };
    if let Some(n) = test.run(start, step, bits)? {
        return Some(n);
    }
    // Longer than worth running: only the variable itself, tested as it is, is left to a
    // formula.
    if tested != Operand::Inst(induction.phi) {
        return None;
    }
    let (first, bound) = match is_unsigned(count.predicate) {
        true => (start.rem_euclid(1 << bits), count.bound.constant.rem_euclid(1 << bits)),
        false => (start, count.bound.constant),
    };
    rounds(count.predicate, first, step, bound, bits)
}

/// An exit test with numbers for everything.
struct Test<'a> {
    view: &'a LoopView<'a>,
    phi: InstId,
    tested: Operand,
    count: &'a TripCount,
}

/// Rounds that are worth running, to know the count whatever wraps or is cut on the way.
const MAX_ROUNDS: u128 = 2048;

impl Test<'_> {
    /// Runs the test as the machine would: how often it holds in a row, `Some(None)` if that
    /// is too often, none if it cannot be run.
    fn run(&self, start: i128, step: i128, bits: u32) -> Option<Option<u128>> {
        let mut value = sign_extended(start, bits);
        for n in 0..MAX_ROUNDS {
            let (lhs, width) = self.evaluate(self.tested, value, 16)?;
            if !holds(
                self.count.predicate,
                lhs,
                sign_extended(self.count.bound.constant, width),
                width,
            )? {
                return Some(Some(n));
            }
            value = sign_extended(value.checked_add(step)?, bits);
        }
        Some(None)
    }

    /// The value of an operand, as a signed number, and its width.
    fn evaluate(&self, operand: Operand, phi: i128, depth: u32) -> Option<(i128, u32)> {
        let inst = match operand {
            Operand::Inst(inst) => inst,
            Operand::Const(id) => {
                let program::Const::Int { bits, value } = self.view.constants.get(id)? else {
                    return None;
                };
                return Some((*value, *bits));
            }
            Operand::Param(_) => return None,
        };
        let program::Ty::Int(bits @ 1..=64) = self.view.body.insts[inst].ty else { return None };
        if inst == self.phi {
            return Some((phi, bits));
        }
        if let Some(value) = self.view.constant(operand) {
            return Some((value, bits));
        }
        let depth = depth.checked_sub(1)?;
        match &self.view.body.insts[inst].op {
            Op::Convert(conversion) if conversion.bit_field_width.is_none() => {
                let (value, from) = self.evaluate(conversion.value, phi, depth)?;
                match conversion.kind {
                    Kind::SignExtend | Kind::SignChange | Kind::Truncate => {
                        Some((sign_extended(value, bits), bits))
                    }
                    Kind::ZeroExtend => Some((value.rem_euclid(1 << from), bits)),
                    _ => None,
                }
            }
            Op::Binary { op, lhs, rhs, .. } => {
                let (lhs, _) = self.evaluate(*lhs, phi, depth)?;
                let (rhs, _) = self.evaluate(*rhs, phi, depth)?;
                let value = match op {
                    BinaryOp::Add => lhs.checked_add(rhs)?,
                    BinaryOp::Sub => lhs.checked_sub(rhs)?,
                    BinaryOp::Mul => lhs.checked_mul(rhs)?,
                    _ => return None,
                };
                Some((sign_extended(value, bits), bits))
            }
            _ => None,
        }
    }
}

/// Whether a comparison of two signed numbers of some width holds.
fn holds(predicate: Predicate, lhs: i128, rhs: i128, bits: u32) -> Option<bool> {
    use Predicate as P;
    let (a, b) = match is_unsigned(predicate) {
        true => (lhs.rem_euclid(1 << bits), rhs.rem_euclid(1 << bits)),
        false => (lhs, rhs),
    };
    Some(match predicate {
        P::Eq => a == b,
        P::Ne => a != b,
        P::SignedLt | P::UnsignedLt => a < b,
        P::SignedLe | P::UnsignedLe => a <= b,
        P::SignedGt | P::UnsignedGt => a > b,
        P::SignedGe | P::UnsignedGe => a >= b,
        P::FloatOrdered(_) | P::FloatUnordered(_) => return None,
    })
}

fn is_unsigned(predicate: Predicate) -> bool {
    use Predicate as P;
    matches!(predicate, P::UnsignedLt | P::UnsignedLe | P::UnsignedGt | P::UnsignedGe)
}

/// How often `first + n * step <predicate> bound` holds in a row from `n = 0`; none where
/// it never fails or the variable might leave its width first.
fn rounds(predicate: Predicate, first: i128, step: i128, bound: i128, bits: u32) -> Option<u128> {
    use Predicate as P;
    let is_unsigned = is_unsigned(predicate);
    if is_unsigned && (first < 0 || bound < 0) {
        return None;
    }
    let (distance, step) = match predicate {
        P::SignedLt | P::UnsignedLt => (bound - first, step),
        P::SignedLe | P::UnsignedLe => (bound - first + 1, step),
        P::SignedGt | P::UnsignedGt => (first - bound, -step),
        P::SignedGe | P::UnsignedGe => (first - bound + 1, -step),
        P::Ne => {
            let distance = bound - first;
            if distance == 0 {
                return Some(0);
            }
            let exact = step != 0 && distance % step == 0 && distance / step > 0;
            return exact.then(|| (distance / step) as u128);
        }
        P::Eq => return if first != bound { Some(0) } else { (step != 0).then_some(1) },
        P::FloatOrdered(_) | P::FloatUnordered(_) => return None,
    };
    if distance <= 0 {
        return Some(0);
    }
    if step <= 0 {
        return None;
    }
    let n = (distance + step - 1) / step;
    // The last value tested must still fit, or the variable wrapped on its way.
    let last = match predicate {
        P::SignedGt | P::UnsignedGt | P::SignedGe | P::UnsignedGe => first - n * step,
        _ => first + n * step,
    };
    let limit = 1i128 << (bits.clamp(1, 64) - u32::from(!is_unsigned));
    let floor = if is_unsigned { 0 } else { -limit };
    (floor <= last && last < limit).then_some(n as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_running_the_loop() {
        let cases = [
            (Predicate::SignedLt, 0, 1, 10),
            (Predicate::SignedLe, 0, 3, 10),
            (Predicate::SignedGt, 10, -1, 0),
            (Predicate::SignedGe, 10, -4, -7),
            (Predicate::Ne, 0, 2, 10),
            (Predicate::UnsignedLt, 3, 5, 100),
            (Predicate::SignedLt, 5, 1, 2),
        ];
        for (predicate, first, step, bound) in cases {
            let holds = |value: i128| match predicate {
                Predicate::SignedLt | Predicate::UnsignedLt => value < bound,
                Predicate::SignedLe => value <= bound,
                Predicate::SignedGt => value > bound,
                Predicate::SignedGe => value >= bound,
                _ => value != bound,
            };
            let run = (0u128..).find(|&n| !holds(first + n as i128 * step));
            assert_eq!(rounds(predicate, first, step, bound, 32), run, "{predicate:?}");
        }
    }

    #[test]
    fn a_count_that_wraps_first_is_not_claimed() {
        assert_eq!(rounds(Predicate::SignedLt, 0, 1, 127, 8), Some(127));
        assert_eq!(rounds(Predicate::SignedLe, 0, 1, 127, 8), None);
        assert_eq!(rounds(Predicate::UnsignedGe, 5, -1, 0, 8), None);
        assert_eq!(rounds(Predicate::SignedLt, 0, -1, 10, 32), None);
        assert_eq!(rounds(Predicate::Ne, 0, 3, 10, 32), None);
    }
}
