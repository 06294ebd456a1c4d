//! A fault observes an event; a model announces it at some code: together they are an
//! observation of that code, in the model's variables.

use crate::ast::{
    Arg, Command, Condition, Contribute, EventArg, Expr, ExprKind, Observe, Piece, Point, Spec,
    Template, Var, VarIndex, VarKind,
};
use crate::event;
use crate::matcher::Scan;
use crate::rules::{FaultIndex, Observed};

/// What the fault's variables are, said in the model's.
struct Instance<'a> {
    vars: &'a [VarIndex],
    args: &'a [EventArg],
}

/// The observations an announcing entry gives rise to.
pub fn instances(
    fault: &Spec,
    observe: &Observe,
    observed_event: &str,
    vars: &[VarIndex],
    model: &Spec,
    contribute: &Contribute,
) -> Vec<Instantiated> {
    let mut announced = Vec::new();
    collect(&contribute.commands, &mut Vec::new(), &mut announced);
    if let Some((_, args, guards)) = announced.iter().find(|(name, ..)| *name == event::SCAN)
        && event::covers(observed_event, "write")
        && let Some(EventArg::Var(format, _)) = args.first()
    {
        let joined = (fault, observe, vars);
        return vec![scan_instance(joined, model, contribute, *format, guards)];
    }
    announced
        .into_iter()
        .filter(|(name, args, _)| {
            event::covers(observed_event, name)
                && args.len() >= vars.len()
                && args.iter().zip(vars).all(|(arg, var)| fits(fault, *var, model, arg))
        })
        .map(|(_, args, guards)| instance((fault, observe, vars), model, contribute, args, guards))
        .collect()
}

/// A fault, one of its entries, and the variables of the event it observes.
type Observing<'a> = (&'a Spec, &'a Observe, &'a [VarIndex]);

fn instance(
    (fault, observe, vars): Observing<'_>,
    model: &Spec,
    contribute: &Contribute,
    args: &[EventArg],
    guards: Vec<Condition>,
) -> Instantiated {
    let instance = Instance { vars, args };
    let condition = |c: &Condition| instance.condition(c);
    let mut require = condition(&observe.require);
    if !guards.is_empty() {
        // The event happens only under its guards.
        let guard = Condition::And(guards);
        require = Condition::Or(vec![Condition::Not(guard.into()), require]);
    }
    let narrowed: Vec<Condition> = contribute
        .point
        .condition
        .clone()
        .into_iter()
        .chain(observe.point.condition.as_ref().map(condition))
        .collect();
    let error_state = observe.error_state.as_ref().or(fault.error_state.as_ref());
    let message = observe.message.as_ref().or(fault.message.as_ref());
    let observed = Observed {
        fault: FaultIndex(0),
        strict: observe.strict,
        vars: model.vars.clone(),
        condition: join(narrowed),
        require,
        error_state: error_state.map(condition),
        message: message.map(|message| instance.template(message)),
        via: Some(model.id.clone()),
    };
    Instantiated { point: contribute.point.clone(), observed, scan: None }
}

/// A scanf-like call writes where its format says: two more variables stand for the target
/// and the bytes, bound by the matcher once per string the format stores.
fn scan_instance(
    observing: Observing<'_>,
    model: &Spec,
    contribute: &Contribute,
    format: VarIndex,
    guards: &[Condition],
) -> Instantiated {
    let mut extended = model.clone();
    let mut add = |name: &str, kind| {
        let span = contribute.span;
        extended.vars.push(Var { name: name.to_string(), kind, span });
        VarIndex(extended.vars.len() as u32 - 1)
    };
    let (target, bytes) = (add("the argument", VarKind::Ptr), add("the bytes", VarKind::Int));
    let args = [EventArg::Var(target, contribute.span), EventArg::Var(bytes, contribute.span)];
    let mut made = instance(observing, &extended, contribute, &args, guards.to_vec());
    made.scan = Some(Scan { format, target, bytes });
    made
}

/// An observation of a model's code.
pub struct Instantiated {
    pub point: Point,
    pub observed: Observed,
    pub scan: Option<Scan>,
}

