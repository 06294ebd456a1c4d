//! Memory from outside that calls are handed: what they return of it, and how much of it a
//! call can have changed.

use logic::TermId;
use program::{Call, FunctionId, LocId, Op, Operand, PathStep};

use super::exec::Exec;
use super::memory::{Content, Data, ObjectId, Write};
use super::value::Value;
use crate::outside::changes::places;

impl Exec<'_, '_> {
    /// A pointer that a function of the program hands out leads to what the program keeps.
    pub fn mark_outside(&mut self, value: Value) {
        if self.context.outside.outside.is_empty() {
            return;
        }
        if let Value::Pointer { object, .. } = value {
            let object = self.state.memory.get_mut(object);
            object.content = Content::Entry;
            object.is_outside = true;
        }
    }

    /// The answer to something from outside: with all that can be handed over, it can be had.
    pub fn note_answer(&mut self, result: Value, args: &[Value]) {
        let holds_outside = |value: &Value| {
            let Some((object, _)) = value.as_pointer() else { return false };
            let object = self.state.memory.get(object);
            let is_copy = |write: &Write| match &write.data {
                Data::Copy { from, .. } => from.is_outside,
                _ => false,
            };
            object.is_outside || object.writes().take(4).any(is_copy)
        };
        if let Some(symbol) = self.context.symbol_of(result)
            && args.iter().any(holds_outside)
        {
            self.context.answers.insert(symbol);
        }
    }

    /// A call nobody follows was handed this argument. Of memory from outside it can have
    /// changed the members that its functions change, or the part that the argument names.
    pub fn forget_argument(
        &mut self,
        call: &Call,
        index: usize,
        callees: &[FunctionId],
        value: Value,
        loc: LocId,
    ) {
        let Some(parts) = self.changed_parts(call, index, callees, value) else {
            return self.forget(value, loc);
        };
        for (object, start, size) in parts {
            let size = self.context.constant(size);
            let data = Data::Unknown { input: false };
            self.state.memory.get_mut(object).write(start, size, data, loc);
        }
        self.escape(value);
    }

    /// A call nobody follows may have written these bytes behind a pointer, and nothing else.
    pub fn forget_pieces(&mut self, value: Value, pieces: &[(i64, i64)], loc: LocId) {
        let Some((object, offset)) = value.as_pointer() else { return };
        self.escape_held(object);
        for (from, to) in pieces {
            let start = self.context.terms.add_constant(offset, i128::from(*from));
            let size = self.context.constant(i128::from(to - from));
            let data = Data::Unknown { input: false };
            self.state.memory.get_mut(object).write(start, size, data, loc);
        }
    }

    fn changed_parts(
        &mut self,
        call: &Call,
        index: usize,
        callees: &[FunctionId],
        value: Value,
    ) -> Option<Vec<(ObjectId, TermId, i128)>> {
        let (object, offset) = value.as_pointer()?;
        if !self.state.memory.get(object).is_outside {
            return None;
        }
        let program = self.context.program;
        let ctype = call.arg_ctypes.get(index).copied()?;
        let record = self.context.outside.record_behind(program, ctype);
        let changed = self.context.outside.outside.changed_by(callees);
        if let (Some(record), Some(changed)) = (record, changed) {
            let places = places(program, record, &changed).into_iter();
            let at = |(start, size): (u64, u64)| {
                let start = self.context.terms.add_constant(offset, i128::from(start));
                (object, start, i128::from(size))
            };
            return Some(places.map(at).collect());
        }
        self.named_part(call, index, value).map(|part| vec![part])
    }

    /// The member or record inside a larger object that an argument points to: where it
    /// starts, and its bytes.
    fn named_part(
        &mut self,
        call: &Call,
        index: usize,
        value: Value,
    ) -> Option<(ObjectId, TermId, i128)> {
        let (object, offset) = value.as_pointer()?;
        if !self.state.memory.get(object).is_outside {
            return None;
        }
        if let Some(ctype) = call.arg_ctypes.get(index)
            && let Some(record) = self.context.outside.record_behind(self.context.program, *ctype)
        {
            let size = self.context.program.records[record].size;
            return (size > 0).then_some((object, offset, i128::from(size)));
        }
        let Operand::Inst(inst) = *call.args.get(index)? else { return None };
        let Op::Address(address) = &self.body().insts[inst].op else { return None };
        let mut steps = address.path.iter().rev();
        let (walks, record, member) = match steps.next()? {
            PathStep::Field { record, member } => (false, *record, *member),
            PathStep::Index { term: Some(_), .. } => match steps.next()? {
                PathStep::Field { record, member } => (true, *record, *member),
                _ => return None,
            },
            _ => return None,
        };
        let bits = self.context.program.records[record].members.get(member as usize)?.size_bits;
        let start = if walks {
            let (_, base) = self.operand(address.base).as_pointer()?;
            self.context.terms.add_constant(base, i128::from(address.offset))
        } else {
            offset
        };
        Some((object, start, i128::from(bits / 8)))
    }
}
