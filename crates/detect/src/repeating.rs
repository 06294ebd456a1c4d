//! Whether another iteration of a loop could end differently from this one.
//!
//! A loop repeats itself for ever when an iteration jumps back with everything unchanged that
//! the branches on its way depend on: then the next takes the same way. Values of the loop's own
//! variables, memory that nothing on the way can write, and pure functions of both do not change
//! by themselves. What others may write does, volatile accesses and other calls do as well.

use std::collections::BTreeSet;

use facts::cfg::LoopId;
use program::{BlockId, Body, Call, Callee, Const, FunctionId, GlobalId, InstId, Op, Operand};
use program::{Program, Terminator};

use crate::code::Code;

/// Library functions whose result follows from their arguments and what these point to.
const PURE: [&str; 28] = [
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "memcmp",
    "strchr",
    "strrchr",
    "strstr",
    "strpbrk",
    "strspn",
    "strcspn",
    "memchr",
    "abs",
    "labs",
    "toupper",
    "tolower",
    "isalpha",
    "isdigit",
    "isalnum",
    "isspace",
    "isupper",
    "islower",
    "isxdigit",
    "isprint",
    "ispunct",
    "__ctype_b_loc",
];

/// Calls deep in which a function is looked at.
const MAX_DEPTH: u32 = 4;

impl<'p> Code<'p> {
    /// Whether the loop whose iteration ends in `latch` can still come to an exit, given calls
    /// that always answer the same. True for loops without exits, which are meant to go on.
    pub fn can_exit(
        &self,
        function: FunctionId,
        latch: BlockId,
        answers_the_same: &dyn Fn(InstId) -> bool,
    ) -> bool {
        let (Some(body), Some(shape)) =
            (self.program.functions[function].body.as_ref(), self.shape(function))
        else {
            return true;
        };
        let Terminator::Jump(header) = body.blocks[latch].terminator else { return true };
        let nest = &shape.cfg.loops;
        let Some(id) = nest.headed_by(header).filter(|id| nest.contains(*id, latch)) else {
            return true;
        };
        if nest.loops[id].exits.is_empty() {
            return true;
        }
        let mut repeating = Repeating {
            code: self,
            body,
            function,
            id,
            header,
            latch,
            answers_the_same,
            written: Vec::new(),
            works: false,
        };
        let way = repeating.way();
        !repeating.look_at(&way) || repeating.can_change(&way)
    }

    /// Whether a call only computes its result, from its arguments and memory.
    fn is_pure(&self, call: &Call, depth: u32) -> bool {
        let Callee::Function(callee) = call.callee else {
            return matches!(call.callee, Callee::Intrinsic(_)) && self.call_effect(call).is_none();
        };
        let Some(body) = &self.program.functions[callee].body else {
            return PURE.contains(&&*self.program.functions[callee].name);
        };
        let effect = self.effects().of_function(callee);
        depth < MAX_DEPTH
            && effect.is_none()
            && !effect.calls_unknown
            && self.shape(callee).is_some_and(|shape| shape.cfg.loops.loops.is_empty())
            && body.insts.iter().all(|inst| match &inst.op {
                Op::Call(call) => self.is_pure(call, depth + 1),
                op => !is_seen_by_others(op),
            })
    }
}

/// One back edge of one loop.
struct Repeating<'a, 'p> {
    code: &'a Code<'p>,
    body: &'a Body,
    function: FunctionId,
    id: LoopId,
    header: BlockId,
    latch: BlockId,
    answers_the_same: &'a dyn Fn(InstId) -> bool,
    /// What is written on the way.
    written: Vec<Place>,
    /// Whether an iteration leaves anything behind: one that does not waits for somebody.
    works: bool,
}

impl Repeating<'_, '_> {
    /// The blocks an iteration that ends in the latch can pass.
    fn way(&self) -> Vec<BlockId> {
        let Some(shape) = self.code.shape(self.function) else { return Vec::new() };
        let mut way = BTreeSet::from([self.latch]);
        let mut waiting = vec![self.latch];
        while let Some(block) = waiting.pop() {
            if block == self.header {
                continue;
            }
            for from in shape.cfg.predecessors(block) {
                if shape.cfg.loops.contains(self.id, *from) && way.insert(*from) {
                    waiting.push(*from);
                }
            }
        }
        way.into_iter().collect()
    }

    /// Notes what the way does; false where it may end the program or do what nobody sees here.
    fn look_at(&mut self, way: &[BlockId]) -> bool {
        for block in way {
            for inst in self.body.blocks[*block].inst_ids() {
                let op = &self.body.insts[inst].op;
                match op {
                    Op::Call(_) if (self.answers_the_same)(inst) => {}
                    Op::Call(call) if self.code.is_pure(call, 0) => {}
                    _ if is_seen_by_others(op) || matches!(op, Op::Call(_)) => return false,
                    Op::Store { access, .. } => self.writes(access.ptr),
                    Op::MemCopy { to, .. } | Op::MemSet { to, .. } => self.writes(*to),
                    Op::Phi(_) if *block == self.header => self.works |= !self.is_kept(inst),
                    _ => {}
                }
            }
        }
        true
    }

