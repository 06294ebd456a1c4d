//! Mutants of a correct program: one token changed, as programmers mistype.
//!
//! This knows nothing of the annotation library: it works on tokens of the text, and what it
//! changes is drawn evenly, by a generator of its own so that runs repeat.

/// A changed program and the line that changed.
pub struct Mutant {
    pub text: String,
    pub line: u32,
}

pub(super) struct Token<'t> {
    pub text: &'t str,
    pub start: usize,
}

/// A linear congruential generator, seeded by a text.
pub(super) struct Random(u64);

impl Random {
    pub fn seeded_by(text: &str) -> Self {
        Self(text.bytes().fold(7, |state, byte| state.wrapping_mul(31) + u64::from(byte)))
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// The tokens inside braces, with their places in the list.
pub(super) fn in_bodies<'t, 'a>(
    tokens: &'t [Token<'a>],
) -> impl Iterator<Item = (usize, &'t Token<'a>)> {
    let mut depth = 0;
    tokens.iter().enumerate().filter(move |(_, token)| {
        match token.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth != 0
    })
}

/// Up to so many different mutants.
pub fn mutants(text: &str, n: usize) -> Vec<Mutant> {
    let tokens = tokens(text);
    let mut all: Vec<(usize, usize, String)> = Vec::new();
    for (index, token) in in_bodies(&tokens) {
        for new in alternatives(&tokens, index) {
            all.push((token.start, token.start + token.text.len(), new));
        }
    }
    let mut random = Random::seeded_by(text);
    let mut chosen = Vec::new();
    while chosen.len() < n && !all.is_empty() {
        let (start, end, new) = all.swap_remove(random.below(all.len()));
        let line = text[..start].matches('\n').count() as u32 + 1;
        chosen.push(Mutant { text: format!("{}{new}{}", &text[..start], &text[end..]), line });
    }
    chosen
}

pub(super) fn alternatives(tokens: &[Token], index: usize) -> Vec<String> {
    let token = tokens[index].text;
    let owned = |list: &[&str]| list.iter().map(|text| text.to_string()).collect();
    match token {
        "<" => owned(&["<=", ">"]),
        "<=" => owned(&["<", ">="]),
        ">" => owned(&[">=", "<"]),
        ">=" => owned(&[">", "<="]),
        "==" => owned(&["!="]),
        "!=" => owned(&["=="]),
        "&&" => owned(&["||"]),
        "||" => owned(&["&&"]),
        "+" => owned(&["-"]),
        "%" => owned(&["/"]),
        "++" => owned(&["--"]),
        "--" => owned(&["++"]),
        "+=" => owned(&["-=", "="]),
        "-=" => owned(&["+="]),
        "-" if is_value(tokens, index.wrapping_sub(1)) => owned(&["+"]),
        _ if token.bytes().all(|byte| byte.is_ascii_digit()) => {
            let Ok(value) = token.parse::<u64>() else { return Vec::new() };
            let mut found = vec![(value + 1).to_string()];
            if value > 0 {
                found.push((value - 1).to_string());
            }
            found
        }
        _ if is_name(token) => other_names(tokens, index),
        _ => Vec::new(),
    }
}

/// Names declared in the same function, or macros in place of a macro.
fn other_names(tokens: &[Token], index: usize) -> Vec<String> {
    let token = tokens[index].text;
    let next = tokens.get(index + 1).map_or("", |next| next.text);
    let before = index.checked_sub(1).map_or("", |at| tokens[at].text);
    let is_declared = is_name(before) || before == "*" && is_type(tokens, index.wrapping_sub(2));
    if next == "(" || is_declared || is_keyword(token) || before == "." || before == "->" {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    let is_macro = |text: &str| {
        text.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
    };
    // Backwards to the start of the function: what is used near is what one mistypes.
    for other in tokens[..index].iter().rev().take(60) {
        let is_alike = is_name(other.text)
            && !is_keyword(other.text)
            && other.text != token
            && other.text != "NULL"
            && is_macro(other.text) == is_macro(token);
        if is_alike && !found.iter().any(|known| known == other.text) {
            found.push(other.text.to_owned());
        }
        if found.len() == 2 {
            break;
        }
    }
    found
}

pub(super) fn is_value(tokens: &[Token], index: usize) -> bool {
    tokens.get(index).is_some_and(|t| {
        is_name(t.text) && t.text != "return"
            || t.text == ")"
            || t.text == "]"
            || t.text.bytes().all(|b| b.is_ascii_digit())
    })
}

fn is_type(tokens: &[Token], index: usize) -> bool {
    tokens.get(index).is_some_and(|t| is_keyword(t.text) || is_name(t.text))
}

pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

pub(super) fn is_keyword(text: &str) -> bool {
    matches!(
        text,
        "int"
            | "char"
            | "const"
            | "static"
            | "struct"
            | "if"
            | "else"
            | "for"
            | "while"
            | "do"
            | "return"
            | "sizeof"
            | "void"
            | "unsigned"
            | "long"
            | "size_t"
            | "break"
            | "continue"
            | "switch"
            | "case"
            | "default"
            | "short"
            | "signed"
            | "goto"
    )
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    const LONG: [&str; 17] = [
        "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
        "%=", "&=",
    ];
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let line = || rest.find('\n').unwrap_or(rest.len());
        let length = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' => {
                at += line();
                continue;
            }
            b'/' if rest.starts_with("//") => {
                at += line();
                continue;
            }
            b'/' if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                let mut end = 1;
                while end < rest.len() && rest.as_bytes()[end] != quote {
                    end += if rest.as_bytes()[end] == b'\\' { 2 } else { 1 };
                }
                at += end + 1;
                continue;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
                rest.bytes().take_while(is_word).count()
            }
            _ => LONG.iter().find(|long| rest.starts_with(**long)).map_or(1, |long| long.len()),
        };
        found.push(Token { text: &rest[..length], start: at });
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_changes_and_only_in_bodies() {
        let text = "#define N 4\nint a[N];\nint f(int n) {\n  return a[n - 1] < 3;\n}\n";
        let all = mutants(text, 100);
        assert!(all.iter().any(|mutant| mutant.text.contains("a[n - 1] <= 3")));
        assert!(all.iter().any(|mutant| mutant.text.contains("a[n - 0] < 3")));
        assert!(all.iter().all(|mutant| mutant.line == 4 && mutant.text.contains("int a[N];")));
    }
}
