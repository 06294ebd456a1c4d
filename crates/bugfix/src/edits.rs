//! Concrete edits of a statement, each with the descriptions a fix of its kind has.
//!
//! Small changes are made wherever one can be made, and described as any fix is: what a
//! suggestion means for a statement is what is described like it.

use std::collections::BTreeSet;
use std::ops::Range;

use syntax::{Source, Statement, StatementKind};

use crate::describe::{Fixes, describe, operator_kind};
use crate::literal::{self, Value, written_like};
use crate::scope::Scope;
use crate::term::Term;

/// A change of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What is replaced, in the bytes of the file.
    pub bytes: Range<usize>,
    pub new: String,
    pub fixes: Fixes,
}

/// More are not made of one statement.
const MAX_CANDIDATES: usize = 400;

/// Other names tried in the place of one.
const MAX_NAMES: usize = 8;

/// All small changes of a statement. `constants` are numbers worth trying.
pub fn candidates(
    source: &Source,
    scope: &Scope,
    statement: &Statement,
    constants: &BTreeSet<i64>,
) -> Vec<Candidate> {
    if source.has_error(&statement.bytes) {
        return Vec::new();
    }
    let root = Term::of_statement(source, statement);
    let mut maker = Maker { source, scope, constants, made: Vec::new() };
    let mut open = vec![(&root, None)];
    while let Some((term, parent)) = open.pop() {
        maker.change(term, parent);
        open.extend(term.children.iter().rev().map(|child| (child, Some(term))));
    }
    let around = function_around(source, statement);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (bytes, new) in maker.made {
        if found.len() == MAX_CANDIDATES || !seen.insert((bytes.start, bytes.end, new.clone())) {
            continue;
        }
        let changed = changed_term(source, statement, &around, &bytes, &new);
        let fixes = changed.map(|changed| describe(&root, &changed, scope)).unwrap_or_default();
        if !fixes.is_empty() {
            found.push(Candidate { bytes, new, fixes });
        }
    }
    if statement.kind == StatementKind::Expression {
        let fixes = crate::change::whole_statement("remove", statement.kind, &root);
        found.push(Candidate { bytes: statement.bytes.clone(), new: ";".to_owned(), fixes });
    }
    found
}

fn function_around(source: &Source, statement: &Statement) -> Range<usize> {
    let functions = source.functions();
    let around = functions.into_iter().find(|f| f.body.contains(&statement.bytes.start));
    around.map_or(0..source.text().len(), |function| function.bytes)
}

/// The statement as it would be parsed after the change.
fn changed_term(
    source: &Source,
    statement: &Statement,
    around: &Range<usize>,
    bytes: &Range<usize>,
    new: &str,
) -> Option<Term> {
    let text = source.text();
    let mut changed = text.get(around.start..bytes.start)?.to_vec();
    changed.extend_from_slice(new.as_bytes());
    changed.extend_from_slice(text.get(bytes.end..around.end)?);
    let changed = Source::parse(changed);
    let start = statement.bytes.start - around.start;
    let statement = changed
        .statements()
        .into_iter()
        .find(|s| s.bytes.start == start && s.kind == statement.kind)?;
    (!changed.has_error(&statement.bytes)).then(|| Term::of_statement(&changed, &statement))
}

struct Maker<'a> {
    source: &'a Source,
    scope: &'a Scope,
    constants: &'a BTreeSet<i64>,
    made: Vec<(Range<usize>, String)>,
}

