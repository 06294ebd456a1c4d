//! Walking through a source file and the preprocessor's output of it side by side.
//!
//! What the source says at a place, expanded here, must equal what the compiler printed;
//! where it does not (a changed file, a construct unknown here), the walk marks the tokens
//! in between and takes up again at the next place both agree on.

use std::collections::VecDeque;

use super::emit::Output;
use super::expand::{Expanded, Expansion, Failed, From, PpToken};
use super::lexer::{Kind, Lexer, Token};
use super::macros::MacroTable;
use super::source::Reader;

/// Combinations of conditional branches tried inside one argument list.
const MAX_CHOICES: usize = 64;
/// Tokens read in search of an invocation that expanded to nothing.
const MAX_LOOK_BEHIND: u32 = 2000;
/// Tokens that must agree before the walk trusts a place.
const SURE: usize = 3;

/// Where the walk stands in one source file.
pub struct Walk<'a> {
    lexer: Lexer<'a>,
    /// The place behind what has been matched or expanded.
    resume: Lexer<'a>,
    /// Expanded and not yet met in the output.
    pending: VecDeque<PpToken<'a>>,
    /// The invocation last expanded, which a disagreement is put down to.
    latest: Option<From>,
    /// The end of the `_Pragma ( ... )` being passed over.
    pragma: PragmaState,
    /// The place in the source is not trusted.
    is_lost: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PragmaState {
    Outside,
    Named,
    Inside(u32),
}

/// Where an output token came from; `None` where only the line is known.
pub type Origins = Vec<Option<From>>;

impl<'a> Walk<'a> {
    pub fn new(lexer: Lexer<'a>) -> Self {
        Self {
            lexer,
            resume: lexer,
            pending: VecDeque::new(),
            latest: None,
            pragma: PragmaState::Outside,
            is_lost: false,
        }
    }

    pub fn line(&self) -> u32 {
        self.lexer.line()
    }

    /// Finds the origins of the tokens of one output line, which begins with the first
    /// token of the source line that `line_start` stands at.
    pub fn align(
        &mut self,
        line_start: Lexer<'a>,
        tokens: &[Token],
        table: &mut MacroTable<'a>,
        output: &mut Output,
        origins: &mut Origins,
    ) {
        let before = self.go_to(line_start, tokens);
        let mut before_is_tried = false;
        while origins.len() < tokens.len() {
            let rest = &tokens[origins.len()..];
            match self.next_expected(rest, table, output) {
                Some((text, wild, from)) if wild || *text == *rest[0].text => {
                    if matches!(from, From::Source { argument_of: None, .. }) {
                        self.latest = None;
                    }
                    origins.push(Some(from));
                }
                _ if origins.is_empty() && !before_is_tried => {
                    before_is_tried = true;
                    let end = end_of_empty_invocation(before, line_start, tokens, table, output);
                    match end {
                        Some(end) => *self = Self::new(end),
                        None => self.resynchronise(line_start, tokens, table, origins),
                    }
                }
                _ => self.resynchronise(line_start, tokens, table, origins),
            }
        }
    }

