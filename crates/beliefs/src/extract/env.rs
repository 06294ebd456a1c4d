//! What a path has found out about values.
//!
//! A fact hangs on the place that was read, so that a second read of `s->p` is known as well,
//! and on the read itself, which nothing changes any more. A store ends what is known of a
//! place, and so does a call that is led there. Any other call makes it stale: nothing may be
//! concluded from it any more, but that something is missing on a path that then decides
//! otherwise is no evidence, either.

use program::{BlockId, Callee, InstId, Op, Operand, Predicate};
use smallvec::SmallVec;

use super::function::Fun;
use super::interest::Interest;
use super::range::{Fact, mirrored, narrow, negated};
use super::values::Value;

/// What a path has found out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Env {
    /// What the joins passed stand for, newest last.
    joins: SmallVec<[(InstId, Operand); 4]>,
    /// Sorted, so that paths that know the same are the same.
    facts: SmallVec<[Entry; 6]>,
    is_doubtful: bool,
}

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Subject {
    /// A value, whoever computes it; for memory, whatever the place holds.
    Value(Value),
    /// What one load has read.
    Read(InstId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    subject: Subject,
    fact: Fact,
    /// A call may have changed the memory since.
    is_stale: bool,
    /// Remembered whether or not other branches test it.
    is_tracked: bool,
}

impl Env {
    /// What is known on the ways to an instruction, by the way.
    pub fn before(fun: &Fun, interest: &Interest, block: BlockId, next: InstId) -> Vec<Self> {
        let first = fun.body.blocks[block].first;
        let mut envs = interest.starts(fun)[block.0 as usize].to_vec();
        for env in &mut envs {
            (first.0..next.0).for_each(|id| env.after(fun, interest, InstId(id)));
        }
        envs
    }

    /// Whether the path has decided one question in two ways, with only calls between that may
    /// or may not have changed the answer. That something is missing on it is no evidence.
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// What an operand stands for on this path.
    pub fn resolve(&self, fun: &Fun, operand: Operand) -> Operand {
        let operand = fun.unconverted(operand);
        let Operand::Inst(id) = operand else { return operand };
        match self.joins.iter().rev().find(|(join, _)| *join == id) {
            Some((_, chosen)) => *chosen,
            None => operand,
        }
    }

    pub fn fact(&self, value: Value) -> Fact {
        self.known(Subject::Value(value))
    }

    fn known(&self, subject: Subject) -> Fact {
        self.entry(subject).filter(|entry| !entry.is_stale).map_or(Fact::ANY, |entry| entry.fact)
    }

    fn entry(&self, subject: Subject) -> Option<&Entry> {
        let at = self.facts.binary_search_by_key(&subject, |entry| entry.subject).ok()?;
        Some(&self.facts[at])
    }

    /// What is known of an operand.
    pub fn fact_of(&self, fun: &Fun, operand: Operand) -> Fact {
        let operand = self.resolve(fun, operand);
        if let Some(number) = fun.constant(operand) {
            return Fact::number_is(number);
        }
        if let Operand::Inst(id) = operand
            && let fact = self.known(Subject::Read(id))
            && fact != Fact::ANY
        {
            return fact;
        }
        fun.value(operand).map_or(Fact::ANY, |value| self.fact(value))
    }

    /// Remembers from now on what branches say about the value.
    pub fn track(&mut self, value: Value) {
        let subject = Subject::Value(value);
        let (fact, is_stale) =
            self.entry(subject).map_or((Fact::ANY, false), |entry| (entry.fact, entry.is_stale));
        self.put(Entry { subject, fact, is_stale, is_tracked: true });
    }

    pub fn assume_zero(&mut self, value: Value, is_zero: bool) {
        self.set(Subject::Value(value), Fact::zero_is(is_zero));
    }

    fn set(&mut self, subject: Subject, fact: Fact) {
        let is_tracked = self.entry(subject).is_some_and(|entry| entry.is_tracked);
        self.put(Entry { subject, fact, is_stale: false, is_tracked });
    }

    fn put(&mut self, new: Entry) {
        match self.facts.binary_search_by_key(&new.subject, |entry| entry.subject) {
            Ok(at) => self.facts[at] = new,
            Err(at) => self.facts.insert(at, new),
        }
    }

    /// Takes a branch. False where what is known says that it cannot be taken.
    pub fn assume(
        &mut self,
        fun: &Fun,
        interest: &Interest,
        condition: Operand,
        taken: bool,
    ) -> bool {
        let condition = self.resolve(fun, condition);
        if let Some(number) = fun.constant(condition) {
            return (number != 0) == taken;
        }
        // A parameter that is a truth value decides as it is.
        let Some((_, inst)) = fun.inst(condition) else {
            return self.compare(fun, interest, condition, Predicate::Ne, 0, taken);
        };
        match &inst.op {
            Op::Compare { predicate, lhs, rhs } => {
                let (mut lhs, mut rhs, mut predicate) =
                    (self.resolve(fun, *lhs), self.resolve(fun, *rhs), *predicate);
                if fun.constant(lhs).is_some() {
                    (lhs, rhs, predicate) = (rhs, lhs, mirrored(predicate));
                }
                let Some(number) = fun.constant(rhs) else { return true };
                let is_boolean = fun.inst(lhs).is_some_and(|(_, inst)| {
                    matches!(inst.op, Op::Compare { .. })
                        || matches!(inst.op, Op::Binary { op: program::BinaryOp::Xor, .. })
                });
                if number == 0 && is_boolean && matches!(predicate, Predicate::Eq | Predicate::Ne) {
                    return self.assume(fun, interest, lhs, (predicate == Predicate::Ne) == taken);
                }
                self.compare(fun, interest, lhs, predicate, number, taken)
            }
            Op::Binary { op: program::BinaryOp::Xor, lhs, rhs, .. }
                if matches!(fun.constant(*rhs), Some(1 | -1)) =>
            {
                self.assume(fun, interest, *lhs, !taken)
            }
            _ => self.compare(fun, interest, condition, Predicate::Ne, 0, taken),
        }
    }

    fn compare(
        &mut self,
        fun: &Fun,
        interest: &Interest,
        lhs: Operand,
        predicate: Predicate,
        number: i64,
        taken: bool,
    ) -> bool {
        let predicate = if taken { Some(predicate) } else { negated(predicate) };
        let Some(predicate) = predicate else { return true };
        let fact = self.fact_of(fun, lhs);
        let Some(narrowed) = narrow(fact, predicate, number) else { return false };
        if fun.constant(lhs).is_some() {
            return true;
        }
        if let Operand::Inst(id) = lhs
            && interest.has_read(id)
        {
            let is_known = self.entry(Subject::Read(id)).is_some();
            self.set(Subject::Read(id), narrowed);
            // What was read long ago says nothing more about the place.
            if is_known {
                return true;
            }
        }
        let Some(value) = fun.value(lhs) else { return true };
        let subject = Subject::Value(value);
        let known = self.entry(subject).copied();
        if let Some(entry) = known
            && entry.is_stale
            && narrow(entry.fact, predicate, number).is_none()
        {
            self.is_doubtful = true;
        }
        if interest.has(value) || known.is_some() {
            self.set(subject, narrowed);
        }
        true
    }

    /// What an instruction does to what is known of memory.
    pub fn after(&mut self, fun: &Fun, interest: &Interest, id: InstId) {
        match &fun.body.insts[id].op {
            Op::Store { access, value } => self.store(fun, interest, access, *value),
            _ => self.after_perhaps(fun, id),
        }
    }

    /// As [`after`](Self::after), where control need not have gone through the instruction.
    pub fn after_perhaps(&mut self, fun: &Fun, id: InstId) {
        match &fun.body.insts[id].op {
            Op::Store { access, .. }
            | Op::AtomicUpdate { access, .. }
            | Op::CompareExchange { access, .. } => self.overwrite(fun, access.ptr),
            Op::MemCopy { to, .. } | Op::MemSet { to, .. } => self.overwrite_all(fun, *to),
            Op::Call(call) if !matches!(call.callee, Callee::Intrinsic(_)) => self.call(fun, call),
            _ => {}
        }
    }

    /// What is stored is what the place holds.
    fn store(&mut self, fun: &Fun, interest: &Interest, access: &program::Access, stored: Operand) {
        let fact = self.fact_of(fun, stored);
        self.overwrite(fun, access.ptr);
        let Some(address) = fun.value(access.ptr) else { return };
        let Some(load) = fun.values.load_of(address) else { return };
        let is_whole = access.bit_field.is_none()
            && access.path.is_empty()
            && fun.values.example(load).is_some_and(|id| fun.body.insts[id].ty == fun.ty(stored));
        if fact != Fact::ANY
            && is_whole
            && interest.has_join(load)
            && !fun.values.has_variable_index(address)
        {
            self.set(Subject::Value(load), fact);
        }
    }

    /// Forgets what is known about memory at this address.
    fn overwrite(&mut self, fun: &Fun, address: Operand) {
        if let Some(address) = fun.value(address) {
            self.forget(|value| fun.values.depends_on_load(value, address));
        }
    }

    /// Forgets what is known about the object that this address leads to.
    fn overwrite_all(&mut self, fun: &Fun, address: Operand) {
        if let Some(address) = fun.value(address) {
            let root = fun.values.root(address);
            self.forget(|value| fun.values.is_from_memory(value) && fun.values.root(value) == root);
        }
    }

    pub fn knows_memory(&self, fun: &Fun) -> bool {
        self.facts.iter().any(|entry| match entry.subject {
            Subject::Value(value) => fun.values.is_from_memory(value),
            Subject::Read(_) => false,
        })
    }

    pub fn forget_memory(&mut self, fun: &Fun) {
        self.forget(|value| fun.values.is_from_memory(value));
    }

    fn forget(&mut self, which: impl Fn(Value) -> bool) {
        self.facts.retain(|entry| {
            let Subject::Value(value) = entry.subject else { return true };
            if !which(value) {
                return true;
            }
            (entry.fact, entry.is_stale) = (Fact::ANY, false);
            entry.is_tracked
        });
    }

    /// A callee may well change what it is led to; the rest of memory becomes stale.
    fn call(&mut self, fun: &Fun, call: &program::Call) {
        if self.facts.is_empty() {
            return;
        }
        let args: SmallVec<[Value; 6]> =
            call.args.iter().filter_map(|arg| fun.value(*arg)).collect();
        self.forget(|value| fun.values.is_reached_from(value, &args));
        for entry in &mut self.facts {
            if let Subject::Value(value) = entry.subject {
                entry.is_stale |= entry.fact != Fact::ANY && fun.values.is_from_memory(value);
            }
        }
    }

    /// What a loop computes, it computes anew each time round.
    pub fn back_to(&mut self, fun: &Fun, head: BlockId) {
        let head = fun.cfg.position(head);
        let is_before = |id: InstId| fun.cfg.position(fun.body.insts[id].block) < head;
        self.joins.retain(|(join, _)| is_before(*join));
        self.facts.retain(|entry| match entry.subject {
            Subject::Read(id) => is_before(id),
            Subject::Value(value) => fun.values.example(value).is_none_or(is_before),
        });
    }

    /// Chooses what the joins of a block stand for.
    pub fn join(&mut self, fun: &Fun, interest: &Interest, from: BlockId, to: BlockId) {
        let mut chosen: SmallVec<[(InstId, Operand); 4]> = SmallVec::new();
        for id in fun.body.blocks[to].inst_ids() {
            let edges = match &fun.body.insts[id].op {
                Op::Phi(edges) => edges,
                Op::Bind { .. } => continue,
                _ => break,
            };
            let is_of_interest =
                fun.value(Operand::Inst(id)).is_some_and(|value| interest.has_join(value))
                    || !fun.uses.in_terminators(id).is_empty();
            if !is_of_interest {
                continue;
            }
            if let Some((_, operand)) = edges.iter().find(|(pred, _)| *pred == from) {
                chosen.push((id, self.resolve(fun, *operand)));
            }
        }
        for (id, operand) in chosen {
            self.joins.retain(|(join, _)| *join != id);
            self.joins.push((id, operand));
        }
    }
}
