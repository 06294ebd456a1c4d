//! The steps of a failing run that its violated property depends on: a dynamic slice over
//! values, memory and decisions.

use std::collections::BTreeMap;

use facts::Cfg;
use interpret::{Executed, Record};
use program::{
    BlockId, Body, ConstId, FunctionId, InstId, Op, Operand, Program, Terminator, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which steps of a record the failing one depends on.
pub struct Slice {
    /// The step that fails.
    pub failing: usize,
    /// In the order of the run, the failing one last.
    pub steps: Vec<usize>,
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
}

/// The slice of a record that ends with a failure.
pub fn slice(program: &Program, record: &Record) -> Option<Slice> {
    let failing = failing_step(&record.steps)?;
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
    };
    slicer.find_callers();
    slicer.keep(failing);
    slicer.need_operands(failing);
    // What a library call had read when it failed decides, too.
    if matches!(slicer.op(failing), Some(Op::Call(_))) {
        slicer.need_reads(failing);
    }
    for index in (0..failing).rev() {
        slicer.step(index);
    }
    let mut steps: Vec<usize> = slicer.kept.into_iter().collect();
    steps.sort_unstable();
    Some(Slice { failing, steps })
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
        // A call happened because its caller came there.
        if let Some(&call) = self.callers.get(&step.frame) {
            let step = &self.record.steps[call];
            self.need_control(step.function, step.frame, step.block);
        }
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
        let (first, end) = self.record.steps[index].touched;
        for touch in &self.record.touched[first as usize..end as usize] {
            if !touch.is_write {
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
        let (first, end) = step.touched;
        for touch in &self.record.touched[first as usize..end as usize] {
            if touch.is_write {
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
