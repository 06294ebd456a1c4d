//! What a file declares, for edits that stay within types and scopes.

use std::ops::Range;

use syntax::{Declaration, Expression, Source, StatementKind, TokenKind, tokens};

pub struct Context<'s> {
    pub source: &'s Source,
    pub declarations: Vec<Declaration>,
    /// Object-like macros whose body is a number or a product of such.
    pub macros: Vec<String>,
    /// Function-like macros whose body is a size: `ARRAY_LEN(a)`.
    sizes: Vec<String>,
    /// The enumerators of each `enum`.
    pub enums: Vec<Vec<String>>,
    /// Loops, with what they hold.
    pub loops: Vec<Range<usize>>,
}

impl<'s> Context<'s> {
    pub fn new(source: &'s Source) -> Self {
        let text = String::from_utf8_lossy(source.text());
        let (macros, sizes) = numeric_macros(&text);
        let declarations = source.declarations();
        use StatementKind::{DoWhile, For, While};
        let statements = source.statements().into_iter();
        let loops = statements.filter(|s| matches!(s.kind, For | While | DoWhile));
        let loops = loops.map(|s| s.whole).collect();
        Self { source, declarations, macros, sizes, enums: enums(source.text()), loops }
    }

    pub fn text(&self, bytes: &Range<usize>) -> String {
        self.source.slice(bytes)
    }

    /// The variable a name means at a place: the innermost declaration before it.
    pub fn variable(&self, name: &str, at: usize) -> Option<&Declaration> {
        let visible = self.visible(at).filter(|d| d.name == name);
        visible.max_by_key(|declaration| declaration.bytes.start)
    }

    /// Variables that can be named at a place.
    pub fn visible(&self, at: usize) -> impl Iterator<Item = &Declaration> {
        self.declarations.iter().filter(move |d| !d.is_member && d.scope.contains(&at))
    }

    /// Variables of the type of this one, at a place.
    pub fn alike(&self, variable: &Declaration, at: usize) -> Vec<(&Declaration, bool)> {
        let mut found: Vec<(&Declaration, bool)> = Vec::new();
        for other in self.visible(at) {
            let is_shadowed = self.variable(&other.name, at) != Some(other);
            if other.name == variable.name || is_shadowed {
                continue;
            }
            match alike(variable, other) {
                Some(is_same) => found.push((other, is_same)),
                None => continue,
            }
        }
        found
    }

    /// Members of the struct this one belongs to, of its type.
    pub fn alike_members(&self, name: &str) -> Vec<&Declaration> {
        let mut found: Vec<&Declaration> = Vec::new();
        let members = || self.declarations.iter().filter(|d| d.is_member);
        for member in members().filter(|member| member.name == name) {
            let siblings = members().filter(|other| {
                other.scope.end == member.scope.end
                    && other.name != name
                    && alike(member, other).is_some()
            });
            for sibling in siblings {
                if !found.iter().any(|known| known.name == sibling.name) {
                    found.push(sibling);
                }
            }
        }
        found
    }

    pub fn is_number(&self, expression: &Expression) -> bool {
        match expression.kind {
            "number_literal" => true,
            "identifier" => {
                let name = self.text(&expression.bytes);
                match self.variable(&name, expression.bytes.start) {
                    Some(variable) => variable.shape.is_empty() && is_number(&variable.base),
                    None => self.macros.contains(&name),
                }
            }
            "binary_expression" => {
                // Differences and sums of numbers; of pointers nobody knows here.
                let text = self.text(&expression.bytes);
                !text.contains('"')
                    && expression.operands.iter().all(|operand| {
                        let inner = self.source.expressions(operand);
                        inner.first().is_some_and(|inner| self.is_number(inner))
                    })
            }
            "parenthesized_expression" => {
                let inner = expression.operands.first().map(|o| self.source.expressions(o));
                inner.and_then(|inner| inner.first().map(|i| self.is_number(i))).unwrap_or(false)
            }
            "sizeof_expression" => true,
            "call_expression" => {
                let text = self.text(&expression.bytes);
                let callee = text.split('(').next().unwrap_or_default().trim();
                text.starts_with("strlen")
                    || text.starts_with("sizeof")
                    || self.sizes.iter().any(|name| name == callee)
            }
            "subscript_expression" | "field_expression" => self.is_number_place(expression),
            _ => false,
        }
    }

