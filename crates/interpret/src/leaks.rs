//! Memory and streams that nothing leads to any more.
//!
//! Where a reference goes away - a variable or a place in memory is overwritten, a function
//! returns, a loop starts again, memory is freed - what it led to is looked for from all that
//! still can be read: objects of the program, the storage of calls that run, and values these
//! still read. What is not found is lost there, and released by nothing that can follow.

use std::collections::{BTreeMap, BTreeSet};

use program::{BlockId, Body, Call, Callee, InstId, Op, Operand, Terminator, Ty};
use rustc_hash::FxHashSet;

use crate::FaultKind;
use crate::exec::{Frame, Machine};
use crate::memory::LOWEST;
use crate::notes::{Note, Place};
use crate::record::Point;
use crate::value::Value;
use crate::watch::DESCRIPTOR;

/// Work that looking for references may take for each instruction of the run, and to begin with.
const WORK_A_STEP: u64 = 4;
const WORK_AT_FIRST: u64 = 200_000;
/// Places that lead to an object one after the other, before all is looked through again.
const LONGEST_CHAIN: usize = 24;

#[derive(Default)]
pub(crate) struct Leaks {
    /// What may be lost, by address, and where it was allocated or opened.
    owned: BTreeMap<u64, Owned>,
    /// What values lead to that calls under way still read.
    held: Vec<u64>,
    /// How far into the heap objects are known.
    heap_seen: u64,
    /// Descriptors that are kept in memory, by where.
    kept: BTreeMap<u64, u64>,
    work: u64,
}

struct Owned {
    place: Place,
    /// A place in memory that led here.
    witness: Option<u64>,
}

/// Why something may have gone out of reach.
pub(crate) enum Loss<'v> {
    /// The frame ends, and returns this.
    Return(Option<&'v Value>, Option<Operand>),
    /// Control goes from a block to another.
    Edge(BlockId, BlockId),
    /// Behind an instruction.
    Behind(InstId),
}

impl<'p> Machine<'p> {
    #[inline]
    pub(crate) fn watches_leaks(&self) -> bool {
        self.notes.watch.is_some_and(|watch| watch.leaks)
    }

    /// What has to be known of memory before an instruction changes it.
    pub(crate) fn leaks_before(&mut self, frame: &Frame<'p>, inst: InstId) -> Vec<u64> {
        if self.notes.leaks.owned.is_empty() {
            return Vec::new();
        }
        let (ptr, size) = match &frame.body.insts[inst].op {
            Op::Store { access, .. } if access.size == 8 => (access.ptr, Some(8)),
            Op::Store { access, .. } => {
                let slot = self.number_of(frame, access.ptr);
                let kept = slot.and_then(|slot| self.notes.leaks.kept.remove(&slot));
                return kept.into_iter().collect();
            }
            Op::MemCopy { to, size, .. } | Op::MemSet { to, size, .. } => {
                (*to, self.number_of(frame, *size))
            }
            _ => return Vec::new(),
        };
        let (Some(address), Some(size)) = (self.number_of(frame, ptr), size) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        self.references_in(address, size, &mut found);
        found
    }

    /// Whether an instruction lost something.
    pub(crate) fn leaks_after(&mut self, frame: &Frame<'p>, inst: InstId, before: Vec<u64>) {
        let data = &frame.body.insts[inst];
        match &data.op {
            Op::Call(_) => {
                self.leaks_of_call(frame, inst);
                return;
            }
            Op::Store { access, .. } if access.size == 8 && before.is_empty() => {
                self.witness_store(frame, access.ptr);
                return;
            }
            Op::Store { access, value } if access.size < 8 => {
                self.keep_descriptor(frame, inst, access.ptr, *value);
            }
            _ => {}
        }
        match &data.op {
            Op::Store { .. } | Op::MemCopy { .. } | Op::MemSet { .. } if !before.is_empty() => {
                self.look_for(frame, before, &Loss::Behind(inst), (frame.id, Point::Inst(inst)));
            }
            Op::Bind { variable, .. } if !self.notes.leaks.owned.is_empty() => {
                let Some(watch) = self.notes.watch else { return };
                let bound = watch.liveness(frame.id, frame.body).bound(*variable);
                let mut found = Vec::new();
                for value in bound {
                    self.references_at(frame, *value, &mut found);
                }
                self.look_for(frame, found, &Loss::Behind(inst), (frame.id, Point::Inst(inst)));
            }
            _ => {}
        }
    }

