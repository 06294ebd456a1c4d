//! Properties of one function proved by octagons, and what the proofs rest on.
//!
//! Variables are the function's integer parameters and joins; other values count as far as
//! they are such a variable plus a constant. Forwards this gives invariants; backwards, from a
//! proved property, its safety and error projections and the relevant edges of the paper (4.1):
//! those without which the error could be reached.

use std::collections::BTreeMap;

use program::{
    BinaryOp, BlockId, Body, CType, Const, ConversionKind, Function, InstId, Op, Operand, PathStep,
    Predicate, Program, Terminator, Ty,
};

use super::{Linear, Octagon};

/// More variables than this are left out.
const MAX_VARIABLES: usize = 14;
/// Rounds over the blocks before bounds are given up.
const ROUNDS_BEFORE_WIDENING: usize = 3;
const MAX_ROUNDS: usize = 40;

/// Which bound of an array an access must respect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    Lower,
    Upper,
}

/// An array access at an instruction stays above or below a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property {
    pub inst: InstId,
    pub side: Side,
    pub index: Linear,
    /// The index must be at least, or at most, this.
    pub bound: i64,
    pub is_proved: bool,
}

/// A step of the control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    pub from: BlockId,
    pub to: BlockId,
}

/// What is known about one function.
pub struct Proofs<'p> {
    program: &'p Program,
    function: &'p Function,
    body: &'p Body,
    /// Joins, and behind them parameters.
    variables: Vec<Operand>,
    numbers: BTreeMap<Operand, usize>,
    /// At the start of each block, after its joins.
    invariants: Vec<Octagon>,
    pub properties: Vec<Property>,
}

impl<'p> Proofs<'p> {
    /// `parameters` are bounds of parameters, where all callers keep them.
    pub fn new(
        program: &'p Program,
        function: &'p Function,
        parameters: &BTreeMap<u32, (i64, i64)>,
    ) -> Option<Self> {
        let body = function.body.as_ref()?;
        let mut proofs = Self {
            program,
            function,
            body,
            variables: Vec::new(),
            numbers: BTreeMap::new(),
            invariants: Vec::new(),
            properties: Vec::new(),
        };
        proofs.number();
        proofs.forwards(parameters);
        proofs.find_properties();
        Some(proofs)
    }

