//! Types of attributes, comparisons, assignments and events.

use crate::ast::{
    Arg, BinaryOp, Command, Comparator, Condition, EventArg, Expr, ExprKind, Piece, Place, Point,
    Spec, Template, VarIndex, VarKind,
};
use crate::attribute::{AttributeId, Nature, Param, Type};
use crate::diagnostic::{Diagnostic, Span, suggest};
use crate::event;
use crate::lower::type_of;

pub fn check(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    let mut checker = Checker { spec, diagnostics };
    for observe in &spec.observe {
        checker.point(&observe.point);
        checker.condition(&observe.require);
        observe.error_state.iter().for_each(|state| checker.condition(state));
        observe.message.iter().for_each(|message| checker.template(message));
    }
    for contribute in &spec.contribute {
        checker.point(&contribute.point);
        checker.commands(&contribute.commands);
    }
    spec.error_state.iter().for_each(|state| checker.condition(state));
    spec.message.iter().for_each(|message| checker.template(message));
}

struct Checker<'a> {
    spec: &'a Spec,
    diagnostics: &'a mut Vec<Diagnostic>,
}

fn describe(kind: Type) -> &'static str {
    match kind {
        Type::Number => "a number",
        Type::Truth => "true or false",
        Type::Name => "a name",
        Type::Matches => "a set of matches",
    }
}

fn is_set(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Range(..) | ExprKind::Set(_) | ExprKind::Empty => true,
        ExprKind::Binary { op, .. } => matches!(op, BinaryOp::Union | BinaryOp::Intersect),
        ExprKind::Attr { attribute, .. } => attribute.get().result() == Type::Matches,
        _ => false,
    }
}

