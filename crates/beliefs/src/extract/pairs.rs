//! What follows a call on the same object: the beliefs behind "b must follow a".
//!
//! Traces start where an object comes from a call, is handed to one, or where a call has no
//! arguments at all. Paths on which the call failed, the object is null or somebody else takes
//! it over have no say.

use std::collections::BTreeMap;

use program::{BlockId, InstId, Op, Operand, Predicate, Terminator, Ty};
use smallvec::SmallVec;

use super::exits::{Exit, Exits};
use super::function::Fun;
use super::sink::{Row, Sink};
use super::subjects::{CallSite, Subjects, escaping_store, is_kept, is_outside, object};
use super::values::{Shape, Value};
use super::walk::{End, Env, Flow, Interest, Visitor, walk};
use crate::event::{CAPPED, HANDED, Kind, OUTSIDE, Outcome, STATIC, SUBJECT_NONE, SUBJECT_RESULT};
use crate::known::shown;
use crate::latent;

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
}

/// One path, or all that look the same.
struct Path {
    seen: Seen,
    exit: Exit,
    /// What the path knows of the call's own result.
    answer: Answer,
    line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Unknown,
    Zero,
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
                let shown = escaping_store(self.fun, access.ptr, env.resolve(self.fun, *value));
                if shown.is_some_and(|object| self.objects.contains(&object)) {
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
        seen.is_escaped |= self.is_held_elsewhere(env, from, to);
        // There is nothing to release where there is nothing.
        let is_null = |object: &Value| {
            env.fact(*object).is_zero()
                || self.fun.values.load_of(*object).is_some_and(|load| env.fact(load).is_zero())
        };
        if self.objects.iter().any(is_null) { Flow::Stop } else { Flow::On }
    }

    fn end(&mut self, mut seen: Seen, env: &Env, block: BlockId, end: End) {
        let End::Return(value) = end else { return };
        if let Some(value) = value
            && let Some(value) = self.fun.value(value)
            && self.objects.contains(&object(self.fun, value))
        {
            seen.is_escaped = true;
        }
        let answer = match self.fun.value(Operand::Inst(self.start)).map(|value| env.fact(value)) {
            Some(fact) if fact.is_zero() => Answer::Zero,
            Some(fact) if fact.is_not_zero() => Answer::NotZero,
            _ => Answer::Unknown,
        };
        let exit = self.exits.classify(self.fun, env, value);
        let line = self.exits.line(self.fun, env, block);
        self.paths.push(Path { seen, exit, answer, line });
    }
}

impl<'f> Trace<'f, '_> {
    /// `if (*slot != p) free(p);`: where the two are equal, who has the other one has this one.
    fn is_held_elsewhere(&self, env: &Env, from: BlockId, to: BlockId) -> bool {
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
            value.is_some_and(|value| self.objects.contains(&object(fun, value)))
        };
        let is_other =
            |operand: Operand| fun.ty(operand) == Ty::Ptr && fun.constant(operand).is_none();
        to == equal
            && then != otherwise
            && ((is_object(lhs) && is_other(rhs)) || (is_object(rhs) && is_other(lhs)))
    }

    fn call(&mut self, seen: &mut Seen, env: &Env, id: InstId, call: &program::Call) -> Flow {
        let Some(site) = self.subjects.call_at(id) else { return Flow::On };
        let mut is_about = self.without_subject && !site.has_arguments;
        for (index, arg) in (0u32..).zip(&call.args) {
            let is_object = |arg: Operand| {
                let object = self.fun.value(arg).map(|value| object(self.fun, value));
                object.is_some_and(|object| self.objects.contains(&object))
            };
            if is_object(*arg) || is_object(env.resolve(self.fun, *arg)) {
                is_about = true;
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
    // Joins may lead the object to calls under another name.
    let is_about = |other: &CallSite| {
        other.inst != site.inst
            && match subject {
                Subject::None => !other.has_arguments,
                _ => other
                    .objects
                    .iter()
                    .any(|object| objects.contains(object) || fun.is_join(*object)),
            }
    };
    let escapes = objects.iter().any(|object| subjects.may_escape(*object));
    let has_followers =
        subjects.calls.iter().any(is_about) || (escapes && matches!(subject, Subject::Result(_)));
    // Whether there are error paths matters where nothing follows, too.
    let may_need_undoing =
        !escapes && exits.has_convention() && latent::is_first_half(shown(&site.callee));
    let mut trace = Trace {
        fun,
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
    if has_followers || may_need_undoing {
        let block = fun.body.insts[site.inst].block;
        let mut env = Env::before(fun, interest, block);
        fun.value(Operand::Inst(site.inst)).iter().for_each(|value| env.track(*value));
        for object in &objects {
            env.track(*object);
            fun.values.load_of(*object).iter().for_each(|load| env.track(*load));
        }
        let start = (block, InstId(site.inst.0 + 1));
        is_whole = walk(fun, interest, start, env, Seen::default(), &mut trace);
        // Somebody else takes it over on every path, or no path comes back.
        let ends_life = |number: &u32| latent::is_release(shown(trace.callees[*number as usize]));
        let is_gone =
            |path: &Path| path.seen.is_escaped && !path.seen.callees.iter().any(ends_life);
        if has_followers && trace.paths.iter().all(is_gone) {
            return;
        }
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
    if site.callee.contains('@') {
        flags |= STATIC;
    }
    let is_parameter = |object: &Value| matches!(fun.values.shape_of(*object), Shape::Param(_));
    if objects.iter().any(is_parameter) {
        flags |= HANDED;
    }
    // What ends the life of an object belongs to the call that made it, not to one that used it.
    let is_made_here = |object: &Value| match fun.values.shape_of(*object) {
        Shape::Inst(id) => matches!(fun.body.insts[*id].op, Op::Call(_)),
        _ => false,
    };
    if matches!(subject, Subject::First(_)) && objects.iter().any(is_made_here) {
        let ends_life = |callee: &str| latent::is_release(shown(callee));
        trace.dropped = trace.callees.iter().map(|callee| ends_life(callee)).collect();
    }
    let name = objects.first().map(|object| fun.name(*object)).unwrap_or_default();
    let name = name.trim_start_matches('&');
    write(&trace, Kind::Pair, &site.callee, name, flags, sink, |_| true);
    if trace.paths.iter().any(|path| path.exit == Exit::Error)
        && trace.paths.iter().any(|path| path.exit == Exit::Success)
    {
        write(&trace, Kind::Undo, &site.callee, name, flags, sink, |path| path.exit == Exit::Error);
    }
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
            *answers.entry(path.answer).or_default() |= has(&path);
        }
        let succeeded = |path: &&Path| answers.get(&path.answer) == Some(&true);
        let paths = || trace.paths.iter().filter(succeeded).filter(|path| counts(path));
        let with = paths().filter(has).count() as u32;
        let missing = || paths().filter(|path| !has(path) && !path.seen.is_escaped);
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
