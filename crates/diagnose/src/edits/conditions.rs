//! Edits of conditions: what is negated, and tests that are missing.

use syntax::{Expression, StatementKind};

use super::context::is_number;
use super::rules::{Rules, contains};

impl Rules<'_, '_, '_> {
    pub(super) fn is_condition(&self, e: &Expression) -> bool {
        let is_operand = e.parent.0 == "binary_expression"
            && self
                .parent(&e.bytes)
                .and_then(|p| p.operator.as_ref())
                .is_some_and(|o| matches!(self.text(o).as_str(), "&&" | "||"));
        let in_parentheses = e.parent.0 == "parenthesized_expression"
            && matches!(
                self.statement.kind,
                StatementKind::If | StatementKind::While | StatementKind::DoWhile
            )
            && self.parent(&e.bytes).is_none_or(|p| self.parent(&p.bytes).is_none());
        is_operand || in_parentheses || e.parent == ("for_statement", Some("condition"))
    }

    pub(super) fn condition(&mut self, e: &Expression) {
        let text = self.text(&e.bytes);
        let is_comparison = e.operator.as_ref().is_some_and(|o| {
            matches!(self.text(o).as_str(), "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||")
        });
        if let Some(rest) = text.strip_prefix('!') {
            self.add_kind(&e.bytes, rest.trim_start().to_owned(), "negation");
        } else if !is_comparison {
            let simple = matches!(
                e.kind,
                "identifier" | "call_expression" | "field_expression" | "subscript_expression"
            );
            let new = if simple { format!("!{text}") } else { format!("!({text})") };
            self.add_kind(&e.bytes, new, "negation");
        }
        self.missing_tests(e, &text);
    }

    /// Tests of what the condition itself uses.
    pub(super) fn missing_tests(&mut self, e: &Expression, text: &str) {
        let text = if text.contains("||") { format!("({text})") } else { text.to_owned() };
        let mut tests: Vec<(String, &'static str)> = Vec::new();
        for inner in self.expressions.iter().filter(|inner| contains(&e.bytes, &inner.bytes)) {
            let base = inner.operands.first().map(|base| self.text(base)).unwrap_or_default();
            match inner.kind {
                "field_expression" | "pointer_expression"
                    if self.context.is_pointer(&base, e.bytes.start) =>
                {
                    tests.push((format!("{base} != NULL"), "missing-null-test"));
                }
                "subscript_expression" => {
                    let Some(index) = inner.operands.get(1).map(|index| self.text(index)) else {
                        continue;
                    };
                    let array = self.context.variable(&base, e.bytes.start);
                    if let Some(length) = array.and_then(|array| array.length.as_ref()) {
                        let length = self.text(length);
                        tests.push((format!("{index} < {length}"), "missing-bound-test"));
                    }
                    tests.push((format!("{index} >= 0"), "missing-bound-test"));
                    tests.push((format!("{index} > 0"), "missing-bound-test"));
                    let numbers = self.context.visible(e.bytes.start);
                    let numbers = numbers
                        .filter(|v| v.shape.is_empty() && is_number(&v.base) && v.name != index);
                    for number in numbers.take(4) {
                        let test = format!("{index} < {}", number.name);
                        tests.push((test, "missing-bound-test"));
                    }
                }
                _ => {}
            }
        }
        // What is compared with the same limit already is tested, if perhaps wrongly.
        let known: Vec<String> = self
            .comparisons()
            .flat_map(|(left, right)| {
                let (left, right) = (self.text(left), self.text(right));
                ["<", ">", ">="].map(|operator| format!("{left} {operator} {right}"))
            })
            .collect();
        tests.retain(|(test, _)| !known.contains(test));
        for (test, kind) in tests {
            self.add_kind(&e.bytes, format!("{test} && {text}"), kind);
        }
    }
}
