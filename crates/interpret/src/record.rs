//! What a run did, instruction by instruction, for traces and slices.

use program::{BlockId, FunctionId, GlobalId, InstId};

use crate::Stop;
use crate::exec::{Frame, Machine, Next};
use crate::memory::Touch;
use crate::value::Value;

/// Longer runs are recorded up to here.
const MAX_STEPS: usize = 400_000;

#[derive(Clone, Debug, Default)]
pub struct Record {
    pub steps: Vec<Executed>,
    pub touched: Vec<Touch>,
    /// What the function was given that the run starts in, where these are numbers.
    pub arguments: Vec<Option<u128>>,
    /// Where objects of the program lie that no step begins.
    pub globals: Vec<(u64, GlobalId)>,
    /// The run was longer.
    pub is_cut: bool,
    /// The step that fails, where that is not the last one but for the calls around it.
    pub fails_at: Option<usize>,
}

/// Where a run is within a function. The instruction behind the last one of a block is the first
/// of another, so the end of a block is not told by instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    Inst(InstId),
    /// The terminator of this block.
    End(BlockId),
}

impl Point {
    /// The instruction; `None` at the end of a block.
    pub fn inst(self) -> Option<InstId> {
        match self {
            Point::Inst(inst) => Some(inst),
            Point::End(_) => None,
        }
    }
}

/// One executed instruction, or the end of a block.
#[derive(Clone, Debug)]
pub struct Executed {
    pub function: FunctionId,
    /// Which call of it, counted over the run.
    pub frame: u32,
    /// How many calls deep.
    pub depth: u32,
    pub at: Point,
    /// The block `at` belongs to.
    pub block: BlockId,
    /// What it computed, where that is a number.
    pub value: Option<u128>,
    /// Where control went from the end of the block.
    pub to: Option<BlockId>,
    /// What it read and wrote are `touched[touched.0..touched.1]` of the record.
    pub touched: (u32, u32),
}

impl<'p> Machine<'p> {
    /// Records what the run does from here on.
    pub fn start_record(&mut self) {
        self.record = Some(Record::default());
        self.memory.touched = Some(Vec::new());
    }

    /// What was recorded.
    pub fn take_record(&mut self) -> Record {
        let mut record = self.record.take().unwrap_or_default();
        record.touched = self.memory.touched.take().unwrap_or_default();
        let globals = self.program.globals.iter_enumerated();
        record.globals = globals.map(|(id, _)| (self.global(id), id)).collect();
        record
    }

    /// How long the string at an address is, as the run left it.
    pub fn string_length(&mut self, address: u64) -> Option<u64> {
        const LONGEST: u64 = 1 << 16;
        (0..LONGEST).find(|at| match self.memory.load_set(address.wrapping_add(*at), 1) {
            Ok(byte) => !byte.is_known() || byte.bits == 0,
            Err(_) => true,
        })
    }

    pub(crate) fn record_arguments(&mut self, arguments: &[Value]) {
        let known = |value: &Value| value.bits().filter(|bits| bits.is_known()).map(|b| b.bits);
        if let (Some(record), 0) = (&mut self.record, self.depth) {
            record.arguments = arguments.iter().map(known).collect();
        }
    }

    pub(crate) fn record_step(&mut self, frame: &Frame<'p>, inst: InstId) {
        if self.record.is_none() {
            return;
        }
        let value = match &frame.values[inst] {
            Value::Bits(bits) if bits.is_known() => Some(bits.bits),
            _ => None,
        };
        self.record_one(frame, Point::Inst(inst), frame.body.insts[inst].block, value, None);
    }

    pub(crate) fn record_leave(
        &mut self,
        frame: &Frame<'p>,
        block: BlockId,
        left: &Result<Next, Stop>,
    ) {
        if self.record.is_none() {
            return;
        }
        let to = match left {
            Ok(Next::Block(to)) => Some(*to),
            _ => None,
        };
        self.record_one(frame, Point::End(block), block, None, to);
    }

    fn record_one(
        &mut self,
        frame: &Frame<'p>,
        at: Point,
        block: BlockId,
        value: Option<u128>,
        to: Option<BlockId>,
    ) {
        let depth = self.depth;
        let Some(record) = &mut self.record else { return };
        if record.steps.len() >= MAX_STEPS {
            record.is_cut = true;
            return;
        }
        let touched = self.memory.touched.as_ref().map_or(0, Vec::len) as u32;
        let first = record.steps.last().map_or(0, |step| step.touched.1);
        record.steps.push(Executed {
            function: frame.id,
            frame: frame.number,
            depth,
            at,
            block,
            value,
            to,
            touched: (first, touched),
        });
    }
}