    fn leaks_of_call(&mut self, frame: &Frame<'p>, inst: InstId) {
        let place = (frame.id, Point::Inst(inst));
        for base in self.memory.heap_from(self.notes.leaks.heap_seen) {
            self.notes.leaks.owned.insert(base, Owned { place, witness: None });
        }
        self.notes.leaks.heap_seen = self.memory.end_of_heap();
        // A stream made of a descriptor owns it.
        if let Op::Call(call) = &frame.body.insts[inst].op
            && let Call { callee: Callee::Function(callee), args, .. } = &**call
            && matches!(&*self.program.functions[*callee].name, "fdopen" | "fdopendir")
            && let Some(descriptor) = args.first().and_then(|arg| self.number_of(frame, *arg))
        {
            self.notes.leaks.owned.remove(&descriptor);
        }
        let released = std::mem::take(&mut self.memory.released);
        for base in &released {
            self.notes.leaks.owned.remove(base);
        }
        if self.notes.leaks.owned.is_empty() {
            return;
        }
        // What released memory led to.
        let mut found = Vec::new();
        for base in released {
            let words = self.memory.words_of_ended(base);
            found.extend(words.into_iter().filter_map(|word| self.owned_at(word)));
        }
        if frame.body.insts[inst].ty == Ty::Ptr
            && let Some(watch) = self.notes.watch
            && !watch.liveness(frame.id, frame.body).is_used(inst)
        {
            self.references_at(frame, inst, &mut found);
        }
        if !found.is_empty() {
            self.look_for(frame, found, &Loss::Behind(inst), place);
        }
    }

    /// Streams that an instruction opened or closed.
    pub(crate) fn leaks_of_state(&mut self, key: u64, is_open: bool, place: Place) {
        if is_open {
            self.notes.leaks.owned.insert(key, Owned { place, witness: None });
        } else if !self.memory.is_heap_address(key) {
            self.notes.leaks.owned.remove(&key);
        }
    }

    /// Remembers what a call under way still reads; how much was remembered before.
    pub(crate) fn leaks_hold(&mut self, frame: &Frame<'p>, inst: InstId) -> usize {
        let n_before = self.notes.leaks.held.len();
        if let Some(watch) = self.notes.watch.filter(|_| !self.notes.leaks.owned.is_empty()) {
            let mut held = Vec::new();
            let liveness = watch.liveness(frame.id, frame.body);
            for value in liveness.behind(frame.body, inst) {
                self.references_at(frame, *value, &mut held);
            }
            if !frame.jumps.is_empty() {
                frame.values.iter().for_each(|value| self.references_of(value, &mut held));
            }
            self.references_of_arguments(frame, &mut held);
            frame.body.insts[inst].op.for_each_operand(|operand| {
                if let Operand::Inst(argument) = operand {
                    self.references_at(frame, argument, &mut held);
                }
            });
            self.notes.leaks.held.extend(held);
        }
        n_before
    }

    pub(crate) fn leaks_let_go(&mut self, n_before: usize) {
        self.notes.leaks.held.truncate(n_before);
    }

    /// What is lost where a function returns.
    pub(crate) fn leaks_at_return(
        &mut self,
        frame: &Frame<'p>,
        (came_from, block): (Option<BlockId>, BlockId),
        value: Option<&Value>,
    ) {
        if self.notes.leaks.owned.is_empty() {
            return;
        }
        let Some(watch) = self.notes.watch else { return };
        let mut found = Vec::new();
        for inst in watch.liveness(frame.id, frame.body).pointers() {
            self.references_at(frame, *inst, &mut found);
        }
        for local in &frame.locals {
            let size = self.memory.size(*local).unwrap_or(0);
            self.references_in(*local, size, &mut found);
            let descriptors = self.notes.leaks.kept.range(*local..local.saturating_add(size));
            found.extend(descriptors.map(|(_, descriptor)| *descriptor));
        }
        // Without a caller nobody has the arguments any more.
        if self.depth == 1 {
            self.references_of_arguments(frame, &mut found);
        }
        // With the process, its streams and descriptors are closed.
        if self.depth == 1 {
            found.retain(|base| self.memory.is_heap_address(*base));
        }
        if found.is_empty() {
            return;
        }
        let point = end_of_scope(self.program, frame.body, came_from, block);
        self.look_for(
            frame,
            found,
            &Loss::Return(value, frame.body.blocks[block].terminator.operand()),
            (frame.id, point),
        );
    }

