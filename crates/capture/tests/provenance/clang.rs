//! What clang itself says about the tokens of a file, to compare with.

use std::path::Path;
use std::process::{Command, Stdio};

use base::source::{Origin, SourcePosition};
use capture::provenance::{Extent, Prepared, prepare};

/// One token of `clang -Xclang -dump-tokens`.
pub struct ClangToken {
    pub text: Vec<u8>,
    pub place: Place,
    /// Where the characters stand, for a token out of a macro.
    pub spelling: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

pub fn clang(args: &[&str], directory: &Path) -> std::process::Output {
    Command::new("clang-19")
        .args(args)
        .current_dir(directory)
        .env("SOURCE_DATE_EPOCH", "0")
        .stdin(Stdio::null())
        .output()
        .expect("clang-19 starts")
}

pub fn preprocess(args: &[&str], directory: &Path) -> Vec<u8> {
    clang(&[&["-E", "-dD", "-w"], args].concat(), directory).stdout
}

pub fn prepare_file(args: &[&str], directory: &Path) -> Prepared {
    prepare_extent(args, directory, Extent::Whole)
}

pub fn prepare_extent(args: &[&str], directory: &Path, extent: Extent) -> Prepared {
    let preprocessed = preprocess(args, directory);
    prepare(&preprocessed, extent, &mut |path| std::fs::read(directory.join(path)).ok())
}

pub fn dump_tokens(args: &[&str], directory: &Path) -> Vec<ClangToken> {
    let args = [&["-fsyntax-only", "-w", "-Xclang", "-dump-tokens"], args].concat();
    let dump = clang(&args, directory).stderr;
    let mut tokens = Vec::new();
    let mut record: Vec<u8> = Vec::new();
    for line in dump.split(|&byte| byte == b'\n') {
        record.extend_from_slice(line);
        if let Some(token) = parse_record(&record) {
            tokens.extend(token);
            record.clear();
        } else {
            record.push(b'\n');
        }
    }
    tokens
}

/// `kind 'text'\t [flags]\tLoc=<...>`; `None` while the record is incomplete.
fn parse_record(record: &[u8]) -> Option<Option<ClangToken>> {
    let at = memchr::memmem::rfind(record, b"\tLoc=<")?;
    let location = std::str::from_utf8(&record[at + 6..]).ok()?.strip_suffix('>')?;
    let quote = memchr::memchr(b'\'', record)?;
    let kind = &record[..quote];
    if kind.starts_with(b"eof") || kind.starts_with(b"annot") {
        return Some(None);
    }
    let end = memchr::memmem::rfind(&record[..at], b"'\t")?;
    let text = record[quote + 1..end].to_vec();
    let (place, spelling) = match location.split_once(" <Spelling=") {
        Some((place, spelling)) => (place, Some(parse_place(spelling.strip_suffix('>')?)?)),
        None => (location, None),
    };
    Some(Some(ClangToken { text, place: parse_place(place)?, spelling }))
}

fn parse_place(text: &str) -> Option<Place> {
    let mut parts = text.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Place { file: parts.next()?.to_owned(), line, column })
}

/// How the map of a file compares with what clang says.
#[derive(Debug, Default)]
pub struct Comparison {
    pub tokens: usize,
    /// Tokens outside system headers, where positions are exact.
    pub compared: usize,
    pub from_macros: usize,
    pub agree: usize,
    /// Body tokens placed at a macro inside another's argument, where clang names the outer.
    pub nested: usize,
    pub disagreements: Vec<String>,
}

/// Compares the prepared text of a file with clang's own tokens. Panics where the tokens
/// themselves differ.
pub fn compare(args: &[&str], file: &str, directory: &Path, scratch: &Path) -> Comparison {
    let all = [args, &[file]].concat();
    let prepared = prepare_file(&all, directory);
    let text_path = scratch.join("prepared.i");
    std::fs::write(&text_path, &prepared.text).expect("the scratch folder can be written");
    let text_name = text_path.to_str().expect("the scratch path is UTF-8");
    let printed = dump_tokens(&[args, &["-x", "cpp-output", text_name]].concat(), directory);
    let original = dump_tokens(&all, directory);
    let mut comparison = Comparison { tokens: original.len(), ..Comparison::default() };
    for (index, (token, printed)) in original.iter().zip(&printed).enumerate() {
        assert!(
            token.text == printed.text,
            "token {index} at {:?}: {:?} became {:?}",
            token.place,
            String::from_utf8_lossy(&token.text),
            String::from_utf8_lossy(&printed.text),
        );
    }
    assert_eq!(original.len(), printed.len(), "tokens were lost or added in {file}");
    // Arguments of an invocation end before the next plain token.
    let mut next_plain: Option<&Place> = None;
    for (token, printed) in original.iter().zip(&printed).rev() {
        let found = prepared.map.lookup(printed.place.line, printed.place.column);
        if token.spelling.is_none() {
            next_plain = Some(&token.place);
        }
        let is_system = found.is_some_and(|found| prepared.map.is_system(found.file));
        if is_system {
            continue;
        }
        comparison.compared += 1;
        comparison.from_macros += usize::from(token.spelling.is_some());
        match found.map(|found| agrees(&prepared, found, token, next_plain)) {
            Some(Some(nested)) => {
                comparison.agree += 1;
                comparison.nested += usize::from(nested);
            }
            _ => comparison.disagreements.push(format!(
                "{:?} at {:?} spelled {:?}: found {found:?}",
                String::from_utf8_lossy(&token.text),
                token.place,
                token.spelling
            )),
        }
    }
    comparison
}

/// `Some(nested)` where both agree.
fn agrees(
    prepared: &Prepared,
    found: SourcePosition,
    token: &ClangToken,
    next_plain: Option<&Place>,
) -> Option<bool> {
    let file = prepared.map.file(found.file).to_owned();
    let place = Place { file, line: found.line, column: found.column };
    let before_next =
        |place: &Place| next_plain.is_none_or(|next| next.file != place.file || place < next);
    let Some(spelling) = &token.spelling else {
        return (found.origin == Origin::Plain && place == token.place).then_some(false);
    };
    let written_as_argument =
        spelling.file == token.place.file && spelling > &token.place && before_next(spelling);
    match found.origin {
        Origin::Plain => None,
        Origin::Argument(_) => (written_as_argument && place == *spelling).then_some(false),
        Origin::Body(_) if written_as_argument => None,
        Origin::Body(_) if place == token.place => Some(false),
        Origin::Body(_) => {
            (place.file == token.place.file && place > token.place && before_next(&place))
                .then_some(true)
        }
    }
}
