//! Values that are likely to turn a decision.

use logic::words::{UnknownId, Values, Word, WordId, Words};

/// Comparisons of a condition that are looked at.
const MAX_COMPARED: usize = 4;

/// The sides of the comparisons a condition is made of.
pub fn compared(words: &Words, condition: WordId) -> Vec<(WordId, WordId)> {
    let mut sides = Vec::new();
    let mut stack = vec![condition];
    while let Some(bit) = stack.pop() {
        if let Word::Binary(op, a, b) = *words.word(bit)
            && sides.len() < MAX_COMPARED
        {
            if words.width(a) == 1 {
                stack.extend([b, a]);
            } else if op.is_comparison() {
                sides.push((a, b));
            }
        }
    }
    sides
}

/// What one unknown could be instead of its value: where it makes the sides of a comparison
/// equal, going by how they change with it, and about there; then small numbers.
pub fn others(
    words: &Words,
    values: &mut Values,
    id: UnknownId,
    sides: &[(WordId, WordId)],
) -> Vec<u128> {
    let value = values.get(id);
    let mut others = Vec::new();
    for (a, b) in sides {
        let apart = difference(words, values, (*a, *b));
        values.set(id, value.wrapping_add(1) & u128::from(u64::MAX));
        let slope = apart.wrapping_sub(difference(words, values, (*a, *b)));
        values.set(id, value);
        if let Some(by) = apart.checked_div(slope) {
            let equal = (value as i64).wrapping_add(by);
            others.extend([0, 1, -1].map(|off| equal.wrapping_add(off)));
        }
    }
    others.extend([0, 1, -1]);
    others.extend([-1, 1, -2, 2].map(|off| (value as i64).wrapping_add(off)));
    others.extend([i64::from(i32::MAX), i64::from(i32::MIN)]);
    let mut distinct = Vec::new();
    for other in others.into_iter().map(|other| other as u64 as u128) {
        if other != value && !distinct.contains(&other) {
            distinct.push(other);
        }
    }
    distinct
}

fn difference(words: &Words, values: &Values, (a, b): (WordId, WordId)) -> i64 {
    let by = values.eval(words, b).wrapping_sub(values.eval(words, a));
    signed(by, words.width(a))
}

fn signed(bits: u128, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits as u64) << unused) as i64 >> unused
}

#[cfg(test)]
mod tests {
    use super::*;
    use logic::words::WordOp;

    #[test]
    fn a_limit_is_met_through_a_product() {
        let mut words = Words::new();
        let (id, unknown) = words.unknown(64);
        let narrow = words.extract(unknown, 0, 32);
        let [ten, three, limit] = [10, 3, 203].map(|value| words.constant(32, value));
        let product = words.binary(WordOp::Mul, narrow, ten);
        let sum = words.binary(WordOp::Add, product, three);
        let below = words.binary(WordOp::SignedLt, sum, limit);
        let leaves = words.not(below);
        let mut values = Values::default();
        values.set(id, 7);
        let sides = compared(&words, leaves);
        assert_eq!(sides, [(sum, limit)]);
        let others = others(&words, &mut values, id, &sides);
        assert_eq!(others[..3], [20, 21, 19]);
        assert_eq!(values.get(id), 7);
    }
}
