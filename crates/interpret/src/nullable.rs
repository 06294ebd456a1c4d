//! Which pointer parameters may be null, as far as the program itself says so.
//!
//! A function that compares a parameter with null expects it to be null at times, and so does one
//! that passes it on to such a function. Of other parameters nothing says that anybody calls with
//! null, so that what would follow from it is no finding.

use std::collections::BTreeSet;

use program::{Body, Callee, Const, Function, InstId, Op, Operand, Predicate, Program};

/// Calls that a parameter is followed through.
const MAX_CALLS: u32 = 4;

/// The parameters that are compared with null.
pub(crate) fn nullable(program: &Program, function: &Function) -> BTreeSet<u32> {
    let pointers = (0..).zip(&function.params).filter(|(_, param)| param.ty == program::Ty::Ptr);
    let tested = pointers.filter(|(index, _)| is_tested(program, function, *index, MAX_CALLS));
    tested.map(|(index, _)| index).collect()
}

fn is_tested(program: &Program, function: &Function, param: u32, calls_left: u32) -> bool {
    let Some(body) = &function.body else { return false };
    let same = same_as(body, param);
    let is_it = |operand: &Operand| match operand {
        Operand::Param(index) => *index == param,
        Operand::Inst(inst) => same.contains(inst),
        Operand::Const(_) => false,
    };
    let is_null = |operand: &Operand| match operand {
        Operand::Const(id) => {
            matches!(program.constants[*id], Const::Null | Const::Int { value: 0, .. })
        }
        _ => false,
    };
    body.insts.iter().any(|inst| match &inst.op {
        Op::Compare { predicate: Predicate::Eq | Predicate::Ne, lhs, rhs } => {
            is_it(lhs) && is_null(rhs) || is_null(lhs) && is_it(rhs)
        }
        Op::Call(call) if calls_left > 0 => {
            let Callee::Function(callee) = &call.callee else { return false };
            let Some(callee) = program.functions.get(*callee) else { return false };
            let passed = (0..).zip(&call.args).filter(|(_, argument)| is_it(argument));
            passed.into_iter().any(|(index, _)| is_tested(program, callee, index, calls_left - 1))
        }
        _ => false,
    })
}

/// The joins that a parameter goes into, as a loop over a list has one for what it looks at.
fn same_as(body: &Body, param: u32) -> BTreeSet<InstId> {
    let mut same = BTreeSet::new();
    loop {
        let before = same.len();
        for (id, inst) in body.insts.iter_enumerated() {
            let Op::Phi(edges) = &inst.op else { continue };
            let is_it = |operand: &Operand| match operand {
                Operand::Param(index) => *index == param,
                Operand::Inst(inst) => same.contains(inst),
                Operand::Const(_) => false,
            };
            if edges.iter().any(|(_, operand)| is_it(operand)) {
                same.insert(id);
            }
        }
        if same.len() == before {
            return same;
        }
    }
}
