//! Conditions and commands of a specification at one match, for a run to compute.

use interpret::watch::{Comparison, Effect, Formula, Term};
use program::{Operand, Ty};
use spec::ast::{Arg, Command, Comparator, Condition, Expr, ExprKind};
use spec::attribute::{AttributeId, Nature};
use spec::lower::{Argument, Bindings};
use spec::text::{Text, name_code};

/// One match of a pattern.
pub(super) struct Match<'a> {
    pub text: Text<'a, 'a>,
    pub bindings: &'a Bindings,
}

impl Match<'_> {
    /// A condition; `None` where a run cannot tell.
    pub fn formula(&self, condition: &Condition) -> Option<Formula> {
        Some(match condition {
            Condition::Compare { comparator, left, right } => {
                return self.compare(*comparator, left, right);
            }
            Condition::Holds(expr) => {
                let holds = negated(equal(self.term(expr)?, Term::Number(0)));
                folded(holds)
            }
            Condition::Not(inner) => negated(self.formula(inner)?),
            Condition::And(parts) => {
                let parts: Vec<Option<Formula>> = parts.iter().map(|p| self.formula(p)).collect();
                if parts.contains(&Some(Formula::Known(false))) {
                    return Some(Formula::Known(false));
                }
                let mut parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
                parts.retain(|part| *part != Formula::Known(true));
                if parts.is_empty() { Formula::Known(true) } else { Formula::All(parts) }
            }
            Condition::Or(parts) => {
                let parts: Vec<Option<Formula>> = parts.iter().map(|p| self.formula(p)).collect();
                if parts.contains(&Some(Formula::Known(true))) {
                    return Some(Formula::Known(true));
                }
                let mut parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
                parts.retain(|part| *part != Formula::Known(false));
                if parts.is_empty() { Formula::Known(false) } else { Formula::Any(parts) }
            }
        })
    }

    fn compare(&self, comparator: Comparator, left: &Expr, right: &Expr) -> Option<Formula> {
        let value = self.term(left)?;
        Some(match comparator {
            Comparator::In => self.member(value, right)?,
            Comparator::NotIn => negated(self.member(value, right)?),
            _ => {
                let other = self.term(right)?;
                folded(match comparator {
                    Comparator::Eq => equal(value, other),
                    Comparator::Ne => negated(equal(value, other)),
                    Comparator::Lt => Formula::Compare(Comparison::Lt, value, other),
                    Comparator::Le => Formula::Compare(Comparison::Le, value, other),
                    Comparator::Gt => Formula::Compare(Comparison::Lt, other, value),
                    _ => Formula::Compare(Comparison::Le, other, value),
                })
            }
        })
    }

    fn member(&self, value: Term, set: &Expr) -> Option<Formula> {
        Some(match &set.kind {
            ExprKind::Range(low, high) => {
                let (low, high) = (self.term(low)?, self.term(high)?);
                let above = folded(Formula::Compare(Comparison::Le, low, value.clone()));
                let below = folded(Formula::Compare(Comparison::Le, value, high));
                Formula::All(vec![above, below])
            }
            ExprKind::Set(members) => {
                let each =
                    members.iter().map(|m| Some(folded(equal(value.clone(), self.term(m)?))));
                Formula::Any(each.collect::<Option<_>>()?)
            }
            ExprKind::Empty => Formula::Known(false),
            ExprKind::Input(inner) => self.member(value, inner)?,
            _ => folded(equal(value, self.term(set)?)),
        })
    }

    fn term(&self, expr: &Expr) -> Option<Term> {
        Some(match &expr.kind {
            ExprKind::Int(number) => Term::Number(*number),
            ExprKind::Bool(value) => Term::Number(i128::from(*value)),
            ExprKind::Name(name) => Term::Number(name_code(name)),
            ExprKind::Attr { attribute, args } => self.attribute(*attribute, args)?,
            ExprKind::Negate(inner) => difference(Term::Number(0), self.term(inner)?),
            ExprKind::Not(inner) => difference(Term::Number(1), self.term(inner)?),
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                match op {
                    spec::ast::BinaryOp::Add => match (left, right) {
                        (Term::Number(a), Term::Number(b)) => Term::Number(a.checked_add(b)?),
                        (a, b) => Term::Sum(Box::new(a), Box::new(b)),
                    },
                    spec::ast::BinaryOp::Sub => difference(left, right),
                    spec::ast::BinaryOp::Mul => match (left, right) {
                        (Term::Number(a), Term::Number(b)) => Term::Number(a.checked_mul(b)?),
                        (a, b) => Term::Product(Box::new(a), Box::new(b)),
                    },
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    fn attribute(&self, attribute: AttributeId, args: &[Arg]) -> Option<Term> {
        let args = args.iter().map(|arg| self.argument(arg)).collect::<Option<Vec<_>>>()?;
        if attribute.get().nature() == Nature::Fixed {
            return self.text.fact(attribute, &args).map(Term::Number);
        }
        let [Argument::Operand(operand)] = args.as_slice() else { return None };
        let operand = *operand;
        Some(match attribute.name() {
            "Value" => self.value(operand, &args[0])?,
            "Size" => Term::Size(operand),
            "Offset" => Term::Offset(operand),
            "Len" => Term::Length(operand),
            "State" | "Held" => Term::State(number_of(attribute), operand),
            _ => return None,
        })
    }

    fn argument(&self, arg: &Arg) -> Option<Argument> {
        match arg {
            Arg::Var(var) => self.bindings.get(*var).cloned(),
            Arg::Expr(Expr { kind: ExprKind::Int(value), .. }) => Some(Argument::Number(*value)),
            Arg::Expr(Expr { kind: ExprKind::Attr { attribute, args }, .. })
                if attribute.name() == "Src" =>
            {
                let args = args.iter().map(|arg| self.argument(arg)).collect::<Option<Vec<_>>>()?;
                let function = &self.text.program.functions[self.text.function];
                spec::facts::source(function, &args)
            }
            _ => None,
        }
    }

    /// The number an operand is, as the source reads it.
    pub fn value(&self, operand: Operand, argument: &Argument) -> Option<Term> {
        let function = &self.text.program.functions[self.text.function];
        let body = function.body.as_ref()?;
        let is_signed = self.text.is_signed(argument);
        let bits = match body.operand_ty(operand, &function.params, &self.text.program.constants) {
            Ty::Int(bits) if bits <= 64 => bits,
            Ty::Ptr => 64,
            _ => return None,
        };
        if let Operand::Const(id) = operand
            && let program::Const::Int { value, .. } = self.text.program.constants[id]
        {
            let bits_of = value as u128 & interpret::mask(bits);
            return Some(Term::Number(match is_signed {
                true => interpret::signed(bits_of, bits),
                false => bits_of as i128,
            }));
        }
        Some(Term::Value(operand, bits, is_signed && bits > 1))
    }

    /// What commands do to the state of objects. Where they say what a call answers, that tells
    /// which of its ways a run takes.
    pub fn effects(&self, commands: &[Command]) -> Vec<Effect> {
        let mut effects = Vec::new();
        for command in commands {
            match command {
                Command::Assign { target, value } => effects.extend(self.set(target, value)),
                Command::When { condition, then, otherwise } => {
                    let Some(guard) = self.formula(condition) else { continue };
                    let (then, otherwise) = (self.effects(then), self.effects(otherwise));
                    if !then.is_empty() || !otherwise.is_empty() {
                        let ways = vec![(guard, then), (Formula::Known(true), otherwise)];
                        effects.push(Effect::Choose(ways));
                    }
                }
                Command::May { first, otherwise } => {
                    let ways = [first, otherwise].map(|way| (self.guard(way), self.effects(way)));
                    if ways.iter().any(|(_, effects)| !effects.is_empty()) {
                        effects.push(Effect::Choose(ways.to_vec()));
                    }
                }
                Command::Either(all) => {
                    let ways: Vec<_> =
                        all.iter().map(|way| (self.guard(way), self.effects(way))).collect();
                    if ways.iter().any(|(_, effects)| !effects.is_empty()) {
                        effects.push(Effect::Choose(ways));
                    }
                }
                Command::Assume(_) | Command::Event { .. } => {}
            }
        }
        effects
    }

    fn set(&self, target: &Expr, value: &Expr) -> Option<Effect> {
        let ExprKind::Attr { attribute, args } = &target.kind else { return None };
        if !matches!(attribute.name(), "State" | "Held") {
            return None;
        }
        let [arg] = args.as_slice() else { return None };
        let Some(Argument::Operand(of)) = self.argument(arg) else { return None };
        Some(Effect::Set { attribute: number_of(*attribute), of, value: self.term(value)? })
    }

    /// What has to be so where commands were what happened: what they give values has these.
    fn guard(&self, commands: &[Command]) -> Formula {
        let mut parts = Vec::new();
        for command in commands {
            match command {
                Command::Assume(condition) => parts.extend(self.formula(condition)),
                Command::Assign { target, value } => {
                    let ExprKind::Attr { attribute, args } = &target.kind else { continue };
                    if attribute.name() == "Value"
                        && let Some(target) = self.attribute(*attribute, args)
                    {
                        parts.extend(self.member(target, value));
                    }
                }
                _ => {}
            }
        }
        Formula::All(parts)
    }
}

/// The number of an attribute in a [`Watch`].
pub(super) fn number_of(attribute: AttributeId) -> u16 {
    let index = AttributeId::all().position(|other| other == attribute);
    index.and_then(|index| u16::try_from(index).ok()).unwrap_or(u16::MAX)
}

fn equal(a: Term, b: Term) -> Formula {
    Formula::Compare(Comparison::Eq, a, b)
}

fn difference(a: Term, b: Term) -> Term {
    match (a, b) {
        (Term::Number(a), Term::Number(b)) => Term::Number(a.saturating_sub(b)),
        (a, b) => Term::Difference(Box::new(a), Box::new(b)),
    }
}

fn negated(formula: Formula) -> Formula {
    match formula {
        Formula::Known(value) => Formula::Known(!value),
        Formula::Not(inner) => *inner,
        other => match folded(other) {
            Formula::Known(value) => Formula::Known(!value),
            other => Formula::Not(Box::new(other)),
        },
    }
}

/// A comparison of numbers is true or not.
fn folded(formula: Formula) -> Formula {
    match formula {
        Formula::Compare(comparison, Term::Number(a), Term::Number(b)) => {
            Formula::Known(match comparison {
                Comparison::Eq => a == b,
                Comparison::Lt => a < b,
                Comparison::Le => a <= b,
            })
        }
        Formula::Not(inner) => match folded(*inner) {
            Formula::Known(value) => Formula::Known(!value),
            other => Formula::Not(Box::new(other)),
        },
        other => other,
    }
}
