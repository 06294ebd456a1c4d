//! One operator on many values at a time.

use super::eval::compute;
use super::{Word, WordId, WordOp, Words, mask, signed};

/// Values of a word, one for each lane, or one for all of them.
#[derive(Clone, Copy)]
pub struct Lanes<'a> {
    pub values: &'a [u64],
    /// 0 where there is one for all.
    pub step: usize,
}

impl Lanes<'_> {
    fn at(&self, lane: usize) -> u64 {
        self.values[lane * self.step]
    }
}

/// Computes a word of at most 64 bits in all lanes from those it is made of; unknowns are given.
pub fn compute_lanes(words: &Words, id: WordId, [a, b, c]: [Lanes; 3], out: &mut [u64]) {
    let bits = mask(words.width(id)) as u64;
    match *words.word(id) {
        Word::Const(value) => out.fill(value as u64),
        Word::Unknown(_) => {}
        Word::Binary(op, x, _) => binary(op, words.width(x), a, b, out),
        Word::Choice(..) => {
            each(out, |lane| if a.at(lane) == 1 { b.at(lane) } else { c.at(lane) });
        }
        Word::Extract(_, low) => each(out, |lane| a.at(lane) >> low & bits),
        Word::Concat(_, low) => {
            let shift = words.width(low);
            each(out, |lane| a.at(lane) << shift | b.at(lane));
        }
        Word::ZeroExtend(_) => each(out, |lane| a.at(lane)),
        Word::SignExtend(word) => {
            let width = words.width(word);
            each(out, |lane| signed(a.at(lane).into(), width) as u64 & bits);
        }
    }
}

fn each(out: &mut [u64], value: impl Fn(usize) -> u64) {
    for (lane, out) in out.iter_mut().enumerate() {
        *out = value(lane);
    }
}

/// What programs compute most has loops of its own.
fn binary(op: WordOp, width: u32, a: Lanes, b: Lanes, out: &mut [u64]) {
    use WordOp::*;
    let bits = mask(width) as u64;
    // Signs become comparable by moving them to the top.
    let top = 64 - width;
    let number = |value: u64| (value << top) as i64;
    match op {
        Add => each(out, |lane| a.at(lane).wrapping_add(b.at(lane)) & bits),
        Sub => each(out, |lane| a.at(lane).wrapping_sub(b.at(lane)) & bits),
        Mul => each(out, |lane| a.at(lane).wrapping_mul(b.at(lane)) & bits),
        And => each(out, |lane| a.at(lane) & b.at(lane)),
        Or => each(out, |lane| a.at(lane) | b.at(lane)),
        Xor => each(out, |lane| a.at(lane) ^ b.at(lane)),
        Eq => each(out, |lane| u64::from(a.at(lane) == b.at(lane))),
        UnsignedLt => each(out, |lane| u64::from(a.at(lane) < b.at(lane))),
        UnsignedLe => each(out, |lane| u64::from(a.at(lane) <= b.at(lane))),
        SignedLt => each(out, |lane| u64::from(number(a.at(lane)) < number(b.at(lane)))),
        SignedLe => each(out, |lane| u64::from(number(a.at(lane)) <= number(b.at(lane)))),
        _ => each(out, |lane| compute(op, width, a.at(lane).into(), b.at(lane).into()) as u64),
    }
}
