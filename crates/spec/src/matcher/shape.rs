//! Code signatures compiled to shapes: a pattern over one operation and its operands.

use crate::ast::{Arg, Condition, ExprKind, Place, Point, Var};
use crate::c::{BinaryOp, Expr, Signature, Statement, TypeName, UnaryOp};
use crate::diagnostic::{Diagnostic, Span};

/// One operation to look for. Inner expressions are matched against operand trees.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Call {
        result: Option<Expr>,
        callee: Expr,
        args: Vec<Expr>,
    },
    /// A variable is given a value nothing computes at that point.
    Copy {
        target: Expr,
        value: Expr,
    },
    /// A write through a pointer: `a[d] = e`, `p->x = e`, `*p = e`.
    Store {
        place: Expr,
        value: Expr,
    },
    /// The same read.
    Load {
        result: Option<Expr>,
        place: Expr,
    },
    /// Read or written, whatever the statement: MatchOperand.
    Access {
        place: Expr,
    },
    Compute {
        result: Option<Expr>,
        op: BinaryOp,
        left: Expr,
        right: Expr,
    },
    Convert {
        result: Option<Expr>,
        to: TypeName,
        value: Expr,
    },
    Address {
        result: Option<Expr>,
        of: Expr,
    },
    Branch(Expr),
    Switch(Expr),
    Return(Option<Expr>),
    Declare {
        ctype: TypeName,
        name: Expr,
        is_array: bool,
    },
    Event {
        name: String,
        args: Vec<crate::ast::VarIndex>,
    },
}

/// All shapes of a point: one per alternative place. A point that is a condition alone has
/// the shapes of its operand patterns.
pub fn shapes(point: &Point, vars: &[Var]) -> Result<Vec<Shape>, Diagnostic> {
    let mut found = Vec::new();
    for place in &point.places {
        match place {
            Place::Code(signature) => found.extend(signature_shapes(signature, vars)?),
            Place::Event { name, args, .. } => {
                found.push(Shape::Event { name: name.clone(), args: args.clone() });
            }
        }
    }
    if point.places.is_empty()
        && let Some(condition) = &point.condition
    {
        operand_patterns(condition, &mut found);
        if found.is_empty() {
            return Err(Diagnostic::error(point.span, "this point names no code to look for")
                .help("add a signature `$...$` or `MatchOperand(...) != empty`"));
        }
    }
    Ok(found)
}

/// The patterns of `MatchOperand(...) != empty`, wherever they stand in a condition.
fn operand_patterns(condition: &Condition, to: &mut Vec<Shape>) {
    match condition {
        Condition::Compare { left, right, .. } => {
            for side in [left, right] {
                if let ExprKind::Attr { args, .. } = &side.kind
                    && let [Arg::Patterns(patterns)] = args.as_slice()
                {
                    to.extend(patterns.iter().cloned().map(|place| Shape::Access { place }));
                }
            }
        }
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| operand_patterns(part, to));
        }
        Condition::Holds(_) | Condition::Not(_) => {}
    }
}

fn signature_shapes(signature: &Signature, vars: &[Var]) -> Result<Vec<Shape>, Diagnostic> {
    let span = signature.span;
    match &signature.statement {
        Statement::If(condition) => Ok(vec![Shape::Branch(condition.clone())]),
        Statement::Switch(value) => Ok(vec![Shape::Switch(value.clone())]),
        Statement::Return(value) => Ok(vec![Shape::Return(value.clone())]),
        Statement::Declare { ctype, name, array } => Ok(vec![Shape::Declare {
            ctype: ctype.clone(),
            name: name.clone(),
            is_array: array.is_some(),
        }]),
        Statement::Expr(expr) => Ok(vec![expression(expr, vars, span)?]),
    }
}

