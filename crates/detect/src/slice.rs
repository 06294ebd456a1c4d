//! What a point's values were computed from, along the path that led there.
//!
//! Where constants decide, nothing symbolic says which assignments matter. The path is walked
//! from the point back: a value leads to the operands it was computed from, a read to the last
//! write of the same place, a parameter to its argument, a result to what the callee returned.

use logic::TermId;
use program::{
    Address, Body, CType, Callee, Const, ConstId, FunctionId, GlobalId, InstId, Op, Operand,
    PathStep, Program, RecordId, Terminator, VarId,
};
use rustc_hash::FxHashSet;

use crate::machine::memory::{ObjectId, ObjectKind};
use crate::machine::trail::{Event, What};
use crate::machine::{State, Value};
use crate::query::At;
use crate::steps::Point;

/// A place in memory that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Cell {
    Exact(ObjectId, TermId),
    /// Read in a call that is over: all that is left is what the text says.
    Local(FunctionId, InstId),
    Global(GlobalId),
    Member(RecordId, u32),
}

pub struct Slice<'s, 'p> {
    program: &'p Program,
    state: &'s State,
    values: FxHashSet<(FunctionId, Operand)>,
    variables: FxHashSet<(FunctionId, VarId)>,
    /// Constants that stand where a variable with this value stood.
    constants: FxHashSet<(FunctionId, ConstId)>,
    cells: FxHashSet<Cell>,
    /// Assignments before the last one of a variable, in the same call, count no more.
    assigned: FxHashSet<(FunctionId, u32, VarId)>,
}

impl<'s, 'p> Slice<'s, 'p> {
    /// The slice of a point that `state` has come to.
    pub fn new(program: &'p Program, state: &'s State, point: &Point) -> Self {
        let mut slice = Self {
            program,
            state,
            values: FxHashSet::default(),
            variables: FxHashSet::default(),
            constants: FxHashSet::default(),
            cells: FxHashSet::default(),
            assigned: FxHashSet::default(),
        };
        let function = point.function;
        if let Some(body) = slice.body(function) {
            match point.at {
                At::Inst(_) if !point.subjects.is_empty() => {
                    point.subjects.iter().for_each(|part| slice.operand(function, Some(*part)));
                }
                At::Inst(inst) => slice.observed(function, body, inst),
                At::End(block) => slice.operand(function, body.blocks[block].terminator.operand()),
                At::Exit => {}
            }
        }
        slice
    }

