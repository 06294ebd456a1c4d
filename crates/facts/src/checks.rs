//! What C demands of a function's instructions, as far as abstract interpretation can prove it:
//! indices, null pointers, divisors, signed arithmetic and assertions.
//!
//! [`prove`] tries the cheap domain first: intervals, then octagons for what is left, then
//! disjunctions of octagons for what is still left.

mod prove;

pub use prove::{Proved, Stage, parameters, prove};

use program::{
    BinaryOp, Body, CType, Callee, Const, FunctionId, InstId, Op, Operand, PathStep, Program, Ty,
};

/// Something that must hold where an instruction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Check {
    pub inst: InstId,
    pub kind: CheckKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// An index is at least zero.
    Lower {
        index: Operand,
    },
    /// An index is at most this.
    Upper {
        index: Operand,
        last: i64,
    },
    NotNull {
        pointer: Operand,
    },
    NotZero {
        divisor: Operand,
    },
    /// The result of signed arithmetic has its type.
    Fits,
    /// Control does not get here: an assertion fails.
    Unreached,
}

/// An access all of whose checks together keep it inside its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    pub inst: InstId,
    pub checks: Vec<Check>,
}

/// The checks of a function, and what follows for its accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    pub all: Vec<Check>,
    pub accesses: Vec<Inside>,
}

impl Checks {
    pub fn of(program: &Program, body: &Body) -> Self {
        let mut checks = Self::default();
        for (inst, found) in body.insts.iter_enumerated() {
            let one = |kind| Check { inst, kind };
            match &found.op {
                Op::Load(access) | Op::Store { access, .. } => {
                    checks.access(program, body, inst, access.ptr);
                }
                Op::Binary { op, rhs, no_signed_wrap, .. } => match op {
                    BinaryOp::UnsignedDiv
                    | BinaryOp::SignedDiv
                    | BinaryOp::UnsignedRem
                    | BinaryOp::SignedRem => {
                        let is_constant = matches!(rhs, Operand::Const(_));
                        checks.all.extend(
                            (!is_constant).then(|| one(CheckKind::NotZero { divisor: *rhs })),
                        );
                    }
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul
                        if *no_signed_wrap && matches!(found.ty, Ty::Int(2..=64)) =>
                    {
                        checks.all.push(one(CheckKind::Fits));
                    }
                    _ => {}
                },
                Op::Call(call) if fails(program, &call.callee) => {
                    checks.all.push(one(CheckKind::Unreached));
                }
                _ => {}
            }
        }
        checks
    }

    /// Every index on the way to an address, and the pointer it starts from.
    fn access(&mut self, program: &Program, body: &Body, inst: InstId, pointer: Operand) {
        let mut own = Vec::new();
        let mut is_whole = true;
        let mut at = pointer;
        while let Operand::Inst(id) = at
            && let Op::Address(address) = &body.insts[id].op
        {
            match &address.path[..] {
                [PathStep::Field { .. }] => {}
                [PathStep::Index { term: Some(term), .. }] => {
                    let Some(term) = address.terms.get(*term as usize) else { break };
                    let index = term.index;
                    own.push(Check { inst, kind: CheckKind::Lower { index } });
                    match count_of(program, body, address.base) {
                        Some(count) => {
                            let kind = CheckKind::Upper { index, last: count - 1 };
                            own.push(Check { inst, kind });
                        }
                        None => is_whole = false,
                    }
                }
                _ => is_whole = false,
            }
            at = address.base;
        }
        match at {
            Operand::Inst(id) if matches!(body.insts[id].op, Op::Alloca { .. }) => {}
            Operand::Const(id) if matches!(program.constants[id], Const::Global { .. }) => {}
            _ => {
                is_whole = false;
                own.push(Check { inst, kind: CheckKind::NotNull { pointer: at } });
            }
        }
        self.all.extend(&own);
        if is_whole && !own.is_empty() {
            self.accesses.push(Inside { inst, checks: own });
        }
    }
}

/// Whether a call says that an assertion fails.
fn fails(program: &Program, callee: &Callee) -> bool {
    matches!(callee, Callee::Function(id) if is_failure(program, *id))
}

fn is_failure(program: &Program, id: FunctionId) -> bool {
    let function = &program.functions[id];
    function.body.is_none() && matches!(&*function.name, "__assert_fail" | "abort")
}

/// Elements of the array a base points to.
fn count_of(program: &Program, body: &Body, base: Operand) -> Option<i64> {
    let array = match base {
        Operand::Inst(inst) => match &body.insts[inst].op {
            Op::Alloca { variable: Some(variable), count: None, .. } => {
                body.variables[*variable].ctype
            }
            _ => program.pointee(body.insts[inst].ctype),
        },
        Operand::Const(id) => match program.constants[id] {
            Const::Global { global, offset: 0 } => program.globals[global].ctype,
            _ => return None,
        },
        Operand::Param(_) => return None,
    };
    match program.resolved_type(array) {
        CType::Array { count: Some(count), .. } => i64::try_from(*count).ok(),
        _ => None,
    }
}
