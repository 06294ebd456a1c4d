//! Bug-fix descriptions, general and specific, from what became of a statement.
//!
//! Two statements are compared from the outside in: where one part differs, that part is looked
//! into, until what is left can be named. The words are the paper's where it has some.

use std::collections::BTreeSet;

use crate::direction::direction_of;
use crate::literal::{self, Value};
use crate::scope::Scope;
use crate::term::Term;

/// What describes a fix.
pub type Fixes = BTreeSet<String>;

/// A statement that changes in more places than this is rewritten rather than changed.
const MAX_DIFFERENCES: usize = 2;

/// Describes how `old` became `new`; names are looked up in the scope of `old`.
pub(crate) fn describe(old: &Term, new: &Term, scope: &Scope) -> Fixes {
    let mut describer =
        Describer { scope, found: Fixes::new(), n_differences: 0, is_by_one: false };
    describer.compare(old, new);
    if describer.n_differences > MAX_DIFFERENCES {
        return Fixes::from(["rewrite the statement".to_owned()]);
    }
    if describer.is_by_one && describer.n_differences == 1 {
        describer.say("off by one");
    }
    describer.found.extend(direction_of(old, new).map(str::to_owned));
    describer.found
}

struct Describer<'a> {
    scope: &'a Scope,
    found: Fixes,
    n_differences: usize,
    /// Whether a bound or a value moves by one.
    is_by_one: bool,
}

/// What an operator is about.
pub(crate) fn operator_kind(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "<" | "<=" | ">" | ">=" | "==" | "!=" => "comparison",
        "+" | "-" | "*" | "/" | "%" => "arithmetic",
        "&&" | "||" => "logical",
        "&" | "|" | "^" | "<<" | ">>" => "bitwise",
        "++" | "--" => "increment",
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => "assignment",
        _ => return None,
    })
}

