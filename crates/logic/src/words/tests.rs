//! Folding keeps the meaning, z3 means the same as our evaluator.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Shape {
    Const(u8),
    Unknown,
    Binary(usize, Box<Shape>, Box<Shape>),
    Choice(Box<Shape>, Box<Shape>, Box<Shape>),
    Bytes(Box<Shape>, bool),
}

const OPS: [WordOp; 19] = {
    use WordOp::*;
    [
        Add,
        Sub,
        Mul,
        UnsignedDiv,
        SignedDiv,
        UnsignedRem,
        SignedRem,
        Shl,
        LogicalShr,
        ArithmeticShr,
        And,
        Or,
        Xor,
        Eq,
        UnsignedLt,
        UnsignedLe,
        SignedLt,
        SignedLe,
        SignedMulFits,
    ]
};

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![any::<u8>().prop_map(Shape::Const), Just(Shape::Unknown)];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (0..OPS.len(), inner.clone(), inner.clone()).prop_map(|(op, a, b)| Shape::Binary(
                op,
                a.into(),
                b.into()
            )),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| Shape::Choice(
                c.into(),
                a.into(),
                b.into()
            )),
            (inner, any::<bool>()).prop_map(|(a, signed)| Shape::Bytes(a.into(), signed)),
        ]
    })
}

/// The word of eight bits, and its value for one value of the unknown computed beside it.
fn build(words: &mut Words, shape: &Shape, unknown: (WordId, u8)) -> (WordId, u128) {
    match shape {
        Shape::Const(value) => (words.constant(8, (*value).into()), (*value).into()),
        Shape::Unknown => (unknown.0, unknown.1.into()),
        Shape::Binary(op, a, b) => {
            let ((a, x), (b, y)) = (build(words, a, unknown), build(words, b, unknown));
            let word = words.binary(OPS[*op], a, b);
            (words.resize(word, 8, false), eval::compute(OPS[*op], 8, x, y))
        }
        Shape::Choice(c, a, b) => {
            let (c, z) = build(words, c, unknown);
            let ((a, x), (b, y)) = (build(words, a, unknown), build(words, b, unknown));
            let one = words.constant(8, 1);
            let condition = words.eq(c, one);
            (words.choice(condition, a, b), if z == 1 { x } else { y })
        }
        Shape::Bytes(a, is_signed) => {
            // Through sixteen bits and apart into nibbles, swapped.
            let (a, x) = build(words, a, unknown);
            let wide = words.resize(a, 16, *is_signed);
            let (low, high) = (words.extract(wide, 0, 4), words.extract(wide, 4, 4));
            (words.concat(low, high), (x << 4 | x >> 4) & 0xff)
        }
    }
}

proptest! {
    #[test]
    fn folding_keeps_the_meaning(shape in shape(), value: u8) {
        let mut words = Words::new();
        let (unknown, word) = words.unknown(8);
        let (built, expected) = build(&mut words, &shape, (word, value));
        let mut values = Values::default();
        values.set(unknown, value.into());
        prop_assert_eq!(values.eval(&words, built), expected);
    }
}

/// A word of two unknowns: each of them stands for those of one of two shapes.
fn of_two(words: &mut Words, shapes: [&Shape; 2]) -> ([(UnknownId, WordId); 2], WordId) {
    let unknowns = [words.unknown(8), words.unknown(8)];
    let [(a, _), (b, _)] = [0, 1].map(|at| build(words, shapes[at], (unknowns[at].1, 0)));
    let condition = words.binary(WordOp::UnsignedLt, a, b);
    let sum = words.binary(WordOp::Add, a, b);
    (unknowns, words.choice(condition, sum, a))
}

