//! Memory that functions of an interface are handed: what it may hold when one of them, or
//! a function they lead to, is called.
//!
//! Such memory is neither known nor arbitrary. A record that the program fills itself holds
//! what its own stores can put there over any number of calls: one of a few constants, a
//! count that grew, a length, a byte of input. [`reach`] says which values those are, and
//! says nothing where it cannot tell. A record that the program only reads was filled
//! outside, with anything.

pub mod changes;
pub mod reach;

use std::collections::{BTreeMap, BTreeSet};

use program::{CType, Function, FunctionId, Op, Operand, Predicate, Program, RecordId, TypeId};

use crate::code::Code;
use crate::entry::Inputs;
use changes::Changes;
pub use facts::members::{Member, Members};
pub use reach::Reach;

/// The records that interface functions are handed, and what their members may hold.
#[derive(Debug, Default)]
pub struct Outside {
    records: BTreeSet<RecordId>,
    reach: BTreeMap<Member, Reach>,
    /// Functions that compare a member with something.
    tested_by: BTreeMap<Member, BTreeSet<FunctionId>>,
    /// Who calls a function, by name or through a member it is stored in.
    called_by: BTreeMap<FunctionId, BTreeSet<FunctionId>>,
    changes: Changes,
}

impl Outside {
    /// `inputs` are the parameters that come from outside, by function.
    pub fn new(code: &Code, inputs: &Inputs) -> Self {
        let program = code.program;
        let mut outside = Self::default();
        for (function, inputs) in inputs {
            let info = &program.functions[*function];
            for (index, param) in info.params.iter().enumerate() {
                let position = c_position(info, index);
                if inputs.iter().any(|input| input.position == position) {
                    outside.add_records(program, param.ctype);
                }
            }
        }
        for record in &outside.records {
            for index in 0..program.records[*record].members.len() as u32 {
                let member = (*record, index);
                if let Some(reach) = reach::of_member(code, inputs, member) {
                    outside.reach.insert(member, reach);
                }
            }
        }
        outside.find_tests(program);
        outside.find_calls(code);
        outside.changes = Changes::new(program, code.members(), &outside.records);
        outside
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub fn holds(&self, record: RecordId) -> bool {
        self.records.contains(&record)
    }

    /// What a member may hold; `None` where nobody can say.
    pub fn reach(&self, member: Member) -> Option<&Reach> {
        self.reach.get(&member)
    }

    /// The members that a call of one of these functions may change; `None` where that is not
    /// known.
    pub fn changed_by(&self, callees: &[FunctionId]) -> Option<BTreeSet<Member>> {
        let mut all = BTreeSet::new();
        for callee in callees {
            all.extend(self.changes.of_function(*callee)?.iter().copied());
        }
        (!callees.is_empty()).then_some(all)
    }

    /// Members about which a search from `root` cannot speak: a function that leads to it
    /// tests them, and may call only for some of their values.
    pub fn doubtful(&self, root: FunctionId) -> BTreeSet<Member> {
        if self.is_empty() {
            return BTreeSet::new();
        }
        let mut above = BTreeSet::new();
        let mut waiting = vec![root];
        while let Some(function) = waiting.pop() {
            for caller in self.called_by.get(&function).into_iter().flatten() {
                if above.insert(*caller) {
                    waiting.push(*caller);
                }
            }
        }
        above.remove(&root);
        let is_tested = |(_, by): &(&Member, &BTreeSet<FunctionId>)| !by.is_disjoint(&above);
        self.tested_by.iter().filter(is_tested).map(|(member, _)| *member).collect()
    }

    /// The record behind a pointer, and all that it leads to.
    fn add_records(&mut self, program: &Program, ctype: TypeId) {
        let mut waiting = vec![ctype];
        let mut seen = BTreeSet::new();
        while let Some(ctype) = waiting.pop() {
            if !seen.insert(ctype) {
                continue;
            }
            match &program.types[ctype] {
                CType::Pointer(target)
                | CType::Typedef { target, .. }
                | CType::Const(target)
                | CType::Volatile(target)
                | CType::Restrict(target)
                | CType::Atomic(target)
                | CType::Array { element: target, .. } => waiting.push(*target),
                CType::Record(record) => {
                    self.records.insert(*record);
                    waiting.extend(program.records[*record].members.iter().map(|m| m.ctype));
                }
                _ => {}
            }
        }
    }

    fn find_calls(&mut self, code: &Code) {
        for (caller, function) in code.program.functions.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            for inst in &body.insts {
                let Op::Call(call) = &inst.op else { continue };
                for callee in code.members().callees(body, &call.callee) {
                    self.called_by.entry(*callee).or_default().insert(caller);
                }
            }
        }
    }

