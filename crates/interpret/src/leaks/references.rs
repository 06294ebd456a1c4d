//! What values and bytes of memory lead to: addresses, and numbers that are descriptors.

use program::{InstId, Operand};
use rustc_hash::FxHashSet;

use crate::exec::{Frame, Machine};
use crate::memory::LOWEST;
use crate::value::Value;
use crate::watch::DESCRIPTOR;

impl<'p> Machine<'p> {
    pub(crate) fn is_descriptor(&self, frame: &Frame<'p>, operand: Operand) -> bool {
        self.notes.watch.is_some_and(|watch| watch.is_descriptor(frame.id, operand))
    }

    /// A descriptor is stored.
    pub(super) fn keep_descriptor(
        &mut self,
        frame: &Frame<'p>,
        inst: InstId,
        ptr: Operand,
        value: Operand,
    ) {
        let keeps = self.notes.watch.is_some_and(|w| w.tasks(frame.id, inst) & DESCRIPTOR != 0);
        let (Some(slot), Some(number)) = (self.number_of(frame, ptr), self.number_of(frame, value))
        else {
            return;
        };
        if keeps && number < LOWEST && self.notes.leaks.owned.contains_key(&number) {
            self.notes.leaks.kept.insert(slot, number);
        }
    }

    pub(super) fn number_of(&self, frame: &Frame<'p>, operand: Operand) -> Option<u64> {
        let bits = self.bits(frame, operand).ok().filter(|bits| bits.is_known())?;
        Some(bits.bits as u64)
    }

    /// What may be lost that a value leads to.
    pub(super) fn references_of(&self, value: &Value, found: &mut Vec<u64>) {
        match value {
            Value::Bits(bits) if bits.is_known() => {
                found.extend(self.owned_at(bits.bits as u64));
                // Two registers' worth.
                let high = (bits.bits >> 64) as u64;
                if high != 0 {
                    found.extend(self.owned_at(high));
                }
            }
            Value::Bits(_) => {}
            Value::Parts(parts) => parts.iter().for_each(|part| self.references_of(part, found)),
        }
    }

    /// As [`references_of`](Self::references_of), of an instruction, which may have computed a
    /// descriptor.
    pub(super) fn references_at(&self, frame: &Frame<'p>, inst: InstId, found: &mut Vec<u64>) {
        let value = &frame.values[inst];
        self.references_of(value, found);
        self.descriptor_of(frame, Operand::Inst(inst), value, found);
    }

    pub(super) fn references_of_arguments(&self, frame: &Frame<'p>, found: &mut Vec<u64>) {
        for (index, value) in (0..).zip(&frame.arguments) {
            self.references_of(value, found);
            self.descriptor_of(frame, Operand::Param(index), value, found);
        }
    }

    pub(super) fn descriptor_of(
        &self,
        frame: &Frame<'p>,
        operand: Operand,
        value: &Value,
        found: &mut Vec<u64>,
    ) {
        let Value::Bits(bits) = value else { return };
        let number = bits.bits as u64;
        if number < LOWEST
            && bits.is_known()
            && self.notes.leaks.owned.contains_key(&number)
            && self.is_descriptor(frame, operand)
        {
            found.push(number);
        }
    }

    /// Whether a place in memory still keeps a descriptor.
    pub(super) fn is_kept(&self, descriptor: u64, ending: &FxHashSet<u64>) -> bool {
        self.notes.leaks.kept.iter().any(|(slot, kept)| {
            let around = self.memory.alive_at(*slot);
            *kept == descriptor
                && self.memory.half_word(*slot) == Some(descriptor as u32)
                && around.is_some_and(|around| !ending.contains(&around))
        })
    }

    pub(super) fn references_in(&mut self, address: u64, size: u64, found: &mut Vec<u64>) {
        let words = self.memory.pointers_in(address, size);
        self.notes.leaks.work += 1 + words.len() as u64;
        found.extend(words.into_iter().filter_map(|(_, word)| self.owned_at(word)));
    }

    /// What may be lost that an address lies in, or right behind.
    pub(super) fn owned_at(&self, address: u64) -> Option<u64> {
        if self.memory.is_heap_address(address) {
            let reach = self.memory.reach(address)?;
            let is_in = address - reach.base <= reach.size;
            return (is_in && self.notes.leaks.owned.contains_key(&reach.base))
                .then_some(reach.base);
        }
        self.notes.leaks.owned.contains_key(&address).then_some(address)
    }
}
