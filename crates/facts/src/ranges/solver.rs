//! Runs an abstract domain over one function.
//!
//! Sparse and conditional: a value is computed again only when something it reads
//! changed, and only in blocks control can reach. Values that keep changing around a
//! cycle are widened; afterwards two passes downwards win back what that lost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use program::{BlockId, Body, InstId, Op, Operand, Param, Program, Terminator, Ty};
use rustc_hash::FxHashMap;

use super::conditions::{Condition, Conditions, Fact, FactKind, Through, for_edge};
use super::domain::{Domain, Wrap};
use crate::cfg::Cfg;
use crate::loops::int_constant;
use crate::users::Users;

/// What the solver reads.
pub struct FunctionInput<'a> {
    pub program: &'a Program,
    pub body: &'a Body,
    pub params: &'a [Param],
    pub cfg: &'a Cfg,
    pub users: &'a Users,
    pub conditions: &'a Conditions,
}

/// The domain's value for every instruction and parameter of a function.
#[derive(Clone, Debug, Default)]
pub struct Solution<D> {
    /// Instructions, then parameters.
    pub values: Vec<D>,
    pub reached: Vec<bool>,
}

/// Results from outside the function: loads, calls, and whatever else the solver does not
/// compute itself. Must not depend on the function's own values.
pub type Outside<'a, D> = dyn Fn(InstId) -> Option<D> + Sync + 'a;

/// The width a value is followed in; none for floats, aggregates and wide integers.
pub fn width(ty: Ty) -> Option<u32> {
    match ty {
        Ty::Int(bits @ 1..=64) => Some(bits),
        Ty::Ptr => Some(64),
        _ => None,
    }
}

/// After so many changes a value on a cycle is widened, and any value given up.
const CHANGES_BEFORE_WIDENING: u8 = 3;
const CHANGES_BEFORE_GIVING_UP: u8 = 40;

pub fn solve<D: Domain>(
    input: &FunctionInput,
    params: Vec<D>,
    outside: &Outside<D>,
) -> Solution<D> {
    let mut solver = Solver::new(input, params, outside);
    solver.climb();
    if solver.has_widened {
        solver.descend();
        solver.descend();
    }
    Solution { values: solver.values, reached: solver.reached }
}

struct Solver<'a, D> {
    input: &'a FunctionInput<'a>,
    outside: &'a Outside<'a, D>,
    values: Vec<D>,
    reached: Vec<bool>,
    /// Taken edges, by predecessor and target.
    taken: FxHashMap<(BlockId, BlockId), ()>,
    changes: Vec<u8>,
    is_dirty: Vec<bool>,
    is_queued: Vec<bool>,
    queue: BinaryHeap<Reverse<u32>>,
    /// Values whose refinement reads the key.
    refined_by: FxHashMap<Operand, Vec<Operand>>,
    landmarks: Vec<i64>,
    has_widened: bool,
}

impl<'a, D: Domain> Solver<'a, D> {
    fn new(input: &'a FunctionInput<'a>, params: Vec<D>, outside: &'a Outside<'a, D>) -> Self {
        let n_insts = input.body.insts.len();
        let n_blocks = input.body.blocks.len();
        let mut values = vec![D::bottom(); n_insts];
        values.extend(params);
        let mut refined_by: FxHashMap<Operand, Vec<Operand>> = FxHashMap::default();
        let mut landmarks = vec![-1, 0, 1];
        for (value, fact) in input.conditions.all() {
            if let FactKind::Compared(Condition { other, .. }) = fact.kind {
                match int_constant(other, &input.program.constants) {
                    Some(constant) => {
                        if let Ok(constant) = i64::try_from(constant) {
                            let around = [constant.saturating_sub(1), constant];
                            landmarks.extend(around);
                            landmarks.push(constant.saturating_add(1));
                        }
                    }
                    None => refined_by.entry(other).or_default().push(value),
                }
            }
        }
        landmarks.sort_unstable();
        landmarks.dedup();
        Self {
            input,
            outside,
            values,
            reached: vec![false; n_blocks],
            taken: FxHashMap::default(),
            changes: vec![0; n_insts],
            is_dirty: vec![false; n_insts],
            is_queued: vec![false; n_blocks],
            queue: BinaryHeap::new(),
            refined_by,
            landmarks,
            has_widened: false,
        }
    }

