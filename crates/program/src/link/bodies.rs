//! Rewriting what a unit defines with the ids of the linked program.

use super::UnitMap;
use crate::{
    Access, Body, Callee, Function, Global, Inst, Op, Operand, PathStep, Record, Terminator, UnitId,
};

pub fn record(record: &Record, map: &UnitMap) -> Record {
    let mut record = record.clone();
    record.loc = map.locs[record.loc];
    for member in &mut record.members {
        member.ctype = map.types[member.ctype];
    }
    record
}

pub fn global(mut global: Global, map: &UnitMap) -> Global {
    global.unit = UnitId(global.unit.0 + map.unit);
    global.ctype = map.types[global.ctype];
    global.loc = map.locs[global.loc];
    for piece in global.init.iter_mut().flatten() {
        piece.value = map.constants[piece.value];
    }
    global
}

pub fn function(mut function: Function, map: &UnitMap) -> Function {
    function.unit = UnitId(function.unit.0 + map.unit);
    function.ctype = map.types[function.ctype];
    function.loc = map.locs[function.loc];
    for param in &mut function.params {
        param.ctype = map.types[param.ctype];
    }
    if let Some(body) = &mut function.body {
        rewrite_body(body, map);
    }
    function
}

fn rewrite_body(body: &mut Body, map: &UnitMap) {
    for variable in body.variables.iter_mut() {
        variable.ctype = map.types[variable.ctype];
        variable.loc = map.locs[variable.loc];
    }
    for block in body.blocks.iter_mut() {
        block.loc = map.locs[block.loc];
        match &mut block.terminator {
            Terminator::Branch { condition: operand, .. }
            | Terminator::Indirect { address: operand, .. }
            | Terminator::Return(Some(operand)) => rewrite_operand(operand, map),
            Terminator::Switch { value, cases, .. } => {
                rewrite_operand(value, map);
                cases.iter_mut().for_each(|(case, _)| *case = map.constants[*case]);
            }
            Terminator::Jump(_) | Terminator::Return(None) | Terminator::Unreachable => {}
        }
    }
    for inst in body.insts.iter_mut() {
        rewrite_inst(inst, map);
    }
}

fn rewrite_operand(operand: &mut Operand, map: &UnitMap) {
    if let Operand::Const(id) = operand {
        *id = map.constants[*id];
    }
}

fn rewrite_inst(inst: &mut Inst, map: &UnitMap) {
    inst.ctype = map.types[inst.ctype];
    inst.loc = map.locs[inst.loc];
    inst.op.for_each_operand_mut(|operand| rewrite_operand(operand, map));
    match &mut inst.op {
        Op::Load(access)
        | Op::Store { access, .. }
        | Op::AtomicUpdate { access, .. }
        | Op::CompareExchange { access, .. } => rewrite_access(access, map),
        Op::Address(address) => rewrite_path(&mut address.path, map),
        Op::Convert(conversion) => {
            conversion.from = map.types[conversion.from];
            conversion.to = map.types[conversion.to];
        }
        Op::Call(call) => {
            call.ctype = map.types[call.ctype];
            call.arg_ctypes.iter_mut().for_each(|ctype| *ctype = map.types[*ctype]);
            if let Callee::Function(function) = &mut call.callee {
                *function = map.functions[*function];
            }
        }
        _ => {}
    }
}

fn rewrite_access(access: &mut Access, map: &UnitMap) {
    access.ctype = map.types[access.ctype];
    rewrite_path(&mut access.path, map);
}

fn rewrite_path(path: &mut [PathStep], map: &UnitMap) {
    for step in path {
        match step {
            PathStep::Field { record, .. } | PathStep::UnionMembers { record, .. } => {
                *record = map.records[*record];
            }
            PathStep::Index { .. } => {}
        }
    }
}
