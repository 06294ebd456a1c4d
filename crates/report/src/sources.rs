//! Lines of the user's files, read when a report wants to show them.
//!
//! Positions are hostile: `#line` and other tools' reports can name any file. Where it is
//! recorded which files the compiler read, their text is shown while it is what was read, and
//! no other; else that of regular files below the project's folder.
//!
//! The text is hostile, too: it may be no UTF-8, hold terminal escapes or lines of a megabyte.
//! What comes out of [`Sources::line`] is safe to print.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use findings::Findings;

/// Longer lines are cut; nobody reads on.
const LONGEST_LINE: usize = 200;

#[derive(Debug, Default)]
pub struct Sources {
    root: PathBuf,
    /// The hashes of the files that may be shown, where that is recorded.
    read: Option<BTreeMap<String, String>>,
    files: HashMap<String, Option<File>>,
}

/// A file and where its lines begin.
#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    starts: Vec<usize>,
}

/// A line as it can be shown, and where in it the asked-for column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// Characters before the column; `None` where the column is unknown or was cut off.
    pub caret: Option<usize>,
}

impl Sources {
    /// Relative paths are looked up below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), read: None, files: HashMap::new() }
    }

    /// What may be shown beside these findings.
    pub fn of(root: impl Into<PathBuf>, findings: &Findings) -> Self {
        Self { read: findings.sources.clone(), ..Self::new(root) }
    }

    /// A line and a byte column, both from 1.
    pub fn line(&mut self, file: &str, line: u32, column: u32) -> Option<Line> {
        Some(printable(self.raw_line(file, line)?, column as usize))
    }

    /// The bytes of a line, without its end.
    pub fn raw_line(&mut self, file: &str, line: u32) -> Option<&[u8]> {
        let file = self.file(file)?;
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        let start = *file.starts.get(index)?;
        let end = file.starts.get(index + 1).map_or(file.bytes.len(), |next| next - 1);
        let line = &file.bytes[start..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The bytes of a line with a carriage return it may end in, and whether it ends at all.
    /// What follows the last end of a line is no line where it is empty.
    pub fn whole_line(&mut self, file: &str, line: u32) -> Option<(&[u8], bool)> {
        let file = self.file(file)?;
        let index = usize::try_from(line.checked_sub(1)?).ok()?;
        let start = *file.starts.get(index)?;
        match file.starts.get(index + 1) {
            Some(next) => Some((&file.bytes[start..next - 1], true)),
            None if start == file.bytes.len() => None,
            None => Some((&file.bytes[start..], false)),
        }
    }

    /// The whole content of a file.
    pub fn content(&mut self, file: &str) -> Option<&[u8]> {
        self.file(file).map(|file| file.bytes.as_slice())
    }

    /// As many of these lines as there are, as they can be shown, and the first one's number.
    pub fn lines(&mut self, file: &str, lines: RangeInclusive<u32>) -> Vec<(u32, String)> {
        let numbers = (*lines.start()).max(1)..=*lines.end();
        numbers.map_while(|n| self.line(file, n, 0).map(|line| (n, line.text))).collect()
    }

    /// The column as readers count it: characters instead of bytes, both from 1.
    pub fn character(&mut self, file: &str, line: u32, column: u32) -> u32 {
        let bytes = self.raw_line(file, line);
        let before = bytes.and_then(|bytes| bytes.get(..column.checked_sub(1)? as usize));
        let count = before.map(|before| String::from_utf8_lossy(before).chars().count());
        count.and_then(|count| u32::try_from(count + 1).ok()).unwrap_or(column)
    }

    fn file(&mut self, file: &str) -> Option<&File> {
        if !self.files.contains_key(file) {
            let content = self.read(file).map(File::new);
            self.files.insert(file.to_owned(), content);
        }
        self.files.get(file)?.as_ref()
    }

    fn read(&self, file: &str) -> Option<Vec<u8>> {
        let path = self.root.join(file);
        match &self.read {
            Some(read) => {
                let hash = read.get(file)?;
                let bytes = base::read::source(&path).ok()?;
                (blake3::hash(&bytes).to_hex().as_str() == hash).then_some(bytes)
            }
            None => {
                let root =
                    if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
                let real = path.canonicalize().ok()?;
                let is_below = real.starts_with(root.canonicalize().ok()?);
                is_below.then(|| base::read::source(&real).ok()).flatten()
            }
        }
    }
}

impl File {
    fn new(bytes: Vec<u8>) -> Self {
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Self { bytes, starts }
    }
}

fn printable(bytes: &[u8], column: usize) -> Line {
    let before = bytes.get(..column.saturating_sub(1)).filter(|_| column > 0);
    let clean = |bytes: &[u8]| -> String {
        String::from_utf8_lossy(bytes).chars().map(printable_char).collect::<String>()
    };
    let caret = before.map(|before| clean(before).chars().count());
    let full = clean(bytes);
    let cut: String = full.chars().take(LONGEST_LINE).collect();
    let text = if cut.len() < full.len() { format!("{cut}...") } else { cut };
    Line { text, caret: caret.filter(|caret| *caret < LONGEST_LINE) }
}

/// A blank for tabs, a visible stand-in for whatever would steer the terminal.
fn printable_char(c: char) -> char {
    match c {
        '\t' => ' ',
        // Overrides of the writing direction make code look like other code.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

/// Whether text is shown as it is: nothing in it steers the terminal.
pub fn is_plain(text: &str) -> bool {
    text.chars().all(|c| printable_char(c) == c)
}

/// Text from outside (messages, names, paths) made safe to print on one line.
pub fn one_line(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_shown_and_does_nothing() {
        let line = printable(b"\x1b[31m\tx\xff = 1;\x00", 7);
        assert_eq!(line.text, "\u{fffd}[31m x\u{fffd} = 1;\u{fffd}");
        assert_eq!(line.caret, Some(6));
        assert_eq!(printable("/*\u{202e}*/".as_bytes(), 1).text, "/*\u{fffd}*/");
    }

    #[test]
    fn long_lines_are_cut() {
        let line = printable("é".repeat(1000).as_bytes(), 1500);
        assert_eq!(line.text.chars().count(), LONGEST_LINE + 3);
        assert_eq!(line.caret, None);
    }

    #[test]
    fn what_is_not_there_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "one\r\ntwo").unwrap();
        let mut sources = Sources::new(folder.path());
        assert_eq!(sources.line("a.c", 1, 1).unwrap().text, "one");
        assert_eq!(sources.line("a.c", 2, 1).unwrap().text, "two");
        assert_eq!(sources.line("a.c", 3, 1), None);
        assert_eq!(sources.line("a.c", 0, 1), None);
        assert_eq!(sources.line("b.c", 1, 1), None);
        assert_eq!(sources.line("/dev/zero", 1, 1), None);
        assert_eq!(sources.lines("a.c", 0..=9).len(), 2);
    }

    #[test]
    fn only_files_of_the_project_are_shown() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "secret\n").unwrap();
        let folder = tempfile::tempdir_in(outside.path()).unwrap();
        let secret = outside.path().join("secret");
        std::os::unix::fs::symlink(&secret, folder.path().join("link.c")).unwrap();
        let mut sources = Sources::new(folder.path());
        for name in [secret.to_str().unwrap(), "../secret", "link.c"] {
            assert_eq!(sources.line(name, 1, 1), None, "{name}");
        }
    }

    #[test]
    fn only_what_the_compiler_read_is_shown_where_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["read.c", "claimed.c", "changed.c"] {
            std::fs::write(folder.path().join(name), "text\n").unwrap();
        }
        let hash = blake3::hash(b"text\n").to_hex().to_string();
        let read = [("read.c", hash.clone()), ("changed.c", hash)];
        let read = read.map(|(name, hash)| (name.to_owned(), hash));
        let findings = Findings { sources: Some(read.into()), ..Findings::new() };
        std::fs::write(folder.path().join("changed.c"), "other\n").unwrap();
        let mut sources = Sources::of(folder.path(), &findings);
        assert_eq!(sources.line("read.c", 1, 1).unwrap().text, "text");
        assert_eq!(sources.line("claimed.c", 1, 1), None);
        assert_eq!(sources.line("changed.c", 1, 1), None);
    }

    #[test]
    fn columns_are_counted_in_characters_where_readers_do() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.c"), "/* \u{e9} */ x = 1;\n").unwrap();
        let mut sources = Sources::new(folder.path());
        assert_eq!(sources.character("a.c", 1, 10), 9);
        assert_eq!(sources.character("a.c", 1, 0), 0);
        assert_eq!(sources.character("a.c", 1, 500), 500);
        assert_eq!(sources.character("gone.c", 1, 7), 7);
    }
}
