//! Edits of limits: bounds, indices, sizes and the lengths of arrays.

use syntax::{Expression, StatementKind};

use super::context::is_number;
use super::rules::{MAX_ALTERNATIVES, Rules, precedence};

impl Rules<'_, '_, '_> {
    pub(super) fn array_length(&mut self, e: &Expression) {
        let text = self.text(&self.statement.bytes);
        // Only an array without initialiser may have a length that is chosen at run time.
        let is_plain = self.statement.kind == StatementKind::Declaration && !text.contains('=');
        if !is_plain {
            return;
        }
        let old = self.text(&e.bytes);
        let longer = match old.parse::<u64>() {
            Ok(value) => (value + 1).to_string(),
            Err(_) => format!("{old} + 1"),
        };
        self.add_kind(&e.bytes, longer, "array-too-short");
        if let (Some(operator), [left, right]) = (&e.operator, &e.operands[..]) {
            let (left, sign, right) = (self.text(left), self.text(operator), self.text(right));
            if sign == "-" {
                self.add_kind(&e.bytes, format!("{left} + {right}"), "array-too-short");
                self.add_kind(&e.bytes, left, "array-too-short");
            }
        }
        for name in self.context.macros.iter().filter(|name| **name != old).take(MAX_ALTERNATIVES) {
            self.add_kind(&e.bytes, name.clone(), "array-length");
        }
    }

    /// Where being one off, or another limit, is a likely mistake.
    pub(super) fn is_bound(&self, e: &Expression) -> bool {
        let comparison = || {
            let parent = self.parent(&e.bytes);
            let operator = parent.and_then(|p| p.operator.as_ref()).map(|o| self.text(o));
            operator.is_some_and(|o| matches!(o.as_str(), "<" | "<=" | ">" | ">=" | "==" | "!="))
        };
        match e.parent {
            ("binary_expression", Some("right")) => comparison(),
            ("subscript_expression", role) => role == Some("index"),
            ("assignment_expression", role) => role == Some("right"),
            ("init_declarator", role) => role == Some("value"),
            ("argument_list" | "return_statement", _) => true,
            _ => false,
        }
    }

    pub(super) fn off_by_one(&mut self, e: &Expression) {
        if e.kind == "number_literal" || !self.context.is_number(e) {
            return;
        }
        let text = self.text(&e.bytes);
        let operator = e.operator.as_ref().map(|o| self.text(o)).unwrap_or_default();
        // Truth is not counted.
        if matches!(&operator[..], "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||") {
            return;
        }
        let is_binary = e.kind == "binary_expression";
        // `n + 1 - 1` says less well what another number, or none, says.
        let right = e.operands.get(1).map(|right| self.text(right)).unwrap_or_default();
        if is_binary && matches!(&operator[..], "+" | "-") && right.parse::<u64>().is_ok() {
            return;
        }
        let is_loose = e.kind == "conditional_expression"
            || is_binary && precedence(&operator) < precedence("+");
        let text = if is_loose { format!("({text})") } else { text };
        // `i <= n - 1` is what `i < n` says.
        let compared = match e.parent {
            ("binary_expression", Some("right")) => self.parent(&e.bytes),
            _ => None,
        };
        let compared = compared.and_then(|p| p.operator.as_ref()).map(|o| self.text(o));
        let compared = compared.unwrap_or_default();
        if !matches!(&compared[..], "<=" | ">") {
            self.add_kind(&e.bytes, format!("{text} - 1"), "expression-off-by-one");
        }
        if !matches!(&compared[..], "<" | ">=") {
            self.add_kind(&e.bytes, format!("{text} + 1"), "expression-off-by-one");
        }
    }

    pub(super) fn other_bounds(&mut self, e: &Expression) {
        if !matches!(e.kind, "number_literal" | "identifier") || !self.context.is_number(e) {
            return;
        }
        let old = self.text(&e.bytes);
        let mut others: Vec<String> = self.context.macros.clone();
        for array in self.context.visible(e.bytes.start) {
            others.extend(array.length.as_ref().map(|length| self.text(length)));
        }
        // A literal may also stand for a variable.
        if e.kind == "number_literal" {
            let numbers = self.context.visible(e.bytes.start);
            let numbers = numbers
                .filter(|v| v.shape.is_empty() && is_number(&v.base) && self.may_be_set(v, e));
            others.extend(numbers.map(|variable| variable.name.clone()));
        }
        let mut known = vec![old];
        for other in others {
            if known.len() > MAX_ALTERNATIVES || known.contains(&other) {
                continue;
            }
            self.add_kind(&e.bytes, other.clone(), "wrong-bound");
            known.push(other);
        }
    }

    /// An index that should be a plain variable.
    pub(super) fn other_index(&mut self, e: &Expression) {
        if e.parent != ("subscript_expression", Some("index")) || e.kind == "identifier" {
            return;
        }
        let mut names: Vec<(usize, String)> = Vec::new();
        for variable in self.context.visible(e.bytes.start) {
            if variable.shape.is_empty() && is_number(&variable.base) {
                let distance = e.bytes.start.abs_diff(variable.bytes.start);
                names.push((distance, variable.name.clone()));
            }
        }
        names.sort();
        for (_, name) in names.into_iter().take(MAX_ALTERNATIVES) {
            self.add_kind(&e.bytes, name, "wrong-index");
        }
    }
}
