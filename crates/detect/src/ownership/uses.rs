//! What a function does with a new object before it returns it.

use program::{BlockId, Const, InstId, Op, Operand, Terminator};
use rustc_hash::FxHashSet;

use super::{Contents, Role, Shape};

impl Shape<'_> {
    /// What the object made by a call holds in the end; `None` where the function keeps a
    /// pointer to it, so that the caller is not its owner.
    pub(super) fn contents(&self, made: InstId, at_first: Contents) -> Option<Contents> {
        let own = self.derived(made);
        let is_own = |operand: &Operand| matches!(operand, Operand::Inst(i) if own.contains(i));
        let (mut is_set, mut is_zeroed) = (false, false);
        for (id, inst) in self.body.insts.iter_enumerated() {
            match &inst.op {
                Op::Store { access, value } => {
                    if is_own(value) && !is_own(&access.ptr) {
                        return None;
                    }
                    is_set |= is_own(&access.ptr);
                }
                Op::MemSet { to, byte, .. } if is_own(to) => {
                    let zero = self.is_zero(*byte);
                    (is_zeroed, is_set) = (is_zeroed || zero, is_set || !zero);
                }
                Op::MemCopy { to, .. } if is_own(to) => is_set = true,
                Op::Call(call) if id != made => {
                    for (index, _) in call.args.iter().enumerate().filter(|(_, a)| is_own(a)) {
                        if let Some(Role::Releases { pointer }) = self.ownership_of(call)
                            && pointer == index
                        {
                            if self.returned_after(inst.block, &own) {
                                return None;
                            }
                            continue;
                        }
                        let handed = &self.ownership.handed;
                        let targets = &self.ownership.targets;
                        let fate =
                            handed.of_argument(self.program, targets, self.body, call, index);
                        if fate.kept {
                            return None;
                        }
                        let zeroes = self.is_memset_zero(call);
                        (is_zeroed, is_set) = (is_zeroed || zeroes, is_set || !zeroes);
                    }
                }
                Op::AtomicUpdate { value, .. } if is_own(value) => return None,
                _ => {}
            }
        }
        Some(match (is_set, is_zeroed) {
            (true, _) => Contents::Set,
            (false, true) => Contents::Zero,
            (false, false) => at_first,
        })
    }

    /// Whether the function may still return the object once control was in a block: not so where
    /// it releases it because something failed, and returns null.
    fn returned_after(&self, block: BlockId, own: &FxHashSet<InstId>) -> bool {
        let (mut reached, mut waiting) = (FxHashSet::default(), vec![block]);
        while let Some(block) = waiting.pop() {
            if reached.insert(block) {
                waiting.extend(self.cfg.successors(block));
            }
        }
        let returned =
            self.body.blocks.iter_enumerated().filter_map(|(id, block)| match block.terminator {
                Terminator::Return(value) if reached.contains(&id) => value,
                _ => None,
            });
        let (mut values, mut seen) = (returned.collect::<Vec<_>>(), FxHashSet::default());
        while let Some(value) = values.pop() {
            let Operand::Inst(inst) = self.unconverted(value) else { continue };
            if !own.contains(&inst) || !seen.insert(inst) {
                continue;
            }
            let Op::Phi(operands) = &self.body.insts[inst].op else { return true };
            let from_there = operands.iter().filter(|(from, _)| reached.contains(from));
            values.extend(from_there.map(|(_, operand)| *operand));
        }
        false
    }

    /// The values of the function that lead into the object.
    fn derived(&self, made: InstId) -> FxHashSet<InstId> {
        let mut own = FxHashSet::from_iter([made]);
        loop {
            let before = own.len();
            for (id, inst) in self.body.insts.iter_enumerated() {
                let is_own = |o: &Operand| matches!(o, Operand::Inst(i) if own.contains(i));
                let derives = match &inst.op {
                    Op::Address(address) => is_own(&address.base),
                    Op::Convert(conversion) => is_own(&conversion.value),
                    Op::Phi(operands) => operands.iter().any(|(_, o)| is_own(o)),
                    Op::Select { then, otherwise, .. } => is_own(then) || is_own(otherwise),
                    _ => false,
                };
                if derives {
                    own.insert(id);
                }
            }
            if own.len() == before {
                return own;
            }
        }
    }

    fn is_zero(&self, operand: Operand) -> bool {
        match operand {
            Operand::Const(id) => match self.program.constants[id] {
                Const::Int { value, .. } => value == 0,
                Const::Zero(_) => true,
                _ => false,
            },
            _ => false,
        }
    }

    fn is_memset_zero(&self, call: &program::Call) -> bool {
        let program::Callee::Function(function) = call.callee else { return false };
        let is_memset = &*self.program.functions[function].name == "memset";
        is_memset && call.args.get(1).is_some_and(|byte| self.is_zero(*byte))
    }
}