fn expression(expr: &Expr, vars: &[Var], span: Span) -> Result<Shape, Diagnostic> {
    let one = || Expr::Int(1);
    Ok(match expr {
        Expr::Assign { op: None, target, value } if is_simple(target) => {
            return Ok(computed(Some((**target).clone()), value).unwrap_or_else(|| Shape::Copy {
                target: (**target).clone(),
                value: (**value).clone(),
            }));
        }
        Expr::Assign { op: None, target, value } => {
            Shape::Store { place: (**target).clone(), value: (**value).clone() }
        }
        Expr::Assign { op: Some(op), target, value } => Shape::Compute {
            result: None,
            op: *op,
            left: (**target).clone(),
            right: (**value).clone(),
        },
        Expr::Step { target, up, .. } => Shape::Compute {
            result: None,
            op: if *up { BinaryOp::Add } else { BinaryOp::Sub },
            left: (**target).clone(),
            right: one(),
        },
        Expr::Index(..) | Expr::Field { .. } | Expr::Deref(_) => {
            Shape::Access { place: expr.clone() }
        }
        _ => match computed(None, expr) {
            Some(shape) => shape,
            None => {
                let message = format!("`{}` alone matches no operation", expr.print(vars));
                return Err(Diagnostic::error(span, message)
                    .help("write a call, an assignment, an access, a branch or a return"));
            }
        },
    })
}

/// The operation that computes `value`, where it is one operation.
fn computed(result: Option<Expr>, value: &Expr) -> Option<Shape> {
    Some(match value {
        Expr::Call { callee, args } => {
            Shape::Call { result, callee: (**callee).clone(), args: args.clone() }
        }
        Expr::Index(..) | Expr::Field { .. } | Expr::Deref(_) => {
            Shape::Load { result, place: value.clone() }
        }
        Expr::AddressOf(of) => Shape::Address { result, of: (**of).clone() },
        Expr::Unary(UnaryOp::Minus, operand) => Shape::Compute {
            result,
            op: BinaryOp::Sub,
            left: Expr::Int(0),
            right: (**operand).clone(),
        },
        Expr::Unary(UnaryOp::BitNot, operand) => Shape::Compute {
            result,
            op: BinaryOp::BitXor,
            left: (**operand).clone(),
            right: Expr::Int(-1),
        },
        Expr::Unary(UnaryOp::Not, operand) => Shape::Compute {
            result,
            op: BinaryOp::Eq,
            left: (**operand).clone(),
            right: Expr::Int(0),
        },
        Expr::Binary(op, left, right) if !matches!(op, BinaryOp::And | BinaryOp::Or) => {
            Shape::Compute { result, op: *op, left: (**left).clone(), right: (**right).clone() }
        }
        Expr::Cast(to, value) => {
            Shape::Convert { result, to: to.clone(), value: (**value).clone() }
        }
        _ => return None,
    })
}

fn is_simple(target: &Expr) -> bool {
    matches!(target, Expr::Var(_) | Expr::Any | Expr::Name(_))
}

impl Shape {
    /// The shape in words, for `firstfault spec show`.
    pub fn describe(&self, vars: &[Var]) -> String {
        let show = |e: &Expr| e.print(vars);
        let result = |result: &Option<Expr>| {
            result.as_ref().map_or(String::new(), |result| format!(", result {}", show(result)))
        };
        match self {
            Shape::Call { result: r, callee, args } => {
                let args: Vec<String> = args.iter().map(show).collect();
                format!("call of {} with ({}){}", show(callee), args.join(", "), result(r))
            }
            Shape::Copy { target, value } => {
                format!("variable {} becomes {}", show(target), show(value))
            }
            Shape::Store { place, value } => {
                format!("store to {}, value {}", show(place), show(value))
            }
            Shape::Load { result: r, place } => format!("load from {}{}", show(place), result(r)),
            Shape::Access { place } => format!("load from or store to {}", show(place)),
            Shape::Compute { result: r, op, left, right } => format!(
                "operation {} of {} and {}{}",
                op.sign(),
                show(left),
                show(right),
                result(r)
            ),
            Shape::Convert { result: r, to, value } => {
                format!("conversion of {} to {}{}", show(value), to.print(), result(r))
            }
            Shape::Address { result: r, of } => format!("address of {}{}", show(of), result(r)),
            Shape::Branch(condition) => format!("branch where {}", show(condition)),
            Shape::Switch(value) => format!("switch on {}", show(value)),
            Shape::Return(None) => "return without value".to_string(),
            Shape::Return(Some(value)) => format!("return of {}", show(value)),
            Shape::Declare { ctype, name, is_array } => format!(
                "declaration of {} of type {}{}",
                show(name),
                ctype.print(),
                if *is_array { " array" } else { "" }
            ),
            Shape::Event { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| show(&Expr::Var(*arg))).collect();
                format!("event {name}({})", args.join(", "))
            }
        }
    }
}
