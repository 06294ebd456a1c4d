//! The steps of a failing run that its violated property depends on: a dynamic slice over
//! values, memory and decisions.

use std::collections::{BTreeMap, BTreeSet};

use facts::Cfg;
use interpret::{Executed, Record, TouchKind};
use program::{
    BlockId, Body, ConstId, FunctionId, InstId, Op, Operand, Program, Terminator, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::objects::{Objects, touches};
use crate::trace::values::Values;

/// Which steps of a record the failing one depends on.
pub struct Slice {
    /// The step that fails.
    pub failing: usize,
    /// In the order of the run, the failing one last.
    pub steps: Vec<usize>,
    /// The step that called each frame.
    pub callers: FxHashMap<u32, usize>,
    /// Parameters the failing step depends on, by frame.
    pub passed: BTreeMap<u32, BTreeSet<u32>>,
    /// The step that ended the life of what the failing one uses.
    pub end: Option<usize>,
}

struct Slicer<'a> {
    program: &'a Program,
    record: &'a Record,
    cfgs: FxHashMap<FunctionId, Cfg>,
    /// The step that called each frame.
    callers: FxHashMap<u32, usize>,
    /// The frame each call step called.
    callees: FxHashMap<usize, u32>,
    values: FxHashSet<(u32, InstId)>,
    variables: FxHashSet<(u32, VarId)>,
    /// Constants that are used: a variable that was assigned one may be meant.
    constants: FxHashSet<(u32, ConstId)>,
    returns: FxHashSet<u32>,
    controls: FxHashSet<(u32, BlockId)>,
    bytes: FxHashSet<u64>,
    kept: FxHashSet<usize>,
    passed: BTreeMap<u32, BTreeSet<u32>>,
}

/// The slice of a record that ends with a failure.
pub fn slice(program: &Program, record: &Record) -> Option<Slice> {
    let failing = record.fails_at.or_else(|| failing_step(&record.steps))?;
    let mut slicer = Slicer {
        program,
        record,
        cfgs: FxHashMap::default(),
        callers: FxHashMap::default(),
        callees: FxHashMap::default(),
        values: FxHashSet::default(),
        variables: FxHashSet::default(),
        constants: FxHashSet::default(),
        returns: FxHashSet::default(),
        controls: FxHashSet::default(),
        bytes: FxHashSet::default(),
        kept: FxHashSet::default(),
        passed: BTreeMap::new(),
    };
    slicer.find_callers();
    slicer.keep(failing);
    slicer.need_operands(failing);
    // What a library call had read when it failed decides, too.
    if matches!(slicer.op(failing), Some(Op::Call(_))) {
        slicer.need_reads(failing);
    }
    let end = slicer.end_of_life(failing);
    for index in (0..failing).rev() {
        slicer.step(index);
        if end == Some(index) {
            slicer.ends(index);
        }
    }
    let Slicer { kept, callers, passed, .. } = slicer;
    let mut steps: Vec<usize> = kept.into_iter().collect();
    steps.sort_unstable();
    Some(Slice { failing, steps, callers, passed, end })
}

/// What a step reads or writes last, or frees.
pub fn used(values: &Values, index: usize) -> Option<u64> {
    let Values { program, record, .. } = *values;
    let step = &record.steps[index];
    let accesses = touches(record, step).iter();
    let mut accesses =
        accesses.rev().filter(|t| matches!(t.kind, TouchKind::Read | TouchKind::Write));
    if let Some(touch) = accesses.next() {
        return Some(touch.address);
    }
    let body = program.functions[step.function].body.as_ref()?;
    let Op::Call(call) = &body.insts[step.at.inst()?].op else { return None };
    u64::try_from(values.bits(index, *call.args.first()?)?).ok()
}

/// Calls are recorded when they end, so behind the failing step stand the calls around it.
fn failing_step(steps: &[Executed]) -> Option<usize> {
    let mut at = steps.len().checked_sub(1)?;
    while at > 0 && steps[at - 1].depth > steps[at].depth {
        at -= 1;
    }
    Some(at)
}