    fn is_number_place(&self, expression: &Expression) -> bool {
        let text = self.text(&expression.bytes);
        if expression.kind == "field_expression" {
            let name = text.rsplit(['.', '>']).next().unwrap_or("").trim().to_owned();
            let mut members = self.declarations.iter().filter(|d| d.is_member && d.name == name);
            return members.all(|m| m.shape.is_empty() && is_number(&m.base));
        }
        let base = text.split('[').next().unwrap_or("").trim();
        let variable = self.variable(base, expression.bytes.start);
        variable.is_some_and(|v| v.shape.len() == 1 && is_number(&v.base))
    }

    /// Whether a text names a member that is a pointer: `list->head`.
    pub fn is_pointer_member(&self, text: &str) -> bool {
        let Some(at) = text.rfind(['.', '>']) else { return false };
        let name = text[at + 1..].trim();
        let mut members = self.declarations.iter().filter(|d| d.is_member && d.name == name);
        members.next().is_some_and(|first| first.shape == "*") && members.all(|m| m.shape == "*")
    }

    /// Pointer variables and, for arrays, their lengths as written.
    pub fn is_pointer(&self, name: &str, at: usize) -> bool {
        self.variable(name, at).is_some_and(|v| v.shape == "*")
    }
}

/// Whether two variables have types that can stand for each other; `Some(true)` where they
/// are the same.
fn alike(a: &Declaration, b: &Declaration) -> Option<bool> {
    let shape = |d: &Declaration| d.shape.replace('[', "*");
    if a.shape.contains('(') || b.shape.contains('(') || shape(a) != shape(b) {
        return None;
    }
    // What must not be written cannot stand where something may be.
    let is_const = |d: &Declaration| d.base.split_whitespace().any(|word| word == "const");
    if !a.shape.is_empty() && is_const(b) && !is_const(a) {
        return None;
    }
    let plain = |base: &str| base.replace("const ", "");
    if plain(&a.base) == plain(&b.base) {
        return Some(true);
    }
    let both_numbers = is_number(&a.base) && is_number(&b.base) && a.shape.is_empty();
    both_numbers.then_some(false)
}

/// A number or a pointer, so that a cast to it is possible.
pub fn is_scalar(base: &str, shape: &str) -> bool {
    let is_plain = base.split_whitespace().all(|word| {
        matches!(word, "char" | "double" | "float" | "_Bool" | "bool") || is_number(word)
    });
    shape.ends_with('*') || shape.starts_with('*') || shape.is_empty() && is_plain
}

pub fn is_number(base: &str) -> bool {
    let words = base.split_whitespace();
    let mut any = false;
    for word in words {
        match word {
            "int" | "unsigned" | "signed" | "long" | "short" | "size_t" | "ssize_t" | "int8_t"
            | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t"
            | "uint64_t" | "ptrdiff_t" => any = true,
            "const" | "static" | "volatile" | "register" => {}
            _ => return false,
        }
    }
    any
}

/// Whether a name looks like that of a macro or enumerator.
pub fn is_macro_name(name: &str) -> bool {
    !name.chars().any(|c| c.is_ascii_lowercase())
}

/// Macros that are numbers, and those that are sizes of what they are given.
fn numeric_macros(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut found, mut sizes) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("define") else { continue };
        let mut parts = rest.trim_start().splitn(2, char::is_whitespace);
        let (Some(name), Some(body)) = (parts.next(), parts.next()) else { continue };
        let body = body.split("/*").next().unwrap_or("").split("//").next().unwrap_or("").trim();
        let is_plain = body.chars().all(|c| c.is_ascii_digit() || "()+-* xXuUlL".contains(c));
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // `#define N (sizeof a / sizeof a[0])`, or the same of a parameter.
        if body.contains("sizeof") && body.contains('/') {
            match name.split_once('(') {
                Some((name, _)) => sizes.push(name.to_owned()),
                None if is_name => found.push(name.to_owned()),
                None => {}
            }
            continue;
        }
        if is_name && is_plain && body.chars().any(|c| c.is_ascii_digit()) {
            found.push(name.to_owned());
        }
    }
    (found, sizes)
}

/// The names between the braces of each `enum`, in their order.
fn enums(text: &[u8]) -> Vec<Vec<String>> {
    let all = tokens(text);
    let mut found = Vec::new();
    for (at, _) in all.iter().enumerate().filter(|(_, token)| token.text == "enum") {
        let mut rest = all[at + 1..].iter().skip_while(|token| token.kind == TokenKind::Word);
        if rest.next().is_none_or(|token| token.text != "{") {
            continue;
        }
        let inside: Vec<_> = rest.take_while(|token| token.text != "}").collect();
        let mut names = Vec::new();
        for (index, token) in inside.iter().enumerate() {
            let begins = index == 0 || inside[index - 1].text == ",";
            if begins && token.kind == TokenKind::Word {
                names.push(token.text.clone());
            }
        }
        found.push(names);
    }
    found
}
