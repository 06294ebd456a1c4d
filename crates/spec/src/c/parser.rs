//! A parser for the part of C that signatures need.

use super::{BinaryOp, Expr, Signature, Statement, TypeName, UnaryOp};
use crate::ast::VarIndex;
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::{character_constant, parse_number};

/// Resolves identifiers to variables of the specification.
pub trait Names {
    fn var(&self, name: &str) -> Option<VarIndex>;
}

/// Expressions nested deeper than this are refused.
const MAX_DEPTH: u32 = 64;
/// Signs and words of one signature; each may make the tree one level deeper.
const MAX_TOKENS: usize = 1_000;

/// Parses one statement. `offset` is where `text` starts in the specification.
pub fn parse_signature(
    text: &str,
    offset: usize,
    names: &dyn Names,
) -> Result<Signature, Diagnostic> {
    let mut parser = Parser::new(text, offset, names)?;
    let statement = parser.statement()?;
    parser.skip_sign(";");
    parser.expect_end()?;
    let span = Span::new(offset, offset + text.len());
    Ok(Signature { statement, text: text.trim().to_string(), span })
}

/// Parses expressions separated by commas, as in `MatchOperand(*a, a->e)`.
pub fn parse_expressions(
    text: &str,
    offset: usize,
    names: &dyn Names,
) -> Result<Vec<Expr>, Diagnostic> {
    let mut parser = Parser::new(text, offset, names)?;
    let mut found = vec![parser.expression(0)?];
    while parser.skip_sign(",") {
        found.push(parser.expression(0)?);
    }
    parser.expect_end()?;
    Ok(found)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Int(i128),
    Text(String),
    Sign(&'static str),
    End,
}

/// Longest first.
const SIGNS: [&str; 41] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "(", ")", "[", "]", "{", "}", ",", ";", ".", "&",
    "*", "+", "-", "~", "!", "/", "%", "<", ">",
];
const LATE_SIGNS: [&str; 4] = ["=", "|", "^", "?"];

struct Parser<'n> {
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: u32,
    names: &'n dyn Names,
}