    fn climb(&mut self) {
        if self.input.body.blocks.is_empty() {
            return;
        }
        self.reach(Body::ENTRY);
        while let Some(Reverse(position)) = self.queue.pop() {
            let block = self.input.cfg.order()[position as usize];
            self.is_queued[block.0 as usize] = false;
            for inst in self.input.body.blocks[block].inst_ids() {
                if std::mem::replace(&mut self.is_dirty[inst.0 as usize], false) {
                    self.update(inst, block);
                }
            }
            self.take_edges(block);
        }
    }

    fn queue_block(&mut self, block: BlockId) {
        if let Some(position) = self.input.cfg.position(block)
            && !std::mem::replace(&mut self.is_queued[block.0 as usize], true)
        {
            self.queue.push(Reverse(position as u32));
        }
    }

    fn reach(&mut self, block: BlockId) {
        if !std::mem::replace(&mut self.reached[block.0 as usize], true) {
            for inst in self.input.body.blocks[block].inst_ids() {
                self.is_dirty[inst.0 as usize] = true;
            }
            self.queue_block(block);
        }
    }

    /// Marks the edges control can take out of a block as things stand.
    fn take_edges(&mut self, block: BlockId) {
        let input = self.input;
        for &target in input.cfg.successors(block) {
            if self.taken.contains_key(&(block, target)) || !self.can_take(block, target) {
                continue;
            }
            self.taken.insert((block, target), ());
            if self.reached[target.0 as usize] {
                for inst in input.body.blocks[target].inst_ids() {
                    if matches!(input.body.insts[inst].op, Op::Phi(_)) {
                        self.is_dirty[inst.0 as usize] = true;
                    }
                }
                self.queue_block(target);
            } else {
                self.reach(target);
            }
        }
    }

    fn can_take(&self, block: BlockId, target: BlockId) -> bool {
        let input = self.input;
        match &input.body.blocks[block].terminator {
            Terminator::Branch { condition, then, otherwise } if then != otherwise => {
                let value = self.at(block, *condition, 1);
                if value.is_bottom() {
                    return false;
                }
                let zero = D::constant(1, 0);
                let is_true = D::compare(program::Predicate::Ne, &value, &zero);
                is_true != Some(target != *then)
            }
            Terminator::Switch { value, default, .. } if target != *default => {
                let Some(bits) = self.operand_width(*value) else { return true };
                let mut possible = true;
                let known = self.at(block, *value, bits);
                for_edge(input.body, &input.program.constants, block, target, |_, kind| {
                    possible = !self.refined(&known, kind, bits).is_bottom();
                });
                possible
            }
            _ => true,
        }
    }

    fn update(&mut self, inst: InstId, block: BlockId) {
        let Some(bits) = width(self.input.body.insts[inst].ty) else { return };
        let at = inst.0 as usize;
        let new = self.evaluate(inst, block, bits);
        // Only ever up, whatever the order of evaluation.
        let mut new = self.values[at].join(&new);
        if new == self.values[at] {
            return;
        }
        self.changes[at] = self.changes[at].saturating_add(1);
        if self.changes[at] >= CHANGES_BEFORE_WIDENING
            && matches!(self.input.body.insts[inst].op, Op::Phi(_))
        {
            new = self.values[at].widen(&new, bits, &self.landmarks);
            self.has_widened = true;
        }
        if self.changes[at] >= CHANGES_BEFORE_GIVING_UP {
            new = D::top(bits);
            self.has_widened = true;
        }
        self.values[at] = new;
        self.mark_users(Operand::Inst(inst));
        let refined = self.refined_by.get(&Operand::Inst(inst)).cloned();
        for value in refined.into_iter().flatten() {
            self.mark_users(value);
        }
    }

