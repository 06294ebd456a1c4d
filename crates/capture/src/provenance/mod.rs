//! Which macro wrote which token, and where every token stands in the user's files.
//!
//! A unit is compiled from preprocessed text without line markers, so that the compiler's
//! debug positions are positions in that text and every token has its own, even the tokens
//! of one macro body. [`prepare`] makes the text from the output of `clang -E -dD` and the
//! map that leads back. Because `-dD` leaves each definition where it took effect, the
//! macros defined at any point are known: the source lines are expanded here a second time
//! with the origin of every token remembered, and compared with what the compiler printed.

mod align;
mod emit;
mod expand;
mod lexer;
mod macros;
mod markers;
mod needed;
mod source;
mod substitute;

use std::ops::Range;
use std::path::{Path, PathBuf};

use base::SourceMap;
use base::source::{Origin, SourcePosition};
use rustc_hash::FxHashMap;

use align::{Origins, Walk};
use emit::Output;
use expand::From;
use lexer::{Dialect, Lexer, Token};
use macros::MacroTable;
use markers::{Line, Marker, Move};
use needed::gaps::{self, Gaps, Left};
use source::SourceText;

/// A unit ready to be compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// The tokens of the unit without line markers and macro definitions; to be compiled as
    /// already preprocessed (`-x cpp-output`).
    pub text: Vec<u8>,
    /// From positions in `text` to the user's files.
    pub map: SourceMap,
}

/// How much of a unit is to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// Without declarations that nothing in it needs.
    Needed,
}

/// Prepares the output of `clang -E -dD`. `read` gives the bytes of a source file that the
/// output names, or `None` where it is gone: then its lines are known and its columns not.
/// Lines of system headers are known without columns, too.
pub fn prepare(
    preprocessed: &[u8],
    extent: Extent,
    read: &mut dyn FnMut(&Path) -> Option<Vec<u8>>,
) -> Prepared {
    let needless = match extent {
        Extent::Whole => Vec::new(),
        Extent::Needed => needed::needless(preprocessed),
    };
    let sources = read_sources(preprocessed, read);
    let mut unit = Unit {
        table: MacroTable::new(),
        output: Output::new(preprocessed.len()),
        sources: &sources,
        files: Vec::new(),
        origins: Vec::new(),
    };
    let mut gaps = Gaps::new(&needless);
    for line in lines(preprocessed) {
        let left_out = gaps.next_line(line);
        unit.line(line, &left_out);
    }
    unit.output.finish()
}

type Sources = FxHashMap<PathBuf, Option<SourceText>>;

/// Reads every file outside the system's directories that the output names.
fn read_sources(preprocessed: &[u8], read: &mut dyn FnMut(&Path) -> Option<Vec<u8>>) -> Sources {
    let mut sources = Sources::default();
    for line in lines(preprocessed).filter(|line| line.starts_with(b"# ")) {
        if let Line::Marker(Marker { path, is_system: false, .. }) = markers::classify(line)
            && !path.as_os_str().as_encoded_bytes().starts_with(b"<")
            && !sources.contains_key(&path)
        {
            // Positions in the file are kept in 32 bits.
            let bytes = read(&path).filter(|bytes| bytes.len() < u32::MAX as usize);
            sources.insert(path, bytes.map(SourceText::new));
        }
    }
    sources
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = &rest[..end];
        rest = &rest[(end + 1).min(rest.len())..];
        Some(line)
    })
}

/// A file being included, or the main file.
struct OpenFile<'a> {
    path: PathBuf,
    source: Option<&'a SourceText>,
    walk: Option<Walk<'a>>,
    /// What the preprocessor calls the current place: `#line` may say otherwise than `path`.
    presumed: PathBuf,
    line: u32,
    /// The physical line up to which `push_macro` and `pop_macro` were obeyed.
    n_passed: u32,
    index: u32,
    is_system: bool,
}

struct Unit<'a> {
    table: MacroTable<'a>,
    output: Output,
    sources: &'a Sources,
    files: Vec<OpenFile<'a>>,
    /// Reused from line to line.
    origins: Origins,
}

impl<'a> Unit<'a> {
    fn line(&mut self, line: &'a [u8], left_out: &Left) {
        self.pass_macro_pragmas();
        match markers::classify(line) {
            Line::Marker(marker) => return self.marker(marker),
            Line::Define(definition) => self.table.define(definition),
            Line::Undefine(name) => self.table.undefine(name),
            Line::Directive => self.keep_directive(line),
            Line::Blank => {}
            Line::Code => match left_out {
                Left::Nothing => self.code(line, &[]),
                Left::Parts(parts) => self.code(line, parts),
                Left::All => {}
            },
        }
        if let Some(file) = self.files.last_mut() {
            file.line = file.line.saturating_add(1);
        }
    }