impl Describer<'_> {
    fn say(&mut self, description: &str) {
        self.found.insert(description.to_owned());
    }

    fn compare(&mut self, old: &Term, new: &Term) {
        let (old, new) = (old.inner(), new.inner());
        if old.text == new.text {
            return;
        }
        let is_named = self.constants(old, new)
            || self.names(old, new)
            || self.operators(old, new)
            || self.wrapped(old, new)
            || self.unwrapped(old, new)
            || self.swapped(old, new);
        if is_named {
            self.n_differences += 1;
            return;
        }
        if !self.inside(old, new) {
            self.n_differences += 1;
            self.replaced(old, new);
        }
    }

    /// Looks into what differs, where both are built alike.
    fn inside(&mut self, old: &Term, new: &Term) -> bool {
        if old.kind != new.kind || old.children.is_empty() || new.children.is_empty() {
            return false;
        }
        if old.children.len() == new.children.len() {
            for (old, new) in old.children.iter().zip(&new.children) {
                self.compare(old, new);
            }
            return true;
        }
        false
    }

    fn constants(&mut self, old: &Term, new: &Term) -> bool {
        let (Some(before), Some(after)) = (literal::value(old), literal::value(new)) else {
            let is_text =
                |term: &Term| matches!(term.kind, "string_literal" | "concatenated_string");
            if is_text(old) && is_text(new) {
                self.say("constant mutation");
                self.say("change a string");
                return true;
            }
            return false;
        };
        self.say("constant mutation");
        if let (Value::Character(_), Value::Character(_)) = (before, after) {
            self.say("change a character constant");
            return true;
        }
        let difference = after.as_number() - before.as_number();
        if difference != 0.0 {
            let how = if difference > 0.0 { "increase" } else { "decrease" };
            self.say(&format!("{how} constant value"));
            if difference.abs() == 1.0 {
                self.is_by_one = true;
                self.say(&format!("{how} constant value by 1"));
            }
        }
        true
    }

    fn names(&mut self, old: &Term, new: &Term) -> bool {
        if old.kind == "field_identifier" && new.kind == "field_identifier" {
            self.say("use another variable");
            self.say("use another member");
            return true;
        }
        let is_keyword = |term: &Term| term.children.is_empty() && term.kind == term.text;
        let is_word = |term: &Term| term.text.starts_with(|c: char| c.is_ascii_lowercase());
        if is_keyword(old) && is_keyword(new) && is_word(old) && is_word(new) {
            self.say("change the kind of statement");
            self.say(&format!("change `{}` into `{}`", old.text, new.text));
            return true;
        }
        let is_constant = |term: &Term| {
            term.is_constant()
                || (term.is_name() && self.scope.is_constant(&term.text, old.bytes.start))
        };
        let is_variable = |term: &Term| {
            let is_place = matches!(
                term.kind,
                "identifier" | "field_expression" | "subscript_expression" | "pointer_expression"
            );
            is_place && !is_constant(term)
        };
        let (from_constant, to_constant) = (is_constant(old), is_constant(new));
        if from_constant && to_constant {
            self.say("constant mutation");
            self.say("use another named constant");
        } else if from_constant && is_variable(new) {
            self.say("use a variable instead of a constant");
        } else if is_variable(old) && to_constant {
            self.say("use a constant instead of a variable");
        } else if old.is_name() && new.is_name() {
            self.say("use another variable");
        } else if is_variable(old) && is_variable(new) && old.kind != new.kind {
            // One may hold the other: `p` and `p->next` differ by more than a name.
            let contains = |a: &Term, b: &Term| a.all().iter().any(|term| term.text == b.text);
            if contains(old, new) || contains(new, old) {
                return false;
            }
            self.say("use another variable");
        } else {
            return false;
        }
        true
    }

    /// The same operands with another operator.
    fn operators(&mut self, old: &Term, new: &Term) -> bool {
        let (Some(before), Some(after)) = (old.operator(), new.operator()) else { return false };
        let others = |term: &Term| -> Vec<String> {
            let others = term.children.iter().filter(|c| c.role != Some("operator"));
            others.map(|child| child.inner().text.clone()).collect()
        };
        if old.kind != new.kind || before == after {
            return false;
        }
        let (before, after) = (before.to_owned(), after.to_owned());
        if others(old) != others(new) {
            return false;
        }
        self.say("operator mutation");
        let (kind, new_kind) = (operator_kind(&before), operator_kind(&after));
        if let Some(kind) = kind.filter(|_| kind == new_kind) {
            self.say(&format!("{kind} operator mutation"));
        }
        self.say(&format!("change `{before}` into `{after}`"));
        let pair = (before.as_str(), after.as_str());
        if matches!(pair, ("<=", "<") | (">=", ">")) {
            self.say("exclude equality from the comparison");
            self.is_by_one = true;
        } else if matches!(pair, ("<", "<=") | (">", ">=")) {
            self.say("include equality in the comparison");
            self.is_by_one = true;
        }
        true
    }

    /// The old expression is part of the new one.
    fn wrapped(&mut self, old: &Term, new: &Term) -> bool {
        let is_old = |term: &Term| term.inner().text == old.text;
        if let Some((left, right)) = new.operands()
            && (is_old(left) || is_old(right))
        {
            let added = if is_old(left) { right } else { left };
            self.joined(old, new.operator().unwrap_or(""), added, true);
            return true;
        }
        let holds_old = new.children.iter().any(is_old);
        match (new.kind, new.operator()) {
            ("unary_expression", Some("!")) if holds_old => self.say("negate the condition"),
            ("unary_expression", Some(operator)) if holds_old => {
                let said = format!("add the operator `{operator}`");
                self.say("add an operator");
                self.say(&said);
            }
            ("pointer_expression", Some("*")) if holds_old => self.say("add a dereference"),
            ("pointer_expression", Some("&")) if holds_old => self.say("take the address"),
            ("cast_expression", _) if holds_old => self.say("add a cast"),
            ("conditional_expression", _) if holds_old => self.say("choose between two values"),
            ("subscript_expression", _) if holds_old => self.say("add an index"),
            ("field_expression", _) if holds_old => self.say("use another member"),
            ("call_expression", _) => {
                let arguments = new.arguments().unwrap_or_default();
                if !arguments.iter().any(|argument| is_old(argument)) {
                    return false;
                }
                self.say("add a function call");
            }
            _ => return false,
        }
        true
    }

    /// The new expression was part of the old one.
    fn unwrapped(&mut self, old: &Term, new: &Term) -> bool {
        let is_new = |term: &Term| term.inner().text == new.text;
        if let Some((left, right)) = old.operands()
            && (is_new(left) || is_new(right))
        {
            let removed = if is_new(left) { right } else { left };
            self.joined(new, old.operator().unwrap_or(""), removed, false);
            return true;
        }
        let held_new = old.children.iter().any(is_new);
        match (old.kind, old.operator()) {
            ("unary_expression", Some("!")) if held_new => self.say("negate the condition"),
            ("unary_expression", Some(operator)) if held_new => {
                let said = format!("remove the operator `{operator}`");
                self.say("remove an operator");
                self.say(&said);
            }
            ("pointer_expression", Some("*")) if held_new => self.say("remove a dereference"),
            ("pointer_expression", Some("&")) if held_new => self.say("do not take the address"),
            ("cast_expression", _) if held_new => self.say("remove a cast"),
            ("conditional_expression", _) if held_new => self.say("do not choose between values"),
            ("subscript_expression", _) if held_new => self.say("remove an index"),
            ("field_expression", _) if held_new => self.say("use another member"),
            ("call_expression", _) => {
                let arguments = old.arguments().unwrap_or_default();
                if !arguments.iter().any(|argument| is_new(argument)) {
                    return false;
                }
                self.say("remove a function call");
            }
            _ => return false,
        }
        true
    }

    /// `rest` gained or lost `part` with an operator.
    fn joined(&mut self, rest: &Term, operator: &str, part: &Term, is_added: bool) {
        let (verb, to) = if is_added { ("add", "to") } else { ("remove", "from") };
        match operator_kind(operator) {
            Some("logical") => {
                self.say(&format!("{verb} a condition"));
                self.say(&format!("{verb} a condition with `{operator}`"));
            }
            Some("comparison") => {
                self.say(&format!("{verb} a comparison"));
                self.say(&format!("{verb} a comparison with `{operator}`"));
            }
            _ => {
                self.say(&format!("{verb} term {to} expression"));
                let one = literal::value(part).is_some_and(|value| value.as_number() == 1.0);
                if let (true, "+" | "-") = (one, operator) {
                    self.is_by_one = true;
                    self.say(&format!("{verb} {operator}1 term {to} expression"));
                    let grows = (operator == "+") == is_added;
                    if literal::value(rest).is_none() {
                        let how = if grows { "increase" } else { "decrease" };
                        self.say(&format!("{how} variable value"));
                    }
                }
            }
        }
    }

    fn swapped(&mut self, old: &Term, new: &Term) -> bool {
        if let (Some(before), Some(after)) = (old.arguments(), new.arguments()) {
            return self.arguments(old, new, &before, &after);
        }
        if let (Some((a, b)), Some((c, d))) = (old.operands(), new.operands())
            && old.operator() == new.operator()
            && a.inner().text == d.inner().text
            && b.inner().text == c.inner().text
        {
            self.say("swap operands");
            return true;
        }
        false
    }

    /// Calls: of another function, or with other arguments.
    fn arguments(&mut self, old: &Term, new: &Term, before: &[&Term], after: &[&Term]) -> bool {
        let texts = |terms: &[&Term]| -> Vec<String> {
            terms.iter().map(|term| term.inner().text.clone()).collect()
        };
        let (before, after) = (texts(before), texts(after));
        let name = |term: &Term| term.child("function").map(|f| f.text.clone());
        if name(old) != name(new) {
            if before != after {
                return false;
            }
            self.say("call another function");
            return true;
        }
        let sorted = |texts: &[String]| {
            let mut sorted = texts.to_vec();
            sorted.sort();
            sorted
        };
        if before.len() == after.len() {
            if sorted(&before) != sorted(&after) {
                return false;
            }
            self.say("swap arguments");
            return true;
        }
        let verb = if before.len() < after.len() { "add" } else { "remove" };
        self.say(&format!("{verb} an argument"));
        true
    }

    /// Nothing more can be said than what stands there now.
    fn replaced(&mut self, old: &Term, new: &Term) {
        let is_statement = |term: &Term| term.kind.ends_with("_statement");
        let first = |term: &Term| term.text.split(' ').next().unwrap_or("").to_owned();
        if is_statement(old) && is_statement(new) && first(old) != first(new) {
            self.say("change the kind of statement");
            self.say(&format!("change `{}` into `{}`", first(old), first(new)));
        } else if new.kind == "call_expression" {
            self.say("add a function call");
        } else if old.kind == "call_expression" {
            self.say("remove a function call");
        } else if new.kind == "init_declarator" && old.kind == "identifier" {
            self.say("initialise a variable");
        } else {
            self.say("replace an expression");
        }
    }
}