impl<'a> Slicer<'a> {
    fn body(&self, index: usize) -> Option<&'a Body> {
        self.program.functions[self.record.steps[index].function].body.as_ref()
    }

    /// The instruction of a step; `None` for the end of a block.
    fn op(&self, index: usize) -> Option<&'a Op> {
        let step = &self.record.steps[index];
        let body = self.body(index)?;
        step.at.inst().map(|inst| &body.insts[inst].op)
    }

    fn find_callers(&mut self) {
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        for (index, step) in self.record.steps.iter().enumerate() {
            if let Some(Op::Call(_)) = self.op(index)
                && let Some(frame) = last.remove(&(step.depth + 1))
            {
                self.callers.insert(frame, index);
                self.callees.insert(index, frame);
            }
            last.insert(step.depth, step.frame);
            last.split_off(&(step.depth + 2));
        }
    }

    fn keep(&mut self, index: usize) {
        if !self.kept.insert(index) {
            return;
        }
        let step = &self.record.steps[index];
        self.need_control(step.function, step.frame, step.block);
        // A call happened because its callers came there.
        let mut frame = step.frame;
        while let Some(&call) = self.callers.get(&frame) {
            let step = &self.record.steps[call];
            self.need_control(step.function, step.frame, step.block);
            frame = step.frame;
        }
    }

    /// The step that ended the life of what a step uses.
    fn end_of_life(&self, index: usize) -> Option<usize> {
        let Self { program, record, callers, .. } = self;
        let address = used(&Values { program, record, callers }, index)?;
        let objects = Objects::new(program, record);
        objects.meant(address)?.ended.filter(|end| *end < index)
    }

    /// What ends a life matters, and how control came there: to `free`, or to the end of the
    /// function a variable belongs to.
    fn ends(&mut self, index: usize) {
        self.keep(index);
        self.need_operands(index);
    }

    fn need_control(&mut self, function: FunctionId, frame: u32, block: BlockId) {
        let program = self.program;
        let Some(body) = &program.functions[function].body else { return };
        let cfg = self.cfgs.entry(function).or_insert_with(|| Cfg::new(body, |_| false));
        let parents: Vec<BlockId> = cfg.controls(block).iter().map(|edge| edge.branch).collect();
        self.controls.extend(parents.into_iter().map(|parent| (frame, parent)));
    }

    fn need(&mut self, frame: u32, operand: Operand) {
        match operand {
            Operand::Inst(inst) => drop(self.values.insert((frame, inst))),
            Operand::Const(id) => drop(self.constants.insert((frame, id))),
            Operand::Param(index) => {
                self.passed.entry(frame).or_default().insert(index);
                let Some(&call) = self.callers.get(&frame) else { return };
                let Some(Op::Call(passed)) = self.op(call) else { return };
                if let Some(argument) = passed.args.get(index as usize) {
                    self.need(self.record.steps[call].frame, *argument);
                }
            }
        }
    }

    fn need_operands(&mut self, index: usize) {
        let step = &self.record.steps[index];
        let Some(body) = self.body(index) else { return };
        match self.op(index) {
            Some(op) => {
                let mut operands = Vec::new();
                op.for_each_operand(|operand| operands.push(operand));
                operands.into_iter().for_each(|operand| self.need(step.frame, operand));
            }
            None => {
                let operand = body.blocks[step.block].terminator.operand();
                operand.into_iter().for_each(|operand| self.need(step.frame, operand));
            }
        }
    }

    fn need_reads(&mut self, index: usize) {
        for touch in touches(self.record, &self.record.steps[index]) {
            if touch.kind == TouchKind::Read {
                self.bytes.extend(touch.address..touch.address + touch.size.min(1 << 12));
            }
        }
    }

    fn step(&mut self, index: usize) {
        let step = &self.record.steps[index];
        let Some(body) = self.body(index) else { return };
        let Some(inst) = step.at.inst() else { return self.end_of_block(index, body) };
        let op = &body.insts[inst].op;
        let frame = step.frame;
        if let Op::Bind { variable, value } = op {
            let is_needed = match value {
                Operand::Inst(inst) => self.values.contains(&(frame, *inst)),
                Operand::Const(id) => self.constants.remove(&(frame, *id)),
                Operand::Param(_) => false,
            };
            if self.variables.remove(&(frame, *variable)) || is_needed {
                self.keep(index);
                if !matches!(value, Operand::Const(_)) {
                    self.need(frame, *value);
                }
            }
            return;
        }
        let mut is_kept = self.values.remove(&(frame, inst));
        for touch in touches(self.record, step) {
            if touch.kind == TouchKind::Write {
                let bytes = touch.address..touch.address + touch.size.min(1 << 16);
                for byte in bytes {
                    is_kept |= self.bytes.remove(&byte);
                }
            }
        }
        if !is_kept {
            return;
        }
        self.keep(index);
        self.need_reads(index);
        match (op, self.callees.get(&index)) {
            (Op::Call(_), Some(&callee)) => drop(self.returns.insert(callee)),
            _ => self.need_operands(index),
        }
    }

    fn end_of_block(&mut self, index: usize, body: &'a Body) {
        let step = &self.record.steps[index];
        let frame = step.frame;
        if let Terminator::Return(_) = body.blocks[step.block].terminator
            && self.returns.remove(&frame)
        {
            self.keep(index);
            self.need_operands(index);
            return;
        }
        if let Some(to) = step.to {
            self.joins(index, body, to);
        }
        if self.controls.remove(&(frame, step.block)) {
            self.keep(index);
            self.need_operands(index);
        }
    }

    /// Values that join where a block goes to.
    fn joins(&mut self, index: usize, body: &'a Body, to: BlockId) {
        let step = &self.record.steps[index];
        let mut taken = Vec::new();
        for inst in body.blocks[to].inst_ids() {
            let Op::Phi(edges) = &body.insts[inst].op else { break };
            if self.values.remove(&(step.frame, inst)) {
                let edge = edges.iter().find(|(from, _)| *from == step.block);
                taken.extend(edge.map(|(_, operand)| (inst, *operand)));
            }
        }
        for (phi, operand) in taken {
            // A constant is told by the variable's own assignment.
            if !matches!(operand, Operand::Const(_)) {
                self.need(step.frame, operand);
            }
            self.need_control(step.function, step.frame, step.block);
            // Had the run gone another way here, another value would have joined.
            if body.blocks[step.block].terminator.operand().is_some() {
                self.keep(index);
                self.need_operands(index);
            }
            // The variable was last assigned on this way, be it a constant.
            let bound = body.insts.iter().find_map(|inst| match inst.op {
                Op::Bind { variable, value: Operand::Inst(bound) } if bound == phi => {
                    Some(variable)
                }
                _ => None,
            });
            // No assignment tells what the compiler joins for itself, as what is returned.
            if bound.is_none() {
                self.keep(index);
            }
            self.variables.extend(bound.map(|variable| (step.frame, variable)));
        }
    }
}
