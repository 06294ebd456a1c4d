//! One point of a search: the calls in progress, memory, and the path that led here.

use std::rc::Rc;

use facts::cfg::LoopId;
use logic::{SymbolId, TermId};
use program::{BlockId, FunctionId, InstId, LocId};

use super::addresses;
use super::context::Context;
use super::memory::{Content, Memory, Object, ObjectKind};
use super::path::Path;
use super::trail::Trail;
use super::value::Value;
use crate::query::FaultKey;

#[derive(Clone, Debug)]
pub struct State {
    /// Outermost first; never empty while the state runs.
    pub frames: Vec<Frame>,
    pub memory: Memory,
    pub path: Path,
    pub trail: Trail,
    /// How many frames were ever made on the path: numbers locals of different calls.
    pub n_frames: u32,
    /// Forks that led here; the search prefers short histories.
    pub n_forks: u32,
    /// Iteration counts that hang on something unknown.
    pub unsure: Vec<SymbolId>,
    /// Calls of the path that are over.
    pub answered: Vec<Answered>,
    /// Steps of effect since the outermost function began, in units of instructions.
    pub n_steps: u32,
    /// Faults that happened on the path, oldest first: only where one is pursued.
    pub wrong: Vec<Wrong>,
    /// Resources that leaks have used up.
    pub used_up: Vec<UsedUp>,
    /// Calls that failed for that reason, and will go on failing.
    pub refused: Vec<(FunctionId, InstId)>,
}

/// A kind of resource there is no more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// The state that whoever gets one finds it in.
    pub state: TermId,
    pub by: FaultKey,
}

/// A fault that happened on a path, and what it left behind.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub fault: FaultKey,
    /// Stands for the corrupted value; none where the fault leaves none to follow.
    pub symbol: Option<SymbolId>,
    /// The instruction has still to run before there is something to corrupt.
    pub is_pending: bool,
    /// Conditions the path had passed before.
    pub n_conditions: usize,
}

/// A call that is over, and what it came back with.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Its number, and that of the last call made inside.
    pub from: u32,
    pub to: u32,
    pub value: Option<Value>,
    /// Whether the caller tests the result, or has no use for it.
    pub is_trusted: bool,
    /// Whether there is a result and the caller has no use for it: it takes the call to succeed.
    pub is_ignored: bool,
    pub params: Rc<[Value]>,
}

/// Values are shared between forked states in chunks: a fork of a function with thousands
/// of instructions copies only what one side changes.
const CHUNK: usize = 32;
type Chunk = [Value; CHUNK];

/// A call in progress.
#[derive(Clone, Debug)]
pub struct Frame {
    pub function: FunctionId,
    pub number: u32,
    /// By instruction; [`Value::Unknown`] before it ran.
    values: Vec<Rc<Chunk>>,
    pub params: Rc<[Value]>,
    /// Arguments beyond the parameters.
    pub rest: Rc<[Value]>,
    pub block: BlockId,
    /// The block control came from.
    pub from: Option<BlockId>,
    pub next: InstId,
    /// The call in the frame below that is waiting for this one.
    pub call: Option<InstId>,
    /// What it is about to return.
    pub returned: Option<Value>,
    /// Loops control is in, outermost first.
    pub loops: Vec<LoopRun>,
    /// Symbols that were there when the call began.
    pub n_symbols: usize,
}

/// A loop control is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopRun {
    pub id: LoopId,
    /// Which entry of a loop in the search this is.
    pub round: u32,
    pub phase: Phase,
}

/// Which iterations of a loop a state stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// One of the first, `n` after the first of all, exactly.
    First { n: u32 },
    /// Every one so far, each exactly: the loop is short and counted.
    Unrolled { n: u32 },
    /// Some iteration before the last but one: it only establishes what holds when the loop
    /// goes on. Nothing is observed in it.
    Earlier { count: SymbolId },
    /// The iteration after that.
    Later { count: SymbolId },
}

