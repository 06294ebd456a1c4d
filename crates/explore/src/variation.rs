//! Inputs made from those that went far, without asking the solver: words of the program put in,
//! numbers replaced, lines and blocks repeated, inputs mixed.
//!
//! A decision turned around changes a run by one step, and where only many lines of the right
//! kinds lead on, nothing tells which step was right. What earlier runs read holds such lines.
//! The choices follow from a fixed sequence of numbers, so that every search is the same.

use interpret::{Input, Inputs, Limits, Stream};

use crate::corpus::Entry;
use crate::dictionary::Dictionary;
use crate::numbers::Numbers;
use crate::pieces::{line_ends, name, numerals, tokens};
use crate::records::Records;
use crate::streams::{is_of_text, n_arguments, streams, text as text_of, write};

/// Changes of one input.
const MAX_CHANGES: usize = 3;
/// Times that something is repeated.
const MAX_TIMES: usize = 8;
/// Digits of a number of 32 bits, and one that may become its sign.
const WIDEST: usize = 11;
/// Numerals of one text that are made that wide.
const MAX_PADDED: usize = 6;

pub struct Variations {
    pub numbers: Numbers,
    dictionary: Dictionary,
    records: Records,
}

impl Variations {
    pub fn new(seed: u64, dictionary: Dictionary) -> Self {
        Self { numbers: Numbers::new(seed), dictionary, records: Records::default() }
    }

    /// Takes up what a run read that showed so much for the first time.
    pub fn learn(&mut self, entry: &Entry, gain: u32, limits: &Limits) {
        for stream in streams(&entry.inputs, limits) {
            let text = text_of(&entry.inputs, stream, limits);
            self.records.learn(stream, &text, gain, &self.dictionary);
        }
    }

    /// An input like `base` with a few lines or arguments of other runs in place of its own, or
    /// behind them.
    pub fn composed(&mut self, base: &Entry, _: &Entry, limits: &Limits) -> Inputs {
        let mut inputs = (*base.inputs).clone();
        let stream = self.stream(&inputs, base, limits);
        let Self { numbers, dictionary, records } = self;
        if let Stream::Argument(first) = stream
            && let Some(all) = records.arguments(numbers, dictionary)
        {
            let first = if numbers.once_in(2) { 1 } else { first };
            let count = (first as usize - 1 + all.len()).min(limits.arguments as usize);
            inputs.set(Input::ArgumentCount, count as u128);
            for (index, argument) in (first..=count as u32).zip(all) {
                write(&mut inputs, Stream::Argument(index), limits, &argument);
            }
        } else if let Some(lines) = records.lines(numbers, dictionary) {
            let mut text = Vec::new();
            if numbers.once_in(3) {
                text = text_of(&inputs, stream, limits);
                if !matches!(text.last(), None | Some(b'\n')) {
                    text.push(b'\n');
                }
            }
            text.extend(lines);
            write(&mut inputs, stream, limits, &text);
        }
        inputs
    }

    /// An input like `base`, mixed with another.
    pub fn next(&mut self, base: &Entry, other: &Entry, limits: &Limits) -> Inputs {
        let mut inputs = (*base.inputs).clone();
        for _ in 0..1 + self.numbers.below(MAX_CHANGES) {
            if self.numbers.once_in(10) {
                self.change_scalar(&mut inputs, base, other, limits);
                continue;
            }
            let stream = self.stream(&inputs, base, limits);
            let others = self.other_text(&other.inputs, stream, limits);
            let text = self.changed(text_of(&inputs, stream, limits), &others, stream);
            write(&mut inputs, stream, limits, &text);
        }
        inputs
    }

