//! Whether a parsed specification makes sense: types, bound and unused variables, sections
//! that contradict each other.

mod contradiction;
mod types;
mod vars;

use crate::ast::{Spec, SpecKind};
use crate::diagnostic::{Diagnostic, Level, Span};
use crate::parser::parse;

/// Parses and checks. The diagnostics come in the order of the text.
pub fn check(text: &str) -> (Spec, Vec<Diagnostic>) {
    let (spec, mut diagnostics) = parse(text);
    let parsed = !has_errors(&diagnostics);
    sections(&spec, parsed, &mut diagnostics);
    types::check(&spec, &mut diagnostics);
    vars::check(&spec, parsed, &mut diagnostics);
    if !has_errors(&diagnostics) {
        contradiction::check(&spec, &mut diagnostics);
    }
    diagnostics.sort_by_key(|d| (d.span, d.level));
    diagnostics.dedup();
    (spec, diagnostics)
}

pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.level == Level::Error)
}

/// `parsed` is false where entries may be missing.
fn sections(spec: &Spec, parsed: bool, diagnostics: &mut Vec<Diagnostic>) {
    if spec.id.is_empty() {
        return;
    }
    let mut complain = |span: Span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(span, message).help(help));
    };
    match spec.kind {
        SpecKind::Model => {
            if let Some(observe) = spec.observe.first() {
                let message = "contradictory sections: a model observes nothing".to_string();
                complain(observe.span, message, "start the file with `fault NAME` instead");
            }
            if spec.contribute.is_empty() && parsed {
                let message = format!("model `{}` says nothing", spec.id);
                complain(spec.id_span, message, "add a `contribute` section");
            }
            if spec.error_state.is_some() || spec.message.is_some() {
                let message = "contradictory sections: a model has no error state or message";
                complain(spec.id_span, message.to_string(), "these belong to a fault");
            }
        }
        SpecKind::Fault => {
            if spec.observe.is_empty() && parsed {
                let message = format!("fault `{}` is observed nowhere", spec.id);
                complain(spec.id_span, message, "add `observe` with `at ... require ...`");
            }
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if !spec.id.chars().all(kebab) {
                let message = format!("`{}` is no rule id", spec.id);
                complain(spec.id_span, message, "use lowercase words joined by dashes");
            }
            if spec.title.is_none() {
                let missing =
                    Diagnostic::warning(spec.id_span, format!("fault `{}` has no title", spec.id));
                diagnostics.push(missing.help("add `title \"...\"`"));
            }
        }
    }
}
