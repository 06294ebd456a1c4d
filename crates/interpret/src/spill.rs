//! What lies outside of objects: where a run goes on behind a violation, an access that leaves
//! its object meets what the machine has there.
//!
//! The interpreter keeps room between objects, so that every access that leaves one is seen.
//! Beside that, each object has a place on a machine of our own: sections, stack and heap as
//! clang and a plain allocator lay them out. An access outside is brought there: to a byte of a
//! neighbour, or to a hole between objects that holds what was left in it.

use std::collections::BTreeMap;

use program::{CType, Const, Global, Program, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::memory::{Memory, TouchKind};
use crate::object::{Object, find};
use crate::value::Bits;
use crate::{FaultKind, Stop};

const CONSTANTS: u64 = 0x40_0000;
const STACK: u64 = 0x7fff_ffff_0000;
const HEAP: u64 = 0x5555_0000_0000;
/// Where its first block begins.
const FIRST_BLOCK: u64 = HEAP + 0x2a0;
/// What an access may go beyond before the machine stops it: what the heap has at first, the
/// stack above `main`, a page.
const HEAP_BYTES: u64 = 132 << 10;
const ABOVE_MAIN: u64 = 4096;
const PAGE: u64 = 4096;
/// Of the stack below what is in use.
const BELOW: u64 = 64 << 10;
/// Bytes of one access that are brought elsewhere.
const MAX_BYTES: u64 = 64 << 10;
/// Header of a block, with which it is at least as large as this.
const HEADER: u64 = 8;
const MIN_BLOCK: u64 = 32;

/// What a machine of our own holds besides objects.
#[derive(Default)]
pub(crate) struct Spill {
    /// Violations since they were last asked for.
    pub events: Vec<FaultKind>,
    /// The instruction under way is put right: what it writes outside is dropped.
    pub is_corrected: bool,
    /// What a run saw depends on where objects lie, or on what nobody has set.
    pub has_guessed: bool,
    /// The first byte of each object on the machine, and the object.
    places: BTreeMap<u64, u64>,
    /// By object.
    place_of: FxHashMap<u64, u64>,
    /// What was left in holes.
    holes: FxHashMap<u64, Bits>,
    /// Bytes that were written from outside of their object.
    written: FxHashSet<Spot>,
    end_of_data: u64,
    top_of_heap: u64,
    pub stack: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spot {
    /// A byte of an object.
    Object(u64),
    /// An address on the machine.
    Hole(u64),
}

impl Memory {
    /// From here on, accesses that leave their objects meet what the machine has there.
    pub fn go_on_outside(&mut self, program: &Program, globals: &[u64]) {
        let mut spill = Spill { stack: STACK, top_of_heap: FIRST_BLOCK, ..Spill::default() };
        let kinds = program.globals.iter().map(|global| section(program, global));
        let kinds: Vec<u32> = kinds.collect();
        let mut at = CONSTANTS;
        for kind in 0..3 {
            at = at.next_multiple_of(if kind == 1 { PAGE } else { 32 });
            for ((global, base), own) in program.globals.iter().zip(globals).zip(&kinds) {
                let is_known = spill.place_of.contains_key(base);
                if *own != kind || is_known || global.size == 0 {
                    continue;
                }
                at = at.next_multiple_of(alignment(program, global.ctype, global.size));
                spill.put(*base, at);
                at += global.size;
            }
        }
        spill.end_of_data = at.next_multiple_of(PAGE);
        self.spill = Some(Box::new(spill));
    }

    pub fn goes_on(&self) -> bool {
        self.spill.is_some()
    }

    /// Where a new object lies on the machine.
    pub(crate) fn place(&mut self, base: u64, size: u64, is_heap: bool) {
        let Some(spill) = &mut self.spill else { return };
        if is_heap {
            let at = spill.top_of_heap;
            spill.put(base, at);
            let block = (size.saturating_add(HEADER)).next_multiple_of(16).max(MIN_BLOCK);
            spill.top_of_heap = at.saturating_add(block);
            return;
        }
        let grain = if size >= 16 { 16 } else { size.next_power_of_two().clamp(1, 8) };
        spill.stack = spill.stack.saturating_sub(size) / grain * grain;
        let at = spill.stack;
        spill.put(base, at);
    }

    /// The stack as it is now, to come back to.
    pub(crate) fn enter_stack(&mut self) -> u64 {
        let Some(spill) = &mut self.spill else { return 0 };
        let before = spill.stack;
        // The address to return to, and the frame of the caller.
        spill.stack = (spill.stack - 16) / 16 * 16;
        before
    }

    pub(crate) fn leave_stack(&mut self, before: u64) {
        if let Some(spill) = &mut self.spill {
            spill.stack = before;
        }
    }

    pub(crate) fn unplace(&mut self, base: u64) {
        let Some(spill) = &mut self.spill else { return };
        if let Some(at) = spill.place_of.get(&base)
            && spill.places.get(at) == Some(&base)
        {
            spill.places.remove(at);
        }
    }

    /// An access inside an object that leaves the array it was meant for. Whether it is made.
    pub(crate) fn leaves_array(&mut self, address: u64, size: u64, is_write: bool) -> bool {
        let Some(spill) = &mut self.spill else { return true };
        let mut spots = (address..address.saturating_add(size)).map(Spot::Object);
        if is_write && spill.is_corrected {
            spill.events.push(FaultKind::OutOfBounds);
            return false;
        }
        if is_write {
            spill.events.push(FaultKind::OutOfBounds);
            spill.written.extend(spots);
        } else if !spots.all(|spot| spill.is_left_over(spot)) {
            spill.events.push(FaultKind::OutOfBounds);
            return !spill.is_corrected;
        }
        true
    }

    /// What the machine reads there.
    pub(crate) fn load_outside(
        &mut self,
        (address, size): (u64, u64),
        stop: Stop,
    ) -> Result<Bits, Stop> {
        let spots = self.spots(address, size, &stop)?;
        let Stop::Fault(kind) = stop else { return Err(stop) };
        let Some(spill) = &mut self.spill else { return Err(stop) };
        let is_own = kind == FaultKind::OutOfBounds;
        if !is_own || !spots.iter().all(|spot| spill.is_left_over(*spot)) {
            spill.events.push(kind);
            if spill.is_corrected && is_own {
                return Ok(Bits::known(0));
            }
            spill.has_guessed = true;
        }
        let mut value = Bits::known(0);
        for (index, spot) in spots.iter().enumerate() {
            let byte = self.byte_at(*spot);
            value.bits |= byte.bits << (8 * index as u32);
            value.unset |= byte.unset << (8 * index as u32);
        }
        Ok(value)
    }

    fn byte_at(&self, spot: Spot) -> Bits {
        match spot {
            Spot::Object(address) => {
                let around = self.objects.range(..=address).next_back();
                let Some((base, object)) = around else { return Bits::known(0) };
                let at = (address - base) as usize;
                let Some(byte) = object.bytes.get(at) else { return Bits::known(0) };
                let unset = u128::from(object.unset[at]);
                Bits { bits: u128::from(*byte) & !unset, unset, word: None }
            }
            Spot::Hole(at) => {
                let held = self.spill.as_ref().and_then(|spill| spill.holes.get(&at));
                held.copied().unwrap_or(Bits::known(0))
            }
        }
    }

    /// Writes where the machine does.
    pub(crate) fn store_outside(
        &mut self,
        (address, size): (u64, u64),
        value: Bits,
        stop: Stop,
    ) -> Result<(), Stop> {
        let spots = self.spots(address, size, &stop)?;
        let Stop::Fault(kind) = stop else { return Err(stop) };
        let Some(spill) = &mut self.spill else { return Err(stop) };
        spill.events.push(kind);
        if kind == FaultKind::OutOfBounds {
            if spill.is_corrected {
                self.end_text(address, size);
                return Ok(());
            }
            spill.written.extend(spots.iter().copied());
            spill.has_guessed |= spots.iter().any(|spot| matches!(spot, Spot::Object(_)));
        }
        let mut met = Vec::new();
        for (index, spot) in spots.iter().enumerate() {
            let byte = |bits: u128| bits.checked_shr(8 * index as u32).unwrap_or(0) & 0xff;
            let byte = Bits { bits: byte(value.bits), unset: byte(value.unset), word: None };
            match *spot {
                Spot::Object(address) => {
                    let around = self.objects.range_mut(..=address).next_back();
                    let Some((base, object)) = around else { continue };
                    if object.is_constant {
                        return Err(Stop::Fault(FaultKind::WriteToConstant));
                    }
                    put_byte(object, (address - base) as usize, byte);
                    met.push(address);
                }
                Spot::Hole(at) => {
                    if let Some(spill) = &mut self.spill {
                        spill.holes.insert(at, byte);
                    }
                }
            }
        }
        met.into_iter().for_each(|at| self.touch(at, 1, TouchKind::Write));
        // What the access was meant for comes last.
        self.touch(address, size, TouchKind::Write);
        Ok(())
    }

    /// Whether all of these lie in objects that live.
    pub(crate) fn are_inside(&self, accesses: &[(u64, u64)]) -> bool {
        accesses.iter().all(|(address, size)| find(&self.objects, *address, *size).is_ok())
    }

    pub(crate) fn copy_outside(&mut self, to: u64, from: u64, size: u64) -> Result<(), Stop> {
        self.is_possible((to, size))?;
        self.is_possible((from, size))?;
        let bytes = (0..size).map(|at| self.load_set(from + at, 1));
        let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
        (to..).zip(bytes).try_for_each(|(at, byte)| self.store(at, 1, byte))
    }

    pub(crate) fn fill_outside(&mut self, to: u64, size: u64, byte: Bits) -> Result<(), Stop> {
        self.is_possible((to, size))?;
        (to..to + size).try_for_each(|at| self.store(at, 1, byte))
    }

    /// The violation where the machine stops the program before it is done: all of the access, or
    /// nothing.
    fn is_possible(&mut self, (address, size): (u64, u64)) -> Result<(), Stop> {
        let Err(stop) = find(&self.objects, address, size) else { return Ok(()) };
        let is_corrected = self.spill.as_ref().is_some_and(|spill| spill.is_corrected);
        if size > MAX_BYTES || address.checked_add(size).is_none() {
            return Err(stop);
        }
        if is_corrected {
            return Ok(());
        }
        let last = address + size - 1;
        if find(&self.objects, last, 1).is_err() {
            self.spots(last, 1, &stop)?;
        }
        Ok(())
    }

    /// A text that is kept inside its object ends there.
    pub(crate) fn end_text(&mut self, address: u64, size: u64) {
        let Some(last) = address.checked_sub(1).filter(|_| size == 1) else { return };
        let around = self.objects.range_mut(..=last).next_back();
        let Some((base, object)) = around else { return };
        let at = (last - base) as usize;
        if at < object.bytes.len() && !object.is_constant {
            put_byte(object, at, Bits::known(0));
        }
    }

    /// Where the bytes of an access outside of its object lie; the violation itself where the
    /// machine ends the program there.
    fn spots(&self, address: u64, size: u64, stop: &Stop) -> Result<Vec<Spot>, Stop> {
        let Some(spill) = self.spill.as_ref().filter(|_| size <= MAX_BYTES) else {
            return Err(stop.clone());
        };
        let is_known = matches!(stop, Stop::Fault(FaultKind::OutOfBounds | FaultKind::UseAfterEnd));
        if !is_known {
            return Err(stop.clone());
        }
        let mut spots = Vec::with_capacity(size as usize);
        for at in address..address.checked_add(size).ok_or_else(|| stop.clone())? {
            spots.push(self.spot(spill, at).ok_or_else(|| stop.clone())?);
        }
        Ok(spots)
    }

    fn spot(&self, spill: &Spill, address: u64) -> Option<Spot> {
        let (base, object) = match self.objects.range(..=address).next_back() {
            // What is released holds what it held.
            Some((base, object)) if address - base < object.bytes.len() as u64 => {
                if object.is_alive || object.is_heap {
                    return Some(Spot::Object(address));
                }
                let at = spill.place_of.get(base).map(|at| at + (address - base));
                return match at.and_then(|at| self.spot_on_machine(spill, at)) {
                    Some(spot @ Spot::Object(_)) => Some(spot),
                    _ => Some(Spot::Object(address)),
                };
            }
            _ => {
                let meant = self.nearest(address)?;
                (meant.base, self.objects.get(&meant.base)?)
            }
        };
        if object.is_open || object.is_outside {
            return None;
        }
        let place = spill.place_of.get(&base)?;
        self.spot_on_machine(spill, place.wrapping_add(address.wrapping_sub(base)))
    }

    fn spot_on_machine(&self, spill: &Spill, at: u64) -> Option<Spot> {
        if let Some((place, base)) = spill.places.range(..=at).next_back() {
            let object = self.objects.get(base)?;
            if at - place < object.bytes.len() as u64 {
                return Some(Spot::Object(base + (at - place)));
            }
        }
        let heap_end = (HEAP + HEAP_BYTES).max(spill.top_of_heap + PAGE);
        let is_mapped = (CONSTANTS..spill.end_of_data).contains(&at)
            || (HEAP..heap_end).contains(&at)
            || (spill.stack - BELOW..STACK + ABOVE_MAIN).contains(&at);
        is_mapped.then_some(Spot::Hole(at))
    }
}

impl Spill {
    /// What was written from outside, or the end of a text that was: to read it is no violation of
    /// its own.
    fn is_left_over(&self, spot: Spot) -> bool {
        let before = match spot {
            Spot::Object(at) => Spot::Object(at.wrapping_sub(1)),
            Spot::Hole(at) => Spot::Hole(at.wrapping_sub(1)),
        };
        self.written.contains(&spot) || self.written.contains(&before)
    }

    fn put(&mut self, base: u64, at: u64) {
        self.places.insert(at, base);
        self.place_of.insert(base, at);
    }
}

fn put_byte(object: &mut Object, at: usize, byte: Bits) {
    if at < object.bytes.len() {
        object.bytes[at] = byte.bits as u8;
        object.unset[at] = byte.unset as u8;
        object.origins.remove(&at);
        object.words.remove(&at);
    }
}

/// Constants lie before what has a value at first, and that before what is zero.
fn section(program: &Program, global: &Global) -> u32 {
    let is_zero = |id: &program::ConstId| match &program.constants[*id] {
        Const::Zero(_) | Const::Null => true,
        Const::Int { value, .. } => *value == 0,
        Const::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        _ => false,
    };
    if global.is_constant || global.is_string_literal {
        return 0;
    }
    let pieces = global.init.iter().flatten();
    if pieces.map(|piece| &piece.value).all(is_zero) { 2 } else { 1 }
}

fn alignment(program: &Program, ctype: TypeId, size: u64) -> u64 {
    match program.resolved_type(ctype) {
        CType::Array { .. } if size >= 16 => 16,
        CType::Array { element, .. } => {
            alignment(program, *element, program.size_of(*element).unwrap_or(1))
        }
        CType::Record(record) => {
            let members = program.records.get(*record).map_or(&[][..], |record| &record.members);
            let own = members.iter().map(|member| {
                alignment(program, member.ctype, member.size_bits.div_ceil(8)).min(8)
            });
            own.max().unwrap_or(1)
        }
        _ => size.next_power_of_two().clamp(1, 8),
    }
}
