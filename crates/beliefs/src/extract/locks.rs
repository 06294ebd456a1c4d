//! Which locks are held where, and what is done under them.
//!
//! A lock action says what was before as well as what is after: `unlock(l)` says that `l` was
//! held, from the function's start if nobody took it since. Locks and variables go by the
//! names they have over the whole program: a global's, or a record's and its member's.

mod accesses;

use std::collections::BTreeSet;

use program::{BlockId, Const, InstId, Op, Operand, Ty};

use super::function::Fun;
use super::sink::{Row, Sink};
use super::subjects::object;
use super::values::Value;
use crate::event::{Kind, Outcome, PRIVATE, RELEASE};
use crate::known::shown;
use crate::latent::{self, LockAction};
pub use accesses::accesses;

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
}

/// A lock that is held somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldLock<'a> {
    pub name: &'a str,
    /// Where it was taken, if in this function.
    pub since: Option<InstId>,
    /// Nobody is known to have taken it; a later release says that somebody has.
    pub is_believed: bool,
}

impl<'a> HeldLock<'a> {
    fn inherited(name: &'a str) -> Self {
        Self { name, since: None, is_believed: false }
    }
}

/// What is known of one lock at a point: held or not, and since which action.
type Held = Option<(bool, Option<InstId>)>;

/// The lock actions of one function and the state they make.
pub struct Locks {
    locks: Vec<Lock>,
    actions: Vec<Action>,
    /// By block; `None` where control does not come.
    before: Vec<Option<Vec<Held>>>,
    /// By lock: a release says that it was held from the start.
    is_believed: Vec<bool>,
    /// Locks the callers hold.
    inherited: Vec<Box<str>>,
}

