//! Reads the table's notation.

use rustc_hash::FxHashMap;

use super::{Callback, External, Returned};

/// One entry a line: names separated by commas, then words.
pub(super) fn parse(text: &'static str) -> FxHashMap<&'static str, External> {
    let mut table = FxHashMap::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let names = words.next().unwrap_or_default();
        let mut external = External::default();
        for word in words {
            apply(word, &mut external);
        }
        for name in names.split(',') {
            table.insert(name, external.clone());
        }
    }
    table
}

fn apply(word: &str, external: &mut External) {
    match word {
        "noreturn" => external.never_returns = true,
        "fresh" => external.returned = Returned::Fresh,
        "alloc" => {
            external.returned = Returned::Fresh;
            external.is_allocator = true;
        }
        "static" => external.returned = Returned::Static,
        _ => apply_with_argument(word, external),
    }
}

fn apply_with_argument(word: &str, external: &mut External) {
    let split = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (kind, rest) = word.split_at(split);
    match kind {
        "ret" => external.returned = Returned::Argument(digit(rest)),
        "in" => external.returned = Returned::Within(digit(rest)),
        "deref" => external.returned = Returned::Pointee(digit(rest)),
        "w" if rest.ends_with('+') => external.writes_from = Some(digit(rest)),
        "w" => external.writes.push(digit(rest)),
        "r" if rest.ends_with('+') => external.reads_from = Some(digit(rest)),
        "r" => external.reads.push(digit(rest)),
        "n" => external.size_argument = Some(digit(rest)),
        "f" => external.frees.push(digit(rest)),
        "k" => external.keeps.push(digit(rest)),
        "c" => external.copies.push((Some(digit(rest)), last_digit(rest))),
        "cr" => external.copies.push((None, digit(rest))),
        "s" => external.stores.push((digit(rest), last_digit(rest))),
        "cb" | "thread" => external.callbacks.push(Callback {
            argument: digit(rest),
            passes: rest.bytes().skip(1).filter_map(digit_of).collect(),
            is_thread: kind == "thread",
        }),
        _ => debug_assert!(false, "unknown word {word:?} in the table of externals"),
    }
}

fn digit(text: &str) -> u8 {
    text.bytes().find_map(digit_of).unwrap_or(0)
}

fn last_digit(text: &str) -> u8 {
    text.bytes().rev().find_map(digit_of).unwrap_or(0)
}

fn digit_of(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}