proptest! {
    #[test]
    fn substituting_keeps_the_meaning(first in shape(), second in shape(), value: u8, other: u8) {
        let mut words = Words::new();
        let (unknowns, word) = of_two(&mut words, [&first, &second]);
        let mut values = Values::default();
        values.set(unknowns[0].0, value.into());
        values.set(unknowns[1].0, other.into());
        let expected = values.eval(&words, word);
        // One unknown as a constant, then the other one: nothing is left to know.
        let constants = [value, other].map(|value| words.constant(8, value.into()));
        let mut image = word;
        for ((_, unknown), constant) in unknowns.into_iter().zip(constants) {
            let known = |word| (word == unknown).then_some(constant);
            image = words.substitute(image, &mut Images::default(), known);
            prop_assert_eq!(values.eval(&words, image), expected);
        }
        prop_assert_eq!(words.as_const(image), Some(expected));
    }
}

#[test]
fn of_a_decided_choice_only_one_side_is_rebuilt() {
    let mut words = Words::new();
    let [(_, selector), (_, result), (_, original)] = [(); 3].map(|()| words.unknown(8));
    let (one, mut sum) = (words.constant(8, 1), original);
    for _ in 0..100 {
        sum = words.binary(WordOp::Mul, sum, original);
    }
    let is_changed = words.eq(selector, one);
    let chosen = words.choice(is_changed, result, sum);
    let mut images = Images::default();
    let known = |word| (word == selector).then_some(one);
    assert_eq!(words.substitute(chosen, &mut images, known), result);
    assert!(images.len() < 10, "{images:?}");
}

#[test]
fn z3_agrees_with_the_evaluator() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..60 {
        let tree = shape().new_tree(&mut runner).expect("a shape can be made");
        let shape = proptest::strategy::ValueTree::current(&tree);
        let mut words = Words::new();
        let (unknown, word) = words.unknown(8);
        let (built, _) = build(&mut words, &shape, (word, 0));
        let mut prover = WordProver::new(10_000_000);
        for target in [0u128, 1, 255] {
            let target_word = words.constant(8, target);
            let holds = words.eq(built, target_word);
            let values = |value: u128| {
                let mut values = Values::default();
                values.set(unknown, value);
                values
            };
            let possible = (0..256).any(|value| values(value).eval(&words, built) == target);
            match prover.check(&words, &[holds]) {
                Answer::Sat(found) => assert!(found.satisfy(&words, &[holds]), "{shape:?}"),
                Answer::Unsat => assert!(!possible, "{shape:?} can be {target}"),
                Answer::Unknown(why) => panic!("{why}"),
            }
        }
    }
}

#[test]
fn what_intervals_refute_holds_for_no_value() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut n_refuted = 0;
    for _ in 0..400 {
        let mut shape = || {
            let tree = shape().new_tree(&mut runner).expect("a shape can be made");
            proptest::strategy::ValueTree::current(&tree)
        };
        let shapes = [shape(), shape()];
        let mut words = Words::new();
        let (unknown, word) = words.unknown(8);
        let built = shapes.each_ref().map(|shape| build(&mut words, shape, (word, 0)).0);
        for op in [WordOp::Eq, WordOp::SignedLt, WordOp::UnsignedLe] {
            for limit in [0u128, 9, 100, 200] {
                let limit = words.constant(8, limit);
                let first = words.binary(op, built[0], built[1]);
                let second = words.binary(WordOp::SignedLt, built[0], limit);
                let third = words.binary(WordOp::UnsignedLt, limit, word);
                let bits = [words.not(first), second, third];
                if !words.is_refuted(&bits) {
                    continue;
                }
                n_refuted += 1;
                for value in 0..256u128 {
                    let mut values = Values::default();
                    values.set(unknown, value);
                    assert!(!values.satisfy(&words, &bits), "{shapes:?} {op:?} {value}");
                }
            }
        }
    }
    assert!(n_refuted > 100, "{n_refuted}");
}

