//! Which objects live, and what may lead from one to another.

use crate::memory::{HEAP, LOWEST, Memory};

impl Memory {
    pub fn start_to_tell_lives(&mut self) {
        let outside = self.objects.iter().filter(|(_, object)| object.is_alive && !object.is_heap);
        self.alive = Some(outside.map(|(base, _)| *base).collect());
    }

    /// Changes of objects that are made from here on are not counted: they end with a call.
    pub fn mark_changes(&mut self) {
        self.marked = self.next;
    }

    pub fn is_heap_address(&self, address: u64) -> bool {
        (HEAP..self.next_on_heap).contains(&address)
    }

    pub fn end_of_heap(&self) -> u64 {
        self.next_on_heap
    }

    /// Living objects of the heap from an address on.
    pub fn heap_from(&self, address: u64) -> Vec<u64> {
        let from = self.objects.range(address.max(HEAP)..);
        from.filter(|(_, object)| object.is_alive && object.is_heap)
            .map(|(base, _)| *base)
            .collect()
    }

    pub fn alive_outside_heap(&self) -> Vec<u64> {
        self.alive.iter().flatten().copied().collect()
    }

    /// The living object around an address.
    pub fn alive_at(&self, address: u64) -> Option<u64> {
        let (base, object) = self.objects.range(..=address).next_back()?;
        let is_in = address - base < object.bytes.len() as u64;
        (object.is_alive && is_in).then_some(*base)
    }

    /// Eight bytes, where they are set.
    pub fn word(&self, address: u64) -> Option<u64> {
        let (base, object) = self.objects.range(..=address).next_back()?;
        object.number_at(usize::try_from(address - base).ok()?)
    }

    /// Four bytes.
    pub fn half_word(&self, address: u64) -> Option<u32> {
        let (base, object) = self.objects.range(..=address).next_back()?;
        let at = usize::try_from(address - base).ok()?;
        let bytes = object.bytes.get(at..at.checked_add(4)?)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// What may be pointers in so many bytes of a living object, and where.
    pub fn pointers_in(&self, address: u64, size: u64) -> Vec<(u64, u64)> {
        let Some((base, object)) = self.objects.range(..=address).next_back() else {
            return Vec::new();
        };
        if !object.is_alive {
            return Vec::new();
        }
        let first = (address - base).next_multiple_of(8);
        let end = (address - base).saturating_add(size).min(object.bytes.len() as u64);
        self.n_scanned.set(self.n_scanned.get() + 16 + end.saturating_sub(first) / 8);
        let places = (first..end.saturating_sub(7)).step_by(8);
        let word = |at: u64| Some((base + at, object.number_at(at as usize)?));
        places.filter_map(word).filter(|(_, word)| *word >= LOWEST).collect()
    }

    /// What may be pointers in an object that has ended.
    pub fn words_of_ended(&self, base: u64) -> Vec<u64> {
        let Some(object) = self.objects.get(&base) else { return Vec::new() };
        let places = (0..object.bytes.len().saturating_sub(7)).step_by(8);
        places.filter_map(|at| object.number_at(at)).filter(|word| *word >= LOWEST).collect()
    }
}