/// A pointer observed is no descriptor announced.
fn fits(fault: &Spec, var: VarIndex, model: &Spec, arg: &EventArg) -> bool {
    let kind = |spec: &Spec, var: VarIndex| spec.vars.get(var.0 as usize).map(|var| var.kind);
    let is_pointer = |kind| matches!(kind, Some(VarKind::Ptr | VarKind::Buffer));
    match (kind(fault, var), arg) {
        (Some(VarKind::Any), _) => true,
        (wanted, EventArg::Var(given, _)) => {
            let given = kind(model, *given);
            given == Some(VarKind::Any) || is_pointer(wanted) == is_pointer(given)
        }
        (wanted, EventArg::Expr(_)) => wanted == Some(VarKind::Int),
    }
}

fn join(mut parts: Vec<Condition>) -> Option<Condition> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Condition::And(parts)),
    }
}

type Announced<'c> = (&'c str, &'c [EventArg], Vec<Condition>);

/// All events of some commands with the conditions they happen under.
fn collect<'c>(commands: &'c [Command], guards: &mut Vec<Condition>, to: &mut Vec<Announced<'c>>) {
    for command in commands {
        match command {
            Command::Event { name, args, .. } => to.push((name, args, guards.clone())),
            Command::When { condition, then, otherwise } => {
                guards.push(condition.clone());
                collect(then, guards, to);
                guards.pop();
                guards.push(Condition::Not(condition.clone().into()));
                collect(otherwise, guards, to);
                guards.pop();
            }
            Command::May { first, otherwise } => {
                collect(first, guards, to);
                collect(otherwise, guards, to);
            }
            Command::Either(all) => all.iter().for_each(|some| collect(some, guards, to)),
            Command::Assign { .. } | Command::Assume(_) => {}
        }
    }
}

impl Instance<'_> {
    fn arg_of(&self, var: VarIndex) -> Option<&EventArg> {
        let position = self.vars.iter().position(|v| *v == var)?;
        self.args.get(position)
    }

    fn condition(&self, condition: &Condition) -> Condition {
        let all = |parts: &[Condition]| parts.iter().map(|part| self.condition(part)).collect();
        match condition {
            Condition::Compare { comparator, left, right } => Condition::Compare {
                comparator: *comparator,
                left: self.expr(left),
                right: self.expr(right),
            },
            Condition::Holds(expr) => Condition::Holds(self.expr(expr)),
            Condition::Not(inner) => Condition::Not(self.condition(inner).into()),
            Condition::And(parts) => Condition::And(all(parts)),
            Condition::Or(parts) => Condition::Or(all(parts)),
        }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let go = |inner: &Expr| Box::new(self.expr(inner));
        let kind = match &expr.kind {
            ExprKind::Attr { attribute, args } => {
                // The value of an argument that is an expression is that expression.
                if let [Arg::Var(var)] = args.as_slice()
                    && attribute.name() == "Value"
                    && let Some(EventArg::Expr(value)) = self.arg_of(*var)
                {
                    return value.clone();
                }
                let args = args.iter().map(|arg| self.arg(arg)).collect();
                ExprKind::Attr { attribute: *attribute, args }
            }
            ExprKind::Negate(a) => ExprKind::Negate(go(a)),
            ExprKind::Not(a) => ExprKind::Not(go(a)),
            ExprKind::Input(a) => ExprKind::Input(go(a)),
            ExprKind::Binary { op, left, right } => {
                ExprKind::Binary { op: *op, left: go(left), right: go(right) }
            }
            ExprKind::Min(a, b) => ExprKind::Min(go(a), go(b)),
            ExprKind::Max(a, b) => ExprKind::Max(go(a), go(b)),
            ExprKind::Range(a, b) => ExprKind::Range(go(a), go(b)),
            ExprKind::Set(members) => {
                ExprKind::Set(members.iter().map(|member| self.expr(member)).collect())
            }
            other => other.clone(),
        };
        Expr { kind, span: expr.span }
    }

    fn arg(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Var(var) => match self.arg_of(*var) {
                Some(EventArg::Var(model_var, _)) => Arg::Var(*model_var),
                Some(EventArg::Expr(expr)) => Arg::Expr(expr.clone()),
                None => Arg::Var(*var),
            },
            Arg::Pointee(var) => match self.arg_of(*var) {
                Some(EventArg::Var(model_var, _)) => Arg::Pointee(*model_var),
                _ => arg.clone(),
            },
            Arg::Expr(expr) => Arg::Expr(self.expr(expr)),
            Arg::Rest | Arg::Patterns(_) => arg.clone(),
        }
    }

    fn template(&self, template: &Template) -> Template {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => Piece::Text(text.clone()),
            Piece::Expr(expr) => Piece::Expr(self.expr(expr)),
            Piece::Var(var) => match self.arg_of(*var) {
                Some(EventArg::Var(model_var, _)) => Piece::Var(*model_var),
                Some(EventArg::Expr(expr)) => Piece::Expr(expr.clone()),
                None => piece.clone(),
            },
        };
        Template { pieces: template.pieces.iter().map(piece).collect(), span: template.span }
    }
}

