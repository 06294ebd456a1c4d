//! Reads and writes of memory, at addresses that may follow from inputs.

use logic::words::{WordId, WordOp};
use program::{Access, Address, CType, InstId, Op, Operand, PathStep, Program, Ty};

use crate::arithmetic::width;
use crate::exec::{Frame, Machine};
use crate::instructions::part_bytes;
use crate::memory::{Memory, Reach, TouchKind};
use crate::path::Why;
use crate::value::{Bits, Value, signed};
use crate::{FaultKind, Stop};

impl<'p> Machine<'p> {
    pub(crate) fn address_of(&mut self, frame: &Frame<'p>, a: &Address) -> Result<Bits, Stop> {
        let base = self.bits(frame, a.base)?;
        let mut at = base.with_word(None);
        let mut word = base.word;
        at.bits = at.bits.wrapping_add(a.offset as i128 as u128);
        if let Some(base) = word {
            let offset = self.memory.words.constant(64, a.offset as i128 as u128);
            word = Some(self.memory.words.binary(WordOp::Add, base, offset));
        }
        for term in &a.terms {
            let index = self.bits(frame, term.index)?;
            let index_width = width(self.ty(frame, term.index))?;
            let product = signed(index.bits, index_width).wrapping_mul(term.stride.into());
            if word.is_some() || index.word.is_some() {
                let words = &mut self.memory.words;
                let so_far = word.unwrap_or_else(|| words.constant(64, at.bits));
                let scaled = match index.word {
                    Some(index) => {
                        let wide = words.resize(index, 64, true);
                        let stride = words.constant(64, term.stride as i128 as u128);
                        words.binary(WordOp::Mul, wide, stride)
                    }
                    None => words.constant(64, product as u128),
                };
                word = Some(words.binary(WordOp::Add, so_far, scaled));
            }
            at.bits = at.bits.wrapping_add(product as u128);
            at.unset |= index.unset;
        }
        if !at.is_known() {
            return Ok(Bits::unset(64));
        }
        let word = word.filter(|word| self.memory.words.as_const(*word).is_none());
        Ok(at.low(64).with_word(word))
    }

    pub(crate) fn load(
        &mut self,
        frame: &Frame<'p>,
        access: &Access,
        ty: Ty,
    ) -> Result<Value, Stop> {
        if !self.check_element(frame, access, false)? {
            return Ok(Value::Bits(Bits::known(0)));
        }
        let address = self.settled(frame, access.ptr)?;
        if let Ty::Aggregate(bytes) = ty {
            let address = self.pinned(address) as u64;
            let stride = part_bytes(bytes);
            let starts = (0..bytes).step_by(stride as usize);
            let parts = starts
                .map(|at| self.memory.load(address + at, stride.min(bytes - at)).map(Value::from));
            return Ok(Value::Parts(parts.collect::<Result<_, _>>()?));
        }
        let width = width(ty)?;
        let Some(field) = access.bit_field else {
            let size = if ty == Ty::Float(80) { 10 } else { access.size };
            let value = match ty {
                Ty::Ptr => match self.load_as(Memory::load_set, address, size)? {
                    value if !value.is_known() && self.memory.unset.is_some() => {
                        self.lead_on(address.bits as u64, access.ctype, value)?
                    }
                    value => value,
                },
                _ => self.load_bytes(address, size)?,
            };
            return Ok(self.low(value, width).into());
        };
        let unit = self.load_bytes(address, access.size)?;
        let value = unit.shifted_right(field.offset).low(field.width);
        let is_signed = self.program.is_signed(access.ctype) == Some(true);
        let result = if is_signed { value.sign_extended(field.width, width) } else { value };
        let word = unit.word.map(|word| {
            let words = &mut self.memory.words;
            let part = words.extract(word, field.offset, field.width);
            words.resize(part, width, is_signed)
        });
        Ok(result.with_word(word).into())
    }

