//! Which declarations of a preprocessed unit nothing in it needs.
//!
//! Most of a unit's text are headers, most of what headers declare is never mentioned, and
//! parsing it is most of the compiler's work. What a unit defines is a root; whatever a kept
//! declaration mentions by name is kept too, wherever and however often it is declared. Only
//! what is recognised for certain is left out, so that the compiler's output stays the same:
//! typedefs, tags, prototypes, `extern` variables, and functions that are `static`.

mod chunks;
pub mod gaps;
mod outline;

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::lexer::{Dialect, Kind, Lexer, is_ident_byte};
use super::lines;
use chunks::Chunks;
use outline::{Role, is_keyword};

/// In valid C no quote follows a number but as a separator of digits.
const DIALECT: Dialect = Dialect {
    trigraphs: false,
    digit_separators: true,
    no_line_comments: false,
    keeps_lone_comma: false,
};

/// Types clang itself looks for when it declares a function of the C library.
const KNOWN_TO_CLANG: [&[u8]; 4] = [b"FILE", b"jmp_buf", b"sigjmp_buf", b"ucontext_t"];

/// The parts of `text`, the preprocessor's output, that may be left out, in their order.
/// None where the text is not understood.
pub fn needless(text: &[u8]) -> Vec<Range<usize>> {
    let mut unit = Unit::default();
    unit.wanted.extend(KNOWN_TO_CLANG);
    match unit.read(text) {
        Some(()) => unit.unwanted(text),
        None => Vec::new(),
    }
}

/// A token with its place in the whole text.
#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a [u8],
    kind: Kind,
    start: usize,
    end: usize,
}

#[derive(Default)]
struct Unit<'a> {
    /// What may be left out, and the chunks that declare a name.
    needless: Vec<Range<usize>>,
    declared_by: FxHashMap<&'a [u8], Vec<u32>>,
    tags: FxHashSet<&'a [u8]>,
    wanted: FxHashSet<&'a [u8]>,
}

impl<'a> Unit<'a> {
    fn read(&mut self, text: &'a [u8]) -> Option<()> {
        let mut chunks = Chunks::default();
        let mut offset = 0;
        for line in lines(text) {
            match is_directive(line) {
                true => self.directive(line),
                false => {
                    for word in words(line, offset) {
                        if chunks.push(word)? {
                            self.chunk(&mut chunks);
                        }
                    }
                }
            }
            offset += line.len() + 1;
        }
        self.chunk(&mut chunks);
        chunks.is_balanced().then_some(())
    }

    /// A pragma may name what it speaks of.
    fn directive(&mut self, line: &'a [u8]) {
        if line.starts_with(b"#pragma") {
            self.mention(words(line, 0));
        }
    }

    fn chunk(&mut self, chunks: &mut Chunks<'a>) {
        let Some(range) = chunks.range() else { return };
        let outline = chunks.outline();
        let index = self.needless.len() as u32;
        let role = chunks.role(&outline);
        let first_tags =
            outline.tags.iter().filter(|tag| self.tags.insert(tag.name) || tag.is_defined);
        let tags: Vec<&[u8]> = first_tags.map(|tag| tag.name).collect();
        match role {
            Role::Kept => self.mention(chunks.words().iter().copied()),
            Role::Declares(names) => {
                for name in names.into_iter().chain(tags).chain(outline.enumerators) {
                    self.declared_by.entry(name).or_default().push(index);
                }
                self.needless.push(range);
            }
        }
        chunks.clear();
    }

    fn mention(&mut self, words: impl Iterator<Item = Word<'a>>) {
        mentions(words, |name| {
            self.wanted.insert(name);
        });
    }

    /// What is left when everything wanted is taken, and what that wants in turn.
    fn unwanted(self, text: &'a [u8]) -> Vec<Range<usize>> {
        let Self { needless, declared_by, mut wanted, .. } = self;
        let mut is_needed = vec![false; needless.len()];
        let mut open: Vec<&[u8]> = wanted.iter().copied().collect();
        while let Some(name) = open.pop() {
            for &chunk in declared_by.get(name).into_iter().flatten() {
                let chunk = chunk as usize;
                if !std::mem::replace(&mut is_needed[chunk], true) {
                    let range = needless[chunk].clone();
                    mentions(words_in(text, range), |name| {
                        if wanted.insert(name) {
                            open.push(name);
                        }
                    });
                }
            }
        }
        let is_left = needless.into_iter().zip(is_needed).filter(|(_, is_needed)| !is_needed);
        is_left.map(|(range, _)| range).collect()
    }
}

/// The names that `words` mention. One in quotes may be a name, too: `alias("f")`.
fn mentions<'a>(words: impl Iterator<Item = Word<'a>>, mut name: impl FnMut(&'a [u8])) {
    for word in words {
        match word.kind {
            Kind::Ident if !is_keyword(word.text) => name(word.text),
            Kind::Literal => quoted_name(word.text).into_iter().for_each(&mut name),
            _ => {}
        }
    }
}

fn quoted_name(literal: &[u8]) -> Option<&[u8]> {
    let text = literal.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    text.iter().all(|&byte| is_ident_byte(byte)).then_some(text)
}

fn is_directive(line: &[u8]) -> bool {
    line.starts_with(b"#")
}

fn words(line: &[u8], offset: usize) -> impl Iterator<Item = Word<'_>> {
    let mut lexer = Lexer::new(line, DIALECT);
    std::iter::from_fn(move || {
        let token = lexer.next_token()?;
        Some(Word {
            text: &line[token.start..token.end],
            kind: token.kind,
            start: offset + token.start,
            end: offset + token.end,
        })
    })
}

fn words_in(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Word<'_>> {
    lines(&text[range]).filter(|line| !is_directive(line)).flat_map(|line| words(line, 0))
}