    /// What is lost where a loop starts again.
    pub(crate) fn leaks_on_edge(&mut self, frame: &Frame<'p>, from: BlockId, to: BlockId) {
        if self.notes.leaks.owned.is_empty() || !self.watches_leaks() {
            return;
        }
        let Some(watch) = self.notes.watch else { return };
        let Some(inside) = watch.liveness(frame.id, frame.body).started_again(from, to) else {
            return;
        };
        let mut found = Vec::new();
        for inst in inside {
            self.references_at(frame, *inst, &mut found);
        }
        if !found.is_empty() {
            let point = last_statement(self.program, frame.body, from);
            self.look_for(frame, found, &Loss::Edge(from, to), (frame.id, point));
        }
    }

    /// What is out of reach once the program has ended by itself.
    pub(crate) fn leaks_at_exit(&mut self) {
        let owned = self.notes.leaks.owned.keys().copied();
        let found: Vec<u64> = owned.filter(|base| self.memory.is_heap_address(*base)).collect();
        if found.is_empty() {
            return;
        }
        let reached = self.reached(Vec::new(), &FxHashSet::default());
        for base in self.heads(&found, &reached) {
            if let Some(owned) = self.notes.leaks.owned.get(&base) {
                let place = owned.place;
                let n_recorded = self.n_recorded();
                self.note_leak(base, place, n_recorded);
            }
        }
    }

    /// Which of these nothing leads to: these are lost here.
    fn look_for(&mut self, frame: &Frame<'p>, mut found: Vec<u64>, loss: &Loss, place: Place) {
        found.sort_unstable();
        found.dedup();
        let ending: FxHashSet<u64> = match loss {
            Loss::Return(..) => frame.locals.iter().copied().collect(),
            _ => FxHashSet::default(),
        };
        found.retain(|base| match *base < LOWEST {
            true => !self.is_kept(*base, &ending),
            false => !self.has_witness(*base, &ending),
        });
        if found.is_empty() {
            return;
        }
        let mut roots = Vec::new();
        if let Some(watch) = self.notes.watch {
            let liveness = watch.liveness(frame.id, frame.body);
            let mut add = |values: &[InstId]| {
                values.iter().for_each(|value| self.references_at(frame, *value, &mut roots));
            };
            match loss {
                Loss::Return(value, operand) => {
                    if let Some((value, operand)) = value.zip(*operand) {
                        self.references_of(value, &mut roots);
                        self.descriptor_of(frame, operand, value, &mut roots);
                    }
                }
                Loss::Edge(from, to) => add(&liveness.on_edge(frame.body, *from, *to)),
                Loss::Behind(inst) => add(liveness.behind(frame.body, *inst)),
            }
            if !matches!(loss, Loss::Return(..)) {
                self.references_of_arguments(frame, &mut roots);
                if !frame.jumps.is_empty() {
                    frame.values.iter().for_each(|value| self.references_of(value, &mut roots));
                }
            }
        }
        // Most are read on from a value.
        found.retain(|base| !roots.contains(base) && !self.notes.leaks.held.contains(base));
        if found.is_empty() || !self.may_look() {
            return;
        }
        let reached = self.reached(roots, &ending);
        // The end of a block is recorded before control leaves it.
        let n_recorded = match loss {
            Loss::Behind(_) => 0,
            Loss::Return(..) | Loss::Edge(..) => self.n_recorded(),
        };
        for base in self.heads(&found, &reached) {
            self.note_leak(base, place, n_recorded);
        }
    }

    fn may_look(&self) -> bool {
        let done = self.notes.steps_at_first.saturating_sub(self.steps);
        self.notes.leaks.work <= WORK_AT_FIRST + WORK_A_STEP * done
    }

    fn note_leak(&mut self, base: u64, at: Place, n_recorded: usize) {
        let Some(owned) = self.notes.leaks.owned.get(&base) else { return };
        let (kind, allocated) = (FaultKind::Leak, Some(owned.place));
        self.note(Note { kind, at, allocated, released: None, n_recorded });
        // What only it leads to is lost with it.
        for inside in self.closure(base) {
            self.notes.leaks.owned.remove(&inside);
        }
        self.notes.leaks.owned.remove(&base);
    }

