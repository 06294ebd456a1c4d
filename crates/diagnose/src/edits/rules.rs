//! The edits each kind of expression has.

use std::ops::Range;

use syntax::{Expression, Statement, StatementKind};

use super::Edit;
use super::context::{Context, is_number};
use crate::library::Library;

/// Alternatives of one kind at one place are cut here.
const MAX_ALTERNATIVES: usize = 10;

struct Rules<'c, 's, 'o> {
    context: &'c Context<'s>,
    file: usize,
    library: &'c Library,
    statement: &'c Statement,
    expressions: &'c [Expression],
    found: &'o mut Vec<Edit>,
}

pub fn edits_of(
    context: &Context<'_>,
    file: usize,
    library: &Library,
    statement: &Statement,
    found: &mut Vec<Edit>,
) {
    let expressions = context.source.expressions(&statement.bytes);
    let mut rules = Rules { context, file, library, statement, expressions: &expressions, found };
    for expression in &expressions {
        if rules.is_editable(expression) {
            rules.expression(expression);
        }
    }
}

impl Rules<'_, '_, '_> {
    fn text(&self, bytes: &Range<usize>) -> String {
        self.context.text(bytes)
    }

    /// Not inside `sizeof`, a constant or a nested function.
    fn is_editable(&self, expression: &Expression) -> bool {
        !self.expressions.iter().any(|around| {
            around.kind == "sizeof_expression"
                && around.bytes != expression.bytes
                && contains(&around.bytes, &expression.bytes)
        })
    }

    fn parent(&self, bytes: &Range<usize>) -> Option<&Expression> {
        let around = self.expressions.iter();
        let around = around.filter(|e| e.bytes != *bytes && contains(&e.bytes, bytes));
        around.min_by_key(|e| e.bytes.len())
    }

    fn find(&self, bytes: &Range<usize>) -> Option<&Expression> {
        self.expressions.iter().find(|e| e.bytes == *bytes)
    }

    /// The smallest expression around these bytes whose value can be chosen.
    fn site(&self, bytes: &Range<usize>) -> Option<Range<usize>> {
        let innermost = self.expressions.iter().filter(|e| contains(&e.bytes, bytes));
        let mut site = innermost.min_by_key(|e| e.bytes.len())?;
        while let Some(parent) = self.parent(&site.bytes) {
            let is_first = parent.operands.first() == Some(&site.bytes);
            let operator = parent.operator.as_ref().map(|o| self.text(o)).unwrap_or_default();
            let is_place = match parent.kind {
                "assignment_expression" => is_first,
                "update_expression" => true,
                "pointer_expression" | "unary_expression" => operator == "&",
                "field_expression" => {
                    !self.text(&parent.bytes)[site.bytes.len()..].trim_start().starts_with("->")
                }
                "call_expression" => site.parent.1 == Some("function"),
                "cast_expression" => false,
                _ => false,
            };
            if !is_place {
                break;
            }
            site = parent;
        }
        Some(site.bytes.clone())
    }

    /// Where a mistake is likelier or less likely than elsewhere: bounds of loops are often one
    /// off, offsets of indices seldom, and the places of a program's arguments hardly ever.
    fn placed(&self, bytes: &Range<usize>, kind: &str, weight: u32) -> u32 {
        let around = self.parent(bytes).map(|e| self.text(&e.bytes)).unwrap_or_default();
        let own = self.text(bytes);
        if [&around, &own].iter().any(|text| text.contains("argv") || text.contains("argc")) {
            return weight / 2;
        }
        let is_in = |role: (&str, Option<&str>)| {
            self.expressions.iter().any(|e| e.parent == role && contains(&e.bytes, bytes))
        };
        if !matches!(kind, "constant-off-by-one" | "expression-off-by-one" | "needless-off-by-one")
        {
            return weight;
        }
        let is_loop = matches!(self.statement.kind, StatementKind::For | StatementKind::While);
        if is_in(("subscript_expression", Some("index"))) {
            weight.saturating_sub(4)
        } else if is_loop && self.is_limit(bytes) {
            weight + 3
        } else {
            weight
        }
    }

    /// Part of the right side of a comparison.
    fn is_limit(&self, bytes: &Range<usize>) -> bool {
        self.expressions.iter().any(|e| {
            let operator = e.operator.as_ref().map(|o| self.text(o)).unwrap_or_default();
            matches!(operator.as_str(), "<" | "<=" | ">" | ">=")
                && e.operands.get(1).is_some_and(|right| contains(right, bytes))
        })
    }

    fn add(&mut self, bytes: &Range<usize>, new: String, kind: &'static str, weight: u32) {
        let weight = self.placed(bytes, kind, weight);
        let Some(site) = self.site(bytes) else { return };
        let site_text = format!(
            "{}{new}{}",
            self.text(&(site.start..bytes.start)),
            self.text(&(bytes.end..site.end))
        );
        self.found.push(Edit {
            file: self.file,
            bytes: bytes.clone(),
            new,
            site,
            site_text,
            kind,
            weight,
            statement: self.statement.bytes.clone(),
            function: self.statement.function.clone(),
        });
    }

    fn add_kind(&mut self, bytes: &Range<usize>, new: String, kind: &'static str) {
        let weight = self.library.weight(kind);
        self.add(bytes, new, kind, weight);
    }

    fn expression(&mut self, e: &Expression) {
        if e.parent == ("array_declarator", Some("size")) {
            return self.array_length(e);
        }
        if e.parent.0 == "array_declarator" || e.parent.0 == "bitfield_clause" {
            return;
        }
        if let Some(operator) = &e.operator {
            self.operator(e, operator);
        }
        match e.kind {
            "number_literal" => self.literal(e),
            "char_literal" => self.character(e),
            "identifier" => self.identifier(e),
            "field_expression" => self.member(e),
            "binary_expression" => self.binary(e),
            "update_expression" => self.update(e),
            _ => {}
        }
        if self.is_bound(e) {
            self.off_by_one(e);
            self.other_bounds(e);
            self.other_index(e);
        }
        if self.is_condition(e) {
            self.condition(e);
        }
    }

    fn operator(&mut self, e: &Expression, operator: &Range<usize>) {
        let old = self.text(operator);
        let is_binary = matches!(e.kind, "binary_expression");
        let known =
            matches!(e.kind, "binary_expression" | "assignment_expression" | "update_expression");
        // A declaration is no assignment, and `x = y` is rarely `x += y` for pointers.
        if !known {
            return;
        }
        if e.kind == "assignment_expression" && !self.is_number_target(e) {
            return;
        }
        if is_binary && matches!(old.as_str(), "+" | "-" | "*" | "/") && !self.has_numbers(e) {
            // Of pointers only sums and differences.
            if !matches!(old.as_str(), "+" | "-") {
                return;
            }
        }
        let alternatives: Vec<(String, u32)> = self
            .library
            .alternatives(&old)
            .into_iter()
            .map(|(other, weight)| (other.to_owned(), weight))
            .collect();
        for (new, weight) in alternatives {
            if !is_binary {
                self.add(operator, new, "operator", weight);
                continue;
            }
            let (before, after) = (precedence(&old), precedence(&new));
            let binds_operand = e.operands.iter().any(|operand| {
                let inner = self.find(operand).filter(|o| o.kind == "binary_expression");
                let inner = inner.and_then(|o| o.operator.as_ref()).map(|o| self.text(o));
                inner.is_some_and(|inner| precedence(&inner) < after)
            });
            if binds_operand {
                continue;
            }
            let is_nested = matches!(
                e.parent.0,
                "binary_expression" | "unary_expression" | "cast_expression" | "pointer_expression"
            );
            if after < before && is_nested {
                let left = self.text(&(e.bytes.start..operator.start));
                let right = self.text(&(operator.end..e.bytes.end));
                self.add(&e.bytes, format!("({left}{new}{right})"), "operator", weight);
            } else {
                self.add(operator, new, "operator", weight);
            }
        }
    }

    fn is_number_target(&self, e: &Expression) -> bool {
        let target = e.operands.first().and_then(|bytes| self.find(bytes));
        target.is_some_and(|target| self.context.is_number(target))
    }

    fn has_numbers(&self, e: &Expression) -> bool {
        e.operands.iter().all(|bytes| self.find(bytes).is_some_and(|o| self.context.is_number(o)))
    }

    fn literal(&mut self, e: &Expression) {
        let text = self.text(&e.bytes);
        let Ok(value) = text.parse::<i64>() else { return };
        let is_negated = e.parent.0 == "unary_expression";
        let kind = "constant-off-by-one";
        let weight = self.library.weight(kind);
        self.add(&e.bytes, (value + 1).to_string(), kind, weight);
        if value > 0 {
            self.add(&e.bytes, (value - 1).to_string(), kind, weight);
        } else if !is_negated {
            self.add(&e.bytes, "-1".to_owned(), kind, weight / 2);
        }
        if !self.is_bound(e) {
            return;
        }
        let others = self.constants_nearby(e, value);
        for other in others.into_iter().take(MAX_ALTERNATIVES) {
            self.add_kind(&e.bytes, other, "other-constant");
        }
    }

    /// Other literals of the function.
    fn constants_nearby(&self, e: &Expression, value: i64) -> Vec<String> {
        let functions = self.context.source.functions();
        let around = functions.iter().find(|f| f.body.contains(&e.bytes.start));
        let Some(around) = around else { return Vec::new() };
        let mut found: Vec<i64> = Vec::new();
        for other in self.context.source.expressions(&around.body) {
            if other.kind != "number_literal" {
                continue;
            }
            let Ok(other) = self.text(&other.bytes).parse::<i64>() else { continue };
            let is_near = (other - value).abs() <= 1;
            if !is_near && !found.contains(&other) {
                found.push(other);
            }
        }
        found.into_iter().map(|value| value.to_string()).collect()
    }

    fn character(&mut self, e: &Expression) {
        let new = match self.text(&e.bytes).as_str() {
            "'\\0'" => "'0'",
            "'0'" => "'\\0'",
            "' '" => "'\\0'",
            "'\\n'" => "'\\0'",
            _ => return,
        };
        self.add_kind(&e.bytes, new.to_owned(), "other-constant");
    }

    fn identifier(&mut self, e: &Expression) {
        if e.parent.1 == Some("function") {
            return;
        }
        let name = self.text(&e.bytes);
        let Some(variable) = self.context.variable(&name, e.bytes.start) else { return };
        if variable.shape.contains('(') {
            return;
        }
        let weight = self.library.weight("wrong-variable");
        let mut others: Vec<(usize, String, u32)> = Vec::new();
        for (other, is_same) in self.context.alike(variable, e.bytes.start) {
            let distance = e.bytes.start.abs_diff(other.bytes.start);
            let weight = if is_same { weight } else { weight.saturating_sub(4) };
            others.push((distance, other.name.clone(), weight));
        }
        others.sort();
        for (_, other, weight) in others.into_iter().take(MAX_ALTERNATIVES) {
            self.add(&e.bytes, other, "wrong-variable", weight);
        }
    }

    fn member(&mut self, e: &Expression) {
        let text = self.text(&e.bytes);
        let Some(dot) = text.rfind(['.', '>']) else { return };
        let name = text[dot + 1..].trim_start();
        let start = e.bytes.end - name.len();
        let name = name.trim_end().to_owned();
        let others: Vec<String> =
            self.context.alike_members(&name).iter().map(|m| m.name.clone()).collect();
        let bytes = start..start + name.len();
        for other in others.into_iter().take(MAX_ALTERNATIVES) {
            self.add_kind(&bytes, other, "wrong-member");
        }
    }

    fn binary(&mut self, e: &Expression) {
        let Some(operator) = e.operator.as_ref().map(|o| self.text(o)) else { return };
        let [left, right] = &e.operands[..] else { return };
        match operator.as_str() {
            "+" | "-" if self.text(right) == "1" => {
                let left = self.text(left);
                self.add_kind(&e.bytes, left, "needless-off-by-one");
            }
            "&&" | "||" => {
                let (left, right) = (self.text(left), self.text(right));
                self.add_kind(&e.bytes, left, "needless-condition");
                self.add_kind(&e.bytes, right, "needless-condition");
            }
            _ => {}
        }
    }

    fn update(&mut self, e: &Expression) {
        let is_used =
            !matches!(e.parent.0, "expression_statement" | "for_statement" | "comma_expression");
        let (Some(operator), [operand]) = (&e.operator, &e.operands[..]) else { return };
        if is_used {
            let (sign, place) = (self.text(operator), self.text(operand));
            let is_prefix = operator.start < operand.start;
            let new = if is_prefix { format!("{place}{sign}") } else { format!("{sign}{place}") };
            self.add_kind(&e.bytes, new, "increment-order");
        }
    }

    fn array_length(&mut self, e: &Expression) {
        let text = self.text(&self.statement.bytes);
        // Only an array without initialiser may have a length that is chosen at run time.
        let is_plain = self.statement.kind == StatementKind::Declaration && !text.contains('=');
        if !is_plain {
            return;
        }
        let old = self.text(&e.bytes);
        match old.parse::<u64>() {
            Ok(value) => self.add_kind(&e.bytes, (value + 1).to_string(), "array-length"),
            Err(_) => self.add_kind(&e.bytes, format!("{old} + 1"), "array-length"),
        }
        for name in self.context.macros.iter().filter(|name| **name != old).take(MAX_ALTERNATIVES) {
            self.add_kind(&e.bytes, name.clone(), "array-length");
        }
    }

    /// Where being one off, or another limit, is a likely mistake.
    fn is_bound(&self, e: &Expression) -> bool {
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

    fn off_by_one(&mut self, e: &Expression) {
        if e.kind == "number_literal" || !self.context.is_number(e) {
            return;
        }
        let text = self.text(&e.bytes);
        let is_loose = e.kind == "conditional_expression"
            || e.operator.as_ref().is_some_and(|o| precedence(&self.text(o)) < precedence("+"));
        let text = if is_loose { format!("({text})") } else { text };
        self.add_kind(&e.bytes, format!("{text} - 1"), "expression-off-by-one");
        self.add_kind(&e.bytes, format!("{text} + 1"), "expression-off-by-one");
    }

    fn other_bounds(&mut self, e: &Expression) {
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
            let numbers = numbers.filter(|v| v.shape.is_empty() && is_number(&v.base));
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
    fn other_index(&mut self, e: &Expression) {
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

    fn is_condition(&self, e: &Expression) -> bool {
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

    fn condition(&mut self, e: &Expression) {
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
    fn missing_tests(&mut self, e: &Expression, text: &str) {
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
        for (test, kind) in tests {
            self.add_kind(&e.bytes, format!("{test} && {text}"), kind);
        }
    }
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// How tightly an operator binds.
fn precedence(operator: &str) -> u32 {
    match operator {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | "<=" | ">" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => 0,
    }
}