    pub(crate) fn store(
        &mut self,
        frame: &Frame<'p>,
        access: &Access,
        value: &Value,
    ) -> Result<(), Stop> {
        if !self.check_element(frame, access, true)? {
            return Ok(());
        }
        let address = self.settled(frame, access.ptr)?;
        match (value, access.bit_field) {
            (Value::Bits(bits), None) => self.store_bytes(address, access.size, *bits),
            (Value::Bits(bits), Some(field)) => {
                let unit = (self.pinned(address) as u64, access.size);
                self.memory.store_bits(unit, (field.offset, field.width), *bits)
            }
            (Value::Parts(parts), _) => {
                let address = self.pinned(address) as u64;
                let stride = part_bytes(access.size);
                for (index, part) in (0..).zip(parts) {
                    let at: u64 = index * stride;
                    let size = stride.min(access.size.saturating_sub(at));
                    let part = self.scalar(part)?;
                    self.memory.store(address + at, size, part)?;
                }
                Ok(())
            }
        }
    }

    /// An element of an array inside a larger object lies in that array: a row of a matrix, a
    /// member that is not the last. Whether the access is made.
    fn check_element(
        &mut self,
        frame: &Frame<'p>,
        access: &Access,
        is_write: bool,
    ) -> Result<bool, Stop> {
        let Some((index, count)) = element_of(self.program, frame, access.ptr) else {
            return Ok(true);
        };
        let (at, word) = match index {
            Index::Constant(at) => (i128::from(at), None),
            Index::Operand(operand) => {
                let bits = self.settled(frame, operand)?;
                let index_width = width(self.ty(frame, operand))?;
                let words = &mut self.memory.words;
                let word = bits.word.map(|word| words.resize(word, 64, true));
                (signed(bits.bits, index_width), word)
            }
        };
        let is_inside = (0..i128::from(count)).contains(&at);
        if is_inside {
            self.memory.fit.write(at as u64 + 1, count);
        }
        if let Some(word) = word {
            let words = &mut self.memory.words;
            let limit = words.constant(64, count.into());
            let inside = words.binary(WordOp::UnsignedLt, word, limit);
            if is_inside {
                self.holds(inside, Why::Check(FaultKind::OutOfBounds));
            } else if self.memory.goes_on() {
                let outside = self.memory.words.not(inside);
                self.holds(outside, Why::Check(FaultKind::OutOfBounds));
            } else {
                self.violated.get_or_insert(inside);
            }
        }
        if is_inside {
            return Ok(true);
        }
        if !self.memory.goes_on() {
            return Err(Stop::Fault(FaultKind::OutOfBounds));
        }
        let address = self.settled(frame, access.ptr)?.bits as u64;
        let is_made = self.memory.leaves_array(address, access.size, is_write);
        if !is_made && is_write && at == i128::from(count) && self.is_text(access) {
            self.memory.end_text(address, access.size);
        }
        Ok(is_made)
    }

    fn is_text(&self, access: &Access) -> bool {
        let ctype = self.program.resolved_type(access.ctype);
        matches!(ctype, CType::Int { name, .. } if name.ends_with("char"))
    }

    pub(crate) fn load_bytes(&mut self, address: Bits, size: u64) -> Result<Bits, Stop> {
        self.load_as(Memory::load, address, size)
    }

    /// Reads wherever the inputs may lead, as far as that can be said.
    fn load_as(
        &mut self,
        load: fn(&mut Memory, u64, u64) -> Result<Bits, Stop>,
        address: Bits,
        size: u64,
    ) -> Result<Bits, Stop> {
        let at = address.bits as u64;
        let Some(unknown) = address.word else { return load(&mut self.memory, at, size) };
        let value = load(&mut self.memory, at, size);
        let value = value.inspect_err(|_| self.note_violation(address, size))?;
        if self.goes_outside(address, size) {
            return Ok(value);
        }
        self.stays_inside(at, unknown, size);
        self.keep_aligned(at, unknown, size);
        let word = self.memory.word_at(at, unknown, size);
        if word.is_none() {
            self.pinned(address);
            return Ok(value);
        }
        let word = word.filter(|word| self.memory.words.as_const(*word).is_none());
        Ok(value.with_word(word))
    }

