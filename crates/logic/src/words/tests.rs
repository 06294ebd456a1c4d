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

const OPS: [WordOp; 18] = {
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