    fn mark_users(&mut self, value: Operand) {
        let input = self.input;
        for &user in input.users.of(value) {
            let block = input.body.insts[user].block;
            if self.reached[block.0 as usize] {
                self.is_dirty[user.0 as usize] = true;
                self.queue_block(block);
            }
        }
        // A branch reads its condition too.
        if let Operand::Inst(inst) = value {
            for branch in input.users.branches_on(inst) {
                if self.reached[branch.0 as usize] {
                    self.queue_block(branch);
                }
            }
        }
    }

    /// One pass that recomputes every value from the others and keeps what got smaller.
    fn descend(&mut self) {
        for &block in self.input.cfg.order() {
            if !self.reached[block.0 as usize] {
                continue;
            }
            for inst in self.input.body.blocks[block].inst_ids() {
                if let Some(bits) = width(self.input.body.insts[inst].ty) {
                    let new = self.evaluate(inst, block, bits);
                    let at = inst.0 as usize;
                    self.values[at] = self.values[at].meet(&new, bits);
                }
            }
        }
    }

    fn operand_width(&self, operand: Operand) -> Option<u32> {
        operand_width(self.input, operand)
    }

    /// The value of an operand where `block` runs.
    fn at(&self, block: BlockId, operand: Operand, bits: u32) -> D {
        value_at(self.input, &self.values, block, operand, bits)
    }

    fn refined(&self, value: &D, kind: FactKind, bits: u32) -> D {
        refine(self.input, &self.values, value, kind, bits)
    }

    fn evaluate(&self, inst: InstId, block: BlockId, bits: u32) -> D {
        let body = self.input.body;
        let operand = |operand: Operand| self.at(block, operand, bits);
        match &body.insts[inst].op {
            Op::Alloca { .. } => not_null::<D>(),
            Op::Binary { op, lhs, rhs, no_signed_wrap, no_unsigned_wrap } => {
                let wrap = Wrap { no_signed: *no_signed_wrap, no_unsigned: *no_unsigned_wrap };
                D::binary(*op, bits, wrap, &operand(*lhs), &operand(*rhs))
            }
            Op::Compare { predicate, lhs, rhs } => {
                let Some(bits) = self.operand_width(*lhs) else { return D::top(1) };
                let (lhs, rhs) = (self.at(block, *lhs, bits), self.at(block, *rhs, bits));
                if lhs.is_bottom() || rhs.is_bottom() {
                    return D::bottom();
                }
                match D::compare(*predicate, &lhs, &rhs) {
                    Some(outcome) => D::constant(1, outcome.into()),
                    None => D::top(1),
                }
            }
            Op::Convert(conversion) => match self.operand_width(conversion.value) {
                Some(from) => {
                    self.at(block, conversion.value, from).convert(conversion.kind, from, bits)
                }
                None => D::top(bits),
            },
            Op::Select { condition, then, otherwise } => {
                self.select(block, *condition, *then, *otherwise, bits)
            }
            Op::Phi(operands) => self.phi(block, operands, bits),
            Op::Address(address) => self.address(block, address),
            Op::Bind { .. } => D::top(bits),
            _ => (self.outside)(inst).unwrap_or_else(|| D::top(bits)),
        }
    }

    fn select(
        &self,
        block: BlockId,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
        bits: u32,
    ) -> D {
        let condition = self.at(block, condition, 1);
        if condition.is_bottom() {
            return D::bottom();
        }
        let side = |operand| self.at(block, operand, bits);
        match D::compare(program::Predicate::Ne, &condition, &D::constant(1, 0)) {
            Some(true) => side(then),
            Some(false) => side(otherwise),
            None => side(then).join(&side(otherwise)),
        }
    }

    fn phi(&self, block: BlockId, operands: &[(BlockId, Operand)], bits: u32) -> D {
        let input = self.input;
        let mut joined = D::bottom();
        for &(from, operand) in operands {
            if !self.taken.contains_key(&(from, block)) {
                continue;
            }
            let mut value = self.at(from, operand, bits);
            for_edge(input.body, &input.program.constants, from, block, |about, kind| {
                if about == operand {
                    value = self.refined(&value, kind, bits);
                }
            });
            joined = joined.join(&value);
        }
        joined
    }