    fn body(&self, function: FunctionId) -> Option<&'p Body> {
        self.program.functions[function].body.as_ref()
    }

    /// What an observed instruction reads. What it stores goes wrong only later, if at all.
    fn observed(&mut self, function: FunctionId, body: &'p Body, inst: InstId) {
        self.operand(function, Some(Operand::Inst(inst)));
        if !matches!(body.insts[inst].op, Op::Store { .. }) {
            body.insts[inst].op.for_each_operand(|part| self.operand(function, Some(part)));
        }
    }

    /// Takes an operand and all it was computed from in its function.
    fn operand(&mut self, function: FunctionId, operand: Option<Operand>) {
        let Some(body) = self.body(function) else { return };
        let mut open: Vec<Operand> = operand.into_iter().collect();
        while let Some(operand) = open.pop() {
            if let Operand::Const(constant) = operand {
                self.constants.insert((function, constant));
            } else if self.values.insert((function, operand)) {
                if let Operand::Inst(inst) = operand {
                    self.instruction(function, body, inst, &mut open);
                }
                self.name(function, body, operand);
            }
        }
    }

    fn instruction(
        &mut self,
        function: FunctionId,
        body: &'p Body,
        inst: InstId,
        open: &mut Vec<Operand>,
    ) {
        match &body.insts[inst].op {
            // Which of them it is, the variable's own assignments say.
            Op::Phi(edges) => {
                let is_computed = |value: &Operand| !matches!(value, Operand::Const(_));
                open.extend(edges.iter().map(|(_, value)| *value).filter(is_computed));
            }
            // What a followed call was given matters as far as its body reads it.
            Op::Call(call) if self.is_followed(&call.callee) => {}
            Op::Alloca { .. } | Op::Uninit { .. } => {}
            Op::Store { access, .. } => open.push(access.ptr),
            Op::Load(access) => {
                self.cells.extend(self.cell(function, body, access.ptr));
                open.push(access.ptr);
            }
            op => op.for_each_operand(|part| open.push(part)),
        }
    }

    fn is_followed(&self, callee: &Callee) -> bool {
        matches!(callee, Callee::Function(id) if self.program.functions[*id].body.is_some())
    }

    /// The variables a value was assigned to.
    fn name(&mut self, function: FunctionId, body: &Body, operand: Operand) {
        for inst in &body.insts {
            if let Op::Bind { variable, value } = inst.op
                && value == operand
            {
                self.variables.insert((function, variable));
            }
        }
    }

    fn cell(&self, function: FunctionId, body: &Body, pointer: Operand) -> Option<Cell> {
        let frame = self.state.frames.iter().rev().find(|frame| frame.function == function);
        let known = frame.map(|frame| match pointer {
            Operand::Inst(inst) => frame.value(inst),
            Operand::Param(index) => *frame.params.get(index as usize).unwrap_or(&Value::Unknown),
            Operand::Const(_) => Value::Unknown,
        });
        match (known, pointer) {
            (Some(Value::Pointer { object, offset }), _) => Some(Cell::Exact(object, offset)),
            (_, Operand::Const(constant)) => match self.program.constants[constant] {
                Const::Global { global, .. } => Some(Cell::Global(global)),
                _ => None,
            },
            (_, Operand::Inst(inst)) => self.cell_in_text(function, body, inst),
            _ => None,
        }
    }

    fn cell_in_text(&self, function: FunctionId, body: &Body, inst: InstId) -> Option<Cell> {
        match &body.insts[inst].op {
            Op::Alloca { .. } => Some(Cell::Local(function, inst)),
            Op::Address(address) => match (member(address), address.base) {
                (Some((record, member)), _) => Some(Cell::Member(record, member)),
                (None, Operand::Inst(base)) => self.cell_in_text(function, body, base),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an event gave the point a value. Events are to come newest first.
    pub fn takes(&mut self, event: &Event) -> bool {
        let function = event.function;
        let Some(body) = self.body(function) else { return false };
        match &event.what {
            // Where values join nothing is assigned.
            What::Bound { .. } if !event.loc.is_known() => false,
            What::Bound { at, variable, .. } => {
                self.takes_assignment(function, body, *at, *variable)
                    && self.assigned.insert((function, event.depth, *variable))
            }
            What::Stored { at, object, offset, .. } => {
                let is_read = self.is_read(body, *at, *object, *offset);
                if is_read && let Op::Store { value, .. } = body.insts[*at].op {
                    self.operand(function, Some(value));
                    self.cells.remove(&Cell::Exact(*object, *offset));
                }
                is_read
            }
            What::Filled { object, .. } => self.is_part_read(*object),
            What::Entered { function: callee, call } => {
                self.takes_arguments(function, body, *call, *callee);
                false
            }
            What::Returned { from, call, .. } => {
                if self.values.contains(&(function, Operand::Inst(*call))) {
                    self.takes_results(*from);
                }
                false
            }
            _ => false,
        }
    }

    fn takes_assignment(
        &mut self,
        function: FunctionId,
        body: &Body,
        at: InstId,
        variable: VarId,
    ) -> bool {
        match body.insts[at].op {
            Op::Bind { value: Operand::Const(constant), .. } => {
                let is_pointer = |ctype| matches!(self.program.types[ctype], CType::Pointer { .. });
                let is_null = matches!(self.program.constants[constant], Const::Null);
                let stands_for = self.constants.contains(&(function, constant))
                    && is_pointer(body.variables[variable].ctype) == is_null;
                stands_for || self.variables.contains(&(function, variable))
            }
            Op::Bind { value, .. } => self.values.contains(&(function, value)),
            _ => self.values.contains(&(function, Operand::Inst(at))),
        }
    }

    /// What the text calls an object.
    fn kind(&self, object: ObjectId) -> Option<Cell> {
        match self.state.memory.get(object).kind {
            ObjectKind::Local { function, inst, .. } => Some(Cell::Local(function, inst)),
            ObjectKind::Global(global) => Some(Cell::Global(global)),
            _ => None,
        }
    }

    fn is_read(&self, body: &Body, at: InstId, object: ObjectId, offset: TermId) -> bool {
        let part = match body.insts[at].op {
            Op::Store { ref access, .. } => match access.ptr {
                Operand::Inst(pointer) => match &body.insts[pointer].op {
                    Op::Address(address) => member(address),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let part = part.map(|(record, member)| Cell::Member(record, member));
        let names = [Some(Cell::Exact(object, offset)), self.kind(object), part];
        names.into_iter().flatten().any(|cell| self.cells.contains(&cell))
    }

    /// Whether something in an object is read that was not written since.
    fn is_part_read(&self, id: ObjectId) -> bool {
        let kind = self.kind(id);
        self.cells.iter().any(|cell| match cell {
            Cell::Exact(object, _) => *object == id,
            other => Some(*other) == kind,
        })
    }

    fn takes_arguments(
        &mut self,
        function: FunctionId,
        body: &Body,
        call: InstId,
        callee: FunctionId,
    ) {
        let Op::Call(call) = &body.insts[call].op else { return };
        for (index, argument) in (0..).zip(&call.args) {
            if self.values.contains(&(callee, Operand::Param(index))) {
                self.operand(function, Some(*argument));
            }
        }
    }

    fn takes_results(&mut self, callee: FunctionId) {
        let Some(body) = self.body(callee) else { return };
        for block in &body.blocks {
            if let Terminator::Return(value) = block.terminator {
                self.operand(callee, value);
            }
        }
    }
}

/// The member that an address leads to.
fn member(address: &Address) -> Option<(RecordId, u32)> {
    address.path.iter().rev().find_map(|step| match step {
        PathStep::Field { record, member } => Some((*record, *member)),
        PathStep::UnionMembers { .. } | PathStep::Index { .. } => None,
    })
}
