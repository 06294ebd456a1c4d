//! Preprocessing tokens of C, with their places.
//!
//! The same lexer reads the user's source and the preprocessor's output, so what matters
//! is that both come out alike; it never rejects anything.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ident,
    Number,
    /// A string or character constant with its prefix.
    Literal,
    Punct,
    /// A byte that begins no token.
    Other,
}

/// What the language standard changes about tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dialect {
    pub trigraphs: bool,
    /// C23's `1'000`.
    pub digit_separators: bool,
    /// `//` begins no comment: strict C89.
    pub no_line_comments: bool,
    /// Without GNU's changes to C99 or later: `, ##__VA_ARGS__` keeps its comma in a macro
    /// without named parameters.
    pub keeps_lone_comma: bool,
}

#[derive(Clone, Debug)]
pub struct Token<'a> {
    /// The spelling with line continuations and trigraphs replaced.
    pub text: Cow<'a, [u8]>,
    pub kind: Kind,
    /// Where it begins and ends in the bytes lexed.
    pub start: usize,
    pub end: usize,
    pub line: u32,
    /// In bytes from 1.
    pub column: u32,
    /// Whitespace or a comment stands before it.
    pub space: bool,
    /// The first of its line.
    pub first: bool,
}

/// Cheap to copy: a copy is a bookmark.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'a> {
    bytes: &'a [u8],
    pos: usize,
    line: u32,
    line_start: usize,
    at_line_start: bool,
    dialect: Dialect,
}

impl<'a> Lexer<'a> {
    pub fn new(bytes: &'a [u8], dialect: Dialect) -> Self {
        Self::at(bytes, 0, 1, dialect)
    }

    /// A lexer at the beginning of a line.
    pub fn at(bytes: &'a [u8], pos: usize, line: u32, dialect: Dialect) -> Self {
        Self { bytes, pos, line, line_start: pos, at_line_start: true, dialect }
    }

    pub fn line(&self) -> u32 {
        self.line
    }

    /// Moves forward to `pos`, which lies in the current line.
    pub fn skip_within_line(&mut self, pos: usize) {
        self.pos = self.pos.max(pos);
        self.at_line_start = false;
    }

    /// The rest of the current line, without its end.
    pub fn rest_of_line(&self) -> (usize, &'a [u8]) {
        let rest = &self.bytes[self.pos..];
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        (self.pos, &rest[..length])
    }

