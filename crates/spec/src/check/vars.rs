//! Every variable is used, and every use is bound by the point it stands at.

use std::collections::BTreeSet;

use crate::ast::{
    Arg, Command, Condition, EventArg, Expr, ExprKind, Piece, Place, Point, Spec, Template,
    VarIndex,
};
use crate::c;
use crate::diagnostic::{Diagnostic, Span};

type Vars = BTreeSet<VarIndex>;

/// `parsed` is false where entries may be missing, so that nothing is called unused.
pub fn check(spec: &Spec, parsed: bool, diagnostics: &mut Vec<Diagnostic>) {
    let mut used_anywhere = Vars::new();
    let mut bound_anywhere = Vars::new();
    for observe in &spec.observe {
        mentioned(&observe.point, &mut used_anywhere);
        let mut uses = Vec::new();
        observe.point.condition.iter().for_each(|c| condition(c, &mut uses));
        condition(&observe.require, &mut uses);
        // What the file says for all entries must make sense at each that has none of its own.
        let error_state = observe.error_state.as_ref().or(spec.error_state.as_ref());
        let message = observe.message.as_ref().or(spec.message.as_ref());
        error_state.into_iter().for_each(|c| condition(c, &mut uses));
        message.into_iter().for_each(|m| template(m, &mut uses));
        unbound(spec, &observe.point, &uses, diagnostics);
        used_anywhere.extend(uses.iter().map(|(var, _)| *var));
        bound_anywhere.extend(bound_by(&observe.point));
    }
    for contribute in &spec.contribute {
        mentioned(&contribute.point, &mut used_anywhere);
        let mut uses = Vec::new();
        contribute.point.condition.iter().for_each(|c| condition(c, &mut uses));
        commands(&contribute.commands, &mut uses);
        unbound(spec, &contribute.point, &uses, diagnostics);
        used_anywhere.extend(uses.iter().map(|(var, _)| *var));
    }
    let mut global_uses = Vec::new();
    spec.error_state.iter().for_each(|c| condition(c, &mut global_uses));
    spec.message.iter().for_each(|m| template(m, &mut global_uses));
    for (var, span) in &global_uses {
        if parsed && !bound_anywhere.contains(var) {
            let name = &spec.vars[var.0 as usize].name;
            let message = format!("no observable point binds `{name}`");
            diagnostics.push(Diagnostic::error(*span, message));
        }
    }
    used_anywhere.extend(global_uses.iter().map(|(var, _)| *var));
    if !parsed {
        return;
    }
    for (index, var) in spec.vars.iter().enumerate() {
        let index = VarIndex(index as u32);
        if !used_anywhere.contains(&index) {
            let unused = Diagnostic::warning(var.span, format!("unused variable `{}`", var.name));
            diagnostics.push(unused.help("remove it"));
        }
    }
}

/// Every variable a point speaks of, bound by all its alternatives or not.
fn mentioned(point: &Point, to: &mut Vars) {
    for place in &point.places {
        match place {
            Place::Code(signature) => signature.statement.walk(&mut |e| code_var(e, to)),
            Place::Event { args, .. } => to.extend(args),
        }
    }
    point.condition.iter().for_each(|condition| patterns_in(condition, to));
}

fn patterns_in(condition: &Condition, to: &mut Vars) {
    match condition {
        Condition::Compare { left, right, .. } => {
            for side in [left, right] {
                if let ExprKind::Attr { args, .. } = &side.kind
                    && let [Arg::Patterns(patterns)] = args.as_slice()
                {
                    patterns.iter().for_each(|pattern| pattern.walk(&mut |e| code_var(e, to)));
                }
            }
        }
        Condition::Holds(_) => {}
        Condition::Not(inner) => patterns_in(inner, to),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| patterns_in(part, to));
        }
    }
}

/// The variables every place of a point binds.
pub fn bound_by(point: &Point) -> Vars {
    let mut places = point.places.iter().map(|place| {
        let mut vars = Vars::new();
        match place {
            Place::Code(signature) => signature.statement.walk(&mut |e| code_var(e, &mut vars)),
            Place::Event { args, .. } => vars.extend(args),
        }
        vars
    });
    let first = places.next().unwrap_or_default();
    let mut bound = places.fold(first, |bound, vars| &bound & &vars);
    // Patterns in the condition bind too: all of the alternatives must.
    if let Some(condition) = &point.condition {
        bound.extend(bound_by_condition(condition));
    }
    bound
}

