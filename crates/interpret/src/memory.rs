//! Memory: objects in one flat address space, with room between them.
//!
//! Beside each byte an object may hold how that byte follows from unknown inputs. Accesses at
//! an address that itself follows from inputs choose among the bytes of the object the run
//! meets: a folded choice over what the object holds, instead of an array theory.

use std::collections::{BTreeMap, BTreeSet};

use logic::words::{WordId, WordOp, Words};

use crate::features::Fit;
use crate::object::{Object, find, find_mut};
use crate::spill::Spill;
use crate::unset::{Origin, UnsetBytes};
use crate::value::{Bits, mask};
use crate::{FaultKind, Stop};

/// Objects begin at multiples of this, the strictest alignment C programs ask for.
const GRAIN: u64 = 64;
/// Addresses below belong to nobody.
pub(crate) const LOWEST: u64 = 1 << 20;
/// Objects of the heap lie from here on.
pub(crate) const HEAP: u64 = 1 << 40;
/// Room between objects: what runs over the end of one meets nobody.
const GAP: u64 = 4 * GRAIN;
/// Bytes that take as long to set as an object takes to be made.
const OBJECT: u64 = 256;
/// Bytes of all objects of a run together.
const MAX_MEMORY: u64 = 1 << 27;
/// Places an access at an unknown address may choose among.
const MAX_PLACES: u64 = 4096;
const MAX_CHOICES: usize = 300;

pub struct Memory {
    pub(crate) objects: BTreeMap<u64, Object>,
    pub(crate) next: u64,
    pub(crate) next_on_heap: u64,
    /// Objects that live and are not of the heap, where somebody wants to know.
    pub(crate) alive: Option<BTreeSet<u64>>,
    /// Changes of what objects hold that were there when changes were last marked.
    pub n_changes: u64,
    pub(crate) marked: u64,
    /// What was released since this was last looked at.
    pub released: Vec<u64>,
    /// Bytes of all objects so far.
    n_bytes: u64,
    pub words: Words,
    /// What was read and written, where somebody wants to know.
    pub touched: Option<Vec<Touch>>,
    /// An array inside a larger object, past which nothing is written: a string function was
    /// given the array.
    pub fence: Option<Reach>,
    /// What bytes hold that nobody has set, where that is an input.
    pub unset: Option<UnsetBytes>,
    /// Words that were looked through for pointers, moved or set: work that no instruction stands
    /// for.
    pub n_scanned: std::cell::Cell<u64>,
    /// How close the accesses of the instruction came to the bounds of their objects.
    pub fit: Fit,
    /// What an object outside the program holds was read, and had been made up.
    pub has_read_outside: bool,
    /// What lies outside of objects, where runs go on there.
    pub(crate) spill: Option<Box<Spill>>,
}

/// What happened to some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub address: u64,
    pub size: u64,
    pub kind: TouchKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchKind {
    Read,
    Write,
    /// An object begins its life.
    Begin,
    /// An object ends it.
    End,
}

/// An access at an address that follows from inputs, and the object it meets.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub base: u64,
    /// Of the object.
    pub size: u64,
}

impl Reach {
    fn has(self, address: u64) -> bool {
        (self.base..=self.base + self.size).contains(&address)
    }

    pub(crate) fn is_left(self, address: u64, size: u64) -> bool {
        let end = address.checked_add(size);
        address < self.base || end.is_none_or(|end| end > self.base + self.size)
    }
}

