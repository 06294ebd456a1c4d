//! Matching operand trees, looking through conversions.

use program::{BinaryOp as Machine, Callee, Const, ConversionKind, Op, Operand, Ty};

use super::Matching;
use crate::ast::{VarIndex, VarKind};
use crate::c::{BinaryOp, Expr};
use crate::lower::{Argument, Bindings};

/// Operand trees are followed this far.
const MAX_DEPTH: u32 = 16;

impl Matching<'_> {
    /// Whether `pattern` matches a value; variables it holds are bound.
    pub(super) fn operand(
        &self,
        pattern: &Expr,
        operand: Operand,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        match pattern {
            Expr::Any => true,
            Expr::Var(var) => self.bind(*var, Argument::Operand(operand), bindings),
            Expr::Int(value) => self.number(operand) == Some(*value),
            Expr::Null => self.number(operand) == Some(0),
            Expr::Text(text) => {
                let literal = Argument::Operand(self.through_conversions(operand));
                crate::facts::literal_bytes(self.program, &literal)
                    .is_some_and(|bytes| bytes == text.as_bytes())
            }
            Expr::Name(name) => self.named(name, operand),
            Expr::Rest => true,
            Expr::Cast(_, inner) => self.operand(inner, operand, bindings, depth + 1),
            _ => {
                let Operand::Inst(inst) = self.through_conversions(operand) else { return false };
                self.tree(pattern, inst, bindings, depth + 1)
            }
        }
    }

    /// Whether `pattern`, an operation, is what computes this instruction's value.
    fn tree(
        &self,
        pattern: &Expr,
        inst: program::InstId,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        let op = &self.body.insts[inst].op;
        match (pattern, op) {
            (Expr::Binary(c_op, left, right), _) => {
                self.binary(*c_op, left, right, op, bindings, depth)
            }
            (Expr::Call { callee, args }, Op::Call(call)) => {
                self.call(callee, args, call, bindings, depth)
            }
            (Expr::Index(..) | Expr::Field { .. } | Expr::Deref(_), Op::Load(access)) => {
                self.place(pattern, access, bindings, depth)
            }
            (Expr::AddressOf(of), Op::Address(_)) => {
                self.address(of, Operand::Inst(inst), bindings, depth)
            }
            _ => false,
        }
    }

    /// The pointer that an operand is the number of.
    fn address_of(&self, operand: Operand) -> Option<Operand> {
        let Operand::Inst(inst) = operand else { return None };
        match &self.body.insts[inst].op {
            Op::Convert(conversion) if conversion.kind == ConversionKind::PointerToInt => {
                Some(conversion.value)
            }
            _ => None,
        }
    }

    pub(super) fn binary(
        &self,
        c_op: BinaryOp,
        left: &Expr,
        right: &Expr,
        op: &Op,
        bindings: &mut Bindings,
        depth: u32,
    ) -> bool {
        match op {
            Op::Binary { op: machine, lhs, rhs, .. } => {
                if same_operation(c_op, *machine) {
                    // The distance of two pointers is asked of the pointers: no arithmetic on
                    // the numbers they are.
                    let (lhs, rhs) = match (self.address_of(*lhs), self.address_of(*rhs)) {
                        (Some(lhs), Some(rhs)) if c_op == BinaryOp::Sub => (lhs, rhs),
                        _ => (*lhs, *rhs),
                    };
                    return self.operand(left, lhs, bindings, depth)
                        && self.operand(right, rhs, bindings, depth);
                }
                // Compilers turn `x - 1` into `x + -1`.
                if let (BinaryOp::Sub, Machine::Add, Expr::Int(value)) = (c_op, machine, right) {
                    return self.number(*rhs) == Some(-value)
                        && self.operand(left, *lhs, bindings, depth);
                }
                false
            }
            Op::Negate(value) => {
                c_op == BinaryOp::Sub
                    && *left == Expr::Int(0)
                    && self.operand(right, *value, bindings, depth)
            }
            Op::Compare { predicate, lhs, rhs } => {
                let Some((found, _)) = comparison(*predicate) else { return false };
                let mut swapped = bindings.clone();
                if found == c_op
                    && self.operand(left, *lhs, bindings, depth)
                    && self.operand(right, *rhs, bindings, depth)
                {
                    return true;
                }
                let matches = mirrored(found) == c_op
                    && self.operand(left, *rhs, &mut swapped, depth)
                    && self.operand(right, *lhs, &mut swapped, depth);
                if matches {
                    *bindings = swapped;
                }
                matches
            }
            _ => false,
        }
    }

    /// Binds a variable, if its kind fits and it does not stand for something else.
    pub(super) fn bind(&self, var: VarIndex, argument: Argument, bindings: &mut Bindings) -> bool {
        let fits = match self.pattern.kind(var) {
            VarKind::Any => true,
            kind => match &argument {
                Argument::Operand(operand) => {
                    let ty = self.body.operand_ty(
                        *operand,
                        &self.function.params,
                        &self.program.constants,
                    );
                    match kind {
                        VarKind::Int => matches!(ty, Ty::Int(_)),
                        VarKind::Float => matches!(ty, Ty::Float(_)),
                        VarKind::Ptr | VarKind::Buffer => ty == Ty::Ptr,
                        VarKind::Any => true,
                    }
                }
                Argument::Number(_) => kind == VarKind::Int,
                Argument::Global(_) => matches!(kind, VarKind::Ptr | VarKind::Buffer),
                Argument::Place(inst) => {
                    let (Op::Store { access, .. } | Op::Load(access)) = &self.body.insts[*inst].op
                    else {
                        return false;
                    };
                    match crate::facts::stripped(self.program, access.ctype) {
                        program::CType::Pointer(_) => {
                            matches!(kind, VarKind::Ptr | VarKind::Buffer)
                        }
                        program::CType::Float { .. } => kind == VarKind::Float,
                        program::CType::Int { .. } | program::CType::Enum { .. } => {
                            kind == VarKind::Int
                        }
                        _ => false,
                    }
                }
                _ => false,
            },
        };
        if !fits {
            return false;
        }
        match (bindings.get(var), &argument) {
            // The same value behind different conversions is the same value.
            (Some(Argument::Operand(bound)), Argument::Operand(operand)) => {
                self.through_conversions(*bound) == self.through_conversions(*operand)
            }
            _ => bindings.bind(var, argument),
        }
    }

    /// The value before conversions.
    pub(super) fn through_conversions(&self, operand: Operand) -> Operand {
        let mut current = operand;
        for _ in 0..MAX_DEPTH {
            let Operand::Inst(inst) = current else { break };
            let Op::Convert(conversion) = &self.body.insts[inst].op else { break };
            current = conversion.value;
        }
        current
    }

    /// The number a constant operand is.
    pub(super) fn number(&self, operand: Operand) -> Option<i128> {
        let Operand::Const(id) = self.through_conversions(operand) else { return None };
        match self.program.constants.get(id)? {
            Const::Int { value, .. } => Some(*value),
            Const::Null | Const::Zero(_) => Some(0),
            _ => None,
        }
    }

    /// Whether a value is, or was loaded from, the program's variable of this name.
    fn named(&self, name: &str, operand: Operand) -> bool {
        match self.through_conversions(operand) {
            Operand::Const(id) => match self.program.constants.get(id) {
                Some(Const::Global { global, .. }) => *self.program.globals[*global].name == *name,
                Some(Const::Function(function)) => *self.program.functions[*function].name == *name,
                _ => false,
            },
            Operand::Param(index) => {
                let param = self.function.params.get(index as usize);
                param
                    .and_then(|param| param.variable)
                    .is_some_and(|variable| *self.body.variables[variable].name == *name)
            }
            Operand::Inst(inst) => match &self.body.insts[inst].op {
                Op::Load(access) => self.named(name, access.ptr),
                Op::Alloca { variable: Some(variable), .. } => {
                    *self.body.variables[*variable].name == *name
                }
                _ => false,
            },
        }
    }

    pub(super) fn callee(&self, pattern: &Expr, callee: &Callee, bindings: &mut Bindings) -> bool {
        match (pattern, callee) {
            (Expr::Any, _) => true,
            (Expr::Name(name), Callee::Function(id)) => {
                let function = &self.program.functions[*id];
                if self.pattern.library_only && function.body.is_some() {
                    return false;
                }
                *function.name == **name || super::library_name(&function.name).name == name
            }
            (Expr::Name(name), Callee::Pointer(pointer)) => self.named(name, *pointer),
            (Expr::Var(var), Callee::Pointer(pointer)) => {
                self.bind(*var, Argument::Operand(*pointer), bindings)
            }
            // `(*f)(...)` and `p->f(...)`.
            (Expr::Deref(inner), Callee::Pointer(pointer)) => {
                self.operand(inner, *pointer, bindings, 0)
            }
            (_, Callee::Pointer(pointer)) => self.operand(pattern, *pointer, bindings, 0),
            _ => false,
        }
    }
}