    fn find_tests(&mut self, program: &Program) {
        for (id, function) in program.functions.iter_enumerated() {
            let Some(body) = &function.body else { continue };
            // That two values differ from each other bounds neither.
            let bounds = |predicate: &Predicate, lhs: &Operand, rhs: &Operand| {
                !matches!(predicate, Predicate::Eq | Predicate::Ne)
                    || [lhs, rhs].into_iter().any(|side| matches!(side, Operand::Const(_)))
            };
            let compared = body.insts.iter().filter_map(|inst| match &inst.op {
                Op::Compare { predicate, lhs, rhs } if bounds(predicate, lhs, rhs) => {
                    Some([*lhs, *rhs])
                }
                _ => None,
            });
            let switched = body.blocks.iter().filter_map(|block| block.terminator.operand());
            for operand in compared.flatten().chain(switched) {
                if let Some(member) = reach::loaded_member(body, operand)
                    && self.records.contains(&member.0)
                {
                    self.tested_by.entry(member).or_default().insert(id);
                }
            }
        }
    }
}

/// What one search knows of memory from outside.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub outside: std::sync::Arc<Outside>,
    pub doubtful: BTreeSet<Member>,
}

impl View {
    /// Whether a pointer type leads to a record that functions of the interface are handed.
    pub fn leads(&self, program: &Program, ctype: TypeId) -> bool {
        self.record_behind(program, ctype).is_some()
    }

    /// The record of that kind behind a pointer type.
    pub fn record_behind(&self, program: &Program, ctype: TypeId) -> Option<RecordId> {
        let target = match &program.types[ctype] {
            CType::Pointer(target) => *target,
            CType::Typedef { target, .. } | CType::Const(target) | CType::Restrict(target) => {
                return self.record_behind(program, *target);
            }
            _ => return None,
        };
        facts::members::record_of(program, target).filter(|record| self.outside.holds(*record))
    }

    /// What a member may hold as far as this search can speak of it.
    pub fn reach(&self, member: Member) -> Option<&Reach> {
        if self.doubtful.contains(&member) { None } else { self.outside.reach(member) }
    }
}

/// The position among the C function's parameters of a machine-level one.
pub fn c_position(function: &Function, index: usize) -> usize {
    let variable = function.params.get(index).and_then(|param| param.variable);
    let position = variable
        .zip(function.body.as_ref())
        .and_then(|(variable, body)| body.variables[variable].parameter);
    position.map_or(index, |position| position as usize)
}

/// Bytes of what a pointer type leads to; 1 where that is not known.
pub fn pointee_size(program: &Program, pointer: TypeId) -> u64 {
    match &program.types[pointer] {
        CType::Pointer(target) => size_of(program, *target).unwrap_or(1),
        CType::Typedef { target, .. } | CType::Const(target) | CType::Restrict(target) => {
            pointee_size(program, *target)
        }
        _ => 1,
    }
}

fn size_of(program: &Program, ctype: TypeId) -> Option<u64> {
    match &program.types[ctype] {
        CType::Int { bits, .. } | CType::Float { bits, .. } | CType::Enum { bits, .. } => {
            Some(u64::from(*bits) / 8)
        }
        CType::Pointer(_) => Some(8),
        CType::Record(record) => Some(program.records[*record].size).filter(|size| *size > 0),
        CType::Typedef { target, .. } | CType::Const(target) | CType::Volatile(target) => {
            size_of(program, *target)
        }
        _ => None,
    }
}
