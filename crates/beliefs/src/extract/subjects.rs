//! What calls are about: the object a call acquires, uses or releases.
//!
//! `open(&f)`, `close(f)` and `s->p = make(); use(s->p)` are about one object each, however it
//! is named. An object is known by the place that holds it, or by its value.

use program::{Callee, InstId, Op, Operand, Terminator, Ty};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::function::Fun;
use super::values::{Shape, Value};
use crate::known::shown;

/// A call and the objects it is handed.
pub struct CallSite {
    pub inst: InstId,
    /// The callee's key, or the member it is called through.
    pub callee: String,
    /// Objects by argument; only pointers have one.
    pub objects: SmallVec<[Value; 4]>,
    /// The first argument, if it is a pointer to something of interest.
    pub first: Option<Value>,
    pub has_arguments: bool,
}

/// The calls of one function.
pub struct Subjects {
    pub calls: Vec<CallSite>,
    /// By instruction, a position in `calls`.
    at: Vec<u32>,
    /// Objects that others get to see: stored, returned, or kept by a callee.
    escaping: FxHashSet<Value>,
}

const NO_CALL: u32 = u32::MAX;

impl Subjects {
    pub fn new(fun: &Fun) -> Self {
        let mut calls = Vec::new();
        let mut at = vec![NO_CALL; fun.body.insts.len()];
        let mut escaping = FxHashSet::default();
        for (id, inst, call) in fun.calls() {
            if matches!(call.callee, Callee::Intrinsic(_)) || !fun.cfg.is_reachable(inst.block) {
                continue;
            }
            let Some(callee) = fun.callee_or_member(call) else { continue };
            let mut objects = SmallVec::new();
            let mut first = None;
            for (index, arg) in (0u32..).zip(&call.args) {
                if fun.ty(*arg) != Ty::Ptr {
                    continue;
                }
                let Some(value) = fun.value(*arg).filter(|value| is_object(fun, *value)) else {
                    continue;
                };
                let object = object(fun, value);
                objects.push(object);
                if index == 0 {
                    first = Some(object);
                }
                if is_kept(fun, call, index) {
                    escaping.extend([object, whole(fun, object)]);
                }
            }
            at[id.0 as usize] = calls.len() as u32;
            let has_arguments = !call.args.is_empty();
            calls.push(CallSite { inst: id, callee, objects, first, has_arguments });
        }
        for inst in &fun.body.insts {
            if let Op::Store { access, value } = &inst.op
                && let Some(stored) = escaping_store(fun, access.ptr, *value)
            {
                escaping.extend([stored, whole(fun, stored)]);
            }
        }
        for block in &fun.body.blocks {
            if let Terminator::Return(Some(value)) = block.terminator {
                let values = joined(fun, value).into_iter().filter_map(|value| fun.value(value));
                escaping.extend(values.map(|value| object(fun, value)));
            }
        }
        Self { calls, at, escaping }
    }

    pub fn call_at(&self, inst: InstId) -> Option<&CallSite> {
        let index = *self.at.get(inst.0 as usize)?;
        self.calls.get(index as usize)
    }

    pub fn may_escape(&self, object: Value) -> bool {
        self.escaping.contains(&object)
    }
}

/// What a value may stand for: itself, and what comes to its joins.
fn joined(fun: &Fun, value: Operand) -> Vec<Operand> {
    let mut all = vec![fun.unconverted(value)];
    let mut next = 0;
    while let Some(&value) = all.get(next) {
        next += 1;
        if let Some((_, inst)) = fun.inst(value)
            && let Op::Phi(edges) = &inst.op
        {
            for (_, operand) in edges {
                let operand = fun.unconverted(*operand);
                if !all.contains(&operand) {
                    all.push(operand);
                }
            }
        }
    }
    all
}

/// The object that a store shows to others, if it does.
pub fn escaping_store(fun: &Fun, to: Operand, value: Operand) -> Option<Value> {
    if fun.ty(value) != Ty::Ptr {
        return None;
    }
    let to = fun.value(to)?;
    let value = fun.value(value)?;
    // What a local variable points to is not local.
    let is_local = fun.is_alloca(fun.values.base(to));
    (!is_local && is_object(fun, value)).then(|| object(fun, value))
}

/// Whether the callee keeps this argument, as far as anybody knows.
pub fn is_kept(fun: &Fun, call: &program::Call, argument: u32) -> bool {
    match fun.callee(call) {
        Some(callee) => {
            fun.known.keeps(callee, argument) && crate::latent::takes_over(shown(callee))
        }
        None => true,
    }
}

/// Where the object is held, or the pointer itself.
pub fn object(fun: &Fun, value: Value) -> Value {
    match fun.values.shape_of(value) {
        Shape::Load(address)
            if fun.is_alloca(*address)
                || matches!(fun.values.shape_of(*address), Shape::Address(.., true)) =>
        {
            *address
        }
        _ => value,
    }
}

/// The object that an address lies in, if it is that of a member.
pub fn whole(fun: &Fun, value: Value) -> Value {
    match fun.values.shape_of(value) {
        Shape::Address(base, .., true) => object(fun, *base),
        _ => value,
    }
}

/// Constants are nobody's resource, except for the addresses of global objects.
fn is_object(fun: &Fun, value: Value) -> bool {
    match fun.values.shape_of(value) {
        Shape::Const(id) if *id == u32::MAX => false,
        Shape::Const(id) => match fun.program.constants[program::ConstId(*id)] {
            program::Const::Global { global, .. } => {
                let global = &fun.program.globals[global];
                !global.is_string_literal && !global.is_constant
            }
            _ => false,
        },
        _ => true,
    }
}

/// Whether the object is the caller's, or shared: not this function's alone.
pub fn is_outside(fun: &Fun, object: Value) -> bool {
    match fun.values.shape_of(fun.values.root(object)) {
        Shape::Param(_) | Shape::Const(_) => true,
        Shape::Inst(id) => {
            !matches!(fun.body.insts[*id].op, Op::Alloca { .. } | Op::Call(_) | Op::Phi(_))
        }
        Shape::Load(_) | Shape::Address(..) => true,
    }
}
