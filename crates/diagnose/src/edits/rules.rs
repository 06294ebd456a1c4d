//! The edits each kind of expression has.

use std::ops::Range;

use syntax::{Declaration, Expression, Statement, StatementKind};

use super::context::{Context, is_scalar};
use super::{Edit, Fate};
use crate::library::Library;

/// Alternatives of one kind at one place are cut here.
pub(super) const MAX_ALTERNATIVES: usize = 10;

pub(super) struct Rules<'c, 's, 'o> {
    pub(super) context: &'c Context<'s>,
    file: usize,
    library: &'c Library,
    pub(super) statement: &'c Statement,
    pub(super) expressions: &'c [Expression],
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
    pub(super) fn text(&self, bytes: &Range<usize>) -> String {
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

    pub(super) fn parent(&self, bytes: &Range<usize>) -> Option<&Expression> {
        let around = self.expressions.iter();
        let around = around.filter(|e| e.bytes != *bytes && contains(&e.bytes, bytes));
        around.min_by_key(|e| e.bytes.len())
    }

    pub(super) fn find(&self, bytes: &Range<usize>) -> Option<&Expression> {
        self.expressions.iter().find(|e| e.bytes == *bytes)
    }

    /// The whole expression around these bytes. Parts of it cannot be chosen one by one: a choice
    /// between an `int` and a `size_t` makes a `size_t` of the `int`, too.
    fn site(&self, bytes: &Range<usize>) -> Option<&Expression> {
        let around = self.expressions.iter().filter(|e| contains(&e.bytes, bytes));
        let mut site = around.min_by_key(|e| e.bytes.len())?;
        while let Some(parent) = self.parent(&site.bytes) {
            site = parent;
        }
        Some(site)
    }

    /// What becomes of the value of a whole expression.
    fn fate(&self, site: &Expression) -> Fate {
        match site.parent {
            ("expression_statement", _) | ("for_statement", Some("initializer" | "update")) => {
                Fate::Dropped
            }
            ("if_statement" | "while_statement" | "do_statement" | "for_statement", _) => {
                Fate::Tested
            }
            ("init_declarator", Some("value")) => self.initialised(site),
            ("return_statement", _) => self.returned(site),
            _ => Fate::Kept,
        }
    }

    fn initialised(&self, site: &Expression) -> Fate {
        let declared = self.context.declarations.iter().filter(|d| {
            self.statement.bytes.contains(&d.bytes.start) && d.bytes.end <= site.bytes.start
        });
        match declared.max_by_key(|d| d.bytes.start) {
            Some(d) if is_scalar(&d.base, &d.shape) => {
                Fate::Converted(format!("__typeof__({})", d.name))
            }
            _ => Fate::Kept,
        }
    }

    fn returned(&self, site: &Expression) -> Fate {
        let functions = self.context.source.functions();
        let own = functions.iter().find(|f| contains(&f.body, &site.bytes));
        let Some(function) = own else { return Fate::Kept };
        let head = self.text(&(function.bytes.start..function.body.start));
        let Some((before, _)) = head.split_once(&function.name) else { return Fate::Kept };
        let is_storage = |word: &&str| matches!(*word, "static" | "inline" | "extern");
        let spaced = before.replace('*', " * ");
        let words: Vec<&str> = spaced.split_whitespace().filter(|w| !is_storage(w)).collect();
        let shape = "*".repeat(words.iter().filter(|word| **word == "*").count());
        let base = words.iter().filter(|w| **w != "*").copied().collect::<Vec<_>>().join(" ");
        match is_scalar(&base, &shape) {
            true => Fate::Converted(words.join(" ")),
            false => Fate::Kept,
        }
    }

    /// Where a mistake is likelier or less likely than elsewhere: bounds of loops are often one
    /// off, offsets of indices seldom, and the places of a program's arguments hardly ever.
    fn placed(&self, bytes: &Range<usize>, kind: &str, weight: u32) -> u32 {
        let around = self.parent(bytes).map(|e| self.text(&e.bytes)).unwrap_or_default();
        let own = self.text(bytes);
        let is_loop_of_arguments = self.statement.kind == StatementKind::For
            && self.text(&self.statement.bytes).contains("argc");
        let names_arguments = |text: &&String| text.contains("argv") || text.contains("argc");
        if is_loop_of_arguments || [&around, &own].iter().any(names_arguments) {
            return weight / 2;
        }
        if kind == "wrong-variable" && self.is_counted(bytes) {
            return weight.saturating_sub(4);
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

    /// Whether a comparison would have the same on both sides: nobody writes `i < i`.
    fn compares_itself(&self, bytes: &Range<usize>, new: &str) -> bool {
        self.comparisons().any(|(left, right)| {
            left == bytes && self.text(right) == new || right == bytes && self.text(left) == new
        })
    }

    /// Both sides of each comparison of the statement.
    pub(super) fn comparisons(&self) -> impl Iterator<Item = (&Range<usize>, &Range<usize>)> {
        self.expressions.iter().filter_map(|e| {
            let operator = e.operator.as_ref().map(|o| self.text(o))?;
            let is_comparison = matches!(operator.as_str(), "<" | "<=" | ">" | ">=" | "==" | "!=");
            match &e.operands[..] {
                [left, right] if is_comparison => Some((left, right)),
                _ => None,
            }
        })
    }

    /// The variable that a loop counts with, in the loop's head: it is hardly mistaken there.
    fn is_counted(&self, bytes: &Range<usize>) -> bool {
        let own = self.text(bytes);
        let is_changed = |e: &Expression| {
            e.parent == ("for_statement", Some("update"))
                && e.operands.first().is_some_and(|operand| self.text(operand) == own)
        };
        self.statement.kind == StatementKind::For && self.expressions.iter().any(is_changed)
    }

    fn add(&mut self, bytes: &Range<usize>, new: String, kind: &'static str, weight: u32) {
        if self.compares_itself(bytes, &new) {
            return;
        }
        let weight = self.placed(bytes, kind, weight);
        self.add_at(bytes, new, (kind, weight));
    }

    /// The same wherever it stands.
    pub(super) fn add_anywhere(&mut self, bytes: &Range<usize>, new: String, kind: &'static str) {
        if !self.compares_itself(bytes, &new) {
            let weight = self.library.weight(kind);
            self.add_at(bytes, new, (kind, weight));
        }
    }

    fn add_at(&mut self, bytes: &Range<usize>, new: String, (kind, weight): (&'static str, u32)) {
        let Some(whole) = self.site(bytes) else { return };
        let (site, fate) = (whole.bytes.clone(), self.fate(whole));
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
            fate,
            kind,
            weight,
            statement: self.statement.bytes.clone(),
            function: self.statement.function.clone(),
            guard: None,
        });
    }

    pub(super) fn add_kind(&mut self, bytes: &Range<usize>, new: String, kind: &'static str) {
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
            "number_literal" if self.is_character_test(e) => {}
            "number_literal" => self.literal(e),
            "char_literal" => self.character(e),
            "identifier" => self.identifier(e),
            "field_expression" => self.member(e),
            "binary_expression" => self.binary(e),
            "update_expression" => self.update(e),
            "sizeof_expression" => {
                self.other_size(e);
                self.element_count(e);
            }
            "call_expression" => self.call(e),
            _ => {}
        }
        if self.is_bound(e) && !self.is_character_test(e) {
            self.off_by_one(e);
            self.other_bounds(e);
            self.other_index(e);
        }
        self.sign_extension(e);
        if self.is_condition(e) {
            self.condition(e);
            self.missing_limit(e);
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
        let compares_pointers = matches!(&old[..], "==" | "!=") && self.has_pointer(e);
        // Of pointers there are only sums and differences.
        let may_be_pointers = is_binary && matches!(&old[..], "+" | "-") && !self.has_numbers(e);
        let alternatives: Vec<(String, u32)> = self
            .library
            .alternatives(&old)
            .into_iter()
            .map(|(other, weight)| (other.to_owned(), weight))
            .collect();
        for (new, weight) in alternatives {
            if may_be_pointers && !matches!(&new[..], "+" | "-")
                || compares_pointers && new.contains(['<', '>'])
            {
                continue;
            }
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

    /// Whether an operand is a pointer, as far as can be seen.
    fn has_pointer(&self, e: &Expression) -> bool {
        e.operands.iter().any(|operand| {
            let text = self.text(operand);
            let variable = self.context.variable(&text, operand.start);
            text == "NULL" || variable.is_some_and(|v| !v.shape.is_empty())
        })
    }

    fn literal(&mut self, e: &Expression) {
        let text = self.text(&e.bytes);
        let Some(value) = text.parse::<i64>().ok().filter(|value| *value < i64::MAX) else {
            return;
        };
        let is_negated = e.parent.0 == "unary_expression";
        let kind = "constant-off-by-one";
        let weight = self.library.weight(kind);
        let start = if self.starts_loop(e) { weight / 2 } else { weight };
        // Counting starts at 0 more often than not.
        let raised = if value == 0 { start } else { weight };
        self.add(&e.bytes, (value + 1).to_string(), kind, raised);
        // `n + 0` is said better without.
        let is_needless = value == 1 && self.is_offset(e);
        // Nobody means the program's name where an argument is read.
        let is_argument = e.parent == ("subscript_expression", Some("index"))
            && self.parent(&e.bytes).is_some_and(|p| self.text(&p.bytes).starts_with("argv"));
        if value > 0 && !is_needless && !(is_argument && value == 1) {
            self.add(&e.bytes, (value - 1).to_string(), kind, weight);
        } else if value == 0 && !is_negated {
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

    /// `i = 0` of a `for`.
    fn starts_loop(&self, e: &Expression) -> bool {
        let is_start = matches!(
            e.parent,
            ("assignment_expression", Some("right")) | ("init_declarator", Some("value"))
        );
        is_start && self.statement.kind == StatementKind::For
    }

    /// The right side of `n + 1` or `n - 1`.
    fn is_offset(&self, e: &Expression) -> bool {
        let parent = self.parent(&e.bytes).and_then(|p| p.operator.as_ref());
        e.parent == ("binary_expression", Some("right"))
            && parent.is_some_and(|o| matches!(self.text(o).as_str(), "+" | "-"))
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
            let is_near = other.abs_diff(value) <= 1;
            if !is_near && !found.contains(&other) {
                found.push(other);
            }
        }
        found.into_iter().map(|value| value.to_string()).collect()
    }

    fn identifier(&mut self, e: &Expression) {
        if e.parent.1 == Some("function") {
            return;
        }
        self.misfit(e);
        self.counted_elsewhere(e);
        self.enumerator(e);
        let name = self.text(&e.bytes);
        let Some(variable) = self.context.variable(&name, e.bytes.start) else { return };
        if variable.shape.contains('(') {
            return;
        }
        let weight = self.library.weight("wrong-variable");
        let mut others: Vec<(usize, String, u32)> = Vec::new();
        for (other, is_same) in self.context.alike(variable, e.bytes.start) {
            if !self.may_be_set(other, e) {
                continue;
            }
            let distance = e.bytes.start.abs_diff(other.bytes.start);
            let weight = if is_same { weight } else { weight.saturating_sub(4) };
            others.push((distance, other.name.clone(), weight));
        }
        others.sort();
        for (_, other, weight) in others.into_iter().take(MAX_ALTERNATIVES) {
            self.add(&e.bytes, other, "wrong-variable", weight);
        }
    }

    /// Not of the same declaration without a value, nor what is being declared.
    pub(super) fn may_be_set(&self, other: &Declaration, e: &Expression) -> bool {
        if !self.statement.bytes.contains(&other.bytes.start) {
            return true;
        }
        let between = self.text(&(other.bytes.end..e.bytes.start.max(other.bytes.end)));
        between.trim_start().starts_with('=') && between.contains(',')
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
}

pub(super) fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// How tightly an operator binds.
pub(super) fn precedence(operator: &str) -> u32 {
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
