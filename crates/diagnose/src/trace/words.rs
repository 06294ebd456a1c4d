//! The words of a trace.

use std::collections::BTreeSet;

use program::Predicate;

/// `place` becomes `text`, which is `known`.
pub fn assignment(place: &str, text: Option<String>, known: Option<String>) -> String {
    match (text, known) {
        (Some(text), Some(known)) if text != known => {
            format!("{place} = {text}: {place} is {known}")
        }
        (_, Some(known)) => format!("{place} = {known}"),
        (Some(text), None) => format!("{place} = {text}"),
        (None, None) => format!("{place} is assigned"),
    }
}

/// Text without what only the program model means; the library's own names as C has them.
pub fn readable(text: &str) -> Option<String> {
    let text = text.replace("__isoc99_", "").replace("__isoc23_", "");
    let has_number =
        text.split('%').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_string = text.contains('"');
    let is_odd =
        ["alloca(", "__", ".<", "<temporary", "<unnamed", "<uninit", "<param", "(&", "..."]
            .iter()
            .any(|odd| text.contains(odd));
    let is_readable = !text.is_empty() && !is_odd && (!has_number || is_string);
    is_readable.then_some(text)
}

/// The names in an expression.
pub fn names(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(|c| !is_name(c));
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic()) && *word != "NULL").collect()
}

pub fn sign(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::Eq => "==",
        Predicate::Ne => "!=",
        Predicate::SignedLt | Predicate::UnsignedLt => "<",
        Predicate::SignedLe | Predicate::UnsignedLe => "<=",
        Predicate::SignedGt | Predicate::UnsignedGt => ">",
        Predicate::SignedGe | Predicate::UnsignedGe => ">=",
        _ => "",
    }
}
