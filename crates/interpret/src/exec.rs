//! Functions, blocks and calls.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base::IdVec;
use program::{
    Block, BlockId, Body, Call, Callee, Const, ConstId, Function, FunctionId, InstId, Op, Operand,
    Program, Terminator, Ty, TypeId,
};

use logic::words::WordId;
use rustc_hash::FxHashMap;

use crate::choices::Choices;
use crate::constants::{Layout, Target, resolve_alias};
use crate::course::Course;
use crate::endless::Rounds;
use crate::features::Features;
use crate::inputs::InputState;
use crate::library::{Clocks, Options};
use crate::memory::{Memory, Reach};
use crate::notes::Notes;
use crate::passing::other_way;
use crate::path::PathState;
use crate::record::{Point, Record};
use crate::strays::StraysOfFrame;
use crate::value::{Bits, Value, mask};
use crate::watch::REFERENCES;
use crate::world::World;
use crate::{FaultKind, Stop};

const MAX_DEPTH: u32 = 200;
/// Blocks that a call remembers to have come through.
const TRAIL: usize = 4;

/// A program in memory, ready to run.
///
/// The program talks to its tester through functions without a body: `out_int(long long)` and
/// `out_float(double)` append a line to [`output`](Machine::output), and `int in_int(void)`
/// takes the next of [`input`](Machine::input), zero where there is none.
pub struct Machine<'p> {
    pub program: &'p Program,
    pub input: VecDeque<i32>,
    pub output: Vec<String>,
    /// What the program wrote to standard output.
    pub stdout: Vec<u8>,
    /// What happened, where somebody wants to know.
    pub record: Option<Record>,
    /// Blocks the run came to.
    pub covered: FxHashMap<(FunctionId, BlockId), u32>,
    /// Blocks that one call came to more than once, and how often at most.
    pub in_one_call: FxHashMap<(FunctionId, BlockId), u32>,
    /// What runs are compared by, where a search wants to know.
    pub features: Option<Features>,
    /// Instructions the run may still execute.
    pub steps: u64,
    /// Where the run stopped, if it did.
    pub stopped_at: Option<(FunctionId, Point)>,
    /// Violations that did not end the run.
    pub passed_over: Vec<(FunctionId, Point)>,
    pub(crate) notes: Notes<'p>,
    pub(crate) course: Course,
    pub(crate) memory: Memory,
    pub(crate) layout: Layout,
    pub(crate) inputs: InputState,
    pub(crate) conditions: PathState,
    /// What runs now; the instruction behind the last one for the end of a block.
    pub(crate) at: (FunctionId, InstId),
    /// Where control goes if what is asked for now is not so.
    pub(crate) otherwise: Option<BlockId>,
    pub(crate) depth: u32,
    pub(crate) n_frames: u32,
    /// Objects of the C library, by name.
    pub(crate) library: BTreeMap<&'static str, u64>,
    pub(crate) world: World,
    pub(crate) options: Options,
    pub(crate) clocks: Clocks,
    /// What each thread returned, and what is kept for threads by key.
    /// Random numbers that were not inputs.
    pub(crate) n_random: u64,
    pub(crate) threads: Vec<u64>,
    pub(crate) thread_values: Vec<u64>,
    /// Functions that run when the program ends, as they were registered.
    pub(crate) exit_handlers: Vec<u64>,
    /// How calls of a repair program's own functions choose, where it is one.
    pub choices: Option<Choices>,
    /// Had this bit been one, the access that ended the run would have been defined.
    pub violated: Option<WordId>,
}

/// One call of a function.
pub(crate) struct Frame<'p> {
    pub id: FunctionId,
    /// Counts calls.
    pub number: u32,
    pub function: &'p Function,
    pub body: &'p Body,
    pub arguments: Vec<Value>,
    pub values: IdVec<InstId, Value>,
    /// Storage that ends with the call.
    pub locals: Vec<u64>,
    /// Storage that each declaration without a count has.
    pub storage: BTreeMap<InstId, u64>,
    /// Where the arguments of `...` lie.
    pub variable_arguments: u64,
    /// How often this call came to each of its blocks.
    pub counts: IdVec<BlockId, u32>,
    /// Where each `setjmp` of this call continues, by its buffer.
    pub jumps: BTreeMap<u64, (BlockId, InstId)>,
    pub strays: StraysOfFrame,
    /// The blocks the call was in last, the present one first.
    pub trail: [BlockId; TRAIL],
    pub rounds: Rounds,
}

