//! What is wrong with a specification, where, and what to do about it.

/// A range of bytes of a specification's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub level: Level,
    pub span: Span,
    /// Lowercase, without a full stop.
    pub message: String,
    /// What to try.
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { level: Level::Error, span, message: message.into(), help: None }
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { level: Level::Warning, ..Self::error(span, message) }
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The message with its position, the line it is about, and a caret below. Of a line that
    /// no terminal is wide enough for, only what is around the mistake.
    pub fn render(&self, path: &str, text: &str) -> String {
        let start = floor_boundary(text, self.span.start as usize);
        let (line, column) = position(text, start);
        let source = text.lines().nth(line - 1).unwrap_or("");
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        let n_skipped = if column > MAX_WIDTH { column - MAX_WIDTH / 2 } else { 0 };
        let visible: String = printable(source.chars().skip(n_skipped).take(2 * MAX_WIDTH));
        let dots = if n_skipped > 0 { "..." } else { "" };
        let rest_of_line = visible.chars().count().saturating_sub(column - 1 - n_skipped);
        let end = floor_boundary(text, self.span.end as usize).max(start);
        let in_line = text[start..end].chars().take(2 * MAX_WIDTH).take_while(|c| *c != '\n');
        let carets = "^".repeat(in_line.count().clamp(1, rest_of_line.max(1)));
        // Tabs stay tabs, so that the caret stands below its text.
        let before = visible.chars().take(column - 1 - n_skipped);
        let indent: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        let indent = " ".repeat(dots.len()) + &indent;
        let gutter = " ".repeat(line.to_string().len());
        let help = self.help.as_ref().map_or(String::new(), |help| format!(" {}", brief(help)));
        format!(
            "{path}:{line}:{column}: {level}: {}\n{gutter} |\n{line} | {dots}{visible}\n\
             {gutter} | {indent}{carets}{help}\n",
            brief(&self.message)
        )
    }
}

/// Half of the characters of a line that are shown, at most.
const MAX_WIDTH: usize = 100;

/// Text that may quote a megabyte of somebody's, for one line of a terminal.
fn brief(text: &str) -> String {
    match text.char_indices().nth(4 * MAX_WIDTH) {
        None => printable(text.chars()),
        Some((at, _)) => printable(text[..at].chars()) + "...",
    }
}

/// Nothing that a terminal would obey.
fn printable(text: impl Iterator<Item = char>) -> String {
    text.map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// Line and column of a byte, both from 1, columns in characters.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..floor_boundary(text, at)];
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[line_start..].chars().count() + 1)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The known name a misspelled one most likely means.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edit distance.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(40).collect(), b.chars().take(40).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_mistake() {
        let text = "vars ptr a;\nobserve\n  at $f(a)$ require Sise(a) > 0\n";
        let start = text.find("Sise").unwrap();
        let shown = Diagnostic::error(Span::new(start, start + 4), "unknown attribute `Sise`")
            .help("did you mean `Size`?")
            .render("x.fault", text);
        assert_eq!(
            shown,
            "x.fault:3:21: error: unknown attribute `Sise`\n  |\n\
             3 |   at $f(a)$ require Sise(a) > 0\n  |                     ^^^^ did you mean `Size`?\n"
        );
    }

    #[test]
    fn a_line_of_a_megabyte_is_shown_in_part_and_escapes_not_at_all() {
        let text = format!("{}Sise{}\u{1b}[31m", "x".repeat(1 << 20), "y".repeat(1 << 20));
        let start = text.find("Sise").unwrap();
        let span = Span::new(start, text.len());
        let shown = Diagnostic::error(span, format!("unknown `{text}`")).render("x.fault", &text);
        assert!(shown.len() < 2000, "{}", shown.len());
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("x.fault:1:1048577: error: unknown `xxx"), "{shown}");
        let (source, caret) = (lines[2], lines[3]);
        assert_eq!(source.find("Sise"), caret.find('^'), "{shown}");
        let nul = Diagnostic::error(Span::new(0, 1), "a\u{1b}[31m").render("x", "\0\u{1b}[1m");
        assert!(!nul.contains(['\0', '\u{1b}']), "{nul}");
    }

    #[test]
    fn suggestions_are_near_or_absent() {
        assert_eq!(suggest("sise", ["Size", "Len"]), Some("Size"));
        assert_eq!(suggest("observ", ["observe", "contribute"]), Some("observe"));
        assert_eq!(suggest("frobnicate", ["Size", "Len"]), None);
    }
}
