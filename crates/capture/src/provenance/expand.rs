//! Macro expansion that remembers where each token came from.
//!
//! It follows clang's own method: expansions are a stack of token lists, a macro is not
//! expanded while its own list is on the stack, and arguments may come from what follows
//! an expansion.

use std::borrow::Cow;

use super::lexer::{Kind, Token};
use super::macros::{MacroId, MacroTable, Named};
use super::source::Reader;
use super::substitute::{Arguments, Substitution, needs_expansion};

/// Index into the map's table of macro names.
pub type NameIndex = u32;

/// Where a token was written. Lines are physical lines of the current file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Source {
        line: u32,
        column: u32,
        argument_of: Option<NameIndex>,
    },
    /// In the body of a macro that the source names at this place.
    Body {
        name: NameIndex,
        line: u32,
        column: u32,
    },
}

/// A preprocessing token in the course of expansion.
#[derive(Clone, Debug)]
pub struct PpToken<'a> {
    pub text: Cow<'a, [u8]>,
    pub kind: Kind,
    pub space: bool,
    /// Met while its own macro was being expanded: never to be expanded.
    pub no_expand: bool,
    /// Its spelling is the compiler's to know (`__LINE__`): equals any token.
    pub wild: bool,
    pub from: From,
}

/// Expansion failed: too much work, too deep, or arguments that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// Tokens one invocation may produce, intermediate ones included.
const MAX_STEPS: u32 = 1_000_000;
/// A macro that wasted more work than this is not expanded again.
const MAX_WASTED: u32 = 50_000;
/// How deep invocations may nest in each other's arguments.
const MAX_DEPTH: u32 = 300;

struct Context<'a> {
    tokens: std::vec::IntoIter<PpToken<'a>>,
    expands: Option<MacroId>,
}

/// Expands one invocation found in the source, completely.
pub struct Expansion<'a, 't> {
    table: &'t mut MacroTable<'a>,
    names: &'t mut dyn FnMut(&[u8]) -> NameIndex,
    contexts: Vec<Context<'a>>,
    /// Argument tokens after the invocation; `None` while arguments are expanded alone.
    source: Option<Reader<'a>>,
    root: NameIndex,
    steps: u32,
    depth: u32,
}

/// What an invocation came to.
pub struct Expanded<'a> {
    pub tokens: Vec<PpToken<'a>>,
    /// The source behind the invocation.
    pub rest: Reader<'a>,
}