impl<'n> Parser<'n> {
    fn new(text: &str, offset: usize, names: &'n dyn Names) -> Result<Self, Diagnostic> {
        let tokens = lex(text, offset)?;
        if tokens.len() > MAX_TOKENS {
            let span = tokens[MAX_TOKENS].1;
            return Err(Diagnostic::error(span, "this code is longer than any signature needs"));
        }
        Ok(Self { tokens, at: 0, depth: 0, names })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn skip_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.advance();
        }
        found
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        if found {
            self.advance();
        }
        found
    }

    fn expected<T>(&self, what: &str) -> Result<T, Diagnostic> {
        let found = match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Int(value) => format!("`{value}`"),
            Token::Text(_) => "a string".to_string(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end of the signature".to_string(),
        };
        Err(Diagnostic::error(self.span(), format!("expected {what} in the C code, found {found}")))
    }

    fn expect_sign(&mut self, sign: &str) -> Result<(), Diagnostic> {
        if self.skip_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn expect_end(&self) -> Result<(), Diagnostic> {
        match self.peek() {
            Token::End => Ok(()),
            _ => self.expected("an operator or the end of the signature"),
        }
    }

    fn statement(&mut self) -> Result<Statement, Diagnostic> {
        for (word, switch) in [("if", false), ("while", false), ("for", false), ("switch", true)] {
            if self.skip_word(word) {
                self.expect_sign("(")?;
                let condition = self.expression(0)?;
                self.expect_sign(")")?;
                return Ok(if switch {
                    Statement::Switch(condition)
                } else {
                    Statement::If(condition)
                });
            }
        }
        if self.skip_word("return") {
            return Ok(match self.peek() {
                Token::End | Token::Sign(";") => Statement::Return(None),
                _ => Statement::Return(Some(self.expression(0)?)),
            });
        }
        match self.declaration() {
            Some(declaration) => Ok(declaration),
            None => Ok(Statement::Expr(self.expression(0)?)),
        }
    }

    /// A type followed by a name is a declaration; anything else is left alone.
    fn declaration(&mut self) -> Option<Statement> {
        let start = self.at;
        let ctype = self.type_name();
        if let Some(ctype) = ctype
            && let Token::Word(word) = self.peek().clone()
        {
            self.advance();
            let name = self.identifier(&word);
            let array = if self.skip_sign("[") {
                let size = if matches!(self.peek(), Token::Sign("]")) {
                    Expr::Any
                } else {
                    match self.expression(0) {
                        Ok(size) => size,
                        Err(_) => return self.rewind(start),
                    }
                };
                if !self.skip_sign("]") {
                    return self.rewind(start);
                }
                Some(Box::new(size))
            } else {
                None
            };
            if matches!(self.peek(), Token::End | Token::Sign(";")) {
                return Some(Statement::Declare { ctype, name, array });
            }
            // A declaration with an initialiser assigns.
            if array.is_none()
                && self.skip_sign("=")
                && let Ok(value) = self.expression(0)
            {
                let (target, value) = (name.into(), value.into());
                return Some(Statement::Expr(Expr::Assign { op: None, target, value }));
            }
        }
        self.rewind(start)
    }

    fn rewind<T>(&mut self, start: usize) -> Option<T> {
        self.at = start;
        None
    }

    /// `_`, or words and stars. Nothing is consumed where there is no type.
    fn type_name(&mut self) -> Option<TypeName> {
        let start = self.at;
        let mut words: Vec<String> = Vec::new();
        while let Token::Word(word) = self.peek() {
            let keyword = is_type_word(word);
            // One name that is no keyword may be a typedef, where no other type word stands.
            let tagged = words
                .last()
                .is_some_and(|last| matches!(last.as_str(), "struct" | "union" | "enum"));
            let has_base = words.iter().any(|word| !is_qualifier(word));
            if !keyword && !tagged && has_base {
                break;
            }
            if !keyword && self.names.var(word).is_some() {
                break;
            }
            words.push(word.clone());
            self.advance();
        }
        let mut stars = 0;
        while self.skip_sign("*") {
            stars += 1;
        }
        match words.as_slice() {
            [] => self.rewind(start),
            [any] if any == "_" && stars == 0 => Some(TypeName::Any),
            _ => Some(TypeName::Named { words, stars }),
        }
    }

    /// Precedence climbing; `least` is the weakest operator accepted.
    fn expression(&mut self, least: u8) -> Result<Expr, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.span(), "this code is nested too deeply"));
        }
        let mut left = self.unary()?;
        while let Token::Sign(sign) = *self.peek() {
            if least == 0
                && let Some(op) = assignment_op(sign)
            {
                self.advance();
                let value = self.expression(0)?;
                left = Expr::Assign { op, target: left.into(), value: value.into() };
                break;
            }
            let Some((_, op, strength)) =
                BinaryOp::ALL.iter().find(|(name, ..)| *name == sign).copied()
            else {
                break;
            };
            if strength < least.max(1) {
                break;
            }
            self.advance();
            let right = self.expression(strength + 1)?;
            left = Expr::Binary(op, left.into(), right.into());
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Diagnostic> {
        let Token::Sign(sign) = *self.peek() else { return self.postfix() };
        let up = sign == "++";
        let wrap: fn(Expr) -> Expr = match sign {
            "*" => |e| Expr::Deref(e.into()),
            "&" => |e| Expr::AddressOf(e.into()),
            "-" => |e| match e {
                Expr::Int(value) => Expr::Int(-value),
                other => Expr::Unary(UnaryOp::Minus, other.into()),
            },
            "!" => |e| Expr::Unary(UnaryOp::Not, e.into()),
            "~" => |e| Expr::Unary(UnaryOp::BitNot, e.into()),
            "++" | "--" => {
                self.advance();
                let target = self.nested_unary()?.into();
                return Ok(Expr::Step { target, up, prefix: true });
            }
            "..." => {
                self.advance();
                return Ok(Expr::Rest);
            }
            "(" => {
                if let Some(cast) = self.cast()? {
                    return Ok(cast);
                }
                return self.postfix();
            }
            _ => return self.postfix(),
        };
        self.advance();
        Ok(wrap(self.nested_unary()?))
    }

    fn nested_unary(&mut self) -> Result<Expr, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(self.span(), "this code is nested too deeply"));
        }
        let inner = self.unary();
        self.depth -= 1;
        inner
    }

    /// `(type) operand`; a parenthesis that holds no type is left alone.
    fn cast(&mut self) -> Result<Option<Expr>, Diagnostic> {
        let start = self.at;
        self.advance();
        if let Some(ctype) = self.type_name()
            && self.skip_sign(")")
            && self.starts_operand()
        {
            return Ok(Some(Expr::Cast(ctype, self.nested_unary()?.into())));
        }
        self.at = start;
        Ok(None)
    }

    fn starts_operand(&self) -> bool {
        match self.peek() {
            Token::Word(_) | Token::Int(_) | Token::Text(_) => true,
            Token::Sign(sign) => matches!(*sign, "(" | "*" | "&" | "-" | "!" | "~" | "++" | "--"),
            Token::End => false,
        }
    }

    fn postfix(&mut self) -> Result<Expr, Diagnostic> {
        let mut base = self.primary()?;
        loop {
            base = match *self.peek() {
                Token::Sign("(") => {
                    self.advance();
                    Expr::Call { callee: base.into(), args: self.arguments()? }
                }
                Token::Sign("[") => {
                    self.advance();
                    let index = self.expression(0)?;
                    self.expect_sign("]")?;
                    Expr::Index(base.into(), index.into())
                }
                Token::Sign(sign @ ("." | "->")) => {
                    self.advance();
                    let Token::Word(word) = self.peek().clone() else {
                        return self.expected("a member name");
                    };
                    self.advance();
                    let member = self.identifier(&word).into();
                    Expr::Field { base: base.into(), arrow: sign == "->", member }
                }
                Token::Sign(sign @ ("++" | "--")) => {
                    self.advance();
                    Expr::Step { target: base.into(), up: sign == "++", prefix: false }
                }
                _ => return Ok(base),
            };
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Diagnostic> {
        let mut args = Vec::new();
        if self.skip_sign(")") {
            return Ok(args);
        }
        loop {
            let span = self.span();
            // An assignment is no argument, so the comma ends each.
            args.push(self.expression(1)?);
            if self.skip_sign(")") {
                return Ok(args);
            }
            if matches!(args.last(), Some(Expr::Rest)) {
                return Err(Diagnostic::error(span, "`...` must be the last argument"));
            }
            if !self.skip_sign(",") {
                return self.expected("`,` or `)`");
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Diagnostic> {
        let token = self.peek().clone();
        match token {
            Token::Word(word) => {
                self.advance();
                Ok(self.identifier(&word))
            }
            Token::Int(value) => {
                self.advance();
                Ok(Expr::Int(value))
            }
            Token::Text(text) => {
                self.advance();
                Ok(Expr::Text(text))
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.expression(0)?;
                self.expect_sign(")")?;
                Ok(inner)
            }
            _ => self.expected("an expression"),
        }
    }

    fn identifier(&self, word: &str) -> Expr {
        match self.names.var(word) {
            Some(var) => Expr::Var(var),
            None if word == "_" => Expr::Any,
            None if word == "NULL" => Expr::Null,
            None => Expr::Name(word.to_string()),
        }
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "static" | "extern" | "register")
}

fn is_type_word(word: &str) -> bool {
    is_qualifier(word)
        || matches!(
            word,
            "void"
                | "char"
                | "short"
                | "int"
                | "long"
                | "float"
                | "double"
                | "signed"
                | "unsigned"
                | "struct"
                | "union"
                | "enum"
                | "_Bool"
                | "bool"
        )
}

/// The operator of an assignment sign; `Some(None)` for plain `=`.
fn assignment_op(sign: &str) -> Option<Option<BinaryOp>> {
    if sign == "=" {
        return Some(None);
    }
    let op = sign.strip_suffix('=')?;
    let found = BinaryOp::ALL
        .iter()
        .find(|(name, op, _)| *name == sign.trim_end_matches('=') && !op.is_comparison());
    match op {
        "<" | ">" | "=" | "!" => None,
        _ => found.map(|(_, op, _)| Some(*op)),
    }
}

fn lex(text: &str, offset: usize) -> Result<Vec<(Token, Span)>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let end_of = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
        let span = |length: usize| Span::new(offset + at, offset + at + length);
        let (token, length) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() {
            let length = end_of(|c| c.is_ascii_alphanumeric());
            let value = parse_number(&rest[..length]).ok_or_else(|| {
                Diagnostic::error(span(length), format!("`{}` is not a number", &rest[..length]))
            })?;
            (Token::Int(value), length)
        } else if c.is_alphabetic() || c == '_' {
            let length = end_of(|c| c.is_alphanumeric() || c == '_');
            (Token::Word(rest[..length].to_string()), length)
        } else if c == '\'' {
            let (value, length) = character_constant(rest)
                .ok_or_else(|| Diagnostic::error(span(1), "this is not a character constant"))?;
            (Token::Int(value), length)
        } else if c == '"' {
            let length = rest[1..].find('"').map(|end| end + 2).ok_or_else(|| {
                Diagnostic::error(span(rest.len()), "this string has no closing quote")
            })?;
            (Token::Text(rest[1..length - 1].to_string()), length)
        } else {
            let mut signs = SIGNS.iter().chain(&LATE_SIGNS);
            let sign = signs.find(|sign| rest.starts_with(**sign)).ok_or_else(|| {
                Diagnostic::error(span(c.len_utf8()), format!("`{c}` is not part of C code here"))
            })?;
            (Token::Sign(sign), sign.len())
        };
        tokens.push((token, span(length)));
        at += length;
    }
    tokens.push((Token::End, Span::new(offset + at, offset + at)));
    balanced(&tokens)?;
    Ok(tokens)
}

/// Says which bracket is the odd one, which a parser error would not.
fn balanced(tokens: &[(Token, Span)]) -> Result<(), Diagnostic> {
    let mut open: Vec<(&str, Span)> = Vec::new();
    for (token, span) in tokens {
        let Token::Sign(sign) = token else { continue };
        let opening = match *sign {
            "(" | "[" | "{" => {
                open.push((sign, *span));
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        match open.pop() {
            Some((last, _)) if last == opening => {}
            _ => {
                let message = format!("unbalanced code signature: this `{sign}` closes nothing");
                return Err(Diagnostic::error(*span, message));
            }
        }
    }
    match open.pop() {
        Some((sign, span)) => {
            let message = format!("unbalanced code signature: this `{sign}` is never closed");
            Err(Diagnostic::error(span, message))
        }
        None => Ok(()),
    }
}
