//! What variations make of inputs, for fixed sequences of numbers.

use std::rc::Rc;

use super::*;
use crate::pieces::runs_of;
use crate::search::BOUNDS;

fn input(text: &[u8]) -> Entry {
    let mut inputs = Inputs::default();
    write(&mut inputs, Stream::Stdin, &BOUNDS[1], text);
    Entry { inputs: Rc::new(inputs), ..Entry::default() }
}

fn made(dictionary: Dictionary, n: usize) -> Vec<Vec<u8>> {
    let inputs = [input(b"+\n"), input(b"-\n")];
    let mut variations = Variations::new(0, dictionary);
    let made = (0..n).map(|at| variations.next(&inputs[at % 2], &inputs[at / 2 % 2], &BOUNDS[1]));
    made.map(|made| text_of(&made, Stream::Stdin, &BOUNDS[1])).collect()
}

#[test]
fn lines_of_several_inputs_are_joined_and_repeated() {
    let texts = made(Dictionary::default(), 4000);
    assert!(texts.contains(&b"+\n-\n".to_vec()));
    assert!(texts.contains(&b"-\n-\n-\n".to_vec()));
    assert!(texts.iter().all(|text| text.len() <= BOUNDS[1].stdin_bytes as usize));
}

#[test]
fn words_and_numbers_of_the_program_are_put_in() {
    let words = vec![b"open".to_vec()];
    let numbers = vec![4097];
    let texts = made(Dictionary { words, numbers, ..Dictionary::default() }, 4000);
    let has = |part: &[u8]| texts.iter().any(|t| t.windows(part.len()).any(|w| w == part));
    assert!(has(b"open") && has(b"4097") && has(&[0x01, 0x10]) && has(&[0x10, 0x01]));
}

#[test]
fn parts_are_repeated_to_sizes_of_the_program() {
    let dictionary = Dictionary { counts: vec![17], ..Dictionary::default() };
    let mut variations = Variations::new(0, dictionary);
    let base = input(b"x\n");
    let made = (0..200).map(|_| variations.stretched(&base, &base, &BOUNDS[1]));
    let most = made.map(|made| {
        let text = text_of(&made, Stream::Stdin, &BOUNDS[1]);
        text.iter().filter(|byte| **byte == b'x').count()
    });
    assert!(most.collect::<Vec<_>>().contains(&18));
}

#[test]
fn a_series_has_a_name_or_number_of_its_own_each_time() {
    let dictionary = Dictionary { counts: vec![30], ..Dictionary::default() };
    let mut variations = Variations::new(0, dictionary);
    let mut all = |text: &[u8]| {
        (0..200).map(|_| variations.series(text.to_vec(), Stream::Stdin)).collect::<Vec<_>>()
    };
    assert!(all(b"x").iter().any(|text| text.starts_with(b"a b c ") && text.len() > 60));
    assert!(all(b"at 3\n").iter().any(|text| text.starts_with(b"at 3\nat 4\nat 5\n")));
    assert_eq!(name(0), b"a");
    assert_eq!(name(26), b"aa");
    let names: std::collections::BTreeSet<_> = (0..1000).map(name).collect();
    assert_eq!(names.len(), 1000);
}

#[test]
fn brackets_are_nested() {
    let mut variations = Variations::new(0, Dictionary::default());
    let made = |_| variations.nested(b"(x)".to_vec(), Stream::Stdin);
    let is_nested = |text: Vec<u8>| {
        let inner = text.iter().position(|byte| *byte == b'x').unwrap_or(0);
        inner > 2 && text == [&b"(".repeat(inner)[..], b"x", &b")".repeat(inner)].concat()
    };
    assert!((0..400).map(made).any(is_nested));
}

#[test]
fn numerals_get_room() {
    let made = padded(&input(b"a 7,-3").inputs, &BOUNDS[2]).expect("there are numerals");
    let text = text_of(&made, Stream::Stdin, &BOUNDS[2]);
    assert_eq!(text, b"a 00000000007,-00000000003");
    assert!(padded(&input(b"none").inputs, &BOUNDS[2]).is_none());
}

#[test]
fn a_byte_of_a_decision_is_repeated() {
    let dictionary = Dictionary { counts: vec![4], ..Dictionary::default() };
    let mut variations = Variations::new(0, dictionary);
    let base = input(b"abcdefgh");
    let made = |at, variations: &mut Variations| {
        let made = variations.continued(&base.inputs, (Stream::Stdin, at), &BOUNDS[1]);
        made.map(|made| text_of(&made, Stream::Stdin, &BOUNDS[1]))
    };
    let all: Vec<_> = (0..60).filter_map(|_| made(1, &mut variations)).collect();
    assert!(all.contains(&b"abbbbfgh".to_vec()));
    assert!(all.contains(&b"abbbbbcdefgh".to_vec()));
    assert_eq!(made(8, &mut variations), None);
}

#[test]
fn numerals_have_their_sign() {
    assert_eq!(numerals(b"a-12,3"), [(1, 4), (5, 6)]);
    assert_eq!(tokens(b" ab_1 c"), [(1, 5), (6, 7)]);
    assert_eq!(runs_of(b"", |_| true), []);
}
