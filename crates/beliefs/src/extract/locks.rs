//! Which locks are held where, and what is done under them.
//!
//! A lock action says what was before as well as what is after: `unlock(l)` says that `l` was
//! held, from the function's start if nobody took it since. Locks and variables go by the
//! names they have over the whole program: a global's, or a record's and its member's.

use program::{BlockId, Const, InstId, Op, Operand, PathStep, Ty};

use super::function::Fun;
use super::sink::{Row, Sink};
use super::subjects::object;
use super::values::{Shape, Value};
use crate::event::{Kind, Outcome, PRIVATE, WRITE};
use crate::known::shown;
use crate::latent::{self, LockAction};

/// One lock action of a function.
struct Action {
    inst: InstId,
    what: LockAction,
    /// A position in [`Locks::locks`].
    lock: usize,
}

/// A lock, as one function names it.
struct Lock {
    object: Option<Value>,
    name: Box<str>,
    /// The routine that takes it, for rules about contexts.
    routine: Box<str>,
}

/// What is known of one lock at a point: held or not, and since which action.
type Held = Option<(bool, Option<InstId>)>;

/// The lock actions of one function and the state they make.
pub struct Locks {
    locks: Vec<Lock>,
    actions: Vec<Action>,
    /// By block; `None` where control does not come.
    before: Vec<Option<Vec<Held>>>,
    /// Locks the callers hold.
    inherited: Vec<Box<str>>,
}

impl Locks {
    pub fn new(fun: &Fun) -> Self {
        let mut locks = Locks {
            locks: Vec::new(),
            actions: Vec::new(),
            before: Vec::new(),
            inherited: fun.known.entry_locks(fun.key()).to_vec(),
        };
        for (id, inst, call) in fun.calls() {
            let program::Callee::Function(callee) = call.callee else { continue };
            let Some(what) = fun.keys.lock_action(callee) else { continue };
            if !fun.cfg.is_reachable(inst.block) {
                continue;
            }
            let routine = shown(fun.keys.function(callee));
            let first = call.args.first().copied();
            // Whatever its name, a routine that is handed a number takes no lock.
            if first.is_some_and(|arg| fun.ty(arg) != Ty::Ptr) {
                continue;
            }
            let object = first.and_then(|arg| fun.value(arg)).map(|value| object(fun, value));
            let name = match first {
                Some(arg) => lock_name(fun, arg),
                None => Some(latent::lock_base(routine)),
            };
            let Some(name) = name else { continue };
            let known = locks.locks.iter().position(|lock| match object {
                Some(_) => lock.object == object,
                None => lock.object.is_none() && *lock.name == *name,
            });
            let lock = known.unwrap_or_else(|| {
                let routine = routine.into();
                locks.locks.push(Lock { object, name: name.into(), routine });
                locks.locks.len() - 1
            });
            if what == LockAction::Acquire {
                locks.locks[lock].routine = routine.into();
            }
            locks.actions.push(Action { inst: id, what, lock });
        }
        if !locks.locks.is_empty() {
            locks.solve(fun);
        }
        locks
    }

    fn solve(&mut self, fun: &Fun) {
        let n_blocks = fun.body.blocks.len();
        let mut solved = Vec::new();
        let mut entry: Vec<Held> = vec![None; self.locks.len()];
        let position =
            |action: &Action| (fun.cfg.position(fun.body.insts[action.inst].block), action.inst);
        let taken_before = |release: &Action| {
            self.actions.iter().any(|action| {
                action.lock == release.lock
                    && action.what == LockAction::Acquire
                    && position(action) < position(release)
            })
        };
        // The second time round, what releases believe of the start is known.
        for _belief in 0..2 {
            let mut before: Vec<Option<Vec<Held>>> = vec![None; n_blocks];
            before[program::Body::ENTRY.0 as usize] = Some(entry.clone());
            for _round in 0..6 {
                let mut changed = false;
                for &block in fun.cfg.order() {
                    let Some(state) = before[block.0 as usize].clone() else { continue };
                    let after = self.through(fun, block, state, &mut |action, state| {
                        let is_release = action.what == LockAction::Release;
                        if is_release && state[action.lock].is_none() && !taken_before(action) {
                            entry[action.lock] = Some((true, None));
                        }
                    });
                    for &to in fun.cfg.successors(block) {
                        changed |= meet(&mut before[to.0 as usize], &after);
                    }
                }
                if !changed {
                    break;
                }
            }
            solved = before;
        }
        self.before = solved;
    }

