//! Words, numbers, signs, strings and code signatures of a specification.

use crate::diagnostic::{Diagnostic, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// Words may hold dashes (`error-state`, `buffer-overflow`) and dots (`string.h`).
    Word(String),
    Number(i128),
    /// Quotes and escapes removed.
    Text(String),
    /// What stands between dollar signs, as written.
    Code(String),
    Sign(&'static str),
    End,
}

impl Token {
    pub fn describe(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Text(_) => "a text in quotes".to_string(),
            Token::Code(code) => format!("`${code}$`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the file".to_string(),
        }
    }
}

/// Longest first.
const SIGNS: [&str; 31] = [
    "...", ":=", "==", "!=", "<=", ">=", "&&", "||", "->", "<", ">", "=", "!", "(", ")", "[", "]",
    "{", "}", ",", ";", ":", "+", "-", "*", "/", "%", "&", "|", ".", "^",
];

/// Splits a text into tokens. Mistakes are reported and skipped, so parsing can go on.
pub fn lex(text: &str) -> (Vec<(Token, Span)>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), diagnostics: Vec::new() };
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<(Token, Span)>,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(c) = self.text[self.at..].chars().next() {
            let start = self.at;
            match c {
                c if c.is_whitespace() => self.at += c.len_utf8(),
                '#' => self.skip_while(|c| c != '\n'),
                '"' => self.quoted(),
                '\'' => self.character(),
                '$' => self.code(),
                c if c.is_ascii_digit() => self.number(),
                c if c.is_alphabetic() || c == '_' => self.word(),
                c => match SIGNS.iter().find(|sign| self.text[start..].starts_with(**sign)) {
                    Some(sign) => {
                        self.at += sign.len();
                        self.push(Token::Sign(sign), start);
                    }
                    None => {
                        self.at += c.len_utf8();
                        self.complain(start, format!("unexpected character `{c}`"));
                    }
                },
            }
        }
        self.push(Token::End, self.text.len());
    }

    fn push(&mut self, token: Token, start: usize) {
        self.tokens.push((token, Span::new(start, self.at)));
    }

    fn complain(&mut self, start: usize, message: String) {
        self.diagnostics.push(Diagnostic::error(Span::new(start, self.at), message));
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    fn word(&mut self) {
        let start = self.at;
        loop {
            self.skip_while(|c| c.is_alphanumeric() || c == '_');
            // A dash or dot belongs to the word where a letter or digit follows at once.
            let mut rest = self.text[self.at..].chars();
            match (rest.next(), rest.next()) {
                (Some('-' | '.'), Some(next)) if next.is_alphanumeric() => self.at += 1,
                _ => break,
            }
        }
        self.push(Token::Word(self.text[start..self.at].to_string()), start);
    }

    fn number(&mut self) {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_alphanumeric());
        let digits = &self.text[start..self.at];
        match parse_number(digits) {
            Some(number) => self.push(Token::Number(number), start),
            None => {
                self.complain(start, format!("`{digits}` is not a number"));
                self.push(Token::Number(0), start);
            }
        }
    }

    fn quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            let mut rest = self.text[self.at..].chars();
            match rest.next() {
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => {
                    self.at += 1;
                    let Some(escaped) = rest.next() else { continue };
                    self.at += escaped.len_utf8();
                    value.push(if escaped == 'n' { '\n' } else { escaped });
                }
                Some(c) if c != '\n' => {
                    self.at += c.len_utf8();
                    value.push(c);
                }
                _ => {
                    self.complain(start, "this text has no closing quote on its line".to_string());
                    break;
                }
            }
        }
        self.push(Token::Text(value), start);
    }

    /// A C character constant is its number.
    fn character(&mut self) {
        let start = self.at;
        let rest = &self.text[self.at..];
        match character_constant(rest) {
            Some((value, length)) => {
                self.at += length;
                self.push(Token::Number(value), start);
            }
            None => {
                self.at += 1;
                self.complain(start, "this is not a character constant".to_string());
            }
        }
    }

    fn code(&mut self) {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| c != '$' && c != '\n');
        let code = self.text[start + 1..self.at].to_string();
        if self.text[self.at..].starts_with('$') {
            self.at += 1;
        } else {
            let unbalanced = Diagnostic::error(
                Span::new(start, self.at),
                "this code signature has no closing `$` on its line",
            );
            self.diagnostics.push(unbalanced.help("write it as `$...$`"));
        }
        self.push(Token::Code(code), start);
    }
}

/// A number in C's notation, suffixes allowed.
pub fn parse_number(digits: &str) -> Option<i128> {
    let plain = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
        return i128::from_str_radix(hex, 16).ok();
    }
    match plain.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => i128::from_str_radix(octal, 8).ok(),
        _ => plain.parse().ok(),
    }
}

/// The value and length of a character constant at the start of `text`.
pub fn character_constant(text: &str) -> Option<(i128, usize)> {
    let inner = text.strip_prefix('\'')?;
    let mut chars = inner.chars();
    let (value, length) = match chars.next()? {
        '\\' => {
            let escaped = chars.next()?;
            let value = match escaped {
                'n' => 10,
                't' => 9,
                'r' => 13,
                '0' => 0,
                '\\' => 92,
                '\'' => 39,
                _ => return None,
            };
            (value, 2)
        }
        '\'' => return None,
        c => (i128::from(u32::from(c)), c.len_utf8()),
    };
    inner[length..].starts_with('\'').then_some((value, length + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_inner_dashes_and_a_minus_stands_alone() {
        let (tokens, problems) = lex("error-state Len(a) - 1 'x' $a[d] = e$ \"t\" # c");
        let tokens: Vec<Token> = tokens.into_iter().map(|(token, _)| token).collect();
        assert!(problems.is_empty());
        assert_eq!(tokens[0], Token::Word("error-state".into()));
        assert_eq!(tokens[5..8], [Token::Sign("-"), Token::Number(1), Token::Number(120)]);
        assert_eq!(tokens[8], Token::Code("a[d] = e".into()));
        assert_eq!(tokens[9..], [Token::Text("t".into()), Token::End]);
    }

    #[test]
    fn an_open_signature_is_reported_and_ends_at_its_line() {
        let (tokens, problems) = lex("at $strcpy(a, b)\nrequire");
        assert_eq!(problems.len(), 1);
        assert_eq!(tokens[2].0, Token::Word("require".into()));
    }
}