/// Visits every expression of a specification, inner ones included.
pub fn walk_spec(spec: &Spec, visit: &mut dyn FnMut(&Expr)) {
    let templates = spec.message.iter().chain(spec.observe.iter().flat_map(|o| &o.message));
    for piece in templates.flat_map(|template| &template.pieces) {
        if let Piece::Expr(expr) = piece {
            walk_expr(expr, visit);
        }
    }
    for observe in &spec.observe {
        let conditions = observe.point.condition.iter().chain([&observe.require]);
        conditions.chain(&observe.error_state).for_each(|c| walk_condition(c, visit));
    }
    for contribute in &spec.contribute {
        contribute.point.condition.iter().for_each(|c| walk_condition(c, visit));
        walk_commands(&contribute.commands, visit);
    }
    spec.error_state.iter().for_each(|c| walk_condition(c, visit));
}

/// The variables a condition speaks of.
pub fn variables(condition: &Condition) -> Vec<VarIndex> {
    let mut variables = Vec::new();
    walk_condition(condition, &mut |expr| {
        if let ExprKind::Attr { args, .. } = &expr.kind {
            variables.extend(args.iter().filter_map(|arg| match arg {
                Arg::Var(var) | Arg::Pointee(var) => Some(*var),
                _ => None,
            }));
        }
    });
    variables
}

fn walk_condition(condition: &Condition, visit: &mut dyn FnMut(&Expr)) {
    match condition {
        Condition::Compare { left, right, .. } => {
            walk_expr(left, visit);
            walk_expr(right, visit);
        }
        Condition::Holds(expr) => walk_expr(expr, visit),
        Condition::Not(inner) => walk_condition(inner, visit),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| walk_condition(part, visit));
        }
    }
}

fn walk_commands(commands: &[Command], visit: &mut dyn FnMut(&Expr)) {
    for command in commands {
        match command {
            Command::Assign { target, value } => {
                walk_expr(target, visit);
                walk_expr(value, visit);
            }
            Command::Assume(condition) => walk_condition(condition, visit),
            Command::When { condition, then, otherwise } => {
                walk_condition(condition, visit);
                walk_commands(then, visit);
                walk_commands(otherwise, visit);
            }
            Command::May { first, otherwise } => {
                walk_commands(first, visit);
                walk_commands(otherwise, visit);
            }
            Command::Either(all) => all.iter().for_each(|some| walk_commands(some, visit)),
            Command::Event { args, .. } => {
                for arg in args {
                    if let EventArg::Expr(expr) = arg {
                        walk_expr(expr, visit);
                    }
                }
            }
        }
    }
}

fn walk_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Attr { args, .. } => {
            for arg in args {
                if let Arg::Expr(inner) = arg {
                    walk_expr(inner, visit);
                }
            }
        }
        ExprKind::Negate(a) | ExprKind::Not(a) | ExprKind::Input(a) => walk_expr(a, visit),
        ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Min(a, b)
        | ExprKind::Max(a, b)
        | ExprKind::Range(a, b) => {
            walk_expr(a, visit);
            walk_expr(b, visit);
        }
        ExprKind::Set(members) => members.iter().for_each(|member| walk_expr(member, visit)),
        _ => {}
    }
}
