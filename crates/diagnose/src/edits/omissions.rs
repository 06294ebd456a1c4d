//! What is forgotten rather than mistaken: the limit of what grows in a loop, the room of a copy,
//! the size of an element, the sign of a character.

use std::ops::Range;

use syntax::{Declaration, Expression, StatementKind, tokens};

use super::constants::CTYPE;
use super::rules::{Rules, contains, precedence};

/// Arrays that a pointer may lead into, nearest declaration first.
const MAX_ARRAYS: usize = 3;

/// Something that grows, and how much room there is for it.
struct Room {
    /// An index, or a pointer.
    name: String,
    /// What it must stay below, one element kept for an end and not.
    limits: [String; 2],
}

impl Rules<'_, '_, '_> {
    /// Conditions of loops that do not stop where an array is full, and of branches that are not
    /// taken there.
    pub(super) fn missing_limit(&mut self, e: &Expression) {
        let is_loop = match self.statement.kind {
            StatementKind::While | StatementKind::For | StatementKind::DoWhile => true,
            StatementKind::If => false,
            _ => return,
        };
        let is_whole = self.parent(&e.bytes).is_none_or(|p| p.kind == "parenthesized_expression");
        if !is_whole {
            return;
        }
        let text = self.text(&e.bytes);
        let within = match self.loop_around() {
            _ if is_loop => self.statement.whole.clone(),
            // What is filled elsewhere in the loop may be full here.
            Some(around) if self.rooms(&e.bytes).is_empty() => around.clone(),
            _ => e.bytes.clone(),
        };
        for room in self.rooms(&within) {
            let must_change = within != e.bytes;
            if self.is_limited(&room.name) || must_change && !self.is_changed(&room.name, &within) {
                continue;
            }
            for limit in room.limits {
                let name = &room.name;
                match is_loop {
                    true => {
                        let loose = self.binds_looser(e, "&&");
                        let text = if loose { format!("({text})") } else { text.clone() };
                        let new = format!("{name} < {limit} && {text}");
                        self.add_kind(&e.bytes, new, "missing-limit");
                    }
                    false => {
                        let loose = self.binds_looser(e, "||");
                        let text = if loose { format!("({text})") } else { text.clone() };
                        let new = format!("{text} || {name} >= {limit}");
                        self.add_kind(&e.bytes, new, "missing-full-test");
                    }
                }
            }
        }
    }

    fn loop_around(&self) -> Option<&Range<usize>> {
        let around = self.context.loops.iter().filter(|l| contains(l, &self.statement.bytes));
        around.min_by_key(|l| l.len())
    }

    /// Whether an expression needs parentheses as an operand.
    fn binds_looser(&self, e: &Expression, operator: &str) -> bool {
        let own = e.operator.as_ref().map(|o| self.text(o)).unwrap_or_default();
        match e.kind {
            "binary_expression" => precedence(&own) < precedence(operator),
            "assignment_expression" | "conditional_expression" | "comma_expression" => true,
            _ => false,
        }
    }

    /// Elements that are written or read by an index or pointer that moves.
    fn rooms(&self, within: &Range<usize>) -> Vec<Room> {
        let mut found: Vec<Room> = Vec::new();
        for e in self.context.source.expressions(within) {
            let at = e.bytes.start;
            let operand = |n: usize| e.operands.get(n).map(|o| self.text(o)).unwrap_or_default();
            let rooms: Vec<Room> = match e.kind {
                "subscript_expression" => {
                    let array = self.context.variable(&operand(0), at);
                    let limits = array.and_then(|array| self.limits(array, ""));
                    let name = moving(&operand(1));
                    limits.map(|limits| Room { name, limits }).into_iter().collect()
                }
                "pointer_expression" if self.text(&e.bytes).starts_with('*') => {
                    let name = moving(&operand(0));
                    self.rooms_of_pointer(&name, at)
                }
                _ => continue,
            };
            let is_new = |room: &Room| !found.iter().any(|known| known.limits == room.limits);
            let rooms: Vec<Room> = rooms
                .into_iter()
                .filter(|r| self.context.variable(&r.name, at).is_some() && is_new(r))
                .collect();
            found.extend(rooms);
        }
        found
    }

    fn rooms_of_pointer(&self, name: &str, at: usize) -> Vec<Room> {
        let Some(pointer) = self.context.variable(name, at).filter(|p| p.shape == "*") else {
            return Vec::new();
        };
        let mut arrays: Vec<&Declaration> =
            self.context.visible(at).filter(|d| d.shape == "[" && d.base == pointer.base).collect();
        arrays.sort_by_key(|array| at.abs_diff(array.bytes.start));
        let arrays = arrays.into_iter().take(MAX_ARRAYS);
        arrays
            .filter_map(|array| {
                let limits = self.limits(array, &format!("{} + ", array.name))?;
                Some(Room { name: name.to_owned(), limits })
            })
            .collect()
    }

    /// The last index of an array and its length; of texts the end needs room.
    fn limits(&self, array: &Declaration, base: &str) -> Option<[String; 2]> {
        let length = self.text(array.length.as_ref()?);
        let limits = [one_less(&length), length].map(|limit| format!("{base}{limit}"));
        let [less, whole] = limits;
        let is_text = array.base.split_whitespace().any(|word| word == "char");
        Some(if is_text { [less, whole] } else { [whole, less] })
    }

    /// Whether the statement compares it already, if perhaps wrongly.
    fn is_limited(&self, name: &str) -> bool {
        let names = |side: &Range<usize>| {
            tokens(self.text(side).as_bytes()).iter().any(|token| token.text == name)
        };
        let mut sides = self.comparisons().filter(|(left, right)| {
            let operator = self.text(&(left.end..right.start));
            operator.contains(['<', '>'])
                || operator.contains("!=") && [left, right].iter().any(|s| self.text(s) == name)
        });
        sides.any(|(left, right)| names(left) || names(right))
    }

    fn is_changed(&self, name: &str, within: &Range<usize>) -> bool {
        self.context.source.expressions(within).iter().any(|e| {
            matches!(e.kind, "update_expression" | "assignment_expression")
                && e.operands.first().is_some_and(|changed| self.text(changed) == name)
        })
    }

    /// Calls that copy as much as there is, or count elements where bytes are meant.
    pub(super) fn call(&mut self, e: &Expression) {
        let Some((callee, arguments)) = e.operands.split_first() else { return };
        let callee = self.text(callee);
        let texts: Vec<String> = arguments.iter().map(|argument| self.text(argument)).collect();
        let to = texts.first().cloned().unwrap_or_default();
        let is_array = self
            .context
            .variable(&to, e.bytes.start)
            .is_some_and(|d| d.shape == "[" && d.length.is_some())
            || self.is_array_member(&to);
        let rest = texts.iter().skip(1).cloned().collect::<Vec<_>>().join(", ");
        let bounded = match callee.as_str() {
            "strcpy" if self.includes("stdio.h") => {
                format!("snprintf({to}, sizeof({to}), \"%s\", {rest})")
            }
            "strcpy" => format!("strncpy({to}, {rest}, sizeof({to}) - 1)"),
            "strcat" => format!("strncat({to}, {rest}, sizeof({to}) - strlen({to}) - 1)"),
            "sprintf" => format!("snprintf({to}, sizeof({to}), {rest})"),
            "vsprintf" => format!("vsnprintf({to}, sizeof({to}), {rest})"),
            "gets" => format!("fgets({to}, sizeof({to}), stdin)"),
            _ => String::new(),
        };
        if is_array && !bounded.is_empty() && texts.len() + usize::from(callee == "gets") > 1 {
            self.add_kind(&e.bytes, bounded, "unbounded-copy");
        }
        self.element_size(e, &callee, arguments);
        self.swapped_arguments(e);
        if callee == "realloc" && e.parent.0 == "expression_statement" {
            let new = format!("{to} = {}", self.text(&e.bytes));
            self.add_kind(&e.bytes, new, "lost-result");
        }
    }

    /// `p->name`, where every member of that name is an array.
    fn is_array_member(&self, place: &str) -> bool {
        let Some(at) = place.rfind(['.', '>']) else { return false };
        let name = place[at + 1..].trim();
        let mut members =
            self.context.declarations.iter().filter(|d| d.is_member && d.name == name);
        let mut any = false;
        let all = members.all(|member| {
            any = true;
            member.shape == "[" && member.length.is_some()
        });
        any && all
    }

    fn includes(&self, header: &str) -> bool {
        String::from_utf8_lossy(self.context.source.text()).contains(header)
    }

    /// `malloc(n)` for `malloc(n * sizeof *p)`.
    fn element_size(&mut self, e: &Expression, callee: &str, arguments: &[Range<usize>]) {
        let (elements, size) = match (callee, arguments) {
            ("memcpy" | "memmove" | "memset", [to, _, size]) => (self.text(to), size),
            ("malloc" | "alloca", [size]) | ("realloc", [_, size]) => (self.holder(e), size),
            _ => return,
        };
        let size_text = self.text(size);
        let Some(variable) = self.context.variable(&elements, e.bytes.start) else { return };
        let is_byte = variable.shape.len() == 1
            && variable.base.split_whitespace().any(|w| matches!(w, "char" | "uint8_t" | "void"));
        if variable.shape.is_empty() || is_byte || size_text.contains("sizeof") {
            return;
        }
        let is_loose = self.find(size).is_some_and(|size| self.binds_looser(size, "*"));
        let count = if is_loose { format!("({size_text})") } else { size_text };
        let new = format!("{count} * sizeof(*{elements})");
        self.add_kind(size, new, "elements-for-bytes");
    }

    /// The variable that a call's result is given to.
    fn holder(&self, e: &Expression) -> String {
        let before = self.text(&(self.statement.bytes.start..e.bytes.start));
        // `p = malloc(n)`, also behind a cast or within a comparison.
        let Some((left, _)) = before.rsplit_once('=') else { return String::new() };
        tokens(left.as_bytes()).last().map(|token| token.text.clone()).unwrap_or_default()
    }

    /// `sizeof(a)` for `sizeof(a) / sizeof(a[0])`.
    pub(super) fn element_count(&mut self, e: &Expression) {
        let text = self.text(&e.bytes);
        let name = text.trim_start_matches("sizeof").trim();
        let name = name.trim_start_matches('(').trim_end_matches(')').trim().to_owned();
        let Some(array) = self.context.variable(&name, e.bytes.start) else { return };
        let is_text = array.shape == "[" && array.base.split_whitespace().any(|w| w == "char");
        let around = self.parent(&e.bytes).and_then(|p| p.operator.as_ref());
        let is_scaled = around.is_some_and(|o| matches!(self.text(o).as_str(), "*" | "/" | "%"));
        if array.shape.starts_with('[') && !is_text && !is_scaled {
            let new = format!("{text} / sizeof({name}[0])");
            self.add_kind(&e.bytes, new, "bytes-for-elements");
        }
    }

    /// A character that is an index, or becomes a number, as it is: it may be negative.
    pub(super) fn sign_extension(&mut self, e: &Expression) {
        let is_use = match e.parent {
            ("subscript_expression", role) => role == Some("index"),
            ("init_declarator", role) => role == Some("value"),
            ("assignment_expression", role) => role == Some("right"),
            ("argument_list", _) => self.expressions.iter().any(|call| {
                let callee = call.operands.first().map(|callee| self.text(callee));
                call.kind == "call_expression"
                    && contains(&call.bytes, &e.bytes)
                    && callee.is_some_and(|callee| CTYPE.contains(&callee.as_str()))
            }),
            _ => false,
        };
        if is_use && self.is_plain_character(e) && !self.is_given_to_character(e) {
            let new = format!("(unsigned char){}", self.text(&e.bytes));
            self.add_kind(&e.bytes, new, "sign-extension");
        }
    }

    fn is_plain_character(&self, e: &Expression) -> bool {
        let (name, shapes): (_, &[&str]) = match e.kind {
            "identifier" => (self.text(&e.bytes), &[""]),
            "subscript_expression" | "pointer_expression" => {
                let base = e.operands.first().map(|o| self.text(o)).unwrap_or_default();
                (moving(&base), &["*", "["])
            }
            _ => return false,
        };
        if e.kind == "pointer_expression" && !self.text(&e.bytes).starts_with('*') {
            return false;
        }
        self.context.variable(&name, e.bytes.start).is_some_and(|v| {
            let words: Vec<&str> = v.base.split_whitespace().collect();
            shapes.contains(&v.shape.as_str())
                && words.contains(&"char")
                && !words.contains(&"unsigned")
        })
    }

    /// Where nothing becomes wider, the sign does not matter.
    fn is_given_to_character(&self, e: &Expression) -> bool {
        if !matches!(e.parent.0, "assignment_expression" | "init_declarator") {
            return false;
        }
        let before = self.text(&(self.statement.bytes.start..e.bytes.start));
        let Some((left, _)) = before.rsplit_once('=') else { return true };
        let target = tokens(left.as_bytes()).last().map(|token| token.text.clone());
        let target = target.unwrap_or_default();
        self.context
            .variable(&target, e.bytes.start)
            .is_none_or(|v| !v.shape.is_empty() || v.base.split_whitespace().any(|w| w == "char"))
    }
}

/// `i` of `i++`.
fn moving(text: &str) -> String {
    text.trim_matches(|c: char| "+-() ".contains(c)).to_owned()
}

/// A length without its last element, as somebody would write it.
fn one_less(length: &str) -> String {
    let compact: String = length.chars().filter(|c| !c.is_whitespace()).collect();
    if let Ok(number) = compact.parse::<u64>() {
        return number.saturating_sub(1).to_string();
    }
    match compact.strip_suffix("+1") {
        Some(rest) => rest.to_owned(),
        None => format!("{length} - 1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lose_one_element() {
        for (length, less) in [("16", "15"), ("N + 1", "N"), ("N", "N - 1"), ("2 * N", "2 * N - 1")]
        {
            assert_eq!(one_less(length), less);
        }
        assert_eq!(moving("n++"), "n");
    }
}
