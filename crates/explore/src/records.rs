//! Lines and arguments that runs were new with, one of each form.
//!
//! Programs that keep state are told what to do line by line, or argument by argument: faults
//! show where a few of these come in the right order about the same names, and each alone is
//! nothing new any more.

use std::collections::BTreeMap;

use interpret::Stream;

use crate::dictionary::Dictionary;
use crate::numbers::Numbers;

/// Lines longer than this are data.
const LONGEST: usize = 80;
/// Forms that are kept.
const MAX_FORMS: usize = 48;
/// Records of one text.
const MAX_COMPOSED: usize = 8;

/// Names that records are about, instead of their own.
const NAMES: [&[u8]; 3] = [b"a", b"b", b"c"];

/// A record, and how much was new where it was met first.
#[derive(Clone, Debug)]
struct Record {
    text: Vec<u8>,
    gain: u32,
}

/// Records by form.
#[derive(Default)]
struct Forms {
    places: BTreeMap<Vec<u8>, usize>,
    records: Vec<Record>,
}

/// The forms of lines, and of arguments.
#[derive(Default)]
pub struct Records {
    lines: Forms,
    arguments: Forms,
}

impl Records {
    /// Takes up the records of a text with which a run was new.
    pub fn learn(&mut self, stream: Stream, text: &[u8], gain: u32, dictionary: &Dictionary) {
        if stream.length().is_none() {
            self.arguments.learn(text, gain, dictionary);
            return;
        }
        for line in text.split(|byte| *byte == b'\n') {
            self.lines.learn(line, gain, dictionary);
        }
    }

    /// A few lines behind one another.
    pub fn lines(&self, numbers: &mut Numbers, dictionary: &Dictionary) -> Option<Vec<u8>> {
        let mut all = self.lines.some(numbers, dictionary)?.join(&b'\n');
        all.push(b'\n');
        Some(all)
    }

    /// A few arguments.
    pub fn arguments(
        &self,
        numbers: &mut Numbers,
        dictionary: &Dictionary,
    ) -> Option<Vec<Vec<u8>>> {
        self.arguments.some(numbers, dictionary)
    }
}

impl Forms {
    fn learn(&mut self, text: &[u8], gain: u32, dictionary: &Dictionary) {
        if text.is_empty() || text.len() > LONGEST {
            return;
        }
        let form = form_of(text, dictionary);
        if let Some(known) = self.places.get(&form) {
            let known = &mut self.records[*known];
            if text.len() < known.text.len() {
                known.text = text.to_vec();
            }
        } else if self.records.len() < MAX_FORMS {
            self.places.insert(form, self.records.len());
            self.records.push(Record { text: text.to_vec(), gain });
        }
    }

    fn some(&self, numbers: &mut Numbers, dictionary: &Dictionary) -> Option<Vec<Vec<u8>>> {
        let n = 2 + numbers.below(MAX_COMPOSED - 1);
        (0..n).map(|_| self.one(numbers, dictionary)).collect()
    }

    /// One of those that were new with more, mostly; with names and numbers that others have.
    fn one(&self, numbers: &mut Numbers, dictionary: &Dictionary) -> Option<Vec<u8>> {
        let (first, second) = (numbers.one_of(&self.records)?, numbers.one_of(&self.records)?);
        let is_first = first.gain >= second.gain || numbers.once_in(3);
        let text = &(if is_first { first } else { second }).text;
        let mut made = Vec::new();
        for part in parts(text) {
            match kind_of(part, dictionary) {
                Kind::Name if !numbers.once_in(6) => made.extend(*numbers.one_of(&NAMES)?),
                Kind::Number if numbers.once_in(3) => {
                    made.extend((1 + numbers.below(3)).to_string().bytes());
                }
                _ => made.extend(part),
            }
        }
        // With one part more it may be of a form that was not met yet.
        if numbers.once_in(6) {
            made.push(b' ');
            match numbers.below(3) {
                0 => made.extend((1 + numbers.below(9)).to_string().bytes()),
                1 => made.extend(*numbers.one_of(&NAMES)?),
                _ => made.extend(numbers.one_of(&dictionary.words).into_iter().flatten()),
            }
        }
        Some(made)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A word the program knows, or what stands between words.
    Fixed,
    Name,
    Number,
}

fn kind_of(part: &[u8], dictionary: &Dictionary) -> Kind {
    if part.iter().all(u8::is_ascii_digit) {
        Kind::Number
    } else if !part.iter().all(|byte| is_of_word(*byte)) || dictionary.knows(part) {
        Kind::Fixed
    } else {
        Kind::Name
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Words, and what stands between them.
fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.chunk_by(|a, b| is_of_word(*a) == is_of_word(*b))
}

/// A text with its names and numbers left open.
fn form_of(text: &[u8], dictionary: &Dictionary) -> Vec<u8> {
    let mut form = Vec::new();
    for part in parts(text) {
        match kind_of(part, dictionary) {
            Kind::Fixed => form.extend(part),
            Kind::Name => form.push(0),
            Kind::Number => form.push(1),
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary() -> Dictionary {
        let words = [b"add".to_vec(), b"up".to_vec(), b"go ".to_vec()];
        Dictionary { words: words.into(), ..Dictionary::default() }
    }

    #[test]
    fn records_of_one_form_are_one() {
        let dictionary = dictionary();
        let form = |text: &[u8]| form_of(text, &dictionary);
        assert_eq!(form(b"add x 12"), form(b"add yy 7"));
        assert_ne!(form(b"add x 12"), form(b"up x 12"));
        assert_eq!(form(b"go x"), form(b"go yy"));
        assert_ne!(form(b"add x"), form(b"add x y"));
    }

    #[test]
    fn records_come_in_any_order_about_the_same_names() {
        let dictionary = dictionary();
        let mut records = Records::default();
        records.learn(Stream::Stdin, b"add xyz\nup\n", 1, &dictionary);
        let mut numbers = Numbers::new(0);
        let made = |_| records.lines(&mut numbers, &dictionary);
        let made: Vec<Vec<u8>> = (0..5000).filter_map(made).collect();
        assert!(made.contains(&b"up\nadd a\nadd a\n".to_vec()));
        assert!(records.arguments(&mut numbers, &dictionary).is_none());
    }
}
