//! Builtins of the compiler, by LLVM's names.

use logic::words::WordOp;
use program::{BinaryOp, InstId, Ty};

use crate::arithmetic::{binary, width};
use crate::exec::{Frame, Machine};
use crate::library::maths;
use crate::value::{Bits, Value, mask, signed};
use crate::varargs::LIST_BYTES;
use crate::{FaultKind, Stop, float};

impl<'p> Machine<'p> {
    pub(crate) fn intrinsic(
        &mut self,
        frame: &Frame<'p>,
        inst: InstId,
        name: &str,
        arguments: &[Value],
        tys: &[Ty],
    ) -> Result<Value, Stop> {
        let unknown = || Stop::Unsupported(format!("the builtin {name}"));
        let bits = |index: usize| match arguments.get(index).and_then(Value::bits) {
            Some(bits) if bits.is_known() => Ok(bits.bits),
            Some(_) => Err(Stop::Fault(FaultKind::Uninitialised)),
            None => Err(unknown()),
        };
        let nothing = Value::Bits(Bits::unset(128));
        let stem = name.split('.').next().unwrap_or(name);
        match stem {
            "va_start" => {
                self.start_list(bits(0)? as u64, frame.variable_arguments)?;
                return Ok(nothing);
            }
            "va_copy" => {
                self.memory.copy(bits(0)? as u64, bits(1)? as u64, LIST_BYTES)?;
                return Ok(nothing);
            }
            "va_end" | "assume" | "prefetch" => return Ok(nothing),
            "trap" | "debugtrap" | "ubsantrap" => return Err(Stop::Abort),
            _ => {}
        }
        let width = width(tys.first().copied().ok_or_else(unknown)?)?;
        if name.contains(".with.overflow.") {
            let result = with_overflow(stem, width, bits(0)?, bits(1)?).ok_or_else(unknown)?;
            return Ok(self.shadow_overflow(stem, width, arguments, result));
        }
        for argument in arguments.iter().filter_map(Value::bits) {
            self.pinned(argument);
        }
        if let Some(Ty::Float(_)) = tys.first() {
            let number = |index: usize| float::decode(bits(index)?, width).ok_or_else(unknown);
            let result = match (stem, maths::unary(stem), maths::binary(stem)) {
                (_, Some(function), _) => function(number(0)?),
                (_, _, Some(function)) => function(number(0)?, number(1)?),
                ("fmuladd", ..) => number(0)? * number(1)? + number(2)?,
                ("fma", ..) => number(0)?.mul_add(number(1)?, number(2)?),
                ("is", ..) => {
                    let is_of_class = maths::is_of_class(number(0)?, bits(1)?);
                    return Ok(Value::known(is_of_class.into()));
                }
                ("lround" | "llround", ..) => {
                    return Ok(Value::known(u128::from(number(0)?.round() as i64 as u64)));
                }
                ("lrint" | "llrint", ..) => {
                    let rounded = number(0)?.round_ties_even();
                    return Ok(Value::known(u128::from(rounded as i64 as u64)));
                }
                _ => return Err(unknown()),
            };
            return Ok(Value::known(float::encode(result, width).ok_or_else(unknown)?));
        }
        let result_width = crate::arithmetic::width(frame.body.insts[inst].ty)?;
        let result = integer(stem, width, bits).transpose().ok_or_else(unknown)??;
        Ok(Value::known(result & mask(result_width)))
    }
}

impl Machine<'_> {
    /// How a sum, difference or product and whether it wrapped follow from inputs.
    fn shadow_overflow(
        &mut self,
        stem: &str,
        width: u32,
        arguments: &[Value],
        result: Value,
    ) -> Value {
        let sides =
            (arguments.first().and_then(Value::bits), arguments.get(1).and_then(Value::bits));
        let (Some(left), Some(right)) = sides else { return result };
        let op = match &stem[1..] {
            "add" => WordOp::Add,
            "sub" => WordOp::Sub,
            _ => WordOp::Mul,
        };
        let follows = left.word.is_some() || right.word.is_some();
        // Wide products are hard to solve.
        if !follows || width > 64 || op == WordOp::Mul && width > 32 {
            self.pinned(left);
            self.pinned(right);
            return result;
        }
        let is_signed = stem.starts_with('s');
        let (a, b) = (self.word(left, width), self.word(right, width));
        let words = &mut self.memory.words;
        let (a, b) = (words.resize(a, 2 * width, is_signed), words.resize(b, 2 * width, is_signed));
        let exact = words.binary(op, a, b);
        let wrapped = words.extract(exact, 0, width);
        let again = words.resize(wrapped, 2 * width, is_signed);
        let fits = words.eq(exact, again);
        let overflows = words.not(fits);
        let Value::Parts(parts) = result else { return result };
        let with = |part: &Value, word| match part {
            Value::Bits(bits) => bits.with_word(Some(word)).into(),
            other => other.clone(),
        };
        Value::Parts(vec![with(&parts[0], wrapped), with(&parts[1], overflows)])
    }
}

/// A builtin of integers; `None` where it is not known.
fn integer(
    stem: &str,
    width: u32,
    bits: impl Fn(usize) -> Result<u128, Stop>,
) -> Result<Option<u128>, Stop> {
    let a = bits(0)?;
    Ok(Some(match stem {
        "ptrmask" => a & bits(1)?,
        "bswap" => a.swap_bytes() >> (128 - width),
        "bitreverse" => a.reverse_bits() >> (128 - width),
        "ctpop" => u128::from(a.count_ones()),
        "ctlz" => u128::from(a.leading_zeros() - (128 - width)),
        "cttz" => u128::from(a.trailing_zeros().min(width)),
        "abs" => signed(a, width).unsigned_abs(),
        "smax" => signed(a, width).max(signed(bits(1)?, width)) as u128,
        "smin" => signed(a, width).min(signed(bits(1)?, width)) as u128,
        "umax" => a.max(bits(1)?),
        "umin" => a.min(bits(1)?),
        "fshl" | "fshr" => rotate(stem, width, a, bits(1)?, bits(2)?),
        _ => return Ok(None),
    }))
}

/// A shift of two words as one.
fn rotate(stem: &str, width: u32, high: u128, low: u128, by: u128) -> u128 {
    let by = (by % u128::from(width)) as u32;
    match (stem, by) {
        ("fshl", 0) => high,
        (_, 0) => low,
        ("fshl", _) => high << by | low >> (width - by),
        _ => low >> by | high << (width - by),
    }
}

/// The wrapped result, and whether it wrapped.
fn with_overflow(stem: &str, width: u32, a: u128, b: u128) -> Option<Value> {
    let op = match &stem[1..] {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "mul" => BinaryOp::Mul,
        _ => return None,
    };
    let operands = (Bits::known(a), Bits::known(b));
    let wrapped = binary(op, Ty::Int(width), operands, false).ok()?;
    let overflows = if stem.starts_with('s') {
        binary(op, Ty::Int(width), operands, true).is_err()
    } else {
        match op {
            BinaryOp::Add => wrapped.bits < a,
            BinaryOp::Sub => a < b,
            _ => a.checked_mul(b).is_none_or(|product| product > mask(width)),
        }
    };
    Some(Value::Parts(vec![wrapped.into(), Value::known(u128::from(overflows))]))
}