impl Maker<'_> {
    fn make(&mut self, bytes: &Range<usize>, new: String) {
        self.made.push((bytes.clone(), new));
    }

    fn text(&self, term: &Term) -> String {
        self.source.slice(&term.bytes)
    }

    fn change(&mut self, term: &Term, parent: Option<&Term>) {
        match term.kind {
            "binary_expression" => {
                self.other_operators(term);
                self.without_an_operand(term);
                self.swapped_operands(term);
            }
            "assignment_expression" | "update_expression" => self.other_operators(term),
            "number_literal" => self.other_numbers(term),
            "identifier" => self.other_names(term, parent),
            "field_identifier" => self.other_members(term),
            "call_expression" => self.swapped_arguments(term),
            "unary_expression" if term.operator() == Some("!") => {
                if let Some(operand) = term.child("argument") {
                    self.make(&term.bytes, self.text(operand));
                }
            }
            "break_statement" => self.make(&term.bytes, "continue;".to_owned()),
            "continue_statement" => self.make(&term.bytes, "break;".to_owned()),
            _ => {}
        }
        if is_condition(term, parent) {
            self.negated(term);
        }
        if is_number(term, parent) {
            self.off_by_one(term);
        }
    }

    fn other_operators(&mut self, term: &Term) {
        let Some(operator) = term.child("operator") else { return };
        let others: &[&str] = match operator_kind(&operator.text) {
            // What only excludes or includes equality is tried first.
            Some("comparison") => match operator.text.as_str() {
                "<" => &["<=", ">", ">=", "!=", "=="],
                "<=" => &["<", ">=", ">", "==", "!="],
                ">" => &[">=", "<", "<=", "!=", "=="],
                ">=" => &[">", "<=", "<", "==", "!="],
                "==" => &["!=", "<=", ">=", "<", ">"],
                _ => &["==", "<", ">", "<=", ">="],
            },
            Some("arithmetic") => &["+", "-", "*", "/", "%"],
            Some("logical") => &["&&", "||"],
            Some("bitwise") => &["&", "|", "^", "<<", ">>"],
            Some("increment") => &["++", "--"],
            Some("assignment") => &["=", "+=", "-=", "*=", "/=", "|=", "&="],
            _ => &[],
        };
        for other in others.iter().filter(|other| **other != operator.text) {
            self.make(&operator.bytes, other.to_string());
        }
    }

    fn without_an_operand(&mut self, term: &Term) {
        if operator_kind(term.operator().unwrap_or("")) == Some("comparison") {
            return;
        }
        if let Some((left, right)) = term.operands() {
            self.make(&term.bytes, self.text(left));
            self.make(&term.bytes, self.text(right));
        }
    }

    fn swapped_operands(&mut self, term: &Term) {
        if let (Some((left, right)), Some(operator @ ("-" | "/" | "%"))) =
            (term.operands(), term.operator())
        {
            let group = |term: &Term| {
                let text = self.text(term);
                if term.children.is_empty() { text } else { format!("({text})") }
            };
            self.make(&term.bytes, format!("{} {operator} {}", group(right), group(left)));
        }
    }

    fn other_numbers(&mut self, term: &Term) {
        let text = self.text(term);
        let mut others = Vec::new();
        match literal::value(term) {
            Some(Value::Integer(number)) => {
                let near = [number + 1, number - 1, number + 2, number - 2];
                others.extend(near.iter().filter(|n| **n >= 0).map(|n| Value::Integer(*n)));
                others.extend(self.constants.iter().map(|n| Value::Integer(i128::from(*n))));
                others.extend([0, 1].map(Value::Integer));
            }
            Some(Value::Float(number)) => {
                let near = [number + 1.0, number - 1.0, number + 0.001, number - 0.001];
                others.extend(near.map(Value::Float));
            }
            _ => {}
        }
        for other in others.into_iter().filter_map(|other| written_like(&text, other)) {
            if other != text {
                self.make(&term.bytes, other);
            }
        }
    }

    fn other_names(&mut self, term: &Term, parent: Option<&Term>) {
        let is_called =
            parent.is_some_and(|p| p.kind == "call_expression" && term.role == Some("function"));
        let is_declared = parent
            .is_some_and(|p| p.kind.contains("declarator") && term.role == Some("declarator"))
            || parent.is_some_and(|p| p.kind == "declaration");
        let ty = self.scope.type_of(&term.text, term.bytes.start);
        if is_called || is_declared || ty.is_none() {
            return;
        }
        // The nearest declarations first.
        let visible = self.scope.visible(term.bytes.start);
        let fitting = visible.iter().rev().filter(|v| Some(v.ty.as_str()) == ty);
        let mut names: Vec<&str> = fitting.map(|v| v.name.as_str()).collect();
        names.retain(|name| *name != term.text);
        names.dedup();
        for name in names.into_iter().take(MAX_NAMES) {
            self.make(&term.bytes, name.to_owned());
        }
    }

    fn other_members(&mut self, term: &Term) {
        for name in self.scope.siblings(&term.text).into_iter().take(MAX_NAMES) {
            self.made.push((term.bytes.clone(), name.to_owned()));
        }
    }

    fn swapped_arguments(&mut self, call: &Term) {
        let arguments = call.arguments().unwrap_or_default();
        for pair in arguments.windows(2) {
            let (first, second) = (pair[0], pair[1]);
            let between = self.source.slice(&(first.bytes.end..second.bytes.start));
            let swapped = format!("{}{between}{}", self.text(second), self.text(first));
            self.make(&(first.bytes.start..second.bytes.end), swapped);
        }
    }

    fn negated(&mut self, term: &Term) {
        let text = self.text(term.inner());
        let is_simple = term.inner().children.is_empty() || term.inner().kind == "call_expression";
        let negated = if is_simple { format!("!{text}") } else { format!("!({text})") };
        self.make(&term.inner().bytes, negated);
    }

    fn off_by_one(&mut self, term: &Term) {
        let text = self.text(term);
        for operator in ["+", "-"] {
            self.make(&term.bytes, format!("{text} {operator} 1"));
        }
    }
}

/// Something that decides a branch.
fn is_condition(term: &Term, parent: Option<&Term>) -> bool {
    let Some(parent) = parent else { return false };
    let decides = term.kind == "parenthesized_expression" && parent.kind == "head"
        || term.role == Some("condition");
    let joins = parent.operands().is_some()
        && operator_kind(parent.operator().unwrap_or("")) == Some("logical")
        && term.role != Some("operator");
    let is_negated =
        term.inner().kind == "unary_expression" && term.inner().operator() == Some("!");
    (decides || joins) && !is_negated
}

/// A value that may be off by one: an operand of a comparison, an index, an argument, what is
/// assigned or returned.
fn is_number(term: &Term, parent: Option<&Term>) -> bool {
    let Some(parent) = parent else { return false };
    let is_value = matches!(
        term.kind,
        "identifier"
            | "field_expression"
            | "subscript_expression"
            | "call_expression"
            | "pointer_expression"
            | "binary_expression"
    );
    let is_compared = parent.operands().is_some()
        && matches!(operator_kind(parent.operator().unwrap_or("")), Some("comparison"));
    let takes_numbers = is_compared
        || matches!(parent.kind, "argument_list" | "return_statement")
        || (parent.kind == "subscript_expression" && term.role == Some("index"))
        || (parent.kind == "assignment_expression" && term.role == Some("right"))
        || (parent.kind == "init_declarator" && term.role == Some("value"));
    let is_arithmetic = term.kind != "binary_expression"
        || operator_kind(term.operator().unwrap_or("")) == Some("arithmetic");
    is_value && takes_numbers && is_arithmetic
}
