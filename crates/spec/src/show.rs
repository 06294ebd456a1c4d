//! A specification as the engine sees it: the syntax tree of each part (the paper's Fig 8)
//! and the pattern each point became.

use std::fmt::Write;

use crate::ast::{Command, Condition, Expr, ExprKind, Point, Spec};
use crate::matcher::Pattern;
use crate::print::Printer;

/// The trees and patterns of all entries.
pub fn show(spec: &Spec) -> String {
    let mut text = String::new();
    let shower = Shower { printer: Printer { vars: &spec.vars }, spec };
    // Writing to a string cannot fail, here and below.
    for (index, observe) in spec.observe.iter().enumerate() {
        let strict = if observe.strict { ", strict" } else { "" };
        let _ = writeln!(text, "observable point {}{strict}", index + 1);
        shower.point(&observe.point, &mut text);
        text.push_str("  constraint\n");
        shower.condition(&observe.require, 2, &mut text);
        if let Some(state) = &observe.error_state {
            text.push_str("  error state\n");
            shower.condition(state, 2, &mut text);
        }
    }
    for (index, contribute) in spec.contribute.iter().enumerate() {
        let _ = writeln!(text, "contributing point {}", index + 1);
        shower.point(&contribute.point, &mut text);
        text.push_str("  transition\n");
        shower.commands(&contribute.commands, 2, &mut text);
    }
    if let Some(state) = &spec.error_state {
        text.push_str("error state\n");
        shower.condition(state, 1, &mut text);
    }
    text
}

struct Shower<'s> {
    printer: Printer<'s>,
    spec: &'s Spec,
}

fn line(depth: usize, content: &str, text: &mut String) {
    let _ = writeln!(text, "{}{content}", "  ".repeat(depth));
}

impl Shower<'_> {
    fn point(&self, point: &Point, text: &mut String) {
        line(1, &format!("point {}", self.printer.point(point)), text);
        match Pattern::compile(point, &self.spec.vars, false) {
            Ok(pattern) => {
                for shape in &pattern.shapes {
                    line(2, &format!("matches a {}", shape.describe(&self.spec.vars)), text);
                }
            }
            Err(diagnostic) => line(2, &format!("matches nothing: {}", diagnostic.message), text),
        }
        if let Some(condition) = point.condition.as_ref().filter(|_| !point.places.is_empty()) {
            line(2, "where", text);
            self.condition(condition, 3, text);
        }
    }

    fn condition(&self, condition: &Condition, depth: usize, text: &mut String) {
        let all = |sign: &str, parts: &[Condition], text: &mut String| {
            line(depth, sign, text);
            parts.iter().for_each(|part| self.condition(part, depth + 1, text));
        };
        match condition {
            Condition::Compare { comparator, left, right } => {
                line(depth, comparator.sign(), text);
                self.expr(left, depth + 1, text);
                self.expr(right, depth + 1, text);
            }
            Condition::Holds(expr) => self.expr(expr, depth, text),
            Condition::Not(inner) => all("!", std::slice::from_ref(inner), text),
            Condition::And(parts) => all("&&", parts, text),
            Condition::Or(parts) => all("||", parts, text),
        }
    }

    fn expr(&self, expr: &Expr, depth: usize, text: &mut String) {
        let node = |sign: &str, children: &[&Expr], text: &mut String| {
            line(depth, sign, text);
            children.iter().for_each(|child| self.expr(child, depth + 1, text));
        };
        match &expr.kind {
            ExprKind::Binary { op, left, right } => node(op.sign(), &[left, right], text),
            ExprKind::Min(a, b) => node("min", &[a, b], text),
            ExprKind::Max(a, b) => node("max", &[a, b], text),
            ExprKind::Range(a, b) => node("range", &[a, b], text),
            ExprKind::Negate(a) => node("-", &[a], text),
            ExprKind::Not(a) => node("!", &[a], text),
            ExprKind::Input(a) => node("input", &[a], text),
            ExprKind::Set(members) => node("set", &members.iter().collect::<Vec<_>>(), text),
            _ => line(depth, &self.printer.expr(expr), text),
        }
    }

    fn commands(&self, commands: &[Command], depth: usize, text: &mut String) {
        for command in commands {
            match command {
                Command::Assign { target, value } => {
                    line(depth, ":=", text);
                    self.expr(target, depth + 1, text);
                    self.expr(value, depth + 1, text);
                }
                Command::Assume(condition) => {
                    line(depth, "assume", text);
                    self.condition(condition, depth + 1, text);
                }
                Command::When { condition, then, otherwise } => {
                    line(depth, "when", text);
                    self.condition(condition, depth + 1, text);
                    self.branches(&[("then", then), ("else", otherwise)], depth, text);
                }
                Command::May { first, otherwise } => {
                    self.branches(&[("may", first), ("else", otherwise)], depth, text);
                }
                Command::Either(all) => {
                    for some in all {
                        self.branches(&[("either", some)], depth, text);
                    }
                }
                Command::Event { .. } => {
                    let event = self.printer.commands(std::slice::from_ref(command));
                    line(depth, &format!("announces {event}"), text);
                }
            }
        }
    }

    fn branches(&self, branches: &[(&str, &Vec<Command>)], depth: usize, text: &mut String) {
        for (word, commands) in branches.iter().filter(|(_, commands)| !commands.is_empty()) {
            line(depth, word, text);
            self.commands(commands, depth + 1, text);
        }
    }
}
