//! Names whose type does not fit where they stand: a pointer compared with a number, a function
//! where an array should be passed. Compilers take it with a warning at most.

use std::ops::Range;

use syntax::{Declaration, Expression};

use super::context::{is_macro_name, is_number};
use super::rules::{MAX_ALTERNATIVES, Rules};

/// A type as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Type {
    /// Empty where anything may be pointed to.
    base: String,
    /// How often it can be followed.
    depth: usize,
}

impl Type {
    fn number() -> Self {
        Self { base: "int".to_owned(), depth: 0 }
    }

    fn any_pointer() -> Self {
        Self { base: String::new(), depth: 1 }
    }

    fn of(declared: &Declaration) -> Self {
        Self { base: declared.base.replace("const ", ""), depth: declared.shape.len() }
    }

    fn is_arithmetic(&self) -> bool {
        self.depth == 0 && (is_number(&self.base) || self.base == "char")
    }

    fn is_any(&self) -> bool {
        self.depth > 0 && matches!(self.base.as_str(), "" | "void")
    }

    fn fits(&self, wanted: &Type) -> bool {
        let (a, b) = (self, wanted);
        a.is_arithmetic() && b.is_arithmetic()
            || a.depth > 0 && b.depth > 0 && (a.is_any() || b.is_any())
            || a.depth == b.depth && a.base == b.base
    }
}

