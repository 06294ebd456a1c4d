//! What happens to an argument after the call it was handed to: the beliefs behind "no a after
//! b". A pointer that nobody touches again may have been released.

use program::{BlockId, InstId, Op, Operand, Ty};

use super::env::Env;
use super::function::Fun;
use super::interest::Interest;
use super::nulls::dereferences;
use super::sink::{Row, Sink};
use super::values::{Shape, Value};
use super::walk::{End, Flow, Visitor, walk};
use crate::event::{CAPPED, FREES, Kind, Outcome, POINTER};
use crate::known::shown;
use crate::latent;

pub fn extract(fun: &Fun, interest: &Interest, sink: &mut Sink) {
    for (id, inst, call) in fun.calls() {
        let Some(callee) = fun.callee(call) else { continue };
        if inst.ty == Ty::Ptr || !fun.cfg.is_reachable(inst.block) {
            continue;
        }
        for (index, arg) in (0u32..).zip(&call.args) {
            let frees = fun.known.frees(callee, index)
                || facts::externals::lookup(callee)
                    .is_some_and(|e| e.frees.contains(&(index as u8)));
            if fun.ty(*arg) != Ty::Ptr || !(frees || latent::is_release(shown(callee))) {
                continue;
            }
            let Some(value) = fun.value(*arg).filter(|value| is_pointer_value(fun, *value)) else {
                continue;
            };
            argument(fun, interest, (id, callee, index), value, frees, sink);
        }
    }
}

/// Addresses of variables and members stay what they are, whatever happens to the content.
fn is_pointer_value(fun: &Fun, value: Value) -> bool {
    match fun.values.shape_of(value) {
        Shape::Address(..) | Shape::Const(_) => false,
        Shape::Inst(id) => !matches!(fun.body.insts[*id].op, Op::Alloca { .. }),
        Shape::Param(_) | Shape::Load(_) => true,
    }
}

struct Afterwards<'f, 'a> {
    fun: &'f Fun<'a>,
    call: InstId,
    value: Value,
    used: Option<InstId>,
    /// A return that hands the pointer out.
    returned: Option<BlockId>,
}

impl Visitor for Afterwards<'_, '_> {
    type State = ();

    fn inst(&mut self, (): &mut (), env: &Env, id: InstId) -> Flow {
        let (fun, inst) = (self.fun, &self.fun.body.insts[id]);
        if id == self.call || *fun.values.shape_of(self.value) == Shape::Inst(id) {
            return Flow::Stop;
        }
        if dereferences(fun, inst, self.value) {
            return self.found(id);
        }
        match &inst.op {
            Op::Call(call) => {
                let is_value = |arg: &Operand| {
                    fun.value(env.resolve(fun, *arg)) == Some(self.value)
                        || fun.value(*arg) == Some(self.value)
                };
                if call.args.iter().any(is_value) {
                    return self.found(id);
                }
                // Who gets hold of what leads to the pointer may have replaced it.
                let leads = |arg: &Operand| {
                    fun.value(*arg)
                        .is_some_and(|arg| fun.values.root(arg) == fun.values.root(self.value))
                };
                let may_change = fun.values.is_from_memory(self.value)
                    && (call.args.iter().any(leads) || fun.callee(call).is_none());
                if may_change { Flow::Stop } else { Flow::On }
            }
            Op::Store { access, .. } => {
                let ends = |to| fun.values.depends_on_load(self.value, to);
                if fun.value(access.ptr).is_some_and(ends) { Flow::Stop } else { Flow::On }
            }
            Op::MemCopy { .. } | Op::MemSet { .. } if fun.values.is_from_memory(self.value) => {
                Flow::Stop
            }
            _ => Flow::On,
        }
    }

    fn edge(&mut self, (): &mut (), env: &Env, from: BlockId, to: BlockId) -> Flow {
        // The next time round, memory is read again: another element, or the new head of a list.
        let is_new = self.fun.is_back_edge(from, to)
            && (self.fun.values.is_from_memory(self.value)
                || self.fun.is_recomputed(self.value, to));
        if is_new || env.is_doubtful() { Flow::Stop } else { Flow::On }
    }

    fn end(&mut self, (): (), _env: &Env, block: BlockId, end: End) {
        if let End::Return(Some(value)) = end
            && self.fun.value(value) == Some(self.value)
        {
            self.returned.get_or_insert(block);
        }
    }
}

impl Afterwards<'_, '_> {
    fn found(&mut self, id: InstId) -> Flow {
        let line = |id: InstId| self.fun.line(self.fun.body.insts[id].loc);
        if self.used.is_none_or(|used| line(id) < line(used)) {
            self.used = Some(id);
        }
        Flow::Stop
    }
}

fn argument(
    fun: &Fun,
    interest: &Interest,
    (id, callee, index): (InstId, &str, u32),
    value: Value,
    frees: bool,
    sink: &mut Sink,
) {
    let block = fun.body.insts[id].block;
    let mut after = Afterwards { fun, call: id, value, used: None, returned: None };
    let start = (block, InstId(id.0 + 1));
    let starts = Env::before(fun, interest, block, start.1).into_iter().map(|env| (env, ()));
    let is_whole = walk(fun, interest, start, starts.collect(), &mut after);
    let (outcome, loc) = match (after.used, after.returned) {
        (Some(used), _) => (Outcome::UsedAfter, fun.body.insts[used].loc),
        (None, Some(block)) => (Outcome::UsedAfter, fun.body.blocks[block].loc),
        (None, None) => (Outcome::Unused, fun.body.insts[id].loc),
    };
    let mut flags = POINTER;
    flags |= if frees { FREES } else { 0 } | if is_whole { 0 } else { CAPPED };
    let name = fun.name(value);
    let argument = (index + 1).to_string();
    let site = sink.site();
    let row = Row {
        b: &argument,
        detail: &name,
        flags,
        other_line: fun.line(fun.body.insts[id].loc),
        ..Row::new(Kind::After, outcome, callee)
    };
    sink.add(fun, loc, site, row);
}
