//! Conditions and commands, with their variables bound, become formulas and effects.
//!
//! The engine supplies a [`Context`]: it knows which symbol stands for an attribute of an
//! object at the place where the query stands, and the facts that do not change.

use logic::{Comparison, FormulaId, Interval, TermId, Terms};
use program::{GlobalId, InstId, Operand};

use crate::ast::{Arg, BinaryOp, Command, Comparator, Condition, Expr, ExprKind, VarIndex};
use crate::attribute::{AttributeId, Type};
use crate::{event, format};

/// What a variable of a specification stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    Operand(Operand),
    /// The memory this load or store accesses.
    Place(InstId),
    /// The address of a global, where the program only has addresses inside it.
    Global(GlobalId),
    /// The member of a record, by name.
    Member(Box<str>),
    Number(i128),
    Term(TermId),
    /// What the pointer points to.
    Pointee(Box<Argument>),
    /// The remaining arguments of a call.
    Rest(Vec<Operand>),
    /// A variable bound to nothing in particular, where a specification itself is checked.
    Free(VarIndex),
}

/// The variables of one match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bindings {
    vars: Vec<Option<Argument>>,
    /// What `...` stands for.
    pub rest: Vec<Operand>,
    /// For a branch: whether the edge meant is the one where the condition is true.
    pub edge: Option<bool>,
}

impl Bindings {
    pub fn with_vars(n_vars: usize) -> Self {
        Self { vars: vec![None; n_vars], ..Self::default() }
    }

    pub fn get(&self, var: VarIndex) -> Option<&Argument> {
        self.vars.get(var.0 as usize)?.as_ref()
    }

    /// Binds a variable; false where it already stands for something else.
    pub fn bind(&mut self, var: VarIndex, argument: Argument) -> bool {
        let index = var.0 as usize;
        if index >= self.vars.len() {
            self.vars.resize(index + 1, None);
        }
        match &self.vars[index] {
            Some(bound) => *bound == argument,
            None => {
                self.vars[index] = Some(argument);
                true
            }
        }
    }
}

/// Why something cannot be said as a term: a don't-know for the engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    #[error("{0:?} is not known here")]
    UnknownFact(AttributeId),
    #[error("the format is not a constant")]
    Format,
    #[error("a variable is bound to nothing at this place")]
    Unbound,
    #[error("the expression has no single value")]
    NoValue,
}

/// Where a value comes from that the program does not compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The outside world picks it: a chosen term.
    Input,
    /// Nobody knows: an unknown term.
    Unknown,
}

/// What lowering needs to know from the engine.
pub trait Context {
    fn terms(&mut self) -> &mut Terms;

    /// The term an attribute of these objects has at the place where the query stands.
    fn tracked(
        &mut self,
        attribute: AttributeId,
        args: &[Argument],
        domain: Interval,
    ) -> Result<TermId, Unsupported>;

    /// An attribute that does not change, where known. Names are given as their codes.
    fn fact(&mut self, attribute: AttributeId, args: &[Argument]) -> Option<i128>;

    /// What `Src` of these arguments stands for.
    fn source(&mut self, args: &[Argument]) -> Option<Argument>;

    /// A value the program does not compute.
    fn fresh(&mut self, origin: Origin) -> TermId;

    /// The number that stands for a name such as a state.
    fn name_code(&mut self, name: &str) -> i128;

    /// The bytes of a constant string, without the terminating zero.
    fn constant_string(&mut self, argument: &Argument) -> Option<Vec<u8>>;

    /// The range of the C type of a value.
    fn type_range(&mut self, argument: &Argument) -> Option<Interval>;
}

/// Stands for `undef`: no string length or other attribute has this value.
pub const UNDEF: i128 = -(1 << 100);

/// What happens at a contributing point, ready to be applied to a query, last one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The attribute has this value from here on: substitute.
    Assign {
        attribute: AttributeId,
        args: Vec<Argument>,
        value: TermId,
    },
    /// The value is another's plus a number: for pointers, into the same object.
    Copy {
        target: Argument,
        source: Argument,
        plus: TermId,
    },
    /// The attribute has a value nobody knows from here on.
    Forget {
        attribute: AttributeId,
        args: Vec<Argument>,
        why: Unsupported,
    },
    /// Holds from here on: conjoin.
    Assume(FormulaId),
    When {
        condition: FormulaId,
        then: Vec<Effect>,
        otherwise: Vec<Effect>,
    },
    /// The environment chooses.
    May {
        first: Vec<Effect>,
        otherwise: Vec<Effect>,
    },
    Either(Vec<Vec<Effect>>),
}

/// One match being turned into terms.
pub struct Lowering<'a> {
    pub bindings: &'a Bindings,
    pub context: &'a mut dyn Context,
    /// What the commands so far have given values: those after them see it.
    assigned: Vec<(AttributeId, Vec<Argument>, TermId)>,
}

