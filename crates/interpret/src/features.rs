//! What a run did, in features that runs are compared by: which ways control went and how often,
//! which pointers were null, and how close accesses came to the end of their objects.
//!
//! Blocks alone do not tell a list with an element from one without, nor a buffer that is nearly
//! full from one that is empty: a search that keeps what is new has to see both.

use program::{BlockId, FunctionId, InstId, Op, Operand, Terminator, Ty};

use crate::exec::{Frame, Machine};

/// Features are numbered by a hash of this many bits; few of a run's hundreds meet.
const BITS: u32 = 16;

/// Counts by feature, cheap to clear.
pub struct Features {
    counts: Vec<u16>,
    seen: Vec<u16>,
    /// Which function was called last, by how deep the call was.
    last_called: Vec<u64>,
}

/// How close accesses of one instruction came to the bounds of their objects.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Bytes left behind what was read, and behind what was written.
    pub left_of_read: u64,
    pub left_of_write: u64,
    /// Where the access furthest behind the start of its object ended.
    pub end: u64,
}

impl Default for Fit {
    fn default() -> Self {
        Self { left_of_read: u64::MAX, left_of_write: u64::MAX, end: 0 }
    }
}

impl Fit {
    pub fn read(&mut self, end: u64, size: u64) {
        self.left_of_read = self.left_of_read.min(size.saturating_sub(end));
        self.end = self.end.max(end);
    }

    pub fn write(&mut self, end: u64, size: u64) {
        self.left_of_write = self.left_of_write.min(size.saturating_sub(end));
        self.end = self.end.max(end);
    }
}

impl Default for Features {
    fn default() -> Self {
        Self { counts: vec![0; 1 << BITS], seen: Vec::new(), last_called: Vec::new() }
    }
}

impl Features {
    /// Forgets the last run.
    pub fn clear(&mut self) {
        for index in self.seen.drain(..) {
            self.counts[usize::from(index)] = 0;
        }
        self.last_called.clear();
    }

    /// Each feature of the run once, and how often it was met.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u16)> {
        self.seen.iter().map(|index| (*index, self.counts[usize::from(*index)]))
    }

    fn count(&mut self, kind: u64, a: u64, b: u64) {
        let index = index_of(kind, a, b);
        let count = &mut self.counts[usize::from(index)];
        if *count == 0 {
            self.seen.push(index);
        }
        *count = count.saturating_add(1);
    }

    /// Met, be it once or often.
    fn mark(&mut self, kind: u64, a: u64, b: u64) {
        let index = index_of(kind, a, b);
        if self.counts[usize::from(index)] == 0 {
            self.counts[usize::from(index)] = 1;
            self.seen.push(index);
        }
    }
}

const EDGE: u64 = 1;
const CALL: u64 = 2;
const NULL: u64 = 3;
const LEFT_OF_READ: u64 = 4;
const LEFT_OF_WRITE: u64 = 5;
const END: u64 = 6;
const KEPT: u64 = 7;
const SEQUENCE: u64 = 8;
const DEPTH: u64 = 9;

/// Calls deeper than this are not seen in their order.
const DEEPEST: u32 = 6;

/// What library functions read up to here is told apart by the byte, and calls by how deep they
/// are.
const FINE: u64 = 64;

fn site((function, inst): (FunctionId, InstId)) -> u64 {
    u64::from(function.0) << 32 | u64::from(inst.0)
}

fn index_of(kind: u64, a: u64, b: u64) -> u16 {
    let mixed = (a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b).wrapping_add(kind << 56);
    let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> (64 - BITS)) as u16
}

/// Numbers of the same length in bits are alike.
fn magnitude(number: u64) -> u64 {
    u64::from(64 - number.leading_zeros())
}

impl<'p> Machine<'p> {
    /// Words of memory that the run looked through for pointers, which no step stands for.
    pub fn n_scanned(&self) -> u64 {
        self.memory.n_scanned.get()
    }

    pub(crate) fn note_edge(&mut self, function: FunctionId, from: BlockId, to: BlockId) {
        if let Some(features) = &mut self.features {
            let edge = u64::from(from.0) << 32 | u64::from(to.0);
            features.count(EDGE, u64::from(function.0), edge);
        }
    }

    /// A call of a function with a body, from where the run is.
    pub(crate) fn note_call(&mut self, callee: FunctionId) {
        if let Some(features) = &mut self.features {
            features.count(CALL, site(self.at), u64::from(callee.0));
            let depth = u64::from(self.depth);
            let depth = if depth < FINE { depth } else { FINE + magnitude(depth) };
            features.mark(DEPTH, u64::from(callee.0), depth);
            if self.depth < DEEPEST {
                let (depth, callee) = (self.depth as usize, u64::from(callee.0) + 1);
                if features.last_called.len() <= depth {
                    features.last_called.resize(depth + 1, 0);
                }
                let before = std::mem::replace(&mut features.last_called[depth], callee);
                features.mark(SEQUENCE, before, callee);
            }
        }
    }

    /// After an instruction was executed.
    pub(crate) fn note_step(&mut self, frame: &Frame<'p>, id: InstId) {
        let Some(features) = &mut self.features else { return };
        let inst = &frame.body.insts[id];
        let here = site((frame.id, id));
        match &inst.op {
            Op::Load(_) | Op::Store { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => {}
            Op::Call(_) if self.memory.fit.end > 0 => {}
            // What is decided here and matters later.
            Op::Compare { .. } => {
                let terminator = &frame.body.blocks[inst.block].terminator;
                let is_branch = matches!(terminator, Terminator::Branch { condition, .. }
                    if *condition == Operand::Inst(id));
                if !is_branch && let crate::Value::Bits(bits) = &frame.values[id] {
                    features.mark(KEPT, here, bits.bits as u64 & 1);
                }
                return;
            }
            _ => return,
        }
        let fit = std::mem::take(&mut self.memory.fit);
        if fit.left_of_read != u64::MAX {
            features.mark(LEFT_OF_READ, here, magnitude(fit.left_of_read));
        }
        if fit.left_of_write != u64::MAX {
            features.mark(LEFT_OF_WRITE, here, magnitude(fit.left_of_write));
        }
        // How far a comparison came is seen byte by byte.
        let is_call = matches!(inst.op, Op::Call(_));
        let end = if is_call && fit.end < FINE { fit.end } else { FINE + magnitude(fit.end) };
        features.mark(END, here, end);
        if inst.ty == Ty::Ptr
            && let crate::Value::Bits(bits) = &frame.values[id]
        {
            features.mark(NULL, here, u64::from(bits.bits == 0));
        }
    }
}
