//! Lines of C that hold code: neither blank nor only a comment.

/// Counts as the usual tools do: a line counts if anything but blanks and comments is on it.
pub fn count(text: &[u8]) -> u64 {
    let mut lines = 0;
    let mut has_code = false;
    let mut state = State::Code;
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\n' {
            lines += u64::from(has_code);
            has_code = false;
            if state != State::BlockComment {
                state = State::Code;
            }
            continue;
        }
        match state {
            State::LineComment => {}
            State::BlockComment if byte == b'*' && bytes.peek() == Some(&b'/') => {
                bytes.next();
                state = State::Code;
            }
            State::BlockComment => {}
            State::Quoted(quote) => {
                has_code = true;
                if byte == b'\\' && bytes.peek().is_some_and(|next| *next != b'\n') {
                    bytes.next();
                } else if byte == quote {
                    state = State::Code;
                }
            }
            State::Code => match (byte, bytes.peek()) {
                (b'/', Some(b'*')) => {
                    bytes.next();
                    state = State::BlockComment;
                }
                (b'/', Some(b'/')) => state = State::LineComment,
                (b'"' | b'\'', _) => {
                    has_code = true;
                    state = State::Quoted(byte);
                }
                (byte, _) => has_code |= !byte.is_ascii_whitespace(),
            },
        }
    }
    lines + u64::from(has_code)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    LineComment,
    BlockComment,
    Quoted(u8),
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn comments_and_blanks_do_not_count() {
        assert_eq!(count(b""), 0);
        assert_eq!(count(b"int x; /* a\n b */\n\n// c\n  \nint y;"), 2);
        assert_eq!(count(b"char *s = \"/*\";\nint x; // \"\nchar c = '\"'; /* */ int z;\n"), 3);
        assert_eq!(count(b"/* a */ int x;\n/* b\n*/ int y;\n"), 2);
    }
}
