//! Transitions: what happens at a contributing point.

use super::{Parser, Result};
use crate::ast::{Command, EventArg, Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::event;
use crate::lexer::Token;

impl Parser<'_> {
    /// Commands separated by commas or `&&`; all happen.
    pub(super) fn commands(&mut self) -> Result<Vec<Command>> {
        let mut commands = self.alternatives()?;
        while self.skip_sign(",") || self.skip_sign("&&") {
            commands.extend(self.alternatives()?);
        }
        Ok(commands)
    }

    /// `a || b`: one of them happens.
    fn alternatives(&mut self) -> Result<Vec<Command>> {
        let first = self.command()?;
        if !self.is_sign("||") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.skip_sign("||") {
            all.push(self.command()?);
        }
        Ok(vec![Command::Either(all)])
    }

    fn command(&mut self) -> Result<Vec<Command>> {
        if self.depth > 40 {
            return self.fail(Diagnostic::error(self.span(), "this is nested too deeply"));
        }
        self.depth += 1;
        let result = self.command_inner();
        self.depth -= 1;
        result
    }

    fn command_inner(&mut self) -> Result<Vec<Command>> {
        if self.skip_sign("[") {
            let inner = self.commands()?;
            self.expect_sign("]")?;
            return Ok(inner);
        }
        if self.skip_word("assume") || self.skip_sign("^") {
            return Ok(vec![Command::Assume(self.condition()?)]);
        }
        if self.skip_word("when") {
            let condition = self.condition()?;
            if !self.skip_word("then") {
                return self.expected("`then` and what happens");
            }
            let then = self.alternatives()?;
            let otherwise = self.otherwise()?;
            return Ok(vec![Command::When { condition, then, otherwise }]);
        }
        if self.skip_word("may") {
            let first = self.alternatives()?;
            let otherwise = self.otherwise()?;
            return Ok(vec![Command::May { first, otherwise }]);
        }
        if let Token::Word(word) = self.peek().clone()
            && event::starts_event(&word)
        {
            return Ok(vec![self.event(word)?]);
        }
        self.assignment()
    }

    fn otherwise(&mut self) -> Result<Vec<Command>> {
        if self.skip_word("else") { self.alternatives() } else { Ok(Vec::new()) }
    }

    fn event(&mut self, name: String) -> Result<Command> {
        let start = self.span();
        self.advance();
        let mut args = Vec::new();
        if self.skip_sign("(") && !self.skip_sign(")") {
            loop {
                args.push(self.event_arg()?);
                if self.skip_sign(")") {
                    break;
                }
                if !self.skip_sign(",") {
                    return self.expected("`,` or `)`");
                }
            }
        }
        Ok(Command::Event { name, args, span: start.to(self.previous_span()) })
    }

    fn event_arg(&mut self) -> Result<EventArg> {
        match self.peek() {
            Token::Word(name)
                if !matches!(self.peek_after(), Token::Sign("("))
                    && self.find_var(name).is_some() =>
            {
                let span = self.span();
                Ok(EventArg::Var(self.var_use()?, span))
            }
            _ => Ok(EventArg::Expr(self.expr()?)),
        }
    }

    fn assignment(&mut self) -> Result<Vec<Command>> {
        let target = self.expr()?;
        if !self.skip_sign(":=") {
            return self.fail(
                Diagnostic::error(
                    self.span(),
                    format!("expected `:=` after the attribute, found {}", self.peek().describe()),
                )
                .help("a condition that starts to hold here is written `assume ...`"),
            );
        }
        if !matches!(target, Expr { kind: ExprKind::Attr { .. }, .. }) {
            return self.fail(Diagnostic::error(target.span, "only an attribute can be assigned"));
        }
        let value = self.expr()?;
        Ok(vec![Command::Assign { target, value }])
    }
}