    pub fn next_token(&mut self) -> Option<Token<'a>> {
        let (space, first) = self.skip_space();
        let start = self.pos;
        if start >= self.bytes.len() {
            return None;
        }
        let (line, column) = (self.line, (start - self.line_start + 1) as u32);
        let scan = scan_token(self.bytes, start, self.dialect);
        let token = if scan.spliced || self.may_continue(start, scan.end) {
            let (text, kind, end) = self.scan_spliced(start);
            self.count_lines(start, end);
            Token { text, kind, start, end, line, column, space, first }
        } else {
            let text = Cow::Borrowed(&self.bytes[start..scan.end]);
            Token { text, kind: scan.kind, start, end: scan.end, line, column, space, first }
        };
        self.pos = token.end;
        Some(token)
    }

    /// Skips whitespace and comments; tells whether there was any and whether a line began.
    fn skip_space(&mut self) -> (bool, bool) {
        let begin = self.pos;
        let mut first = std::mem::replace(&mut self.at_line_start, false);
        while let Some(&byte) = self.bytes.get(self.pos) {
            match byte {
                b' ' | b'\t' | 0x0b | 0x0c | 0 => self.pos += 1,
                b'\n' | b'\r' => {
                    self.pass_newline();
                    first = true;
                }
                b'/' if self.bytes.get(self.pos + 1) == Some(&b'*') => self.skip_block_comment(),
                b'/' if self.begins_line_comment() => self.skip_line_comment(),
                b'\\' | b'?' => match splice_end(self.bytes, self.pos, self.dialect) {
                    Some(end) => {
                        self.count_lines(self.pos, end);
                        self.pos = end;
                    }
                    None => break,
                },
                0xef if self.pos == 0 && self.bytes.starts_with(b"\xef\xbb\xbf") => self.pos = 3,
                _ => break,
            }
        }
        (self.pos > begin, first)
    }

    fn begins_line_comment(&self) -> bool {
        self.bytes.get(self.pos + 1) == Some(&b'/') && !self.dialect.no_line_comments
    }

    fn pass_newline(&mut self) {
        self.pos = newline_end(self.bytes, self.pos);
        self.line += 1;
        self.line_start = self.pos;
    }

    fn skip_block_comment(&mut self) {
        let body = self.pos + 2;
        let end = memchr::memmem::find(&self.bytes[body..], b"*/")
            .map_or(self.bytes.len(), |length| body + length + 2);
        self.count_lines(self.pos, end);
        self.pos = end;
    }

    fn skip_line_comment(&mut self) {
        loop {
            let rest = &self.bytes[self.pos..];
            let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.pos = self.bytes.len();
                return;
            };
            let comment = rest[..length].trim_ascii_end();
            let continues =
                comment.ends_with(b"\\") || (self.dialect.trigraphs && comment.ends_with(b"??/"));
            self.pos += length;
            if !continues {
                return;
            }
            self.pass_newline();
        }
    }

    fn count_lines(&mut self, start: usize, end: usize) {
        let mut pos = start;
        while let Some(offset) = memchr::memchr2(b'\n', b'\r', &self.bytes[pos..end]) {
            pos = newline_end(self.bytes, pos + offset).min(end);
            self.line += 1;
            self.line_start = pos;
        }
    }

    /// Whether a continuation or trigraph may change where the token ends.
    fn may_continue(&self, start: usize, end: usize) -> bool {
        match self.bytes.get(end) {
            Some(b'\\') => splice_end(self.bytes, end, self.dialect).is_some(),
            _ if !self.dialect.trigraphs => false,
            _ => {
                let window = &self.bytes[start..self.bytes.len().min(end + 3)];
                memchr::memmem::find(window, b"??").is_some()
            }
        }
    }

    /// Lexes one token through a copy of the text without continuations and trigraphs.
    fn scan_spliced(&self, start: usize) -> (Cow<'a, [u8]>, Kind, usize) {
        let mut limit = 64;
        loop {
            let (clean, ends, complete) = clean_prefix(self.bytes, start, limit, self.dialect);
            let scan = scan_token(&clean, 0, Dialect { trigraphs: false, ..self.dialect });
            // A token that reaches the end of an incomplete copy may go on beyond it.
            if complete || scan.end + 4 < clean.len() {
                let end = scan.end.max(1).min(ends.len());
                let raw_end = end.checked_sub(1).map_or(start + 1, |last| ends[last]);
                let raw = &self.bytes[start..raw_end];
                let text = match raw == &clean[..end] {
                    true => Cow::Borrowed(raw),
                    false => Cow::Owned(clean[..end].to_vec()),
                };
                return (text, scan.kind, raw_end);
            }
            limit *= 4;
        }
    }
}

/// Up to `limit` bytes of a logical line, cleaned; for each where it ends in the original;
/// and whether the logical line ended.
fn clean_prefix(
    bytes: &[u8],
    start: usize,
    limit: usize,
    dialect: Dialect,
) -> (Vec<u8>, Vec<usize>, bool) {
    let (mut clean, mut ends, mut pos) = (Vec::new(), Vec::new(), start);
    while clean.len() < limit {
        if let Some(end) = splice_end(bytes, pos, dialect) {
            pos = end;
            continue;
        }
        let (byte, width) = match bytes.get(pos) {
            None | Some(b'\n' | b'\r') => return (clean, ends, true),
            Some(b'?') if dialect.trigraphs => match trigraph(bytes, pos) {
                Some(byte) => (byte, 3),
                None => (b'?', 1),
            },
            Some(&byte) => (byte, 1),
        };
        pos += width;
        clean.push(byte);
        ends.push(pos);
    }
    (clean, ends, false)
}

/// Where the text goes on after the line continuation at `pos`, if there is one. As clang
/// and gcc do, blanks between the backslash and the end of the line are let pass.
fn splice_end(bytes: &[u8], pos: usize, dialect: Dialect) -> Option<usize> {
    let mut end = match bytes.get(pos)? {
        b'\\' => pos + 1,
        b'?' if dialect.trigraphs && bytes[pos..].starts_with(b"??/") => pos + 3,
        _ => return None,
    };
    while matches!(bytes.get(end), Some(b' ' | b'\t' | 0x0b | 0x0c)) {
        end += 1;
    }
    matches!(bytes.get(end), Some(b'\n' | b'\r')).then(|| newline_end(bytes, end))
}

fn newline_end(bytes: &[u8], pos: usize) -> usize {
    if bytes[pos..].starts_with(b"\r\n") { pos + 2 } else { pos + 1 }
}

fn trigraph(bytes: &[u8], pos: usize) -> Option<u8> {
    let rest = bytes.get(pos..pos + 3)?;
    if &rest[..2] != b"??" {
        return None;
    }
    let at = b"=/'()!<>-".iter().position(|&byte| byte == rest[2])?;
    Some(b"#\\^[]|{}~"[at])
}

