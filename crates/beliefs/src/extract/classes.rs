//! Which functions implement the same interface: those assigned to the same member of a
//! record, by initialisers and by stores.

use std::collections::BTreeSet;

use program::{CType, Const, FunctionId, Op, Operand, PathStep, Program, TypeId};

use crate::known::Keys;

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
                add(member_at(program, global.ctype, piece.offset), function);
            }
        }
    }
    for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
        for inst in &body.insts {
            let Op::Store { access, value: Operand::Const(value) } = &inst.op else { continue };
            let Const::Function(function) = program.constants[*value] else { continue };
            let Operand::Inst(address) = access.ptr else { continue };
            let Op::Address(address) = &body.insts[address].op else { continue };
            let last = address.path.iter().rev().find_map(|step| match step {
                PathStep::Field { record, member } => Some((*record, *member)),
                _ => None,
            });
            let named = last.and_then(|(record, member)| name(program, record, member));
            add(named, function);
        }
    }
    assigned
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