    /// As [`next`](Self::next), with one part repeated so often that an object of the program
    /// or a limit it compares with is met.
    pub fn stretched(&mut self, base: &Entry, other: &Entry, limits: &Limits) -> Inputs {
        let mut inputs = (*base.inputs).clone();
        let stream = self.stream(&inputs, base, limits);
        let mut text = text_of(&inputs, stream, limits);
        if self.numbers.once_in(3) {
            let others = self.other_text(&other.inputs, stream, limits);
            text = self.changed(text, &others, stream);
        }
        let text = match self.numbers.below(4) {
            0 => self.filled(text),
            1 => self.series(text, stream),
            2 => self.nested(text, stream),
            _ => self.repeated(text, stream),
        };
        write(&mut inputs, stream, limits, &text);
        inputs
    }

    /// What one run reads, and behind it what another does.
    pub fn joined(&mut self, first: &Entry, second: &Entry, limits: &Limits) -> Inputs {
        let mut inputs = (*first.inputs).clone();
        for stream in streams(&second.inputs, limits) {
            let more = text_of(&second.inputs, stream, limits);
            if stream.length().is_none() || more.is_empty() {
                continue;
            }
            let mut text = text_of(&inputs, stream, limits);
            let has_lines = text.contains(&b'\n') || more.contains(&b'\n');
            if has_lines && !matches!(text.last(), None | Some(b'\n')) {
                text.push(b'\n');
            }
            text.extend(more);
            // A name that is used again is what makes two commands meet.
            if self.numbers.once_in(3) {
                text = self.with_token_again(text);
            }
            write(&mut inputs, stream, limits, &text);
        }
        inputs
    }

    /// Inputs where one byte is that of a decision that was turned around: the byte repeated, in
    /// place of those behind it or before them.
    pub fn continued(
        &mut self,
        inputs: &Inputs,
        (stream, at): (Stream, usize),
        limits: &Limits,
    ) -> Option<Inputs> {
        let mut text = text_of(inputs, stream, limits);
        let byte = *text.get(at)?;
        let count = self.count();
        if self.numbers.once_in(2) {
            let end = (at + count).max(at + 1);
            text.resize(text.len().max(end.min(1 << 12)), byte);
            let end = end.min(text.len());
            text[at..end].fill(byte);
        } else {
            text.splice(at..at, vec![byte; count]);
        }
        let mut made = inputs.clone();
        write(&mut made, stream, limits, &text);
        Some(made)
    }

    /// Most programs read more than they are told by arguments.
    fn stream(&mut self, inputs: &Inputs, entry: &Entry, limits: &Limits) -> Stream {
        let mut all = streams(inputs, limits);
        all.retain(|s| *s != Stream::Stdin || entry.streams.is_empty());
        all.extend(entry.streams.iter().copied());
        if !self.numbers.once_in(3) {
            let read = all.iter().filter(|stream| stream.length().is_some()).copied();
            let read: Vec<Stream> = read.collect();
            if let Some(stream) = self.numbers.one_of(&read) {
                return *stream;
            }
        }
        self.numbers.one_of(&all).copied().unwrap_or(Stream::Stdin)
    }

    /// The same stream of another input, or any of its streams.
    fn other_text(&mut self, other: &Inputs, stream: Stream, limits: &Limits) -> Vec<u8> {
        let same = text_of(other, stream, limits);
        if !same.is_empty() && !self.numbers.once_in(4) {
            return same;
        }
        let all = streams(other, limits);
        text_of(other, self.numbers.one_of(&all).copied().unwrap_or(stream), limits)
    }

    fn changed(&mut self, mut text: Vec<u8>, others: &[u8], stream: Stream) -> Vec<u8> {
        match self.numbers.below(16) {
            0 => {
                if stream.length().is_some() && !matches!(text.last(), None | Some(b'\n')) {
                    text.push(b'\n');
                }
                text.extend(others);
                text
            }
            1 => self.lines_repeated(text),
            2 if !text.is_empty() => {
                let at = self.numbers.below(text.len());
                let more = match self.numbers.once_in(2) {
                    true => 1 << self.numbers.below(7),
                    false => 1 + self.numbers.below(MAX_TIMES),
                };
                let more = vec![text[at]; more];
                text.splice(at..at, more);
                text
            }
            3 if !text.is_empty() => {
                let at = self.numbers.below(text.len());
                text[at] = self.byte(others, text[at]);
                text
            }
            4 if !text.is_empty() => {
                let start = self.numbers.below(text.len());
                let from = self.numbers.below(others.len());
                text.truncate(start);
                text.extend(others.get(from..).unwrap_or_default());
                text
            }
            5 | 6 => self.with_word(text),
            7 | 8 => self.with_number(text),
            9 if !text.is_empty() => {
                let (start, end) = self.block(&text);
                text.drain(start..end);
                text
            }
            10 => self.with_block(text, others),
            11 => self.lines_moved(text),
            12 => self.repeated(text, stream),
            13 | 14 => self.with_token_again(text),
            15 => self.line_again(text, others),
            _ if text.is_empty() => others.to_vec(),
            _ => self.with_word(text),
        }
    }