impl<'a> Lowering<'a> {
    pub fn new(bindings: &'a Bindings, context: &'a mut dyn Context) -> Self {
        Self { bindings, context, assigned: Vec::new() }
    }
}

impl Lowering<'_> {
    pub fn condition(&mut self, condition: &Condition) -> Result<FormulaId, Unsupported> {
        match condition {
            Condition::Compare { comparator, left, right } => {
                self.compare(*comparator, left, right)
            }
            Condition::Holds(expr) => {
                let value = self.expr(expr)?;
                let zero = self.context.terms().constant(0);
                Ok(self.context.terms().compare(Comparison::Ne, value, zero))
            }
            Condition::Not(inner) => {
                let inner = self.condition(inner)?;
                Ok(self.context.terms().not(inner))
            }
            Condition::And(parts) => {
                let parts = self.conditions(parts)?;
                Ok(self.context.terms().and(&parts))
            }
            Condition::Or(parts) => {
                let parts = self.conditions(parts)?;
                Ok(self.context.terms().or(&parts))
            }
        }
    }

    fn conditions(&mut self, parts: &[Condition]) -> Result<Vec<FormulaId>, Unsupported> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    fn compare(
        &mut self,
        comparator: Comparator,
        left: &Expr,
        right: &Expr,
    ) -> Result<FormulaId, Unsupported> {
        let comparison = match comparator {
            Comparator::Eq => Comparison::Eq,
            Comparator::Ne => Comparison::Ne,
            Comparator::Lt => Comparison::Lt,
            Comparator::Le => Comparison::Le,
            Comparator::Gt => Comparison::Gt,
            Comparator::Ge => Comparison::Ge,
            Comparator::In => {
                let value = self.expr(left)?;
                return self.member(value, right);
            }
            Comparator::NotIn => {
                let value = self.expr(left)?;
                let member = self.member(value, right)?;
                return Ok(self.context.terms().not(member));
            }
        };
        let (a, b) = (self.expr(left)?, self.expr(right)?);
        Ok(self.context.terms().compare(comparison, a, b))
    }

    /// Whether a value is in a range or set.
    fn member(&mut self, value: TermId, set: &Expr) -> Result<FormulaId, Unsupported> {
        match &set.kind {
            ExprKind::Range(low, high) => {
                let (low, high) = (self.expr(low)?, self.expr(high)?);
                Ok(self.context.terms().within(value, low, high))
            }
            ExprKind::Set(members) => {
                let mut equal = Vec::new();
                for member in members {
                    let member = self.expr(member)?;
                    equal.push(self.context.terms().compare(Comparison::Eq, value, member));
                }
                Ok(self.context.terms().or(&equal))
            }
            ExprKind::Empty => Ok(Terms::FALSE),
            ExprKind::Input(inner) => self.member(value, inner),
            ExprKind::Binary { op: op @ (BinaryOp::Union | BinaryOp::Intersect), left, right } => {
                let parts = [self.member(value, left)?, self.member(value, right)?];
                let terms = self.context.terms();
                Ok(if *op == BinaryOp::Union { terms.or(&parts) } else { terms.and(&parts) })
            }
            _ => {
                let only = self.expr(set)?;
                Ok(self.context.terms().compare(Comparison::Eq, value, only))
            }
        }
    }

    pub fn expr(&mut self, expr: &Expr) -> Result<TermId, Unsupported> {
        let term = match &expr.kind {
            ExprKind::Int(value) => self.context.terms().constant(*value),
            ExprKind::Bool(value) => self.context.terms().constant((*value).into()),
            ExprKind::Undef => self.context.terms().constant(UNDEF),
            ExprKind::Name(name) => {
                let code = self.context.name_code(name);
                self.context.terms().constant(code)
            }
            ExprKind::Attr { attribute, args } => self.attribute(*attribute, args)?,
            ExprKind::Negate(inner) => {
                let inner = self.expr(inner)?;
                self.context.terms().negate(inner)
            }
            ExprKind::Not(inner) => {
                let inner = self.expr(inner)?;
                let one = self.context.terms().constant(1);
                self.context.terms().sub(one, inner)
            }
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.expr(left)?, self.expr(right)?);
                let terms = self.context.terms();
                match op {
                    BinaryOp::Add => terms.add(a, b),
                    BinaryOp::Sub => terms.sub(a, b),
                    BinaryOp::Mul => terms.mul(a, b),
                    BinaryOp::Div => terms.divide(logic::Rounding::Zero, a, b),
                    BinaryOp::Rem => terms.remainder(logic::Rounding::Zero, a, b),
                    BinaryOp::Union | BinaryOp::Intersect => return Err(Unsupported::NoValue),
                }
            }
            ExprKind::Min(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.context.terms().min(a, b)
            }
            ExprKind::Max(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.context.terms().max(a, b)
            }
            ExprKind::Empty | ExprKind::Range(..) | ExprKind::Set(_) | ExprKind::Input(_) => {
                return Err(Unsupported::NoValue);
            }
        };
        Ok(term)
    }

    fn attribute(&mut self, attribute: AttributeId, args: &[Arg]) -> Result<TermId, Unsupported> {
        let args = self.args(args)?;
        let given = self.assigned.iter().rev().find(|(a, of, _)| *a == attribute && *of == args);
        match given {
            Some((_, _, value)) => Ok(*value),
            None => attribute.get().term(attribute, &args, self.context),
        }
    }

    fn args(&mut self, args: &[Arg]) -> Result<Vec<Argument>, Unsupported> {
        args.iter().map(|arg| self.arg(arg)).collect()
    }

    fn arg(&mut self, arg: &Arg) -> Result<Argument, Unsupported> {
        let bound = |var: &VarIndex| self.bindings.get(*var).cloned().ok_or(Unsupported::Unbound);
        Ok(match arg {
            Arg::Var(var) => bound(var)?,
            Arg::Pointee(var) => Argument::Pointee(bound(var)?.into()),
            Arg::Rest => Argument::Rest(self.bindings.rest.clone()),
            Arg::Expr(Expr { kind: ExprKind::Int(value), .. }) => Argument::Number(*value),
            Arg::Expr(Expr { kind: ExprKind::Attr { attribute, args }, .. })
                if attribute.name() == "Src" =>
            {
                let args = self.args(args)?;
                self.context.source(&args).ok_or(Unsupported::UnknownFact(*attribute))?
            }
            Arg::Expr(expr) => Argument::Term(self.expr(expr)?),
            Arg::Patterns(_) => return Err(Unsupported::NoValue),
        })
    }

    /// The effects of commands, in the order they are written. Events are not effects: the
    /// rules that observe them were instantiated before.
    pub fn commands(&mut self, commands: &[Command]) -> Result<Vec<Effect>, Unsupported> {
        let mut effects = Vec::new();
        let n_assigned = self.assigned.len();
        for command in commands {
            let n_effects = effects.len();
            self.command(command, &mut effects)?;
            for effect in &effects[n_effects..] {
                if let Effect::Assign { attribute, args, value } = effect {
                    self.assigned.push((*attribute, args.clone(), *value));
                }
            }
        }
        self.assigned.truncate(n_assigned);
        Ok(effects)
    }

    fn command(&mut self, command: &Command, to: &mut Vec<Effect>) -> Result<(), Unsupported> {
        match command {
            Command::Assign { target, value } => self.assign(target, value, to)?,
            Command::Assume(condition) => {
                let condition = self.condition(condition)?;
                to.push(Effect::Assume(condition));
            }
            Command::When { condition, then, otherwise } => {
                let condition = self.condition(condition)?;
                let (then, otherwise) = (self.commands(then)?, self.commands(otherwise)?);
                to.push(Effect::When { condition, then, otherwise });
            }
            Command::May { first, otherwise } => {
                let (first, otherwise) = (self.commands(first)?, self.commands(otherwise)?);
                to.push(Effect::May { first, otherwise });
            }
            Command::Either(all) => {
                let all: Result<Vec<_>, _> = all.iter().map(|some| self.commands(some)).collect();
                to.push(Effect::Either(all?));
            }
            Command::Event { name, args, .. } if name == event::SCAN => {
                if let Some(crate::ast::EventArg::Var(var, _)) = args.first() {
                    let format = self.bindings.get(*var).cloned().ok_or(Unsupported::Unbound)?;
                    to.extend(format::scanned(&format, &self.bindings.rest, self.context)?);
                }
            }
            Command::Event { .. } => {}
        }
        Ok(())
    }

    fn assign(
        &mut self,
        target: &Expr,
        value: &Expr,
        to: &mut Vec<Effect>,
    ) -> Result<(), Unsupported> {
        let ExprKind::Attr { attribute, args } = &target.kind else {
            return Err(Unsupported::NoValue);
        };
        let (attribute, args) = (*attribute, self.args(args)?);
        let (origin, set) = match &value.kind {
            ExprKind::Input(inner) => (Origin::Input, &**inner),
            _ => (Origin::Unknown, value),
        };
        if attribute.name() == "Value"
            && let [target] = args.as_slice()
            && let Some((source, plus, bounds)) = self.copied(set, origin)?
        {
            to.push(Effect::Copy { target: target.clone(), source, plus });
            to.extend(bounds.into_iter().map(Effect::Assume));
            return Ok(());
        }
        let is_set = matches!(
            set.kind,
            ExprKind::Range(..)
                | ExprKind::Set(_)
                | ExprKind::Binary { op: BinaryOp::Union | BinaryOp::Intersect, .. }
        );
        if is_set {
            let chosen = self.context.fresh(origin);
            match self.member(chosen, set) {
                Ok(member) => {
                    to.push(Effect::Assign { attribute, args, value: chosen });
                    to.push(Effect::Assume(member));
                }
                Err(why) => to.push(Effect::Forget { attribute, args, why }),
            }
            return Ok(());
        }
        match self.expr(set) {
            Ok(value) => to.push(Effect::Assign { attribute, args, value }),
            Err(why) => to.push(Effect::Forget { attribute, args, why }),
        }
        Ok(())
    }
}

