//! The syntax tree of a specification. Names are resolved while parsing: variables are
//! indices into [`Spec::vars`], attributes are entries of the registry.

use crate::attribute::AttributeId;
use crate::c;
use crate::diagnostic::Span;

#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub kind: SpecKind,
    /// Rule id, or the name of a model.
    pub id: String,
    pub id_span: Span,
    pub title: Option<String>,
    pub severity: Severity,
    pub cwe: Vec<u32>,
    pub vars: Vec<Var>,
    pub observe: Vec<Observe>,
    pub contribute: Vec<Contribute>,
    /// What holds once the fault has happened.
    pub error_state: Option<Condition>,
    pub message: Option<Template>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecKind {
    /// Says what is a fault.
    Fault,
    /// Says what library code does, for all faults.
    Model,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Note,
    Warning,
    #[default]
    Error,
}

/// Index into [`Spec::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarIndex(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub struct Var {
    pub name: String,
    pub kind: VarKind,
    pub span: Span,
}

/// What program objects a variable stands for (the paper's Vbuffer, Vint, Vptr, Vany, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VarKind {
    /// Memory reached through a pointer.
    Buffer,
    Int,
    Float,
    Ptr,
    Any,
}

impl VarKind {
    pub const ALL: [(&'static str, VarKind); 5] = [
        ("buffer", VarKind::Buffer),
        ("int", VarKind::Int),
        ("float", VarKind::Float),
        ("ptr", VarKind::Ptr),
        ("any", VarKind::Any),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("any", |(name, _)| name)
    }
}

/// An observable point and what must hold there.
#[derive(Clone, Debug, PartialEq)]
pub struct Observe {
    /// Raised only under `--strict`.
    pub strict: bool,
    pub point: Point,
    pub require: Condition,
    /// These override the specification's own.
    pub error_state: Option<Condition>,
    pub message: Option<Template>,
    pub span: Span,
}

/// A contributing point and what happens there.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribute {
    pub point: Point,
    pub commands: Vec<Command>,
    pub span: Span,
}

/// Where: places of any of some shapes, narrowed by a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// At least one; empty only for a point that is a condition alone.
    pub places: Vec<Place>,
    pub condition: Option<Condition>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Code(c::Signature),
    /// Something the engine or a model announces: `write(p, n)`, `exit`, `back-edge`.
    Event {
        name: String,
        args: Vec<VarIndex>,
        span: Span,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparator {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Compare {
        comparator: Comparator,
        left: Expr,
        right: Expr,
    },
    /// An attribute that is true or false.
    Holds(Expr),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `target` is an attribute.
    Assign {
        target: Expr,
        value: Expr,
    },
    Assume(Condition),
    When {
        condition: Condition,
        then: Vec<Command>,
        otherwise: Vec<Command>,
    },
    /// The environment chooses whether `first` happens or `otherwise`.
    May {
        first: Vec<Command>,
        otherwise: Vec<Command>,
    },
    /// One of these, not known which.
    Either(Vec<Vec<Command>>),
    /// Announces an event that faults observe.
    Event {
        name: String,
        args: Vec<EventArg>,
        span: Span,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventArg {
    Var(VarIndex, Span),
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// Equal trees are equal wherever they stand.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int(i128),
    Bool(bool),
    Undef,
    /// The empty set.
    Empty,
    /// A state, an operation or a kind of memory.
    Name(String),
    Attr {
        attribute: AttributeId,
        args: Vec<Arg>,
    },
    Negate(Box<Expr>),
    /// `!attribute`.
    Not(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Min(Box<Expr>, Box<Expr>),
    Max(Box<Expr>, Box<Expr>),
    Range(Box<Expr>, Box<Expr>),
    Set(Vec<Expr>),
    /// A member the outside world picks.
    Input(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Union,
    Intersect,
}

impl BinaryOp {
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::Union => "union",
            BinaryOp::Intersect => "intersect",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    Var(VarIndex),
    /// `*p`: what `p` points to.
    Pointee(VarIndex),
    /// Composition: an attribute of an attribute's value, or a constant.
    Expr(Expr),
    /// `...`: the remaining arguments of the call.
    Rest,
    /// The code patterns of `MatchOperand`.
    Patterns(Vec<c::Expr>),
}

/// A message with expressions in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub pieces: Vec<Piece>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(String),
    /// The variable as the source spells it.
    Var(VarIndex),
    Expr(Expr),
}

impl Comparator {
    pub fn sign(self) -> &'static str {
        match self {
            Comparator::Eq => "=",
            Comparator::Ne => "!=",
            Comparator::Lt => "<",
            Comparator::Le => "<=",
            Comparator::Gt => ">",
            Comparator::Ge => ">=",
            Comparator::In => "in",
            Comparator::NotIn => "not in",
        }
    }
}

impl Severity {
    pub const ALL: [(&'static str, Severity); 3] =
        [("error", Severity::Error), ("warning", Severity::Warning), ("note", Severity::Note)];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, severity)| *severity == self).map_or("error", |(name, _)| name)
    }
}