    fn byte(&mut self, others: &[u8], old: u8) -> u8 {
        let at = self.numbers.below(256);
        match self.numbers.below(6) {
            0 => old ^ 1 << (at % 8),
            1 => old.wrapping_add(1),
            2 => old.wrapping_sub(1),
            3 => at as u8,
            4 => self.numbers.one_of(others).copied().unwrap_or(b'0'),
            _ => self.numbers.one_of(&self.dictionary.characters).copied().unwrap_or(b'a'),
        }
    }

    /// A number of the program, or one near it.
    fn number(&mut self) -> i128 {
        match self.numbers.below(8) {
            0 => self.numbers.below(256) as i128,
            1 => self.numbers.one_of(&self.dictionary.counts).map_or(1, |count| *count as i128),
            _ => self.numbers.one_of(&self.dictionary.numbers).copied().unwrap_or(0),
        }
    }

    /// A number in place of one that stands there, in digits or in bytes.
    fn with_number(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let number = self.number();
        let digits = numerals(&text);
        if !self.numbers.once_in(3)
            && let Some((start, end)) = self.numbers.one_of(&digits).copied()
        {
            let told = match self.numbers.below(8) {
                0 => format!("{:x}", number.unsigned_abs()),
                _ => number.to_string(),
            };
            text.splice(start..end, told.bytes());
            return text;
        }
        let width = 1usize << self.numbers.below(4);
        let mut bytes = number.to_le_bytes()[..width].to_vec();
        if self.numbers.once_in(2) {
            bytes.reverse();
        }
        let at = self.numbers.below(text.len() + 1);
        let end = (at + width).min(text.len());
        text.splice(at..end, bytes);
        text
    }

    /// A word put in, or in place of another.
    fn with_word(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let word = match self.numbers.below(5) {
            0 => self.numbers.one_of(&self.dictionary.characters).map(|byte| vec![*byte]),
            1 => self.numbers.one_of(&self.dictionary.options).cloned(),
            2 => Some(self.number().to_string().into_bytes()),
            _ => self.numbers.one_of(&self.dictionary.words).cloned(),
        };
        let Some(word) = word.or_else(|| self.numbers.one_of(&self.dictionary.words).cloned())
        else {
            return text;
        };
        let tokens = tokens(&text);
        match (self.numbers.below(3), self.numbers.one_of(&tokens).copied()) {
            (0, Some((start, end))) => drop(text.splice(start..end, word)),
            (1, Some((_, end))) => {
                let between = match self.numbers.below(4) {
                    0 => None,
                    1 => self.numbers.one_of(&self.dictionary.characters).copied(),
                    _ => Some(b' '),
                };
                drop(text.splice(end..end, between.into_iter().chain(word)));
            }
            _ => {
                let at = self.numbers.below(text.len() + 1);
                let covered = if self.numbers.once_in(2) { word.len() } else { 0 };
                text.splice(at..(at + covered).min(text.len()), word);
            }
        }
        text
    }

