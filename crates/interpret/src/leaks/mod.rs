//! Memory and streams that nothing leads to any more.
//!
//! Where a reference goes away - a variable or a place in memory is overwritten, a function
//! returns, a loop starts again, memory is freed - what it led to is looked for from all that
//! still can be read: objects of the program, the storage of calls that run, and values these
//! still read. What is not found is lost there, and released by nothing that can follow.

use std::collections::BTreeMap;

use program::{BlockId, Call, Callee, InstId, Op, Operand, Terminator, Ty};
use rustc_hash::FxHashSet;

use crate::exec::{Frame, Machine};
use crate::memory::LOWEST;
use crate::notes::Place;
use crate::record::Point;
use crate::value::Value;

/// Work that looking for references may take for each instruction of the run, and to begin with.
const WORK_A_STEP: u64 = 4;
const WORK_AT_FIRST: u64 = 200_000;
/// Places that lead to an object one after the other, before all is looked through again.
const LONGEST_CHAIN: usize = 24;

mod reach;
mod references;

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
            Op::Bind { variable, value } if !self.notes.leaks.owned.is_empty() => {
                let Some(watch) = self.notes.watch else { return };
                let bound = watch.liveness(frame.id, frame.body).bound(*variable);
                let mut found = Vec::new();
                for old in bound.iter().filter(|old| *value != Operand::Inst(**old)) {
                    self.references_at(frame, *old, &mut found);
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
        let point = end_of_scope(self.program, frame, came_from, block);
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
            let point = last_statement(self.program, frame, Some(to));
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
        self.memory.n_scanned.set(self.memory.n_scanned.get() + 16 * found.len() as u64);
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
}

/// Where a scope ends that a function returns from: at its `return`, or else at the last
/// statement before the brace.
fn end_of_scope(
    program: &program::Program,
    frame: &Frame,
    came_from: Option<BlockId>,
    block: BlockId,
) -> Point {
    let body = frame.body;
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
            return last_statement(program, frame, None);
        }
    }
    match body.blocks[block].terminator {
        Terminator::Return(None) => last_statement(program, frame, None),
        _ => Point::End(block),
    }
}

/// The last statement that a call came through, but for the head of the loop that starts again.
fn last_statement(program: &program::Program, frame: &Frame, again: Option<BlockId>) -> Point {
    let body = frame.body;
    let head = again.map(|head| {
        let loc = &program.locs[body.blocks[head].loc];
        (loc.file, loc.line)
    });
    let stands = |inst: &InstId| {
        let inst = &body.insts[*inst];
        let loc = &program.locs[inst.loc];
        let is_head = head == Some((loc.file, loc.line));
        !matches!(inst.op, Op::Phi(_)) && loc.line > 0 && !is_head
    };
    let mut all =
        frame.trail.iter().filter_map(|block| body.blocks[*block].inst_ids().rev().find(stands));
    all.next().map_or(Point::End(frame.trail[0]), Point::Inst)
}
