//! Which functions implement the same interface: those assigned to the same member of a record
//! or the same variable, by initialisers and by stores, and those handed to the same function.

use std::collections::BTreeSet;

use program::{Body, CType, Callee, Const, FunctionId, Op, Operand, PathStep, Program, TypeId};

use crate::known::{Keys, shown};

/// `(record.member, function)` for every assignment of a unit.
pub fn assigned(program: &Program, keys: &Keys) -> BTreeSet<(Box<str>, Box<str>)> {
    let mut assigned = BTreeSet::new();
    let mut add = |member: Option<String>, function: FunctionId| {
        if let Some(member) = member {
            assigned.insert((member.into(), keys.function(function).into()));
        }
    };
    for global in &program.globals {
        for piece in global.init.iter().flatten() {
            if let Const::Function(function) = program.constants[piece.value] {
                let member = member_at(program, global.ctype, piece.offset);
                let whole = (!global.name.is_empty()).then(|| global.name.to_string());
                add(member.or(whole), function);
            }
        }
    }
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        for inst in &body.insts {
            match &inst.op {
                Op::Store { access, value } => {
                    if let Some(function) = function(program, *value) {
                        add(target(program, body, access.ptr), function);
                    }
                }
                Op::Call(call) => {
                    let Callee::Function(callee) = call.callee else { continue };
                    for (index, arg) in (1..).zip(&call.args) {
                        if let Some(function) = function(program, *arg) {
                            let callee = shown(keys.function(callee));
                            add(Some(format!("argument {index} of {callee}")), function);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assigned
}

fn function(program: &Program, operand: Operand) -> Option<FunctionId> {
    let Operand::Const(value) = operand else { return None };
    match program.constants[value] {
        Const::Function(function) => Some(function),
        _ => None,
    }
}

/// The member or variable that an address is the address of.
fn target(program: &Program, body: &Body, address: Operand) -> Option<String> {
    match address {
        Operand::Const(id) => match &program.constants[id] {
            Const::Global { global, .. } => {
                let name = &program.globals[*global].name;
                (!name.is_empty()).then(|| name.to_string())
            }
            _ => None,
        },
        Operand::Inst(address) => {
            let Op::Address(address) = &body.insts[address].op else { return None };
            let last = address.path.iter().rev().find_map(|step| match step {
                PathStep::Field { record, member } => Some((*record, *member)),
                _ => None,
            });
            last.and_then(|(record, member)| name(program, record, member))
        }
        Operand::Param(_) => None,
    }
}

/// The member of the record, nested ones included, that lies at an offset of a type.
fn member_at(program: &Program, mut ctype: TypeId, mut offset: u64) -> Option<String> {
    let mut found = None;
    for _ in 0..16 {
        match program.resolved_type(ctype) {
            CType::Array { element, .. } => {
                offset %= program.size_of(*element).filter(|size| *size > 0)?;
                ctype = *element;
            }
            CType::Record(record) => {
                let (index, member) = program.member_at(*record, offset)?;
                found = name(program, *record, index);
                offset = offset.checked_sub(member.offset_bits / 8)?;
                ctype = member.ctype;
            }
            _ => return found,
        }
    }
    found
}

fn name(program: &Program, record: program::RecordId, member: u32) -> Option<String> {
    let record = &program.records[record];
    let member = record.members.get(member as usize)?;
    (!record.name.is_empty()).then(|| format!("{}.{}", record.name, member.name))
}
