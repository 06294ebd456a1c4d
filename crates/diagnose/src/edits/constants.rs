//! Edits of constants by name: enumerators, characters, and sizes of arrays.

use syntax::{Expression, TokenKind, tokens};

use super::rules::{MAX_ALTERNATIVES, Rules, contains};

/// Characters of a function that may stand for another one.
const MAX_CHARACTERS: usize = 4;

/// The functions of `ctype.h`: what is passed is a character, which nobody counts with.
pub(super) const CTYPE: [&str; 14] = [
    "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint",
    "ispunct", "isspace", "isupper", "isxdigit", "tolower", "toupper",
];

impl Rules<'_, '_, '_> {
    /// Another enumerator of the same `enum`.
    pub(super) fn enumerator(&mut self, e: &Expression) {
        let name = self.text(&e.bytes);
        if self.context.variable(&name, e.bytes.start).is_some() {
            return;
        }
        let around = self.context.enums.iter().find(|names| names.contains(&name));
        let Some(around) = around.cloned() else { return };
        // The last one often counts the others.
        let (last, others) = match around.split_last() {
            Some((last, others)) if is_count(last) => (Some(last.clone()), others.to_vec()),
            _ => (None, around),
        };
        let others = others.into_iter().filter(|other| *other != name);
        for other in others.chain(last.filter(|last| *last != name)).take(MAX_ALTERNATIVES) {
            self.add_kind(&e.bytes, other, "wrong-enumerator");
        }
    }

    pub(super) fn character(&mut self, e: &Expression) {
        let own = self.text(&e.bytes);
        let new = match own.as_str() {
            "'\\0'" => Some("'0'"),
            "'0'" | "' '" | "'\\n'" => Some("'\\0'"),
            _ => None,
        };
        if let Some(new) = new {
            self.add_kind(&e.bytes, new.to_owned(), "other-constant");
        }
        if let [b'\'', letter, b'\''] = own.as_bytes()
            && letter.is_ascii_alphabetic()
        {
            let other = char::from(*letter ^ 0x20);
            self.add_kind(&e.bytes, format!("'{other}'"), "character-case");
        }
        for other in self.characters_nearby(e, &own) {
            self.add_kind(&e.bytes, other, "other-character");
        }
    }

    /// Other characters of the function, the nearest first.
    fn characters_nearby(&self, e: &Expression, own: &str) -> Vec<String> {
        let functions = self.context.source.functions();
        let Some(around) = functions.iter().find(|f| f.body.contains(&e.bytes.start)) else {
            return Vec::new();
        };
        let text = &self.context.source.text()[around.body.clone()];
        let mut found: Vec<(usize, String)> = tokens(text)
            .into_iter()
            .filter(|token| token.kind == TokenKind::Character && token.text != own)
            .map(|t| ((around.body.start + t.bytes.start).abs_diff(e.bytes.start), t.text))
            .collect();
        found.sort();
        let mut known: Vec<String> = Vec::new();
        for (_, other) in found {
            if known.len() < MAX_CHARACTERS && !known.contains(&other) {
                known.push(other);
            }
        }
        known
    }

    /// The size of another array: those the statement names first.
    pub(super) fn other_size(&mut self, e: &Expression) {
        let text = self.text(&e.bytes);
        let Some(operand) = text.strip_prefix("sizeof") else { return };
        let inner = operand.trim().trim_start_matches('(').trim_end_matches(')').trim().to_owned();
        let is_array = |shape: &str| shape.starts_with('[');
        let own = self.context.variable(&inner, e.bytes.start);
        if !own.is_some_and(|own| is_array(&own.shape)) {
            return;
        }
        let statement = self.text(&self.statement.bytes);
        let words = tokens(statement.as_bytes());
        let is_named = |name: &str| words.iter().any(|word| word.text == name);
        let mut others: Vec<(bool, usize, String)> = Vec::new();
        for other in self.context.visible(e.bytes.start) {
            let is_shadowed = self.context.variable(&other.name, e.bytes.start) != Some(other);
            if other.name != inner && is_array(&other.shape) && !is_shadowed {
                let distance = e.bytes.start.abs_diff(other.bytes.start);
                others.push((!is_named(&other.name), distance, other.name.clone()));
            }
        }
        others.sort();
        for (_, _, other) in others.into_iter().take(MAX_ALTERNATIVES) {
            let new = text.replacen(&inner, &other, 1);
            // `sizeof` itself may hold the name.
            let new = if new.starts_with("sizeof") { new } else { format!("sizeof {other}") };
            self.add_kind(&e.bytes, new, "wrong-size");
        }
    }

    /// Part of what a function of `ctype.h` is passed.
    pub(super) fn is_character_test(&self, e: &Expression) -> bool {
        self.expressions.iter().any(|around| {
            around.kind == "call_expression"
                && around.bytes != e.bytes
                && contains(&around.bytes, &e.bytes)
                && around
                    .operands
                    .first()
                    .is_some_and(|callee| CTYPE.contains(&self.text(callee).as_str()))
        })
    }
}

/// Whether an enumerator is called like one that counts those before it.
fn is_count(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = ["COUNT", "MAX", "LAST", "NUM", "END"];
    name.starts_with('N') || words.iter().any(|word| name.contains(word))
}
