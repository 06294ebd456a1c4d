//! How far a pointer is from the ends of its object, where the code itself says which
//! object that is.

use logic::TermId;
use program::{Address, Op, Operand, PathStep};
use spec::lower::Argument;

use super::known::{Known, global_of, storage_of};
use crate::semantics::lowered::array_member;

/// Steps of pointer arithmetic that are looked through.
const MAX_STEPS: usize = 16;

impl Known<'_, '_> {
    /// Bytes from the pointer to the end of what it may be used for.
    pub fn room(&mut self, argument: &Argument) -> Option<TermId> {
        let room = self.object(argument).map(|(size, offset)| {
            let size = self.terms.constant(i128::from(size));
            self.terms.sub(size, offset)
        });
        let Some((total, used)) = self.within_member(argument) else { return room };
        let total = self.terms.constant(i128::from(total));
        let member = self.terms.sub(total, used);
        Some(room.map_or(member, |room| self.terms.min(room, member)))
    }

    /// Bytes from the start of what the pointer may be used for.
    pub fn offset(&mut self, argument: &Argument) -> Option<TermId> {
        let offset = self.object(argument).map(|(_, offset)| offset);
        let Some((_, used)) = self.within_member(argument) else { return offset };
        Some(offset.map_or(used, |offset| self.terms.min(offset, used)))
    }

    /// The size of the object, and the pointer's distance from its start.
    fn object(&mut self, argument: &Argument) -> Option<(u64, TermId)> {
        let Argument::Operand(operand) = argument else { return None };
        let mut at = *operand;
        let mut offset = self.terms.constant(0);
        for _ in 0..MAX_STEPS {
            if let Some((global, bytes)) = global_of(self.code, at) {
                let bytes = self.terms.constant(i128::from(bytes));
                let global = &self.code.program.globals[global];
                let size = global.init.is_some().then_some(global.size)?;
                return Some((size, self.terms.add(offset, bytes)));
            }
            if let Some(size) = storage_of(self.body, at) {
                return Some((size, offset));
            }
            let Operand::Inst(inst) = at else { return None };
            let Op::Address(address) = &self.body.insts[inst].op else { return None };
            let moved = self.moved(address, 0)?;
            offset = self.terms.add(offset, moved);
            at = address.base;
        }
        None
    }

    /// As a path has it: see [`crate::semantics::lowered::Lowered`].
    fn within_member(&mut self, argument: &Argument) -> Option<(u64, TermId)> {
        let Argument::Operand(Operand::Inst(inst)) = argument else { return None };
        let mut inst = *inst;
        let mut used = self.terms.constant(0);
        for _ in 0..4 {
            let Op::Address(address) = &self.body.insts.get(inst)?.op else { return None };
            let field = address.path.iter().rposition(|s| matches!(s, PathStep::Field { .. }));
            let Some(field) = field else {
                let moved = self.moved(address, 0)?;
                used = self.terms.add(used, moved);
                let Operand::Inst(base) = address.base else { return None };
                inst = base;
                continue;
            };
            let PathStep::Field { record, member } = address.path[field] else { return None };
            let (total, start) = array_member(self.code.program, record, member)?;
            if field + 1 < address.path.len() {
                let moved = self.moved(address, start)?;
                used = self.terms.add(used, moved);
            }
            return Some((total, used));
        }
        None
    }

    /// Bytes an address adds to its base, less where a member starts.
    fn moved(&mut self, address: &Address, start: u64) -> Option<TermId> {
        let mut sum = self.terms.constant(i128::from(address.offset) - i128::from(start));
        for term in &address.terms {
            let index = self.number(term.index, true)?;
            sum = self.terms.add_scaled(sum, i128::from(term.stride), index);
        }
        Some(sum)
    }
}
