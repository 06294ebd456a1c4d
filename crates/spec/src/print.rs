//! A specification as text that parses to the same specification.

use std::fmt::Write;

use crate::ast::{
    Arg, BinaryOp, Command, Condition, EventArg, Expr, ExprKind, Observe, Piece, Place, Point,
    Spec, SpecKind, Template, Var, VarIndex,
};

/// The whole specification in canonical layout.
pub fn print(spec: &Spec) -> String {
    let mut text = String::new();
    let kind = match spec.kind {
        SpecKind::Fault => "fault",
        SpecKind::Model => "model",
    };
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{kind} {}", spec.id);
    if let Some(title) = &spec.title {
        let _ = writeln!(text, "title {}", quoted(title));
    }
    if spec.kind == SpecKind::Fault {
        let _ = writeln!(text, "severity {}", spec.severity.name());
    }
    if !spec.cwe.is_empty() {
        let numbers: Vec<String> = spec.cwe.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "cwe {}", numbers.join(" "));
    }
    if !spec.vars.is_empty() {
        text.push_str("vars");
        for var in &spec.vars {
            let _ = write!(text, " {} {};", var.kind.name(), var.name);
        }
        text.push('\n');
    }
    let printer = Printer { vars: &spec.vars };
    if !spec.observe.is_empty() {
        text.push_str("observe\n");
        for observe in &spec.observe {
            printer.observe(observe, &mut text);
        }
    }
    if !spec.contribute.is_empty() {
        text.push_str("contribute\n");
        for contribute in &spec.contribute {
            let commands = printer.commands(&contribute.commands);
            let _ = writeln!(text, "  at {} {commands}", printer.point(&contribute.point));
        }
    }
    if let Some(state) = &spec.error_state {
        let _ = writeln!(text, "error-state {}", printer.condition(state));
    }
    if let Some(message) = &spec.message {
        let _ = writeln!(text, "message {}", printer.template(message));
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Prints parts of one specification.
pub struct Printer<'s> {
    pub vars: &'s [Var],
}

