//! From text to syntax tree. The parser goes on after a mistake at the next entry or
//! section, so that all mistakes of a file are reported at once.

mod command;
mod expr;
mod template;

use crate::ast::{
    Contribute, Observe, Place, Point, Severity, Spec, SpecKind, Var, VarIndex, VarKind,
};
use crate::c;
use crate::diagnostic::{Diagnostic, Span, suggest};
use crate::event;
use crate::lexer::{Token, lex};

/// Words that start something at the level of the file or of a section.
const KEYWORDS: [&str; 13] = [
    "fault",
    "model",
    "title",
    "severity",
    "cwe",
    "vars",
    "observe",
    "contribute",
    "error-state",
    "message",
    "at",
    "strict",
    "require",
];

/// Parses a specification. With errors among the diagnostics, the tree is what could be
/// understood.
pub fn parse(text: &str) -> (Spec, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(text);
    let mut parser = Parser { text, tokens, at: 0, depth: 0, diagnostics, vars: Vec::new() };
    let spec = parser.file();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|d| (d.span, d.level));
    (spec, diagnostics)
}

/// A mistake has been recorded; the caller skips to where it can go on.
pub(crate) struct Failed;
type Result<T> = std::result::Result<T, Failed>;

pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: u32,
    diagnostics: Vec<Diagnostic>,
    vars: Vec<Var>,
}

struct Scope<'a>(&'a [Var]);