impl<'a, 't> Expansion<'a, 't> {
    /// Expands the macro `name`, which the source names just before `source`.
    pub fn run(
        table: &'t mut MacroTable<'a>,
        names: &'t mut dyn FnMut(&[u8]) -> NameIndex,
        name: &Token<'a>,
        source: Reader<'a>,
    ) -> Result<Expanded<'a>, Failed> {
        let root = names(&name.text);
        if table.is_hopeless(&name.text) {
            return Err(Failed);
        }
        let from = From::Source { line: name.line, column: name.column, argument_of: None };
        let token = pp_token(name, from);
        let contexts = vec![Context { tokens: vec![token].into_iter(), expands: None }];
        let (steps, depth) = (0, 0);
        let mut this = Self { table, names, contexts, source: Some(source), root, steps, depth };
        let outcome = this.expand_all();
        this.drop_contexts();
        if outcome.is_err() && this.steps > MAX_WASTED {
            this.table.give_up(&name.text);
        }
        let rest = this.source.take().ok_or(Failed)?;
        outcome.map(|tokens| Expanded { tokens, rest })
    }

    fn drop_contexts(&mut self) {
        while let Some(context) = self.contexts.pop() {
            if let Some(id) = context.expands {
                self.table.leave(id);
            }
        }
    }

    /// Expands until every context is used up; never begins with a new source token.
    fn expand_all(&mut self) -> Result<Vec<PpToken<'a>>, Failed> {
        let mut output = Vec::new();
        while let Some(token) = self.next_from_contexts() {
            self.spend(1)?;
            if let Some(token) = self.expand_token(token)? {
                output.push(token);
            }
        }
        Ok(output)
    }

    fn spend(&mut self, steps: usize) -> Result<(), Failed> {
        self.steps = self.steps.saturating_add(steps as u32);
        if self.steps > MAX_STEPS { Err(Failed) } else { Ok(()) }
    }

    /// Gives the token back, or opens the context of its expansion.
    fn expand_token(&mut self, mut token: PpToken<'a>) -> Result<Option<PpToken<'a>>, Failed> {
        if token.kind != Kind::Ident || token.no_expand || token.wild {
            return Ok(Some(token));
        }
        let from = match self.table.lookup(&token.text) {
            None => return Ok(Some(token)),
            Some(_) => self.body_origin(&token),
        };
        match self.table.lookup(&token.text) {
            Some(Named::Builtin) => Ok(Some(wild(token, from))),
            Some(Named::BuiltinCall) if self.next_is_open_paren() => {
                self.read_arguments(None)?;
                Ok(Some(wild(token, from)))
            }
            Some(Named::Defined(id)) if self.table.is_active(id) => {
                token.no_expand = true;
                Ok(Some(token))
            }
            Some(Named::Defined(id)) => self.invoke(token, id, from),
            _ => Ok(Some(token)),
        }
    }

    /// Where the body tokens of a macro come from whose name is `token`.
    fn body_origin(&mut self, token: &PpToken<'a>) -> From {
        match token.from {
            From::Source { line, column, .. } => {
                From::Body { name: (self.names)(&token.text), line, column }
            }
            body => body,
        }
    }

    fn invoke(
        &mut self,
        token: PpToken<'a>,
        id: MacroId,
        from: From,
    ) -> Result<Option<PpToken<'a>>, Failed> {
        let definition = self.table.get(id);
        let mut arguments = Arguments { raw: Vec::new(), expanded: Vec::new() };
        if let Some(params) = &definition.params {
            if !self.next_is_open_paren() {
                return Ok(Some(token));
            }
            let shape = (params.len(), definition.is_variadic);
            arguments.raw = self.read_arguments(Some(shape))?;
            for (param, needed) in needs_expansion(&definition).into_iter().enumerate() {
                let expanded = match needed {
                    true => Some(self.expand_alone(arguments.raw[param].clone())?),
                    false => None,
                };
                arguments.expanded.push(expanded);
            }
        }
        let dialect = self.table.dialect();
        let substitution =
            Substitution { definition: &definition, arguments: &arguments, from, dialect };
        let mut tokens = substitution.run();
        self.spend(tokens.len())?;
        if let Some(first) = tokens.first_mut() {
            first.space = token.space;
        }
        self.table.enter(id);
        self.contexts.push(Context { tokens: tokens.into_iter(), expands: Some(id) });
        Ok(None)
    }

    /// Expands an argument as if it were the rest of the file.
    fn expand_alone(&mut self, tokens: Vec<PpToken<'a>>) -> Result<Vec<PpToken<'a>>, Failed> {
        if !tokens.iter().any(|token| token.kind == Kind::Ident) {
            return Ok(tokens);
        }
        if self.depth >= MAX_DEPTH {
            return Err(Failed);
        }
        self.depth += 1;
        let argument = Context { tokens: tokens.into_iter(), expands: None };
        let outer = std::mem::replace(&mut self.contexts, vec![argument]);
        let source = self.source.take();
        let outcome = self.expand_all();
        self.drop_contexts();
        self.contexts = outer;
        self.source = source;
        self.depth -= 1;
        outcome
    }

    fn next_from_contexts(&mut self) -> Option<PpToken<'a>> {
        while let Some(context) = self.contexts.last_mut() {
            if let Some(token) = context.tokens.next() {
                return Some(token);
            }
            if let Some(id) = context.expands {
                self.table.leave(id);
            }
            self.contexts.pop();
        }
        None
    }

    fn next_unexpanded(&mut self) -> Option<PpToken<'a>> {
        if let Some(token) = self.next_from_contexts() {
            return Some(token);
        }
        let token = self.source.as_mut()?.next_token()?;
        let argument_of = Some(self.root);
        let from = From::Source { line: token.line, column: token.column, argument_of };
        Some(pp_token(&token, from))
    }

    fn next_is_open_paren(&self) -> bool {
        for context in self.contexts.iter().rev() {
            if let Some(token) = context.tokens.as_slice().first() {
                return &*token.text == b"(";
            }
        }
        let Some(source) = &self.source else { return false };
        let mut ahead = source.clone();
        ahead.next_token().is_some_and(|token| &*token.text == b"(")
    }

    /// Reads `( ... )`, split at commas to fit `(parameters, variadic)`.
    fn read_arguments(
        &mut self,
        shape: Option<(usize, bool)>,
    ) -> Result<Vec<Vec<PpToken<'a>>>, Failed> {
        let (n_params, is_variadic) = shape.unwrap_or((1, true));
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let mut token = self.next_unexpanded().ok_or(Failed)?;
            self.spend(1)?;
            match &*token.text {
                b"(" => {
                    depth += 1;
                    if depth == 1 {
                        continue;
                    }
                }
                b")" => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b"," if depth == 1 && !(is_variadic && arguments.len() >= n_params) => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if token.kind == Kind::Ident
                && let Some(Named::Defined(id)) = self.table.lookup(&token.text)
                && self.table.is_active(id)
            {
                token.no_expand = true;
            }
            if let Some(current) = arguments.last_mut() {
                current.push(token);
            }
        }
        fit(arguments, n_params, is_variadic)
    }
}

/// Makes the arguments as many as there are parameters.
fn fit<'a>(
    mut arguments: Vec<Vec<PpToken<'a>>>,
    n_params: usize,
    is_variadic: bool,
) -> Result<Vec<Vec<PpToken<'a>>>, Failed> {
    if n_params == 0 && arguments.len() == 1 && arguments[0].is_empty() {
        arguments.clear();
    }
    if is_variadic && arguments.len() + 1 == n_params {
        arguments.push(Vec::new());
    }
    if arguments.len() == n_params { Ok(arguments) } else { Err(Failed) }
}

fn pp_token<'a>(token: &Token<'a>, from: From) -> PpToken<'a> {
    PpToken {
        text: token.text.clone(),
        kind: token.kind,
        space: token.space,
        no_expand: false,
        wild: false,
        from,
    }
}

fn wild(token: PpToken, from: From) -> PpToken {
    PpToken { wild: true, from, ..token }
}
