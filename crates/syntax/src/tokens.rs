//! C split into tokens, for comparing statements and changes of them.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    Word,
    Number,
    Text,
    Character,
    Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub text: String,
    pub bytes: Range<usize>,
}

/// Operators of more than one character, longest first.
const LONG: [&str; 23] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
];

/// Comments and blanks are left out; a quote that is not closed ends with its line.
pub fn tokens(text: &[u8]) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kind, length) = match rest[0] {
            byte if byte.is_ascii_whitespace() => (None, 1),
            b'\\' if rest.get(1).is_some_and(|next| next.is_ascii_whitespace()) => (None, 1),
            b'/' if rest.starts_with(b"//") => (None, until(rest, b"\n")),
            b'/' if rest.starts_with(b"/*") => (None, 2 + past(&rest[2..], b"*/")),
            b'"' => (Some(TokenKind::Text), quoted(rest)),
            b'\'' => (Some(TokenKind::Character), quoted(rest)),
            byte if byte.is_ascii_digit() => (Some(TokenKind::Number), number(rest)),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => {
                (Some(TokenKind::Number), number(rest))
            }
            byte if is_word(byte) => {
                let length = rest.iter().take_while(|byte| is_word(**byte)).count();
                (Some(TokenKind::Word), length)
            }
            _ => {
                let long = LONG.iter().find(|long| rest.starts_with(long.as_bytes()));
                (Some(TokenKind::Operator), long.map_or(1, |long| long.len()))
            }
        };
        if let Some(kind) = kind {
            let bytes = at..at + length;
            let text = String::from_utf8_lossy(&text[bytes.clone()]).into_owned();
            found.push(Token { kind, text, bytes });
        }
        at += length;
    }
    found
}

/// Letters beyond ASCII belong to words, so that no token splits a character.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn until(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|window| window == end).unwrap_or(text.len())
}

fn past(text: &[u8], end: &[u8]) -> usize {
    (until(text, end) + end.len()).min(text.len())
}

fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == text[0] => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// A preprocessing number: digits, letters, points, and a sign after an exponent.
fn number(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        let is_sign = matches!(text[at], b'+' | b'-');
        let after_exponent = match text[at - 1] {
            b'p' | b'P' => true,
            // In a hexadecimal number e is a digit.
            b'e' | b'E' => !text.starts_with(b"0x") && !text.starts_with(b"0X"),
            _ => false,
        };
        if !(is_word(text[at]) || text[at] == b'.' || (is_sign && after_exponent)) {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        tokens(text.as_bytes()).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn operators_numbers_and_quotes_stay_whole() {
        assert_eq!(split("a<<=b->c"), ["a", "<<=", "b", "->", "c"]);
        assert_eq!(split("x=1e-5+0x1e-.5f;"), ["x", "=", "1e-5", "+", "0x1e", "-", ".5f", ";"]);
        assert_eq!(split(r#"f("a\"b", '\'')"#), ["f", "(", r#""a\"b""#, ",", r"'\''", ")"]);
    }

    #[test]
    fn comments_are_left_out_and_broken_text_ends() {
        assert_eq!(split("a /* b */ + // c\n d"), ["a", "+", "d"]);
        assert_eq!(split("a /* b"), ["a"]);
        assert_eq!(split("\"open\nx"), ["\"open", "x"]);
        assert_eq!(split("\"open\\"), ["\"open\\"]);
        assert_eq!(split("größe+1"), ["größe", "+", "1"]);
        assert!(tokens(&[0xff, b'\'', b'\\']).len() <= 2);
    }
}