    fn number(&mut self) {
        let is_int = |ty: Ty| matches!(ty, Ty::Int(2..=64));
        let insts = self.body.insts.iter_enumerated();
        let joins = insts.filter(|(_, inst)| matches!(inst.op, Op::Phi(_)) && is_int(inst.ty));
        let params = (0..).zip(&self.function.params).filter(|(_, param)| is_int(param.ty));
        let all = joins
            .map(|(id, _)| Operand::Inst(id))
            .chain(params.map(|(index, _)| Operand::Param(index)));
        for operand in all.take(MAX_VARIABLES) {
            self.numbers.insert(operand, self.variables.len());
            self.variables.push(operand);
        }
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
                Const::Int { value, .. } => i64::try_from(value).ok().map(Linear::constant),
                _ => None,
            },
            Operand::Inst(inst) if depth < 20 => match &self.body.insts[inst].op {
                Op::Convert(c) if c.kind == ConversionKind::SignExtend => {
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

    /// What must hold to go along an edge.
    fn assume(&self, state: &mut Octagon, edge: Edge) {
        let Terminator::Branch { condition, then, otherwise } =
            &self.body.blocks[edge.from].terminator
        else {
            return;
        };
        if then == otherwise {
            return;
        }
        let Operand::Inst(inst) = condition else { return };
        let Op::Compare { predicate, lhs, rhs } = &self.body.insts[*inst].op else { return };
        let (Some(a), Some(b)) = (self.linear(*lhs), self.linear(*rhs)) else { return };
        let holds = edge.to == *then;
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
    fn assignments(&self, edge: Edge) -> Vec<(usize, Option<Linear>)> {
        let mut found = Vec::new();
        for inst in self.body.blocks[edge.to].inst_ids() {
            let Op::Phi(edges) = &self.body.insts[inst].op else { break };
            let Some(variable) = self.numbers.get(&Operand::Inst(inst)) else { continue };
            let value = edges.iter().find(|(from, _)| *from == edge.from);
            found.push((*variable, value.and_then(|(_, value)| self.linear(*value))));
        }
        found
    }

    fn edges(&self) -> Vec<Edge> {
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

    fn forwards(&mut self, parameters: &BTreeMap<u32, (i64, i64)>) {
        let n = self.variables.len();
        let mut start = Octagon::all(n);
        for (index, (low, high)) in parameters {
            if let Some(variable) = self.numbers.get(&Operand::Param(*index)) {
                start.assume_le(Linear::constant(*low), Linear::variable(*variable));
                start.assume_le(Linear::variable(*variable), Linear::constant(*high));
            }
        }
        let edges = self.edges();
        let mut states = vec![Octagon::none(n); self.body.blocks.len()];
        if let Some(entry) = states.first_mut() {
            *entry = start;
        }
        for round in 0..MAX_ROUNDS {
            let mut is_stable = true;
            for edge in &edges {
                let mut state = states[edge.from.0 as usize].clone();
                self.assume(&mut state, *edge);
                let state = state.assign(&self.assignments(*edge));
                let old = &states[edge.to.0 as usize];
                if old.contains(&state) {
                    continue;
                }
                is_stable = false;
                let joined = old.join(&state);
                let widens = round >= ROUNDS_BEFORE_WIDENING && edge.to <= edge.from;
                states[edge.to.0 as usize] = if widens { old.widen(&joined) } else { joined };
            }
            if is_stable {
                self.invariants = self.narrowed(states, &edges);
                return;
            }
        }
        self.invariants = vec![Octagon::all(n); self.body.blocks.len()];
    }

    /// One more round without widening brings back bounds that conditions give.
    fn narrowed(&self, states: Vec<Octagon>, edges: &[Edge]) -> Vec<Octagon> {
        let n = self.variables.len();
        let mut next = vec![Octagon::none(n); states.len()];
        if let (Some(first), Some(known)) = (next.first_mut(), states.first()) {
            *first = known.clone();
        }
        for edge in edges {
            let mut state = states[edge.from.0 as usize].clone();
            self.assume(&mut state, *edge);
            let state = state.assign(&self.assignments(*edge));
            let at = edge.to.0 as usize;
            next[at] = next[at].join(&state);
        }
        next
    }

    fn find_properties(&mut self) {
        for (inst, found) in self.body.insts.iter_enumerated() {
            let access = match &found.op {
                Op::Load(access) | Op::Store { access, .. } => access,
                _ => continue,
            };
            let Operand::Inst(address) = access.ptr else { continue };
            let Op::Address(address) = &self.body.insts[address].op else { continue };
            let [PathStep::Index { term: Some(term), .. }] = &address.path[..] else { continue };
            let Some(term) = address.terms.get(*term as usize) else { continue };
            let Some(index) = self.linear(term.index) else { continue };
            let state = &self.invariants[found.block.0 as usize];
            let holds = |a: Linear, b: Linear| {
                let mut violating = state.clone();
                violating.assume_le(b.plus(1), a);
                violating.is_empty()
            };
            let zero = Linear::constant(0);
            let is_proved = holds(zero, index);
            let mut add = |side, bound, is_proved| {
                self.properties.push(Property { inst, side, index, bound, is_proved });
            };
            add(Side::Lower, 0, is_proved);
            if let Some(count) = count_of(self.program, self.body, address.base) {
                let last = Linear::constant(count - 1);
                add(Side::Upper, count - 1, holds(index, last));
            }
        }
    }

    /// Backwards from a property: at each block, what its states must satisfy (`is_safe`) or
    /// may satisfy when it is violated.
    pub fn projection(&self, property: &Property, is_safe: bool) -> Vec<Octagon> {
        let n = self.variables.len();
        let mut states = vec![Octagon::none(n); self.body.blocks.len()];
        let at = self.body.insts[property.inst].block;
        let mut start = Octagon::all(n);
        let bound = Linear::constant(property.bound);
        match (property.side, is_safe) {
            (Side::Lower, true) => start.assume_le(bound, property.index),
            (Side::Lower, false) => start.assume_le(property.index.plus(1), bound),
            (Side::Upper, true) => start.assume_le(property.index, bound),
            (Side::Upper, false) => start.assume_le(bound.plus(1), property.index),
        }
        states[at.0 as usize] = start.clone();
        let edges = self.edges();
        for round in 0..MAX_ROUNDS {
            let mut is_stable = true;
            for edge in edges.iter().rev() {
                let mut state = states[edge.to.0 as usize].before_assign(&self.assignments(*edge));
                self.assume(&mut state, *edge);
                // What passes the check once more has to satisfy it then, too.
                if is_safe && edge.from == at {
                    state = state.meet(&start);
                }
                let old = &states[edge.from.0 as usize];
                if old.contains(&state) {
                    continue;
                }
                is_stable = false;
                let joined = old.join(&state);
                let widens = round >= ROUNDS_BEFORE_WIDENING;
                states[edge.from.0 as usize] = if widens { old.widen(&joined) } else { joined };
            }
            if is_stable {
                break;
            }
        }
        states
    }

    /// Edges without which a proved property could be violated.
    pub fn relevant_edges(&self, property: &Property) -> Vec<Edge> {
        let error = self.projection(property, false);
        let is_relevant = |edge: &Edge| {
            let after = &self.invariants[edge.to.0 as usize];
            let before = &self.invariants[edge.from.0 as usize];
            let psi = &error[edge.to.0 as usize];
            !psi.is_empty()
                && !before.is_empty()
                && after.meet(psi).is_empty()
                && !before.meet(psi).is_empty()
        };
        self.edges().into_iter().filter(is_relevant).collect()
    }

    /// The joins that an edge decides, and what they become.
    pub fn decided(&self, edge: Edge) -> Vec<(InstId, Operand)> {
        let mut found = Vec::new();
        for inst in self.body.blocks[edge.to].inst_ids() {
            let Op::Phi(edges) = &self.body.insts[inst].op else { break };
            let value = edges.iter().find(|(from, _)| *from == edge.from);
            found.extend(value.map(|(_, value)| (inst, *value)));
        }
        found
    }

    /// Each join with its range in the states of its block.
    pub fn ranges(&self, states: &[Octagon]) -> Vec<(InstId, Option<i64>, Option<i64>)> {
        let mut found = Vec::new();
        for (operand, variable) in &self.numbers {
            let Operand::Inst(inst) = operand else { continue };
            let state = &states[self.body.insts[*inst].block.0 as usize];
            if !state.is_empty() {
                let (low, high) = state.range(*variable);
                found.push((*inst, low, high));
            }
        }
        found
    }

    /// Whether an edge is one of several ways out of its block.
    pub fn is_decision(&self, edge: Edge) -> bool {
        self.body.blocks[edge.from].terminator.successors().len() > 1
    }
}

/// Elements of the array a base points to.
fn count_of(program: &Program, body: &Body, base: Operand) -> Option<i64> {
    let array = match base {
        Operand::Inst(inst) => match &body.insts[inst].op {
            Op::Alloca { variable: Some(variable), count: None, .. } => {
                body.variables[*variable].ctype
            }
            _ => program.pointee(body.insts[inst].ctype),
        },
        Operand::Const(id) => match program.constants[id] {
            Const::Global { global, offset: 0 } => program.globals[global].ctype,
            _ => return None,
        },
        Operand::Param(_) => return None,
    };
    match program.resolved_type(array) {
        CType::Array { count: Some(count), .. } => i64::try_from(*count).ok(),
        _ => None,
    }
}