impl Checker<'_> {
    fn error(&mut self, span: Span, message: String) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(span, message));
        self.diagnostics.last_mut().expect("just pushed")
    }

    fn kind(&self, var: VarIndex) -> VarKind {
        self.spec.vars.get(var.0 as usize).map_or(VarKind::Any, |var| var.kind)
    }

    fn name(&self, var: VarIndex) -> &str {
        self.spec.vars.get(var.0 as usize).map_or("?", |var| &var.name)
    }

    fn point(&mut self, point: &Point) {
        for place in &point.places {
            if let Place::Event { name, args, span } = place {
                self.observed_event(name, args, *span);
            }
        }
        point.condition.iter().for_each(|condition| self.condition(condition));
    }

    fn observed_event(&mut self, name: &str, args: &[VarIndex], span: Span) {
        let Some(known) = event::find(name) else {
            self.error(span, format!("`{name}` is a command, not a place"));
            return;
        };
        if args.len() > known.params.len() {
            let message =
                format!("event `{name}` has {} arguments, not {}", known.params.len(), args.len());
            self.error(span, message).help = Some(known.summary.to_string());
        }
        for (arg, kinds) in args.iter().zip(known.params) {
            self.var_kind(*arg, kinds, span, name);
        }
    }

    fn var_kind(&mut self, var: VarIndex, kinds: &[VarKind], span: Span, of: &str) {
        let kind = self.kind(var);
        if kind != VarKind::Any && !kinds.contains(&kind) {
            let expected: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            let message = format!(
                "type error: `{of}` takes a variable of kind {}, `{}` is of kind {}",
                expected.join(" or "),
                self.name(var),
                kind.name()
            );
            self.error(span, message);
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Compare { comparator, left, right } => {
                self.compare(*comparator, left, right);
            }
            Condition::Holds(expr) => {
                self.expr(expr);
                match type_of(expr) {
                    Some(Type::Truth) => {}
                    found => {
                        let found = found.map_or("undef", describe);
                        let message = format!("type error: expected a condition, found {found}");
                        self.error(expr.span, message).help =
                            Some("compare it with something".to_string());
                    }
                }
            }
            Condition::Not(inner) => self.condition(inner),
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|part| self.condition(part));
            }
        }
    }

    fn compare(&mut self, comparator: Comparator, left: &Expr, right: &Expr) {
        self.expr(left);
        self.expr(right);
        let span = left.span.to(right.span);
        let membership = matches!(comparator, Comparator::In | Comparator::NotIn);
        if membership && !is_set(right) {
            self.error(right.span, "type error: expected a range or set after `in`".to_string())
                .help = Some("write `[low, high]` or `{a, b}`".to_string());
        }
        let with_empty = matches!(right.kind, ExprKind::Empty);
        if !membership && is_set(right) && !with_empty {
            self.error(right.span, "type error: a range or set stands after `in`".to_string());
        }
        match (type_of(left), type_of(right)) {
            (Some(a), Some(b)) if a != b && !with_empty => {
                let message =
                    format!("type error: {} is compared with {}", describe(a), describe(b));
                self.error(span, message);
            }
            (Some(Type::Name | Type::Truth | Type::Matches), _)
                if !matches!(
                    comparator,
                    Comparator::Eq | Comparator::Ne | Comparator::In | Comparator::NotIn
                ) =>
            {
                self.error(span, "type error: only numbers have an order".to_string());
            }
            _ => {}
        }
        for (attribute, other) in [(left, right), (right, left)] {
            if let ExprKind::Attr { attribute, .. } = &attribute.kind {
                self.known_names(*attribute, other);
            }
        }
    }

    /// A name compared with or assigned to an attribute that has only certain names.
    fn known_names(&mut self, attribute: AttributeId, value: &Expr) {
        match &value.kind {
            ExprKind::Name(name) => {
                let Some(known) = attribute.get().names() else { return };
                if !known.contains(&name.as_str()) {
                    let message = format!("{} is never `{name}`", attribute.name());
                    let help = match suggest(name, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("it is one of {}", known.join(", ")),
                    };
                    self.error(value.span, message).help = Some(help);
                }
            }
            ExprKind::Set(members) => {
                members.iter().for_each(|member| self.known_names(attribute, member));
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Attr { attribute, args } => self.attribute(*attribute, args, expr.span),
            ExprKind::Negate(a) => self.number(a),
            ExprKind::Not(a) => {
                self.expr(a);
                if type_of(a) != Some(Type::Truth) {
                    self.error(a.span, "type error: `!` needs true or false".to_string());
                }
            }
            ExprKind::Input(a) => self.expr(a),
            ExprKind::Binary { op: BinaryOp::Union | BinaryOp::Intersect, left, right } => {
                self.expr(left);
                self.expr(right);
                for side in [left, right] {
                    if !is_set(side) {
                        self.error(side.span, "type error: expected a range or set".to_string());
                    }
                }
            }
            ExprKind::Binary { left: a, right: b, .. }
            | ExprKind::Min(a, b)
            | ExprKind::Max(a, b)
            | ExprKind::Range(a, b) => {
                self.number(a);
                self.number(b);
            }
            ExprKind::Set(members) => members.iter().for_each(|member| self.expr(member)),
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Undef
            | ExprKind::Empty
            | ExprKind::Name(_) => {}
        }
    }

    fn number(&mut self, expr: &Expr) {
        self.expr(expr);
        match type_of(expr) {
            Some(Type::Number) if !is_set(expr) => {}
            _ if is_set(expr) => {
                self.error(expr.span, "type error: a range is no single number".to_string());
            }
            found => {
                let found = found.map_or("undef", describe);
                let message = format!("type error: expected a number, found {found}");
                let name = match &expr.kind {
                    ExprKind::Name(name) => Some(name.clone()),
                    _ => None,
                };
                let diagnostic = self.error(expr.span, message);
                diagnostic.help = name.map(|name| format!("is `{name}` a variable to declare?"));
            }
        }
    }

    fn attribute(&mut self, attribute: AttributeId, args: &[Arg], span: Span) {
        let params = attribute.get().params();
        if params.len() != args.len() {
            let message = format!(
                "`{}` takes {} argument{}, not {}",
                attribute.name(),
                params.len(),
                if params.len() == 1 { "" } else { "s" },
                args.len()
            );
            self.error(span, message).help = Some(format!("write `{}`", attribute.usage()));
            return;
        }
        for (param, arg) in params.iter().zip(args) {
            match (param, arg) {
                (Param::Var(kinds), Arg::Var(var)) => {
                    self.var_kind(*var, kinds, span, attribute.name());
                }
                (Param::Var(_), Arg::Pointee(var)) => {
                    self.var_kind(*var, &[VarKind::Ptr, VarKind::Buffer], span, "*");
                }
                (Param::Var(_) | Param::Number, Arg::Expr(expr)) => self.expr(expr),
                (Param::Rest, Arg::Rest) | (Param::Patterns, Arg::Patterns(_)) => {}
                _ => {
                    let message = format!("type error: wrong argument of `{}`", attribute.name());
                    self.error(span, message).help = Some(format!("write `{}`", attribute.usage()));
                }
            }
        }
    }

    fn template(&mut self, template: &Template) {
        for piece in &template.pieces {
            if let Piece::Expr(expr) = piece {
                self.expr(expr);
            }
        }
    }

    fn commands(&mut self, commands: &[Command]) {
        for command in commands {
            match command {
                Command::Assign { target, value } => self.assign(target, value),
                Command::Assume(condition) => self.condition(condition),
                Command::When { condition, then, otherwise } => {
                    self.condition(condition);
                    self.commands(then);
                    self.commands(otherwise);
                }
                Command::May { first, otherwise } => {
                    self.commands(first);
                    self.commands(otherwise);
                }
                Command::Either(all) => all.iter().for_each(|some| self.commands(some)),
                Command::Event { name, args, span } => self.announced(name, args, *span),
            }
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        self.expr(target);
        self.expr(value);
        let ExprKind::Attr { attribute, .. } = &target.kind else { return };
        if attribute.get().nature() == Nature::Fixed {
            let message = format!("`{}` cannot be assigned", attribute.name());
            self.error(target.span, message).help =
                Some("it follows from the program's text".to_string());
        }
        let expected = attribute.get().result();
        if let Some(found) = type_of(value)
            && found != expected
        {
            let message = format!(
                "type error: `{}` is {}, not {}",
                attribute.name(),
                describe(expected),
                describe(found)
            );
            self.error(value.span, message);
        }
        self.known_names(*attribute, value);
    }

    fn announced(&mut self, name: &str, args: &[EventArg], span: Span) {
        let known = event::find(name);
        if known.is_some_and(|known| !known.announced_by_models) {
            let message = format!("only the engine knows where `{name}` happens");
            self.error(span, message);
            return;
        }
        let n_params = known.map_or(1, |known| known.params.len());
        if args.len() != n_params {
            let message = format!("event `{name}` has {n_params} arguments, not {}", args.len());
            self.error(span, message);
            return;
        }
        for (index, arg) in args.iter().enumerate() {
            let kinds = known.map_or(&[VarKind::Ptr, VarKind::Buffer][..], |k| k.params[index]);
            match arg {
                EventArg::Var(var, span) => self.var_kind(*var, kinds, *span, name),
                EventArg::Expr(expr) if kinds == [VarKind::Int] => self.number(expr),
                EventArg::Expr(expr) => {
                    self.error(expr.span, format!("`{name}` takes a variable here"));
                }
            }
        }
    }
}
