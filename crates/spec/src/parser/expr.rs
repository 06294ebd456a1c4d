//! Conditions and the expressions they compare.

use super::{Failed, Parser, Result, Scope};
use crate::ast::{Arg, BinaryOp, Comparator, Condition, Expr, ExprKind};
use crate::attribute::{AttributeId, Param};
use crate::c;
use crate::diagnostic::{Diagnostic, Span, suggest};
use crate::lexer::Token;

/// Conditions and expressions nested deeper than this are refused.
const MAX_DEPTH: u32 = 60;
/// Operators in a row: each makes the tree one level deeper on its left.
const MAX_CHAIN: u32 = 200;

impl Parser<'_> {
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return self.fail(Diagnostic::error(self.span(), "this is nested too deeply"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub(super) fn condition(&mut self) -> Result<Condition> {
        self.deeper(|parser| {
            let mut parts = vec![parser.conjunction()?];
            while parser.skip_sign("||") {
                parts.push(parser.conjunction()?);
            }
            Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Or(parts) })
        })
    }

    fn conjunction(&mut self) -> Result<Condition> {
        let mut parts = vec![self.single_condition()?];
        while self.skip_sign("&&") {
            parts.push(self.single_condition()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::And(parts) })
    }

    fn single_condition(&mut self) -> Result<Condition> {
        if self.is_sign("!") {
            self.advance();
            return self.deeper(|parser| Ok(Condition::Not(parser.single_condition()?.into())));
        }
        if let Some(grouped) = self.grouped_condition() {
            return Ok(grouped);
        }
        let left = self.expr()?;
        match self.comparator()? {
            None => Ok(Condition::Holds(left)),
            Some(comparator) => {
                let right = self.expr()?;
                Ok(Condition::Compare { comparator, left, right })
            }
        }
    }

    /// `(condition)` or the paper's `[condition]`, told from a grouped expression or a range
    /// by trying.
    fn grouped_condition(&mut self) -> Option<Condition> {
        let close = if self.is_sign("(") {
            ")"
        } else if self.is_sign("[") {
            "]"
        } else {
            return None;
        };
        let (start, n_diagnostics) = (self.at, self.diagnostics.len());
        self.advance();
        if let Ok(inner) = self.condition()
            && self.skip_sign(close)
            && !self.continues_expression()
            && !matches!(&inner, Condition::Holds(e) if !is_truth(e))
        {
            return Some(inner);
        }
        self.at = start;
        self.diagnostics.truncate(n_diagnostics);
        None
    }

    fn continues_expression(&self) -> bool {
        match self.peek() {
            Token::Sign(sign) => {
                matches!(
                    *sign,
                    "+" | "-" | "*" | "/" | "%" | "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
                )
            }
            Token::Word(word) => matches!(word.as_str(), "in" | "not" | "union" | "intersect"),
            _ => false,
        }
    }

    fn comparator(&mut self) -> Result<Option<Comparator>> {
        let found = match self.peek() {
            Token::Sign("=" | "==") => Comparator::Eq,
            Token::Sign("!=") => Comparator::Ne,
            Token::Sign("<") => Comparator::Lt,
            Token::Sign("<=") => Comparator::Le,
            Token::Sign(">") => Comparator::Gt,
            Token::Sign(">=") => Comparator::Ge,
            Token::Word(word) if word == "in" => Comparator::In,
            Token::Word(word) if word == "not" => {
                self.advance();
                if !self.is_word("in") {
                    return self.expected("`in` after `not`");
                }
                Comparator::NotIn
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(found))
    }

    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.deeper(|parser| parser.binary(0))
    }

    fn binary(&mut self, least: u8) -> Result<Expr> {
        let mut left = self.prefix()?;
        let mut n_operators = 0;
        while let Some((op, strength)) = self.binary_op()
            && strength >= least
        {
            n_operators += 1;
            if n_operators > MAX_CHAIN {
                let message = format!("more than {MAX_CHAIN} operators in a row");
                return self.fail(Diagnostic::error(self.span(), message));
            }
            self.advance();
            let right = self.deeper(|parser| parser.binary(strength + 1))?;
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary { op, left: left.into(), right: right.into() };
            left = Expr { kind, span };
        }
        Ok(left)
    }

    fn binary_op(&self) -> Option<(BinaryOp, u8)> {
        match self.peek() {
            Token::Word(word) if word == "union" => Some((BinaryOp::Union, 0)),
            Token::Word(word) if word == "intersect" => Some((BinaryOp::Intersect, 1)),
            Token::Sign("+") => Some((BinaryOp::Add, 2)),
            Token::Sign("-") => Some((BinaryOp::Sub, 2)),
            Token::Sign("*") => Some((BinaryOp::Mul, 3)),
            Token::Sign("/") => Some((BinaryOp::Div, 3)),
            Token::Sign("%") => Some((BinaryOp::Rem, 3)),
            _ => None,
        }
    }

    fn prefix(&mut self) -> Result<Expr> {
        let start = self.span();
        let wrap: fn(Box<Expr>) -> ExprKind = if self.is_sign("-") {
            |inner| match inner.kind {
                ExprKind::Int(value) => ExprKind::Int(-value),
                _ => ExprKind::Negate(inner),
            }
        } else if self.is_sign("!") {
            ExprKind::Not
        } else if self.is_word("input") {
            ExprKind::Input
        } else {
            return self.primary();
        };
        self.advance();
        let inner = self.deeper(|parser| parser.prefix())?;
        let span = start.to(inner.span);
        Ok(Expr { kind: wrap(inner.into()), span })
    }

    fn primary(&mut self) -> Result<Expr> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Token::Number(value) => {
                self.advance();
                ExprKind::Int(value)
            }
            Token::Sign("(") => {
                self.advance();
                let inner = self.expr()?;
                self.expect_sign(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                self.advance();
                let low = self.expr()?;
                if self.skip_sign("]") {
                    // The paper groups with brackets.
                    return Ok(low);
                }
                self.expect_sign(",")?;
                let high = self.expr()?;
                self.expect_sign("]")?;
                ExprKind::Range(low.into(), high.into())
            }
            Token::Sign("{") => {
                self.advance();
                ExprKind::Set(self.set_members()?)
            }
            Token::Word(word) => {
                self.advance();
                return self.word_expr(word, start);
            }
            _ => return self.expected("an expression such as `Value(x)`"),
        };
        Ok(Expr { kind, span: start.to(self.previous_span()) })
    }

    fn set_members(&mut self) -> Result<Vec<Expr>> {
        let mut members = Vec::new();
        if self.skip_sign("}") {
            return Ok(members);
        }
        loop {
            members.push(self.expr()?);
            if self.skip_sign("}") {
                return Ok(members);
            }
            if !self.skip_sign(",") {
                return self.expected("`,` or `}`");
            }
        }
    }

    fn word_expr(&mut self, word: String, start: Span) -> Result<Expr> {
        let kind = match word.as_str() {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "undef" => ExprKind::Undef,
            "empty" => ExprKind::Empty,
            "min" | "max" if self.is_sign("(") => {
                self.advance();
                let a = self.expr()?;
                self.expect_sign(",")?;
                let b = self.expr()?;
                self.expect_sign(")")?;
                if word == "min" {
                    ExprKind::Min(a.into(), b.into())
                } else {
                    ExprKind::Max(a.into(), b.into())
                }
            }
            _ if self.is_sign("(") => return self.attribute(&word, start),
            _ if self.find_var(&word).is_some() => {
                let message = format!("`{word}` is a variable, not a value");
                let help = format!("say which attribute of it is meant, such as `Value({word})`");
                return self.fail(Diagnostic::error(start, message).help(help));
            }
            _ => ExprKind::Name(word),
        };
        Ok(Expr { kind, span: start.to(self.previous_span()) })
    }

    fn attribute(&mut self, name: &str, start: Span) -> Result<Expr> {
        let Some(attribute) = AttributeId::find(name) else {
            let unknown = Diagnostic::error(start, format!("unknown attribute `{name}`"));
            let known = || AttributeId::all().map(AttributeId::name);
            let help = match suggest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", known().collect::<Vec<_>>().join(", ")),
            };
            return self.fail(unknown.help(help));
        };
        self.expect_sign("(")?;
        let args = if attribute.get().params() == [Param::Patterns] {
            vec![Arg::Patterns(self.patterns()?)]
        } else {
            self.attribute_args()?
        };
        let span = start.to(self.previous_span());
        Ok(Expr { kind: ExprKind::Attr { attribute, args }, span })
    }

    fn attribute_args(&mut self) -> Result<Vec<Arg>> {
        let mut args = Vec::new();
        if self.skip_sign(")") {
            return Ok(args);
        }
        loop {
            args.push(self.attribute_arg()?);
            if self.skip_sign(")") {
                return Ok(args);
            }
            if !self.skip_sign(",") {
                return self.expected("`,` or `)`");
            }
        }
    }

    fn attribute_arg(&mut self) -> Result<Arg> {
        if self.skip_sign("...") {
            return Ok(Arg::Rest);
        }
        if self.skip_sign("*") {
            return Ok(Arg::Pointee(self.var_use()?));
        }
        match self.peek() {
            Token::Word(_) if !matches!(self.peek_after(), Token::Sign("(")) => {
                Ok(Arg::Var(self.var_use()?))
            }
            _ => Ok(Arg::Expr(self.expr()?)),
        }
    }

    /// The C patterns up to the closing parenthesis, read from the text itself.
    fn patterns(&mut self) -> Result<Vec<c::Expr>> {
        let from = self.previous_span().end as usize;
        let mut open = 1;
        loop {
            match self.peek() {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                Token::End => return self.expected("`)`"),
                _ => {}
            }
            if open == 0 {
                break;
            }
            self.advance();
        }
        let to = self.span().start as usize;
        self.advance();
        // Dollar signs around each pattern are allowed; blanks keep the positions.
        let code = self.text[from..to].replace('$', " ");
        match c::parse_expressions(&code, from, &Scope(&self.vars)) {
            Ok(patterns) => Ok(patterns),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                Err(Failed)
            }
        }
    }
}

/// Whether an expression alone can be a condition.
fn is_truth(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Attr { attribute, .. } => {
            attribute.get().result() == crate::attribute::Type::Truth
        }
        ExprKind::Bool(_) | ExprKind::Not(_) => true,
        _ => false,
    }
}
