//! Memory: objects in one flat address space, with room between them.

use std::collections::BTreeMap;

use crate::value::{Bits, mask};
use crate::{FaultKind, Stop};

/// Objects begin at multiples of this, the strictest alignment C programs ask for.
const GRAIN: u64 = 64;
/// Addresses below belong to nobody.
const LOWEST: u64 = 1 << 20;

pub struct Memory {
    objects: BTreeMap<u64, Object>,
    next: u64,
}

struct Object {
    bytes: Vec<u8>,
    /// Ones where the byte above is indeterminate.
    unset: Vec<u8>,
    is_alive: bool,
    is_heap: bool,
}

impl Memory {
    pub fn new() -> Self {
        Self { objects: BTreeMap::new(), next: LOWEST }
    }

    /// A new object. What it holds is indeterminate.
    pub fn allocate(&mut self, size: u64, is_heap: bool) -> Result<u64, Stop> {
        let length = usize::try_from(size).ok().filter(|length| *length < 1 << 30);
        let length = length.ok_or(Stop::OutOfSteps)?;
        let address = self.next;
        // A gap after each object catches what runs over its end.
        self.next += size.next_multiple_of(GRAIN) + 4 * GRAIN;
        let object =
            Object { bytes: vec![0; length], unset: vec![0xff; length], is_alive: true, is_heap };
        self.objects.insert(address, object);
        Ok(address)
    }

    /// Ends an object's life; its address stays taken.
    pub fn end(&mut self, address: u64) {
        if let Some(object) = self.objects.get_mut(&address) {
            object.is_alive = false;
        }
    }

    /// `free`.
    pub fn release(&mut self, address: u64) -> Result<(), Stop> {
        match self.objects.get_mut(&address) {
            _ if address == 0 => Ok(()),
            Some(object) if object.is_heap && object.is_alive => {
                object.is_alive = false;
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

    pub fn load(&self, address: u64, size: u64) -> Result<Bits, Stop> {
        let (object, at) = self.find(address, size)?;
        let read = |bytes: &[u8]| {
            let little_endian = bytes[at..at + size as usize].iter().rev();
            little_endian.fold(0u128, |bits, byte| bits << 8 | u128::from(*byte))
        };
        let unset = read(&object.unset);
        Ok(Bits { bits: read(&object.bytes) & !unset, unset })
    }

    pub fn store(&mut self, address: u64, size: u64, value: Bits) -> Result<(), Stop> {
        let (object, at) = self.find_mut(address, size)?;
        for index in 0..size as usize {
            let byte = |bits: u128| bits.checked_shr(8 * index as u32).unwrap_or(0) as u8;
            object.bytes[at + index] = byte(value.bits);
            object.unset[at + index] = byte(value.unset);
        }
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
        self.store(address, size, Bits { bits, unset })
    }

    /// As `memmove`: indeterminate bytes stay so.
    pub fn copy(&mut self, to: u64, from: u64, size: u64) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        let (object, at) = self.find(from, size)?;
        let range = at..at + size as usize;
        let (bytes, unset) = (object.bytes[range.clone()].to_vec(), object.unset[range].to_vec());
        let (object, at) = self.find_mut(to, size)?;
        object.bytes[at..at + size as usize].copy_from_slice(&bytes);
        object.unset[at..at + size as usize].copy_from_slice(&unset);
        Ok(())
    }

    pub fn fill(&mut self, to: u64, size: u64, byte: u8) -> Result<(), Stop> {
        self.fill_with(to, size, byte, 0)
    }

    /// The bytes become indeterminate.
    pub fn forget(&mut self, to: u64, size: u64) -> Result<(), Stop> {
        self.fill_with(to, size, 0, 0xff)
    }

    fn fill_with(&mut self, to: u64, size: u64, byte: u8, unset: u8) -> Result<(), Stop> {
        if size == 0 {
            return Ok(());
        }
        let (object, at) = self.find_mut(to, size)?;
        object.bytes[at..at + size as usize].fill(byte);
        object.unset[at..at + size as usize].fill(unset);
        Ok(())
    }

    fn find(&self, address: u64, size: u64) -> Result<(&Object, usize), Stop> {
        let found = self.objects.range(..=address).next_back();
        let (start, object) = found.ok_or(Stop::Fault(FaultKind::Null))?;
        let at = inside(address - start, size, object)?;
        Ok((object, at))
    }

    fn find_mut(&mut self, address: u64, size: u64) -> Result<(&mut Object, usize), Stop> {
        let found = self.objects.range_mut(..=address).next_back();
        let (start, object) = found.ok_or(Stop::Fault(FaultKind::Null))?;
        let at = inside(address - start, size, object)?;
        Ok((object, at))
    }
}

fn inside(at: u64, size: u64, object: &Object) -> Result<usize, Stop> {
    let fits = at.checked_add(size).is_some_and(|end| end <= object.bytes.len() as u64);
    if !fits {
        return Err(Stop::Fault(FaultKind::OutOfBounds));
    }
    if !object.is_alive {
        return Err(Stop::Fault(FaultKind::UseAfterEnd));
    }
    Ok(at as usize)
}