    /// Arithmetic within an object keeps a valid pointer valid; what else it may be is
    /// not followed.
    fn address(&self, block: BlockId, address: &program::Address) -> D {
        let base = self.at(block, address.base, 64);
        if base.is_bottom() {
            return D::bottom();
        }
        let stays = address.offset == 0 && address.terms.is_empty();
        if stays {
            return base;
        }
        let zero = D::constant(64, 0);
        let is_valid = D::compare(program::Predicate::Ne, &base, &zero) == Some(true);
        if is_valid && address.in_bounds { not_null::<D>() } else { D::top(64) }
    }
}

/// Any pointer but null.
pub fn not_null<D: Domain>() -> D {
    D::top(64).assume(program::Predicate::Ne, &D::constant(64, 0), 64)
}

pub fn operand_width(input: &FunctionInput, operand: Operand) -> Option<u32> {
    match operand {
        Operand::Inst(inst) => width(input.body.insts[inst].ty),
        Operand::Param(index) => width(input.params.get(index as usize)?.ty),
        Operand::Const(id) => width(input.program.constants.get(id)?.ty()),
    }
}

/// The value of an operand where `block` runs: its own, cut by the conditions that hold.
pub fn value_at<D: Domain>(
    input: &FunctionInput,
    values: &[D],
    block: BlockId,
    operand: Operand,
    bits: u32,
) -> D {
    let mut value = plain_value(input, values, operand, bits);
    for Fact { from, kind } in input.conditions.about(operand) {
        if input.cfg.dominates(*from, block) {
            value = refine(input, values, &value, *kind, bits);
        }
    }
    value
}

fn plain_value<D: Domain>(input: &FunctionInput, values: &[D], operand: Operand, bits: u32) -> D {
    match operand {
        Operand::Inst(inst) => match width(input.body.insts[inst].ty) {
            Some(own) if own == bits => values[inst.0 as usize].clone(),
            _ => D::top(bits),
        },
        Operand::Param(index) => match input.params.get(index as usize).map(|p| width(p.ty)) {
            Some(Some(own)) if own == bits => {
                values[input.body.insts.len() + index as usize].clone()
            }
            _ => D::top(bits),
        },
        Operand::Const(id) => match input.program.constants.get(id) {
            Some(program::Const::Global { .. } | program::Const::Function(_)) => not_null::<D>(),
            _ => match int_constant(operand, &input.program.constants) {
                Some(value) => D::constant(bits, value),
                None => D::top(bits),
            },
        },
    }
}

fn refine<D: Domain>(
    input: &FunctionInput,
    values: &[D],
    value: &D,
    kind: FactKind,
    bits: u32,
) -> D {
    match kind {
        FactKind::Cases { low, high } => {
            let (low, high) = (D::constant(bits, low.into()), D::constant(bits, high.into()));
            value.assume(program::Predicate::SignedGe, &low, bits).assume(
                program::Predicate::SignedLe,
                &high,
                bits,
            )
        }
        FactKind::Compared(Condition { through, predicate, other, .. }) => {
            use program::ConversionKind as Kind;
            let (kind, wide) = match through {
                Through::Itself => {
                    let other = plain_value(input, values, other, bits);
                    return value.assume(predicate, &other, bits);
                }
                Through::SignExtend(wide) => (Kind::SignExtend, wide),
                Through::ZeroExtend(wide) => (Kind::ZeroExtend, wide),
            };
            // Cut the extended value; what is left fits the narrow width again.
            let other = plain_value(input, values, other, wide);
            let extended = value.convert(kind, bits, wide).assume(predicate, &other, wide);
            if extended.is_bottom() {
                return D::bottom();
            }
            extended.convert(Kind::Truncate, wide, bits).meet(value, bits)
        }
    }
}
