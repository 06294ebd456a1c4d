//! What is in reach: from objects of the program, storage of calls, and values.

use std::collections::BTreeSet;

use program::Operand;
use rustc_hash::FxHashSet;

use super::{LONGEST_CHAIN, WORK_A_STEP, WORK_AT_FIRST};
use crate::FaultKind;
use crate::exec::{Frame, Machine};
use crate::notes::{Note, Place};

impl<'p> Machine<'p> {
    pub(super) fn may_look(&self) -> bool {
        let done = self.notes.steps_at_first.saturating_sub(self.steps);
        self.notes.leaks.work <= WORK_AT_FIRST + WORK_A_STEP * done
    }

    pub(super) fn note_leak(&mut self, base: u64, at: Place, n_recorded: usize) {
        let Some(owned) = self.notes.leaks.owned.get(&base) else { return };
        let (kind, allocated) = (FaultKind::Leak, Some(owned.place));
        let released = None;
        self.note(Note { kind, at, allocated, released, n_recorded, steps_left: 0, by: None });
        // What only it leads to is lost with it.
        for inside in self.closure(base) {
            self.notes.leaks.owned.remove(&inside);
        }
        self.notes.leaks.owned.remove(&base);
    }

    /// Those of the lost that no other of them leads to.
    pub(super) fn heads(&mut self, found: &[u64], reached: &FxHashSet<u64>) -> Vec<u64> {
        let mut inside: BTreeSet<u64> = BTreeSet::new();
        let lost: Vec<u64> = found.iter().copied().filter(|base| !reached.contains(base)).collect();
        for base in &lost {
            if !inside.contains(base) {
                inside.extend(self.closure(*base).into_iter().filter(|other| other != base));
            }
        }
        lost.into_iter().filter(|base| !inside.contains(base)).collect()
    }

    /// What an object leads to.
    pub(super) fn closure(&mut self, base: u64) -> BTreeSet<u64> {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![base]);
        while let Some(base) = waiting.pop() {
            let mut found = Vec::new();
            let size = self.memory.size(base).unwrap_or(0);
            self.references_in(base, size, &mut found);
            waiting.extend(found.into_iter().filter(|found| seen.insert(*found)));
        }
        seen
    }

    /// All that may be lost which something leads to: values, objects that are not of the heap
    /// but for those that end, and what these lead to.
    pub(super) fn reached(
        &mut self,
        mut waiting: Vec<u64>,
        ending: &FxHashSet<u64>,
    ) -> FxHashSet<u64> {
        waiting.extend_from_slice(&self.notes.leaks.held);
        let mut reached: FxHashSet<u64> = waiting.iter().copied().collect();
        let mut found = Vec::new();
        for base in self.memory.alive_outside_heap() {
            if !ending.contains(&base) {
                self.witnesses_in(base, &mut found);
            }
        }
        waiting.extend(found.drain(..).filter(|base| reached.insert(*base)));
        while let Some(base) = waiting.pop() {
            self.witnesses_in(base, &mut found);
            waiting.extend(found.drain(..).filter(|base| reached.insert(*base)));
        }
        reached
    }

    /// As [`references_in`](Self::references_in) a whole object, and remembers the places.
    pub(super) fn witnesses_in(&mut self, base: u64, found: &mut Vec<u64>) {
        let words = self.memory.pointers_in(base, u64::MAX);
        self.notes.leaks.work += 1 + words.len() as u64;
        for (slot, word) in words {
            let Some(owned) = self.owned_at(word) else { continue };
            if let Some(owned) = self.notes.leaks.owned.get_mut(&owned) {
                owned.witness = Some(slot);
            }
            found.push(owned);
        }
    }

    /// Whether a place in memory that led to an object still does, and is itself in reach.
    pub(super) fn has_witness(&self, base: u64, ending: &FxHashSet<u64>) -> bool {
        let mut wanted = base;
        for _ in 0..LONGEST_CHAIN {
            let Some(slot) = self.notes.leaks.owned.get(&wanted).and_then(|o| o.witness) else {
                return false;
            };
            let leads_there = self.memory.word(slot).and_then(|word| self.owned_at(word));
            let Some(around) = self.memory.alive_at(slot) else { return false };
            if leads_there != Some(wanted) || ending.contains(&around) {
                return false;
            }
            if !self.memory.is_heap_address(around) {
                return true;
            }
            wanted = around;
        }
        // Looked for at the end instead.
        true
    }

    pub(super) fn witness_store(&mut self, frame: &Frame<'p>, ptr: Operand) {
        if self.notes.leaks.owned.is_empty() {
            return;
        }
        let Some(slot) = self.number_of(frame, ptr) else { return };
        let target = self.memory.word(slot).and_then(|word| self.owned_at(word));
        if let Some(owned) = target.and_then(|base| self.notes.leaks.owned.get_mut(&base)) {
            owned.witness = Some(slot);
        }
    }
}