/// What a call passes.
pub(crate) struct Arguments<'a> {
    pub values: Vec<Value>,
    pub tys: &'a [Ty],
    /// As in [`Call::arg_ctypes`].
    pub ctypes: &'a [TypeId],
    /// As in [`Call::ctype`].
    pub ctype: TypeId,
    /// As in [`Call::by_value`].
    pub by_value: &'a [(u32, u64)],
    /// The array inside a larger object that each argument points into, where the call shows it
    /// and is one of the library.
    pub members: Vec<Option<Reach>>,
}

impl Default for Arguments<'_> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            tys: &[],
            ctypes: &[],
            ctype: TypeId::UNKNOWN,
            by_value: &[],
            members: Vec::new(),
        }
    }
}

impl<'p> Machine<'p> {
    /// Lays out the program's objects. Takes up to `steps` instructions to run.
    pub fn new(program: &'p Program, steps: u64) -> Result<Self, Stop> {
        let mut memory = Memory::new();
        let layout = Layout::new(program, &mut memory)?;
        let world = World { standard: layout.standard, ..World::default() };
        Ok(Self {
            program,
            input: VecDeque::new(),
            output: Vec::new(),
            stdout: Vec::new(),
            record: None,
            covered: FxHashMap::default(),
            in_one_call: FxHashMap::default(),
            features: None,
            steps,
            stopped_at: None,
            passed_over: Vec::new(),
            notes: Notes::default(),
            course: Course::default(),
            memory,
            layout,
            inputs: InputState::default(),
            conditions: PathState::default(),
            at: (FunctionId(0), InstId(0)),
            otherwise: None,
            depth: 0,
            n_frames: 0,
            library: BTreeMap::new(),
            world,
            options: Options::default(),
            clocks: Clocks::default(),
            n_random: 0,
            threads: Vec::new(),
            thread_values: Vec::new(),
            exit_handlers: Vec::new(),
            choices: None,
            violated: None,
        })
    }

    /// Runs constructors, the function of this name with integer arguments, and destructors.
    pub fn run(&mut self, name: &str, arguments: &[i128]) -> Result<Option<Value>, Stop> {
        let function = self.function(name)?;
        let widths = function.params.iter().map(|param| crate::arithmetic::width(param.ty));
        let widths = widths.collect::<Result<Vec<_>, _>>()?;
        let arguments = arguments.iter().zip(widths);
        let arguments = arguments.map(|(value, width)| Value::known(*value as u128 & mask(width)));
        let arguments = arguments.collect();
        self.run_with(name, arguments)
    }

