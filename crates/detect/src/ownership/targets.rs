//! Functions that calls through pointers may reach, as far as the program says so itself:
//! those it puts into the member or global that the pointer is read from.

use std::collections::{BTreeMap, BTreeSet};

use program::{
    Body, CType, Callee, Const, FunctionId, GlobalId, Op, Operand, PathStep, Program, RecordId,
    TypeId,
};
use rustc_hash::FxHashSet;

/// Where a function pointer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Member(RecordId, u32),
    Global(GlobalId, i64),
}

/// The functions kept in each place.
#[derive(Debug, Default)]
pub struct Targets {
    places: BTreeMap<Place, BTreeSet<FunctionId>>,
}

impl Targets {
    pub fn new(program: &Program) -> Self {
        let mut targets = Self::default();
        for (id, global) in program.globals.iter_enumerated() {
            for piece in global.init.iter().flatten() {
                if let Const::Function(function) = program.constants[piece.value] {
                    let offset = i64::try_from(piece.offset).unwrap_or(i64::MAX);
                    targets.add(global_place(program, id, offset), function);
                }
            }
        }
        for function in &program.functions {
            let Some(body) = &function.body else { continue };
            for inst in &body.insts {
                if let Op::Store { access, value } = &inst.op
                    && let Some(place) = place(program, body, access.ptr)
                {
                    for function in constant_functions(program, body, *value) {
                        targets.add(place, function);
                    }
                }
            }
        }
        targets
    }

    fn add(&mut self, place: Place, function: FunctionId) {
        self.places.entry(place).or_default().insert(function);
    }

    /// The functions a call may reach, ascending. There may be others, from outside.
    pub fn of_call(&self, program: &Program, body: &Body, callee: &Callee) -> Vec<FunctionId> {
        match callee {
            Callee::Function(function) => vec![*function],
            Callee::Intrinsic(_) => Vec::new(),
            Callee::Pointer(pointer) => {
                let known = constant_functions(program, body, *pointer);
                if !known.is_empty() {
                    return known;
                }
                let Operand::Inst(inst) = *pointer else { return Vec::new() };
                let Op::Load(access) = &body.insts[inst].op else { return Vec::new() };
                let place = place(program, body, access.ptr);
                let found = place.and_then(|place| self.places.get(&place));
                found.into_iter().flatten().copied().collect()
            }
        }
    }
}

/// The member or global an address leads to.
fn place(program: &Program, body: &Body, ptr: Operand) -> Option<Place> {
    match ptr {
        Operand::Const(id) => match program.constants[id] {
            Const::Global { global, offset } => Some(global_place(program, global, offset)),
            _ => None,
        },
        Operand::Inst(inst) => match &body.insts[inst].op {
            Op::Address(address) => match address.path.last()? {
                PathStep::Field { record, member } => Some(Place::Member(*record, *member)),
                _ => None,
            },
            _ => None,
        },
        Operand::Param(_) => None,
    }
}

/// A member of a global is the same place as that member of any other record of its type.
fn global_place(program: &Program, global: GlobalId, offset: i64) -> Place {
    let mut ctype: TypeId = program.globals[global].ctype;
    for _ in 0..8 {
        match &program.types[ctype] {
            CType::Typedef { target, .. } | CType::Const(target) | CType::Volatile(target) => {
                ctype = *target;
            }
            CType::Record(record) => {
                let bits = u64::try_from(offset).unwrap_or(u64::MAX).saturating_mul(8);
                let members = &program.records[*record].members;
                if let Some(member) = members.iter().position(|m| m.offset_bits == bits) {
                    return Place::Member(*record, member as u32);
                }
                break;
            }
            _ => break,
        }
    }
    Place::Global(global, offset)
}

/// The functions a value can be by what stands in the code.
fn constant_functions(program: &Program, body: &Body, value: Operand) -> Vec<FunctionId> {
    let (mut found, mut seen) = (BTreeSet::new(), FxHashSet::default());
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Operand::Const(id) => {
                if let Const::Function(function) = program.constants[id] {
                    found.insert(function);
                }
            }
            Operand::Inst(inst) if seen.insert(inst) => match &body.insts[inst].op {
                Op::Phi(operands) => waiting.extend(operands.iter().map(|(_, operand)| *operand)),
                Op::Select { then, otherwise, .. } => waiting.extend([*then, *otherwise]),
                Op::Convert(conversion) => waiting.push(conversion.value),
                _ => {}
            },
            _ => {}
        }
    }
    found.into_iter().collect()
}