fn same_operation(c_op: BinaryOp, machine: Machine) -> bool {
    match c_op {
        BinaryOp::Add => matches!(machine, Machine::Add | Machine::FloatAdd),
        BinaryOp::Sub => matches!(machine, Machine::Sub | Machine::FloatSub),
        BinaryOp::Mul => matches!(machine, Machine::Mul | Machine::FloatMul),
        BinaryOp::Div => {
            matches!(machine, Machine::SignedDiv | Machine::UnsignedDiv | Machine::FloatDiv)
        }
        BinaryOp::Rem => {
            matches!(machine, Machine::SignedRem | Machine::UnsignedRem | Machine::FloatRem)
        }
        BinaryOp::Shl => machine == Machine::Shl,
        BinaryOp::Shr => matches!(machine, Machine::LogicalShr | Machine::ArithmeticShr),
        BinaryOp::BitAnd => machine == Machine::And,
        BinaryOp::BitOr => machine == Machine::Or,
        BinaryOp::BitXor => machine == Machine::Xor,
        _ => false,
    }
}

/// The C comparison a predicate is, and whether it is on floating-point numbers.
pub(super) fn comparison(predicate: program::Predicate) -> Option<(BinaryOp, bool)> {
    use program::{FloatPredicate as F, Predicate as P};
    Some(match predicate {
        P::Eq => (BinaryOp::Eq, false),
        P::Ne => (BinaryOp::Ne, false),
        P::SignedLt | P::UnsignedLt => (BinaryOp::Lt, false),
        P::SignedLe | P::UnsignedLe => (BinaryOp::Le, false),
        P::SignedGt | P::UnsignedGt => (BinaryOp::Gt, false),
        P::SignedGe | P::UnsignedGe => (BinaryOp::Ge, false),
        P::FloatOrdered(f) | P::FloatUnordered(f) => {
            let op = match f {
                F::Eq => BinaryOp::Eq,
                F::Ne => BinaryOp::Ne,
                F::Lt => BinaryOp::Lt,
                F::Le => BinaryOp::Le,
                F::Gt => BinaryOp::Gt,
                F::Ge => BinaryOp::Ge,
                F::NumbersOnly | F::Always => return None,
            };
            (op, true)
        }
    })
}

/// The comparison with its sides exchanged.
pub(super) fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// The comparison that holds where this one does not.
pub(super) fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        _ => return None,
    })
}
