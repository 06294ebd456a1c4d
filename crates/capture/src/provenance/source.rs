//! A user's source file: its lines, and reading tokens across directives.

use std::path::PathBuf;

use super::lexer::{Dialect, Lexer, Token};

/// A source file as read from disk.
pub struct SourceText {
    pub bytes: Vec<u8>,
    /// Where each line begins.
    line_starts: Vec<u32>,
    /// `#line` directives in order; usually none.
    directives: Vec<LineDirective>,
    /// `#pragma push_macro` and `pop_macro` by line; clang does not print them.
    macro_pragmas: Vec<(u32, std::ops::Range<usize>)>,
}

/// From physical line `physical` on, lines are counted from `presumed`.
struct LineDirective {
    physical: u32,
    presumed: u32,
    file: Option<PathBuf>,
}

impl SourceText {
    pub fn new(bytes: Vec<u8>) -> Self {
        let mut line_starts = vec![0];
        let mut directives: Vec<LineDirective> = Vec::new();
        for at in memchr::memchr2_iter(b'\n', b'\r', &bytes) {
            if bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            line_starts.push((at + 1) as u32);
            let rest = bytes[at + 1..].trim_ascii_start();
            if rest.starts_with(b"#")
                && let Some((presumed, file)) = parse_line_directive(rest)
            {
                let physical = line_starts.len() as u32 + 1;
                let inherited = || directives.last().and_then(|last| last.file.clone());
                let file = file.or_else(inherited);
                directives.push(LineDirective { physical, presumed, file });
            }
        }
        let macro_pragmas = find_macro_pragmas(&bytes, &line_starts);
        Self { bytes, line_starts, directives, macro_pragmas }
    }

    pub fn has_macro_pragmas(&self) -> bool {
        !self.macro_pragmas.is_empty()
    }

    /// The `push_macro("X")` and `pop_macro("X")` between two lines.
    pub fn macro_pragmas(&self, from: u32, to: u32) -> impl Iterator<Item = &[u8]> {
        let within = self.macro_pragmas.iter().filter(move |(line, _)| (from..to).contains(line));
        within.map(|(_, range)| &self.bytes[range.clone()])
    }

    /// A lexer at the beginning of a physical line.
    pub fn lexer_at(&self, line: u32, dialect: Dialect) -> Option<Lexer<'_>> {
        let start = *self.line_starts.get(line.checked_sub(1)? as usize)?;
        Some(Lexer::at(&self.bytes, start as usize, line, dialect))
    }

    /// The physical line that the preprocessor calls `line` of `file`, searched from
    /// physical line `from` on. `own_path` is the file's own name.
    pub fn physical_line(
        &self,
        own_path: &std::path::Path,
        file: &std::path::Path,
        line: u32,
        from: u32,
    ) -> u32 {
        if self.directives.is_empty() {
            return line;
        }
        let first = LineDirective { physical: 1, presumed: 1, file: None };
        let segments = std::iter::once(&first).chain(&self.directives);
        let candidates = segments.filter_map(|segment| {
            let name = segment.file.as_deref().unwrap_or(own_path);
            let ahead = line.checked_sub(segment.presumed)?;
            (name == file).then(|| segment.physical.saturating_add(ahead))
        });
        // The walk only goes forward; a line that lies behind is the best guess left.
        let candidates: Vec<u32> = candidates.collect();
        let forward = candidates.iter().copied().filter(|&physical| physical >= from).min();
        forward.or_else(|| candidates.last().copied()).unwrap_or(line)
    }
}

fn find_macro_pragmas(bytes: &[u8], line_starts: &[u32]) -> Vec<(u32, std::ops::Range<usize>)> {
    let mut pragmas = Vec::new();
    for end in memchr::memmem::find_iter(bytes, b"_macro") {
        let line = line_starts.partition_point(|&start| start as usize <= end);
        let start = line_starts[line - 1] as usize;
        let stop = line_starts.get(line).map_or(bytes.len(), |&next| next as usize);
        let directive = bytes[start..stop].trim_ascii_start();
        let pragma = directive
            .strip_prefix(b"#")
            .and_then(|rest| rest.trim_ascii_start().strip_prefix(b"pragma"))
            .map(<[u8]>::trim_ascii);
        if let Some(pragma) = pragma
            && (pragma.starts_with(b"push_macro") || pragma.starts_with(b"pop_macro"))
        {
            let at = if pragma.starts_with(b"push") { end - 4 } else { end - 3 };
            pragmas.push((line as u32, at..stop));
        }
    }
    pragmas
}

