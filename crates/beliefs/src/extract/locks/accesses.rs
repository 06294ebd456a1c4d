//! What is used under locks, and what critical sections are about.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use program::{InstId, Op, Operand, PathStep};

use super::{HeldLock, Locks, variable_name};
use crate::event::{ALONE, BELIEVED, Kind, Outcome, PRIVATE, WRITE};
use crate::extract::function::Fun;
use crate::extract::sink::{Row, Sink};
use crate::extract::values::Shape;
use crate::latent;

/// Accesses of variables that are used under locks somewhere.
pub fn accesses(fun: &Fun, locks: &Locks, sink: &mut Sink) {
    let function_is_private = latent::is_life_cycle(&fun.function.name);
    let sections = Sections::new(fun, locks);
    let mut told: Vec<(String, String, bool)> = Vec::new();
    locks.for_each(fun, |id, held| {
        let inst = &fun.body.insts[id];
        let Some((access, is_write)) = shared_access(fun, inst) else { return };
        let Some(name) = variable_name(fun, access) else { return };
        if !fun.known.is_locked_somewhere(&name) {
            return;
        }
        let names: Vec<&str> = held.iter().map(|held| held.name).collect();
        let key = (name.clone(), names.join(" "), is_write);
        if told.contains(&key) {
            return;
        }
        told.push(key);
        let private = function_is_private || is_fresh(fun, access);
        let flags = if is_write { WRITE } else { 0 } | if private { PRIVATE } else { 0 };
        let site = sink.site();
        let row = Row { detail: &name, flags, ..Row::new(Kind::Access, Outcome::Site, &name) };
        sink.add(fun, inst.loc, site, row);
        for held in held {
            let alone = if sections.is_about(held, &name) { ALONE } else { 0 };
            let believed = if held.is_believed { BELIEVED } else { 0 };
            let row = Row {
                b: held.name,
                detail: &name,
                flags: flags | alone | believed,
                with: 1,
                ..Row::new(Kind::Access, Outcome::Every, &name)
            };
            sink.add(fun, inst.loc, site, row);
        }
    });
}

/// The address of what an instruction reads or writes, if others may see it, and whether it
/// writes.
fn shared_access(fun: &Fun, inst: &program::Inst) -> Option<(Operand, bool)> {
    let (access, is_write) = match &inst.op {
        Op::Load(access) => (access, false),
        Op::Store { access, .. } => (access, true),
        _ => return None,
    };
    may_be_shared(fun, access.ptr).then_some((access.ptr, is_write))
}

/// What each critical section is about: the one variable it uses, or nothing certain.
///
/// A lock protects something. Where a section uses one variable and calls nobody, that is it.
struct Sections {
    /// By where the lock was taken; `None` for several variables, or a call.
    about: BTreeMap<InstId, Option<String>>,
}

impl Sections {
    fn new(fun: &Fun, locks: &Locks) -> Self {
        let mut about: BTreeMap<InstId, Option<String>> = BTreeMap::new();
        if locks.actions.is_empty() {
            return Self { about };
        }
        locks.for_each(fun, |id, held| {
            let inst = &fun.body.insts[id];
            let is_call = matches!(&inst.op, Op::Call(call)
                if !matches!(call.callee, program::Callee::Intrinsic(_)));
            let variable =
                shared_access(fun, inst).and_then(|(access, _)| variable_name(fun, access));
            if !is_call && variable.is_none() {
                return;
            }
            for since in held.iter().filter_map(|held| held.since) {
                let is_lock = |name: &String| held.iter().any(|held| held.name == *name);
                match (&variable, about.entry(since)) {
                    // Looking at the lock itself is not what the section is for.
                    (Some(name), _) if is_lock(name) => {}
                    (Some(name), Entry::Vacant(free)) => drop(free.insert(Some(name.clone()))),
                    (Some(name), Entry::Occupied(known)) if known.get().as_ref() == Some(name) => {}
                    (_, entry) => drop(entry.insert_entry(None)),
                }
            }
        });
        Self { about }
    }

    fn is_about(&self, held: &HeldLock, variable: &str) -> bool {
        let about = held.since.and_then(|since| self.about.get(&since));
        about.is_some_and(|about| about.as_deref() == Some(variable))
    }
}

/// A quick look at an address before its name is worked out.
fn may_be_shared(fun: &Fun, address: Operand) -> bool {
    match address {
        Operand::Const(_) => true,
        Operand::Inst(id) => match &fun.body.insts[id].op {
            Op::Address(address) => {
                address.path.iter().any(|step| matches!(step, PathStep::Field { .. }))
                    && fun
                        .value(Operand::Inst(id))
                        .is_some_and(|value| !fun.is_alloca(fun.values.root(value)))
            }
            _ => false,
        },
        Operand::Param(_) => false,
    }
}

/// Whether the object was made in this function: nobody else knows it yet.
fn is_fresh(fun: &Fun, address: Operand) -> bool {
    let Some(root) = fun.value(address).map(|value| fun.values.root(value)) else { return false };
    matches!(fun.values.shape_of(root), Shape::Inst(id)
        if matches!(fun.body.insts[*id].op, Op::Call(_)))
}
