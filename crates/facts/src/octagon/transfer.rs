//! What one function does to octagons: its variables, conditions and joins.
//!
//! Variables are the function's integer joins and parameters; other values count as far as they
//! are such a variable plus a constant.

use std::collections::BTreeMap;

use program::{
    BinaryOp, BlockId, Body, Const, ConversionKind, Function, Op, Operand, Predicate, Program,
    Terminator, Ty,
};

use super::{Linear, Octagon};

/// More variables than this are left out.
const MAX_VARIABLES: usize = 14;

/// A step of the control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub from: BlockId,
    pub to: BlockId,
}

pub struct Transfer<'p> {
    pub program: &'p Program,
    pub body: &'p Body,
    pub numbers: BTreeMap<Operand, usize>,
}

impl<'p> Transfer<'p> {
    /// Joins of truth values are variables only where `has_bits`: `a && b` joins them, and
    /// without disjunctions nothing follows from their values.
    pub fn new(program: &'p Program, function: &Function, body: &'p Body, has_bits: bool) -> Self {
        let least = if has_bits { 1 } else { 2 };
        let is_int = |ty: Ty| matches!(ty, Ty::Int(bits) if (least..=64).contains(&bits));
        let insts = body.insts.iter_enumerated();
        let joins = insts.filter(|(_, inst)| matches!(inst.op, Op::Phi(_)) && is_int(inst.ty));
        let params = (0..).zip(&function.params).filter(|(_, param)| is_int(param.ty));
        let all = joins
            .map(|(id, _)| Operand::Inst(id))
            .chain(params.map(|(index, _)| Operand::Param(index)));
        let numbers = all.take(MAX_VARIABLES).zip(0..).collect();
        Self { program, body, numbers }
    }

    pub fn n_variables(&self) -> usize {
        self.numbers.len()
    }

    /// What holds at the start, where parameters stay within these bounds.
    pub fn start(&self, parameters: &[(u32, i64, i64)]) -> Octagon {
        let mut start = Octagon::all(self.n_variables());
        for (index, low, high) in parameters {
            if let Some(variable) = self.numbers.get(&Operand::Param(*index)) {
                start.assume_le(Linear::constant(*low), Linear::variable(*variable));
                start.assume_le(Linear::variable(*variable), Linear::constant(*high));
            }
        }
        start
    }

    /// A value as a variable plus a constant.
    pub fn linear(&self, operand: Operand) -> Option<Linear> {
        self.linear_at(operand, 0)
    }

    fn linear_at(&self, operand: Operand, depth: u32) -> Option<Linear> {
        if let Some(variable) = self.numbers.get(&operand) {
            return Some(Linear::variable(*variable));
        }
        match operand {
            Operand::Const(id) => match self.program.constants[id] {
                // Truth is sign-extended, too.
                Const::Int { bits: 1, value } => Some(Linear::constant(i64::from(value != 0))),
                Const::Int { value, .. } => i64::try_from(value).ok().map(Linear::constant),
                _ => None,
            },
            Operand::Inst(inst) if depth < 20 => match &self.body.insts[inst].op {
                Op::Convert(c) if c.kind == ConversionKind::SignExtend => {
                    self.linear_at(c.value, depth + 1)
                }
                Op::Convert(c) if c.kind == ConversionKind::ZeroExtend && self.is_bit(c.value) => {
                    self.linear_at(c.value, depth + 1)
                }
                Op::Binary { op, lhs, rhs, no_signed_wrap: true, .. } => {
                    let (a, b) =
                        (self.linear_at(*lhs, depth + 1)?, self.linear_at(*rhs, depth + 1)?);
                    match (op, a.variable, b.variable) {
                        (BinaryOp::Add, _, None) => Some(a.plus(b.constant)),
                        (BinaryOp::Add, None, _) => Some(b.plus(a.constant)),
                        (BinaryOp::Sub, _, None) => Some(a.plus(-b.constant)),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn is_bit(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Inst(inst) if self.body.insts[inst].ty == Ty::Int(1))
    }

    /// What must hold to go along an edge.
    pub fn assume(&self, state: &mut Octagon, edge: Edge) {
        if let Some((condition, holds)) = self.condition(edge) {
            self.assume_value(state, condition, holds);
        }
    }

    /// The value an edge depends on, and what it is there.
    pub fn condition(&self, edge: Edge) -> Option<(Operand, bool)> {
        match &self.body.blocks[edge.from].terminator {
            Terminator::Branch { condition, then, otherwise } if then != otherwise => {
                Some((*condition, edge.to == *then))
            }
            _ => None,
        }
    }

    /// Both sides of a comparison, where they are linear.
    pub fn comparison(&self, condition: Operand) -> Option<(Predicate, Linear, Linear)> {
        let Operand::Inst(inst) = condition else { return None };
        let Op::Compare { predicate, lhs, rhs } = &self.body.insts[inst].op else { return None };
        Some((*predicate, self.linear(*lhs)?, self.linear(*rhs)?))
    }

    pub fn assume_value(&self, state: &mut Octagon, condition: Operand, holds: bool) {
        let Some((predicate, a, b)) = self.comparison(condition) else { return };
        match (predicate, holds) {
            (Predicate::SignedLe, true) | (Predicate::SignedGt, false) => state.assume_le(a, b),
            (Predicate::SignedLt, true) | (Predicate::SignedGe, false) => {
                state.assume_le(a.plus(1), b)
            }
            (Predicate::SignedGe, true) | (Predicate::SignedLt, false) => state.assume_le(b, a),
            (Predicate::SignedGt, true) | (Predicate::SignedLe, false) => {
                state.assume_le(b.plus(1), a)
            }
            (Predicate::Eq, true) | (Predicate::Ne, false) => state.assume_eq(a, b),
            _ => {}
        }
    }

    /// The joins an edge decides.
    pub fn assignments(&self, edge: Edge) -> Vec<(usize, Option<Linear>)> {
        let mut found = Vec::new();
        for inst in self.body.blocks[edge.to].inst_ids() {
            let Op::Phi(edges) = &self.body.insts[inst].op else { break };
            let Some(variable) = self.numbers.get(&Operand::Inst(inst)) else { continue };
            let value = edges.iter().find(|(from, _)| *from == edge.from);
            found.push((*variable, value.and_then(|(_, value)| self.linear(*value))));
        }
        found
    }

    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (from, block) in self.body.blocks.iter_enumerated() {
            for to in block.terminator.successors() {
                let edge = Edge { from, to };
                if !edges.contains(&edge) {
                    edges.push(edge);
                }
            }
        }
        edges
    }
}