#[test]
fn trying_all_values_finds_what_there_is() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut n_sat, mut n_unsat) = (0, 0);
    for round in 0..120 {
        let mut shape = || {
            let tree = shape().new_tree(&mut runner).expect("a shape can be made");
            proptest::strategy::ValueTree::current(&tree)
        };
        let shapes = [shape(), shape(), shape()];
        let mut words = Words::new();
        let unknowns = [words.unknown(8), words.unknown(8)];
        let [x, y] = unknowns.map(|(_, word)| word);
        let [a, b, c] = [(0, x), (1, y), (2, x)]
            .map(|(at, unknown)| build(&mut words, &shapes[at], (unknown, 0)).0);
        let limit = words.constant(8, round % 16);
        let first = words.binary(OPS[13 + round as usize % 5], a, b);
        let second = words.binary(WordOp::UnsignedLt, b, limit);
        let bits = [first, second, words.eq(a, c)];
        let possible = (0..=u16::MAX).any(|pair| {
            let mut values = Values::default();
            values.set(unknowns[0].0, (pair & 0xff).into());
            values.set(unknowns[1].0, (pair >> 8).into());
            values.satisfy(&words, &bits)
        });
        match words.try_all(&bits, u64::MAX / 2).0 {
            Some(Answer::Sat(found)) => {
                n_sat += 1;
                assert!(found.satisfy(&words, &bits), "{shapes:?}");
            }
            Some(Answer::Unsat) => {
                n_unsat += 1;
                assert!(!possible, "{shapes:?}");
            }
            other => panic!("{other:?} for {shapes:?}"),
        }
    }
    assert!(n_sat > 10 && n_unsat > 10, "{n_sat} {n_unsat}");
}

#[test]
fn of_many_values_the_likely_ones_are_tried() {
    let mut words = Words::new();
    let (unknown, word) = words.unknown(32);
    let limit = words.constant(32, 123_456);
    let below = words.binary(WordOp::SignedLt, word, limit);
    let same = words.eq(word, limit);
    let two = words.constant(32, 2);
    let twice = words.binary(WordOp::Mul, word, two);
    let odd = words.constant(32, 7);
    let is_odd = words.eq(twice, odd);
    let (found, _) = words.try_all(&[same], 10_000);
    assert!(matches!(found, Some(Answer::Sat(values)) if values.get(unknown) == 123_456));
    // Nothing that was tried does, which does not say that nothing would.
    assert_eq!(words.try_all(&[below, is_odd], 10_000).0, None);
    assert_eq!(words.try_all(&[below, same], 10_000).0, Some(Answer::Unsat));
}

#[test]
fn what_would_take_long_is_not_tried() {
    let mut words = Words::new();
    let bytes: Vec<WordId> = (0..4).map(|_| words.unknown(8).1).collect();
    let mut product = words.constant(32, 1);
    for byte in bytes {
        let wide = words.zero_extend(byte, 32);
        product = words.binary(WordOp::Mul, product, wide);
    }
    let prime = words.constant(32, 1_000_003);
    let same = words.eq(product, prime);
    let (answer, work) = words.try_all(&[same], 100_000);
    assert_eq!(answer, None);
    assert!(work <= 110_000, "{work}");
}

#[test]
fn a_number_of_few_digits_is_no_overflow() {
    let mut words = Words::new();
    let (_, byte) = words.unknown(8);
    let (zero, ten) = (words.constant(8, b'0'.into()), words.constant(8, 10));
    let digit = words.binary(WordOp::Sub, byte, zero);
    let is_digit = words.binary(WordOp::UnsignedLt, digit, ten);
    let wide = words.zero_extend(digit, 32);
    let (hundred, limit) = (words.constant(32, 100), words.constant(32, 900));
    let product = words.binary(WordOp::Mul, wide, hundred);
    let is_more = words.binary(WordOp::SignedLt, limit, product);
    assert!(words.is_refuted(&[is_digit, is_more]));
    assert!(!words.is_refuted(&[is_more]));
}

#[test]
fn the_heaviest_soft_bits_win() {
    let mut words = Words::new();
    let (unknown, word) = words.unknown(8);
    let bits: Vec<WordId> = (1u128..4)
        .map(|value| {
            let value = words.constant(8, value);
            words.eq(word, value)
        })
        .collect();
    let mut prover = WordProver::new(10_000_000);
    let hard = words.not(bits[2]);
    let soft = [(bits[0], 10), (bits[1], 20), (bits[2], 30)];
    let Answer::Sat(values) = prover.maximise(&words, &[hard], &soft) else {
        panic!("there is a best value");
    };
    assert_eq!(values.get(unknown), 2);
}