struct Scan {
    end: usize,
    kind: Kind,
    /// A line continuation stands inside.
    spliced: bool,
}

/// Scans the token at `start`, knowing nothing of continuations.
fn scan_token(bytes: &[u8], start: usize, dialect: Dialect) -> Scan {
    let Some(&byte) = bytes.get(start) else {
        return Scan { end: start, kind: Kind::Other, spliced: false };
    };
    let plain = |end, kind| Scan { end, kind, spliced: false };
    match byte {
        b'"' | b'\'' => scan_literal(bytes, start, dialect),
        b'0'..=b'9' => plain(scan_number(bytes, start, dialect), Kind::Number),
        b'.' if bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => {
            plain(scan_number(bytes, start, dialect), Kind::Number)
        }
        _ if is_ident_byte(byte) => {
            let end = scan_ident(bytes, start);
            let prefixes = matches!(&bytes[start..end], b"L" | b"u" | b"U" | b"u8");
            match bytes.get(end) {
                Some(b'"' | b'\'') if prefixes => scan_literal(bytes, end, dialect),
                _ => plain(end, Kind::Ident),
            }
        }
        b'\\' if matches!(bytes.get(start + 1), Some(b'u' | b'U')) => {
            plain(scan_ident(bytes, start), Kind::Ident)
        }
        b'\\' | b'@' | b'`' | 0..=b' ' | 0x7f => plain(start + 1, Kind::Other),
        _ => plain(start + punct_len(&bytes[start..]), Kind::Punct),
    }
}

pub fn is_ident_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn scan_ident(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    while let Some(&byte) = bytes.get(end) {
        if is_ident_byte(byte) {
            end += 1;
        } else if byte == b'\\' && matches!(bytes.get(end + 1), Some(b'u' | b'U')) {
            end += 2;
        } else {
            break;
        }
    }
    end
}

fn scan_number(bytes: &[u8], start: usize, dialect: Dialect) -> usize {
    let mut end = start + 1;
    while let Some(&byte) = bytes.get(end) {
        let exponent = matches!(bytes[end - 1], b'e' | b'E' | b'p' | b'P');
        let separates = dialect.digit_separators
            && byte == b'\''
            && bytes.get(end + 1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_');
        if is_ident_byte(byte)
            || byte == b'.'
            || (exponent && matches!(byte, b'+' | b'-'))
            || separates
        {
            end += 1;
        } else {
            break;
        }
    }
    end
}

/// Scans a literal whose opening quote stands at `quote`. One that never closes ends with
/// its line.
fn scan_literal(bytes: &[u8], quote: usize, dialect: Dialect) -> Scan {
    let close = bytes[quote];
    let (mut pos, mut spliced) = (quote + 1, false);
    while let Some(offset) = memchr::memchr3(close, b'\\', b'\n', &bytes[pos..]) {
        pos += offset;
        match bytes[pos] {
            b'\\' => match splice_end(bytes, pos, dialect) {
                Some(end) => {
                    spliced = true;
                    pos = end;
                }
                None => pos = (pos + 2).min(bytes.len()),
            },
            b'\n' => {
                let end = if bytes[pos - 1] == b'\r' { pos - 1 } else { pos };
                return Scan { end: end.max(quote + 1), kind: Kind::Other, spliced };
            }
            _ => return Scan { end: pos + 1, kind: Kind::Literal, spliced },
        }
    }
    Scan { end: bytes.len(), kind: Kind::Other, spliced }
}

fn punct_len(rest: &[u8]) -> usize {
    let second = rest.get(1).copied().unwrap_or(0);
    let third = rest.get(2).copied().unwrap_or(0);
    match (rest[0], second) {
        (b'.', b'.') if third == b'.' => 3,
        (b'<', b'<') | (b'>', b'>') if third == b'=' => 3,
        (b'%', b':') if rest.starts_with(b"%:%:") => 4,
        (b'-', b'>' | b'-') | (b'+', b'+') | (b'&', b'&') | (b'|', b'|') | (b'#', b'#') => 2,
        (b'<', b'<' | b':' | b'%') | (b'>', b'>') | (b'%', b':' | b'>') | (b':', b'>') => 2,
        (
            b'<' | b'>' | b'=' | b'!' | b'*' | b'/' | b'%' | b'+' | b'-' | b'&' | b'^' | b'|',
            b'=',
        ) => 2,
        _ => 1,
    }
}

/// The kind of the token that `text` is, if it is exactly one.
pub fn as_single_token(text: &[u8], dialect: Dialect) -> Option<Kind> {
    let scan = scan_token(text, 0, dialect);
    (scan.end == text.len() && !text.starts_with(b"//") && !text.starts_with(b"/*"))
        .then_some(scan.kind)
}
