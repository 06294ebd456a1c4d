//! Pointers as numbers, for specifications that compute with them.
//!
//! Every object gets an address far from all others, so that a sum of an address and an
//! offset tells which object it is in. A pointer that may be null is its address times a
//! bit: the number is 0 exactly where the pointer is null.

use logic::{Leaf, TermId, Terms};

use super::context::Context;
use super::memory::{Memory, ObjectId};
use super::value::Value;

const SPACING_BITS: u32 = 48;

fn base(object: ObjectId) -> i128 {
    i128::from(object.0 + 1) << SPACING_BITS
}

/// The number a pointer (or integer) is.
pub fn to_term(context: &mut Context, memory: &Memory, value: Value) -> Option<TermId> {
    match value {
        Value::Int(term) => Some(term),
        Value::Bool(formula) => {
            let (one, zero) = (context.constant(1), context.constant(0));
            Some(context.terms.choice(formula, one, zero))
        }
        Value::Pointer { object, offset } => {
            let null = memory.get(object).null;
            let start = context.constant(base(object));
            let start = match memory.get(object).null_bit {
                _ if null == Terms::FALSE => start,
                Some(bit) => {
                    // A member of what a null pointer does not lead to is as bad as null.
                    let member = context.terms.as_constant(offset).unwrap_or(0);
                    let bit = context.terms.symbol(bit);
                    context.terms.add_scaled(start, -base(object) - member, bit)
                }
                None => {
                    let zero = context.constant(0);
                    context.terms.choice(null, zero, start)
                }
            };
            Some(context.terms.add(start, offset))
        }
        Value::Function(function) => {
            // Functions lie below all objects and are never null.
            Some(context.constant(0x1000 + 16 * i128::from(function.0)))
        }
        Value::Float(float) => {
            let known = float.known.map(|known| match known {
                0.0 => 0,
                known => (known.abs().ceil().clamp(1.0, 1e30) * known.signum()) as i128,
            });
            match known {
                Some(known) => Some(context.constant(known)),
                None => {
                    let (zero, one) = (context.constant(0), context.constant(1));
                    Some(context.terms.choice(float.is_zero, zero, one))
                }
            }
        }
        Value::Uninit(_) | Value::Unknown => None,
    }
}

/// The pointer a number is, where it is the address of an object plus an offset.
pub fn from_term(context: &mut Context, memory: &Memory, term: TermId) -> Value {
    let linear = context.terms.linear(term).clone();
    let nearest = (linear.constant + (1 << (SPACING_BITS - 1))) >> SPACING_BITS;
    let Ok(index) = u32::try_from(nearest - 1) else { return Value::Int(term) };
    let object = ObjectId(index);
    if memory.ids().next_back().is_none_or(|last| object > last) {
        return Value::Int(term);
    }
    let bit_factor = linear.terms.iter().find_map(|(leaf, factor)| {
        let is_bit = matches!(context.terms.leaf(*leaf), Leaf::Symbol(symbol)
            if Some(*symbol) == memory.get(object).null_bit);
        is_bit.then_some(*factor)
    });
    let mut offset = context.terms.add_constant(term, -base(object));
    if let (Some(factor), Some(bit)) = (bit_factor, memory.get(object).null_bit) {
        let bit = context.terms.symbol(bit);
        offset = context.terms.add_scaled(offset, -factor, bit);
    }
    Value::Pointer { object, offset }
}
