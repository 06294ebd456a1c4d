//! Code signatures: patterns in C's own syntax.
//!
//! A signature is one statement. Its identifiers are variables of the specification where
//! declared there, otherwise the program's own names; `_` is anything and `...` the
//! remaining arguments.

mod parser;
mod print;

use crate::ast::VarIndex;
use crate::diagnostic::Span;

pub use parser::{Names, parse_expressions, parse_signature};

#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub statement: Statement,
    /// As written between the dollar signs.
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Expr(Expr),
    /// The branch where the condition holds; `while`, `for` and `?:` are branches too.
    If(Expr),
    Switch(Expr),
    Return(Option<Expr>),
    /// `int x;`, `_ a[_];`: the declaration of a variable without initialiser.
    Declare {
        ctype: TypeName,
        name: Expr,
        array: Option<Box<Expr>>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Any,
    /// `...`, last among arguments only.
    Rest,
    Var(VarIndex),
    Name(String),
    Int(i128),
    Null,
    /// A string literal.
    Text(String),
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
    },
    Index(Box<Expr>, Box<Expr>),
    Field {
        base: Box<Expr>,
        arrow: bool,
        member: Box<Expr>,
    },
    Deref(Box<Expr>),
    AddressOf(Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Assign {
        op: Option<BinaryOp>,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    /// `x++` and the like.
    Step {
        target: Box<Expr>,
        up: bool,
        prefix: bool,
    },
    Cast(TypeName, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Minus,
    Not,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

impl BinaryOp {
    /// All operators with sign and strength, stronger ones bind first.
    pub const ALL: [(&'static str, BinaryOp, u8); 18] = [
        ("*", BinaryOp::Mul, 10),
        ("/", BinaryOp::Div, 10),
        ("%", BinaryOp::Rem, 10),
        ("+", BinaryOp::Add, 9),
        ("-", BinaryOp::Sub, 9),
        ("<<", BinaryOp::Shl, 8),
        (">>", BinaryOp::Shr, 8),
        ("<", BinaryOp::Lt, 7),
        (">", BinaryOp::Gt, 7),
        ("<=", BinaryOp::Le, 7),
        (">=", BinaryOp::Ge, 7),
        ("==", BinaryOp::Eq, 6),
        ("!=", BinaryOp::Ne, 6),
        ("&", BinaryOp::BitAnd, 5),
        ("^", BinaryOp::BitXor, 4),
        ("|", BinaryOp::BitOr, 3),
        ("&&", BinaryOp::And, 2),
        ("||", BinaryOp::Or, 1),
    ];

    pub fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, op, _)| *op == self).map_or("?", |(sign, ..)| sign)
    }

    pub fn strength(self) -> u8 {
        Self::ALL.iter().find(|(_, op, _)| *op == self).map_or(0, |(.., strength)| *strength)
    }

    pub fn is_comparison(self) -> bool {
        matches!(self.strength(), 6 | 7)
    }
}

/// A type in a cast or declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// `_`
    Any,
    /// `unsigned int`, `struct s`, `size_t`, and how many stars follow.
    Named { words: Vec<String>, stars: u32 },
}

impl Expr {
    /// Visits this expression and everything below it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Any
            | Expr::Rest
            | Expr::Var(_)
            | Expr::Name(_)
            | Expr::Int(_)
            | Expr::Null
            | Expr::Text(_) => {}
            Expr::Call { callee, args } => {
                callee.walk(visit);
                args.iter().for_each(|arg| arg.walk(visit));
            }
            Expr::Index(a, b) | Expr::Binary(_, a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
            Expr::Field { base, member, .. } => {
                base.walk(visit);
                member.walk(visit);
            }
            Expr::Deref(a)
            | Expr::AddressOf(a)
            | Expr::Unary(_, a)
            | Expr::Cast(_, a)
            | Expr::Step { target: a, .. } => a.walk(visit),
            Expr::Assign { target, value, .. } => {
                target.walk(visit);
                value.walk(visit);
            }
        }
    }
}

impl Statement {
    /// Visits every expression of the statement.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Statement::Expr(e) | Statement::If(e) | Statement::Switch(e) => e.walk(visit),
            Statement::Return(value) => value.iter().for_each(|value| value.walk(visit)),
            Statement::Declare { name, array, .. } => {
                name.walk(visit);
                array.iter().for_each(|array| array.walk(visit));
            }
        }
    }
}