    fn through(
        &self,
        fun: &Fun,
        block: BlockId,
        mut state: Vec<Held>,
        visit: &mut dyn FnMut(&Action, &[Held]),
    ) -> Vec<Held> {
        let block = &fun.body.blocks[block];
        let start = self.actions.partition_point(|action| action.inst < block.first);
        for action in self.actions[start..].iter().take_while(|action| action.inst < block.end) {
            visit(action, &state);
            state[action.lock] = Some((action.what == LockAction::Acquire, Some(action.inst)));
        }
        state
    }

    pub fn is_empty(&self) -> bool {
        self.locks.is_empty() && self.inherited.is_empty()
    }

    /// Visits every instruction with the names of the locks held there, and the routines that
    /// took them.
    pub fn for_each(&self, fun: &Fun, mut visit: impl FnMut(InstId, &[(&str, &str)])) {
        for &block in fun.cfg.order() {
            let mut state = self.before.get(block.0 as usize).cloned().flatten();
            let mut held = self.held(&state);
            for id in fun.body.blocks[block].inst_ids() {
                let at = self.actions.binary_search_by_key(&id, |action| action.inst);
                if let (Ok(at), Some(state)) = (at, &mut state) {
                    let action = &self.actions[at];
                    state[action.lock] = Some((action.what == LockAction::Acquire, Some(id)));
                }
                if at.is_ok() {
                    held = self.held(&state);
                } else {
                    visit(id, &held);
                }
            }
        }
    }

    fn held(&self, state: &Option<Vec<Held>>) -> Vec<(&str, &str)> {
        let own = state.iter().flatten().zip(&self.locks);
        let own = own.filter(|(held, _)| matches!(held, Some((true, _))));
        let mut held: Vec<(&str, &str)> =
            own.map(|(_, lock)| (&*lock.name, &*lock.routine)).collect();
        held.extend(self.inherited.iter().map(|name| (&**name, "")));
        held.sort_unstable();
        held.dedup_by_key(|(name, _)| *name);
        held
    }

    /// Locks taken twice, released twice, and sections with nothing in them.
    pub fn extract(&self, fun: &Fun, sink: &mut Sink) {
        for &block in fun.cfg.order() {
            let Some(Some(state)) = self.before.get(block.0 as usize) else { continue };
            let mut rows = Vec::new();
            self.through(fun, block, state.clone(), &mut |action, state| {
                let takes = action.what == LockAction::Acquire;
                let (outcome, since) = match state[action.lock] {
                    Some((held, since)) if held == takes => (Outcome::Twice, since),
                    Some((_, Some(since))) if !takes && is_empty(fun, since, action.inst) => {
                        (Outcome::Empty, Some(since))
                    }
                    _ => (Outcome::Balanced, None),
                };
                rows.push((action.inst, action.lock, outcome, since));
            });
            for (inst, lock, outcome, since) in rows {
                let (lock, loc) = (&self.locks[lock], fun.body.insts[inst].loc);
                let other_line = since.map_or(0, |since| fun.line(fun.body.insts[since].loc));
                let Op::Call(call) = &fun.body.insts[inst].op else { continue };
                let routine = fun.callee(call).unwrap_or_default();
                let site = sink.site();
                let row = Row {
                    b: &lock.name,
                    detail: &lock.name,
                    other_line,
                    ..Row::new(Kind::Lock, outcome, routine)
                };
                sink.add(fun, loc, site, row);
            }
        }
    }
}