/// `#line 12 "file"` or `# 12 "file"`.
fn parse_line_directive(directive: &[u8]) -> Option<(u32, Option<PathBuf>)> {
    let rest = directive[1..].trim_ascii_start();
    let rest = rest.strip_prefix(b"line").unwrap_or(rest).trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let line = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    Some((line, super::markers::quoted_path(&rest[digits..])))
}

/// Reads tokens of an invocation's argument list, passing over directives between its
/// lines. Which branch of a conditional was taken is not known here: `choices` says which
/// to try, and the caller checks the outcome against what the compiler printed.
#[derive(Clone)]
pub struct Reader<'a> {
    pub lexer: Lexer<'a>,
    /// For each conditional met so far: the branch to take and the number of branches.
    pub choices: Vec<(u32, u32)>,
    n_met: usize,
    /// Conditionals entered and not yet left.
    depth: u32,
    /// Tokens that may still be read.
    n_left: u32,
}

/// Tokens one argument list may have, those of branches not taken included.
const MAX_TOKENS: u32 = 2_000_000;

/// The directives that structure conditionals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    If,
    Else,
    EndIf,
    Other,
}

impl<'a> Reader<'a> {
    pub fn new(lexer: Lexer<'a>) -> Self {
        Self::bounded(lexer, MAX_TOKENS)
    }

    /// A reader for at most so many tokens.
    pub fn bounded(lexer: Lexer<'a>, n_left: u32) -> Self {
        Self { lexer, choices: Vec::new(), n_met: 0, depth: 0, n_left }
    }

    /// Starts over at `lexer` with the next combination of branches, if there is one.
    pub fn next_choices(&self, lexer: Lexer<'a>) -> Option<Self> {
        let mut choices = self.choices.clone();
        while let Some((branch, n_branches)) = choices.pop() {
            if branch + 1 < n_branches {
                choices.push((branch + 1, n_branches));
                return Some(Self { choices, ..Self::new(lexer) });
            }
        }
        None
    }

    pub fn met_conditionals(&self) -> bool {
        !self.choices.is_empty()
    }

    pub fn next_token(&mut self) -> Option<Token<'a>> {
        loop {
            let token = self.read()?;
            if !is_directive(&token) {
                return Some(token);
            }
            match self.directive() {
                Directive::If => self.enter_conditional(),
                Directive::Else => {
                    self.skip_to_end();
                    self.depth = self.depth.saturating_sub(1);
                }
                Directive::EndIf => self.depth = self.depth.saturating_sub(1),
                Directive::Other => {}
            }
        }
    }

    fn read(&mut self) -> Option<Token<'a>> {
        self.n_left = self.n_left.checked_sub(1)?;
        self.lexer.next_token()
    }

    /// Reads the directive whose `#` was just read, up to the end of its line.
    fn directive(&mut self) -> Directive {
        let mut kind = Directive::Other;
        let mut bookmark = self.lexer;
        let mut is_name = true;
        while let Some(token) = self.read().filter(|token| !token.first) {
            if std::mem::take(&mut is_name) {
                kind = match &*token.text {
                    b"if" | b"ifdef" | b"ifndef" => Directive::If,
                    b"elif" | b"elifdef" | b"elifndef" | b"else" => Directive::Else,
                    b"endif" => Directive::EndIf,
                    _ => Directive::Other,
                };
            }
            bookmark = self.lexer;
        }
        self.lexer = bookmark;
        kind
    }

    fn enter_conditional(&mut self) {
        if self.n_met == self.choices.len() {
            self.choices.push((0, self.count_branches()));
        }
        let (branch, _) = self.choices[self.n_met];
        self.n_met += 1;
        for _ in 0..branch {
            if self.skip_group() == Directive::EndIf {
                return;
            }
        }
        self.depth += 1;
    }

    /// The branches of the conditional just entered, one that takes none included.
    fn count_branches(&self) -> u32 {
        let mut ahead = self.clone();
        let mut n_branches = 1;
        while ahead.skip_group() == Directive::Else {
            n_branches += 1;
        }
        n_branches + 1
    }

    fn skip_to_end(&mut self) {
        while self.skip_group() == Directive::Else {}
    }

    /// Skips to behind the directive that ends the current branch.
    fn skip_group(&mut self) -> Directive {
        let mut nested = 0u32;
        while let Some(token) = self.read() {
            if !is_directive(&token) {
                continue;
            }
            match self.directive() {
                Directive::If => nested += 1,
                Directive::EndIf if nested > 0 => nested -= 1,
                kind @ (Directive::Else | Directive::EndIf) if nested == 0 => return kind,
                _ => {}
            }
        }
        Directive::EndIf
    }
}

pub fn is_directive(token: &Token) -> bool {
    token.first && matches!(&*token.text, b"#" | b"%:")
}
