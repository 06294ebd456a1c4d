//! Messages with expressions in braces.

use super::{Failed, Parser, Result};
use crate::ast::{Piece, Template};
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::{Token, lex};

impl Parser<'_> {
    pub(super) fn template(&mut self) -> Result<Template> {
        let (text, span) = self.text_in_quotes("the message in quotes")?;
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some(open) = rest.find('{') {
            if open > 0 {
                pieces.push(Piece::Text(rest[..open].to_string()));
            }
            let Some(length) = rest[open..].find('}') else {
                return self.fail(Diagnostic::error(span, "a `{` of this message is never closed"));
            };
            pieces.push(self.piece(&rest[open + 1..open + length], span)?);
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_string()));
        }
        Ok(Template { pieces, span })
    }

    /// A variable or an expression, parsed by itself; its mistakes are shown at the message.
    fn piece(&mut self, text: &str, span: Span) -> Result<Piece> {
        if let Some(var) = self.find_var(text.trim()) {
            return Ok(Piece::Var(var));
        }
        let (tokens, mistakes) = lex(text);
        let mut inner = Parser {
            text,
            tokens,
            at: 0,
            depth: self.depth,
            diagnostics: mistakes,
            vars: std::mem::take(&mut self.vars),
        };
        let parsed = inner.expr();
        let at_end = *inner.peek() == Token::End;
        self.vars = inner.vars;
        let mistake = inner.diagnostics.into_iter().next();
        match (parsed, mistake) {
            (Ok(expr), None) if at_end => Ok(Piece::Expr(crate::ast::Expr { span, ..expr })),
            (_, mistake) => {
                let why = mistake.map_or("more than one expression".to_string(), |m| m.message);
                let message = format!("`{{{text}}}` in this message: {why}");
                self.diagnostics.push(Diagnostic::error(span, message));
                Err(Failed)
            }
        }
    }
}