/// What `Value(y) + e`, or a range of such, copies: whose value, plus what, within what.
type Copied = (Argument, TermId, Option<FormulaId>);

impl Lowering<'_> {
    fn copied(&mut self, value: &Expr, origin: Origin) -> Result<Option<Copied>, Unsupported> {
        if let ExprKind::Range(low, high) = &value.kind {
            let (Some((var, low)), Some((other, high))) = (offset_from(low), offset_from(high))
            else {
                return Ok(None);
            };
            if var != other {
                return Ok(None);
            }
            let source = self.arg(&var)?;
            let (low, high) = (self.optional(low)?, self.optional(high)?);
            let plus = self.context.fresh(origin);
            let bounds = self.context.terms().within(plus, low, high);
            return Ok(Some((source, plus, Some(bounds))));
        }
        let Some((var, plus)) = offset_from(value) else { return Ok(None) };
        let (source, plus) = (self.arg(&var)?, self.optional(plus)?);
        Ok(Some((source, plus, None)))
    }

    fn optional(&mut self, expr: Option<&Expr>) -> Result<TermId, Unsupported> {
        match expr {
            Some(expr) => self.expr(expr),
            None => Ok(self.context.terms().constant(0)),
        }
    }
}

/// `Value(y)` or `Value(y) + e`: the argument and what is added.
fn offset_from(expr: &Expr) -> Option<(Arg, Option<&Expr>)> {
    match &expr.kind {
        ExprKind::Attr { attribute, args } if attribute.name() == "Value" => {
            match args.as_slice() {
                [arg @ (Arg::Var(_) | Arg::Pointee(_))] => Some((arg.clone(), None)),
                _ => None,
            }
        }
        ExprKind::Binary { op: BinaryOp::Add, left, right } => match offset_from(left)? {
            (arg, None) => Some((arg, Some(right))),
            (_, Some(_)) => None,
        },
        _ => None,
    }
}

