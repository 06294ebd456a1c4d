//! Functions of the program that allocate or release memory for their callers.
//!
//! Real programs seldom call `malloc` themselves: they have wrappers that count or report,
//! pointers to functions that a user may replace, constructors and destructors. What such a
//! function is for shows in its shape: everything it returns is null or a new object that it
//! keeps nowhere, or it releases what it is given on every way through. A call of it is then
//! answered as a call of the library function would be.

pub mod handed;
pub mod targets;

mod uses;

use std::collections::BTreeMap;

use facts::cfg::Cfg;
use program::{
    BlockId, Body, Call, Callee, Const, FunctionId, InstId, Op, Operand, Predicate, Program,
    Terminator, Ty,
};
use rustc_hash::FxHashSet;
use spec::lower::Argument;

use handed::Handed;
use targets::Targets;

/// How many bytes an allocation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// As many as this argument says.
    Argument(usize),
    Bytes(i128),
}

/// What a new object holds when the caller gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Unset,
    Zero,
    /// Something: the function wrote to it.
    Set,
}

/// What a function does for its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Allocates { size: Option<Amount>, contents: Contents, may_fail: bool },
    Reallocates { pointer: usize, size: usize },
    Releases { pointer: usize },
}

/// A library function, or a name of `models/ownership.model`, and what it is called with.
pub struct Stand {
    pub name: &'static str,
    pub args: Vec<Argument>,
}

pub struct Ownership {
    pub targets: Targets,
    pub handed: Handed,
    roles: BTreeMap<FunctionId, Role>,
}

/// Wrappers around wrappers that are looked through.
const MAX_PASSES: usize = 6;

impl Ownership {
    pub fn new<'c>(program: &Program, cfg: &dyn Fn(FunctionId) -> Option<&'c Cfg>) -> Self {
        let targets = Targets::new(program);
        let handed = Handed::new(program, &targets);
        let mut ownership = Self { targets, handed, roles: BTreeMap::new() };
        for (id, function) in program.functions.iter_enumerated() {
            if let (None, Some(role)) = (&function.body, library_role(&function.name)) {
                ownership.roles.insert(id, role);
            }
        }
        for _ in 0..MAX_PASSES {
            let mut found = Vec::new();
            for (id, function) in program.functions.iter_enumerated() {
                if let (Some(body), Some(cfg), false) =
                    (&function.body, cfg(id), ownership.roles.contains_key(&id))
                {
                    let shape = Shape { program, ownership: &ownership, id, body, cfg };
                    found.extend(shape.role().map(|role| (id, role)));
                }
            }
            if found.is_empty() {
                break;
            }
            ownership.roles.extend(found);
        }
        ownership
    }

    pub fn role(&self, function: FunctionId) -> Option<Role> {
        self.roles.get(&function).copied()
    }

    /// What a call does, where that is not what a model of the callee says anyway.
    pub fn role_of_call(&self, program: &Program, body: &Body, call: &Call) -> Option<Role> {
        let found = self.targets.of_call(program, body, &call.callee);
        if let [only] = found.as_slice()
            && matches!(call.callee, Callee::Function(_))
        {
            let has_body = program.functions[*only].body.is_some();
            return self.roles.get(only).copied().filter(|_| has_body);
        }
        found.iter().find_map(|function| self.roles.get(function).copied())
    }

    /// The call that a call of an inferred role is answered as.
    pub fn stand_in(&self, program: &Program, body: &Body, call: &Call) -> Option<Stand> {
        let argument = |index: usize| call.args.get(index).map(|arg| Argument::Operand(*arg));
        let role = self.role_of_call(program, body, call)?;
        match role {
            Role::Releases { pointer } => {
                Some(Stand { name: "free", args: vec![argument(pointer)?] })
            }
            Role::Reallocates { pointer, size } => {
                let args = vec![argument(pointer)?, argument(size)?];
                Some(Stand { name: "realloc", args })
            }
            Role::Allocates { size, contents, may_fail } => {
                let size = match size {
                    Some(Amount::Argument(index)) => Some(argument(index)?),
                    Some(Amount::Bytes(bytes)) => Some(Argument::Number(bytes)),
                    None => None,
                };
                let name = match (contents, size.is_some(), may_fail) {
                    (Contents::Unset, true, true) => "malloc",
                    (Contents::Zero, true, true) => "__zeroed_object",
                    (Contents::Set, true, true) => "__filled_object",
                    (_, false, true) => "__some_object",
                    (Contents::Unset, true, false) => "__sure_object",
                    (Contents::Zero, true, false) => "__sure_zeroed_object",
                    (Contents::Set, true, false) => "__sure_filled_object",
                    (_, false, false) => "__some_sure_object",
                };
                Some(Stand { name, args: size.into_iter().collect() })
            }
        }
    }
}

