//! The words of a trace.

use std::collections::BTreeSet;

use program::Predicate;

/// `place` becomes `text`, which is `known`.
pub fn assignment(place: &str, text: Option<String>, known: Option<String>) -> String {
    let number = |text: &str| text.parse::<f64>().ok();
    match (text, known) {
        (Some(text), Some(known)) if number(&text).is_some() && number(&text) == number(&known) => {
            format!("{place} = {text}")
        }
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
    let text = plain_calls(&text.replace("__isoc99_", "").replace("__isoc23_", ""));
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

/// `abs.i32(x, 1)` as C writes it: `abs(x)`.
fn plain_calls(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, name, after)) = typed_call(rest) {
        plain.push_str(before);
        plain.push_str(name);
        // What the compiler passes to say that the least number is not expected.
        let end = closing(after);
        let (inner, behind) = after.split_at(end);
        let hint = matches!(name, "abs").then(|| inner.strip_suffix(", 1")).flatten();
        let hint = hint.or(matches!(name, "abs").then(|| inner.strip_suffix(", 0")).flatten());
        plain.push('(');
        plain.push_str(&plain_calls(hint.unwrap_or(inner)));
        rest = behind;
    }
    plain.push_str(rest);
    plain
}

/// The first call of a function with a type in its name: what is before, its plain name, and what
/// follows the parenthesis.
fn typed_call(text: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in text.match_indices('.') {
        let name_start = text[..at].rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name_start = name_start.map_or(0, |before| before + 1);
        let name = &text[name_start..at];
        let Some((ctype, after)) = text[at + 1..].split_once('(') else { continue };
        let width = ctype.strip_prefix(['i', 'f']).unwrap_or_default();
        let is_type = !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit());
        if is_type && name.starts_with(|c: char| c.is_alphabetic()) {
            return Some((&text[..name_start], name, after));
        }
    }
    None
}

/// Where the parenthesis closes that was opened before a text.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    let ends = |(_, c): &(usize, char)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

/// A function of the library as C calls it: without what compilers add.
pub fn outer_name(name: &str) -> String {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
    let name = name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")).unwrap_or(name);
    name.split('.').next().unwrap_or(name).to_owned()
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

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn calls_are_told_without_their_types() {
        let told = |text: &str| readable(text).expect("it is readable");
        assert_eq!(told("abs.i32(f(a, 1) - b, 1) > 3"), "abs(f(a, 1) - b) > 3");
        assert_eq!(told("floor.f64(abs.i64(x, 0))"), "floor(abs(x))");
        assert_eq!(told("p.i32 + s.f(1)"), "p.i32 + s.f(1)");
        assert_eq!(told("1.5 * smax.i32(a, b)"), "1.5 * smax(a, b)");
    }
}