/// Whether nothing at all happens between two instructions of one block.
fn is_empty(fun: &Fun, from: InstId, to: InstId) -> bool {
    let insts = &fun.body.insts;
    insts[from].block == insts[to].block
        && (from.0 + 1..to.0).map(InstId).all(|id| match &insts[id].op {
            // The address of the lock itself is looked up again.
            Op::Address(_) | Op::Bind { .. } | Op::Compare { .. } | Op::Convert(_) => true,
            Op::Load(_) => {
                fun.uses.of(id).iter().all(|user| *user >= to || !is_work(&insts[*user].op))
            }
            _ => false,
        })
}

fn is_work(op: &Op) -> bool {
    !matches!(op, Op::Address(_) | Op::Bind { .. })
}

fn meet(into: &mut Option<Vec<Held>>, state: &[Held]) -> bool {
    let Some(known) = into else {
        *into = Some(state.to_vec());
        return true;
    };
    let mut changed = false;
    for (known, new) in known.iter_mut().zip(state) {
        let agree = match (*known, *new) {
            (Some((a, x)), Some((b, y))) if a == b => Some((a, x.min(y))),
            _ => None,
        };
        changed |= agree != *known;
        *known = agree;
    }
    changed
}

fn lock_name(fun: &Fun, arg: Operand) -> Option<String> {
    if let Some(name) = variable_name(fun, arg) {
        return Some(name);
    }
    match fun.inst(fun.unconverted(arg)) {
        Some((_, inst)) => match &inst.op {
            Op::Load(access) => variable_name(fun, access.ptr),
            _ => None,
        },
        None => None,
    }
    .or_else(|| {
        // A lock the caller chose: its type has to do for a name.
        let ctype = match arg {
            Operand::Param(index) => fun.function.params.get(index as usize)?.ctype,
            Operand::Inst(id) => fun.body.insts[id].ctype,
            Operand::Const(_) => return None,
        };
        let record = fun.program.record_of(fun.program.pointee(ctype))?;
        let name = &fun.program.records[record].name;
        (!name.is_empty()).then(|| format!("a {name}"))
    })
}

/// `record.member` or the global that an address is the address of.
pub fn variable_name(fun: &Fun, address: Operand) -> Option<String> {
    match address {
        Operand::Const(id) => match &fun.program.constants[id] {
            Const::Global { global, .. } => {
                let global = &fun.program.globals[*global];
                let is_shared = !global.name.is_empty() && !global.is_constant;
                is_shared.then(|| global.name.to_string())
            }
            _ => None,
        },
        Operand::Inst(_) => fun.field(address),
        Operand::Param(_) => None,
    }
}

/// Accesses of variables that are used under locks somewhere.
pub fn accesses(fun: &Fun, locks: &Locks, sink: &mut Sink) {
    let function_is_private = latent::is_life_cycle(&fun.function.name);
    let mut told: Vec<(String, String, bool)> = Vec::new();
    locks.for_each(fun, |id, held| {
        let inst = &fun.body.insts[id];
        let (access, flags) = match &inst.op {
            Op::Load(access) => (access, 0),
            Op::Store { access, .. } => (access, WRITE),
            _ => return,
        };
        if !may_be_shared(fun, access.ptr) {
            return;
        }
        let Some(name) = variable_name(fun, access.ptr) else { return };
        if !fun.known.is_locked_somewhere(&name) {
            return;
        }
        let names: Vec<&str> = held.iter().map(|(name, _)| *name).collect();
        let key = (name.clone(), names.join(" "), flags == WRITE);
        if told.contains(&key) {
            return;
        }
        told.push(key);
        let private = function_is_private || is_fresh(fun, access.ptr);
        let flags = flags | if private { PRIVATE } else { 0 };
        let site = sink.site();
        let row = Row { detail: &name, flags, ..Row::new(Kind::Access, Outcome::Site, &name) };
        sink.add(fun, inst.loc, site, row);
        for lock in names {
            let row = Row {
                b: lock,
                detail: &name,
                flags,
                with: 1,
                ..Row::new(Kind::Access, Outcome::Every, &name)
            };
            sink.add(fun, inst.loc, site, row);
        }
    });
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
