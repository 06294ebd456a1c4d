//! Constraints that can never or will always hold, and entries that contradict each other:
//! the same solver that runs the analysis says so.

use logic::{FormulaId, Terms, decide};

use crate::ast::{Command, Condition, ExprKind, Place, Point, Spec, Var, VarIndex};
use crate::diagnostic::{Diagnostic, Span};
use crate::lower::{Argument, Bindings, Context, FreeContext, Lowering};

const STEPS: u64 = 20_000;

pub fn check(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    let mut checker = Checker { context: FreeContext::default(), bindings: free(&spec.vars) };
    let mut required: Vec<(Vec<String>, FormulaId, Span)> = Vec::new();
    for observe in &spec.observe {
        let Some(require) = checker.formula(&observe.require) else { continue };
        match checker.truth(require) {
            // Said in so many words it is meant: the code is wrong wherever it stands.
            Some(false) if is_false(&observe.require) => {}
            Some(false) => diagnostics.push(
                Diagnostic::error(observe.span, "this requirement can never hold")
                    .help("its parts contradict each other"),
            ),
            Some(true) => diagnostics.push(Diagnostic::warning(
                observe.span,
                "this requirement always holds, so no fault is ever found here",
            )),
            None => {
                let places = places(&observe.point, &spec.vars);
                let unguarded = observe.point.condition.is_none();
                for (other, formula, _) in required.iter().filter(|_| unguarded) {
                    let both = checker.context.terms().and(&[*formula, require]);
                    if *other == places && checker.truth(both) == Some(false) {
                        diagnostics.push(Diagnostic::error(
                            observe.span,
                            "contradictory sections: an earlier entry requires the opposite here",
                        ));
                    }
                }
                if unguarded {
                    required.push((places, require, observe.span));
                }
            }
        }
    }
    for contribute in &spec.contribute {
        assigned_twice(&contribute.commands, contribute.span, diagnostics);
        for condition in conditions(&contribute.commands) {
            if let Some(formula) = checker.formula(condition)
                && checker.truth(formula) == Some(false)
            {
                let message = "a condition of this transition can never hold";
                diagnostics.push(Diagnostic::error(contribute.span, message));
            }
        }
    }
}

fn is_false(condition: &Condition) -> bool {
    matches!(condition, Condition::Holds(expr) if expr.kind == ExprKind::Bool(false))
}

struct Checker {
    context: FreeContext,
    bindings: Bindings,
}

impl Checker {
    /// `None` where the condition has parts only a program gives a value.
    fn formula(&mut self, condition: &Condition) -> Option<FormulaId> {
        Lowering::new(&self.bindings, &mut self.context).condition(condition).ok()
    }

    fn truth(&mut self, formula: FormulaId) -> Option<bool> {
        let terms: &mut Terms = self.context.terms();
        let negated = terms.not(formula);
        if decide(terms, &[formula], STEPS).is_unsat() {
            return Some(false);
        }
        decide(terms, &[negated], STEPS).is_unsat().then_some(true)
    }
}

fn free(vars: &[Var]) -> Bindings {
    let mut bindings = Bindings::with_vars(vars.len());
    for index in 0..vars.len() {
        let var = VarIndex(index as u32);
        bindings.bind(var, Argument::Free(var));
    }
    bindings
}

fn places(point: &Point, vars: &[Var]) -> Vec<String> {
    point
        .places
        .iter()
        .map(|place| match place {
            Place::Code(signature) => signature.statement.print(vars),
            Place::Event { name, args, .. } => format!("{name} {args:?}"),
        })
        .collect()
}

fn conditions(commands: &[Command]) -> Vec<&Condition> {
    commands
        .iter()
        .filter_map(|command| match command {
            Command::Assume(condition) | Command::When { condition, .. } => Some(condition),
            _ => None,
        })
        .collect()
}

/// Two unconditional assignments of one attribute at one point: only one can be meant.
fn assigned_twice(commands: &[Command], span: Span, diagnostics: &mut Vec<Diagnostic>) {
    for (index, command) in commands.iter().enumerate() {
        let Command::Assign { target, value } = command else { continue };
        let again = commands[..index].iter().any(|earlier| {
            matches!(earlier, Command::Assign { target: t, value: v } if t == target && v != value)
        });
        if again {
            let at = if target.span == Span::default() { span } else { target.span };
            diagnostics.push(Diagnostic::error(
                at,
                "contradictory transition: this attribute is assigned twice at one point",
            ));
        }
    }
}