fn bound_by_condition(condition: &Condition) -> Vars {
    match condition {
        Condition::Compare { left, right, .. } => &bound_by_expr(left) | &bound_by_expr(right),
        Condition::Holds(expr) => bound_by_expr(expr),
        Condition::And(parts) => parts.iter().flat_map(bound_by_condition).collect(),
        Condition::Or(parts) => {
            parts.iter().map(bound_by_condition).reduce(|a, b| &a & &b).unwrap_or_default()
        }
        Condition::Not(_) => Vars::new(),
    }
}

fn bound_by_expr(expr: &Expr) -> Vars {
    let ExprKind::Attr { args, .. } = &expr.kind else { return Vars::new() };
    let [Arg::Patterns(patterns)] = args.as_slice() else { return Vars::new() };
    patterns
        .iter()
        .map(|pattern| {
            let mut vars = Vars::new();
            pattern.walk(&mut |e| code_var(e, &mut vars));
            vars
        })
        .reduce(|a, b| &a & &b)
        .unwrap_or_default()
}

fn code_var(expr: &c::Expr, vars: &mut Vars) {
    if let c::Expr::Var(var) = expr {
        vars.insert(*var);
    }
}

fn unbound(
    spec: &Spec,
    point: &Point,
    uses: &[(VarIndex, Span)],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let bound = bound_by(point);
    let mut reported = Vars::new();
    for (var, span) in uses {
        if !bound.contains(var) && reported.insert(*var) {
            let name = &spec.vars[var.0 as usize].name;
            let message = format!("`{name}` is not bound at this point");
            let several = point.places.len() > 1;
            let help = if several {
                "each of the alternatives must bind it"
            } else {
                "use it in the code signature or event"
            };
            diagnostics.push(Diagnostic::error(*span, message).help(help));
        }
    }
}

fn condition(condition_: &Condition, to: &mut Vec<(VarIndex, Span)>) {
    match condition_ {
        Condition::Compare { left, right, .. } => {
            expr(left, to);
            expr(right, to);
        }
        Condition::Holds(inner) => expr(inner, to),
        Condition::Not(inner) => condition(inner, to),
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| condition(part, to));
        }
    }
}

fn expr(expr_: &Expr, to: &mut Vec<(VarIndex, Span)>) {
    match &expr_.kind {
        ExprKind::Attr { args, .. } => {
            for arg in args {
                match arg {
                    Arg::Var(var) | Arg::Pointee(var) => to.push((*var, expr_.span)),
                    Arg::Expr(inner) => expr(inner, to),
                    Arg::Rest | Arg::Patterns(_) => {}
                }
            }
        }
        ExprKind::Negate(a) | ExprKind::Not(a) | ExprKind::Input(a) => expr(a, to),
        ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Min(a, b)
        | ExprKind::Max(a, b)
        | ExprKind::Range(a, b) => {
            expr(a, to);
            expr(b, to);
        }
        ExprKind::Set(members) => members.iter().for_each(|member| expr(member, to)),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Undef
        | ExprKind::Empty
        | ExprKind::Name(_) => {}
    }
}

fn template(template_: &Template, to: &mut Vec<(VarIndex, Span)>) {
    for piece in &template_.pieces {
        match piece {
            Piece::Text(_) => {}
            Piece::Var(var) => to.push((*var, template_.span)),
            Piece::Expr(inner) => expr(inner, to),
        }
    }
}

fn commands(all: &[Command], to: &mut Vec<(VarIndex, Span)>) {
    for command in all {
        match command {
            Command::Assign { target, value } => {
                expr(target, to);
                expr(value, to);
            }
            Command::Assume(inner) => condition(inner, to),
            Command::When { condition: guard, then, otherwise } => {
                condition(guard, to);
                commands(then, to);
                commands(otherwise, to);
            }
            Command::May { first, otherwise } => {
                commands(first, to);
                commands(otherwise, to);
            }
            Command::Either(alternatives) => {
                alternatives.iter().for_each(|some| commands(some, to));
            }
            Command::Event { args, .. } => {
                for arg in args {
                    match arg {
                        EventArg::Var(var, span) => to.push((*var, *span)),
                        EventArg::Expr(inner) => expr(inner, to),
                    }
                }
            }
        }
    }
}
