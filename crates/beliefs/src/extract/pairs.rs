//! What follows a call on the same object: the beliefs behind "b must follow a".
//!
//! Traces start where an object comes from a call, is handed to one, or where a call has no
//! arguments at all. Paths on which the call failed, the object is null or somebody else takes
//! it over have no say.

use std::collections::BTreeMap;

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator, Ty};
use smallvec::SmallVec;

use super::env::Env;
use super::exits::{Exit, Exits};
use super::function::Fun;
use super::interest::Interest;
use super::locks;
use super::sink::{Row, Sink};
use super::subjects::{CallSite, Subjects, escaping_store, is_kept, is_outside, object, whole};
use super::values::{Shape, Value};
use super::walk::{End, Flow, Visitor, walk};
use crate::event::{
    CAPPED, HANDED, Kind, OUTSIDE, Outcome, SETTLED, STATIC, SUBJECT_NONE, SUBJECT_RESULT,
};
use crate::known::shown;
use crate::latent::{self, LockAction};

pub fn extract(fun: &Fun, interest: &Interest, subjects: &Subjects, sink: &mut Sink) {
    let exits = Exits::new(fun);
    for site in &subjects.calls {
        let inst = &fun.body.insts[site.inst];
        if inst.ty == Ty::Ptr
            && let Some(result) = fun.value(Operand::Inst(site.inst))
        {
            trace(fun, interest, subjects, &exits, site, Subject::Result(result), sink);
        }
        if let Some(first) = site.first {
            trace(fun, interest, subjects, &exits, site, Subject::First(first), sink);
        }
        if !site.has_arguments && inst.ty == Ty::Void {
            trace(fun, interest, subjects, &exits, site, Subject::None, sink);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Result(Value),
    First(Value),
    None,
}

/// What a path has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    /// Positions of callees, sorted.
    callees: SmallVec<[u32; 4]>,
    is_escaped: bool,
    /// Local variables in memory that hold the object now.
    slots: SmallVec<[Value; 1]>,
    /// What the path knows of the call's own result; a loop does not make it forget.
    answer: Answer,
}

/// One path, or all that look the same.
struct Path {
    seen: Seen,
    exit: Exit,
    /// Nothing is missing: somebody else has the object, or the path contradicts itself.
    is_excused: bool,
    line: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Answer {
    #[default]
    Unknown,
    Zero,
    /// An error, as C programs have it.
    Negative,
    NotZero,
}

struct Trace<'f, 'a> {
    fun: &'f Fun<'a>,
    subjects: &'f Subjects,
    exits: &'f Exits,
    start: InstId,
    /// The places and values that are the object.
    objects: SmallVec<[Value; 2]>,
    without_subject: bool,
    /// The lock that the first call takes.
    lock: Option<String>,
    callees: Vec<&'f str>,
    /// Callees, by position, that have nothing to do with the first call.
    dropped: Vec<bool>,
    paths: Vec<Path>,
}

impl Visitor for Trace<'_, '_> {
    type State = Seen;

    fn inst(&mut self, seen: &mut Seen, env: &Env, id: InstId) -> Flow {
        if id == self.start {
            return Flow::Stop;
        }
        match &self.fun.body.insts[id].op {
            Op::Call(call) => self.call(seen, env, id, call),
            Op::Store { access, value } => {
                let value = env.resolve(self.fun, *value);
                self.keep_in_slot(seen, access.ptr, value);
                let shown = escaping_store(self.fun, access.ptr, value);
                // Whoever has a part of the object, such as the links of a list, has the object.
                let is_ours = |object: Value| {
                    self.is_object(seen, object) || self.is_object(seen, whole(self.fun, object))
                };
                if shown.is_some_and(is_ours) {
                    seen.is_escaped = true;
                    // Whoever reads it back from there has it again.
                    if let Some(place) = self.fun.value(access.ptr)
                        && !self.objects.contains(&place)
                        && self.objects.len() < 4
                    {
                        self.objects.push(place);
                    }
                }
                Flow::On
            }
            _ => Flow::On,
        }
    }

    fn edge(&mut self, seen: &mut Seen, env: &Env, from: BlockId, to: BlockId) -> Flow {
        seen.is_escaped |= self.is_held_elsewhere(seen, env, from, to);
        // There is nothing to release where there is nothing.
        let is_null = |object: &Value| {
            env.fact(*object).is_zero()
                || self.fun.values.load_of(*object).is_some_and(|load| env.fact(load).is_zero())
        };
        self.ask(seen, env);
        let mut objects = self.objects.iter().chain(&seen.slots);
        if objects.any(is_null) { Flow::Stop } else { Flow::On }
    }

    fn end(&mut self, mut seen: Seen, env: &Env, block: BlockId, end: End) {
        let End::Return(value) = end else { return };
        if let Some(value) = value
            && [value, env.resolve(self.fun, value)].into_iter().any(|value| {
                let value = self.fun.value(value).map(|value| object(self.fun, value));
                value.is_some_and(|object| self.is_object(&seen, object))
            })
        {
            seen.is_escaped = true;
        }
        self.ask(&mut seen, env);
        let exit = self.exits.classify(self.fun, env, value);
        let line = self.exits.line(self.fun, env, block);
        let is_excused = seen.is_escaped || env.is_doubtful();
        self.paths.push(Path { seen, exit, is_excused, line });
    }
}

impl<'f> Trace<'f, '_> {
    fn is_object(&self, seen: &Seen, object: Value) -> bool {
        self.objects.contains(&object) || seen.slots.contains(&object)
    }

    /// Remembers what the call has answered as soon as a branch tells.
    fn ask(&self, seen: &mut Seen, env: &Env) {
        let Some(result) = self.fun.value(Operand::Inst(self.start)) else { return };
        match env.fact(result) {
            _ if seen.answer != Answer::Unknown => {}
            fact if fact.is_zero() => seen.answer = Answer::Zero,
            fact if fact.is_negative() => seen.answer = Answer::Negative,
            fact if fact.is_not_zero() => seen.answer = Answer::NotZero,
            _ => {}
        }
    }

    /// A variable whose address is taken somewhere holds the object until it is overwritten.
    fn keep_in_slot(&self, seen: &mut Seen, to: Operand, value: Operand) {
        let Some(slot) = self.fun.value(to).filter(|slot| self.fun.is_alloca(*slot)) else {
            return;
        };
        let stored = self.fun.value(value).map(|value| object(self.fun, value));
        let holds = stored.is_some_and(|object| object != slot && self.is_object(seen, object));
        seen.slots.retain(|other| *other != slot);
        if holds {
            seen.slots.push(slot);
        }
    }

    /// `if (*slot != p) free(p);`: where the two are equal, who has the other one has this one.
    fn is_held_elsewhere(&self, seen: &Seen, env: &Env, from: BlockId, to: BlockId) -> bool {
        let fun = self.fun;
        let Terminator::Branch { condition, then, otherwise } = fun.body.blocks[from].terminator
        else {
            return false;
        };
        let Some((_, inst)) = fun.inst(fun.unconverted(condition)) else { return false };
        let Op::Compare { predicate, lhs, rhs } = inst.op else { return false };
        let equal = match predicate {
            Predicate::Eq => then,
            Predicate::Ne => otherwise,
            _ => return false,
        };
        let is_object = |operand: Operand| {
            let value = fun.value(env.resolve(fun, operand));
            value.is_some_and(|value| self.is_object(seen, object(fun, value)))
        };
        let is_other =
            |operand: Operand| fun.ty(operand) == Ty::Ptr && fun.constant(operand).is_none();
        to == equal
            && then != otherwise
            && ((is_object(lhs) && is_other(rhs)) || (is_object(rhs) && is_other(lhs)))
    }

    fn call(&mut self, seen: &mut Seen, env: &Env, id: InstId, call: &program::Call) -> Flow {
        seen.is_escaped |=
            self.lock.as_deref().is_some_and(|lock| gives_back(self.fun, call, lock));
        let Some(site) = self.subjects.call_at(id) else { return Flow::On };
        let mut is_about = self.without_subject && !site.has_arguments;
        for (index, arg) in (0u32..).zip(&call.args) {
            let is_object = |arg: Operand| {
                let object = self.fun.value(arg).map(|value| object(self.fun, value));
                object.is_some_and(|object| self.is_object(seen, object))
            };
            if is_object(*arg) || is_object(env.resolve(self.fun, *arg)) {
                is_about = true;
                seen.is_escaped |= is_kept(self.fun, call, index);
            } else if let Some(value) = self.fun.value(*arg)
                && self.is_object(seen, whole(self.fun, value))
            {
                seen.is_escaped |= is_kept(self.fun, call, index);
            }
        }
        if !is_about {
            return Flow::On;
        }
        let number = self.number(&site.callee);
        if let Err(at) = seen.callees.binary_search(&number) {
            seen.callees.insert(at, number);
        }
        Flow::On
    }

    fn number(&mut self, callee: &'f str) -> u32 {
        match self.callees.iter().position(|known| *known == callee) {
            Some(number) => number as u32,
            None => {
                self.callees.push(callee);
                self.callees.len() as u32 - 1
            }
        }
    }
}

fn trace(
    fun: &Fun,
    interest: &Interest,
    subjects: &Subjects,
    exits: &Exits,
    site: &CallSite,
    subject: Subject,
    sink: &mut Sink,
) {
    let objects: SmallVec<[Value; 2]> = match subject {
        Subject::Result(value) | Subject::First(value) => SmallVec::from_slice(&[value]),
        Subject::None => SmallVec::new(),
    };
    // The names the object goes by: its own, and those of the variables it is stored to.
    let names = match subject {
        Subject::Result(value) => with_slots(fun, site.inst, value),
        _ => objects.clone(),
    };
    // Joins may lead the object to calls under another name.
    let is_about = |other: &CallSite| {
        other.inst != site.inst
            && match subject {
                Subject::None => !other.has_arguments,
                _ => other
                    .objects
                    .iter()
                    .any(|object| names.contains(object) || fun.is_join(*object)),
            }
    };
    let escapes = names.iter().any(|object| subjects.may_escape(*object));
    let has_followers =
        subjects.calls.iter().any(is_about) || (escapes && matches!(subject, Subject::Result(_)));
    // Whether there are error paths matters where nothing follows, too.
    let may_need_undoing =
        !escapes && exits.has_convention() && latent::is_first_half(shown(&site.callee));
    let lock = match &fun.body.insts[site.inst].op {
        Op::Call(call) if !matches!(subject, Subject::Result(_)) => locks::taken_by(fun, call),
        _ => None,
    };
    if lock.as_deref().is_some_and(|lock| is_released_by_others(fun, site, lock, has_followers)) {
        return;
    }
    let mut trace = Trace {
        fun,
        lock,
        subjects,
        exits,
        start: site.inst,
        objects: objects.clone(),
        without_subject: subject == Subject::None,
        callees: Vec::new(),
        dropped: Vec::new(),
        paths: Vec::new(),
    };
    let mut is_whole = true;
    let mut is_settled = false;
    if has_followers || may_need_undoing {
        let block = fun.body.insts[site.inst].block;
        let start = (block, InstId(site.inst.0 + 1));
        let mut starts = Vec::new();
        for mut env in Env::before(fun, interest, block, start.1) {
            fun.value(Operand::Inst(site.inst)).iter().for_each(|value| env.track(*value));
            for name in &names {
                env.track(*name);
                fun.values.load_of(*name).iter().for_each(|load| env.track(*load));
            }
            starts.push((env, Seen::default()));
        }
        is_whole = walk(fun, interest, start, starts, &mut trace);
        // Somebody else takes it over on every path, or no path comes back.
        let ends_life = |number: &u32| latent::is_release(shown(trace.callees[*number as usize]));
        let is_released = |path: &Path| path.seen.callees.iter().any(ends_life);
        let is_gone = |path: &Path| path.is_excused && !is_released(path);
        if has_followers && trace.paths.iter().all(is_gone) {
            return;
        }
        is_settled = matches!(subject, Subject::Result(_))
            && trace.paths.iter().all(|path| path.is_excused || is_released(path));
    } else if escapes {
        return;
    }
    let outside = objects.iter().any(|object| is_outside(fun, *object));
    let mut flags = match subject {
        Subject::Result(_) => SUBJECT_RESULT,
        Subject::None => SUBJECT_NONE,
        Subject::First(_) => 0,
    };
    flags |= if outside { OUTSIDE } else { 0 } | if is_whole { 0 } else { CAPPED };
    flags |= if is_settled { SETTLED } else { 0 };
    if site.callee.contains('@') {
        flags |= STATIC;
    }
    let is_parameter = |object: &Value| matches!(fun.values.shape_of(*object), Shape::Param(_));
    if objects.iter().any(is_parameter) {
        flags |= HANDED;
    }
    // What ends the life of an object belongs to the call that made it, not to one that used it.
    if matches!(subject, Subject::First(_))
        && objects.iter().any(|object| is_made_before(fun, subjects, site, *object))
    {
        let ends_life = |callee: &str| latent::is_release(shown(callee));
        trace.dropped = trace.callees.iter().map(|callee| ends_life(callee)).collect();
    }
    let name = names.last().map(|object| fun.name(*object)).unwrap_or_default();
    let name = name.trim_start_matches('&');
    write(&trace, Kind::Pair, &site.callee, name, flags, sink, |_| true);
    if trace.paths.iter().any(|path| path.exit == Exit::Error)
        && trace.paths.iter().any(|path| path.exit == Exit::Success)
    {
        write(&trace, Kind::Undo, &site.callee, name, flags, sink, |path| path.exit == Exit::Error);
    }
}

fn gives_back(fun: &Fun, call: &program::Call, lock: &str) -> bool {
    fun.callee(call).is_some_and(|callee| fun.known.gives_back(callee, lock))
}

/// Whether a lock that is taken here is for others to release: a caller, or a callee where nothing
/// else is done to it. A lock that is asked for each time goes by another value each time.
fn is_released_by_others(fun: &Fun, site: &CallSite, lock: &str, has_followers: bool) -> bool {
    let Op::Call(call) = &fun.body.insts[site.inst].op else { return false };
    let is_named_after_it = latent::lock_action(&fun.function.name) == Some(LockAction::Acquire);
    (is_named_after_it && !has_followers)
        || fun.known.is_given_back_after(fun.key(), lock)
        || call.args.first().is_some_and(|arg| locks::asked_for(fun, *arg).is_some())
        || (!has_followers && fun.calls().any(|(_, _, call)| gives_back(fun, call, lock)))
}

/// Whether another call of this function has made the object that this one is handed.
fn is_made_before(fun: &Fun, subjects: &Subjects, site: &CallSite, object: Value) -> bool {
    let Shape::Inst(id) = fun.values.shape_of(object) else { return false };
    let argument = |call: InstId| match &fun.body.insts[call].op {
        Op::Call(call) => call.args.first().and_then(|arg| fun.value(*arg)),
        _ => None,
    };
    match fun.body.insts[*id].op {
        Op::Call(_) => true,
        // `open(&p)` and `p = open()` make it, `use(p)` does not.
        Op::Alloca { .. } => {
            let is_stored = |user: &InstId| match fun.body.insts[*user].op {
                Op::Store { ref access, value } => {
                    access.ptr == Operand::Inst(*id)
                        && fun.inst(value).is_some_and(|(_, of)| matches!(of.op, Op::Call(_)))
                        && fun.cfg.inst_dominates(fun.body, *user, site.inst)
                }
                _ => false,
            };
            let makes = |other: &CallSite| {
                other.first == Some(object)
                    && argument(other.inst) == Some(object)
                    && fun.cfg.inst_dominates(fun.body, other.inst, site.inst)
            };
            argument(site.inst) != Some(object)
                && (subjects.calls.iter().any(makes) || fun.uses.of(*id).iter().any(is_stored))
        }
        _ => false,
    }
}

/// A result, and the local variables in memory that it is stored to.
fn with_slots(fun: &Fun, call: InstId, result: Value) -> SmallVec<[Value; 2]> {
    let mut names = SmallVec::from_slice(&[result]);
    for user in fun.uses.of(call) {
        if let Op::Store { access, value } = &fun.body.insts[*user].op
            && *value == Operand::Inst(call)
            && let Some(slot) = fun.value(access.ptr)
            && fun.is_alloca(slot)
            && !names.contains(&slot)
        {
            names.push(slot);
        }
    }
    names
}

/// Writes the site and what follows it on the paths that count.
fn write(
    trace: &Trace,
    kind: Kind,
    callee: &str,
    name: &str,
    flags: u32,
    sink: &mut Sink,
    counts: impl Fn(&Path) -> bool,
) {
    let fun = trace.fun;
    let loc = fun.body.insts[trace.start].loc;
    let site = sink.site();
    let row = Row { detail: name, flags, ..Row::new(kind, Outcome::Site, callee) };
    sink.add(fun, loc, site, row);
    for (number, follower) in (0u32..).zip(&trace.callees) {
        let is_dropped = trace.dropped.get(number as usize).copied().unwrap_or(false);
        if *follower == callee || is_dropped {
            continue;
        }
        let has = |path: &&Path| path.seen.callees.binary_search(&number).is_ok();
        // Where some answers of the call are never followed up, those are its failures.
        let mut answers: BTreeMap<Answer, bool> = BTreeMap::new();
        for path in &trace.paths {
            *answers.entry(path.seen.answer).or_default() |= has(&path);
        }
        // A negative one is, even where a clean-up that is harmless then follows.
        if answers.iter().any(|(answer, has)| *answer != Answer::Negative && *has) {
            answers.remove(&Answer::Negative);
        }
        let succeeded = |path: &&Path| answers.get(&path.seen.answer) == Some(&true);
        let paths = || trace.paths.iter().filter(succeeded).filter(|path| counts(path));
        let with = paths().filter(has).count() as u32;
        let missing = || paths().filter(|path| !has(path) && !path.is_excused);
        let without = missing().count() as u32;
        if with == 0 && kind == Kind::Pair {
            continue;
        }
        let outcome = if without == 0 { Outcome::Every } else { Outcome::Some };
        if with == 0 && without == 0 {
            continue;
        }
        let other_line = missing().map(|path| path.line).min().unwrap_or(0);
        let row = Row {
            b: follower,
            detail: name,
            flags,
            with,
            without,
            other_line,
            ..Row::new(kind, outcome, callee)
        };
        sink.add(fun, loc, site, row);
    }
}