impl Rules<'_, '_, '_> {
    /// Variables that would fit in place of a name that does not.
    pub(super) fn misfit(&mut self, e: &Expression) {
        let Some(wanted) = self.wanted(e) else { return };
        let name = self.text(&e.bytes);
        let own = self.type_of(e);
        if own.is_none() && is_macro_name(&name) {
            return;
        }
        let is_null_test = wanted.is_any() && own.as_ref().is_some_and(|own| own.depth > 0);
        if own.is_some_and(|own| own.fits(&wanted)) && !is_null_test {
            return;
        }
        let mut others: Vec<(usize, String)> = Vec::new();
        for other in self.context.visible(e.bytes.start) {
            let is_shadowed = self.context.variable(&other.name, e.bytes.start) != Some(other);
            if other.name != name && !is_shadowed && Type::of(other).fits(&wanted) {
                others.push((e.bytes.start.abs_diff(other.bytes.start), other.name.clone()));
            }
        }
        others.sort();
        // Which of the pointers is tested for null is mistaken like any other variable.
        let kind = if is_null_test { "wrong-pointer" } else { "misfit" };
        if wanted.depth > 0 && !is_null_test && e.parent.0 == "binary_expression" {
            others.insert(0, (0, "NULL".to_owned()));
        }
        for (_, other) in others.into_iter().take(MAX_ALTERNATIVES) {
            self.add_anywhere(&e.bytes, other, kind);
        }
    }

    /// What type a name should have where it stands, and the expression around it that can be
    /// chosen whatever the types of its parts.
    fn wanted(&self, e: &Expression) -> Option<Type> {
        let around = self.parent(&e.bytes)?;
        match e.parent.0 {
            "binary_expression" => {
                let operator = self.text(around.operator.as_ref()?);
                if !matches!(operator.as_str(), "<" | "<=" | ">" | ">=" | "==" | "!=") {
                    return None;
                }
                let other = around.operands.iter().find(|operand| **operand != e.bytes)?;
                self.type_of(self.find(other)?)
            }
            // `text = 0` is meant for a number more often than for a pointer.
            "assignment_expression" if e.parent.1 == Some("left") => {
                let right = self.find(around.operands.get(1)?)?;
                // `p += 2` fits a pointer as well as a number.
                let is_plain = self.text(around.operator.as_ref()?) == "=";
                let is_literal = is_plain && right.kind == "number_literal";
                is_literal.then(Type::number)
            }
            "argument_list" => self.passed(around, &e.bytes),
            "pointer_expression" | "unary_expression" => {
                let is_address = self.text(around.operator.as_ref()?) == "&";
                let call = self.parent(&around.bytes)?;
                let wanted = self.passed(call, &around.bytes).filter(|_| is_address)?;
                let depth = wanted.depth.checked_sub(1)?;
                Some(Type { depth, ..wanted })
            }
            _ => None,
        }
    }

    /// The type of the parameter an argument is passed to; any pointer for a function that is
    /// passed where nobody knows what is wanted.
    fn passed(&self, call: &Expression, argument: &Range<usize>) -> Option<Type> {
        if call.kind != "call_expression" {
            return None;
        }
        let (callee, arguments) = call.operands.split_first()?;
        let index = arguments.iter().position(|other| other == argument)?;
        let callee = self.text(callee);
        let functions = self.context.source.functions();
        let Some(function) = functions.iter().find(|function| function.name == callee) else {
            let passed = self.text(argument);
            let is_variable = self.context.variable(&passed, argument.start).is_some();
            let is_name = passed.chars().all(|c| c.is_alphanumeric() || c == '_')
                && passed.starts_with(char::is_alphabetic);
            return (is_name && !is_variable).then(Type::any_pointer);
        };
        let head = function.bytes.start..function.body.start;
        let mut parameters =
            self.context.declarations.iter().filter(|d| head.contains(&d.bytes.start));
        parameters.nth(index).filter(|d| !d.shape.contains('(')).map(Type::of)
    }

    /// `None` for what is not known, and for functions.
    fn type_of(&self, e: &Expression) -> Option<Type> {
        let text = self.text(&e.bytes);
        match e.kind {
            "number_literal" | "char_literal" | "sizeof_expression" => Some(Type::number()),
            "null" => Some(Type::any_pointer()),
            "identifier" if text == "NULL" => Some(Type::any_pointer()),
            "identifier" if self.context.macros.contains(&text) => Some(Type::number()),
            "identifier" => {
                let variable = self.context.variable(&text, e.bytes.start)?;
                (!variable.shape.contains('(')).then(|| Type::of(variable))
            }
            "field_expression" => {
                let name = text.rsplit(['.', '>']).next()?.trim().to_owned();
                let member = self
                    .context
                    .declarations
                    .iter()
                    .find(|d| d.is_member && d.name == name && !d.shape.contains('('));
                member.map(Type::of)
            }
            _ if self.context.is_number(e) => Some(Type::number()),
            _ => None,
        }
    }

    /// Two arguments one behind the other that would fit the other way round as well.
    pub(super) fn swapped_arguments(&mut self, e: &Expression) {
        let arguments = e.operands.iter().skip(1).cloned().collect::<Vec<_>>();
        for pair in arguments.windows(2) {
            let types = (self.find(&pair[0]), self.find(&pair[1]));
            let (Some(one), Some(two)) = types else { continue };
            let fit = match (self.type_of(one), self.type_of(two)) {
                (Some(one), Some(two)) => one.fits(&two) && two.fits(&one),
                _ => false,
            };
            let (one, two) = (self.text(&pair[0]), self.text(&pair[1]));
            if fit && one != two {
                let both = pair[0].start..pair[1].end;
                let between = self.text(&(pair[0].end..pair[1].start));
                self.add_anywhere(&both, format!("{two}{between}{one}"), "swapped-arguments");
            }
        }
    }

    /// What a `for` counts with, where its last part counts something else.
    pub(super) fn counted_elsewhere(&mut self, e: &Expression) {
        let Some(around) = self.parent(&e.bytes) else { return };
        if around.parent != ("for_statement", Some("update"))
            || around.operands.first() != Some(&e.bytes)
        {
            return;
        }
        let started = self.expressions.iter().filter(|other| {
            other.parent == ("for_statement", Some("initializer"))
                && other.kind == "assignment_expression"
        });
        let names: Vec<String> =
            started.filter_map(|s| s.operands.first()).map(|left| self.text(left)).collect();
        let own = self.text(&e.bytes);
        for name in names.into_iter().filter(|name| *name != own) {
            self.add_anywhere(&e.bytes, name, "misfit");
        }
    }
}