    /// Part of another text put in.
    fn with_block(&mut self, mut text: Vec<u8>, others: &[u8]) -> Vec<u8> {
        if others.is_empty() {
            return text;
        }
        let (from, to) = self.block(others);
        let at = match self.numbers.once_in(2) {
            true => *self.numbers.one_of(&line_ends(&text)).unwrap_or(&0),
            false => self.numbers.below(text.len() + 1),
        };
        text.splice(at..at, others[from..to].iter().copied());
        text
    }

    /// A part of a text that belongs together: a line, a token, or any bytes.
    fn block(&mut self, text: &[u8]) -> (usize, usize) {
        let ends = line_ends(text);
        let choice = self.numbers.below(4);
        if choice == 0 && ends.len() > 1 {
            let at = self.numbers.below(ends.len() - 1);
            return (ends[at], ends[at + 1]);
        }
        if choice == 1
            && let Some(token) = self.numbers.one_of(&tokens(text))
        {
            return *token;
        }
        let start = self.numbers.below(text.len());
        let longest = (text.len() - start).min(if choice == 2 { 4 } else { 64 });
        (start, (start + 1 + self.numbers.below(longest)).min(text.len()))
    }

    fn lines_repeated(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let ends = line_ends(&text);
        let (a, b) = (self.numbers.below(ends.len()), self.numbers.below(ends.len()));
        let (start, end) = (ends[a.min(b)], ends[a.max(b)]);
        let lines = text[start..end].to_vec();
        let times = 1 + self.numbers.below(MAX_TIMES);
        text.splice(end..end, lines.repeat(times));
        text
    }

    fn lines_moved(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let ends = line_ends(&text);
        if ends.len() < 3 {
            return self.with_word(text);
        }
        let at = self.numbers.below(ends.len() - 1);
        let line: Vec<u8> = text.drain(ends[at]..ends[at + 1]).collect();
        let ends = line_ends(&text);
        let to = *self.numbers.one_of(&ends).unwrap_or(&0);
        text.splice(to..to, line);
        text
    }

    /// A token in place of another, as where a name is used again.
    fn with_token_again(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let all = tokens(&text);
        let (Some(from), Some(to)) =
            (self.numbers.one_of(&all).copied(), self.numbers.one_of(&all).copied())
        else {
            return self.with_word(text);
        };
        let token = text[from.0..from.1].to_vec();
        text.splice(to.0..to.1, token);
        text
    }

    /// A line once more, behind itself or at the end, with one of its parts changed.
    fn line_again(&mut self, mut text: Vec<u8>, others: &[u8]) -> Vec<u8> {
        if text.is_empty() {
            return others.to_vec();
        }
        if text.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        let ends = line_ends(&text);
        let at = self.numbers.below(ends.len() - 1);
        let line = text[ends[at]..ends[at + 1]].to_vec();
        let line = match self.numbers.below(4) {
            0 => line,
            1 => self.with_number(line),
            2 => {
                let all = tokens(&text);
                let token = self.numbers.one_of(&all).map(|(a, b)| text[*a..*b].to_vec());
                let own = tokens(&line);
                let mut line = line;
                if let Some((token, (start, end))) = token.zip(self.numbers.one_of(&own).copied()) {
                    line.splice(start..end, token);
                }
                line
            }
            _ => self.with_word(line),
        };
        let to = if self.numbers.once_in(2) { ends[at + 1] } else { text.len() };
        text.splice(to..to, line);
        text
    }

    /// How often something is repeated: small numbers more often, since they cost less.
    fn count(&mut self) -> usize {
        let one = |numbers: &mut Numbers, counts: &[usize]| match numbers.below(5) {
            0 => 1 << numbers.below(10),
            1 => 1 + numbers.below(12),
            _ => numbers.one_of(counts).copied().unwrap_or(16),
        };
        let counts = &self.dictionary.counts;
        let (a, b) = (one(&mut self.numbers, counts), one(&mut self.numbers, counts));
        if self.numbers.once_in(4) { a } else { a.min(b) }
    }