    fn function(&self, name: &str) -> Result<&'p Function, Stop> {
        let mut functions = self.program.functions.iter();
        let found = functions.find(|function| &*function.name == name && function.body.is_some());
        found.ok_or_else(|| Stop::Unsupported(format!("no function {name}")))
    }

    /// As [`run`](Self::run), with any arguments. A mistake of the interpreter's own costs this
    /// run alone.
    pub(crate) fn run_with(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
    ) -> Result<Option<Value>, Stop> {
        let run = AssertUnwindSafe(|| self.run_all(name, arguments));
        catch_unwind(run).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Err(Stop::Unsupported(format!("an internal error: {}", text.unwrap_or_default())))
        })
    }

    fn run_all(&mut self, name: &str, arguments: Vec<Value>) -> Result<Option<Value>, Stop> {
        let hooks = |wanted: fn(&Function) -> bool| {
            let functions = self.program.functions.iter_enumerated();
            functions.filter(|(_, f)| wanted(f)).map(|(id, _)| id).collect::<Vec<_>>()
        };
        let (before, after) = (hooks(|f| f.is_constructor), hooks(|f| f.is_destructor));
        for function in before {
            self.call_function(function, Arguments::default())?;
        }
        let mut functions = self.program.functions.iter_enumerated();
        let found =
            functions.find(|(_, function)| &*function.name == name && function.body.is_some());
        let (id, _) = found.ok_or_else(|| Stop::Unsupported(format!("no function {name}")))?;
        let arguments = Arguments { values: arguments, ..Arguments::default() };
        let result = self.call_function(id, arguments)?;
        self.run_exit_handlers()?;
        for function in after {
            self.call_function(function, Arguments::default())?;
        }
        if self.watches_leaks() {
            self.leaks_at_exit();
        }
        Ok(result)
    }

    pub(crate) fn call_function(
        &mut self,
        id: FunctionId,
        passed: Arguments,
    ) -> Result<Option<Value>, Stop> {
        let id = resolve_alias(self.program, id);
        let function = &self.program.functions[id];
        let Some(body) = &function.body else {
            self.inputs.called = Some(id);
            return self.call_library(function, &passed);
        };
        if self.depth == MAX_DEPTH {
            return Err(Stop::OutOfSteps);
        }
        self.note_call(id);
        let stack = self.memory.enter_stack();
        let mut arguments = passed.values.clone();
        let mut locals = Vec::new();
        for (argument, param) in arguments.iter_mut().zip(&function.params) {
            let Some(size) = param.by_value else { continue };
            let copy = self.memory.allocate(size, false)?;
            self.memory.copy(copy, self.address(argument)?, size)?;
            *argument = Value::known(u128::from(copy));
            locals.push(copy);
        }
        let mut variable_arguments = 0;
        if function.is_variadic {
            let fixed = function.params.len().min(arguments.len());
            arguments.truncate(fixed);
            variable_arguments = self.lay_out(&passed, fixed)?;
            locals.push(variable_arguments);
        }
        self.record_arguments(&arguments);
        let unset = Value::Bits(Bits::unset(128));
        self.n_frames += 1;
        let mut frame = Frame {
            id,
            number: self.n_frames,
            function,
            body,
            arguments,
            values: body.insts.iter().map(|_| unset.clone()).collect(),
            locals,
            storage: BTreeMap::new(),
            variable_arguments,
            counts: body.blocks.iter().map(|_| 0).collect(),
            jumps: BTreeMap::new(),
            rounds: Rounds::default(),
            trail: [Body::ENTRY; TRAIL],
            strays: if self.has_strays() { self.strays_passed() } else { Default::default() },
        };
        self.depth += 1;
        let result = self.run_frame(&mut frame);
        self.depth -= 1;
        for (block, count) in frame.counts.iter_enumerated().filter(|(_, count)| **count > 1) {
            let most = self.in_one_call.entry((id, block)).or_default();
            *most = (*most).max(*count);
        }
        frame.locals.iter().for_each(|local| self.memory.end(*local));
        self.memory.leave_stack(stack);
        result
    }

    /// Runs to the end; a `longjmp` to a `setjmp` of this call goes on from there.
    fn run_frame(&mut self, frame: &mut Frame<'p>) -> Result<Option<Value>, Stop> {
        let mut at = (Body::ENTRY, frame.body.blocks[Body::ENTRY].first);
        loop {
            match self.run_from(frame, at.0, at.1) {
                // Back to a setjmp of this call, which returns for another time.
                Err(Stop::LongJump(buffer, value)) if frame.jumps.contains_key(&buffer) => {
                    let (block, inst) = frame.jumps[&buffer];
                    frame.values[inst] = Value::known(u128::from(value));
                    self.stopped_at = None;
                    self.record_step(frame, inst);
                    at = (block, InstId(inst.0 + 1));
                }
                result => return result,
            }
        }
    }

    fn run_from(
        &mut self,
        frame: &mut Frame<'p>,
        mut block: BlockId,
        mut first: InstId,
    ) -> Result<Option<Value>, Stop> {
        let mut came_from = None;
        'blocks: loop {
            let current = &frame.body.blocks[block];
            *self.covered.entry((frame.id, block)).or_default() += 1;
            frame.counts[block] += 1;
            frame.trail.rotate_right(1);
            frame.trail[0] = block;
            for inst in (first.0..current.end.0).map(InstId) {
                self.at = (frame.id, inst);
                let result = self.step_on(frame, inst);
                self.record_step(frame, inst);
                self.note_step(frame, inst);
                let Err(stop) = result else { continue };
                if !self.passes_over(frame, inst, &stop) {
                    self.stopped_at.get_or_insert((frame.id, Point::Inst(inst)));
                    return Err(stop);
                }
                let way = other_way(frame.body, came_from, block).filter(|_| stop == Stop::Abort);
                if let Some((from, way)) = came_from.zip(way) {
                    self.enter(frame, from, way)?;
                    first = after_phis(frame.body, &frame.body.blocks[way]);
                    block = way;
                    continue 'blocks;
                }
            }
            self.steps = self.steps.checked_sub(1).ok_or(Stop::OutOfSteps)?;
            self.at = (frame.id, current.end);
            self.monitor_end(frame, block);
            let mut left = self.leave(frame, current);
            if let Err(stop) = &left
                && self.settles_end(frame, block, &stop.clone())
            {
                left = self.leave(frame, current);
            }
            self.record_leave(frame, block, &left);
            let next = match left {
                Ok(Next::Block(target)) => target,
                // The status of the program leaves it.
                Ok(Next::Return(Some(Value::Bits(status))))
                    if !status.is_known() && self.depth == 1 && *frame.function.name == *"main" =>
                {
                    self.stopped_at.get_or_insert((frame.id, Point::End(block)));
                    return Err(Stop::Fault(FaultKind::Uninitialised));
                }
                Ok(Next::Return(value)) => {
                    if self.watches_leaks() {
                        self.leaks_at_return(frame, (came_from, block), value.as_ref());
                    }
                    if self.has_strays() {
                        self.strays_returned(frame, current.terminator.operand());
                    }
                    return Ok(value);
                }
                Err(stop) => {
                    self.stopped_at.get_or_insert((frame.id, Point::End(block)));
                    return Err(stop);
                }
            };
            self.note_edge(frame.id, block, next);
            if self
                .notes
                .watch
                .is_some_and(|watch| watch.tasks_at_end(frame.id, block) & REFERENCES != 0)
            {
                self.leaks_on_edge(frame, block, next);
                self.check_round(frame, block, next)?;
            }
            self.enter(frame, block, next)?;
            first = after_phis(frame.body, &frame.body.blocks[next]);
            came_from = Some(block);
            block = next;
        }
    }

    /// One instruction; behind a violation of it, where the run goes on.
    fn step_on(&mut self, frame: &mut Frame<'p>, inst: InstId) -> Result<(), Stop> {
        let step = |machine: &mut Self, frame: &mut Frame<'p>| match machine.notes.watch {
            None => machine.step(frame, inst),
            Some(_) => machine.watched_step(frame, inst),
        };
        if !self.memory.goes_on() {
            return step(self, frame);
        }
        self.begin_step(frame, inst);
        let mut result = step(self, frame);
        if let Err(stop) = &result
            && self.settles(frame, inst, &stop.clone())
        {
            self.begin_step(frame, inst);
            result = step(self, frame);
        }
        self.note_outside(frame, inst);
        result
    }

    /// Where control goes from the end of a block.
    fn leave(&mut self, frame: &Frame<'p>, block: &Block) -> Result<Next, Stop> {
        Ok(Next::Block(match &block.terminator {
            Terminator::Return(None) => return Ok(Next::Return(None)),
            Terminator::Return(Some(value)) => {
                return Ok(Next::Return(Some(self.operand(frame, *value)?)));
            }
            Terminator::Unreachable => return Err(Stop::Fault(FaultKind::Unreachable)),
            Terminator::Jump(target) => *target,
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.settled(frame, *condition)?;
                let is_true = condition.bits & 1 == 1;
                let (way, other) = if is_true { (then, otherwise) } else { (otherwise, then) };
                self.otherwise = Some(*other);
                self.is_true(condition);
                self.otherwise = None;
                *way
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.settled(frame, *value)?;
                let program = self.program;
                let number = |case: &ConstId| match &program.constants[*case] {
                    Const::Int { bits, value } => Some(*value as u128 & mask(*bits)),
                    _ => None,
                };
                for (case, target) in cases {
                    let Some(case) = number(case) else { continue };
                    self.otherwise = Some(*target);
                    let is_this = self.is_equal(value, case);
                    self.otherwise = None;
                    if is_this {
                        return Ok(Next::Block(*target));
                    }
                }
                *default
            }
            Terminator::Indirect { address, targets } => {
                match Target::at(self.decided(frame, *address)?) {
                    Some(Target::Label(target)) if targets.contains(&target) => target,
                    _ => return Err(Stop::Unsupported("a jump to no label".into())),
                }
            }
        }))
    }

    /// Joins take their values all at once.
    fn enter(&mut self, frame: &mut Frame<'p>, from: BlockId, to: BlockId) -> Result<(), Stop> {
        let block = &frame.body.blocks[to];
        let mut values = Vec::new();
        for inst in block.inst_ids() {
            let Op::Phi(edges) = &frame.body.insts[inst].op else { break };
            let edge = edges.iter().find(|(source, _)| *source == from);
            let (_, value) = edge.ok_or_else(|| Stop::Unsupported("a phi without edge".into()))?;
            values.push((inst, self.operand(frame, *value)?));
        }
        if self.has_strays() {
            self.strays_join(frame, from, to);
        }
        for (inst, value) in values {
            frame.values[inst] = value;
        }
        Ok(())
    }

    pub(crate) fn call(
        &mut self,
        frame: &mut Frame<'p>,
        inst: InstId,
        call: &Call,
    ) -> Result<Value, Stop> {
        let arguments = call.args.iter().map(|arg| self.operand(frame, *arg));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let tys = call.args.iter().map(|arg| self.ty(frame, *arg)).collect::<Vec<_>>();
        let target = match &call.callee {
            Callee::Intrinsic(name) => return self.intrinsic(frame, inst, name, &arguments, &tys),
            Callee::Function(id) => *id,
            Callee::Pointer(pointer) => {
                let address = self.decided(frame, *pointer)?;
                match Target::function(self.program, address) {
                    Err(_) if self.inputs.harness.is_some() && address != 0 => {
                        return self.call_made_up(call.ctype, frame.body.insts[inst].ty);
                    }
                    target => target?,
                }
            }
        };
        if call.returns_twice {
            let buffer = arguments.first().ok_or_else(|| Stop::Unsupported("vfork".into()))?;
            let block = frame.body.insts[inst].block;
            frame.jumps.insert(self.address(buffer)?, (block, inst));
            return Ok(Value::known(0));
        }
        let is_library = self.program.functions[target].body.is_none();
        let members = match is_library {
            true => call.args.iter().map(|ptr| self.member_of(frame, inst, *ptr)).collect(),
            false => Vec::new(),
        };
        let arguments = Arguments {
            values: arguments,
            tys: &tys,
            ctypes: &call.arg_ctypes,
            ctype: call.ctype,
            by_value: &call.by_value,
            members,
        };
        let n_held = match self.watches_leaks() {
            true => self.leaks_hold(frame, inst),
            false => 0,
        };
        let result = self.call_function(target, arguments);
        self.leaks_let_go(n_held);
        let result = result?;
        Ok(result.unwrap_or(Value::Bits(Bits::unset(128))))
    }

    pub(crate) fn operand(&self, frame: &Frame<'p>, operand: Operand) -> Result<Value, Stop> {
        match operand {
            Operand::Inst(inst) => Ok(frame.values[inst].clone()),
            Operand::Param(index) => frame
                .arguments
                .get(index as usize)
                .cloned()
                .ok_or_else(|| Stop::Unsupported("a call with too few arguments".into())),
            Operand::Const(id) => self.constant(id),
        }
    }

    pub(crate) fn ty(&self, frame: &Frame<'p>, operand: Operand) -> Ty {
        frame.body.operand_ty(operand, &frame.function.params, &self.program.constants)
    }

    pub(crate) fn bits(&self, frame: &Frame<'p>, operand: Operand) -> Result<Bits, Stop> {
        // Most operands are: looked at where they lie rather than copied first.
        if let Operand::Inst(inst) = operand
            && let Value::Bits(bits) = &frame.values[inst]
        {
            return Ok(*bits);
        }
        let value = self.operand(frame, operand)?;
        value.bits().ok_or_else(|| Stop::Unsupported("a scalar that is an aggregate".into()))
    }

    /// A value on which the run depends.
    pub(crate) fn settled(&self, frame: &Frame<'p>, operand: Operand) -> Result<Bits, Stop> {
        let bits = self.bits(frame, operand)?;
        bits.is_known().then_some(bits).ok_or(Stop::Fault(FaultKind::Uninitialised))
    }

    /// The number the rest of the run goes on with, whatever it followed from.
    pub(crate) fn decided(&mut self, frame: &Frame<'p>, operand: Operand) -> Result<u128, Stop> {
        let bits = self.settled(frame, operand)?;
        Ok(self.pinned(bits))
    }

    /// A pointer's address.
    pub(crate) fn address(&self, pointer: &Value) -> Result<u64, Stop> {
        match pointer {
            Value::Bits(bits) if bits.is_known() => Ok(bits.bits as u64),
            Value::Bits(_) => Err(Stop::Fault(FaultKind::Uninitialised)),
            Value::Parts(_) => Err(Stop::Unsupported("an address that is an aggregate".into())),
        }
    }
}

/// What follows a block.
pub(crate) enum Next {
    Block(BlockId),
    Return(Option<Value>),
}

fn after_phis(body: &Body, block: &Block) -> InstId {
    let is_phi = |inst: &InstId| matches!(body.insts[*inst].op, Op::Phi(_));
    block.inst_ids().find(|inst| !is_phi(inst)).unwrap_or(block.end)
}