    /// Goes to the source line, unless the walk stands in it already, and gives back the
    /// place it came from.
    fn go_to(&mut self, line_start: Lexer<'a>, tokens: &[Token]) -> Lexer<'a> {
        let before = self.lexer;
        // A `_Pragma` splits the output of one source line, even of one expansion.
        while let Some(token) = self.pending.front() {
            let (text, kind) = (token.text.clone(), token.kind);
            if !self.skips_for_pragma(&text, kind) {
                break;
            }
            self.pending.pop_front();
        }
        let continues = self
            .pending
            .front()
            .zip(tokens.first())
            .is_some_and(|(expected, token)| expected.wild || expected.text == token.text);
        if continues && !self.is_lost {
            return before;
        }
        self.pending.clear();
        self.latest = None;
        if self.is_lost || self.lexer.line() != line_start.line() {
            self.lexer = line_start;
            self.pragma = PragmaState::Outside;
            self.is_lost = false;
        }
        before
    }

    /// The next token the source promises, or `None` at the end of its line.
    fn next_expected(
        &mut self,
        rest: &[Token],
        table: &mut MacroTable<'a>,
        output: &mut Output,
    ) -> Option<(std::borrow::Cow<'a, [u8]>, bool, From)> {
        loop {
            if let Some(token) = self.pending.pop_front() {
                if !self.skips_for_pragma(&token.text, token.kind) {
                    return Some((token.text, token.wild, token.from));
                }
                continue;
            }
            let before = self.lexer;
            self.resume = before;
            let token = self.lexer.next_token()?;
            if token.first && token.line != before.line() {
                self.lexer = before;
                return None;
            }
            if token.kind == Kind::Ident && table.lookup(&token.text).is_some() {
                self.expand(&token, rest, table, output);
                continue;
            }
            if self.skips_for_pragma(&token.text, token.kind) {
                continue;
            }
            let (line, column) = (token.line, token.column);
            return Some((token.text, false, From::Source { line, column, argument_of: None }));
        }
    }

    /// Whether the token belongs to a `_Pragma`, which the output shows as a line of its own.
    fn skips_for_pragma(&mut self, text: &[u8], kind: Kind) -> bool {
        let (state, skips) = match (self.pragma, text) {
            (PragmaState::Outside, b"_Pragma") if kind == Kind::Ident => (PragmaState::Named, true),
            (PragmaState::Outside, _) => return false,
            (PragmaState::Named, b"(") => (PragmaState::Inside(1), true),
            (PragmaState::Named, _) => (PragmaState::Outside, false),
            (PragmaState::Inside(depth), b"(") => (PragmaState::Inside(depth + 1), true),
            (PragmaState::Inside(1), b")") => (PragmaState::Outside, true),
            (PragmaState::Inside(depth), b")") => (PragmaState::Inside(depth - 1), true),
            (PragmaState::Inside(depth), _) => (PragmaState::Inside(depth), true),
        };
        self.pragma = state;
        skips
    }

    /// Expands the invocation that begins with `name` and leaves its tokens pending.
    fn expand(
        &mut self,
        name: &Token<'a>,
        rest: &[Token],
        table: &mut MacroTable<'a>,
        output: &mut Output,
    ) {
        let after_name = self.lexer;
        let (line, column) = (name.line, name.column);
        self.latest = Some(From::Body { name: output.macro_name(&name.text), line, column });
        match expand_checked(name, after_name, rest, table, output) {
            Ok(Expanded { tokens, rest }) => {
                self.lexer = rest.lexer;
                self.resume = rest.lexer;
                self.pending.extend(tokens);
            }
            // The compiler may have left the name alone, too.
            Err(Failed) => self.pending.push_back(PpToken {
                text: name.text.clone(),
                kind: name.kind,
                space: name.space,
                no_expand: true,
                wild: false,
                from: From::Source { line, column, argument_of: None },
            }),
        }
    }

    /// Finds a place further on where output and source agree again, and marks the output
    /// up to there as the body of the latest invocation, or as unknown.
    fn resynchronise(
        &mut self,
        line_start: Lexer<'a>,
        tokens: &[Token],
        table: &MacroTable<'a>,
        origins: &mut Origins,
    ) {
        self.pending.clear();
        self.pragma = PragmaState::Outside;
        self.lexer = self.resume;
        let at = origins.len();
        if let Some(blamed) = self.latest {
            let ahead = upcoming(self.lexer, table, SURE);
            let agrees = |from: usize| agree(&tokens[from..], &ahead);
            let found = (at..tokens.len()).find(|&from| !ahead.is_empty() && agrees(from));
            origins.resize(found.unwrap_or(tokens.len()), Some(blamed));
            self.is_lost |= found.is_none();
            self.latest = None;
            return;
        }
        let begin = if at == 0 { line_start } else { self.lexer };
        match find_in_source(begin, &tokens[at..], table) {
            Some(place) => self.lexer = place,
            None => {
                origins.resize(tokens.len(), None);
                self.is_lost = true;
            }
        }
    }
}

/// Expands an invocation; where its arguments hold conditional directives, tries branches
/// until the result is what the compiler printed.
fn expand_checked<'a>(
    name: &Token<'a>,
    after_name: Lexer<'a>,
    printed: &[Token],
    table: &mut MacroTable<'a>,
    output: &mut Output,
) -> Result<Expanded<'a>, Failed> {
    let mut reader = Reader::new(after_name);
    let mut first = None;
    for _ in 0..MAX_CHOICES {
        let names = &mut |name: &[u8]| output.macro_name(name);
        let outcome = Expansion::run(table, names, name, reader);
        let Ok(expanded) = outcome else { return first.unwrap_or(Err(Failed)) };
        let is_right = !expanded.rest.met_conditionals()
            || expanded
                .tokens
                .iter()
                .zip(printed)
                .all(|(expected, token)| expected.wild || expected.text == token.text);
        let next = expanded.rest.next_choices(after_name);
        match (is_right, next) {
            (true, _) | (false, None) => {
                return if is_right { Ok(expanded) } else { first.unwrap_or(Ok(expanded)) };
            }
            (false, Some(next)) => {
                first.get_or_insert(Ok(expanded));
                reader = next;
            }
        }
    }
    first.unwrap_or(Err(Failed))
}