    /// One byte over a range as long as an object of the program.
    fn filled(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        let count = self.count();
        // Members of a record begin where its bytes change.
        let changes = (1..text.len()).filter(|at| text[*at] != text[at - 1]);
        let starts: Vec<usize> = std::iter::once(0).chain(changes).collect();
        let at = match self.numbers.once_in(2) {
            true => self.numbers.one_of(&starts).copied().unwrap_or(0),
            false => self.numbers.below(text.len() + 1),
        };
        let old = text.get(at).copied().unwrap_or(b'a');
        let byte = if self.numbers.once_in(2) { self.byte(&[], old) } else { old };
        text.resize(text.len().max(at + count).min(1 << 13), byte);
        let end = (at + count).min(text.len());
        text[at.min(end)..end].fill(byte);
        text
    }

    /// A line or word many times, each time with another name or number in it.
    fn series(&mut self, mut text: Vec<u8>, stream: Stream) -> Vec<u8> {
        let words = tokens(&text);
        let Some((start, end)) = self.numbers.one_of(&words).copied() else {
            return self.repeated(text, stream);
        };
        let ends = line_ends(&text);
        let line = ends.iter().rposition(|at| *at <= start).unwrap_or(0);
        let whole = (ends[line], ends.get(line + 1).copied().unwrap_or(text.len()));
        let is_line = self.numbers.once_in(2);
        let (from, to) = if is_line { whole } else { (start, (end + 1).min(text.len())) };
        let (before, mut behind) = (text[from..start].to_vec(), text[end..to].to_vec());
        if behind.last().is_none_or(u8::is_ascii_alphanumeric) {
            behind.push(if is_line { b'\n' } else { b' ' });
        }
        let told = String::from_utf8_lossy(&text[start..end]).into_owned();
        let first = told.parse::<u32>().ok().map(u64::from);
        let is_falling = first.is_some() && self.numbers.once_in(2);
        let most = if stream.length().is_some() { 1 << 13 } else { 1 << 10 };
        let (count, mut made) = (self.count() as u64, Vec::new());
        for at in 0..count {
            made.extend(&before);
            match first {
                Some(first) if is_falling => made.extend((first + count - at).to_string().bytes()),
                Some(first) => made.extend((first + at).to_string().bytes()),
                None => made.extend(name(at)),
            }
            made.extend(&behind);
            if made.len() > most {
                break;
            }
        }
        text.splice(from..to, made);
        text
    }

    /// What stands around a part many times, as brackets do.
    fn nested(&mut self, mut text: Vec<u8>, stream: Stream) -> Vec<u8> {
        if text.len() < 2 {
            return self.repeated(text, stream);
        }
        let near = |numbers: &mut Numbers, from: usize| from + numbers.below(4);
        let first = self.numbers.below(text.len() - 1);
        let inner = (near(&mut self.numbers, first) + 1).min(text.len() - 1);
        let behind = match self.numbers.once_in(2) {
            true => near(&mut self.numbers, inner).min(text.len() - 1),
            false => inner + self.numbers.below(text.len() - inner),
        };
        let last = (near(&mut self.numbers, behind) + 1).min(text.len());
        let most = if stream.length().is_some() { 1 << 13 } else { 1 << 10 };
        let times = self.count().min(most / (inner - first + last - behind));
        let (before, after) = (text[first..inner].to_vec(), text[behind..last].to_vec());
        text.splice(behind..behind, after.repeat(times));
        text.splice(first..first, before.repeat(times));
        text
    }

    /// A part repeated until it, or how often it stands there, meets a size of the program.
    fn repeated(&mut self, mut text: Vec<u8>, stream: Stream) -> Vec<u8> {
        if text.is_empty() {
            text.push(b'a');
        }
        let (start, end) = self.block(&text);
        let part = text[start..end].to_vec();
        let count = self.count();
        let times = match self.numbers.below(3) {
            // So many bytes of this part, of the line it stands in, or so many parts.
            0 => count.saturating_sub(part.len()).div_ceil(part.len()),
            1 => {
                let ends = line_ends(&text);
                let last = ends.iter().rposition(|at| *at <= start).unwrap_or(0);
                let behind = ends.get(last + 1).copied().unwrap_or(text.len());
                count.saturating_sub(behind - ends[last]) / part.len()
            }
            _ => count,
        };
        let most = if stream.length().is_some() { 1 << 13 } else { 1 << 10 };
        let most = if self.numbers.once_in(8) { most } else { most / 4 };
        let times = times.min(most / part.len());
        text.splice(end..end, part.repeat(times));
        text
    }