    pub(crate) fn store_bytes(
        &mut self,
        address: Bits,
        size: u64,
        value: Bits,
    ) -> Result<(), Stop> {
        let at = address.bits as u64;
        let Some(unknown) = address.word else { return self.memory.store(at, size, value) };
        if self.goes_outside(address, size) {
            return self.memory.store(at, size, value);
        }
        // A store that fails must not change anything.
        self.memory.load(at, size).inspect_err(|_| {
            self.memory.touch(at, size, TouchKind::Write);
            self.note_violation(address, size);
        })?;
        self.stays_inside(at, unknown, size);
        self.keep_aligned(at, unknown, size);
        if self.memory.store_at(at, unknown, size, value) {
            return Ok(());
        }
        self.pinned(address);
        self.memory.store(at, size, value)
    }

    /// Whether an access leaves its object and the run goes on.
    fn goes_outside(&mut self, address: Bits, size: u64) -> bool {
        let at = address.bits as u64;
        if !self.memory.goes_on() || self.memory.are_inside(&[(at, size)]) {
            return false;
        }
        if let (Some(word), Some(reach)) = (address.word, self.memory.nearest(at)) {
            let inside = self.inside(word, reach, size);
            let outside = self.memory.words.not(inside);
            self.holds(outside, Why::Check(FaultKind::OutOfBounds));
        }
        self.pinned(address);
        true
    }

    /// Remembers what would have kept an access that fails inside the object it was meant for:
    /// the nearest.
    fn note_violation(&mut self, address: Bits, size: u64) {
        let (Some(word), at) = (address.word, address.bits as u64) else { return };
        let inside = match self.memory.nearest(at) {
            Some(reach) => self.inside(word, reach, size),
            None => return,
        };
        self.violated.get_or_insert(inside);
    }

    fn inside(&mut self, unknown: WordId, reach: Reach, size: u64) -> WordId {
        let words = &mut self.memory.words;
        let base = words.constant(64, u128::from(reach.base));
        let offset = words.binary(WordOp::Sub, unknown, base);
        let last = words.constant(64, u128::from(reach.size.saturating_sub(size)));
        words.binary(WordOp::UnsignedLe, offset, last)
    }

    /// Records that the access stays in the object it meets on this run.
    fn stays_inside(&mut self, at: u64, unknown: WordId, size: u64) {
        let Some(reach) = self.memory.reach(at) else { return };
        let inside = self.inside(unknown, reach, size);
        self.holds(inside, Why::Check(FaultKind::OutOfBounds));
    }

    /// Elements are met whole or not at all.
    fn keep_aligned(&mut self, at: u64, unknown: WordId, size: u64) {
        if size <= 1 || !size.is_power_of_two() {
            return;
        }
        let words = &mut self.memory.words;
        let bits = size.trailing_zeros();
        let low = words.extract(unknown, 0, bits);
        let same = words.constant(bits, u128::from(at));
        let aligned = words.eq(low, same);
        self.holds(aligned, Why::Pin);
    }

    /// Records that so many bytes from an address on lie in its object.
    pub(crate) fn has_room(&mut self, address: Bits, size: Bits) {
        if address.word.is_none() && size.word.is_none() {
            return;
        }
        let Some(reach) = self.memory.reach(address.bits as u64) else { return };
        if address.bits as u64 - reach.base > reach.size {
            return;
        }
        let n_bytes = size.bits;
        let words = &mut self.memory.words;
        let at = address.word.unwrap_or_else(|| words.constant(64, address.bits));
        let size = match size.word {
            Some(word) => words.resize(word, 64, false),
            None => words.constant(64, size.bits),
        };
        let does_fit = u128::from(reach.base + reach.size - address.bits as u64) >= n_bytes;
        let base = words.constant(64, u128::from(reach.base));
        let length = words.constant(64, u128::from(reach.size));
        let offset = words.binary(WordOp::Sub, at, base);
        let starts = words.binary(WordOp::UnsignedLe, offset, length);
        let room = words.binary(WordOp::Sub, length, offset);
        let fits = words.binary(WordOp::UnsignedLe, size, room);
        let inside = words.and(starts, fits);
        let inside = if does_fit { inside } else { words.not(inside) };
        self.holds(inside, Why::Check(FaultKind::OutOfBounds));
    }