impl Frame {
    pub fn new(
        function: FunctionId,
        number: u32,
        n_insts: usize,
        params: Rc<[Value]>,
        call: Option<InstId>,
    ) -> Self {
        Self {
            function,
            number,
            values: std::iter::repeat_n(Rc::new([Value::Unknown; CHUNK]), n_insts.div_ceil(CHUNK))
                .collect(),
            params,
            rest: Rc::new([]),
            block: BlockId(0),
            from: None,
            next: InstId(0),
            call,
            returned: None,
            loops: Vec::new(),
            n_symbols: 0,
        }
    }

    pub fn value(&self, inst: InstId) -> Value {
        self.values[inst.0 as usize / CHUNK][inst.0 as usize % CHUNK]
    }

    /// Everything the frame holds: parameters and what its instructions computed.
    pub fn all_values(&self) -> impl Iterator<Item = Value> + '_ {
        let computed = self.values.iter().flat_map(|chunk| chunk.iter().copied());
        self.params.iter().chain(self.rest.iter()).copied().chain(computed)
    }

    /// What it got from its caller.
    pub fn given(&self) -> impl Iterator<Item = Value> + '_ {
        self.params.iter().chain(self.rest.iter()).copied()
    }

    pub fn set(&mut self, inst: InstId, value: Value) {
        let chunk = &mut self.values[inst.0 as usize / CHUNK];
        Rc::make_mut(chunk)[inst.0 as usize % CHUNK] = value;
    }
}

impl State {
    pub fn top(&self) -> &Frame {
        self.frames.last().expect("a running state has a frame")
    }

    pub fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a running state has a frame")
    }

    pub fn depth(&self) -> u32 {
        self.frames.len() as u32 - 1
    }

    /// The object whose attributes a value stands for: a pointer's own, or what a number is
    /// the handle of.
    pub fn resource(&self, context: &mut Context, value: Value) -> Value {
        match value {
            Value::Int(number) => match self.memory.handle(number) {
                Some(object) => Value::Pointer { object, offset: context.constant(0) },
                None => value,
            },
            _ => value,
        }
    }

    /// As [`resource`](Self::resource), but a number becomes a handle if it was none.
    pub fn resource_mut(&mut self, context: &mut Context, value: Value, loc: LocId) -> Value {
        let known = self.resource(context, value);
        let Value::Int(number) = known else { return known };
        let name = match context.terms.as_symbol(number) {
            Some(symbol) => context.symbols.get(symbol).name.to_string(),
            None => String::new(),
        };
        let mut object = Object::new(ObjectKind::Handle(number), &name, None, Content::Unknown);
        object.loc = loc;
        let object = self.memory.add_handle(number, object);
        Value::Pointer { object, offset: context.constant(0) }
    }

    /// The object that stands for one place in memory, as far as that has attributes of its
    /// own: two locks in a record are two places.
    pub fn place(&self, context: &mut Context, value: Value) -> Value {
        if let Value::Pointer { object, .. } = value
            && matches!(self.memory.get(object).kind, ObjectKind::Handle(_))
        {
            return value;
        }
        match addresses::to_term(context, &self.memory, value) {
            Some(address) => self.resource(context, Value::Int(address)),
            None => value,
        }
    }

    /// As [`place`](Self::place), for a place that is to get an attribute.
    pub fn place_mut(&mut self, context: &mut Context, value: Value, loc: LocId) -> Value {
        let known = self.place(context, value);
        let (Value::Int(address), Value::Pointer { object, .. }) = (known, value) else {
            return known;
        };
        let place = self.resource_mut(context, Value::Int(address), loc);
        let name = self.memory.get(object).name.clone();
        if let Value::Pointer { object: place, .. } = place {
            self.memory.get_mut(place).name = name;
        }
        place
    }

    /// Whether some loop on the stack stands for many iterations at once.
    pub fn is_generalised(&self) -> bool {
        self.frames
            .iter()
            .flat_map(|frame| &frame.loops)
            .any(|run| matches!(run.phase, Phase::Earlier { .. } | Phase::Later { .. }))
    }

    /// Whether some loop on the stack is in an iteration that only sets the scene.
    pub fn sets_the_scene(&self) -> bool {
        self.frames
            .iter()
            .flat_map(|frame| &frame.loops)
            .any(|run| matches!(run.phase, Phase::Earlier { .. }))
    }
}