impl Memory {
    pub fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            next: LOWEST,
            next_on_heap: HEAP,
            alive: None,
            n_changes: 0,
            marked: u64::MAX,
            released: Vec::new(),
            n_bytes: 0,
            words: Words::new(),
            touched: None,
            fence: None,
            unset: None,
            n_scanned: std::cell::Cell::new(0),
            fit: Fit::default(),
            has_read_outside: false,
            spill: None,
        }
    }

    /// A new object. What it holds is indeterminate.
    pub fn allocate(&mut self, size: u64, is_heap: bool) -> Result<u64, Stop> {
        let length = usize::try_from(size).ok().filter(|length| *length < 1 << 26);
        let length = length.ok_or_else(|| Stop::Bound(format!("an object of {size} bytes")))?;
        self.n_bytes = self.n_bytes.saturating_add(size);
        if self.n_bytes > MAX_MEMORY {
            return Err(Stop::OutOfSteps);
        }
        let next = if is_heap { &mut self.next_on_heap } else { &mut self.next };
        let address = *next;
        // A gap after each object catches what runs over its end.
        *next += size.next_multiple_of(GRAIN) + GAP;
        self.n_changes += u64::from(is_heap);
        if let Some(alive) = self.alive.as_mut().filter(|_| !is_heap) {
            alive.insert(address);
        }
        let object = Object {
            number: self.objects.len() as u32,
            bytes: vec![0; length],
            unset: vec![0xff; length],
            origins: BTreeMap::new(),
            words: BTreeMap::new(),
            is_alive: true,
            is_heap,
            is_open: false,
            is_outside: false,
            is_constant: false,
        };
        self.objects.insert(address, object);
        self.moved(OBJECT + size);
        self.place(address, size, is_heap);
        self.touch(address, size, TouchKind::Begin);
        Ok(address)
    }

    /// An object whose size was made up: leaving it says nothing about the program.
    pub fn allocate_open(&mut self, size: u64) -> Result<u64, Stop> {
        let address = self.allocate(size, false)?;
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_open = true;
        }
        Ok(address)
    }

    /// Leaving the object says nothing about the program from here on.
    pub fn open(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_open = true;
        }
    }

    /// The object is defined outside the program.
    pub fn leave_outside(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_outside = true;
        }
    }

    /// Whether it is, and was not defined after all.
    pub fn is_outside(&self, address: u64) -> bool {
        self.objects.get(&address).is_some_and(|object| object.is_outside)
    }

    /// What the object holds is known after all.
    pub fn define(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_outside = false;
        }
    }

    /// How many bytes there are from an address on that may be written.
    pub fn room(&self, address: u64) -> Option<u64> {
        let (base, object) = self.objects.range(..=address).next_back()?;
        let left = (object.bytes.len() as u64).checked_sub(address - base)?;
        (object.is_alive && !object.is_constant).then_some(left)
    }

    /// Whether all of these bytes are set.
    pub fn is_set(&self, address: u64, size: u64) -> bool {
        let Ok((start, object)) = find(&self.objects, address, size) else { return false };
        let at = (address - start) as usize;
        object.unset[at..at + size as usize].iter().all(|byte| *byte == 0)
    }

    /// What is still unset of these bytes becomes zero.
    pub fn settle(&mut self, address: u64, size: u64) -> Result<(), Stop> {
        let (object, at) = find_mut(&mut self.objects, address, size)?;
        object.unset[at..at + size as usize].fill(0);
        Ok(())
    }

    /// The object holds from now on what it holds.
    pub fn make_constant(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_constant = true;
        }
    }

    /// Whether an address lies in what must not change, as a literal must not.
    pub fn is_constant(&self, address: u64) -> bool {
        let around = self.objects.range(..=address).next_back();
        around.is_some_and(|(base, object)| {
            object.is_constant && address - base < object.bytes.len() as u64
        })
    }

    /// Ends an object's life; its address stays taken.
    pub fn end(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_alive = false;
            if let Some(alive) = &mut self.alive {
                alive.remove(&address);
            }
            let (size, is_heap) = (object.bytes.len() as u64, object.is_heap);
            if !is_heap {
                self.unplace(address);
            }
            self.touch(address, size, TouchKind::End);
        }
    }

    /// `free`.
    pub fn release(&mut self, address: u64) -> Result<(), Stop> {
        match self.objects.get(&address) {
            _ if address == 0 => Ok(()),
            Some(object) if object.is_heap && object.is_alive => {
                self.end(address);
                if self.alive.is_some() {
                    self.released.push(address);
                }
                Ok(())
            }
            Some(object) if object.is_heap => Err(Stop::Fault(FaultKind::DoubleFree)),
            _ => Err(Stop::Fault(FaultKind::InvalidFree)),
        }
    }

    /// The bytes of the object that begins at this address.
    pub fn size(&self, address: u64) -> Option<u64> {
        self.objects.get(&address).map(|object| object.bytes.len() as u64)
    }

    /// The object around or before an address.
    pub fn reach(&self, address: u64) -> Option<Reach> {
        if let Some(fence) = self.fence.filter(|fence| fence.has(address)) {
            return Some(fence);
        }
        let (base, object) = self.objects.range(..=address).next_back()?;
        Some(Reach { base: *base, size: object.bytes.len() as u64 })
    }

    /// The object an address outside of all was most likely meant for.
    pub fn nearest(&self, address: u64) -> Option<Reach> {
        let before = self.reach(address);
        let after = self.objects.range(address..).next();
        let after = after.map(|(base, o)| Reach { base: *base, size: o.bytes.len() as u64 });
        match (before, after) {
            (Some(before), Some(after)) => {
                let past = address.saturating_sub(before.base + before.size);
                Some(if past <= after.base - address { before } else { after })
            }
            (before, after) => before.or(after),
        }
    }

    pub fn load(&mut self, address: u64, size: u64) -> Result<Bits, Stop> {
        let value = self.load_set(address, size)?;
        if value.is_known() || self.unset.is_none() {
            return Ok(value);
        }
        let Ok((start, object)) = find(&self.objects, address, size) else {
            return Ok(Bits { unset: 0, ..value });
        };
        let at = (address - start) as usize;
        if !self.is_made_up(object, at, size) {
            return Ok(value);
        }
        let mut bits = 0;
        for place in (at..at + size as usize).rev() {
            let (byte, _) = object.byte(&mut self.words, self.unset.as_mut(), place);
            bits = bits << 8 | u128::from(byte);
        }
        let word = object.word(&mut self.words, self.unset.as_mut(), at, size as usize);
        Ok(Bits { bits, unset: 0, word })
    }

    /// Whether all that is unset of these bytes is an input.
    fn is_made_up(&self, object: &Object, at: usize, size: u64) -> bool {
        let Some(inputs) = &self.unset else { return false };
        let mut places = at..at + size as usize;
        places.all(|place| object.unset[place] == 0 || inputs.has(object.origin(place)))
    }

    /// Whether something lies at an address that was there before the run, and was not looked at
    /// or written since.
    pub fn is_untouched(&self, address: u64, size: u64) -> bool {
        let Ok((start, object)) = find(&self.objects, address, size) else { return false };
        let at = (address - start) as usize;
        !self.is_set(address, size) && self.is_made_up(object, at, size)
    }

    /// What the object holds is from here on an input, and by default what it holds now.
    pub fn make_up(&mut self, address: u64) {
        let Some(inputs) = &mut self.unset else { return };
        if let Some(object) = self.objects.get_mut(&address).filter(|object| !object.is_constant) {
            object.unset.fill(0xff);
            inputs.name(object.number);
        }
    }

    /// What is there before it is made up, as a number.
    pub fn default_of(&self, address: u64) -> u64 {
        let Ok((start, object)) = find(&self.objects, address, 8) else { return 0 };
        let at = (address - start) as usize;
        u64::from_le_bytes(object.bytes[at..at + 8].try_into().unwrap_or_default())
    }

    /// As [`load`](Self::load), without making up what nobody has set: that is no address.
    pub fn load_set(&mut self, address: u64, size: u64) -> Result<Bits, Stop> {
        self.touch(address, size, TouchKind::Read);
        let (start, object) = match find(&self.objects, address, size) {
            Ok(found) => found,
            Err(stop) => return self.load_outside((address, size), stop),
        };
        let at = (address - start) as usize;
        self.fit.read(at as u64 + size, object.bytes.len() as u64);
        let read = |bytes: &[u8]| {
            let little_endian = bytes[at..at + size as usize].iter().rev();
            little_endian.fold(0u128, |bits, byte| bits << 8 | u128::from(*byte))
        };
        let unset = read(&object.unset);
        if unset != 0 && object.is_outside {
            return Err(Stop::Unsupported("an object outside the program".to_owned()));
        }
        self.has_read_outside |= object.is_outside;
        let bits = read(&object.bytes) & !unset;
        let word = object.word(&mut self.words, None, at, size as usize);
        Ok(Bits { bits, unset, word })
    }

    pub fn store(&mut self, address: u64, size: u64, value: Bits) -> Result<(), Stop> {
        self.touch(address, size, TouchKind::Write);
        if self.fence.is_some_and(|fence| fence.is_left(address, size)) {
            if !self.goes_on() {
                return Err(Stop::Fault(FaultKind::OutOfBounds));
            }
            if !self.leaves_array(address, size, true) {
                self.end_text(address, size);
                return Ok(());
            }
        }
        let words = &mut self.words;
        let word = value.word.map(|word| words.resize(word, 8 * size as u32, false));
        let counts = self.alive.is_some() && (address < self.marked || address >= HEAP);
        let (object, at) = match find_mut(&mut self.objects, address, size) {
            Ok(found) => found,
            Err(stop) => return self.store_outside((address, size), value, stop),
        };
        let mut has_changed = false;
        self.fit.write(at as u64 + size, object.bytes.len() as u64);
        for index in 0..size as usize {
            let byte = |bits: u128| bits.checked_shr(8 * index as u32).unwrap_or(0) as u8;
            let (old, new) = (object.bytes[at + index], byte(value.bits));
            has_changed |= old != new || object.unset[at + index] != byte(value.unset);
            object.bytes[at + index] = new;
            object.unset[at + index] = byte(value.unset);
            object.origins.remove(&(at + index));
            let part = word.map(|word| words.extract(word, 8 * index as u32, 8));
            object.set_word(words, at + index, part);
        }
        self.n_changes += u64::from(counts && has_changed);
        Ok(())
    }

    /// Stores `width` bits from bit `offset` of the unit on, and nothing else.
    pub fn store_bits(
        &mut self,
        (address, size): (u64, u64),
        (offset, width): (u32, u32),
        value: Bits,
    ) -> Result<(), Stop> {
        let old = self.load(address, size)?;
        let keep = !(mask(width) << offset);
        let new = value.low(width).shifted_left(offset, 128);
        let bits = old.bits & keep | new.bits;
        let unset = old.unset & keep | new.unset;
        let word = self.spliced((old, size), (offset, width), value);
        self.store(address, size, Bits { bits, unset, word })
    }

    /// The word of a unit after some of its bits are stored.
    fn spliced(
        &mut self,
        (old, size): (Bits, u64),
        (offset, width): (u32, u32),
        value: Bits,
    ) -> Option<WordId> {
        old.word.or(value.word)?;
        let unit = 8 * size as u32;
        let words = &mut self.words;
        let old = old.word.unwrap_or_else(|| words.constant(unit, old.bits));
        let value_word = value.word.map(|word| words.resize(word, 128, false));
        let value = value_word.unwrap_or_else(|| words.constant(128, value.bits));
        let mut spliced = words.extract(value, 0, width);
        if offset > 0 {
            let below = words.extract(old, 0, offset);
            spliced = words.concat(spliced, below);
        }
        if offset + width < unit {
            let above = words.extract(old, offset + width, unit - offset - width);
            spliced = words.concat(above, spliced);
        }
        Some(spliced)
    }

    /// As `memmove`: indeterminate bytes stay so.
    pub fn copy(&mut self, to: u64, from: u64, size: u64) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        if self.goes_on() && !self.are_inside(&[(from, size), (to, size)]) {
            return self.copy_outside(to, from, size);
        }
        self.touch(from, size, TouchKind::Read);
        self.touch(to, size, TouchKind::Write);
        let (start, object) = find(&self.objects, from, size)?;
        let at = (from - start) as usize;
        let range = at..at + size as usize;
        let (bytes, unset) =
            (object.bytes[range.clone()].to_vec(), object.unset[range.clone()].to_vec());
        let copied: Vec<(usize, WordId)> =
            object.words.range(range.clone()).map(|(place, word)| (place - at, *word)).collect();
        let origins: Vec<(usize, Origin)> = match &self.unset {
            Some(inputs) => range
                .filter(|place| object.unset[*place] != 0 && inputs.has(object.origin(*place)))
                .map(|place| (place - at, object.origin(place)))
                .collect(),
            None => Vec::new(),
        };
        self.moved(size);
        let counts = self.alive.is_some() && (to < self.marked || to >= HEAP);
        let (object, at) = find_mut(&mut self.objects, to, size)?;
        let has_changed = counts && object.bytes[at..at + size as usize] != *bytes;
        self.n_changes += u64::from(has_changed);
        self.fit.write(at as u64 + size, object.bytes.len() as u64);
        object.bytes[at..at + size as usize].copy_from_slice(&bytes);
        object.unset[at..at + size as usize].copy_from_slice(&unset);
        object.origins.retain(|place, _| !(at..at + size as usize).contains(place));
        object.forget_words(at, size as usize);
        object.words.extend(copied.into_iter().map(|(place, word)| (at + place, word)));
        object.origins.extend(origins.into_iter().map(|(place, origin)| (at + place, origin)));
        Ok(())
    }

    pub fn fill(&mut self, to: u64, size: u64, byte: Bits) -> Result<(), Stop> {
        self.fill_with(to, size, byte.bits as u8, 0)?;
        if let Some(word) = byte.word.filter(|_| size > 0) {
            let word = self.words.extract(word, 0, 8);
            let Ok((object, at)) = find_mut(&mut self.objects, to, size) else { return Ok(()) };
            object.words.extend((at..at + size as usize).map(|place| (place, word)));
        }
        Ok(())
    }

    /// The bytes become indeterminate.
    pub fn forget(&mut self, to: u64, size: u64) -> Result<(), Stop> {
        self.fill_with(to, size, 0, 0xff)
    }

    fn fill_with(&mut self, to: u64, size: u64, byte: u8, unset: u8) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        if self.goes_on() && !self.are_inside(&[(to, size)]) {
            let byte = Bits { bits: byte.into(), unset: unset.into(), word: None };
            return self.fill_outside(to, size, byte);
        }
        self.touch(to, size, TouchKind::Write);
        self.moved(size);
        let counts = self.alive.is_some() && (to < self.marked || to >= HEAP);
        let (object, at) = find_mut(&mut self.objects, to, size)?;
        let has_changed =
            counts && object.bytes[at..at + size as usize].iter().any(|old| *old != byte);
        self.n_changes += u64::from(has_changed);
        self.fit.write(at as u64 + size, object.bytes.len() as u64);
        object.bytes[at..at + size as usize].fill(byte);
        object.unset[at..at + size as usize].fill(unset);
        object.origins.retain(|place, _| !(at..at + size as usize).contains(place));
        object.forget_words(at, size as usize);
        Ok(())
    }

    /// The word read at an unknown address, which lies `size` bytes inside the object and a
    /// multiple of `size` from the address of this run. `None` where the choice is too wide.
    pub fn word_at(&mut self, address: u64, unknown: WordId, size: u64) -> Option<WordId> {
        let (start, object) = find(&self.objects, address, size).ok()?;
        let places = places(address - start, object.bytes.len() as u64, size)?;
        let words = &mut self.words;
        // Neighbours that hold the same become one choice.
        let mut runs: Vec<(u64, WordId)> = Vec::new();
        let makes_up = self.unset.is_some();
        // Where the last place held plain bytes that this one holds, too, no word is made.
        let mut plain: Option<usize> = None;
        let mut known = object.words.keys().copied().peekable();
        for place in places {
            let (at, n_bytes) = (place as usize, size as usize);
            while known.next_if(|word| *word < at).is_some() {}
            let is_plain = !makes_up && known.peek().is_none_or(|word| *word >= at + n_bytes);
            let here = &object.bytes[at..at + n_bytes];
            if let (true, Some(last)) = (is_plain, plain)
                && object.bytes[last..last + n_bytes] == *here
                && let Some((end, _)) = runs.last_mut()
            {
                *end = place;
                continue;
            }
            plain = is_plain.then_some(at);
            if runs.len() > MAX_CHOICES {
                return None;
            }
            let value = object.word(words, self.unset.as_mut(), place as usize, size as usize);
            let value = value.unwrap_or_else(|| object.constant(words, place as usize, size));
            match runs.last_mut() {
                Some((last, same)) if *same == value => *last = place,
                _ => runs.push((place, value)),
            }
        }
        if runs.len() > MAX_CHOICES {
            return None;
        }
        let (_, mut chosen) = runs.pop()?;
        for (last, value) in runs.into_iter().rev() {
            let bound = words.constant(64, u128::from(start + last));
            let is_here = words.binary(WordOp::UnsignedLe, unknown, bound);
            chosen = words.choice(is_here, value, chosen);
        }
        Some(chosen)
    }

    /// What a store at an unknown address may leave elsewhere in the object, before the run
    /// stores at its own address. Whether the choice was narrow enough.
    pub fn store_at(&mut self, address: u64, unknown: WordId, size: u64, value: Bits) -> bool {
        let Ok((start, _)) = find(&self.objects, address, size) else { return false };
        let length = self.size(start).unwrap_or(0);
        let Some(places) = places(address - start, length, size) else { return false };
        let places: Vec<u64> = places.collect();
        if places.len() > MAX_CHOICES {
            return false;
        }
        let words = &mut self.words;
        let width = 8 * size as u32;
        let word = match value.word {
            Some(word) => words.resize(word, width, false),
            None => words.constant(width, value.bits),
        };
        let Some(object) = self.objects.get_mut(&start) else { return false };
        for place in places {
            let here = words.constant(64, u128::from(start + place));
            let is_here = words.eq(unknown, here);
            for index in 0..size {
                let at = (place + index) as usize;
                let (byte, old) = object.byte(words, self.unset.as_mut(), at);
                let origin = object.origin(at);
                if self.unset.as_ref().is_some_and(|inputs| inputs.has(origin)) {
                    (object.bytes[at], object.unset[at]) = (byte, 0);
                }
                let old = old.unwrap_or_else(|| words.constant(8, byte.into()));
                let new = words.extract(word, 8 * index as u32, 8);
                let either = words.choice(is_here, new, old);
                object.set_word(words, at, Some(either));
            }
        }
        // The run's own store must not lose the words of its own place.
        let (at, end) = ((address - start) as usize, (address - start + size) as usize);
        for (index, place) in (at..end).enumerate() {
            object.bytes[place] = (value.bits >> (8 * index)) as u8;
            object.unset[place] = (value.unset >> (8 * index)) as u8;
        }
        true
    }

    /// So many bytes were moved or set at once.
    fn moved(&self, size: u64) {
        self.n_scanned.set(self.n_scanned.get() + size / 8);
    }

    pub fn touch(&mut self, address: u64, size: u64, kind: TouchKind) {
        if let Some(touched) = &mut self.touched {
            touched.push(Touch { address, size, kind });
        }
    }
}

/// Offsets in an object that an access may mean, aligned as the one of this run.
fn places(offset: u64, length: u64, size: u64) -> Option<impl Iterator<Item = u64>> {
    let first = offset % size.max(1);
    let n_places = (length.checked_sub(first)?) / size.max(1);
    (n_places <= MAX_PLACES && size <= 16).then(|| (0..n_places).map(move |n| first + n * size))
}