    /// Acts on the `push_macro` and `pop_macro` of the source up to the current line.
    fn pass_macro_pragmas(&mut self) {
        if let Some(file) = self.files.last_mut()
            && let Some(source) = file.source
            && source.has_macro_pragmas()
        {
            let from = file.n_passed;
            let to = source.physical_line(&file.path, &file.presumed, file.line, from);
            source.macro_pragmas(from, to).for_each(|pragma| self.table.push_or_pop(pragma));
            file.n_passed = from.max(to);
        }
    }

    fn marker(&mut self, marker: Marker) {
        if marker.moves == Move::Returns && self.files.len() > 1 {
            self.files.pop();
        }
        if marker.moves == Move::Enters || self.files.is_empty() {
            let source = self.sources.get(&marker.path).and_then(Option::as_ref);
            self.files.push(OpenFile {
                path: marker.path.clone(),
                source,
                walk: None,
                presumed: PathBuf::new(),
                line: 0,
                n_passed: 0,
                index: 0,
                is_system: false,
            });
        }
        let Some(file) = self.files.last_mut() else { return };
        if file.presumed != marker.path || file.is_system != marker.is_system || file.line == 0 {
            file.index = self.output.file(&marker.path, marker.is_system);
            file.is_system = marker.is_system;
            file.presumed = marker.path;
        }
        file.line = marker.line;
    }

    fn keep_directive(&mut self, line: &[u8]) {
        let position = self.files.last().map(|file| line_position(file, Origin::Plain));
        self.output.whole_line(line, position);
    }

    /// A line of code but for the parts `left_out`. These are looked up in the sources all
    /// the same, because a line is followed there from its beginning.
    fn code(&mut self, line: &'a [u8], left_out: &[Range<usize>]) {
        let dialect = self.table.dialect();
        let shown = gaps::without(line, left_out);
        let Some(file) = self.files.last_mut() else {
            return self.output.whole_line(&shown, None);
        };
        let start = if file.is_system { None } else { line_start(file, dialect) };
        if start.is_none() && line.len() < emit::MAX_COLUMN {
            return self.output.whole_line(&shown, Some(line_position(file, Origin::Plain)));
        }
        let mut lexer = Lexer::new(line, printed(dialect));
        let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next_token()).collect();
        self.origins.clear();
        let mut presumed_shift = 0;
        if let Some(start) = start {
            presumed_shift = i64::from(file.line) - i64::from(start.line());
            let first = file.source.and_then(|source| source.lexer_at(1, dialect));
            let walk = file.walk.get_or_insert_with(|| Walk::new(first.unwrap_or(start)));
            walk.align(start, &tokens, &mut self.table, &mut self.output, &mut self.origins);
        }
        self.origins.resize(tokens.len(), None);
        let is_shown = |token: &Token| !left_out.iter().any(|part| part.contains(&token.start));
        let (places, positions): (Vec<_>, Vec<_>) = tokens
            .iter()
            .zip(&self.origins)
            .filter(|(token, _)| is_shown(token))
            .map(|(token, origin)| {
                ((token.start, token.end), token_position(file, *origin, presumed_shift))
            })
            .unzip();
        self.output.code_line(&shown, &places, &positions);
    }
}

/// The compiler prints tokens with continuations and trigraphs replaced already.
fn printed(dialect: Dialect) -> Dialect {
    Dialect { trigraphs: false, ..dialect }
}

/// A lexer at the source line that the current output line begins with.
fn line_start<'a>(file: &OpenFile<'a>, dialect: Dialect) -> Option<Lexer<'a>> {
    let source = file.source?;
    let from = file.walk.as_ref().map_or(1, Walk::line);
    let physical = source.physical_line(&file.path, &file.presumed, file.line, from);
    source.lexer_at(physical, dialect)
}

fn line_position(file: &OpenFile, origin: Origin<u32>) -> SourcePosition {
    SourcePosition { file: file.index, line: file.line, column: 0, origin }
}

fn token_position(file: &OpenFile, from: Option<From>, shift: i64) -> SourcePosition {
    let (line, column, origin) = match from {
        None => return line_position(file, Origin::Plain),
        Some(From::Source { line, column, argument_of: None }) => (line, column, Origin::Plain),
        Some(From::Source { line, column, argument_of: Some(name) }) => {
            (line, column, Origin::Argument(name))
        }
        Some(From::Body { name, line, column }) => (line, column, Origin::Body(name)),
    };
    let line = u32::try_from(i64::from(line) + shift).unwrap_or(0);
    SourcePosition { file: file.index, line, column, origin }
}