    /// Those of the lost that no other of them leads to.
    fn heads(&mut self, found: &[u64], reached: &FxHashSet<u64>) -> Vec<u64> {
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
    fn closure(&mut self, base: u64) -> BTreeSet<u64> {
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
    fn reached(&mut self, mut waiting: Vec<u64>, ending: &FxHashSet<u64>) -> FxHashSet<u64> {
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
    fn witnesses_in(&mut self, base: u64, found: &mut Vec<u64>) {
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
    fn has_witness(&self, base: u64, ending: &FxHashSet<u64>) -> bool {
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

    fn witness_store(&mut self, frame: &Frame<'p>, ptr: Operand) {
        if self.notes.leaks.owned.is_empty() {
            return;
        }
        let Some(slot) = self.number_of(frame, ptr) else { return };
        let target = self.memory.word(slot).and_then(|word| self.owned_at(word));
        if let Some(owned) = target.and_then(|base| self.notes.leaks.owned.get_mut(&base)) {
            owned.witness = Some(slot);
        }
    }

    pub(crate) fn is_descriptor(&self, frame: &Frame<'p>, operand: Operand) -> bool {
        self.notes.watch.is_some_and(|watch| watch.is_descriptor(frame.id, operand))
    }

    /// A descriptor is stored.
    fn keep_descriptor(&mut self, frame: &Frame<'p>, inst: InstId, ptr: Operand, value: Operand) {
        let keeps = self.notes.watch.is_some_and(|w| w.tasks(frame.id, inst) & DESCRIPTOR != 0);
        let (Some(slot), Some(number)) = (self.number_of(frame, ptr), self.number_of(frame, value))
        else {
            return;
        };
        if keeps && number < LOWEST && self.notes.leaks.owned.contains_key(&number) {
            self.notes.leaks.kept.insert(slot, number);
        }
    }

    fn number_of(&self, frame: &Frame<'p>, operand: Operand) -> Option<u64> {
        let bits = self.bits(frame, operand).ok().filter(|bits| bits.is_known())?;
        Some(bits.bits as u64)
    }

    /// What may be lost that a value leads to.
    fn references_of(&self, value: &Value, found: &mut Vec<u64>) {
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
    fn references_at(&self, frame: &Frame<'p>, inst: InstId, found: &mut Vec<u64>) {
        let value = &frame.values[inst];
        self.references_of(value, found);
        self.descriptor_of(frame, Operand::Inst(inst), value, found);
    }

    fn references_of_arguments(&self, frame: &Frame<'p>, found: &mut Vec<u64>) {
        for (index, value) in (0..).zip(&frame.arguments) {
            self.references_of(value, found);
            self.descriptor_of(frame, Operand::Param(index), value, found);
        }
    }

    fn descriptor_of(
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
    fn is_kept(&self, descriptor: u64, ending: &FxHashSet<u64>) -> bool {
        self.notes.leaks.kept.iter().any(|(slot, kept)| {
            let around = self.memory.alive_at(*slot);
            *kept == descriptor
                && self.memory.half_word(*slot) == Some(descriptor as u32)
                && around.is_some_and(|around| !ending.contains(&around))
        })
    }

    fn references_in(&mut self, address: u64, size: u64, found: &mut Vec<u64>) {
        let words = self.memory.pointers_in(address, size);
        self.notes.leaks.work += 1 + words.len() as u64;
        found.extend(words.into_iter().filter_map(|(_, word)| self.owned_at(word)));
    }

    /// What may be lost that an address lies in, or right behind.
    fn owned_at(&self, address: u64) -> Option<u64> {
        if self.memory.is_heap_address(address) {
            let reach = self.memory.reach(address)?;
            let is_in = address - reach.base <= reach.size;
            return (is_in && self.notes.leaks.owned.contains_key(&reach.base))
                .then_some(reach.base);
        }
        self.notes.leaks.owned.contains_key(&address).then_some(address)
    }
}

/// Where a scope ends that a function returns from: at its `return`, or else at the last
/// statement before the brace.
fn end_of_scope(
    program: &program::Program,
    body: &Body,
    came_from: Option<BlockId>,
    block: BlockId,
) -> Point {
    let line = |block: BlockId| program.locs[body.blocks[block].loc];
    let has_code = body.blocks[block]
        .inst_ids()
        .any(|inst| !matches!(body.insts[inst].op, Op::Phi(_) | Op::Bind { .. }));
    if let Some(from) = came_from.filter(|_| !has_code) {
        let (jump, end) = (line(from), line(block));
        if jump.line > 0 && (jump.line, jump.column) != (end.line, end.column) {
            return Point::End(from);
        }
        if matches!(body.blocks[block].terminator, Terminator::Return(None)) {
            return last_statement(program, body, from);
        }
    }
    match body.blocks[block].terminator {
        Terminator::Return(None) => last_statement(program, body, block),
        _ => Point::End(block),
    }
}

/// The last instruction of a block that stands in the source.
fn last_statement(program: &program::Program, body: &Body, block: BlockId) -> Point {
    let stands = |inst: &InstId| {
        let inst = &body.insts[*inst];
        !matches!(inst.op, Op::Phi(_)) && program.locs[inst.loc].line > 0
    };
    let last = body.blocks[block].inst_ids().rev().find(stands);
    last.map_or(Point::End(block), Point::Inst)
}