fn library_role(name: &str) -> Option<Role> {
    let allocates = |size, contents| Role::Allocates { size, contents, may_fail: true };
    Some(match name {
        "malloc" => allocates(Some(Amount::Argument(0)), Contents::Unset),
        "calloc" => allocates(None, Contents::Zero),
        "strdup" | "strndup" => allocates(None, Contents::Set),
        "realloc" => Role::Reallocates { pointer: 0, size: 1 },
        "free" => Role::Releases { pointer: 0 },
        _ => return None,
    })
}

/// One function, looked at for its role.
struct Shape<'a> {
    program: &'a Program,
    ownership: &'a Ownership,
    id: FunctionId,
    body: &'a Body,
    cfg: &'a Cfg,
}

impl Shape<'_> {
    fn role(&self) -> Option<Role> {
        let function = &self.program.functions[self.id];
        if function.is_variadic {
            return None;
        }
        if function.result == Ty::Ptr {
            return self.allocates();
        }
        let pointers = function.params.iter().enumerate().filter(|(_, p)| p.ty == Ty::Ptr);
        let mut released = pointers.map(|(i, _)| i).filter(|i| self.releases(*i));
        let first = released.next()?;
        released.next().is_none().then_some(Role::Releases { pointer: first })
    }

    /// Everything the function returns is null or new.
    fn allocates(&self) -> Option<Role> {
        let (calls, returns_null) = self.returned()?;
        let mut joined: Option<Role> = None;
        for id in calls {
            let Op::Call(call) = &self.body.insts[id].op else { return None };
            let role = match self.ownership_of(call) {
                Some(role) => self.seen_from_outside(id, call, role)?,
                // A user's replacement for what the function does itself.
                None if matches!(call.callee, Callee::Pointer(_)) => continue,
                None => return None,
            };
            joined = Some(match joined {
                Some(known) => join(known, role)?,
                None => role,
            });
        }
        match joined? {
            Role::Allocates { size, contents, may_fail } => {
                Some(Role::Allocates { size, contents, may_fail: may_fail || returns_null })
            }
            role => Some(role),
        }
    }

    fn ownership_of(&self, call: &Call) -> Option<Role> {
        let found = self.ownership.targets.of_call(self.program, self.body, &call.callee);
        found.iter().find_map(|function| self.ownership.roles.get(function).copied())
    }

    /// The calls whose results the function returns, and whether it returns null as well;
    /// `None` where it returns anything else.
    fn returned(&self) -> Option<(Vec<InstId>, bool)> {
        let (mut calls, mut returns_null) = (Vec::new(), false);
        let mut seen = FxHashSet::default();
        let mut waiting: Vec<Operand> = Vec::new();
        for block in &self.body.blocks {
            if let Terminator::Return(Some(value)) = block.terminator {
                waiting.push(value);
            }
        }
        while let Some(value) = waiting.pop() {
            match value {
                Operand::Const(id) => match self.program.constants[id] {
                    Const::Null | Const::Zero(_) => returns_null = true,
                    _ => return None,
                },
                Operand::Param(_) => return None,
                Operand::Inst(inst) if seen.insert(inst) => match &self.body.insts[inst].op {
                    Op::Phi(operands) => waiting.extend(operands.iter().map(|(_, o)| *o)),
                    Op::Select { then, otherwise, .. } => waiting.extend([*then, *otherwise]),
                    Op::Convert(conversion) => waiting.push(conversion.value),
                    Op::Call(_) => calls.push(inst),
                    _ => return None,
                },
                Operand::Inst(_) => {}
            }
        }
        calls.sort_unstable();
        Some((calls, returns_null))
    }

    /// What a call inside means to callers of this function, whose arguments they know.
    fn seen_from_outside(&self, id: InstId, call: &Call, role: Role) -> Option<Role> {
        let parameter = |index: usize| match self.unconverted(*call.args.get(index)?) {
            Operand::Param(param) => Some(param as usize),
            _ => None,
        };
        match role {
            Role::Releases { .. } => None,
            Role::Reallocates { pointer, size } => match self.unconverted(*call.args.get(pointer)?)
            {
                Operand::Param(param) => {
                    Some(Role::Reallocates { pointer: param as usize, size: parameter(size)? })
                }
                _ => None,
            },
            Role::Allocates { size, contents, may_fail } => {
                let size = match size {
                    Some(Amount::Argument(index)) => self.amount(*call.args.get(index)?),
                    other => other,
                };
                let contents = self.contents(id, contents)?;
                let may_fail = may_fail && self.null_gets_out(id);
                Some(Role::Allocates { size, contents, may_fail })
            }
        }
    }

    fn amount(&self, operand: Operand) -> Option<Amount> {
        match self.unconverted(operand) {
            Operand::Param(param) => Some(Amount::Argument(param as usize)),
            Operand::Const(id) => match self.program.constants[id] {
                Const::Int { value, .. } => Some(Amount::Bytes(value)),
                _ => None,
            },
            Operand::Inst(_) => None,
        }
    }

    fn unconverted(&self, mut operand: Operand) -> Operand {
        while let Operand::Inst(inst) = operand
            && let Op::Convert(conversion) = &self.body.insts[inst].op
        {
            operand = conversion.value;
        }
        operand
    }

    /// Whether the function goes on to return where this pointer is null.
    fn null_gets_out(&self, pointer: InstId) -> bool {
        for (id, _) in self.body.blocks.iter_enumerated() {
            let Some((tested, null, _)) = self.null_test(id) else { continue };
            if self.unconverted(tested) == Operand::Inst(pointer) {
                return self.returns_from(null, &FxHashSet::default(), None);
            }
        }
        true
    }

    /// A branch on whether a pointer is null: the pointer, and where it goes if so and if not.
    fn null_test(&self, block: BlockId) -> Option<(Operand, BlockId, BlockId)> {
        let Terminator::Branch { condition: Operand::Inst(condition), then, otherwise } =
            self.body.blocks[block].terminator
        else {
            return None;
        };
        let Op::Compare { predicate, lhs, rhs } = &self.body.insts[condition].op else {
            return None;
        };
        let is_null = |operand: Operand| match operand {
            Operand::Const(id) => {
                matches!(self.program.constants[id], Const::Null | Const::Zero(Ty::Ptr))
            }
            _ => false,
        };
        if !is_null(*rhs) {
            return None;
        }
        match predicate {
            Predicate::Eq => Some((*lhs, then, otherwise)),
            Predicate::Ne => Some((*lhs, otherwise, then)),
            _ => None,
        }
    }

    /// Whether a way from `start` to a return avoids some blocks, and the edges on which
    /// the parameter is null.
    fn returns_from(
        &self,
        start: BlockId,
        avoiding: &FxHashSet<BlockId>,
        not_null: Option<u32>,
    ) -> bool {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![start];
        while let Some(block) = waiting.pop() {
            if avoiding.contains(&block) || !seen.insert(block) {
                continue;
            }
            if matches!(self.body.blocks[block].terminator, Terminator::Return(_)) {
                return true;
            }
            let null_edge = match (not_null, self.null_test(block)) {
                (Some(param), Some((tested, null, other)))
                    if self.unconverted(tested) == Operand::Param(param) && null != other =>
                {
                    Some(null)
                }
                _ => None,
            };
            let next = self.cfg.successors(block).iter();
            waiting.extend(next.filter(|next| Some(**next) != null_edge));
        }
        false
    }

    /// Whether every way through releases the parameter, unless it is null.
    fn releases(&self, index: usize) -> bool {
        let param = Operand::Param(index as u32);
        let (mut blocks, mut does) = (FxHashSet::default(), false);
        for inst in &self.body.insts {
            let Op::Call(call) = &inst.op else { continue };
            let is_param = |arg: &Operand| self.unconverted(*arg) == param;
            let releases = match self.ownership_of(call) {
                Some(Role::Releases { pointer }) => call.args.get(pointer).is_some_and(is_param),
                _ => false,
            };
            // A user's replacement for what the function does itself.
            let replaces = matches!(call.callee, Callee::Pointer(_))
                && self.ownership_of(call).is_none()
                && call.args.iter().any(is_param);
            does |= releases;
            if releases || replaces {
                blocks.insert(inst.block);
            }
        }
        does && !self.returns_from(Body::ENTRY, &blocks, Some(index as u32))
    }
}

fn join(a: Role, b: Role) -> Option<Role> {
    match (a, b) {
        (
            Role::Allocates { size, contents, may_fail },
            Role::Allocates { size: other_size, contents: other, may_fail: other_fails },
        ) => Some(Role::Allocates {
            size: if size == other_size { size } else { None },
            contents: if contents == other { contents } else { Contents::Set },
            may_fail: may_fail || other_fails,
        }),
        // A null pointer to reallocate is one to allocate.
        (Role::Reallocates { .. }, Role::Allocates { .. }) => Some(a),
        (Role::Allocates { .. }, Role::Reallocates { .. }) => Some(b),
        _ => (a == b).then_some(a),
    }
}
