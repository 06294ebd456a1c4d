//! Splitting text into the words of a command line: shell commands as compilation
//! databases hold them, and the response files compilers read for `@file`.

use std::fs;
use std::path::Path;

/// Response files may name response files; deeper nesting than this is a loop.
const MAX_NESTING: usize = 16;
/// A response file larger than this is not one.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Whose rules of quoting apply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// The shell's: a backslash in double quotes escapes only what is special there.
    Shell,
    /// GNU response files: a backslash escapes anything anywhere.
    ResponseFile,
}

/// Splits `text` into words. Unclosed quotes extend to the end.
pub fn split(text: &str, quoting: Quoting) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let raw = quote == Some('\'') && quoting == Quoting::Shell;
        match c {
            '\\' if !raw => {
                let escaped = chars.peek().copied();
                let word = word.get_or_insert_default();
                let keeps_backslash = quote == Some('"')
                    && quoting == Quoting::Shell
                    && !matches!(escaped, Some('$' | '`' | '"' | '\\' | '\n'));
                if keeps_backslash {
                    word.push('\\');
                    continue;
                }
                chars.next();
                // A backslash before a line's end joins the lines.
                word.extend(escaped.filter(|&e| e != '\n'));
            }
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            c if c.is_ascii_whitespace() && quote.is_none() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Replaces every `@file` by the words in that file, relative to `directory`. As
/// compilers do, a file that cannot be read leaves its argument as it stands.
pub fn expand_response_files(args: Vec<String>, directory: &Path) -> Vec<String> {
    expand(args, directory, MAX_NESTING)
}

fn expand(args: Vec<String>, directory: &Path, nesting: usize) -> Vec<String> {
    if nesting == 0 || !args.iter().any(|arg| arg.starts_with('@')) {
        return args;
    }
    let mut expanded = Vec::with_capacity(args.len());
    for arg in args {
        match arg.strip_prefix('@').and_then(|name| read(&directory.join(name))) {
            Some(text) => {
                let words = split(&text, Quoting::ResponseFile);
                expanded.extend(expand(words, directory, nesting - 1));
            }
            None => expanded.push(arg),
        }
    }
    expanded
}

fn read(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_RESPONSE_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Vec<String> {
        split(text, Quoting::Shell)
    }

    #[test]
    fn shell_quoting_is_undone() {
        assert_eq!(
            shell(r#"cc -DA="x y" '-DB="q"' -DC=\"s\" "-DD=\"a\\n\"" -DE="\n" a\ b.c ''"#),
            ["cc", "-DA=x y", r#"-DB="q""#, r#"-DC="s""#, r#"-DD="a\n""#, r"-DE=\n", "a b.c", ""]
        );
        assert_eq!(shell("  \t\n "), Vec::<String>::new());
        assert_eq!(shell("a 'b"), ["a", "b"]);
        assert_eq!(shell("a\\"), ["a"]);
    }

    #[test]
    fn response_files_nest_and_do_not_loop() {
        let dir = tempfile::tempdir().expect("temp folder");
        fs::write(dir.path().join("outer"), "-DA='x\\'y' @inner\n-DZ").expect("writable");
        fs::write(dir.path().join("inner"), "\"-I a\"\n@missing @inner").expect("writable");
        let args = vec!["@outer".to_owned(), "b.c".to_owned()];
        let words = expand_response_files(args, dir.path());
        assert_eq!(words[..3], ["-DA=x'y", "-I a", "@missing"]);
        assert_eq!(words.last().map(String::as_str), Some("b.c"));
        assert!(words.contains(&"@inner".to_owned()), "the loop is cut");
    }
}