    pub(crate) fn copy_bytes(&mut self, to: Bits, from: Bits, size: Bits) -> Result<(), Stop> {
        self.has_room(to, size);
        self.has_room(from, size);
        let (to, from) = (self.pinned(to) as u64, self.pinned(from) as u64);
        let size = self.pinned(size) as u64;
        self.memory.copy(to, from, size)
    }

    pub(crate) fn fill_bytes(&mut self, to: Bits, size: Bits, byte: Bits) -> Result<(), Stop> {
        self.has_room(to, size);
        let (to, size) = (self.pinned(to) as u64, self.pinned(size) as u64);
        self.memory.fill(to, size, byte)
    }
}

enum Index {
    Constant(i64),
    Operand(Operand),
}

/// Where an address is that of an element of an array which is part of something larger: the
/// index, and how many elements there are.
fn element_of(program: &Program, frame: &Frame, ptr: Operand) -> Option<(Index, u64)> {
    let address = address_at(frame, ptr)?;
    let (step, before) = address.path.split_last()?;
    let PathStep::Index { term, constant } = step else { return None };
    let count = match (before.last(), address.base) {
        (Some(PathStep::Field { record, member }), _) => {
            let members = &program.records.get(*record)?.members;
            match program.resolved_type(members.get(*member as usize)?.ctype) {
                CType::Array { count: Some(count), .. } if *member as usize + 1 < members.len() => {
                    *count
                }
                _ => return None,
            }
        }
        (Some(_), _) => return None,
        (None, Operand::Const(id)) => array_in_global(program, id, step, address)?,
        (None, _) => array_in_object(program, frame, address)?,
    };
    let index = match term {
        Some(term) => Index::Operand(address.terms.get(*term as usize)?.index),
        None => Index::Constant(*constant),
    };
    Some((index, count))
}

/// The elements of the array that an address is made of where it is part of something larger.
fn array_in_object(program: &Program, frame: &Frame, address: &Address) -> Option<u64> {
    let whole = address_at(frame, address.base)?;
    if let Some(PathStep::Field { record, member }) = whole.path.last()
        && *member as usize + 1 == program.records.get(*record)?.members.len()
    {
        return None;
    }
    let Operand::Inst(base) = address.base else { return None };
    let array = program.pointee(frame.body.insts[base].ctype);
    let CType::Array { count: Some(count), .. } = program.resolved_type(array) else {
        return None;
    };
    Some(*count)
}

/// The same for a member of a global, whose address is a constant.
fn array_in_global(
    program: &Program,
    id: program::ConstId,
    step: &PathStep,
    address: &Address,
) -> Option<u64> {
    let program::Const::Global { global, offset } = program.constants.get(id)? else { return None };
    let PathStep::Index { term, .. } = step else { return None };
    let stride = match term {
        Some(term) => address.terms.get(*term as usize)?.stride,
        None => return None,
    };
    let (mut ctype, mut at) = (program.globals.get(*global)?.ctype, u64::try_from(*offset).ok()?);
    let mut is_last = true;
    // Records in records.
    for _ in 0..8 {
        let CType::Record(record) = program.resolved_type(ctype) else { break };
        let record = program.records.get(*record)?;
        let inside = |member: &&program::Member| {
            let start = member.offset_bits / 8;
            (start..start + member.size_bits.div_ceil(8)).contains(&at)
        };
        let mut members = record.members.iter().enumerate();
        let (index, member) = members.find(|(_, member)| inside(member))?;
        if record.kind == program::RecordKind::Union {
            return None;
        }
        is_last &= index + 1 == record.members.len();
        (ctype, at) = (member.ctype, at - member.offset_bits / 8);
    }
    let CType::Array { element, count: Some(count) } = program.resolved_type(ctype) else {
        return None;
    };
    let is_whole = at == 0 && program.size_of(*element) == u64::try_from(stride).ok();
    (is_whole && !is_last).then_some(*count)
}

pub(crate) fn address_at<'f>(frame: &'f Frame, operand: Operand) -> Option<&'f Address> {
    let Operand::Inst(inst) = operand else { return None };
    let inst: InstId = inst;
    match &frame.body.insts[inst].op {
        Op::Address(address) => Some(address),
        _ => None,
    }
}
