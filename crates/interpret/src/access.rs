//! Reads and writes of memory, at addresses that may follow from inputs.

use logic::words::{WordId, WordOp};
use program::{Access, Address, Ty};

use crate::arithmetic::width;
use crate::exec::{Frame, Machine};
use crate::instructions::part_bytes;
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
            let value = self.load_bytes(address, size)?;
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

    /// Reads wherever the inputs may lead, as far as that can be said.
    pub(crate) fn load_bytes(&mut self, address: Bits, size: u64) -> Result<Bits, Stop> {
        let at = address.bits as u64;
        let Some(unknown) = address.word else { return self.memory.load(at, size) };
        let value = self.memory.load(at, size)?;
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
        // A store that fails must not change anything.
        self.memory.load(at, size)?;
        self.stays_inside(at, unknown, size);
        self.keep_aligned(at, unknown, size);
        if self.memory.store_at(at, unknown, size, value) {
            return Ok(());
        }
        self.pinned(address);
        self.memory.store(at, size, value)
    }

    /// Records that the access stays in the object it meets on this run.
    fn stays_inside(&mut self, at: u64, unknown: WordId, size: u64) {
        let Some(reach) = self.memory.reach(at) else { return };
        let words = &mut self.memory.words;
        let base = words.constant(64, u128::from(reach.base));
        let offset = words.binary(WordOp::Sub, unknown, base);
        let last = words.constant(64, u128::from(reach.size.saturating_sub(size)));
        let inside = words.binary(WordOp::UnsignedLe, offset, last);
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
        let words = &mut self.memory.words;
        let at = address.word.unwrap_or_else(|| words.constant(64, address.bits));
        let size = match size.word {
            Some(word) => words.resize(word, 64, false),
            None => words.constant(64, size.bits),
        };
        let base = words.constant(64, u128::from(reach.base));
        let length = words.constant(64, u128::from(reach.size));
        let offset = words.binary(WordOp::Sub, at, base);
        let starts = words.binary(WordOp::UnsignedLe, offset, length);
        let room = words.binary(WordOp::Sub, length, offset);
        let fits = words.binary(WordOp::UnsignedLe, size, room);
        let inside = words.and(starts, fits);
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