/// Where an invocation ends that began between `before` and the line at `line_start`,
/// expanded to nothing, and is followed by the tokens the compiler printed.
fn end_of_empty_invocation<'a>(
    before: Lexer<'a>,
    line_start: Lexer<'a>,
    tokens: &[Token],
    table: &mut MacroTable<'a>,
    output: &mut Output,
) -> Option<Lexer<'a>> {
    let mut reader = Reader::bounded(before, MAX_LOOK_BEHIND);
    loop {
        let token = reader.next_token()?;
        if token.line >= line_start.line() {
            return None;
        }
        if token.kind != Kind::Ident || table.lookup(&token.text).is_none() {
            continue;
        }
        let Ok(expanded) = expand_checked(&token, reader.lexer, tokens, table, output) else {
            continue;
        };
        let end = expanded.rest.lexer;
        let ahead = upcoming(end, table, SURE.min(tokens.len()));
        if expanded.tokens.is_empty()
            && end.line() == line_start.line()
            && !ahead.is_empty()
            && agree(tokens, &ahead)
        {
            return Some(end);
        }
        if end.line() > line_start.line() {
            return None;
        }
        reader.lexer = end;
    }
}

/// Up to `limit` tokens that follow on the same line and are no macros.
fn upcoming<'a>(mut lexer: Lexer<'a>, table: &MacroTable<'a>, limit: usize) -> Vec<Token<'a>> {
    let line = lexer.line();
    std::iter::from_fn(|| lexer.next_token())
        .take(limit)
        .take_while(|token| token.line == line || !token.first)
        .take_while(|token| token.kind != Kind::Ident || table.lookup(&token.text).is_none())
        .collect()
}

/// Whether the output goes on with `ahead`.
fn agree(tokens: &[Token], ahead: &[Token]) -> bool {
    tokens.len() >= ahead.len() && tokens.iter().zip(ahead).all(|(a, b)| a.text == b.text)
}

/// A place in the rest of the source line where the next tokens of the output stand: the
/// line may begin inside a comment or an argument list that gave no tokens.
fn find_in_source<'a>(
    begin: Lexer<'a>,
    tokens: &[Token],
    table: &MacroTable<'a>,
) -> Option<Lexer<'a>> {
    let agrees = |place: Lexer<'a>| {
        let ahead = upcoming(place, table, SURE.min(tokens.len()));
        !ahead.is_empty() && agree(tokens, &ahead)
    };
    let (offset, line) = begin.rest_of_line();
    for end in memchr::memmem::find_iter(line, b"*/") {
        let mut place = begin;
        place.skip_within_line(offset + end + 2);
        if agrees(place) {
            return Some(place);
        }
    }
    let mut place = begin;
    for _ in 0..1000 {
        let mut next = place;
        let token = next.next_token()?;
        if token.first && token.line != begin.line() {
            return None;
        }
        place = next;
        if agrees(place) {
            return Some(place);
        }
    }
    None
}