impl c::Names for Scope<'_> {
    fn var(&self, name: &str) -> Option<VarIndex> {
        self.0.iter().position(|var| var.name == name).map(|index| VarIndex(index as u32))
    }
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn peek_after(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    fn skip_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Result<T> {
        self.diagnostics.push(diagnostic);
        Err(Failed)
    }

    fn expected<T>(&mut self, what: &str) -> Result<T> {
        let message = format!("expected {what}, found {}", self.peek().describe());
        self.fail(Diagnostic::error(self.span(), message))
    }

    fn expect_sign(&mut self, sign: &str) -> Result<()> {
        if self.skip_sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn text_in_quotes(&mut self, what: &str) -> Result<(String, Span)> {
        match self.peek().clone() {
            Token::Text(text) => {
                let span = self.span();
                self.advance();
                Ok((text, span))
            }
            _ => self.expected(what),
        }
    }

    fn find_var(&self, name: &str) -> Option<VarIndex> {
        c::Names::var(&Scope(&self.vars), name)
    }

    fn file(&mut self) -> Spec {
        let mut spec = Spec {
            kind: SpecKind::Fault,
            id: String::new(),
            id_span: Span::default(),
            title: None,
            severity: Severity::default(),
            cwe: Vec::new(),
            vars: Vec::new(),
            observe: Vec::new(),
            contribute: Vec::new(),
            error_state: None,
            message: None,
        };
        if self.header(&mut spec).is_err() {
            self.recover();
        }
        let mut seen = Vec::new();
        while *self.peek() != Token::End {
            if self.section(&mut spec, &mut seen).is_err() {
                self.recover();
            }
        }
        spec.vars = std::mem::take(&mut self.vars);
        spec
    }

    /// Skips to the next word that starts a section or an entry, past at least one token
    /// where the parser stands on such a word already without having used it.
    fn recover(&mut self) {
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word(word)
                    if KEYWORDS.contains(&word.as_str()) && !self.is_word("require") =>
                {
                    return;
                }
                _ => self.advance(),
            }
        }
    }

    fn header(&mut self, spec: &mut Spec) -> Result<()> {
        spec.kind = if self.skip_word("fault") {
            SpecKind::Fault
        } else if self.skip_word("model") {
            SpecKind::Model
        } else {
            return self.expected("`fault NAME` or `model NAME` at the start of the file");
        };
        match self.peek().clone() {
            Token::Word(id) if !KEYWORDS.contains(&id.as_str()) => {
                spec.id_span = self.span();
                self.advance();
                spec.id = id;
                Ok(())
            }
            _ => self.expected("a name such as `buffer-overflow`"),
        }
    }

    fn section(&mut self, spec: &mut Spec, seen: &mut Vec<String>) -> Result<()> {
        let Token::Word(word) = self.peek().clone() else {
            let failed = self.expected("a section such as `observe` or `contribute`");
            self.advance();
            return failed;
        };
        let span = self.span();
        self.advance();
        let once = matches!(
            word.as_str(),
            "fault" | "model" | "title" | "severity" | "cwe" | "error-state" | "message"
        );
        if once && seen.contains(&word) || matches!(word.as_str(), "fault" | "model") {
            let message = format!("contradictory sections: `{word}` stands here a second time");
            self.diagnostics.push(Diagnostic::error(span, message).help("keep one of them"));
        }
        seen.push(word.clone());
        match word.as_str() {
            "fault" | "model" => {
                self.advance();
                Ok(())
            }
            "title" => {
                spec.title = Some(self.text_in_quotes("the title in quotes")?.0);
                Ok(())
            }
            "severity" => {
                spec.severity = self.severity()?;
                Ok(())
            }
            "cwe" => self.cwe(spec),
            "vars" => self.var_section(),
            "observe" => self.observe_section(spec),
            "contribute" => self.contribute_section(spec),
            "error-state" => {
                spec.error_state = Some(self.condition()?);
                Ok(())
            }
            "message" => {
                spec.message = Some(self.template()?);
                Ok(())
            }
            "at" | "strict" | "require" => self.fail(
                Diagnostic::error(span, format!("`{word}` outside a section"))
                    .help("write `observe` or `contribute` before it"),
            ),
            other => {
                let unknown = Diagnostic::error(span, format!("unknown keyword `{other}`"));
                let unknown = match suggest(other, KEYWORDS) {
                    Some(near) => unknown.help(format!("did you mean `{near}`?")),
                    None => unknown.help(format!("known are {}", KEYWORDS[2..10].join(", "))),
                };
                self.fail(unknown)
            }
        }
    }

    fn severity(&mut self) -> Result<Severity> {
        if let Token::Word(word) = self.peek()
            && let Some((_, severity)) = Severity::ALL.iter().find(|(name, _)| name == word)
        {
            self.advance();
            return Ok(*severity);
        }
        self.expected("`error`, `warning` or `note`")
    }

    fn cwe(&mut self, spec: &mut Spec) -> Result<()> {
        while let Token::Number(number) = *self.peek() {
            match u32::try_from(number) {
                Ok(number) => spec.cwe.push(number),
                Err(_) => return self.expected("a number of the CWE list"),
            }
            self.advance();
        }
        if spec.cwe.is_empty() { self.expected("numbers of the CWE list") } else { Ok(()) }
    }

    /// `buffer a, b; int d;`
    fn var_section(&mut self) -> Result<()> {
        while let Token::Word(word) = self.peek().clone() {
            if KEYWORDS.contains(&word.as_str()) {
                break;
            }
            let span = self.span();
            // The paper's spelling (Vbuffer, Vint) is accepted too.
            let plain = word.strip_prefix('V').unwrap_or(&word);
            let Some((_, kind)) = VarKind::ALL.iter().find(|(name, _)| *name == plain) else {
                let kinds = VarKind::ALL.map(|(name, _)| name);
                let unknown = Diagnostic::error(span, format!("unknown kind of variable `{word}`"));
                let unknown = match suggest(&word, kinds) {
                    Some(near) => unknown.help(format!("did you mean `{near}`?")),
                    None => unknown.help(format!("known are {}", kinds.join(", "))),
                };
                return self.fail(unknown);
            };
            self.advance();
            loop {
                self.var(*kind)?;
                if !self.skip_sign(",") {
                    break;
                }
            }
            self.expect_sign(";")?;
        }
        Ok(())
    }

    fn var(&mut self, kind: VarKind) -> Result<()> {
        let Token::Word(name) = self.peek().clone() else {
            return self.expected("the name of a variable");
        };
        let span = self.span();
        self.advance();
        if self.find_var(&name).is_some() {
            let message = format!("variable `{name}` is declared a second time");
            self.diagnostics.push(Diagnostic::error(span, message));
        } else {
            self.vars.push(Var { name, kind, span });
        }
        Ok(())
    }

    fn observe_section(&mut self, spec: &mut Spec) -> Result<()> {
        while self.is_word("at") || self.is_word("strict") || self.skip_word("or") {
            match self.observe() {
                Ok(observe) => spec.observe.push(observe),
                Err(Failed) => self.recover_entry(),
            }
        }
        Ok(())
    }

    fn contribute_section(&mut self, spec: &mut Spec) -> Result<()> {
        while self.is_word("at") || self.skip_word("or") {
            match self.contribute() {
                Ok(contribute) => spec.contribute.push(contribute),
                Err(Failed) => self.recover_entry(),
            }
        }
        Ok(())
    }

    fn recover_entry(&mut self) {
        if self.is_word("at") || self.is_word("strict") {
            return;
        }
        self.recover();
    }

    fn observe(&mut self) -> Result<Observe> {
        let start = self.span();
        let strict = self.skip_word("strict");
        if !self.skip_word("at") {
            return self.expected("`at`");
        }
        let point = self.point()?;
        if !self.skip_word("require") {
            return self.expected("`require` and what must hold there");
        }
        let require = self.condition()?;
        let mut observe = Observe {
            strict,
            point,
            require,
            error_state: None,
            message: None,
            span: start.to(self.previous_span()),
        };
        // Indented below an entry these belong to it; the section-level ones stand in the
        // first column.
        while !self.at_line_start() {
            if self.skip_word("error-state") {
                observe.error_state = Some(self.condition()?);
            } else if self.skip_word("message") {
                observe.message = Some(self.template()?);
            } else {
                break;
            }
        }
        Ok(observe)
    }

    /// Whether the current token is the first thing of its line, unindented.
    fn at_line_start(&self) -> bool {
        let start = self.span().start as usize;
        start == 0 || self.text.as_bytes().get(start - 1) == Some(&b'\n')
    }

    fn contribute(&mut self) -> Result<Contribute> {
        let start = self.span();
        if !self.skip_word("at") {
            return self.expected("`at`");
        }
        let point = self.point()?;
        let commands = self.commands()?;
        Ok(Contribute { point, commands, span: start.to(self.previous_span()) })
    }

    /// `$code$ or $code$ && condition`, an event, or a condition alone.
    fn point(&mut self) -> Result<Point> {
        let start = self.span();
        let mut places = Vec::new();
        loop {
            match self.place()? {
                Some(place) => places.push(place),
                None if places.is_empty() => {
                    let condition = Some(self.condition()?);
                    let span = start.to(self.previous_span());
                    return Ok(Point { places, condition, span });
                }
                None => return self.expected("a code signature `$...$` or an event"),
            }
            if !self.skip_word("or") {
                break;
            }
        }
        let condition = if self.skip_sign("&&") { Some(self.condition()?) } else { None };
        Ok(Point { places, condition, span: start.to(self.previous_span()) })
    }

    fn place(&mut self) -> Result<Option<Place>> {
        let span = self.span();
        match self.peek().clone() {
            Token::Code(code) => {
                self.advance();
                let scope = Scope(&self.vars);
                match c::parse_signature(&code, span.start as usize + 1, &scope) {
                    Ok(signature) => Ok(Some(Place::Code(signature))),
                    Err(diagnostic) => self.fail(diagnostic),
                }
            }
            Token::Word(word) if event::starts_event(&word) => {
                self.advance();
                let args = if self.skip_sign("(") { self.event_vars()? } else { Vec::new() };
                let span = span.to(self.previous_span());
                Ok(Some(Place::Event { name: word, args, span }))
            }
            _ => Ok(None),
        }
    }

    fn event_vars(&mut self) -> Result<Vec<VarIndex>> {
        let mut args = Vec::new();
        if self.skip_sign(")") {
            return Ok(args);
        }
        loop {
            args.push(self.var_use()?);
            if self.skip_sign(")") {
                return Ok(args);
            }
            if !self.skip_sign(",") {
                return self.expected("`,` or `)`");
            }
        }
    }

    fn var_use(&mut self) -> Result<VarIndex> {
        let Token::Word(name) = self.peek().clone() else {
            return self.expected("a variable");
        };
        let span = self.span();
        self.advance();
        match self.find_var(&name) {
            Some(var) => Ok(var),
            None => {
                let unknown = Diagnostic::error(span, format!("unknown variable `{name}`"));
                let near = suggest(&name, self.vars.iter().map(|var| var.name.as_str()));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("declare it: `vars any {name};`"),
                };
                self.fail(unknown.help(help))
            }
        }
    }
}
