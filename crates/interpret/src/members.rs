//! Arrays inside larger objects, which string functions are not to leave: as in the C library's
//! own checks, `memcpy` and its kin may.

use program::{CType, InstId, Operand, PathStep};

use crate::access::address_at;
use crate::exec::{Frame, Machine};
use crate::memory::Reach;

impl<'p> Machine<'p> {
    /// The array that an argument of a call was made from, where the call itself names it and it
    /// is a member that is not the last: `p->name`, `p->name + 2`, `&p->name[i]`.
    pub(crate) fn member_of(&self, frame: &Frame<'p>, call: InstId, ptr: Operand) -> Option<Reach> {
        let mut at = ptr;
        // An address is made in a few steps.
        for _ in 0..8 {
            let address = address_at(frame, at)?;
            if let Some(PathStep::Field { record, member }) = address.path.last() {
                let Operand::Inst(inst) = at else { return None };
                if !self.stands_in(frame, call, inst) {
                    return None;
                }
                let members = &self.program.records.get(*record)?.members;
                let array = self.program.resolved_type(members.get(*member as usize)?.ctype);
                let CType::Array { element, count: Some(count) } = array else { return None };
                // An array without elements marks a place.
                if *member as usize + 1 == members.len() || *count == 0 {
                    return None;
                }
                let size = self.program.size_of(*element)?.checked_mul(*count)?;
                let base = self.address(&frame.values[inst]).ok()?;
                return Some(Reach { base, size });
            }
            let is_element = |step: &PathStep| matches!(step, PathStep::Index { .. });
            if !address.path.iter().all(is_element) {
                return None;
            }
            at = address.base;
        }
        None
    }

    /// Whether an address is made behind the beginning of a call: what is made before lies in a
    /// variable, which may be meant for the whole object.
    fn stands_in(&self, frame: &Frame<'p>, call: InstId, address: InstId) -> bool {
        let loc = |inst: InstId| &self.program.locs[frame.body.insts[inst].loc];
        let (call, address) = (loc(call), loc(address));
        let has_place = call.line > 0 && address.line > 0;
        !has_place || (call.line, call.column) <= (address.line, address.column)
    }
}
