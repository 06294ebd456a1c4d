//! Questions asked at a point of the program.

use program::{BlockId, FunctionId, InstId, Op, Operand, Program};

use crate::effects::EffectContext;
use crate::memory::{MemoryTrace, Writers};
use crate::pointsto::Types;
use crate::ranges::{Interval, Nullness, Place};
use crate::set::SparseSet;
use crate::{Cfg, Facts};

impl Facts {
    /// Control flow of a function with a body.
    pub fn cfg(&self, function: FunctionId) -> Option<&Cfg> {
        self.cfgs[function.0 as usize].as_ref()
    }

    /// The range of an operand where `block` runs: empty where it never does, none for
    /// values that are not integers or pointers of up to 64 bits.
    pub fn range_at(
        &self,
        program: &Program,
        function: FunctionId,
        block: BlockId,
        operand: Operand,
    ) -> Option<Interval> {
        self.ranges.range_at(&self.place(program, function), block, operand)
    }

    fn place<'a>(&'a self, program: &'a Program, function: FunctionId) -> Place<'a> {
        Place {
            program,
            cfg: self.cfgs[function.0 as usize].as_ref(),
            users: &self.users[function.0 as usize],
            function,
        }
    }

    /// Whether a pointer can be null just before an instruction, as branches tell.
    pub fn nullness_at(
        &self,
        program: &Program,
        function: FunctionId,
        inst: InstId,
        pointer: Operand,
    ) -> Nullness {
        let Some(body) = &program.functions[function].body else { return Nullness::Maybe };
        let block = body.insts[inst].block;
        match self.range_at(program, function, block, pointer) {
            Some(range) => Nullness::of(range),
            None => Nullness::Maybe,
        }
    }

    /// An access through the pointer that comes before `inst` on every path to it: had the
    /// pointer been null, control would not have got here.
    pub fn dereferenced_before(
        &self,
        program: &Program,
        function: FunctionId,
        inst: InstId,
        pointer: Operand,
    ) -> Option<InstId> {
        let body = program.functions[function].body.as_ref()?;
        let cfg = self.cfg(function)?;
        let users = &self.users[function.0 as usize];
        let accesses = |user: InstId, pointer: Operand| match &body.insts[user].op {
            Op::Load(access)
            | Op::Store { access, .. }
            | Op::AtomicUpdate { access, .. }
            | Op::CompareExchange { access, .. } => access.ptr == pointer,
            _ => false,
        };
        let before = |user: InstId| cfg.inst_dominates(body, user, inst) && user != inst;
        let mut work = vec![pointer];
        while let Some(at) = work.pop() {
            for &user in users.of(at) {
                if accesses(user, at) && before(user) {
                    return Some(user);
                }
                if let Op::Address(address) = &body.insts[user].op
                    && address.base == at
                    && address.in_bounds
                    && before(user)
                {
                    work.push(Operand::Inst(user));
                }
            }
        }
        None
    }

    /// What questions about effects and traces of memory read. Build once, use often.
    pub fn effect_context<'a>(
        &'a self,
        program: &'a Program,
        types: &'a Types<'a>,
    ) -> EffectContext<'a> {
        EffectContext { program, pointers: &self.pointers, calls: &self.calls, types }
    }

    /// The versions of any cells through a function, for cells it need not read itself, as
    /// a read of `read_size` bytes would see them (none: of a size not known).
    pub fn trace_memory(
        &self,
        context: &EffectContext,
        function: FunctionId,
        cells: &SparseSet,
        read_size: Option<u64>,
    ) -> Option<MemoryTrace> {
        let body = context.program.functions[function].body.as_ref()?;
        let cfg = self.cfg(function)?;
        let writers = Writers::new(context, function, body, cfg);
        let writes = writers.of(context, &self.effects, cells, read_size);
        Some(MemoryTrace::new(body, cfg, writes))
    }
}