    /// What is no byte: how many arguments there are, what is set, is there and fails, what comes
    /// from outside.
    fn change_scalar(&mut self, inputs: &mut Inputs, base: &Entry, other: &Entry, limits: &Limits) {
        let n = n_arguments(inputs, limits);
        match self.numbers.below(7) {
            0 | 1 if n < limits.arguments => self.add_argument(inputs, n, limits),
            2 if n > 0 => inputs.set(Input::ArgumentCount, u128::from(n - 1)),
            3 => {
                for (input, value) in &other.inputs.0 {
                    if !is_of_text(*input) && self.numbers.once_in(2) {
                        inputs.set(*input, *value);
                    }
                }
            }
            4 if !base.failures.is_empty() => {
                if let Some(failure) = self.numbers.one_of(&base.failures) {
                    inputs.set(*failure, 1);
                }
            }
            5 => {
                let stream = self.numbers.one_of(&base.streams).copied();
                match stream {
                    Some(Stream::File(file)) => {
                        inputs.set(Input::Absent(file), 1 - inputs.get(Input::Absent(file)).min(1));
                    }
                    Some(Stream::Environment(variable)) => {
                        let is_set = Input::IsSet(variable);
                        inputs.set(is_set, 1 - inputs.get(is_set).min(1));
                    }
                    _ => {}
                }
            }
            _ => {
                let scalars = inputs.0.keys().copied();
                let scalars: Vec<Input> = scalars.filter(|i| !is_of_text(*i)).collect();
                let Some(input) = self.numbers.one_of(&scalars).copied() else { return };
                let value = match input {
                    Input::Fails { .. } => 0,
                    Input::IsNull(_) => 1 - inputs.get(input).min(1),
                    Input::ArgumentCount => self.numbers.below(limits.arguments as usize) as u128,
                    _ => (self.number() as u128) & u128::from(u64::MAX),
                };
                inputs.set(input, value);
            }
        }
    }

    fn add_argument(&mut self, inputs: &mut Inputs, n: u32, limits: &Limits) {
        inputs.set(Input::ArgumentCount, u128::from(n + 1));
        let word = match self.numbers.below(4) {
            0 => Some(self.number().to_string().into_bytes()),
            1 => self.numbers.one_of(&self.dictionary.words).cloned(),
            _ => self.numbers.one_of(&self.dictionary.options).cloned(),
        };
        let word = word.unwrap_or_else(|| b"a".to_vec());
        let at = 1 + self.numbers.below(n as usize + 1) as u32;
        for index in (at..=n).rev() {
            let text = text_of(inputs, Stream::Argument(index), limits);
            write(inputs, Stream::Argument(index + 1), limits, &text);
        }
        write(inputs, Stream::Argument(at), limits, &word);
    }
}

/// Numerals with zeros before them, so that there is room for any number of their type; `None`
/// where there are none.
pub fn padded(inputs: &Inputs, limits: &Limits) -> Option<Inputs> {
    let mut made = inputs.clone();
    let mut is_changed = false;
    for stream in streams(inputs, limits) {
        let mut text = text_of(inputs, stream, limits);
        let all = numerals(&text);
        if all.is_empty() || all.len() > MAX_PADDED {
            continue;
        }
        for (start, end) in all.into_iter().rev() {
            let start = start + usize::from(text[start] == b'-');
            let missing = WIDEST.saturating_sub(end - start);
            is_changed |= missing > 0;
            text.splice(start..start, vec![b'0'; missing]);
        }
        write(&mut made, stream, limits, &text);
    }
    is_changed.then_some(made)
}

#[cfg(test)]
mod tests;
