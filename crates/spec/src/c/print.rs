//! Code patterns as C text that parses to the same pattern.

use super::{Expr, Statement, TypeName, UnaryOp};
use crate::ast::Var;

impl Statement {
    pub fn print(&self, vars: &[Var]) -> String {
        match self {
            // `t * x` alone would read as a declaration.
            Statement::Expr(e @ Expr::Binary(super::BinaryOp::Mul, ..)) => {
                format!("({})", e.print(vars))
            }
            Statement::Expr(e) => e.print(vars),
            Statement::If(e) => format!("if ({})", e.print(vars)),
            Statement::Switch(e) => format!("switch ({})", e.print(vars)),
            Statement::Return(None) => "return".to_string(),
            Statement::Return(Some(e)) => format!("return {}", e.print(vars)),
            Statement::Declare { ctype, name, array } => {
                let array = array.as_ref().map_or(String::new(), |size| match **size {
                    Expr::Any => "[]".to_string(),
                    ref size => format!("[{}]", size.print(vars)),
                });
                format!("{} {}{array}", ctype.print(), name.print(vars))
            }
        }
    }
}

impl Expr {
    pub fn print(&self, vars: &[Var]) -> String {
        let operand = |e: &Expr| match e {
            Expr::Binary(..) | Expr::Assign { .. } => format!("({})", e.print(vars)),
            _ => e.print(vars),
        };
        // What stands before a postfix operator must not be a prefix expression.
        let base = |e: &Expr| match e {
            Expr::Any
            | Expr::Var(_)
            | Expr::Name(_)
            | Expr::Null
            | Expr::Call { .. }
            | Expr::Index(..)
            | Expr::Field { .. } => e.print(vars),
            _ => format!("({})", e.print(vars)),
        };
        match self {
            Expr::Any => "_".to_string(),
            Expr::Rest => "...".to_string(),
            Expr::Var(var) => {
                vars.get(var.0 as usize).map_or("?".to_string(), |var| var.name.clone())
            }
            Expr::Name(name) => name.clone(),
            Expr::Int(value) => value.to_string(),
            Expr::Null => "NULL".to_string(),
            Expr::Text(text) => format!("\"{text}\""),
            Expr::Call { callee, args } => {
                let args: Vec<String> = args.iter().map(|arg| arg.print(vars)).collect();
                format!("{}({})", base(callee), args.join(", "))
            }
            Expr::Index(a, b) => format!("{}[{}]", base(a), b.print(vars)),
            Expr::Field { base: object, arrow, member } => {
                let sign = if *arrow { "->" } else { "." };
                format!("{}{sign}{}", base(object), member.print(vars))
            }
            Expr::Deref(a) => format!("*{}", operand(a)),
            // Two of them would read as `&&`.
            Expr::AddressOf(a) if matches!(**a, Expr::AddressOf(_)) => {
                format!("&({})", a.print(vars))
            }
            Expr::AddressOf(a) => format!("&{}", operand(a)),
            Expr::Unary(op, a) => {
                let sign = match op {
                    UnaryOp::Minus => "- ",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                };
                format!("{sign}{}", operand(a))
            }
            Expr::Binary(op, a, b) => {
                let side = |e: &Expr, least: u8| match e {
                    Expr::Binary(inner, ..) if inner.strength() < least => {
                        format!("({})", e.print(vars))
                    }
                    Expr::Assign { .. } => format!("({})", e.print(vars)),
                    _ => e.print(vars),
                };
                let strength = op.strength();
                format!("{} {} {}", side(a, strength), op.sign(), side(b, strength + 1))
            }
            Expr::Assign { op, target, value } => {
                let op = op.map_or("", |op| op.sign());
                format!("{} {op}= {}", operand(target), value.print(vars))
            }
            Expr::Step { target, up, prefix } => {
                let sign = if *up { "++" } else { "--" };
                if *prefix {
                    format!("{sign}{}", operand(target))
                } else {
                    format!("{}{sign}", base(target))
                }
            }
            Expr::Cast(ctype, a) => format!("({}) {}", ctype.print(), operand(a)),
        }
    }
}

impl TypeName {
    pub fn print(&self) -> String {
        match self {
            TypeName::Any => "_".to_string(),
            TypeName::Named { words, stars } => {
                let stars = "*".repeat(*stars as usize);
                if stars.is_empty() {
                    words.join(" ")
                } else {
                    format!("{} {stars}", words.join(" "))
                }
            }
        }
    }
}