/// A context without a program: every attribute is a symbol. For checking specifications.
#[derive(Default)]
pub struct FreeContext {
    terms: logic::Arena<(AttributeId, Vec<Argument>)>,
    names: Vec<String>,
}

impl Context for FreeContext {
    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn tracked(
        &mut self,
        attribute: AttributeId,
        args: &[Argument],
        domain: Interval,
    ) -> Result<TermId, Unsupported> {
        Ok(self.terms.named_term((attribute, args.to_vec()), domain))
    }

    fn fact(&mut self, _: AttributeId, _: &[Argument]) -> Option<i128> {
        None
    }

    fn source(&mut self, _: &[Argument]) -> Option<Argument> {
        None
    }

    fn fresh(&mut self, _: Origin) -> TermId {
        let unknown = Argument::Number(self.terms.n_symbols() as i128);
        let value = AttributeId::find("Value").expect("the registry has `Value`");
        self.terms.named_term((value, vec![unknown]), Interval::ALL)
    }

    fn name_code(&mut self, name: &str) -> i128 {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        }) as i128
    }

    fn constant_string(&mut self, _: &Argument) -> Option<Vec<u8>> {
        None
    }

    fn type_range(&mut self, _: &Argument) -> Option<Interval> {
        None
    }
}

/// The type an expression has, where it has one by itself.
pub fn type_of(expr: &Expr) -> Option<Type> {
    match &expr.kind {
        ExprKind::Attr { attribute, .. } => Some(attribute.get().result()),
        ExprKind::Int(_) | ExprKind::Negate(_) | ExprKind::Min(..) | ExprKind::Max(..) => {
            Some(Type::Number)
        }
        ExprKind::Bool(_) | ExprKind::Not(_) => Some(Type::Truth),
        ExprKind::Name(_) => Some(Type::Name),
        ExprKind::Empty => Some(Type::Matches),
        ExprKind::Binary { op: BinaryOp::Union | BinaryOp::Intersect, left, .. } => type_of(left),
        ExprKind::Binary { .. } => Some(Type::Number),
        ExprKind::Range(..) => Some(Type::Number),
        ExprKind::Set(members) => members.first().and_then(type_of),
        ExprKind::Input(inner) => type_of(inner),
        ExprKind::Undef => None,
    }
}