impl Printer<'_> {
    fn var(&self, var: VarIndex) -> &str {
        self.vars.get(var.0 as usize).map_or("?", |var| &var.name)
    }

    fn observe(&self, observe: &Observe, text: &mut String) {
        let strict = if observe.strict { "strict " } else { "" };
        let (point, require) = (self.point(&observe.point), self.condition(&observe.require));
        let _ = writeln!(text, "  {strict}at {point} require {require}");
        if let Some(state) = &observe.error_state {
            let _ = writeln!(text, "    error-state {}", self.condition(state));
        }
        if let Some(message) = &observe.message {
            let _ = writeln!(text, "    message {}", self.template(message));
        }
    }

    pub fn point(&self, point: &Point) -> String {
        let places: Vec<String> = point
            .places
            .iter()
            .map(|place| match place {
                Place::Code(signature) => format!("${}$", signature.statement.print(self.vars)),
                Place::Event { name, args, .. } if args.is_empty() => name.clone(),
                Place::Event { name, args, .. } => {
                    let args: Vec<&str> = args.iter().map(|arg| self.var(*arg)).collect();
                    format!("{name}({})", args.join(", "))
                }
            })
            .collect();
        let places = places.join(" or ");
        match &point.condition {
            Some(condition) if places.is_empty() => self.condition(condition),
            Some(condition) => format!("{places} && {}", self.condition(condition)),
            None => places,
        }
    }

    pub fn condition(&self, condition: &Condition) -> String {
        let part = |inner: &Condition| match inner {
            Condition::And(_) | Condition::Or(_) => format!("({})", self.condition(inner)),
            _ => self.condition(inner),
        };
        let join =
            |parts: &[Condition], sign: &str| parts.iter().map(part).collect::<Vec<_>>().join(sign);
        match condition {
            Condition::Compare { comparator, left, right } => {
                // A `!` in front would negate the whole comparison.
                let left = match left.kind {
                    ExprKind::Not(_) => self.operand(left),
                    _ => self.expr(left),
                };
                format!("{left} {} {}", comparator.sign(), self.expr(right))
            }
            Condition::Holds(expr) => self.expr(expr),
            Condition::Not(inner) => format!("!({})", self.condition(inner)),
            Condition::And(parts) => join(parts, " && "),
            Condition::Or(parts) => join(parts, " || "),
        }
    }

    pub fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Int(value) => value.to_string(),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Undef => "undef".to_string(),
            ExprKind::Empty => "empty".to_string(),
            ExprKind::Name(name) => name.clone(),
            ExprKind::Attr { attribute, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.arg(arg)).collect();
                format!("{}({})", attribute.name(), args.join(", "))
            }
            ExprKind::Negate(inner) => format!("-{}", self.operand(inner)),
            ExprKind::Not(inner) => format!("!{}", self.operand(inner)),
            ExprKind::Input(inner) => format!("input {}", self.operand(inner)),
            ExprKind::Binary { op, left, right } => {
                // Chains of one operator read from the left; everything else is grouped.
                let left = match &left.kind {
                    ExprKind::Binary { op: inner, .. } if joins(*inner, *op) => self.expr(left),
                    _ => self.operand(left),
                };
                format!("{left} {} {}", op.sign(), self.operand(right))
            }
            ExprKind::Min(a, b) => format!("min({}, {})", self.expr(a), self.expr(b)),
            ExprKind::Max(a, b) => format!("max({}, {})", self.expr(a), self.expr(b)),
            ExprKind::Range(a, b) => format!("[{}, {}]", self.expr(a), self.expr(b)),
            ExprKind::Set(members) => {
                let members: Vec<String> = members.iter().map(|m| self.expr(m)).collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }

    fn operand(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Binary { .. }
            | ExprKind::Negate(_)
            | ExprKind::Not(_)
            | ExprKind::Input(_) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    fn arg(&self, arg: &Arg) -> String {
        match arg {
            Arg::Var(var) => self.var(*var).to_string(),
            Arg::Pointee(var) => format!("*{}", self.var(*var)),
            Arg::Expr(expr) => self.expr(expr),
            Arg::Rest => "...".to_string(),
            Arg::Patterns(patterns) => {
                patterns.iter().map(|p| p.print(self.vars)).collect::<Vec<_>>().join(", ")
            }
        }
    }

    pub fn commands(&self, commands: &[Command]) -> String {
        commands.iter().map(|command| self.command(command)).collect::<Vec<_>>().join(", ")
    }

    fn grouped(&self, commands: &[Command]) -> String {
        format!("[{}]", self.commands(commands))
    }

    fn command(&self, command: &Command) -> String {
        match command {
            Command::Assign { target, value } => {
                format!("{} := {}", self.expr(target), self.expr(value))
            }
            Command::Assume(condition) => format!("[assume {}]", self.condition(condition)),
            Command::When { condition, then, otherwise } => {
                let otherwise = self.otherwise(otherwise);
                format!("when {} then {}{otherwise}", self.condition(condition), self.grouped(then))
            }
            Command::May { first, otherwise } => {
                format!("may {}{}", self.grouped(first), self.otherwise(otherwise))
            }
            Command::Either(all) => {
                let all: Vec<String> = all.iter().map(|some| self.grouped(some)).collect();
                format!("[{}]", all.join(" || "))
            }
            Command::Event { name, args, .. } => {
                let args: Vec<String> = args
                    .iter()
                    .map(|arg| match arg {
                        EventArg::Var(var, _) => self.var(*var).to_string(),
                        EventArg::Expr(expr) => self.expr(expr),
                    })
                    .collect();
                if args.is_empty() { name.clone() } else { format!("{name}({})", args.join(", ")) }
            }
        }
    }

    fn otherwise(&self, commands: &[Command]) -> String {
        if commands.is_empty() {
            String::new()
        } else {
            format!(" else {}", self.grouped(commands))
        }
    }

    pub fn template(&self, template: &Template) -> String {
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Var(var) => {
                    let _ = write!(text, "{{{}}}", self.var(*var));
                }
                Piece::Expr(expr) => {
                    let _ = write!(text, "{{{}}}", self.expr(expr));
                }
            }
        }
        quoted(&text)
    }
}

/// Whether `inner` needs no brackets to the left of `outer`.
fn joins(inner: BinaryOp, outer: BinaryOp) -> bool {
    let additive = |op| matches!(op, BinaryOp::Add | BinaryOp::Sub);
    inner == outer || additive(inner) && additive(outer)
}