impl Locks {
    pub fn new(fun: &Fun) -> Self {
        let mut locks = Locks {
            locks: Vec::new(),
            actions: Vec::new(),
            before: Vec::new(),
            is_believed: Vec::new(),
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
            if !takes_whole_lock(fun, routine, call) {
                continue;
            }
            let asked_for = first.and_then(|arg| asked_for(fun, arg));
            let object = match asked_for {
                Some(_) => None,
                None => first.and_then(|arg| fun.value(arg)).map(|value| object(fun, value)),
            };
            let name = match first {
                Some(arg) => asked_for.or_else(|| lock_name(fun, arg)),
                None => Some(latent::lock_base(routine)),
            };
            let Some(name) = name else { continue };
            let known = locks.locks.iter().position(|lock| match object {
                Some(_) => lock.object == object,
                None => lock.object.is_none() && *lock.name == *name,
            });
            let lock = known.unwrap_or_else(|| {
                locks.locks.push(Lock { object, name: name.into() });
                locks.locks.len() - 1
            });
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
                // A join may have made another value of it since.
                self.locks[action.lock].name == self.locks[release.lock].name
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
        self.is_believed = entry.iter().map(Option::is_some).collect();
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

    /// Visits every instruction with the locks held there, in the order of their names.
    pub fn for_each(&self, fun: &Fun, mut visit: impl FnMut(InstId, &[HeldLock])) {
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

    fn held(&self, state: &Option<Vec<Held>>) -> Vec<HeldLock<'_>> {
        let mut held: Vec<HeldLock> =
            self.inherited.iter().map(|name| HeldLock::inherited(name)).collect();
        for (state, lock) in state.iter().flatten().zip(&self.locks) {
            if let Some((true, since)) = *state
                && !(since.is_none() && self.is_inherited(&lock.name))
            {
                held.push(HeldLock { name: &lock.name, since, is_believed: since.is_none() });
            }
        }
        held.sort_unstable();
        held.dedup_by_key(|held| held.name);
        held
    }

    fn is_inherited(&self, name: &str) -> bool {
        self.inherited.iter().any(|inherited| **inherited == *name)
    }

    /// Whether callers hold the lock of a release, or a function called before took it.
    fn is_taken_by_others(&self, fun: &Fun, release: &Action) -> bool {
        let name = &*self.locks[release.lock].name;
        let position = |id: InstId| (fun.cfg.position(fun.body.insts[id].block), id);
        let takes = |call: &program::Call| {
            fun.callee(call).is_some_and(|callee| fun.known.takes(callee, name))
        };
        self.is_inherited(name)
            || fun.known.is_taken_before(fun.key(), name)
            || fun.calls().any(|(id, _, call)| takes(call) && position(id) < position(release.inst))
    }

    /// The locks that the function has taken and may still hold when it returns.
    pub fn taken_for_good(&self, fun: &Fun) -> BTreeSet<Box<str>> {
        let takes = |action: &&Action| action.what == LockAction::Acquire;
        let kept = self.actions.iter().filter(takes).filter(|action| self.is_kept(fun, action));
        kept.map(|action| self.locks[action.lock].name.clone()).collect()
    }

    /// The locks that the function releases without having taken them.
    pub fn given_back(&self) -> BTreeSet<Box<str>> {
        let believed = self.locks.iter().zip(&self.is_believed).filter(|(_, believed)| **believed);
        believed.map(|(lock, _)| lock.name.clone()).collect()
    }

    /// The locks with which the function does this.
    pub fn with_action(&self, what: LockAction) -> BTreeSet<Box<str>> {
        let actions = self.actions.iter().filter(|action| action.what == what);
        actions.map(|action| self.locks[action.lock].name.clone()).collect()
    }

    /// Whether a path leads from taking the lock to a return without a release.
    fn is_kept(&self, fun: &Fun, taken: &Action) -> bool {
        let releases_within = |from: InstId, to: InstId| {
            let start = self.actions.partition_point(|action| action.inst < from);
            self.actions[start..]
                .iter()
                .take_while(|action| action.inst < to)
                .any(|action| action.lock == taken.lock && action.what == LockAction::Release)
        };
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut work = vec![(fun.body.insts[taken.inst].block, InstId(taken.inst.0 + 1))];
        while let Some((block, from)) = work.pop() {
            if releases_within(from, fun.body.blocks[block].end) {
                continue;
            }
            if fun.cfg.returns().contains(&block) {
                return true;
            }
            for &to in fun.cfg.successors(block) {
                if seen.insert(to) {
                    work.push((to, fun.body.blocks[to].first));
                }
            }
        }
        false
    }

    /// The calls that take or release the lock of this name.
    pub fn actions_on(&self, name: &str) -> Vec<(InstId, LockAction)> {
        let is_on = |action: &&Action| *self.locks[action.lock].name == *name;
        self.actions.iter().filter(is_on).map(|action| (action.inst, action.what)).collect()
    }

    /// Locks taken twice, released twice or without having been taken, and sections with
    /// nothing in them.
    pub fn extract(&self, fun: &Fun, sink: &mut Sink) {
        // A routine that is named after what it does to a lock does the one half alone.
        let is_wrapper = latent::lock_action(&fun.function.name).is_some();
        let private = if is_wrapper { PRIVATE } else { 0 };
        for &block in fun.cfg.order() {
            let Some(Some(state)) = self.before.get(block.0 as usize) else { continue };
            let mut rows = Vec::new();
            self.through(fun, block, state.clone(), &mut |action, state| {
                let takes = action.what == LockAction::Acquire;
                let (outcome, since) = match state[action.lock] {
                    Some((held, Some(since))) if held == takes => (Outcome::Twice, Some(since)),
                    Some((true, None)) if !takes && !self.is_taken_by_others(fun, action) => {
                        (Outcome::Unpaired, None)
                    }
                    Some((_, Some(since))) if !takes && is_empty(fun, since, action.inst) => {
                        (Outcome::Empty, Some(since))
                    }
                    _ => (Outcome::Balanced, None),
                };
                let flags = private | if takes { 0 } else { RELEASE };
                rows.push((action.inst, action.lock, flags, outcome, since));
            });
            for (inst, lock, flags, outcome, since) in rows {
                let (lock, loc) = (&self.locks[lock], fun.body.insts[inst].loc);
                let other_line = since.map_or(0, |since| fun.line(fun.body.insts[since].loc));
                let Op::Call(call) = &fun.body.insts[inst].op else { continue };
                let routine = fun.callee(call).unwrap_or_default();
                let site = sink.site();
                let row = Row {
                    b: &lock.name,
                    detail: &lock.name,
                    flags,
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
                let leads_there =
                    |user: &InstId| *user == to || (*user < to && !is_work(&insts[*user].op));
                fun.uses.of(id).iter().all(leads_there) && fun.uses.in_terminators(id).is_empty()
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

/// Whatever its name, a routine that is handed a number first takes no lock, and one that is
/// handed more than the lock and saved flags takes part of something, or in some mode.
fn takes_whole_lock(fun: &Fun, routine: &str, call: &program::Call) -> bool {
    let is_pointer = |arg: &Operand| fun.ty(*arg) == Ty::Ptr;
    match &call.args[..] {
        [] => true,
        [lock] => is_pointer(lock),
        [lock, more] => is_pointer(lock) && (is_pointer(more) || routine.contains("irq")),
        _ => false,
    }
}

/// The lock that a call takes, by its name over the whole program.
pub fn taken_by(fun: &Fun, call: &program::Call) -> Option<String> {
    let program::Callee::Function(callee) = call.callee else { return None };
    let takes = fun.keys.lock_action(callee) == Some(LockAction::Acquire);
    let routine = shown(fun.keys.function(callee));
    if !takes || !takes_whole_lock(fun, routine, call) {
        return None;
    }
    match call.args.first() {
        Some(arg) => asked_for(fun, *arg).or_else(|| lock_name(fun, *arg)),
        None => Some(latent::lock_base(routine)),
    }
}

/// `lock(the_lock(3))`: who asks for the same again gets the same lock.
pub fn asked_for(fun: &Fun, arg: Operand) -> Option<String> {
    let (_, inst) = fun.inst(fun.unconverted(arg))?;
    let Op::Call(call) = &inst.op else { return None };
    let callee = shown(fun.callee(call)?);
    let numbers: Option<Vec<String>> =
        call.args.iter().map(|arg| fun.constant(*arg).map(|number| number.to_string())).collect();
    Some(format!("{callee}({})", numbers?.join(", ")))
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
