//! Which conversions the programmer wrote.
//!
//! The compiler checks conversions between integers that it makes on its own, but not those
//! to and from floating point and pointers. There the text tells: the position of a cast is
//! its opening parenthesis, that of any other conversion is the converted expression.

/// The words a type can begin with; names of types are known by what follows them.
const TYPE_WORDS: [&str; 24] = [
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "void",
    "struct",
    "union",
    "enum",
    "const",
    "volatile",
    "_Bool",
    "bool",
    "_Complex",
    "_Atomic",
    "_BitInt",
    "__int128",
    "__signed__",
    "__const",
    "__typeof__",
    "typeof",
];

/// The text the unit was compiled from; empty where nobody has it.
pub struct Casts<'a> {
    text: &'a [u8],
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'a> Casts<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text, lines }
    }

    /// Whether a cast is written at this place of the text; `None` where that is unknown.
    pub fn is_written(&self, (line, column): (u32, u32)) -> Option<bool> {
        if self.text.is_empty() || line == 0 || column == 0 {
            return None;
        }
        let start = self.lines.get(line as usize - 1)? + (column as usize - 1);
        let rest = self.text.get(start..)?;
        Some(rest.strip_prefix(b"(").is_some_and(begins_with_type))
    }
}

/// Whether what follows an opening parenthesis is a type in parentheses and an operand.
fn begins_with_type(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let (word, rest) = split_word(text);
    let Ok(word) = std::str::from_utf8(word) else { return false };
    if word.is_empty() || word.as_bytes()[0].is_ascii_digit() {
        return false;
    }
    if TYPE_WORDS.contains(&word) {
        return true;
    }
    // `(name)` or `(name *)`, and behind it what can only be an operand.
    let mut rest = rest.trim_ascii_start();
    while let Some(behind) = rest.strip_prefix(b"*") {
        rest = behind.trim_ascii_start();
    }
    let Some(rest) = rest.strip_prefix(b")") else { return false };
    match rest.trim_ascii_start().first() {
        Some(byte) => byte.is_ascii_alphanumeric() || b"_(\"'.~!".contains(byte),
        None => false,
    }
}

fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = text.iter().position(|byte| !is_word(byte)).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_are_told_from_expressions_in_parentheses() {
        let is_written = |text: &str| Casts::new(text.as_bytes()).is_written((1, 1));
        for cast in ["(int)x", "( unsigned long ) x", "(real)x", "(T *)p", "(T)(x + 1)", "(T)~x"] {
            assert_eq!(is_written(cast), Some(true), "{cast}");
        }
        for other in ["x", "(x + 1) * y", "(x) + 1", "(x)", "((int)x)", "(2) * x", "f(x)", "("] {
            assert_eq!(is_written(other), Some(false), "{other}");
        }
        assert_eq!(Casts::new(b"").is_written((1, 1)), None);
        assert_eq!(Casts::new(b"x\n(int)y").is_written((2, 1)), Some(true));
        assert_eq!(Casts::new(b"x").is_written((9, 1)), None);
    }
}