    fn writes(&mut self, ptr: Operand) {
        self.works = true;
        self.written.push(place_of(self.code.program, self.body, ptr));
    }

    /// Whether the next iteration starts with the same value of a variable.
    fn is_kept(&self, phi: InstId) -> bool {
        let Op::Phi(incoming) = &self.body.insts[phi].op else { return false };
        let next = incoming.iter().find(|(from, _)| *from == self.latch);
        next.is_some_and(|(_, next)| *next == Operand::Inst(phi))
    }

    /// Whether something a branch of the way depends on can differ in the next iteration.
    fn can_change(&self, way: &[BlockId]) -> bool {
        let mut waiting: Vec<Operand> = Vec::new();
        for block in way {
            match &self.body.blocks[*block].terminator {
                Terminator::Branch { condition, .. } => waiting.push(*condition),
                Terminator::Switch { value, .. } => waiting.push(*value),
                Terminator::Indirect { .. } => return true,
                Terminator::Jump(_) | Terminator::Return(_) | Terminator::Unreachable => {}
            }
        }
        let mut seen: BTreeSet<InstId> = BTreeSet::new();
        while let Some(operand) = waiting.pop() {
            let Operand::Inst(inst) = operand else { continue };
            if !self.is_inside(inst) || !seen.insert(inst) {
                continue;
            }
            match &self.body.insts[inst].op {
                Op::Phi(_) if self.body.insts[inst].block == self.header => {
                    if !self.is_kept(inst) {
                        return true;
                    }
                }
                Op::Call(_) if (self.answers_the_same)(inst) => {}
                // What it reads through its arguments, or anywhere else, may have been written.
                Op::Call(call) if self.written.is_empty() && self.works => {
                    waiting.extend(call.args.iter().copied());
                }
                Op::Load(access) if !self.may_be_written(access.ptr) => waiting.push(access.ptr),
                op @ (Op::Address(_)
                | Op::Binary { .. }
                | Op::Negate(_)
                | Op::Compare { .. }
                | Op::Convert(_)
                | Op::Select { .. }
                | Op::Phi(_)) => op.for_each_operand(|operand| waiting.push(operand)),
                _ => return true,
            }
        }
        false
    }

    /// Whether memory can differ in the next iteration: somebody writes to it on the way, or
    /// elsewhere in ways nobody sees from here.
    fn may_be_written(&self, ptr: Operand) -> bool {
        let place = place_of(self.code.program, self.body, ptr);
        let by_others = match &place {
            Place::Local(_) => false,
            Place::Global(global) => !self.code.is_never_written(*global),
            Place::Elsewhere => !self.works,
        };
        by_others || self.written.iter().any(|written| written.may_be(&place))
    }

    fn is_inside(&self, inst: InstId) -> bool {
        let shape = self.code.shape(self.function);
        shape.is_some_and(|shape| shape.cfg.loops.contains(self.id, self.body.insts[inst].block))
    }
}

/// Memory, as far as the text of the loop tells.
#[derive(PartialEq, Eq)]
enum Place {
    /// A variable of the function.
    Local(InstId),
    Global(GlobalId),
    Elsewhere,
}

impl Place {
    fn may_be(&self, other: &Place) -> bool {
        self == other || *self == Place::Elsewhere || *other == Place::Elsewhere
    }
}

fn place_of(program: &Program, body: &Body, ptr: Operand) -> Place {
    let mut at = ptr;
    for _ in 0..16 {
        match at {
            Operand::Inst(inst) => match &body.insts[inst].op {
                Op::Alloca { .. } => return Place::Local(inst),
                Op::Address(address) => at = address.base,
                Op::Convert(conversion) => at = conversion.value,
                _ => return Place::Elsewhere,
            },
            Operand::Const(id) => match program.constants[id] {
                Const::Global { global, .. } => return Place::Global(global),
                _ => return Place::Elsewhere,
            },
            Operand::Param(_) => return Place::Elsewhere,
        }
    }
    Place::Elsewhere
}

/// Whether an operation does what other threads or devices see.
fn is_seen_by_others(op: &Op) -> bool {
    match op {
        Op::Load(access) | Op::Store { access, .. } => access.is_volatile || access.is_atomic,
        Op::AtomicUpdate { .. } | Op::CompareExchange { .. } | Op::Fence | Op::Asm { .. } => true,
        _ => false,
    }
}
